//! Mistakes on the command line have an error that names the remedy.

use crate::support::TestDir;

#[test]
fn mistakes_have_a_remedy() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    dir.write("mybot/agent.toml", "command = \"referee agent first\"\n");
    dir.program("player.sh", "#!/bin/sh\n");
    for (words, error, help) in [
        ("play hex mybto @random", "no program `mybto`", "did you mean `./mybot`?"),
        ("play hex ./plaer.sh @random", "no program `./plaer.sh`", "did you mean `./player.sh`?"),
        ("play hex python3 bot.py @random", "hex needs 2 agents", "\"python3 bot.py\""),
        ("play hex @random @random --size 5", "'--size'", "--setup size=VALUE"),
        ("play hex @random @random --size=5", "'--size'", "--setup size=VALUE"),
        ("play hex @random @random --out new/x.txt", "unknown ending .txt", ".jsonl.gz"),
        ("replay x.jsonl --turn first", "--turn first", "`start`"),
        ("replay x.jsonl --turn 99", "--turn 99", "the last turn is"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let result = dir.run(&words).code(2);
        result.stderr_has(error).stderr_has(help);
    }
    assert!(!dir.path("new").exists());
}

#[test]
fn replay_prints_the_start_position() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    let all = dir.run(&["replay", "x.jsonl", "--print"]).code(0).stdout;
    let start = dir.run(&["replay", "x.jsonl", "--turn", "start"]).code(0).stdout;
    assert!(!start.contains("turn 0") && all.starts_with(&start), "{start}");
}

/// Completion scripts ask the program what fits; fish passes the words and the begun word.
#[test]
fn completions_know_games_setups_and_agents() {
    let dir = TestDir::new();
    dir.write("bot.py", "");
    for (begun, expected) in [
        ("play he", &["hex"][..]),
        ("play hex @gr", &["@greedy"]),
        ("play hex bo", &["bot.py"]),
        ("play hex @random @random --setup s", &["size=", "swap="]),
        ("play hex @random @random --preset comp30024-2025 --bo", &["--board"]),
        ("replay la", &["latest"]),
    ] {
        let found = dir.shell(&format!("REFEREE_COMPLETE=fish referee -- referee {begun}")).stdout;
        let words: Vec<&str> = found.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, expected, "{begun}: {found}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        dir.run(&["completions", shell]).code(0).stdout_has("REFEREE_COMPLETE");
    }
    dir.run(&["completions", "bsh"]).code(2).stderr_has("did you mean `bash`?");
    dir.run(&["man", "pages"]).code(0);
    let page = std::fs::read_to_string(dir.path("pages/referee-play.1")).unwrap();
    assert!(page.contains("\\-\\-games"), "{page}");
}
