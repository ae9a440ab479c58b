//! What a right file means.

use super::super::problem::Source;
use super::super::{ContestFile, FoundAgent, OtherFiles, games};
use super::{contest, contest_of, found_agents};
use crate::formats::{
    Compare, DoubleKnockout, Gauntlet, Knockout, Ladder, LevelTies, Puzzle, RoundRobin, Swiss,
    TieRules,
};
use crate::{Contest, FormatSettings, LagPolicy, OnBroken, SeatOrders, Seed, SprtSettings};
use referee_games::Games;
use referee_protocol::{
    Adjudication, ClockKind, DrawAdjudication, Level, OnFault, Pondering, WinAdjudication,
};
use serde_json::json;
use std::collections::BTreeSet;

/// How ties are decided unless the file says otherwise.
const BY_LOT: TieRules = TieRules { replays: 3, level: LevelTies::Lot };

/// The contest of these lines, between two, in a game of two seats.
#[track_caller]
fn with(lines: &str) -> Contest {
    let text = format!("game = \"hex\"\nagents = [\"a\", \"b\"]\n{lines}");
    contest(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_is_left_out_is_usual() {
    let usual = with("");
    assert_eq!((usual.name.as_str(), usual.seed, usual.rounds), ("contest", Seed::Number(1), 1));
    assert_eq!(usual.seat_orders, SeatOrders::All);
    assert_eq!(usual.format, FormatSettings::RoundRobin(RoundRobin { triples_per_player: None }));
    assert_eq!(usual.clock, referee_protocol::ClockSettings::default());
    assert_eq!(usual.limits, referee_protocol::Limits::default());
    assert_eq!(usual.policy, crate::Policy::default());
    assert_eq!(usual.sandbox, crate::SandboxSettings::default());
    assert_eq!(usual.openings, crate::OpeningSettings::default());
    assert!(!usual.reuse && with("reuse = true").reuse);
    let [game] = &usual.games[..] else { panic!("{:?}", usual.games) };
    assert_eq!((game.name.as_str(), game.seats), ("hex", 2));
    assert_eq!(game.setup["size"], 11, "defaults are filled in");
    let alone = contest("game = \"peg-solitaire\"\nagents = [\"a\"]").unwrap();
    assert_eq!(alone.format, FormatSettings::Puzzle(Puzzle {}));
    assert!(alone.games[0].fewer_is_better);
}

#[test]
fn scores_may_end_games() {
    let contest = with("adjudication.win = { score = 8, turns = 5 }");
    let win = Some(WinAdjudication { score: 8.0, turns: 5 });
    assert_eq!(contest.adjudication, Some(Adjudication { win, draw: None }));
    let contest = with("adjudication.draw = { score = 0, turns = 5 }");
    let draw = Some(DrawAdjudication { score: 0.0, turns: 5, from_turn: 0 });
    assert_eq!(contest.adjudication, Some(Adjudication { win: None, draw }));
}

#[test]
fn clocks_are_as_in_play() {
    for (lines, bank, added, turn) in [
        ("clock = \"60s+0.5s\"", Some(60_000), 500, None),
        ("clock = \"5m\"", Some(300_000), 0, None),
        ("[clock]\nbank = 30", Some(30_000), 0, None),
        ("[clock]\nbank = \"30ms\"\nincrement = 0.5", Some(30), 500, None),
        ("[clock]\nmove = \"2s\"", None, 0, Some(2000)),
        ("[clock]\nmove = 2\nbank = \"1m\"", Some(60_000), 0, Some(2000)),
        ("[clock]\nstart = \"1s\"", Some(60_000), 500, None),
        ("preset = \"comp30024-2025\"", Some(180_000), 0, None),
        ("preset = \"comp30024-2025\"\n[clock]\nmove = \"2s\"", Some(180_000), 0, Some(2000)),
    ] {
        let clock = with(lines).clock;
        assert_eq!(
            (clock.bank_ms, clock.increment_ms, clock.move_ms),
            (bank, added, turn),
            "{lines}"
        );
    }
    let course = with("preset = \"comp30024-2025\"\n[limits]\nfiles = 99");
    assert_eq!((course.clock.kind, course.clock.start_ms), (ClockKind::Cpu, 180_000));
    assert_eq!((course.limits.memory_mb, course.limits.files), (250, 99));
    assert_eq!(course.policy.on_fault, OnFault::End);
    let cpu = with("[clock]\nkind = \"cpu\"\nbackstop = \"9s\"\nmargin = \"5ms\"").clock;
    assert_eq!((cpu.kind, cpu.backstop_ms, cpu.margin_ms), (ClockKind::Cpu, Some(9000), 5));
}

#[test]
fn formats_have_their_settings() {
    let sprt = SprtSettings { elo0: 0.0, elo1: 20.0, alpha: 0.01, beta: 0.05 };
    for (lines, format) in [
        ("format = \"swiss\"", FormatSettings::Swiss(Swiss {})),
        ("format = \"ladder\"", FormatSettings::Ladder(Ladder {})),
        (
            "format = \"double-knockout\"",
            FormatSettings::DoubleKnockout(DoubleKnockout { ties: BY_LOT }),
        ),
        (
            "format = \"knockout\"",
            FormatSettings::Knockout(Knockout { third_place: false, ties: BY_LOT }),
        ),
        (
            "format = \"knockout\"\nknockout = { third_place = true }",
            FormatSettings::Knockout(Knockout { third_place: true, ties: BY_LOT }),
        ),
        ("format = \"compare\"", FormatSettings::Compare(Compare { sprt: None })),
        (
            "format = \"compare\"\ncompare = { elo0 = 0, elo1 = 20, alpha = 0.01 }",
            FormatSettings::Compare(Compare { sprt: Some(sprt) }),
        ),
        ("format = \"gauntlet\"", FormatSettings::Gauntlet(Gauntlet { challengers: 1 })),
    ] {
        let text = format!("game = \"hex\"\nagents = [\"a\", \"b\"]\n{lines}");
        let (contest, order) = contest_of(&text, &[]).unwrap();
        assert_eq!(contest.own_seeds, !lines.contains("compare"), "{lines}");
        assert_eq!((contest.format, order), (format, vec![0, 1]), "{lines}");
    }
}

#[test]
fn challengers_come_first() {
    let text = "game = \"hex\"\nformat = \"gauntlet\"\nagents = [\"a\", \"b\", \"c\"]\n\
                [gauntlet]\nchallengers = [\"d\", \"b\"]";
    let (contest, order) = contest_of(text, &["d"]).unwrap();
    assert_eq!(contest.format, FormatSettings::Gauntlet(Gauntlet { challengers: 2 }));
    assert_eq!(order, [3, 1, 0, 2]);
    let names: Vec<&str> = contest.players.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names, ["d", "b", "a", "c"]);
}

#[test]
fn games_of_one_kind_get_different_names() {
    let text = "agents = [\"a\", \"b\"]\n[[games]]\ngame = \"hex\"\nsetup = { size = 5 }\n\
                [[games]]\ngame = \"hex\"\nname = \"big\"\n[[games]]\ngame = \"freckers\"";
    let contest = contest(text).unwrap();
    let names: Vec<&str> = contest.games.iter().map(|game| game.name.as_str()).collect();
    assert_eq!(names, ["hex size=5", "big", "freckers"]);
    assert_eq!(contest.games[0].setup["size"], 5);
}

#[test]
fn policy_and_the_rest() {
    let text = "game = \"hex\"\nname = \" a\\u001bb \"\njobs = 3\npin = true\n\
                seat_orders = \"one\"\nsandbox = { level = \"none\" }\n\
                agents = [{ name = \"x\", run = \"@random\" }, \"y\"]\n\
                [policy]\non_fault = \"end\"\nvoid_retries = 0\nlag_ms = 7\non_lag = \"again\"\n\
                rate_faults = false\non_broken = \"leave-out\"\n[build]\ntime = \"90s\"\n\
                [submissions]\nfolder = \"bots\"\nrun = \"python3 {}/main.py\"";
    let file = ContestFile::read(text, "contest.toml", "stem", &Games::default()).unwrap();
    assert_eq!((file.jobs, file.pin), (Some(3), true));
    assert_eq!(file.build.time().as_secs(), 90);
    let submissions = file.submissions.as_ref().unwrap();
    assert_eq!(submissions.folder, "bots");
    assert_eq!(submissions.run.as_deref(), Some("python3 {}/main.py"));
    let contest = contest(text).unwrap();
    assert_eq!(contest.name, "a\u{FFFD}b");
    assert_eq!(contest.seat_orders, SeatOrders::One);
    assert_eq!(contest.players[0].name, "x");
    let policy = contest.policy;
    assert_eq!((policy.on_fault, policy.void_retries, policy.lag_ms), (OnFault::End, 0, 7));
    assert_eq!((policy.on_lag, policy.rate_faults), (LagPolicy::Again, false));
    assert_eq!(policy.on_broken, OnBroken::LeaveOut);
}

#[test]
fn a_sandbox_is_exact_or_the_strongest() {
    let sandbox = with("sandbox = { level = \"none\" }").sandbox;
    assert_eq!(sandbox.level, Some(Level::None));
    assert!(sandbox.allows(Level::None) && !sandbox.allows(Level::Metered));
    let sandbox = with("[sandbox]\nlevel = \"auto\"\nat_least = \"confined\"").sandbox;
    assert_eq!((sandbox.level, sandbox.at_least), (None, Some(Level::Confined)));
    assert!(sandbox.allows(Level::Metered) && !sandbox.allows(Level::Basic));
    assert!(!sandbox.allows(Level::External), "its strength is unknown");
    for wrapper in ["\"box --ro 'a b'\"", "[\"box\", \"--ro\", \"a b\"]"] {
        let lines = format!("[sandbox]\nlevel = \"external\"\nwrapper = {wrapper}");
        assert_eq!(with(&lines).sandbox.wrapper, ["box", "--ro", "a b"]);
    }
    let sandbox = with("[sandbox]\npondering = \"measure\"\nread = [\"/opt\", \"data\"]").sandbox;
    assert_eq!(sandbox.pondering, Some(Pondering::Measure));
    assert_eq!(sandbox.read, ["/opt", "data"]);
}

/// Each key of an earlier version means in a stored contest what the new one means.
#[test]
fn a_stored_contest_may_have_old_keys() {
    let old = "game = \"hex\"\n[clock]\nkind = \"cpu\"\nstart_ms = 1\nbank_ms = 2\nincrement_ms = 3\n\
               move_ms = 4\nmargin_ms = 5\nbackstop_ms = 6\n[policy]\nbuild_time = \"7s\"\n\
               [workers]\ncores = 2";
    assert!(ContestFile::read(old, "contest.toml", "x", &Games::default()).is_err());
    let file = ContestFile::read_stored(old, "contest.toml", "x", &Games::default()).unwrap();
    let clock = serde_json::to_value(&file.settings.clock).unwrap();
    let expected = json!({"kind": "cpu", "start_ms": 1, "bank_ms": 2, "increment_ms": 3,
                          "move_ms": 4, "margin_ms": 5, "backstop_ms": 6});
    assert_eq!((clock, file.build.time_ms), (expected, 7000));
    let wrong = "game = \"hexx\"\nclock.bank_ms = 2";
    let error =
        ContestFile::read_stored(wrong, "contest.toml", "x", &Games::default()).unwrap_err();
    assert!(error.to_string().contains("unknown game"), "{error}");
    let own = ContestFile::read("game = \"tetress\"", "contest.toml", "x", &Games::default());
    let help = own.unwrap_err().help.unwrap();
    assert!(help.contains("a game program is named by its path, such as `./tetress`"), "{help}");
}

/// Lots depend on the seed and not on the names' order; a ranking comes before them.
#[test]
fn knockouts_are_seeded_by_list_lot_or_ranking() {
    let seeded = |lines: &str, ranking: Option<&str>| {
        let text = format!(
            "game = \"hex\"\nagents = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]\n\
             format = \"knockout\"\n{lines}"
        );
        let file = ContestFile::read(&text, "contest.toml", "x", &Games::default()).unwrap();
        let source = |text: &str| Source { file: "ranking".to_owned(), text: text.to_owned() };
        let others = OtherFiles { openings: None, ranking: ranking.map(source) };
        let (contest, order) = file.contest(&found_agents(&file), &others).unwrap();
        let agents: Vec<FoundAgent> = contest
            .players
            .iter()
            .map(|player| FoundAgent { player: player.clone(), span: 0..0 })
            .collect();
        // Seeded players stay in their order, with or without the ranking.
        for others in [&others, &OtherFiles::default()] {
            let again = file.contest(&agents, others).unwrap();
            assert_eq!((again.0.players, again.1), (contest.players.clone(), (0..6).collect()));
        }
        order
    };
    assert_eq!(seeded("", None), [0, 1, 2, 3, 4, 5]);
    let lots: BTreeSet<Vec<usize>> = (0..40)
        .map(|seed| seeded(&format!("seed = {seed}\nknockout.seeding = \"lot\""), None))
        .collect();
    assert!(lots.len() > 30, "{lots:?}");
    let first: BTreeSet<usize> = lots.iter().map(|order| order[0]).collect();
    assert_eq!(first.len(), 6, "each can be the first seed");
    let from = "knockout.seeding_from = \"ranking\"";
    assert_eq!(seeded(from, Some("f\nx\nd\n"))[..2], [5, 3]);
    let report = json!({"standings": {"players": [{"name": "c"}, {"name": "b"}, {"name": "e"}]}});
    assert_eq!(seeded(from, Some(&report.to_string()))[..3], [2, 1, 4]);
}

/// Nobody chooses the first opponent, or the bye, by the name of a submission.
#[test]
fn submissions_are_seeded_by_lot_in_a_swiss() {
    let order = |seed, more| {
        let text = format!(
            "game = \"hex\"\nagents = [\"a\", \"b\", \"c\", \"d\", \"e\"]\nformat = \"swiss\"\n\
             seed = {seed}\n{more}"
        );
        let file = ContestFile::read(&text, "contest.toml", "x", &Games::default()).unwrap();
        file.contest(&found_agents(&file), &OtherFiles::default()).unwrap().1
    };
    let last: BTreeSet<usize> =
        (0..40).map(|seed| order(seed, "submissions = \"inbox\"")[4]).collect();
    assert_eq!(last.len(), 5, "each can have the bye");
    assert_eq!(order(1, ""), [0, 1, 2, 3, 4]);
}

#[test]
fn openings_are_drawn_or_read() {
    assert_eq!(with("openings = { plies = 3 }").openings.plies, 3);
    let text = "agents = [\"a\", \"b\"]\nopenings = { file = \"o\" }\n[[games]]\ngame = \"hex\"\n\
                [[games]]\ngame = \"freckers\"";
    let file = ContestFile::read(text, "contest.toml", "x", &Games::default()).unwrap();
    assert_eq!(file.openings.as_ref().unwrap().0, "o");
    let kind = referee_games::kind("freckers").unwrap();
    let position = kind.start(&json!({})).unwrap().position();
    let line = json!({"game": "freckers", "position": position}).to_string();
    let source = Source { file: "o".to_owned(), text: format!("\n{line}\n\n{line}") };
    let read = games::positions(&source, &file.settings.games, &Games::default()).unwrap();
    assert_eq!((read[0].len(), read[1].len()), (0, 2));
    assert_eq!(read[1][0].0, position);
    let others = OtherFiles { openings: Some(source), ranking: None };
    let (contest, _) = file.contest(&found_agents(&file), &others).unwrap();
    assert_eq!(contest.openings.positions, read);
}

#[test]
fn the_example_of_the_schema_is_whole() {
    let schema = serde_json::to_value(super::super::schema()).unwrap();
    let keys = schema["properties"].as_object().unwrap();
    for key in ["name", "format", "games", "agents", "clock", "policy", "compare"] {
        assert!(keys.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.get("required").is_none(), "{}", schema["required"]);
}
