//! A referee for tests: agents in threads at the far ends of pipes, no clock, no faults forgiven.

use referee_games::{AnyGame, Turn, kind};
use referee_protocol::{FromAgent, Outcome, Ready, Want, parse_from_agent};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write, pipe};
use std::process::{Command, Stdio};
use std::thread;

/// A setup that is soon over, for every game that has one smaller than its default.
pub(crate) fn small(game: &str) -> Value {
    match game {
        "hex" => json!({"size": 4}),
        "chinese-checkers" => json!({"size": 2, "max_turns": 200}),
        "chexers" => json!({"turns_per_seat": 40}),
        "freckers" => json!({"turn_limit": 60}),
        "checker-puzzle" => json!({"size": 3}),
        "peg-solitaire" => json!({"size": 4, "open": [[1, 0]]}),
        _ => json!({}),
    }
}

/// The `hello` line for a seat.
pub(crate) fn hello(game: &str, setup: &Value, seat: usize, seats: usize, seed: u64) -> Value {
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

/// How a match went.
#[derive(Debug, PartialEq)]
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) actions: Vec<Value>,
}

/// Someone to play.
#[derive(Clone, Debug)]
pub(crate) enum Entrant {
    /// One of ours, by its name.
    BuiltIn(&'static str),
    /// A program: its folder and its command.
    Program(std::path::PathBuf, Vec<String>),
}

impl From<&'static str> for Entrant {
    fn from(name: &'static str) -> Self {
        Self::BuiltIn(name)
    }
}

/// Plays a match to its end; after `retire_at` turns the seat to move is retired.
pub(crate) fn play(
    game: &str,
    setup: &Value,
    agents: &[Entrant],
    seed: u64,
    retire_at: Option<u64>,
) -> Played {
    let mut board = kind(game).unwrap().start(setup).unwrap();
    let whole = board.setup();
    let mut table: Vec<Option<Table>> = agents
        .iter()
        .enumerate()
        .map(|(seat, agent)| {
            let seed = seed * 16 + seat as u64;
            Some(Table::sit(agent, &hello(game, &whole, seat, agents.len(), seed)))
        })
        .collect();
    let mut actions = Vec::new();
    let mut turns = 0;
    let outcome = loop {
        let seat = match board.turn() {
            Turn::Of(seat) => seat,
            Turn::Over(outcome) => break outcome,
        };
        let turn = board.turn_number();
        if retire_at == Some(turns) {
            table[seat.index()] = None;
            board.retire(seat);
            let line = json!({"type": "retired", "turn": turn, "seat": seat, "fault": "late"});
            table.iter_mut().flatten().for_each(|table| table.tell(&line));
            turns += 1;
            continue;
        }
        turns += 1;
        let asked = table[seat.index()].as_mut().expect("a retired seat is not asked");
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
        table.iter_mut().flatten().for_each(|table| table.tell(&line));
        actions.push(recorded);
    };
    for table in table.into_iter().flatten() {
        table.dismiss(&json!({"type": "over", "outcome": outcome, "verdict": {
            "result": "played", "reason": outcome.reason, "places": outcome.places, "seats": [],
            "void": null, "from_the_future": 1,
        }}));
    }
    Played { outcome, actions }
}

/// One agent at the far end of two pipes.
pub(crate) struct Table {
    to_agent: Box<dyn Write>,
    from_agent: Box<dyn BufRead>,
    /// Waits until the agent has ended, and well.
    join: Box<dyn FnOnce()>,
    ready: Ready,
}

impl Table {
    pub(crate) fn sit(entrant: &Entrant, hello: &Value) -> Self {
        let mut table = match entrant {
            Entrant::BuiltIn(name) => Self::in_a_thread(name),
            Entrant::Program(folder, command) => Self::as_a_process(folder, command),
        };
        table.tell(hello);
        let FromAgent::Ready(ready) = table.hear() else { panic!("{entrant:?} isn't ready") };
        table.ready = ready;
        table
    }

    fn in_a_thread(name: &'static str) -> Self {
        let (agent_reads, to_agent) = pipe().unwrap();
        let (from_agent, agent_writes) = pipe().unwrap();
        let agent = thread::spawn(move || {
            sample_agents::run(name, BufReader::new(agent_reads), agent_writes, std::io::sink())
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

    pub(crate) fn tell(&mut self, line: &Value) {
        self.write(&format!("{line}\n"));
    }

    /// What another referee might write, whose JSON looks different.
    pub(crate) fn write(&mut self, text: &str) {
        self.to_agent.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn hear(&mut self) -> FromAgent {
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
        self.tell(&json!({"type": "from_the_future", "turn": turn}));
        self.tell(&request);
        loop {
            match self.hear() {
                FromAgent::Info(_) => {}
                FromAgent::Action(action) => {
                    assert_eq!(action.turn, Some(turn));
                    return action.action;
                }
                other => panic!("asked for an action, got {other:?}"),
            }
        }
    }

    /// Closes the agent's input without a word.
    pub(crate) fn leave(self) {
        drop(self.to_agent);
        (self.join)();
    }

    fn dismiss(mut self, over: &Value) {
        self.tell(over);
        self.leave();
    }
}
