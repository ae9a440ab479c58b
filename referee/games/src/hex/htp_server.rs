//! The engine's side of HTP: a controller such as `HexGui` sends commands, and one of our agents
//! answers `genmove`. This module does everything else: the board, the history, the replies.

use super::Hex;
use super::action::Action;
use super::board_mapping::{BoardMapping, refusal};
use super::setup::{Setup, Side, Swap};
use crate::any::start;
use crate::{Game, LineServer, MoveRequest, ServerStep, SetupError, Turn};
use referee_protocol::{Seat, read_typed};
use serde_json::{Value, json};
use std::fmt::Write;

/// The commands, in the order in which they are listed.
const COMMANDS: &[&str] = &[
    "all_legal_moves",
    "boardsize",
    "clear_board",
    "final_score",
    "genmove",
    "known_command",
    "list_commands",
    "name",
    "play",
    "protocol_version",
    "quit",
    "reg_genmove",
    "showboard",
    "time_left",
    "time_settings",
    "undo",
    "version",
];

/// Starts serving a game with this setup. `swap` is what a swap does on the controller's board.
pub(super) fn serve(setup: &Value, swap: Option<&str>) -> Result<Box<dyn LineServer>, SetupError> {
    let game = start::<Hex>(setup)?;
    let swap = swap.map(|name| read_typed(&json!(name))).transpose();
    let swap = swap.map_err(|text| SetupError { text, help: String::new() })?;
    Ok(Box::new(HtpServer::new(game, swap)))
}

#[derive(Debug)]
struct HtpServer {
    /// The game before the first move of the history.
    initial: Hex,
    game: Hex,
    history: Vec<Action>,
    mapping: BoardMapping,
    /// The remaining times of black and white.
    left_ms: [Option<u64>; 2],
    /// The `genmove` that the agent has to answer: its id, and whether the move is played.
    asked: Option<(String, bool)>,
    /// What a swap does on the controller's board, unless it is as in the setup.
    swap: Option<Swap>,
}

/// The effect of a valid command.
enum Done {
    Text(String),
    Quit,
    Genmove { plays: bool },
}

impl HtpServer {
    fn new(game: Hex, swap: Option<Swap>) -> Self {
        let mapping = BoardMapping::new(&Game::setup(&game));
        Self {
            initial: game.clone(),
            game,
            history: Vec::new(),
            mapping,
            left_ms: [None, None],
            asked: None,
            swap,
        }
    }

    /// Restarts with this game and keeps the times.
    fn begin(&mut self, game: Hex) {
        *self = Self { left_ms: self.left_ms, ..Self::new(game, self.swap) };
    }

    fn execute(&mut self, command: &str, words: &[&str], name: &str) -> Result<Done, String> {
        let text = match (command, words) {
            ("protocol_version", []) => "2".to_owned(),
            ("name", []) => name.to_owned(),
            ("version", []) => env!("CARGO_PKG_VERSION").to_owned(),
            ("known_command", [command]) => COMMANDS.contains(command).to_string(),
            ("list_commands", []) => COMMANDS.join("\n"),
            ("quit", []) => return Ok(Done::Quit),
            ("boardsize", [size]) => self.boardsize(size, size)?,
            ("boardsize", [width, height]) => self.boardsize(width, height)?,
            ("clear_board", []) => {
                self.begin(self.initial.clone());
                String::new()
            }
            ("play", [colour, action]) => self.play(colour, action)?,
            ("genmove", [colour]) => return self.genmove(colour, true),
            ("reg_genmove", [colour]) => return self.genmove(colour, false),
            ("undo", []) => self.undo()?,
            ("showboard", []) => self.board(),
            ("final_score", []) => self.score().to_owned(),
            ("all_legal_moves", []) => {
                let actions = self.game.actions();
                actions.iter().map(|action| self.name_of(action)).collect::<Vec<_>>().join(" ")
            }
            ("time_settings", [main, period, stones]) => {
                let [main, period, stones] = [seconds(main)?, seconds(period)?, seconds(stones)?];
                self.left_ms = [time_of(main, period, stones); 2];
                String::new()
            }
            ("time_left", [colour, time, stones]) => {
                let black = is_black(colour)?;
                let (time, stones) = (seconds(time)?, seconds(stones)?);
                self.left_ms[usize::from(!black)] = Some(1000 * time / stones.max(1));
                String::new()
            }
            _ if COMMANDS.contains(&command) => {
                return Err(format!("wrong arguments of {command}"));
            }
            _ => return Err(format!("unknown command: {command}")),
        };
        Ok(Done::Text(text))
    }

    fn boardsize(&mut self, width: &str, height: &str) -> Result<String, String> {
        let size = width.parse::<i64>().ok().filter(|_| width == height);
        let size = size.ok_or("unacceptable size: a board has as many rows as columns")?;
        let setup = Game::setup(&self.initial);
        let setup = if setup.size == size { setup } else { Setup { position: None, ..setup } };
        let game = Hex::start(Setup { size, ..setup });
        self.begin(game.map_err(|illegal| format!("unacceptable size: {illegal}"))?);
        Ok(String::new())
    }

    fn play(&mut self, colour: &str, word: &str) -> Result<String, String> {
        let word = word.to_ascii_lowercase();
        if word == "resign" {
            is_black(colour)?;
            return Ok(String::new());
        }
        self.check_turn(colour)?;
        let action = match (word.as_str(), self.rule()) {
            ("swap", _) | ("swap-pieces", Swap::Pieces) | ("swap-sides", Swap::Sides) => {
                Action::Swap {}
            }
            ("swap-pieces" | "swap-sides", _) if self.swap.is_some() => Action::Swap {},
            ("swap-pieces" | "swap-sides", _) => {
                return Err(format!("illegal move: {word} is not the swap of this game"));
            }
            _ => {
                let at = self.mapping.read_engine_name(&word);
                Action::Place {
                    at: at.ok_or_else(|| format!("illegal move: {word} is not a cell"))?,
                }
            }
        };
        self.apply(&action).map_err(|_| format!("illegal move: {}", self.refusal(&action)))?;
        Ok(String::new())
    }

    fn genmove(&mut self, colour: &str, plays: bool) -> Result<Done, String> {
        if matches!(self.game.turn(), Turn::Over(_)) {
            return Err("the game is over".to_owned());
        }
        self.check_turn(colour)?;
        Ok(Done::Genmove { plays })
    }

    fn undo(&mut self) -> Result<String, String> {
        let mut history = std::mem::take(&mut self.history);
        let left = history.pop();
        self.begin(self.initial.clone());
        for action in &history {
            self.apply(action).map_err(|illegal| illegal.to_string())?;
        }
        if left.is_none() { Err("cannot undo".to_owned()) } else { Ok(String::new()) }
    }

    fn apply(&mut self, action: &Action) -> Result<(), crate::Illegal> {
        self.game.play(action)?;
        if *action == (Action::Swap {}) {
            self.mapping.swap(self.swap.unwrap_or_else(|| self.rule()));
        }
        self.history.push(action.clone());
        Ok(())
    }

    fn rule(&self) -> Swap {
        Game::setup(&self.game).swap
    }

    fn check_turn(&self, colour: &str) -> Result<(), String> {
        let black = is_black(colour)?;
        let Turn::Of(seat) = self.game.turn() else {
            return Err("illegal move: the game is over".to_owned());
        };
        if self.is_black(seat) == black {
            return Ok(());
        }
        let turn = if black { "white" } else { "black" };
        Err(format!("it is {turn}'s turn: the players alternate"))
    }

    fn is_black(&self, seat: Seat) -> bool {
        self.mapping.is_black(self.mapping.side(seat))
    }

    fn score(&self) -> &'static str {
        match self.game.winner.map(|side| self.mapping.is_black(side)) {
            None => "cannot score",
            Some(true) => "B+",
            Some(false) => "W+",
        }
    }

    /// Returns why an action was refused, in the controller's terms.
    fn refusal(&self, action: &Action) -> String {
        refusal(action, &self.name_of(action), Game::setup(&self.game).size)
    }

    fn name_of(&self, action: &Action) -> String {
        match action {
            Action::Place { at } => self.mapping.to_engine(*at),
            Action::Swap {} if self.swap.is_none() && self.rule() == Swap::Sides => {
                "swap-sides".to_owned()
            }
            Action::Swap {} => "swap-pieces".to_owned(),
        }
    }

    /// Returns the board as text, without an empty line, which would end the reply.
    fn board(&self) -> String {
        let position = self.game.position();
        let size = usize::try_from(position.size).unwrap_or_default();
        let mut rows = vec![vec!['.'; size]; size];
        for (stones, side) in position.stones.iter().zip([Side::Black, Side::Red]) {
            let stone = if self.mapping.is_black(side) { 'B' } else { 'W' };
            for &at in stones {
                let [row, column] = self.mapping.transpose(at).map(usize::try_from);
                if let (Ok(row), Ok(column)) = (row, column) {
                    rows[row][column] = stone;
                }
            }
        }
        let letters: Vec<String> =
            ('a'..='z').take(size).map(|letter| letter.to_string()).collect();
        let letters = letters.join(" ");
        let mut text = format!("\n   {letters}");
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(char::to_string).collect();
            let (indent, number) = (" ".repeat(index), index + 1);
            let cells = cells.join(" ");
            write!(text, "\n{indent}{number:>2} {cells} {number}").expect("text takes text");
        }
        text
    }
}

fn is_black(colour: &str) -> Result<bool, String> {
    match colour.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(true),
        "w" | "white" => Ok(false),
        _ => Err(format!("{colour} is not a colour: use black or white")),
    }
}

fn seconds(word: &str) -> Result<u64, String> {
    let number = word.parse::<u32>().map(u64::from);
    number.map_err(|_| format!("expected a whole number, not {word}"))
}

/// Converts time settings to one time; a period for 0 stones means no limit.
fn time_of(main: u64, period: u64, stones: u64) -> Option<u64> {
    match (main, period, stones) {
        (_, 1.., 0) => None,
        (0, period, 1..) => Some(1000 * period / stones),
        _ => Some(1000 * main),
    }
}

/// Splits a command into its id, if it has one, and its words.
fn split(line: &str) -> (String, Vec<&str>) {
    let line = line.split('#').next().unwrap_or_default();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_id = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let id = words.first().filter(is_id).map(|&id| id.to_owned());
    if id.is_some() {
        words.remove(0);
    }
    (id.unwrap_or_default(), words)
}

/// Formats a reply. The space is there even without text: controllers expect it.
fn reply(id: &str, result: Result<String, String>) -> String {
    let (mark, text) = match result {
        Ok(text) => ('=', text),
        Err(text) => ('?', text.split_whitespace().collect::<Vec<_>>().join(" ")),
    };
    format!("{mark}{id} {text}\n\n")
}

impl LineServer for HtpServer {
    fn command(&mut self, line: &str, name: &str) -> ServerStep {
        let line: String =
            line.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect();
        let (id, words) = split(&line);
        let Some((&command, words)) = words.split_first() else {
            return if id.is_empty() {
                ServerStep::Nothing
            } else {
                ServerStep::Reply(reply(&id, Err("an id without a command".to_owned())))
            };
        };
        match self.execute(command, words, name) {
            Ok(Done::Text(text)) => ServerStep::Reply(reply(&id, Ok(text))),
            Ok(Done::Quit) => ServerStep::ReplyAndQuit(reply(&id, Ok(String::new()))),
            Ok(Done::Genmove { plays }) => {
                self.asked = Some((id, plays));
                let setup = json!(Game::setup(&self.initial));
                let actions = self.history.iter().map(|action| json!(action)).collect();
                let seat = match self.game.turn() {
                    Turn::Of(seat) => seat,
                    Turn::Over(_) => Seat(0),
                };
                let left_ms = self.left_ms[usize::from(!self.is_black(seat))];
                ServerStep::Move(MoveRequest { setup, actions, left_ms })
            }
            Err(text) => ServerStep::Reply(reply(&id, Err(text))),
        }
    }

    fn answered(&mut self, answer: Result<Option<Value>, String>) -> String {
        let (id, plays) = self.asked.take().unwrap_or_default();
        let result = match answer {
            Err(text) => Err(text),
            Ok(None) => Ok("resign".to_owned()),
            Ok(Some(value)) => self.answer(&value, plays),
        };
        reply(&id, result)
    }
}

impl HtpServer {
    fn answer(&mut self, value: &Value, plays: bool) -> Result<String, String> {
        let action: Action =
            read_typed(value).map_err(|error| format!("the agent's action is invalid: {error}"))?;
        let name = self.name_of(&action);
        let illegal = |server: &Self| format!("the agent's move: {}", server.refusal(&action));
        if plays {
            self.apply(&action).map_err(|_| illegal(self))?;
        } else {
            self.game.clone().play(&action).map_err(|_| illegal(self))?;
        }
        Ok(name)
    }
}
