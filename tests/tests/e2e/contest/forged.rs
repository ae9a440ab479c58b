//! `verify` names every later change in a contest's folder.

use crate::support::TestDir;
use crate::support::contest::{assert_whole, contest, write};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use referee_protocol::encode::to_hex;
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;

/// Plays a contest of six games in the folder `d`.
fn over() -> TestDir {
    let dir = TestDir::new();
    write(&dir, &["@random", "@first", "@greedy"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&dir, "d", 6);
    dir
}

fn sql(dir: &TestDir, statements: &str) {
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    store.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    store.execute_batch(statements).unwrap();
}

fn replace(dir: &TestDir, name: &str, old: &str, new: &str) {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    assert!(text.contains(old), "{old} in {text}");
    dir.write(name, text.replacen(old, new, 1));
}

fn swap(dir: &TestDir) {
    let game = |number: u32| dir.path(&format!("d/games/0000/000000{number}.jsonl"));
    fs::rename(game(0), dir.path("aside")).unwrap();
    fs::rename(game(1), game(0)).unwrap();
    fs::rename(dir.path("aside"), game(1)).unwrap();
}

fn copy(dir: &TestDir) {
    let games = dir.path("d/games/0000");
    fs::copy(games.join("0000001.jsonl"), games.join("0000003.jsonl")).unwrap();
}

/// A change, and part of the expected message.
type Forgery = (fn(&TestDir), &'static str);

/// Makes a void attempt of a game that counts, so that it can be played again.
fn as_void(dir: &TestDir) {
    let games = dir.path("d/games/0000");
    fs::copy(games.join("0000002.jsonl"), games.join("0000002-void-1.jsonl")).unwrap();
    sql(
        dir,
        "insert into voids (game, attempt, cause, text, transcript) \
         values (2, 1, 'machine', 'lag', 'games/0000/0000002-void-1.jsonl')",
    );
}

/// Changes the lines of a game's transcript, and makes its seal anew, also in the store.
fn rewrite(dir: &TestDir, change: impl FnOnce(&mut [Value])) {
    let file = dir.path("d/games/0000/0000003.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    change(&mut lines);
    let count = lines.len() - 1;
    let text: Vec<String> = lines[..count].iter().map(Value::to_string).collect();
    let text = text.join("\n") + "\n";
    let sha256 = to_hex(&Sha256::digest(text.as_bytes()));
    let seal = format!("{{\"type\":\"seal\",\"lines\":{count},\"sha256\":\"{sha256}\"}}\n");
    fs::write(&file, text + &seal).unwrap();
    sql(dir, &format!("update games set seal = '{sha256}' where number = 3"));
}

/// Changes the time of the last action.
fn late(dir: &TestDir) {
    rewrite(dir, |lines| {
        let last = lines.iter().rposition(|line| line["type"] == "played").unwrap();
        lines[last]["wall_ns"] = 3_600_001_000_000_u64.into();
    });
}

/// Says that an agent had played before in the same process.
fn kept(dir: &TestDir) {
    rewrite(dir, |lines| lines[0]["seats"][0]["games_before"] = 1.into());
}

const FORGERIES: &[Forgery] = &[
    (as_void, "the match has a result, but the store has a void attempt"),
    (late, "game 3, games/0000/0000003.jsonl: disagrees: line "),
    (kept, "had played before, but the contest doesn't keep processes"),
    (|it| sql(it, "update seats set place = 3 - place where game = 3"), "game 3, "),
    (|it| sql(it, "update seats set player = (player + 1) % 3 where game = 1"), "game 1, "),
    (|it| sql(it, "update games set reason = 'luck' where number = 3"), "game 3, "),
    (|it| sql(it, "update seats set used_ms = used_ms + 1 where game = 3"), "`seats` is "),
    (|it| sql(it, "update games set seal = 'x' where number = 3"), "`seal` is "),
    (
        |it| sql(it, "delete from seats where game = 3; delete from games where number = 3"),
        "SHA256SUMS lists game 3, but the store lacks it",
    ),
    (swap, "game 0, "),
    (copy, "game 3, "),
    (|it| replace(it, "d/games/0000/0000001.jsonl", "\"played\"", "\"x\""), "0000001.jsonl"),
    (|it| fs::remove_file(it.path("d/games/0000/0000004.jsonl")).unwrap(), "game 4, "),
    (
        |it| replace(it, "d/contest.toml", "seed = 7", "seed = 8"),
        "was changed after the contest began",
    ),
    (
        |it| {
            replace(it, "d/contest.toml", "plies = 1", "plies = 2");
            sql(it, "update contest set text = replace(text, 'plies = 1', 'plies = 2')");
        },
        "the contest in the store differs from the file",
    ),
    (|it| replace(it, "d/report.json", "@greedy", "@evil"), "SHA256SUMS: report.json was changed"),
    (|it| replace(it, "d/report.html", "@greedy", "@evil"), "SHA256SUMS: report.html was changed"),
    (|it| replace(it, "d/report.md", "@greedy", "@evil"), "SHA256SUMS: report.md was changed"),
    (|it| replace(it, "d/standings.csv", "@g", "@f"), "SHA256SUMS: standings.csv was changed"),
    (|it| replace(it, "d/games.csv", ",2,", ",1,"), "SHA256SUMS: games.csv was changed"),
    (|it| replace(it, "d/replays/assets/viewer.js", "x", "y"), "SHA256SUMS: replays/"),
    (|it| replace(it, "d/replays/0000/0000001.html", "x", "y"), "SHA256SUMS: replays/0000/"),
    (
        |it| drop(it.write("d/replays/0000/more.html", "x")),
        "replays/0000/more.html is not in SHA256",
    ),
    (|it| drop(it.write("d/notes.txt", "x")), "notes.txt is not in SHA256SUMS: it was added later"),
    (
        |it| std::os::unix::fs::symlink("report.md", it.path("d/link")).unwrap(),
        "link is not in SHA256SUMS",
    ),
    (|it| sql(it, "update contest set left_out = '[[\"a\",\"b\"]]'"), "contest.db was changed"),
    (|it| sql(it, "update sessions set begun = 'x'"), "contest.db was changed"),
    (|it| fs::remove_file(it.path("d/report.html")).unwrap(), "report.html is missing"),
    (|it| replace(it, "d/SHA256SUMS", "games/", "../games/"), "a digest and a file in the folder"),
    (|it| replace(it, "d/SHA256SUMS", "  contest.toml", "contest.toml"), "SHA256SUMS, line 1: "),
];

#[test]
fn changed_files_are_named() {
    let dir = over();
    dir.run(&["verify", "d"]).code(0).stdout_has("match the transcripts");
    for (number, (forge, words)) in FORGERIES.iter().enumerate() {
        dir.shell("rm -rf whole && cp -r d whole").code(0);
        forge(&dir);
        let ran = dir.run(&["verify", "d"]);
        assert_eq!(ran.exit, Some(1), "forgery {number}: {ran:?}");
        assert!(ran.stdout.contains(words), "forgery {number}: {ran:?}");
        let lines = dir.run(&["verify", "d", "--json"]).code(1).json_lines();
        assert!(lines.iter().any(|line| line["status"] != "ok"), "forgery {number}: {lines:?}");
        dir.shell("rm -rf d && mv whole d").code(0);
    }
    dir.run(&["verify", "d"]).code(0);
}

fn sum_in(text: &str) -> String {
    let sum = text.split("SHA-256 of SHA256SUMS: ").nth(1).expect("the list's own digest");
    sum.lines().next().unwrap().to_owned()
}

/// Whoever can write to the folder can make a list that fits. Whoever knows the list's digest sees that.
#[test]
fn the_digest_of_the_list_is_printed_and_shows_a_new_list() {
    let dir = TestDir::new();
    write(&dir, &["@random", "@first"], "");
    let ran = contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let sum = sum_in(&ran.stderr);
    let list = fs::read(dir.path("d/SHA256SUMS")).unwrap();
    assert_eq!(sum, to_hex(&Sha256::digest(list)));
    // Nothing that reads the folder changes it.
    for words in [
        &["verify", "d"][..],
        &["contest", "status", "d"],
        &["contest", "report", "d"],
        &["contest", "ratings", "d"],
        &["contest", "grades", "d"],
        &["verify", "d"],
    ] {
        let ran = dir.run(words);
        if words[0] == "verify" {
            assert_eq!(sum_in(&ran.code(0).stdout), sum);
        }
    }
    replace(&dir, "d/contest.toml", "name = \"autumn\"", "name = \"spring\"");
    sql(
        &dir,
        "update contest set text = replace(text, 'autumn', 'spring'), \
         contest = replace(contest, 'autumn', 'spring')",
    );
    dir.run(&["verify", "d"]).code(1).stdout_has("contest.toml was changed");
    dir.shell(
        "cd d && sed 's/^[0-9a-f]*  //' SHA256SUMS | xargs sha256sum > new && mv new SHA256SUMS",
    )
    .code(0);
    let ran = dir.run(&["verify", "d"]).code(0);
    assert_ne!(sum_in(&ran.stdout), sum);
    let ran = contest(&dir, &["resume", "d"]).code(0);
    assert_ne!(sum_in(&ran.stderr), sum);
}

#[test]
fn resume_refuses_a_game_outside_the_schedule() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let more = "insert into games select 99, block, round, game, match_id, seed, result, reason, \
                scores, turns, lag_ns, marked, moves, transcript, seal, sha256 from games where number = 1;\
                insert into seats (game, seat, player, place, score, used_ms, cpu_ms, turns, fault, \
                fault_text) select 99, seat, player, place, score, used_ms, cpu_ms, turns, fault, \
                fault_text from seats where game = 1;";
    sql(&dir, more);
    let ran = contest(&dir, &["resume", "d"]).code(1);
    ran.stderr_has("the results before game 99 give a schedule without this game")
        .stderr_has("referee verify");
    dir.run(&["verify", "d"]).code(1);
}

#[test]
fn nothing_is_written_through_a_link_of_a_foreign_folder() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    dir.write("own/key", "mine");
    // What is removed is kept as a void attempt, and a version beside the others.
    for name in [
        "replays",
        "replays/assets",
        "replays/0000/0000000.html",
        "games",
        "games/0000",
        "games/0000/0000000.jsonl",
        "games/0000/0000000-void-1.jsonl",
        "submissions/amy",
        "submissions/amy/1",
        "submissions/amy/1/feedback.md",
        "teams/uploads/1/1/result.json",
        "teams",
    ] {
        let place = dir.path("d").join(name);
        let was_there = fs::rename(&place, dir.path("kept")).is_ok();
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        for is_link in [true, false] {
            if is_link {
                std::os::unix::fs::symlink(dir.path("own"), &place).unwrap();
            } else {
                mkfifo(&place, Mode::S_IRWXU).unwrap();
            }
            for words in [
                &["resume", "d"][..],
                &["rerun", "d", "0", "--reason", "x"],
                &["forfeit", "d", "0", "--loser", "@first", "--reason", "x"],
                &["open", "d"],
                &["invite", "d", "Amy"],
            ] {
                if words[0] == "invite" && !name.starts_with("teams") {
                    continue;
                }
                let ran = contest(&dir, words).code(2);
                let is = if is_link { "a link" } else { "neither a file nor a folder" };
                ran.stderr_has(&format!("d/{name}: it is {is}"))
                    .stderr_has("replace it with what was there");
            }
            fs::remove_file(&place).unwrap();
        }
        if was_there {
            fs::rename(dir.path("kept"), place).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(dir.path("own/key")).unwrap(), "mine");
    assert_eq!(fs::read_dir(dir.path("own")).unwrap().count(), 1);
}
