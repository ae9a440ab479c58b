//! Games made void by the machine are played again, and the void attempts are kept.

use crate::support::contest::{assert_whole, contest, gated, query, status, stopped, write};
use crate::support::{RunResult, TestDir};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const VOIDS: &str = "select game, attempt, cause from voids order by game, attempt";

/// No sandbox, so that no self-test runs before the first game.
const OPEN: &str = "sandbox.level = \"none\"\n";

/// A temporary folder that doesn't exist, so no agent can start.
fn without_folders(dir: &TestDir, words: &[&str]) -> RunResult {
    dir.run_with(&[&["contest"], words].concat(), |it| it.env("TMPDIR", dir.path("nowhere")))
}

#[test]
fn void_games_are_given_up_and_retried_by_resume() {
    let dir = TestDir::new();
    let more = format!("{OPEN}jobs = 1\npolicy.void_retries = 1\n");
    write(&dir, &["@first", "@random"], &more);
    let ran = without_folders(&dir, &["run", "c.toml", "--out", "d"]).code(4);
    let ran = ran.stderr_has("could not be played").stderr_has("game 0 is void (machine): ");
    ran.stderr_has("referee contest resume d").stdout_has("@random");
    let twice = ["0|1|machine", "0|2|machine", "1|1|machine", "1|2|machine"];
    assert_eq!(query(&dir, "d", VOIDS), twice);
    without_folders(&dir, &["resume", "d"]).code(4);
    assert_eq!(query(&dir, "d", VOIDS).len(), 8);
    assert_eq!(query(&dir, "d", VOIDS)[3], "0|4|machine");
    let output = status(&dir, "d");
    assert_eq!((&output["void"], &output["played"]), (&8.into(), &0.into()), "{output}");
    dir.run(&["verify", "d"]).code(0).stdout_has("8 void attempts");
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 2);
    assert_eq!(query(&dir, "d", VOIDS).len(), 8);
    for kept in query(&dir, "d", "select transcript from voids") {
        assert!(dir.path("d").join(&kept).is_file(), "{kept}");
    }
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report["void"]["attempts"], 8, "{}", report["void"]);
    assert_eq!(report["void"]["given_up"], 0, "{}", report["void"]);
}

#[test]
fn too_many_void_games_stop_the_contest() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], &format!("{OPEN}rounds = 20\n"));
    let ran = without_folders(&dir, &["run", "c.toml", "--out", "d"]).code(4);
    ran.stderr_has("20 games in a row had no result")
        .stderr_has("fix the problem above, then run `referee contest resume");
    assert_eq!(query(&dir, "d", VOIDS).len(), 20);
}

/// A program that ends before the name of its interpreter: executing it is an error of reading.
fn damaged_program() -> Vec<u8> {
    let machine = &fs::read("/proc/self/exe").unwrap()[18..20];
    let header = [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine[0], machine[1], 1, 0, 0, 0];
    let mut bytes = b"\x7fELF".to_vec();
    bytes.extend(header);
    for number in [0x40_0000_u64, 64, 0] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [0_u16, 0, 64, 56, 1, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([3, 0, 0, 0, 4, 0, 0, 0]);
    for number in [1_u64 << 16, 0, 0, 28, 28, 1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

#[test]
fn a_damaged_program_makes_no_game_void() {
    let dir = TestDir::new();
    let agent = dir.write("damaged", damaged_program());
    fs::set_permissions(dir.path(&agent), Permissions::from_mode(0o755)).unwrap();
    write(&dir, &["damaged=./damaged", "@random"], OPEN);
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let faults = query(&dir, "d", "select fault, fault_text from seats where fault is not null");
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults.iter().all(|it| it.starts_with("start|") && it.contains("is damaged")),
        "{faults:?}"
    );
    assert_eq!(query(&dir, "d", VOIDS), [""; 0]);
    assert_whole(&dir, "d", 2);
}

#[test]
fn a_start_that_fails_for_every_agent_is_no_agents_fault() {
    let dir = TestDir::new();
    let wrapper = dir.path(&dir.write("wrapper", "no program\n"));
    fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
    let wrapper = wrapper.to_str().unwrap();
    let more = format!(
        "policy.void_retries = 0\nsandbox.level = \"external\"\nsandbox.wrapper = [\"{wrapper}\"]\n"
    );
    write(&dir, &["@first", "@random"], &more);
    let ran = contest(&dir, &["run", "c.toml", "--out", "d"]).code(4);
    ran.stderr_has("nor could a built-in agent");
    assert_eq!(query(&dir, "d", VOIDS), ["0|1|machine", "1|1|machine"]);
    assert_eq!(query(&dir, "d", "select player from voids where player is not null"), [""; 0]);
    assert_eq!(query(&dir, "d", "select game from seats where fault is not null"), [""; 0]);
}

#[test]
fn a_round_waits_for_a_game_that_was_given_up() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    let more = "format = \"swiss\"\nrounds = 2\npolicy.void_retries = 0\n";
    write(&dir, &[&agent, "@random", "b=@first", "c=@random"], more);
    stopped(&dir, "c.toml", 1);
    fs::create_dir(dir.path("d/games/0000/0000001.jsonl")).unwrap();
    let ran = contest(&dir, &["resume", "d"]).code(4);
    ran.stderr_has("game 1 could not be played: ");
    // The second round depends on the complete first.
    assert_eq!(query(&dir, "d", "select number from games"), ["0", "2", "3"]);
    let output = status(&dir, "d");
    assert_eq!((&output["over"], &output["played"]), (&false.into(), &3.into()), "{output}");
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report["void"]["given_up"], 1, "{}", report["void"]);
    contest(&dir, &["resume", "d"]).code(0);
    fs::remove_dir(dir.path("d/games/0000/0000001-void-1.jsonl")).unwrap();
    fs::write(dir.path("d/games/0000/0000001-void-1.jsonl"), "").unwrap();
    assert_whole(&dir, "d", 8);
}

#[test]
fn a_void_game_is_played_again_and_counts_once() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    write(&dir, &[&agent, "@random"], "rounds = 3\njobs = 2\n");
    stopped(&dir, "c.toml", 2);
    // A folder in the place of a transcript makes writing it fail.
    let game = dir.path("d/games/0000/0000003.jsonl");
    fs::create_dir(&game).unwrap();
    contest(&dir, &["resume", "d"]).code(0).stderr_has("game 3 is void (machine): ");
    assert_eq!(query(&dir, "d", VOIDS), ["3|1|machine"]);
    let kept = query(&dir, "d", "select transcript from voids");
    assert_eq!(kept, ["games/0000/0000003-void-1.jsonl"]);
    // Remove the folder in the place of the transcript.
    dir.run(&["verify", "d"]).code(1).stdout_has("0000003-void-1.jsonl: unreadable");
    let kept = dir.path("d").join(&kept[0]);
    fs::remove_dir(&kept).unwrap();
    fs::write(&kept, "").unwrap();
    assert_whole(&dir, "d", 6);
}
