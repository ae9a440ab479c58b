//! A referee for tests: agents as threads or processes, without a clock; any fault fails the test.

use referee_games::{AnyGame, Games, Turn, kind};
use referee_protocol::{FromAgent, Outcome, Ready, Want, parse_from_agent};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write, pipe};
use std::process::{Command, Stdio};
use std::thread;

/// Returns a setup with short games, smaller than the default where the game has such a one.
pub fn small(game: &str) -> Value {
    match game {
        "hex" => json!({"size": 4}),
        "chinese-checkers" => json!({"size": 2, "max_turns": 80}),
        "chexers" => json!({"turns_per_seat": 15}),
        "freckers" => json!({"turn_limit": 40}),
        "checker-puzzle" => json!({"size": 3}),
        "peg-solitaire" => json!({"size": 4, "open": [[1, 0]]}),
        _ => json!({}),
    }
}

/// Returns the `hello` message for a seat.
pub fn hello(game: &str, setup: &Value, seat: usize, seats: usize, seed: u64) -> Value {
    let others: Vec<Value> = (0..seats)
        .map(|seat| json!({"seat": seat, "name": format!("s{seat}"), "colour": "x"}))
        .collect();
    json!({
        "type": "hello", "protocol": 1, "game": game, "rules": 1, "setup": setup, "seat": seat,
        "seats": others, "seed": seed, "match": "8f3a0c5d1e2b4a69",
        "clock": {"kind": "wall", "start_ms": 10000, "bank_ms": 60000},
        "limits": {"line_bytes": 65536}, "from_the_future": {},
    })
}

/// The result of a match.
#[derive(Debug, PartialEq)]
pub struct Played {
    pub outcome: Outcome,
    pub actions: Vec<Value>,
}

/// An agent for a seat.
#[derive(Clone, Debug)]
pub enum Participant {
    /// A built-in agent, by its name.
    BuiltIn(&'static str),
    /// A program: its folder and its command.
    Program(std::path::PathBuf, Vec<String>),
}

impl From<&'static str> for Participant {
    fn from(name: &'static str) -> Self {
        Self::BuiltIn(name)
    }
}

/// Returns a participant per seat: `agent` at `seat`, and `others`.
pub fn among(
    others: &'static str,
    seats: usize,
    seat: usize,
    agent: Participant,
) -> Vec<Participant> {
    let mut agents = vec![Participant::from(others); seats];
    agents[seat] = agent;
    agents
}

/// Returns the setup of a game that starts in this position.
pub fn from_here(board: &dyn AnyGame) -> Value {
    let mut setup = board.setup();
    setup["position"] = board.position();
    setup
}

/// Plays a game for one agent, and checks its place and its score.
#[track_caller]
pub fn expect_score(
    game: &str,
    setup: &Value,
    agent: impl Into<Participant>,
    place: u32,
    score: i64,
) {
    let outcome = play(game, setup, &[agent.into()], 1, None).outcome;
    assert_eq!((outcome.places, outcome.scores), (vec![place], Some(vec![score])), "{setup}");
}

/// Plays Hex with swaps and from a position, and checks that the agent beats `random`.
pub fn expect_hex_wins(agent: &Participant, setups: &[Value], seeds: std::ops::Range<u64>) {
    let position = json!({"size": 5, "first": "red", "position": {
        "to_move": 0, "size": 5, "stones": [[[2, 2]], [[1, 1]]], "colours": ["red", "black"],
        "turn": 2,
    }});
    let swaps = [
        json!({"size": 5, "swap": "pieces"}),
        json!({"size": 5, "swap": "sides", "first": "red"}),
        position,
    ];
    for setup in setups.iter().chain(&swaps) {
        for (seat, seed) in
            [0, 1].into_iter().flat_map(|seat| seeds.clone().map(move |it| (seat, it)))
        {
            let agents = among("random", 2, seat, agent.clone());
            let places = play("hex", setup, &agents, seed, None).outcome.places;
            assert_eq!(places[seat], 1, "{setup} seat {seat} seed {seed}");
        }
    }
}

/// Plays a match to its end. After `retire_at` turns the seat to move is retired.
pub fn play(
    game: &str,
    setup: &Value,
    agents: &[Participant],
    seed: u64,
    retire_at: Option<u64>,
) -> Played {
    let mut board = kind(game).unwrap().start(setup).unwrap();
    let whole = board.setup();
    let mut running: Vec<Option<RunningAgent>> = agents
        .iter()
        .enumerate()
        .map(|(seat, agent)| {
            let seed = seed * 16 + seat as u64;
            Some(RunningAgent::start(agent, &hello(game, &whole, seat, agents.len(), seed)))
        })
        .collect();
    let mut actions = Vec::new();
    let mut turns = 0;
    let outcome = loop {
        let seat = match board.turn() {
            Turn::Of(seat) => seat,
            Turn::Chance(_) => panic!("no built-in game has chance"),
            Turn::Over(outcome) => break outcome,
        };
        let turn = board.turn_number();
        if retire_at == Some(turns) {
            running[seat.index()] = None;
            board.retire(seat);
            let line = json!({"type": "retired", "turn": turn, "seat": seat, "fault": "late"});
            running.iter_mut().flatten().for_each(|agent| agent.send(&line));
            turns += 1;
            continue;
        }
        turns += 1;
        let asked = running[seat.index()].as_mut().expect("a retired seat is not asked");
        let action = asked.ask(board.as_ref(), turn);
        let recorded = board.play(&action).unwrap_or_else(|refusal| {
            panic!(
                "{game} {setup} seed {seed}: {:?} plays {action}: {refusal}",
                agents[seat.index()]
            )
        });
        let line = json!({
            "type": "played", "turn": turn, "seat": seat, "action": recorded, "used_ms": 1,
            "from_the_future": [],
        });
        running.iter_mut().flatten().for_each(|agent| agent.send(&line));
        actions.push(recorded);
    };
    for agent in running.into_iter().flatten() {
        agent.end(&json!({"type": "over", "outcome": outcome, "verdict": {
            "result": "played", "reason": outcome.reason, "places": outcome.places, "seats": [],
            "void": null, "from_the_future": 1,
        }}));
    }
    Played { outcome, actions }
}

/// A running agent, and the pipes to it.
#[expect(missing_debug_implementations, reason = "its streams have none")]
pub struct RunningAgent {
    to_agent: Box<dyn Write>,
    from_agent: Box<dyn BufRead>,
    /// Waits until the agent ends, and checks that it ends well.
    join: Box<dyn FnOnce()>,
    ready: Ready,
}

impl RunningAgent {
    pub fn start(participant: &Participant, hello: &Value) -> Self {
        let mut agent = match participant {
            Participant::BuiltIn(name) => Self::in_a_thread(name),
            Participant::Program(folder, command) => Self::as_a_process(folder, command),
        };
        agent.send(hello);
        let FromAgent::Ready(ready) = agent.receive() else {
            panic!("{participant:?} isn't ready")
        };
        agent.ready = ready;
        agent
    }

    fn in_a_thread(name: &'static str) -> Self {
        let (agent_reads, to_agent) = pipe().unwrap();
        let (from_agent, agent_writes) = pipe().unwrap();
        let agent = thread::spawn(move || {
            sample_agents::run(
                name,
                &Games::default(),
                BufReader::new(agent_reads),
                agent_writes,
                std::io::sink(),
            )
        });
        Self {
            to_agent: Box::new(to_agent),
            from_agent: Box::new(BufReader::new(from_agent)),
            join: Box::new(move || agent.join().unwrap().unwrap()),
            ready: Ready::default(),
        }
    }

    fn as_a_process(folder: &std::path::Path, command: &[String]) -> Self {
        let mut agent = Command::new(&command[0])
            .args(&command[1..])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to_agent: Box::new(agent.stdin.take().unwrap()),
            from_agent: Box::new(BufReader::new(agent.stdout.take().unwrap())),
            join: Box::new(move || assert!(agent.wait().unwrap().success())),
            ready: Ready::default(),
        }
    }

    pub fn send(&mut self, line: &Value) {
        self.write(&format!("{line}\n"));
    }

    /// Writes text that is formatted differently from [`Self::send`].
    pub fn write(&mut self, text: &str) {
        self.to_agent.write_all(text.as_bytes()).unwrap();
    }

    pub fn receive(&mut self) -> FromAgent {
        let mut line = String::new();
        self.from_agent.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{line:?}");
        parse_from_agent(line.trim_end().as_bytes()).unwrap_or_else(|error| panic!("{line}{error}"))
    }

    fn ask(&mut self, board: &dyn AnyGame, turn: u64) -> Value {
        let mut request = json!({"type": "turn", "turn": turn, "left_ms": 60000});
        if self.ready.want.contains(&Want::Actions) {
            request["actions"] = board.actions().into();
        }
        if self.ready.want.contains(&Want::Position) {
            request["position"] = board.position();
        }
        self.send(&json!({"type": "from_the_future", "turn": turn}));
        self.send(&request);
        loop {
            match self.receive() {
                FromAgent::Info(_) => {}
                FromAgent::Action(action) => {
                    assert_eq!(action.turn, Some(turn));
                    return action.action;
                }
                other => panic!("asked for an action, got {other:?}"),
            }
        }
    }

    /// Closes the agent's input without `over`.
    pub fn leave(self) {
        drop(self.to_agent);
        (self.join)();
    }

    fn end(mut self, over: &Value) {
        self.send(over);
        self.leave();
    }
}
