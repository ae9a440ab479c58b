//! The Python starter's kit: its rules compared with the referee's, and how it treats its streams.

use crate::referee::{Participant, among, from_here, hello, play, small};
use crate::samples::games_of;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use referee_games::{AnyGame, GameKind, Turn, kind};
use referee_protocol::{FromAgent, Seat, parse_from_agent};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The folder of the starter and its kit.
const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/starter");
/// The folder of these tests' scripts.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kit");
/// Random games per setup.
const GAMES_PER_SETUP: u64 = 2;
/// Random games end after this many actions.
const ACTIONS_MAX: u64 = 250;

/// Returns whether Python is installed. If not, it prints a line, or fails if skipping is forbidden.
pub(crate) fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        let forbidden = std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_some();
        assert!(!forbidden, "there is no python3, and REFEREE_TESTS_FORBID_SKIP is set");
        println!("skipped: there is no python3");
    }
    found
}

/// Events of games, one per line, as `compare.py` reads them.
#[derive(Default)]
struct EventLog(String);

impl EventLog {
    fn push(&mut self, event: &Value) {
        writeln!(self.0, "{event}").unwrap();
    }

    /// Adds the start of a game.
    fn begin(&mut self, game: &dyn AnyGame, seed: u64) {
        let name = game.kind().name;
        self.push(&json!({"game": name, "setup": game.setup(), "seed": seed}));
        self.push(&json!({"state": state(game)}));
    }

    /// Plays an action, and now and then tries another one on a copy first.
    fn play(&mut self, game: &mut dyn AnyGame, action: &Value, random: &mut impl Rng) {
        if random.random_ratio(1, 4) {
            let actions = game.actions();
            let tried = actions.choose(random).unwrap();
            let mut other = game.clone_box();
            other.play(tried).unwrap();
            self.push(&json!({"tried": tried, "state": state(other.as_ref())}));
        }
        let recorded = game.play(action).unwrap();
        self.push(&json!({"played": recorded}));
        // Only some states: they are long.
        if game.turn_number() < 10 || is_over(game) || random.random_ratio(1, 6) {
            self.push(&json!({"state": state(game)}));
        }
    }

    fn retire(&mut self, game: &mut dyn AnyGame, seat: Seat) {
        game.retire(seat);
        self.push(&json!({"retired": seat}));
        self.push(&json!({"state": state(game)}));
    }

    /// Has the kit replay all events, and returns its summary.
    fn compare(&self) -> String {
        let output = run(&[&format!("{SCRIPTS}/compare.py")], &[], self.0.as_bytes());
        let text = String::from_utf8(output.stdout).unwrap();
        let difference = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "the kit and the referee differ:\n{difference}");
        text.trim().to_owned()
    }
}

/// Returns everything that the kit must agree with.
fn state(game: &dyn AnyGame) -> Value {
    let outcome = match game.turn() {
        Turn::Of(_) => None,
        Turn::Over(outcome) => Some(outcome),
    };
    json!({"position": game.position(), "actions": game.actions(), "outcome": outcome})
}

fn is_over(game: &dyn AnyGame) -> bool {
    matches!(game.turn(), Turn::Over(_))
}

/// Runs a script with its input, in another folder than its own.
fn run(arguments: &[&str], environment: &[(&str, &str)], input: &[u8]) -> Output {
    let mut python = Command::new("python3");
    python.args(arguments).current_dir(std::env::temp_dir());
    // The referee passes neither to agents.
    python.env_remove("PYTHONUNBUFFERED").env_remove("PYTHONPATH");
    python.envs(environment.iter().copied());
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let mut stdin = python.stdin.take().unwrap();
    // A script that fails, as some of these do, need not read all of it.
    let written = stdin.write_all(input);
    drop(stdin);
    let output = python.wait_with_output().unwrap();
    assert!(written.is_ok() || !output.status.success(), "input was left unread");
    output
}

/// Returns the default setup, the game's variants, and setups that other rules depend on.
fn setups(kind: &GameKind) -> Vec<Value> {
    let mut setups = vec![json!({}), small(kind.name)];
    setups.extend(kind.about().variants);
    match kind.name {
        "hex" => {
            for (swap, first) in [("pieces", "black"), ("pieces", "red"), ("sides", "black")] {
                setups.push(json!({"size": 3, "swap": swap, "first": first}));
            }
        }
        "chinese-checkers" => {
            for (index, neutral) in ["pass", "free", "closed"].iter().enumerate() {
                for (seats, jumps, win) in [
                    (2, "long", "own"),
                    (3, "adjacent", "filled"),
                    (4, "long", "filled"),
                    (6, "long", "own"),
                ] {
                    let size = 2 + (index + seats) % 4;
                    setups.push(json!({
                        "seats": seats, "size": size, "jumps": jumps, "neutral": neutral,
                        "win": win, "max_turns": 250,
                    }));
                }
            }
            // A seat that can't move passes, and a round of passes ends the game.
            let placed = |marbles: Value| json!({"to_move": 0, "marbles": marbles, "turn": 0});
            setups.push(json!({"position": placed(json!([[1], [2, 3, 4, 6, 61]]))}));
            setups.push(json!({"position": placed(json!([[23], [99]]))}));
            setups.push(json!({"seats": 3, "position": placed(json!([[23], [1], [121]]))}));
            // Seats 0 and 1 are home, and seat 0 moved last.
            let both = json!({"to_move": 1, "marbles": [[121], [11], [61]], "turn": 4});
            setups.push(json!({"seats": 3, "position": both}));
        }
        "peg-solitaire" => {
            setups.push(json!({"size": 4, "open": [[1, 0]], "finish": "start"}));
            setups.push(json!({"shape": "diamond", "size": 4, "open": [[0, 1], [3, 3]]}));
        }
        _ => {}
    }
    setups
}

#[test]
fn the_kit_agrees_with_the_referee_in_random_games() {
    if !has_python() {
        return;
    }
    for kind in games_of("python/starter") {
        let mut log = EventLog::default();
        for setup in setups(kind) {
            for seed in 0..GAMES_PER_SETUP {
                play_at_random(&mut log, kind, &setup, seed);
            }
        }
        println!("{}: {}", kind.name, log.compare());
    }
}

/// Plays a random game. Seats retire, and the game restarts from its position now and then.
fn play_at_random(log: &mut EventLog, kind: &GameKind, setup: &Value, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut game = kind.start(setup).unwrap();
    log.begin(game.as_ref(), seed);
    let mut left: Vec<Seat> = Seat::all(game.seats()).collect();
    for _ in 0..ACTIONS_MAX {
        let Turn::Of(seat) = game.turn() else { break };
        assert!(left.contains(&seat));
        let out = left.choose(&mut random).copied().filter(|_| left.len() > 2);
        if let Some(seat) = out.filter(|_| random.random_ratio(1, 40)) {
            left.retain(|&other| other != seat);
            log.retire(game.as_mut(), seat);
        } else if random.random_ratio(1, 50) {
            game = kind.start(&from_here(game.as_ref())).unwrap();
            log.begin(game.as_ref(), seed);
        } else {
            // The last action is often of a rare kind, such as a swap.
            let actions = game.actions();
            let early = seed == 0 && game.turn_number() == 1;
            let rare = actions.last().filter(|_| early || random.random_ratio(1, 4));
            let action = rare.or_else(|| actions.choose(&mut random)).unwrap();
            log.play(game.as_mut(), action, &mut random);
        }
    }
}

#[test]
fn the_kit_agrees_with_the_referee_on_the_end_of_games() {
    if !has_python() {
        return;
    }
    for kind in games_of("python/starter") {
        let mut log = EventLog::default();
        let mut reasons: Vec<String> = Vec::new();
        for (setup, agent) in setups(kind).iter().zip(["greedy", "minimax:1"].into_iter().cycle()) {
            let mut game = kind.start(setup).unwrap();
            // These agents are slow on the largest boards.
            if is_over(game.as_ref()) || game.actions().len() > 300 || setup["size"] == 12 {
                continue;
            }
            let played = play(kind.name, setup, &vec![agent.into(); game.seats()], 1, None);
            let mut random = ChaCha8Rng::seed_from_u64(1);
            log.begin(game.as_ref(), 1);
            for action in &played.actions {
                log.play(game.as_mut(), action, &mut random);
            }
            reasons.push(played.outcome.reason);
        }
        println!("{}: {}", kind.name, log.compare());
        let main = kind.about().reasons[0].name;
        assert!(reasons.iter().any(|reason| reason == main), "{}: {reasons:?}", kind.name);
    }
}

#[test]
fn the_kit_counts_only_passes_of_remaining_seats() {
    if !has_python() {
        return;
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut log = EventLog::default();
    // Seats 0 and 1 are stuck: they pass, then a seat retires, and after one more pass at most the
    // game is over.
    let stuck = json!({"to_move": 0, "marbles": [[23], [1], [121]], "turn": 0});
    let setup = json!({"seats": 3, "position": stuck});
    for out in 0..3 {
        let mut game = kind("chinese-checkers").unwrap().start(&setup).unwrap();
        log.begin(game.as_ref(), 0);
        for _ in 0..2 {
            log.play(game.as_mut(), &json!({"type": "pass"}), &mut random);
        }
        log.retire(game.as_mut(), Seat(out));
        if !is_over(game.as_ref()) {
            log.play(game.as_mut(), &json!({"type": "pass"}), &mut random);
        }
        assert!(is_over(game.as_ref()), "seat {out}");
    }
    log.compare();
}

/// Returns the starter.
fn starter() -> Participant {
    Participant::Program(STARTER.into(), ["python3", "bot.py"].map(str::to_owned).to_vec())
}

#[test]
fn the_starter_continues_when_seats_retire_and_starts_from_positions() {
    if !has_python() {
        return;
    }
    for kind in games_of("python/starter") {
        let setup = small(kind.name);
        let seats = kind.start(&setup).unwrap().seats();
        for retire_at in [0, 4].into_iter().filter(|_| seats > 2) {
            // The retiring seat is before or after the starter's.
            let agents = among("random", seats, usize::from(retire_at == 0) + 1, starter());
            play(kind.name, &setup, &agents, 9, Some(retire_at));
        }
        let mut game = kind.start(&setup).unwrap();
        for _ in 0..2 {
            let actions = game.actions();
            game.play(actions.last().unwrap()).unwrap();
        }
        let setup = from_here(game.as_ref());
        play(kind.name, &setup, &vec![starter(); seats], 9, None);
    }
}

#[test]
fn the_starter_repeats_its_game_with_the_same_seed() {
    if !has_python() {
        return;
    }
    let game = |seed| play("hex", &small("hex"), &[starter(), "first".into()], seed, None);
    assert_eq!(game(3), game(3));
    assert!((4..12).any(|seed| game(seed) != game(3)));
}

/// Returns the lines that the bot at `seat` receives in Hex on a 4 x 4 board. Both seats play the
/// first legal action; the lines end after `turns` turns.
fn conversation(seat: usize, turns: usize) -> String {
    let mut game = kind("hex").unwrap().start(&json!({"size": 4})).unwrap();
    let mut greeting = hello("hex", &game.setup(), seat, 2, 11);
    greeting["seats"][1]["name"] = json!("Zoë 棋士");
    // Not escaped, as the referee writes it.
    let mut lines = format!("{greeting}\n\n{{\"type\":\"weather\",\"sun\":[1]}}\r\n");
    for turn in 0..turns {
        let actions = game.actions();
        if turn % 2 == seat {
            let request = json!({
                "type": "turn", "turn": turn, "left_ms": 60000, "actions": actions,
                "position": game.position(), "moon": "full",
            });
            writeln!(lines, "{request}").unwrap();
        }
        game.play(&actions[0]).unwrap();
        let played = json!({"type": "played", "turn": turn, "seat": turn % 2,
            "action": actions[0], "used_ms": 1});
        writeln!(lines, "{played}").unwrap();
    }
    lines
}

/// Runs a bot on these lines; returns its messages, its stderr, and whether it succeeded.
fn behave(mode: &str, environment: &[(&str, &str)], input: &str) -> (Vec<FromAgent>, String, bool) {
    let output = run(&[&format!("{SCRIPTS}/behaviour.py"), mode], environment, input.as_bytes());
    let said = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let said = said.map(|line| {
        let text = String::from_utf8_lossy(line).into_owned();
        parse_from_agent(line).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
    let code = output.status.code().expect("not ended by a signal");
    assert!(code <= 1);
    (said.collect(), String::from_utf8(output.stderr).unwrap(), code == 0)
}

/// Checks that these messages are `ready` and the first legal action in each of these turns.
fn expect_first_actions(said: &[FromAgent], turns: &[u64]) {
    let FromAgent::Ready(ready) = &said[0] else { panic!("{said:?}") };
    assert_eq!(ready.name.as_deref(), Some("behaviour"));
    assert_eq!(said.len(), 1 + turns.len(), "{said:?}");
    for (said, &turn) in said[1..].iter().zip(turns) {
        let FromAgent::Action(action) = said else { panic!("{said:?}") };
        assert_eq!(action.turn, Some(turn));
        assert_eq!(action.action, json!({"type": "place", "at": [turn / 4, turn % 4]}));
    }
}

#[test]
fn prints_go_to_stderr_and_reads_find_no_input() {
    if !has_python() {
        return;
    }
    let (said, noted, well) = behave("noisy", &[], &conversation(1, 4));
    assert!(well, "{noted}");
    expect_first_actions(&said, &[1, 3]);
    for stray in [
        "printed before",
        "a stray print, flushed\n",
        "a stray print\n",
        "a stray write\n",
        "to the first stdout\n",
        "stray bytes\n",
        "asks: ",
        "a stray puts\n",
    ] {
        assert!(noted.contains(stray), "{stray:?} is not in {noted:?}");
    }
}

#[test]
fn names_are_read_in_any_locale() {
    if !has_python() {
        return;
    }
    let plain = [
        ("LANG", "C"),
        ("LC_ALL", "C"),
        ("PYTHONCOERCECLOCALE", "0"),
        ("PYTHONUTF8", "0"),
        ("PYTHONIOENCODING", "ascii:backslashreplace"),
    ];
    for (environment, name) in
        [(&plain[..], r"Zo\xeb \u68cb\u58eb"), (&[("PYTHONIOENCODING", "utf-8")], "Zoë 棋士")]
    {
        let (said, noted, well) = behave("logs", environment, &conversation(0, 2));
        assert!(well, "{noted}");
        assert!(noted.contains(&format!("seats ['s0', '{name}'] left 60000")), "{noted}");
        assert!(noted.contains("listed 16 own 16"), "{noted}");
        let [FromAgent::Ready(ready), FromAgent::Info(first), FromAgent::Info(second), _] =
            &said[..]
        else {
            panic!("{said:?}")
        };
        assert_eq!(ready.want.len(), 2);
        let info = json!({"score": "-inf", "depth": 3, "text": "näher", "nodes": 7,
            "cells": [{"at": [0, 0], "label": "0.5"}]});
        assert_eq!(json!(first.0), info);
        assert_eq!(json!(second.0), json!({"score": "nan"}));
    }
}

#[test]
fn an_exception_ends_the_bot_with_its_own_traceback() {
    if !has_python() {
        return;
    }
    for (mode, answers, own_line, error) in [
        ("fails", 3, "return actions[len(actions)]", "IndexError: list index out of range"),
        ("misuses", 1, "return game.after(", "KeyError: 'at'"),
    ] {
        let (said, noted, well) = behave(mode, &[], &conversation(0, 4));
        assert!(!well && said.len() == answers, "{said:?}");
        let frames: Vec<&str> =
            noted.lines().filter(|line| line.trim_start().starts_with("File ")).collect();
        assert!(frames[0].contains("behaviour.py") && frames[0].contains("in choose"), "{noted}");
        assert!(frames[1..].iter().all(|frame| frame.contains("referee_kit.py")), "{noted}");
        assert!(noted.contains(own_line) && noted.contains(error), "{noted}");
    }
    let (said, noted, well) = behave("wrong", &[], &conversation(0, 4));
    assert!(!well && said.len() == 1, "{said:?}");
    assert!(noted.contains("choose returned 'c4': neither an action nor None"), "{noted}");
}

#[test]
fn a_bot_may_resign_and_may_change_its_copy_of_the_game() {
    if !has_python() {
        return;
    }
    let (said, noted, well) = behave("resigns", &[], &conversation(0, 4));
    assert!(well, "{noted}");
    expect_first_actions(&said[..2], &[0]);
    assert!(matches!(&said[2], FromAgent::Resign(resign) if resign.turn == Some(2)), "{said:?}");

    let (said, noted, well) = behave("spoils", &[], &conversation(0, 6));
    assert!(well, "{noted}");
    expect_first_actions(&said, &[0, 2, 4]);
}

#[test]
fn over_ends_the_bot_and_so_does_the_end_of_input() {
    if !has_python() {
        return;
    }
    for end in ["", "{\"type\":\"over\",\"outcome\":null}\n{\"type\":\"turn\",\"turn\":2}\n"] {
        let (said, noted, well) = behave("plays", &[], &(conversation(0, 2) + end));
        assert!(well, "{noted}");
        expect_first_actions(&said, &[0]);
    }
}

/// Returns the tutorial's bots: each step's `choose` with the rest of the starter.
fn tutorial() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-agent.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```python\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3, "a win, a plan, the middle");
    let bot = |blocks: &[&str]| {
        let body = blocks.join("\n");
        format!("import random\n\nfrom referee_kit import run\n\n\n{body}\n\nrun(choose)\n")
    };
    vec![bot(&blocks[..1]), bot(&blocks[1..2]), bot(&blocks[1..])]
}

#[test]
fn the_bots_of_the_tutorial_win_as_it_says() {
    if !has_python() {
        return;
    }
    let wins = |bot: usize, opponent: &'static str| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tutorial-{bot}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(format!("{STARTER}/referee_kit.py"), folder.join("referee_kit.py")).unwrap();
        std::fs::write(folder.join("bot.py"), &tutorial()[bot]).unwrap();
        let command = ["python3", "bot.py"].map(str::to_owned).to_vec();
        let bot = Participant::Program(folder, command);
        let won = |&number: &u64| {
            let seat = usize::from(number % 2 == 1);
            let mut table = [bot.clone(), opponent.into()];
            table.rotate_right(seat);
            let played = play("hex", &json!({"size": 7}), &table, number, None);
            played.outcome.places[seat] == 1
        };
        (0..8).filter(won).count()
    };
    assert!(wins(0, "random") >= 1);
    assert_eq!(wins(1, "random"), 8);
    let (before, after) = (wins(1, "greedy"), wins(2, "greedy"));
    assert!(before <= 2 && after >= 4, "{before} and {after} of 8 against greedy");
}
