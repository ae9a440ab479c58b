//! A table of mistakes: each with its error, as a snapshot.

use super::super::problem::Source;
use super::super::{ContestFile, FileError, games};
use super::contest;
use referee_games::Games;

/// Two who play, for mistakes elsewhere.
const TWO: &str = "agents = [\"@random\", \"@greedy\"]\n";

/// The same as it was.
#[track_caller]
fn check(name: &str, errors: &str) {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(name, errors);
    });
}

/// The errors of each file, one after the other.
fn errors_of(texts: &[&str]) -> String {
    let mut errors = String::new();
    for text in texts {
        errors += &shown(&contest(text).expect_err(text));
        errors.push('\n');
    }
    errors
}

fn shown(error: &FileError) -> String {
    match &error.help {
        Some(help) => format!("{error}\nhelp: {help}\n"),
        None => format!("{error}\n"),
    }
}

/// The same for lines after a game of two seats and two agents.
fn errors_in(lines: &[&str]) -> String {
    let whole = |line: &&str| format!("game = \"hex\"\n{TWO}{line}\n");
    let texts: Vec<String> = lines.iter().map(whole).collect();
    errors_of(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn form() {
    check(
        "form",
        &errors_in(&[
            "formt = \"swiss\"",
            "format = \"swis\"",
            "rounds = \"6\"",
            "rounds = 6\nrounds = 7",
            "seed = -1",
            "[clok]\nbank = \"1s\"",
            "[clock]\nbnak = \"1s\"",
            "[clock]\nbank = \"soon\"",
            "clock = [1]",
            "clock = \"60s+\"",
            "[policy]\non_fault = \"retir\"",
            "[limits]\nmemry_mb = 5",
            "jobs = 2 4",
            "\"\\u001b[31m\" = 1",
            "[gauntlet]\nchallengers = true",
            "[gauntlet]\nchallengers = -1",
            "[[games]]\ngame = \"hex\"\nsetup = 5",
        ]),
    );
}

#[test]
fn ranges_and_contradictions() {
    check(
        "ranges_and_contradictions",
        &errors_in(&[
            "rounds = 0",
            "rounds = 1000001",
            "seed = 9007199254740992",
            "seed = \"7\"",
            "jobs = 0",
            "name = \"\"",
            "preset = \"comp30024\"",
            "[clock]\nbank_ms = 1000",
            "clock = { move = \"1s\", margin_ms = true }",
            "[clock]\nbackstop = \"5s\"",
            "[clock]\nmove = \"1s\"\nincrement = \"1s\"",
            "[clock]\nstart = 0",
            "[limits]\nfiles = 1",
            "[limits]\nline_bytes = 0",
            "[sandbox]\nlevel = \"isolate\"",
            "[sandbox]\nlevel = \"isolated\"\nat_least = \"basic\"",
            "[sandbox]\nat_least = \"none\"",
            "[sandbox]\nat_least = \"external\"",
            "[sandbox]\nat_least = \"auto\"",
            "[sandbox]\nlevel = \"external\"",
            "[sandbox]\nwrapper = \"bwrap\"",
            "[sandbox]\nlevel = \"basic\"\nwrapper = [\"bwrap\"]",
            "[sandbox]\nlevel = \"external\"\nwrapper = \"it's\"",
            "[sandbox]\nlevel = \"external\"\nwrapper = []",
            "[sandbox]\nlevel = \"external\"\nwrapper = 5",
            "[sandbox]\npondering = \"stop\"",
            "[sandbox]\nread = \"/opt\"",
            "[sandbox]\nread = [\"/opt\", \"\"]",
            "[workers]\ncores = 2",
            "[openings]\nplies = 101",
            "[openings]\nplies = 4\nfile = \"x.jsonl\"",
            "[policy]\nvoid_retries = 1001",
            "[policy]\nbuild_time = \"1m\"",
            "[build]\ntime = 0",
            "[build]\nmemory_mb = 0",
            "duplicate_deals = true",
            "[adjudication]",
            "adjudication.win = { score = 0, turns = 3 }",
            "adjudication.win = { score = inf, turns = 3 }",
            "adjudication.win = { score = 5, turns = 0 }",
            "adjudication.draw = { score = -1, turns = 3 }",
            "adjudication.draw = { score = 1 }",
            "adjudication.draw = { score = 1, turns = 3, after = 3 }",
            "[[games]]\ngame = \"hex\"",
            "submissions = \"\"",
            "[submissions]\nfolder = \"bots\"\nrun = \"python3 main.py\"",
        ]),
    );
}

#[test]
fn formats() {
    check(
        "formats",
        &errors_in(&[
            "format = \"puzzle\"",
            "[gauntlet]\nchallengers = 1",
            "format = \"gauntlet\"\ngauntlet = { challengers = 2 }",
            "format = \"gauntlet\"\ngauntlet = { challengers = 0 }",
            "format = \"gauntlet\"\ngauntlet = { challengers = [\"@randm\"] }",
            "format = \"gauntlet\"\ngauntlet = { challengers = [\"@random\", \"@random\"] }",
            "[round_robin]\ntriples_per_player = 4",
            "format = \"compare\"\n[compare]\nelo0 = 0",
            "format = \"compare\"\n[compare]\nelo0 = 10\nelo1 = 0",
            "format = \"compare\"\n[compare]\nelo0 = nan\nelo1 = 0",
            "format = \"compare\"\n[compare]\nelo0 = 0\nelo1 = 10\nalpha = 0.5",
            "format = \"compare\"\n[compare]\nalpha = 0.1",
        ]),
    );
}

#[test]
fn games_and_players() {
    check(
        "games_and_players",
        &errors_of(&[
            "",
            "game = \"hexx\"",
            "game = \"hex\"",
            "game = \"hex\"\nagents = [\"@random\"]",
            "game = \"hex\"\nagents = [\"@random\", 5]",
            "game = \"hex\"\nagents = [\"@random\", \"@random\"]",
            "game = \"hex\"\nagents = [{ run = \"a\", name = \"x\" }, \"x=@random\"]\n\
         [[agents]]\nrun = \"b\"",
            "game = \"hex\"\n[[agents]]\nrun = \"a\"\nname = \"x\"\n\
         [[agents]]\nrun = \"b\"\nname = \" x\"",
            "game = \"hex\"\nagents = [{ run = \"a\", name = \"\" }, \"b\"]",
            "game = \"hex\"\nagents = [{ name = \"x\" }, \"b\"]",
            "game = \"chexers\"\nformat = \"swiss\"\nagents = [\"a\", \"b\", \"c\"]",
            "game = \"chexers\"\nformat = \"compare\"\nagents = [\"a\", \"b\"]",
            "game = \"peg-solitaire\"\nformat = \"round-robin\"\nagents = [\"a\"]",
            "game = \"peg-solitaire\"",
            "game = \"hex\"\nformat = \"compare\"\nagents = [\"a\", \"b\", \"c\"]",
            "game = \"hex\"\nrounds = 1000000\nagents = [\"a\", \"b\", \"c\", \"d\"]",
            "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\nsetup = { size = 99 }",
            "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\nsetup = { sise = 9 }",
            "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\nsetup = { size = 2020-01-01 }",
            "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\n[[games]]\ngame = \"chexers\"",
            "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\n[[games]]\ngame = \"hex\"",
            "agents = [\"a\", \"b\"]\n[openings]\nplies = 9\n[[games]]\ngame = \"hex\"\n\
         setup = { size = 3 }",
        ]),
    );
}

#[test]
fn lists_are_bounded() {
    let games = "[[games]]\ngame = \"hex\"\n".repeat(101);
    let agents = format!("game = \"hex\"\nagents = [{}]\n", "\"@random\", ".repeat(10_001));
    for (text, errors) in [
        (games, "contest.toml:202:8: a contest can have at most 100 games"),
        (agents, "contest.toml:2:110011: at most 10000 agents can play"),
    ] {
        let error = contest(&text).unwrap_err().to_string();
        assert!(error.starts_with(errors), "{error}");
    }
}

#[test]
fn openings() {
    let text = "agents = [\"a\", \"b\"]\n[openings]\nfile = \"o\"\n[[games]]\ngame = \"hex\"\n\
                [[games]]\ngame = \"freckers\"";
    let both = ContestFile::read(text, "contest.toml", "x", &Games::default()).unwrap();
    let one = ContestFile::read("game = \"hex\"", "contest.toml", "x", &Games::default()).unwrap();
    let mut errors = String::new();
    for (file, lines) in [
        (&one, "\n\n"),
        (&one, "{\"turn\":0"),
        (&one, "[]"),
        (&one, "\n{\"game\":\"hx\",\"position\":{}}\n"),
        (&both, "{}"),
        (&both, "{\"game\":\"hex\",\"position\":{\"x\":1}}"),
    ] {
        let source = Source { file: "openings.jsonl".to_owned(), text: lines.to_owned() };
        errors += &shown(
            &games::positions(&source, &file.settings.games, &Games::default()).expect_err(lines),
        );
    }
    check("openings", &errors);
}

#[test]
fn grades() {
    let marks = |marks: &str| format!("grades.marks = [{marks}]");
    let beats = |beats: &str| format!("[[grades.beats]]\n{beats}");
    let lines = [
        "[grades]".to_owned(),
        "grades.makrs = []".to_owned(),
        marks("{ mark = \" \", percent = 50 }"),
        marks("{ mark = \"A\", percent = 101 }"),
        marks("{ mark = \"A\", percent = nan }"),
        marks("{ mark = \"A\", place = 0 }"),
        marks("{ mark = \"A\", place = 3, percent = 50 }"),
        marks("{ mark = \"A\" }, { mark = \"B\", place = 3 }"),
        marks("{ mark = \"B\", elo = 0 }, { mark = \"A\", elo = 100 }"),
        marks("{ mark = \"A\", points = 3 }"),
        beats("agent = \"greedy\"\npercent = 60"),
        beats("agent = \"geedy\"\npercent = 60\npoints = 1"),
        beats("agent = \"greedy\"\npercent = 60\npoints = -1"),
        "grades = { marks = [{ mark = \"A\" }], ungraded = [\"x\"] }".to_owned(),
    ];
    check("grades", &errors_in(&lines.each_ref().map(String::as_str)));
}
