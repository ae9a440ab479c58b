//! Reads the main line of an SGF game.
//!
//! Properties that don't concern the moves are ignored. All others must be consistent with the rules:
//! nothing is guessed.

use super::super::Hex;
use super::super::action::Action;
use super::super::setup::{Position, Setup, Side, Swap, size_of};
use super::tree::{self, MainLine, Place, Property, Value};
use super::{GAME_NUMBER, SWAP_PIECES, SWAP_SIDES};
use crate::{Game, GameRecord, ReadRecord, RecordEnd, Turn};
use referee_protocol::Seat;
use serde_json::json;
use std::collections::BTreeMap;

/// Longer texts are refused. A long game with many comments takes about a hundredth of it.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Reads game `number`, from 1.
pub(super) fn read(text: &str, number: usize) -> Result<ReadRecord, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("the text is longer than {TEXT_BYTES_MAX} bytes"));
    }
    let line = tree::main_line(text, number)?;
    let mut notes = Vec::new();
    if line.games > 1 {
        notes.push(format!("this is game {number} of {}", line.games));
    }
    if line.has_variations {
        notes.push("the game has variations: only its main line was read".to_owned());
    }
    let moves = MoveRecord::of(&line)?;
    let setup = moves.setup()?;
    let mut played = Played::start(setup).map_err(|text| match moves.stones_at {
        Some(at) => format!("{at}: {text}"),
        None => text,
    })?;
    for (index, step) in moves.steps.iter().enumerate() {
        played.step(step).map_err(|text| {
            let (at, number) = (step.at, index + 1);
            let (letter, word) = (step.letter, &step.word);
            format!("{at}: move {number}, {letter}[{word}]: {text}")
        })?;
    }
    let end = played.end(moves.result(), &mut notes);
    let said = |name| first(&line, name).map(|value| simple(&value.text));
    let filled = |name| said(name).filter(|text| !text.is_empty());
    let names = played.names([filled("PB"), filled("PW")]);
    let record = GameRecord {
        setup: json!(Game::setup(&played.game)),
        names,
        title: filled("GN"),
        date: filled("DT").and_then(|text| day(&text)),
        actions: played.actions,
        end,
        comment: String::new(),
    };
    Ok(ReadRecord { record, notes })
}

/// Returns the first value of this property in the main line.
fn first<'a>(line: &'a MainLine, name: &str) -> Option<&'a Value> {
    let mut properties = line.nodes.iter().flatten();
    let found = properties.find(|property| property.name == name)?;
    found.values.first()
}

/// Converts a text to one line.
fn simple(text: &str) -> String {
    let is_space = |ch: char| ch.is_whitespace() || ch.is_control();
    let spaced = text.chars().map(|ch| if is_space(ch) { ' ' } else { ch });
    spaced.collect::<String>().trim().to_owned()
}

/// Returns the first day of a date: `2026-05-01,02` and `2026-05-01 18:30` have one, `2026-05` has
/// none.
fn day(text: &str) -> Option<String> {
    let day = text.get(..10)?;
    let form = day.replace(|ch: char| ch.is_ascii_digit(), "0");
    (form == "0000-00-00").then(|| day.to_owned())
}

/// A move as written.
#[derive(Debug)]
struct Step {
    side: Side,
    /// The property's letter.
    letter: char,
    /// The value in lower case.
    word: String,
    at: Place,
}

/// Everything in the text that concerns the moves.
#[derive(Debug)]
struct MoveRecord<'a> {
    line: &'a MainLine,
    size: i64,
    /// The stones before the first move.
    stones: BTreeMap<[i64; 2], Side>,
    /// Where the text puts them.
    stones_at: Option<Place>,
    /// The number of the first move, if stated.
    first_number: Option<u64>,
    steps: Vec<Step>,
}

impl<'a> MoveRecord<'a> {
    fn of(line: &'a MainLine) -> Result<Self, String> {
        if let Some(game) = first(line, "GM").filter(|game| game.text.trim() != GAME_NUMBER) {
            let (at, text) = (game.at, game.text.trim());
            return Err(format!("{at}: GM[{text}] is another game: Hex has GM[{GAME_NUMBER}]"));
        }
        let mut moves = Self {
            line,
            size: size(first(line, "SZ"))?,
            stones: BTreeMap::new(),
            stones_at: None,
            first_number: None,
            steps: Vec::new(),
        };
        // On Little Golem the moves of the player that PB names have the letter W.
        let source = first(line, "SO").map(|source| source.text.to_ascii_lowercase());
        let exchanged = source.is_some_and(|source| source.contains("littlegolem"));
        for node in &line.nodes {
            let begun = moves.steps.len();
            for property in node {
                moves.property(property, exchanged)?;
                // Later numbers restart the count in a variation.
                if property.name == "MN" && begun == 0 {
                    moves.first_number = Some(number(&property.values[0])?);
                }
            }
            if moves.steps.len() > begun + 1 {
                let at = moves.steps[begun + 1].at;
                return Err(format!("{at}: a second move in one node: expected one at most"));
            }
        }
        Ok(moves)
    }

    fn property(&mut self, property: &Property, exchanged: bool) -> Result<(), String> {
        let black = if exchanged { Side::Red } else { Side::Black };
        match property.name.as_str() {
            "B" => self.moved(black, 'B', property),
            "W" => self.moved(black.other(), 'W', property),
            "AB" => self.put(Some(black), property)?,
            "AW" => self.put(Some(black.other()), property)?,
            "AE" => self.put(None, property)?,
            _ => {}
        }
        Ok(())
    }

    fn moved(&mut self, side: Side, letter: char, property: &Property) {
        self.steps.extend(property.values.iter().map(|value| Step {
            side,
            letter,
            word: value.text.trim().to_ascii_lowercase(),
            at: value.at,
        }));
    }

    /// Adds or removes setup stones.
    fn put(&mut self, side: Option<Side>, property: &Property) -> Result<(), String> {
        for Value { text, at } in &property.values {
            if !self.steps.is_empty() {
                let number = self.steps.len();
                return Err(format!("{at}: stones can't be added or removed after move {number}"));
            }
            let cell = from_sgf(text.trim())
                .filter(|cell| cell.iter().all(|place| (0..self.size).contains(place)))
                .ok_or_else(|| {
                    let rows = self.size;
                    format!("{at}: expected a cell of {rows} x {rows} such as `c2`, got {text:?}")
                })?;
            self.stones_at.get_or_insert(*at);
            match side {
                Some(side) => self.stones.insert(cell, side),
                None => self.stones.remove(&cell),
            };
        }
        Ok(())
    }

    /// Returns the side that moves first.
    fn mover(&self) -> Option<Side> {
        let stated = first(self.line, "PL").and_then(|value| colour(&value.text));
        let moved = self.steps.iter().find(|step| !gives_up(&step.word));
        moved.map(|step| step.side).or(stated)
    }

    /// Returns the setup.
    fn setup(&self) -> Result<Setup, String> {
        let swap = self.swap()?;
        if self.stones.is_empty() {
            let first = self.mover().unwrap_or_default();
            return Ok(Setup { size: self.size, first, swap, position: None });
        }
        let position = self.position();
        let [zeroth, other] = position.colours;
        let own = position.stones[usize::from(zeroth == Side::Red)].len() as u64;
        // After a swap of sides, seat 0 has one stone fewer: the first one is the other's.
        let exchanged = swap == Swap::Sides && own + 1 == position.turn.div_ceil(2);
        let first = if exchanged { other } else { zeroth };
        Ok(Setup { size: self.size, first, swap, position: Some(position) })
    }

    /// Returns the position of the setup stones.
    fn position(&self) -> Position {
        let mut stones = [Vec::new(), Vec::new()];
        for (&at, &side) in &self.stones {
            stones[usize::from(side == Side::Red)].push(at);
        }
        let turn = self.first_number.map_or(self.stones.len() as u64, |number| number - 1);
        let behind = if stones[0].len() > stones[1].len() { Side::Red } else { Side::Black };
        let mover = self.mover().unwrap_or(behind);
        let zeroth = if turn.is_multiple_of(2) { mover } else { mover.other() };
        Position {
            to_move: u8::from(!turn.is_multiple_of(2)),
            size: self.size,
            stones,
            colours: [zeroth, zeroth.other()],
            turn,
        }
    }

    /// Returns the swap rule: that of the swap move, or else that of the RU property.
    fn swap(&self) -> Result<Swap, String> {
        let rules = first(self.line, "RU").map(|rules| rules.text.to_ascii_lowercase());
        let rules = rules.unwrap_or_default();
        let named = [(SWAP_PIECES, Swap::Pieces), (SWAP_SIDES, Swap::Sides)];
        let agreed = named.into_iter().find(|(name, _)| rules.contains(name)).map(|(_, rule)| rule);
        let Some(index) = self.steps.iter().position(|step| step.word.starts_with("swap")) else {
            return Ok(agreed.unwrap_or_default());
        };
        let step = &self.steps[index];
        // Versions of HexGui before 1.0 wrote `swap-pieces` for a swap of sides.
        let program = first(self.line, "AP").map_or("", |program| program.text.as_str());
        let next = self.steps.get(index + 1).map(|next| next.side == step.side);
        let seen = match (step.word.as_str(), next) {
            (SWAP_PIECES, _) if !program.starts_with("HexGui:0.") => Swap::Pieces,
            // The same letter moves again: the sides were exchanged.
            (SWAP_SIDES, _) | (_, Some(true)) | (SWAP_PIECES, None) => Swap::Sides,
            (_, Some(false)) => Swap::Pieces,
            (_, None) => agreed.unwrap_or(Swap::Pieces),
        };
        match agreed {
            Some(agreed) if agreed != seen => {
                let (at, number, word) = (step.at, index + 1, &step.word);
                Err(format!("{at}: move {number}, {word}, is not the swap in RU"))
            }
            _ => Ok(seen),
        }
    }

    /// Returns the stated result.
    fn result(&self) -> Option<&str> {
        first(self.line, "RE").map(|value| value.text.trim())
    }
}

/// Parses the number of a move, from 1.
fn number(value: &Value) -> Result<u64, String> {
    let Value { text, at } = value;
    let number = text.trim().parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("{at}: expected a move number, got {text:?}"))
}

/// Parses the number of rows and columns.
fn size(value: Option<&Value>) -> Result<i64, String> {
    let Some(Value { text, at }) = value else { return Ok(Setup::default().size) };
    let (columns, rows) = text.split_once(':').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<i64>().ok();
    match (number(columns), number(rows)) {
        (Some(columns), Some(rows)) if columns == rows => {
            let setup = Setup { size: rows, ..Setup::default() };
            size_of(&setup).map_err(|illegal| format!("{at}: {illegal}"))?;
            Ok(rows)
        }
        (Some(_), Some(_)) => {
            Err(format!("{at}: SZ[{text}]: the board must have as many rows as columns"))
        }
        _ => Err(format!("{at}: expected a number of rows, got SZ[{text}]")),
    }
}

/// Parses `B`, `W` and their longer forms.
fn colour(text: &str) -> Option<Side> {
    match text.trim().as_bytes().first()?.to_ascii_lowercase() {
        b'b' => Some(Side::Black),
        b'w' => Some(Side::Red),
        _ => None,
    }
}

/// Parses the SGF name of a cell: `c4`, or as on Little Golem `cd`.
fn from_sgf(word: &str) -> Option<[i64; 2]> {
    let place = |letter: u8| i64::from(letter.to_ascii_lowercase() - b'a');
    if let &[column, row] = word.as_bytes()
        && column.is_ascii_alphabetic()
        && row.is_ascii_alphabetic()
    {
        return Some([place(column), place(row)]);
    }
    let is_named = word.starts_with(|ch: char| ch.is_ascii_alphabetic());
    match word.parse().ok().filter(|_| is_named)? {
        Action::Place { at: [row, column] } => Some([column, row]),
        Action::Swap {} => None,
    }
}

/// Returns whether a player gives up instead of moving.
fn gives_up(word: &str) -> bool {
    matches!(word, "resign" | "forfeit")
}

/// The game so far.
struct Played {
    game: Hex,
    /// The colours of seats 0 and 1 at the start.
    colours: [Side; 2],
    actions: Vec<serde_json::Value>,
    forfeited: Option<RecordEnd>,
}

impl Played {
    fn start(setup: Setup) -> Result<Self, String> {
        let game = Hex::start(setup).map_err(|illegal| illegal.to_string())?;
        let colours = [Seat(0), Seat(1)].map(|seat| game.side(seat));
        Ok(Self { game, colours, actions: Vec::new(), forfeited: None })
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if self.forfeited.is_some() {
            return Err("a player has already given up".to_owned());
        }
        if gives_up(&step.word) {
            // Some players resign only after the borders are connected.
            if let Turn::Of(_) = self.game.turn() {
                let resigned = step.word == "resign";
                let end = if resigned { RecordEnd::Resigned } else { RecordEnd::Forfeited };
                self.forfeited = Some(end(self.game.seat(step.side)));
            }
            return Ok(());
        }
        let Turn::Of(seat) = self.game.turn() else {
            return Err("the game is over, as a side has joined its borders".to_owned());
        };
        if self.game.side(seat) != step.side {
            return Err("it is the other player's turn".to_owned());
        }
        let swaps = step.word.starts_with("swap");
        let action = match from_sgf(&step.word) {
            Some(at) => Action::Place { at },
            None if swaps => Action::Swap {},
            None => return Err("expected a cell such as `c4`, a swap or `resign`".to_owned()),
        };
        let size = Game::setup(&self.game).size;
        self.game.play(&action).map_err(|_| refusal(&action, &step.word, size))?;
        self.actions.push(json!(action));
        Ok(())
    }

    fn end(&self, result: Option<&str>, notes: &mut Vec<String>) -> RecordEnd {
        let stated = result.unwrap_or_default();
        let (winner, how) = stated.split_once('+').unwrap_or((stated, ""));
        let winner = colour(winner).filter(|_| !stated.eq_ignore_ascii_case("void"));
        let loser = winner.map(|side| self.game.seat(side.other()));
        let end = match self.game.winner {
            Some(_) => RecordEnd::Played,
            None => self.forfeited.unwrap_or_else(|| by_result(loser, how)),
        };
        let lost = match end {
            RecordEnd::Resigned(seat) | RecordEnd::TimedOut(seat) | RecordEnd::Forfeited(seat) => {
                Some(seat)
            }
            RecordEnd::Played => self.game.winner.map(|side| self.game.seat(side.other())),
            RecordEnd::Unfinished => None,
        };
        if loser.is_some() && loser != lost {
            notes.push(match lost {
                Some(_) => format!("its result is RE[{stated}], but the moves say otherwise"),
                None => format!("its result is RE[{stated}], but the moves don't show it"),
            });
        }
        end
    }

    /// Returns the names of black and white, in seat order.
    fn names(&self, [black, white]: [Option<String>; 2]) -> Vec<Option<String>> {
        if self.colours[0] == Side::Black { vec![black, white] } else { vec![white, black] }
    }
}

/// Returns the end of a game that the moves leave open.
fn by_result(loser: Option<Seat>, how: &str) -> RecordEnd {
    let how = how.trim().as_bytes().first().map(u8::to_ascii_lowercase);
    match (loser, how) {
        (Some(loser), Some(b'r')) => RecordEnd::Resigned(loser),
        (Some(loser), Some(b't')) => RecordEnd::TimedOut(loser),
        (Some(loser), Some(b'f')) => RecordEnd::Forfeited(loser),
        _ => RecordEnd::Unfinished,
    }
}

/// Returns why a game that isn't over refused an action; `name` is the cell's name in the file.
fn refusal(action: &Action, name: &str, size: i64) -> String {
    match action {
        Action::Place { at } if at.iter().all(|place| (0..size).contains(place)) => {
            format!("{name} is occupied")
        }
        Action::Place { .. } => format!("{name} is off the board"),
        Action::Swap {} => "only the second player may swap, and only on its first turn".to_owned(),
    }
}
