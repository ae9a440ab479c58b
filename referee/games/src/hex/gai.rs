//! The line protocol of the engine `ai-hex`, version 0.1.0.
//!
//! It keeps no game between requests: each has the whole list of moves. Only some commands have a
//! reply, and an error is a line `info string error ..`. Source: the engine itself.

use super::action::Action;
use super::board_mapping::BoardMapping;
use super::setup::{Setup, Side, Swap};
use crate::{Decoded, Dialect, DialectKind};
use referee_protocol::{
    Action as Answer, ActionJson, ClockSettings, FromAgent, Hello, LineProtocol, ParseError, Ready,
    Seat, ToAgent, read_typed,
};
use serde::Deserialize;
use serde_json::Value;

/// The entry in the list of Hex.
pub(super) const KIND: DialectKind = DialectKind {
    name: "gai",
    about: "the line protocol of the engine ai-hex",
    begin: |settings| Gai::begin(settings).map(|gai| Box::new(gai) as Box<dyn Dialect>),
    serve: None,
};

/// The longest thinking time that the engine accepts.
const THINKING_MS_MAX: u64 = 2000;
/// The number of turns that the rest of a bank should last.
const TURNS_AHEAD: u64 = 30;

/// The settings of the engine.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// The words after `mcts`, such as `simulations 20000`. With `softtime`, they set the thinking
    /// time.
    mcts: String,
}

/// The codec for one engine.
#[derive(Debug, Default)]
struct Gai {
    options: Options,
    init: Vec<String>,
    out: Vec<u8>,
    name: Option<String>,
    is_ready: bool,
    game: Option<Game>,
    /// The turn to answer.
    asked: Option<u64>,
}

#[derive(Debug)]
struct Game {
    /// `size 11 swap off`
    setup: String,
    clock: ClockSettings,
    mapping: BoardMapping,
    moves: Vec<String>,
}

impl Gai {
    fn begin(settings: &LineProtocol) -> Result<Self, String> {
        let options = Value::Object(settings.options.clone());
        let options: Options = read_typed(&options)?;
        for line in settings.init.iter().chain([&options.mcts]) {
            if line.contains(['\n', '\r']) {
                return Err(format!("{line:?} has a line end"));
            }
        }
        Ok(Self { options, init: settings.init.clone(), ..Self::default() })
    }

    fn write(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }

    fn hello(&mut self, hello: &Hello) {
        let setup = Setup::deserialize(&hello.setup).unwrap_or_default();
        let swap = if setup.swap == Swap::None { "off" } else { "on" };
        let mut mapping = BoardMapping::new(&Setup { position: None, ..setup.clone() });
        let moves = moves_to(&setup, &mut mapping);
        let setup = format!("size {} swap {swap}", setup.size);
        self.game = Some(Game { setup, clock: hello.clock.clone(), mapping, moves });
        self.write("gai");
    }

    fn turn(&mut self, turn: u64, left_ms: Option<u64>) {
        let Some(game) = &self.game else { return };
        let mut position = format!("position {}", game.setup);
        if !game.moves.is_empty() {
            position.push_str(" moves ");
            position.push_str(&game.moves.join(" "));
        }
        let mut search = "mcts".to_owned();
        if !self.options.mcts.split_whitespace().any(|word| word == "softtime") {
            search.push_str(" softtime ");
            search.push_str(&thinking_ms(&game.clock, left_ms).to_string());
        }
        for word in self.options.mcts.split_whitespace() {
            search.push(' ');
            search.push_str(word);
        }
        self.write(&position);
        self.write(&search);
        self.asked = Some(turn);
    }

    /// `bestmove g7 simulations 900 ..`
    fn moved(&mut self, line: &str) -> Decoded {
        let (Some(turn), Some(game)) = (self.asked.take(), &self.game) else {
            return Decoded::Invalid(ParseError::new(format!(
                "a move that was not requested: `{line}`"
            )));
        };
        let word = line.split_whitespace().nth(1).unwrap_or_default();
        let action = match (word, game.mapping.read_engine_name(word)) {
            ("swap", _) => Action::Swap {},
            (_, Some(at)) => Action::Place { at },
            _ => return Decoded::Invalid(ParseError::new(format!("`{line}` doesn't name a cell"))),
        };
        let action = serde_json::to_value(action).expect("an action has string keys only");
        Decoded::Message(FromAgent::Action(Answer { turn: Some(turn), action }))
    }
}

impl Game {
    fn played(&mut self, action: &ActionJson) {
        match serde_json::from_str(action.as_str()) {
            Ok(Action::Place { at }) => self.moves.push(self.mapping.to_engine(at)),
            Ok(Action::Swap {}) => {
                self.mapping.swap(Swap::Sides);
                self.moves.push("swap".to_owned());
            }
            Err(_) => {}
        }
    }
}

/// Returns moves that lead to a setup's position. They may differ from those that were played: the
/// order of a colour's stones doesn't matter, as none of them ends the game.
fn moves_to(setup: &Setup, mapping: &mut BoardMapping) -> Vec<String> {
    let Some(position) = &setup.position else { return Vec::new() };
    let stones = |side: Side| &position.stones[usize::from(side == Side::Red)];
    let begun = stones(position.colours[0]).len() as u64;
    let swapped = begun < position.turn.div_ceil(2);
    if swapped {
        mapping.swap(Swap::Sides);
    }
    // The position's colours; after an exchange of sides they are already swapped.
    let of = |seat: Seat| stones(position.colours[seat.index()]);
    let name = |at: &[i64; 2]| mapping.to_engine(*at);
    let (mut own, mut others) = (of(Seat(0)).iter(), of(Seat(1)).iter());
    let mut moves = Vec::new();
    if swapped {
        moves.extend(others.next().map(name));
        moves.push("swap".to_owned());
    }
    while moves.len() as u64 != position.turn {
        let next = if moves.len() % 2 == 0 { own.next() } else { others.next() };
        let Some(at) = next else { break };
        moves.push(name(at));
    }
    moves
}

/// Returns the thinking time for a turn, with a reserve: the engine checks the clock only now and
/// then.
fn thinking_ms(clock: &ClockSettings, left_ms: Option<u64>) -> u64 {
    let share = left_ms.map(|left| left / TURNS_AHEAD + clock.increment_ms.min(left) / 2);
    let turn = clock.move_ms.map(|turn| turn / 2);
    share.into_iter().chain(turn).min().unwrap_or(0).clamp(1, THINKING_MS_MAX)
}

impl Dialect for Gai {
    fn on_message(&mut self, message: &ToAgent) {
        match message {
            ToAgent::Hello(hello) => self.hello(hello),
            ToAgent::Played(played) => {
                if let Some(game) = &mut self.game {
                    game.played(&played.action);
                }
            }
            ToAgent::Turn(turn) => self.turn(turn.turn, turn.left_ms),
            ToAgent::Retired(_) => {}
            ToAgent::Over(_) => self.write("quit"),
        }
    }

    fn on_line(&mut self, line: &[u8]) -> Decoded {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if let Some(name) = line.strip_prefix("id name ") {
            self.name = Some(name.trim().to_owned());
        } else if line == "gaiok" && !self.is_ready {
            let newgame = self.game.as_ref().map(|game| format!("newgame {}", game.setup));
            let isready = "isready".to_owned();
            for line in newgame.into_iter().chain(self.init.clone()).chain([isready]) {
                self.write(&line);
            }
        } else if line == "readyok" && !self.is_ready {
            self.is_ready = true;
            let ready = Ready { name: self.name.take(), ..Ready::default() };
            return Decoded::Message(FromAgent::Ready(ready));
        } else if let Some(text) = line.strip_prefix("info string error") {
            let text = format!("the engine says `{}`", text.trim());
            return Decoded::Invalid(ParseError::new(text));
        } else if line.split_whitespace().next() == Some("bestmove") {
            return self.moved(line);
        }
        Decoded::Nothing
    }

    fn take_output(&mut self, bytes: &mut Vec<u8>) {
        bytes.append(&mut self.out);
    }
}
