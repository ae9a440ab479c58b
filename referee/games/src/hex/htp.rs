//! HTP, the Hex variant of the Go Text Protocol: what `MoHex`, Wolve and most other Hex
//! programs speak.
//!
//! A command is one line; its reply begins with `=` or `?` and ends with an empty line. The next
//! command is sent when the previous reply is complete. Lines between a command and its reply
//! (logs, drawing instructions) are ignored. Sources: GTP version 2, the pages of `HexWiki` on
//! GTP, and the commands of benzene.

use super::action::Action;
use super::board_mapping::BoardMapping;
use super::setup::{Setup, Side, Swap};
use crate::{Decoded, Dialect, DialectKind};
use referee_protocol::{
    Action as Answer, ActionJson, ClockSettings, FromAgent, Hello, LineProtocol, ParseError, Ready,
    Resign, Seat, ToAgent, Turn, read_typed,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;

/// The entry in the list of Hex.
pub(super) const KIND: DialectKind = DialectKind {
    name: "htp",
    about: "HTP, the Hex variant of the Go Text Protocol",
    begin: |settings| Htp::begin(settings).map(|htp| Box::new(htp) as Box<dyn Dialect>),
    advise,
    optional: &OPTIONAL,
};

/// Returns what to do about an engine that failed at this command.
fn advise(command: &str, reply: Option<&str>) -> Option<String> {
    let word = command.split_whitespace().next()?;
    if reply.is_none() {
        let shown = truncated(command);
        return Some(if OPTIONAL.contains(&word) {
            format!(
                "its last command was `{shown}`, which it needn't get: add `skip = [\"{word}\"]` under `[options]` of \
                 its agent.toml"
            )
        } else {
            format!(
                "its last command was `{shown}`: start it in a terminal and give it that; its reply must begin with `=` \
                 or `?` and end with an empty line"
            )
        });
    }
    Some(
        match word {
            "boardsize" => {
                "if it takes two numbers, set `boardsize = \"N N\"` under `[options]` of its agent.toml; else choose \
                 another size, such as `--setup size=13`"
            }
            "genmove" => {
                "it may answer with a cell such as `= a1`, with `= resign`, and with `= swap-pieces`, `= swap-sides` or \
                 `= swap` unless `swap` is \"none\" under `[options]` of its agent.toml"
            }
            "play" => {
                "its board differs from the referee's: set `swap` and `swap_move` under `[options]` of its agent.toml to \
                 what a swap does there"
            }
            "clear_board" => "each engine needs this command: see its own documentation",
            _ => "correct or remove this command in `init` of its agent.toml",
        }
        .to_owned(),
    )
}

/// The longest text of an engine that is shown, in characters.
const TEXT_CHARACTERS_MAX: usize = 200;

/// The end of a `time_left` command for a bank: it has to last for the whole game.
const STONES_NONE: &str = " 0";

/// The commands that an engine may refuse, and that it needn't be sent.
/// The commands that are sent only to an engine which lists them.
const LISTED: [&str; 3] = ["param_game", "time_settings", "time_left"];
const OPTIONAL: [&str; 7] = [
    "protocol_version",
    "name",
    "version",
    "list_commands",
    "param_game",
    "time_settings",
    "time_left",
];

/// The settings of an engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// What a swap does on its board; with none, it is sent the position after a swap.
    swap: Swap,
    /// The move that it is sent for a swap.
    swap_move: String,
    /// The form of its `boardsize` command.
    boardsize: BoardSize,
    /// Optional commands that it isn't sent.
    skip: Vec<String>,
}

impl Default for Options {
    /// As in benzene's engines: `swap-pieces` leaves the stone where it is.
    fn default() -> Self {
        let swap_move = "swap-pieces".to_owned();
        Self { swap: Swap::Sides, swap_move, boardsize: BoardSize::One, skip: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum BoardSize {
    /// `boardsize 11`
    #[serde(rename = "N")]
    One,
    /// `boardsize 11 11`
    #[serde(rename = "N N")]
    Two,
}

/// The codec for one engine.
#[derive(Debug, Default)]
struct Htp {
    options: Options,
    init: Vec<String>,
    out: Vec<u8>,
    queue: VecDeque<Command>,
    /// The command that was sent and has no complete reply yet.
    waiting: Option<Command>,
    /// The reply so far: whether it is a success, and its text.
    reply: Option<(bool, String)>,
    /// The commands that the engine lists.
    known_commands: Vec<&'static str>,
    ready: Ready,
    is_ready: bool,
    /// Whether its `time_left` is `COLOUR SECONDS`, without the number of stones.
    time_left_is_short: bool,
    /// The game that it plays, after `hello`.
    game: Option<Game>,
}

#[derive(Debug)]
struct Game {
    seat: Seat,
    setup: Setup,
    clock: ClockSettings,
    mapping: BoardMapping,
    /// The first stone, for an engine that knows no swap.
    first: Option<[i64; 2]>,
    /// The turn that it answered last; it has already played that action itself.
    answered: Option<u64>,
}

#[derive(Debug)]
struct Command {
    text: String,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Name,
    Version,
    List,
    /// The engine may refuse it.
    Optional,
    /// The time left, which the engine may refuse in the form of GTP.
    TimeLeft,
    /// The command must succeed.
    Needed,
    /// The reply is the action of this turn.
    Move(u64),
}

impl Htp {
    fn begin(settings: &LineProtocol) -> Result<Self, String> {
        let options = Value::Object(settings.options.clone());
        let options: Options = read_typed(&options)?;
        if options.swap_move.split_whitespace().count() != 1 {
            return Err(format!("`swap_move` must be one word, not {:?}", options.swap_move));
        }
        if let Some(name) = options.skip.iter().find(|name| !OPTIONAL.contains(&name.as_str())) {
            let optional = OPTIONAL.join(", ");
            return Err(format!("`skip` may list {optional}, not {name:?}"));
        }
        if let Some(line) = settings.init.iter().find(|line| line.trim().is_empty()) {
            return Err(format!("`init` must be a list of commands: {line:?} is empty"));
        }
        if let Some(line) = settings.init.iter().find(|line| line.contains(['\n', '\r'])) {
            return Err(format!("`init` must have one command per entry: {line:?} has a line end"));
        }
        Ok(Self { options, init: settings.init.clone(), ..Self::default() })
    }

    fn add(&mut self, purpose: Purpose, text: impl Into<String>) {
        self.queue.push_back(Command { text: text.into(), purpose });
    }

    /// The same for one of the optional commands, unless it is skipped.
    fn add_optional(&mut self, purpose: Purpose, text: impl Into<String>) {
        let text = text.into();
        if !self.skips(text.split(' ').next().unwrap_or_default()) {
            self.add(purpose, text);
        }
    }

    fn skips(&self, command: &str) -> bool {
        self.options.skip.iter().any(|skipped| skipped == command)
    }

    /// Sends the next command, unless one is waiting for its reply.
    fn send_next(&mut self) {
        if self.waiting.is_none()
            && let Some(command) = self.queue.pop_front()
        {
            self.write(&command.text);
            self.waiting = Some(command);
        }
    }

    fn write(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }

    fn knows(&self, command: &str) -> bool {
        self.known_commands.contains(&command)
    }

    fn hello(&mut self, hello: &Hello) {
        let setup = Setup::deserialize(&hello.setup).unwrap_or_default();
        let mapping = BoardMapping::new(&setup);
        let position = setup.position.as_ref().filter(|position| position.turn == 1);
        let first = position.and_then(|it| it.stones.iter().flatten().next().copied());
        let (seat, clock) = (hello.seat, hello.clock.clone());
        self.game = Some(Game { seat, setup, clock, mapping, first, answered: None });
        self.add_optional(Purpose::Optional, "protocol_version");
        self.add_optional(Purpose::Name, "name");
        self.add_optional(Purpose::Version, "version");
        self.add_optional(Purpose::List, "list_commands");
        if self.skips("list_commands") {
            self.set_up();
        }
    }

    /// Queues the commands that depend on what the engine lists.
    fn set_up(&mut self) {
        let Some(game) = &self.game else { return };
        let size = game.setup.size;
        let boardsize = match self.options.boardsize {
            BoardSize::One => format!("boardsize {size}"),
            BoardSize::Two => format!("boardsize {size} {size}"),
        };
        let swaps = game.setup.swap != Swap::None && self.options.swap != Swap::None;
        let (time, stones) = (time_settings(&game.clock), game.stones());
        self.add(Purpose::Needed, boardsize);
        self.add(Purpose::Needed, "clear_board");
        if self.knows("param_game") {
            // Benzene's engines allow no swap without this.
            let allow = format!("param_game allow_swap {}", u8::from(swaps));
            self.add_optional(Purpose::Optional, allow);
        }
        for line in self.init.clone() {
            self.add(Purpose::Needed, line);
        }
        if self.knows("time_settings") {
            self.add_optional(Purpose::Optional, time);
        }
        for stone in stones {
            self.add(Purpose::Needed, stone);
        }
    }

    fn played(&mut self, turn: u64, seat: Seat, action: &ActionJson) {
        let Some(game) = &mut self.game else { return };
        let Ok(action) = serde_json::from_str(action.as_str()) else { return };
        let own = game.seat == seat && game.answered == Some(turn);
        let side = game.mapping.side(seat);
        let colour = game.colour(side);
        match action {
            Action::Place { at } => {
                if turn == 0 {
                    game.first = Some(at);
                }
                if !own {
                    let cell = game.mapping.to_engine(at);
                    self.add(Purpose::Needed, format!("play {colour} {cell}"));
                }
            }
            Action::Swap {} if self.options.swap == Swap::None => {
                game.mapping.swap(Swap::Pieces);
                let stone = game.first.map(|at| game.mapping.swapped_stone(at));
                let cell = stone.map(|at| game.mapping.to_engine(at)).unwrap_or_default();
                let colour = game.colour(game.mapping.side(seat));
                self.add(Purpose::Needed, "clear_board");
                self.add(Purpose::Needed, format!("play {colour} {cell}"));
            }
            Action::Swap {} => {
                game.mapping.swap(self.options.swap);
                if !own {
                    let swap = format!("play {colour} {}", self.options.swap_move);
                    self.add(Purpose::Needed, swap);
                }
            }
        }
    }

    fn turn(&mut self, turn: &Turn) {
        let Some(game) = &self.game else { return };
        let colour = game.colour(game.mapping.side(game.seat));
        let left = time_left(&game.clock, turn.left_ms);
        if self.knows("time_left") {
            let text = format!("time_left {colour} {left}");
            let short = text.strip_suffix(STONES_NONE).filter(|_| self.time_left_is_short);
            let text = short.unwrap_or(&text).to_owned();
            self.add_optional(Purpose::TimeLeft, text);
        }
        self.add(Purpose::Move(turn.turn), format!("genmove {colour}"));
    }

    /// Handles a complete reply.
    fn replied(&mut self, (success, text): (bool, String)) -> Decoded {
        let Some(command) = self.waiting.take() else { return Decoded::Nothing };
        let meaning = match command.purpose {
            Purpose::Needed | Purpose::Move(_) if !success => {
                Decoded::Invalid(answered(&command.text, &format!("? {text}")))
            }
            Purpose::Move(turn) => self.moved(turn, &command.text, &text),
            Purpose::TimeLeft if !success && !self.time_left_is_short => {
                // Benzene's engines take the time only.
                if let Some(short) = command.text.strip_suffix(STONES_NONE) {
                    self.time_left_is_short = true;
                    let text = short.to_owned();
                    self.queue.push_front(Command { text, purpose: Purpose::Optional });
                }
                Decoded::Nothing
            }
            Purpose::List => {
                if success {
                    // Its list may be as long as it likes.
                    let listed = |used: &&str| text.split_whitespace().any(|it| it == *used);
                    self.known_commands = LISTED.into_iter().filter(listed).collect();
                }
                self.set_up();
                Decoded::Nothing
            }
            Purpose::Name if success => {
                self.ready.name = Some(truncated(&text)).filter(|name| !name.is_empty());
                Decoded::Nothing
            }
            Purpose::Version if success => {
                self.ready.version = Some(truncated(&text)).filter(|version| !version.is_empty());
                Decoded::Nothing
            }
            Purpose::Name
            | Purpose::Version
            | Purpose::Optional
            | Purpose::TimeLeft
            | Purpose::Needed => Decoded::Nothing,
        };
        if matches!(meaning, Decoded::Invalid(_)) {
            self.queue.clear();
        }
        self.send_next();
        if self.waiting.is_none() && !self.is_ready && meaning == Decoded::Nothing {
            self.is_ready = true;
            return Decoded::Message(FromAgent::Ready(self.ready.clone()));
        }
        meaning
    }

    /// Handles the reply to `genmove`.
    fn moved(&mut self, turn: u64, command: &str, text: &str) -> Decoded {
        let Some(game) = &mut self.game else { return Decoded::Nothing };
        let word = text.trim().to_ascii_lowercase();
        let action = match word.as_str() {
            "resign" => return Decoded::Message(FromAgent::Resign(Resign { turn: Some(turn) })),
            "swap" | "swap-pieces" | "swap-sides" if self.options.swap != Swap::None => {
                Action::Swap {}
            }
            _ => {
                let Some(at) = game.mapping.read_engine_name(&word) else {
                    return Decoded::Invalid(answered(command, &format!("= {text}")));
                };
                Action::Place { at }
            }
        };
        game.answered = Some(turn);
        let action = serde_json::to_value(action).expect("an action has string keys only");
        Decoded::Message(FromAgent::Action(Answer { turn: Some(turn), action }))
    }
}

impl Game {
    fn colour(&self, side: Side) -> &'static str {
        if self.mapping.is_black(side) { "black" } else { "white" }
    }

    /// Returns the commands that place the position's stones, alternating between the players.
    fn stones(&self) -> Vec<String> {
        let Some(position) = &self.setup.position else { return Vec::new() };
        let [black, red] = &position.stones;
        let (begins, other) = match self.setup.first {
            Side::Black => (black, red),
            Side::Red => (red, black),
        };
        let first = self.setup.first;
        let play = |side: Side, at: [i64; 2]| {
            format!("play {} {}", self.colour(side), self.mapping.to_engine(at))
        };
        let mut stones = Vec::new();
        for index in 0..begins.len().max(other.len()) {
            stones.extend(begins.get(index).map(|&at| play(first, at)));
            stones.extend(other.get(index).map(|&at| play(first.other(), at)));
        }
        stones
    }
}

/// Returns the `time_settings` command. GTP has a bank or a time per number of moves, but no
/// increment.
fn time_settings(clock: &ClockSettings) -> String {
    match (clock.bank_ms, clock.move_ms) {
        (Some(bank), _) => format!("time_settings {} 0 0", bank / 1000),
        (None, Some(turn)) => format!("time_settings 0 {} 1", (turn / 1000).max(1)),
        (None, None) => "time_settings 0 1 0".to_owned(),
    }
}

fn time_left(clock: &ClockSettings, left_ms: Option<u64>) -> String {
    match (left_ms, clock.move_ms) {
        (Some(left), turn) => format!("{}{STONES_NONE}", left.min(turn.unwrap_or(left)) / 1000),
        (None, turn) => format!("{} 1", (turn.unwrap_or_default() / 1000).max(1)),
    }
}

fn answered(command: &str, reply: &str) -> ParseError {
    ParseError::new(format!("`{command}` was answered `{}`", truncated(reply)))
}

/// Returns the engine's text on one line, shortened.
fn truncated(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TEXT_CHARACTERS_MAX).collect()
}

impl Dialect for Htp {
    fn on_message(&mut self, message: &ToAgent) {
        match message {
            ToAgent::Hello(hello) => self.hello(hello),
            ToAgent::Played(played) => self.played(played.turn, played.seat, &played.action),
            ToAgent::Turn(turn) => self.turn(turn),
            ToAgent::Retired(_) | ToAgent::Drawn(_) | ToAgent::Told(_) => {}
            ToAgent::Over(_) => {
                // Nothing is read after the end, so don't wait for replies.
                self.queue.clear();
                self.write("quit");
            }
        }
        self.send_next();
    }

    fn on_line(&mut self, line: &[u8]) -> Decoded {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if let Some((_, text)) = &mut self.reply {
            if !line.is_empty() {
                text.push('\n');
                text.push_str(line);
                return Decoded::Nothing;
            }
            return match self.reply.take() {
                Some(reply) => self.replied(reply),
                None => Decoded::Nothing,
            };
        }
        let Some(text) = line.strip_prefix(['=', '?']) else { return Decoded::Nothing };
        if self.waiting.is_none() {
            let text = format!("a reply to no command: `{}`", truncated(line));
            return Decoded::Invalid(ParseError::new(text));
        }
        self.reply = Some((line.starts_with('='), text.trim_start().to_owned()));
        Decoded::Nothing
    }

    fn take_output(&mut self, bytes: &mut Vec<u8>) {
        bytes.append(&mut self.out);
    }
}
