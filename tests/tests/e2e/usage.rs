//! Mistakes on the command line have an error that names the remedy.

use crate::support::TestDir;

#[test]
fn mistakes_have_a_remedy() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    dir.write("mybot/agent.toml", "command = \"referee agent first\"\n");
    dir.program("player.sh", "#!/bin/sh\n");
    dir.write("bot.py", "");
    for (words, error, help) in [
        ("play hex mybto @random", "no program `mybto`", "did you mean `./mybot`?"),
        ("play hex ./plaer.sh @random", "no program `./plaer.sh`", "did you mean `./player.sh`?"),
        ("play hex python3 bot.py @random", "hex needs 2 agents", "\"python3 bot.py\""),
        ("play hex bot.py", "hex needs 2 agents", "referee play hex 'python3 bot.py' @random"),
        ("play hex bot.py @first", "bot.py is not executable", "play hex 'python3 bot.py' @first"),
        ("compare bot.py @first --game hex", "bot.py is not executable", "\"python3 bot.py\""),
        ("contest quick --game hex bot.py", "bot.py is not executable", "\"python3 bot.py\""),
        ("play hex", "<AGENT>", "for example: referee play hex @random @greedy"),
        ("contest add cup", "--reason", "for example: referee contest add contests/autumn"),
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
fn old_names_give_the_new_ones() {
    let dir = TestDir::new();
    for (words, old, new) in [
        ("contest withdraw cup --on nats://x", "contest withdraw", "contest purge"),
        ("contest withdraw-agent cup amy", "contest withdraw-agent", "contest drop"),
        ("contest replay cup 3", "contest replay", "contest rerun"),
        ("contest quick --game hex @first --format swiss", "--format", "--tournament"),
        ("contest report cup --output=x.html", "--output", "--out"),
        ("contest grades cup --output x.csv", "--output", "--out"),
        ("replay export x.jsonl --output x.svg", "--output", "--out"),
        ("replay export x.jsonl --form svg", "--form", "--format"),
        ("check @first --format github", "--format", "--annotate"),
        ("compare @first @random -g hex --games-most 9", "--games-most", "--max-games"),
        ("agent list", "agent list", "agents"),
        ("new mybot --lang list", "new --lang list", "languages"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        dir.run(&words).code(2).stderr_has(&format!("`{old}` is now `{new}`"));
    }
    dir.run(&["new", "--lang", "list"]).code(2).stderr_has("is now `languages`");
    for (words, old) in
        [("verify x --key k", "--key"), ("serve --embed x", "--embed"), ("htp x", "htp")]
    {
        let words: Vec<&str> = words.split(' ').collect();
        dir.run(&words).code(2).stderr_has(&format!("`{old}` is removed")).stderr_has("help: ");
    }
}

#[test]
fn a_command_of_another_command_is_named() {
    let dir = TestDir::new();
    for (words, commands) in [
        ("export x.jsonl", "did you mean `referee replay export`?"),
        ("run cup.toml", "did you mean `referee contest run`?"),
        ("contest import x.pgn", "`referee replay import`"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        dir.run(&words).code(2).stderr_has("is not a command here").stderr_has(commands);
    }
}

/// The same options everywhere: what `play` takes, the others take too, with the same effect.
#[test]
fn what_play_takes_comparisons_and_contests_take() {
    let dir = TestDir::new();
    dir.write("built/agent.toml", "build = \"cp /bin/cat run\"\ncommand = \"./run\"\n");
    let conditions = ["--limit", "files=77", "--strict", "--on-fault", "end", "--move-time", "9s"];
    for words in [
        &["compare", "@first", "@random", "-g", "hex", "-s", "size=3", "-n", "2", "-q"][..],
        &["contest", "quick", "@first", "@random", "-g", "hex", "-s", "size=3", "-q"],
    ] {
        let out = words[1];
        let all = [words, &conditions, &["--openings", "1", "--out", out]].concat();
        dir.run(&all).code(0);
        let file = std::fs::read_to_string(dir.path(&format!("{out}/contest.toml"))).unwrap();
        for line in ["files = 77", "strict = true", "on_fault = \"end\"", "plies = 1"] {
            assert!(file.contains(line), "{line}: {file}");
        }
        let wrong = [words, &["--limit", "fils=7"]].concat();
        dir.run(&wrong).code(2).stderr_has("did you mean `files`?");
    }
    dir.run(&["check", "built", "-g", "hex", "-s", "size=3", "--probe", "start", "--build"])
        .code(0);
    assert!(dir.path("built/run").exists());
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
