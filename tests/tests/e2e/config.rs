//! Config files set defaults and short names of agents, and start nothing.

use crate::support::lacks;
use crate::support::{TestDir, program, python, root};
use serde_json::{Value, json};

/// What makes a test's own config files count.
const WITH_CONFIG: &str = "REFEREE_NO_CONFIG= XDG_CONFIG_HOME=\"$ROOT/user\"";
const SMALL: &str = "--setup size=3 --seed 5 --json";

/// A folder with these config files of the project and the user, and a folder `sub`.
fn configured(project: &str, user: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("sub/kept", "");
    dir.write("referee.toml", project);
    dir.write("user/referee/config.toml", user);
    dir
}

/// Runs a command with the config files in `sub`.
fn line(dir: &TestDir, before: &str, command: &str) -> String {
    let root = dir.path("");
    format!("ROOT={:?}; cd sub && env {WITH_CONFIG} {before} referee {command}", root.display())
}

/// Plays a match and returns its output and its header.
#[track_caller]
fn play(dir: &TestDir, before: &str, words: &str) -> (Value, Value) {
    let words = format!("play hex {words} {SMALL}");
    let output = dir.shell(&line(dir, before, &words)).code(0).json();
    let header = dir.events(&format!("sub/{}", output["transcript"].as_str().unwrap())).remove(0);
    (output, header)
}

#[test]
fn options_override_the_environment_and_that_the_files() {
    if lacks("level basic") {
        return;
    }
    let project = "clock = \"7s\"\nsandbox = \"auto\"\n[agents]\nmine = \"@greedy\"\n";
    let user =
        "clock = \"8s\"\nboard = \"none\"\nsandbox = \"basic\"\n[agents]\nyours = \"@first\"\n";
    let dir = configured(project, user);
    let (output, header) = play(&dir, "", "mine x=yours");
    assert_eq!(
        (&header["clock"]["bank_ms"], &header["sandbox"]["level"]),
        (&json!(7000), &json!("basic"))
    );
    let agents = [("mine", "mine=@greedy"), ("x", "x=@first")];
    for (seat, (name, agent)) in output["seats"].as_array().unwrap().iter().zip(agents) {
        assert_eq!((&seat["name"], &seat["agent"]), (&json!(name), &json!(agent)));
    }
    for (before, words, bank) in [
        ("REFEREE_CLOCK=9s", "mine @first", Some(9000)),
        ("REFEREE_CLOCK=9s", "mine @first --clock 11s", Some(11_000)),
        ("", "mine @first --move-time 5s", None),
        ("", "@first @first --no-config", Some(60_000)),
    ] {
        let (_, header) = play(&dir, before, words);
        assert_eq!(header["clock"]["bank_ms"].as_u64(), bank, "{before} {words}");
    }
    // The printed command needs no config file, and no config file changes it.
    let again = output["reproduce"].as_str().unwrap();
    assert!(again.contains("mine=@greedy") && again.contains("--clock 7s"), "{again}");
    let repeated = dir.shell(&format!("{again} --json")).code(0).json();
    assert_eq!((&repeated["match"], &repeated["seats"]), (&output["match"], &output["seats"]));
    let (plain, _) = play(&dir, "", "@first @first --no-config");
    assert!(plain["reproduce"].as_str().unwrap().contains("--clock 60s+0.5s"), "{plain}");
}

#[test]
fn the_settings_are_shown_with_their_source() {
    let dir = configured("clock = \"7s\"\n[agents]\nmine = \"@greedy\"\n", "board = \"none\"\n");
    let shown = dir.shell(&line(&dir, "REFEREE_BOARD=ascii", "config")).code(0).stdout;
    let project = dir.path("referee.toml").canonicalize().unwrap();
    let project = project.display();
    assert_eq!(
        shown.lines().skip(1).collect::<Vec<_>>(),
        [
            &format!("clock\t7s\t{project}:1"),
            "board\tascii\tREFEREE_BOARD",
            "sandbox\t-\tdefault",
            &format!("agent mine\t@greedy\t{project}:3"),
        ]
    );
    let shown = dir.shell(&line(&dir, "", "config --json")).code(0).json();
    assert_eq!(shown["files"].as_array().unwrap().len(), 2, "{shown}");
    assert_eq!(
        (&shown["settings"][1]["value"], &shown["settings"][1]["line"]),
        (&json!("none"), &json!(1))
    );
    let none = dir.shell(&line(&dir, "", "config --json --no-config")).code(0).json();
    assert_eq!((&none["files"], &none["agents"]), (&json!([]), &json!([])));
}

#[test]
fn mistakes_have_their_line_and_the_nearest_name() {
    for (text, message, help) in [
        ("\nclok = \"7s\"\n", "referee.toml:2:1: unknown key `clok`", "did you mean `clock`?"),
        ("clock = 7\n", "referee.toml:1:9: expected a string", "--no-config"),
        ("clock = \"fast\"\n", "referee.toml:1:9: ", "--no-config"),
        ("board = \"big\"\n", "one of auto, none, ascii, unicode", "--no-config"),
        ("sandbox = \"none\"\n", "can't turn off the protection", "your own config file"),
        ("[games]\nhex = \"./hex\"\n", "referee.toml:2:7: `hex` is a built-in game", "--no-config"),
        ("[games]\n\"A b\" = \"x\"\n", "referee.toml:2:9: the name \"A b\"", "--no-config"),
        ("[agents]\n\"a b\" = \"@first\"\n", "referee.toml:2:9: the name \"a b\"", "--no-config"),
    ] {
        let dir = configured(text, "");
        let ran = dir.shell(&line(&dir, "", "play hex @first @first --setup size=3"));
        ran.code(2).stderr_has(message).stderr_has(help);
        // Commands without such options don't read it.
        dir.shell(&line(&dir, "", "agents")).code(0);
        dir.shell(&line(&dir, "", &format!("play hex @first @first {SMALL} --no-config"))).code(0);
    }
}

#[test]
fn names_start_nothing_unless_they_are_typed() {
    let dir = configured("[agents]\nevil = \"touch touched\"\nbot = \"./bot\"\n", "");
    let program = program();
    dir.write("bot/agent.toml", format!("command = [{program:?}, \"agent\", \"first\"]\n"));
    let read = format!("--allow-read {program}");
    for command in ["config", &format!("play hex @first @first {SMALL}")] {
        dir.shell(&line(&dir, "", command)).code(0);
    }
    assert!(!dir.path("touched").exists() && !dir.path("sub/touched").exists());
    // Paths are relative to the config file, and the printed command works without it.
    let (output, _) = play(&dir, "", &format!("bot @first {read}"));
    assert_eq!(output["seats"][0]["name"], "bot");
    let again = dir.shell(&format!("{} --json", output["reproduce"].as_str().unwrap()));
    assert_eq!(again.code(0).json()["match"], output["match"]);
    // A file or folder of that name is meant itself.
    dir.write("sub/bot/agent.toml", "command = [\"./missing\"]\n");
    let ran = dir.shell(&line(&dir, "", &format!("play hex bot @first {SMALL}")));
    ran.code(2).stderr_has("./missing");
}

/// The name of a game program stands for its folder wherever a GAME is typed, and starts nothing else.
#[test]
fn game_programs_have_short_names() {
    if python().is_none() {
        return;
    }
    let sample = root().join("sample-agents/games/tic-tac-toe");
    let project =
        format!("[games]\nttt = {:?}\nlost = \"games/lost\"\n", sample.display().to_string());
    let dir = configured(&project, "");
    let run = |words: &str| dir.shell(&line(&dir, "", words));
    let played = run("play ttt @first @greedy --out x.jsonl --json").code(0).json();
    assert_eq!(played["game"], "tic-tac-toe");
    run("verify x.jsonl --rules ttt").code(0);
    run("perft ttt 2").code(0).stdout_has("2\t72\n");
    run("games").code(0).stdout_has("ttt\t\ta game program: ");
    let listed = run("games --json").code(0).json();
    assert_eq!(listed["programs"][1]["name"], "ttt", "{listed}");
    run("config").code(0).stdout_has("game ttt\t");
    // What is not there matters only where it is named.
    let ran = run("play lost @first @first").code(2);
    ran.stderr_has("referee.toml:3: games.lost: ").stderr_has("games/lost has no game.toml");
    run("perft ttt 2 --no-config").code(2).stderr_has("unknown game `ttt`");
}
