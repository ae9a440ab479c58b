//! The starters' kits, in each language that has one: their rules are compared with the referee's.

use crate::samples::builds::{copied, games_of, is_installed, run_build, samples, starter_of};
use crate::samples::conversation::{conversation, converse, expect_first_actions};
use crate::support::small_referee::{among, from_here, play, small};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use referee_games::{AnyGame, GAMES, GameKind, Turn, kind};
use referee_protocol::{FromAgent, Seat};
use sample_agents::starters::STARTERS;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The folder of these tests' programs.
pub(crate) const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/full/samples/kit");
/// Random games per setup.
const GAMES_PER_SETUP: u64 = 2;
/// Random games end after this many actions.
const ACTIONS_MAX: u64 = 250;

/// A language's kit. Its program in `tests/kit` reads events, one JSON object per line, and plays them
/// with the kit:
///
/// - `{"game": .., "setup": {..}}`: a game begins;
/// - `{"played": action}`, `{"retired": seat}`: what happens next in it;
/// - `{"state": true}`: print the game's state;
/// - `{"tried": action}`: print the state of a copy with the action played.
///
/// A printed state is a line with a JSON object: `position` as in the protocol, `actions` (none if the
/// game is over), and `outcome` (null while it isn't over) with `places`, `reason` and, if the game
/// counts, `scores`.
pub(crate) struct Kit {
    /// The folder of the starter.
    pub(crate) starter: &'static str,
    /// The program, copied with the starter into a folder, where it is built and started.
    pub(crate) program: &'static str,
    /// The command that builds it; empty if nothing is to be built.
    pub(crate) build: &'static [&'static str],
    pub(crate) command: &'static [&'static str],
}

const KITS: &[Kit] = &[
    Kit {
        starter: "python/starter",
        program: "states.py",
        build: &[],
        command: &["python3", "states.py"],
    },
    Kit {
        starter: "javascript/starter",
        program: "states.js",
        build: &[],
        command: &["node", "states.js"],
    },
    Kit {
        starter: "rust/starter",
        program: "states.rs",
        build: &["rustc", "--edition", "2021", "-O", "states.rs"],
        command: &["./states"],
    },
    Kit {
        starter: "java/starter",
        program: "States.java",
        build: &["javac", "-Xlint:all", "-d", "classes", "States.java"],
        command: &["java", "-cp", "classes", "States"],
    },
    Kit {
        starter: "cpp/starter",
        program: "states.cpp",
        build: &["c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-o", "states", "states.cpp"],
        command: &["./states"],
    },
    Kit {
        starter: "go/starter",
        program: "states.go",
        build: &["sh", "-c", "rm bot.go && go build -o states ."],
        command: &["./states"],
    },
];

/// Bots on the kits that make mistakes. The argument selects one: `noisy` prints to stdout, `fails` fails in
/// its second turn at an index, in a line with the comment "here", and `resigns` resigns then.
const BOTS: &[Kit] = &[
    Kit {
        starter: "javascript/starter",
        program: "behaviour.js",
        build: &[],
        command: &["node", "behaviour.js"],
    },
    Kit {
        starter: "rust/starter",
        program: "behaviour.rs",
        build: &["rustc", "--edition", "2021", "-O", "behaviour.rs"],
        command: &["./behaviour"],
    },
    Kit {
        starter: "java/starter",
        program: "Behaviour.java",
        build: &["javac", "-Xlint:all", "-d", "classes", "Behaviour.java"],
        command: &["java", "-cp", "classes", "Behaviour"],
    },
    Kit {
        starter: "cpp/starter",
        program: "behaviour.cpp",
        build: &["c++", "-std=c++17", "-Wall", "-Wextra", "-o", "behaviour", "behaviour.cpp"],
        command: &["./behaviour"],
    },
    Kit {
        starter: "go/starter",
        program: "behaviour.go",
        build: &["sh", "-c", "rm bot.go && go build -o behaviour ."],
        command: &["./behaviour"],
    },
];

/// Returns whether a sample's kit knows the rules, so that it doesn't need the referee's `actions`.
pub(crate) fn knows_rules(path: &str) -> bool {
    KITS.iter().any(|kit| kit.starter == path)
}

/// Returns the kits whose programs can run on this machine, and the folders in which they are built.
fn kits() -> &'static [(&'static Kit, PathBuf)] {
    static BUILT: LazyLock<Vec<(&Kit, PathBuf)>> = LazyLock::new(|| built(KITS));
    &BUILT
}

pub(crate) fn built(kits: &'static [Kit]) -> Vec<(&'static Kit, PathBuf)> {
    let needs = |kit: &Kit| STARTERS.iter().find(|it| it.folder == kit.starter).unwrap().needs;
    let installed = kits.iter().filter(|kit| is_installed(kit.starter, needs(kit).iter().copied()));
    installed.map(|kit| (kit, kit.built())).collect()
}

impl Kit {
    /// Builds the program, and returns its folder.
    fn built(&self) -> PathBuf {
        let folder = copied(self.starter, &format!("kits/{}", self.program));
        let program = Path::new(PROGRAMS).join(self.program);
        std::fs::copy(program, folder.join(self.program)).unwrap();
        run_build(self.starter, &folder, self.build);
        folder
    }

    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut program = Command::new(self.command[0]);
        program.args(&self.command[1..]).current_dir(folder);
        program
    }

    /// Has the program play the events, and compares the states that it prints.
    fn compare(&self, folder: &Path, log: &EventLog) {
        let mut program = self.command(folder);
        let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = program.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // A program that fails doesn't read all of it.
            scope.spawn(move || stdin.write_all(log.lines.as_bytes()).ok());
            program.wait_with_output().unwrap()
        });
        let printed = String::from_utf8(output.stdout).unwrap();
        for (line, (place, expected)) in printed.lines().zip(&log.states) {
            let state: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {place}: {error} in {line}", self.starter));
            for (key, expected) in expected.as_object().unwrap() {
                assert_eq!(&state[key], expected, "{}: {place}: {key}", self.starter);
            }
        }
        assert!(output.status.success(), "{}: {}", self.starter, output.status);
        assert_eq!(printed.lines().count(), log.states.len(), "{}", self.starter);
    }
}

/// Events of games for the kits' programs, and the states that they should print.
#[derive(Default)]
struct EventLog {
    lines: String,
    /// Where in which game, and the state.
    states: Vec<(String, Value)>,
    /// The game that began last.
    name: String,
}

impl EventLog {
    fn push(&mut self, event: &Value) {
        writeln!(self.lines, "{event}").unwrap();
    }

    /// Adds a request for a state, and the expected state.
    fn expect(&mut self, request: &Value, game: &dyn AnyGame) {
        self.push(request);
        let outcome = match game.turn() {
            Turn::Of(_) | Turn::Chance(_) => None,
            Turn::Over(outcome) => Some(outcome),
        };
        let state =
            json!({"position": game.position(), "actions": game.actions(), "outcome": outcome});
        let place = format!("{} turn {} {request}", self.name, game.turn_number());
        self.states.push((place, state));
    }

    fn expect_state(&mut self, game: &dyn AnyGame) {
        self.expect(&json!({"state": true}), game);
    }

    /// Adds the start of a game.
    fn begin(&mut self, game: &dyn AnyGame) {
        let event = json!({"game": game.kind().name, "setup": game.setup()});
        self.name = event.to_string();
        self.push(&event);
        self.expect_state(game);
    }

    /// Plays an action, and now and then tries another one on a copy first.
    fn play(&mut self, game: &mut dyn AnyGame, action: &Value, random: &mut impl Rng) {
        if random.random_ratio(1, 4) {
            let actions = game.actions();
            let tried = actions.choose(random).unwrap();
            let mut other = game.clone_box();
            other.play(tried).unwrap();
            self.expect(&json!({"tried": tried}), other.as_ref());
        }
        let recorded = game.play(action).unwrap();
        self.push(&json!({"played": recorded}));
        // Only some states: they are long.
        if game.turn_number() < 10 || is_over(game) || random.random_ratio(1, 6) {
            self.expect_state(game);
        }
    }

    fn retire(&mut self, game: &mut dyn AnyGame, seat: Seat) {
        game.retire(seat);
        self.push(&json!({"retired": seat}));
        self.expect_state(game);
    }

    /// Compares the states of every kit that plays this game.
    fn compare(&self, kind: &GameKind) {
        for (kit, folder) in kits() {
            if games_of(kit.starter).any(|game| game.name == kind.name) {
                kit.compare(folder, self);
                println!("{}: {}: {} states", kit.starter, kind.name, self.states.len());
            }
        }
    }
}

fn is_over(game: &dyn AnyGame) -> bool {
    matches!(game.turn(), Turn::Over(_))
}

/// Returns the default setup, the game's variants, and setups that other rules depend on.
pub(crate) fn setups(kind: &GameKind) -> Vec<Value> {
    let mut setups = vec![json!({}), small(kind.name)];
    setups.extend(kind.about().variants.clone());
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
fn kits_agree_with_the_referee_in_random_games() {
    for kind in GAMES {
        let mut log = EventLog::default();
        for setup in setups(kind) {
            for seed in 0..GAMES_PER_SETUP {
                play_at_random(&mut log, kind, &setup, seed);
            }
        }
        log.compare(kind);
    }
}

/// Plays a random game. Seats retire, and the game restarts from its position now and then.
fn play_at_random(log: &mut EventLog, kind: &GameKind, setup: &Value, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut game = kind.start(setup).unwrap();
    log.begin(game.as_ref());
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
            log.begin(game.as_ref());
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
fn kits_agree_with_the_referee_on_the_end_of_games() {
    for kind in GAMES {
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
            log.begin(game.as_ref());
            for action in &played.actions {
                log.play(game.as_mut(), action, &mut random);
            }
            reasons.push(played.outcome.reason);
        }
        log.compare(kind);
        let main = kind.about().reasons[0].name;
        assert!(reasons.iter().any(|reason| reason == main), "{}: {reasons:?}", kind.name);
    }
}

#[test]
fn kits_count_only_passes_of_remaining_seats() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut log = EventLog::default();
    // Seats 0 and 1 are stuck: they pass, then a seat retires, and after one more pass at most the
    // game is over.
    let stuck = json!({"to_move": 0, "marbles": [[23], [1], [121]], "turn": 0});
    let setup = json!({"seats": 3, "position": stuck});
    let kind = kind("chinese-checkers").unwrap();
    for out in 0..3 {
        let mut game = kind.start(&setup).unwrap();
        log.begin(game.as_ref());
        for _ in 0..2 {
            log.play(game.as_mut(), &json!({"type": "pass"}), &mut random);
        }
        log.retire(game.as_mut(), Seat(out));
        if !is_over(game.as_ref()) {
            log.play(game.as_mut(), &json!({"type": "pass"}), &mut random);
        }
        assert!(is_over(game.as_ref()), "seat {out}");
    }
    log.compare(&kind);
}

#[test]
fn starters_continue_when_seats_retire_and_start_from_positions() {
    for sample in samples().iter().filter(|sample| starter_of(sample).is_some()) {
        let starter = || sample.participant.clone();
        for kind in games_of(&sample.path) {
            let mut game = kind.start(&small(kind.name)).unwrap();
            for _ in 0..2 {
                let actions = game.actions();
                game.play(actions.last().unwrap()).unwrap();
            }
            let setup = from_here(game.as_ref());
            let seats = game.seats();
            let retirements: &[Option<u64>] = if seats > 2 { &[Some(0), Some(4)] } else { &[None] };
            for retire_at in retirements {
                // The retiring seat is before or after the starter's.
                let seat = if *retire_at == Some(0) { 2 } else { seats.min(2) - 1 };
                play(kind.name, &setup, &among("random", seats, seat, starter()), 9, *retire_at);
            }
        }
    }
}

#[test]
fn kits_keep_stdout_and_say_where_a_bot_fails() {
    for (bot, folder) in built(BOTS) {
        let run = |mode: &str, input: &str| {
            let (mut said, noted, code) = converse(bot.command(&folder).arg(mode), input);
            let shown = json!([{"at": [0, 0], "label": "0.5"}]);
            let is_info = |it: &FromAgent| match it {
                FromAgent::Info(it) => it.0["text"] == "näher" && it.0["cells"] == shown,
                _ => false,
            };
            assert!(said.len() < 2 || is_info(&said[1]), "{said:?}");
            said.retain(|it| !is_info(it));
            (said, noted, code)
        };
        let (said, noted, code) = run("noisy", &conversation(1, 4));
        assert_eq!(code, 0, "{noted}");
        expect_first_actions(&said, &[1, 3]);
        assert_eq!(noted.matches("a stray print\n").count(), 2, "{noted}");

        let (said, noted, code) = run("fails", &conversation(0, 4));
        assert!(code != 0, "{}: {noted}", bot.program);
        expect_first_actions(&said, &[0]);
        // An exception of C++ doesn't know its line.
        if bot.starter != "cpp/starter" {
            let text = std::fs::read_to_string(folder.join(bot.program)).unwrap();
            let line = text.lines().position(|line| line.contains("// here")).unwrap() + 1;
            assert!(noted.contains(&format!("{}:{line}", bot.program)), "{noted}");
        }

        let (said, noted, code) = run("resigns", &conversation(0, 4));
        assert_eq!(code, 0, "{noted}");
        expect_first_actions(&said[..2], &[0]);
        assert!(matches!(&said[2], FromAgent::Resign(it) if it.turn == Some(2)), "{said:?}");

        let over = "{\"type\":\"over\",\"outcome\":null}\n{\"type\":\"turn\",\"turn\":2}\n";
        let (said, noted, code) = run("plays", &(conversation(0, 2) + over));
        assert_eq!(code, 0, "{noted}");
        expect_first_actions(&said, &[0]);
    }
}
