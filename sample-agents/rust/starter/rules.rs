//! The rules of a game, and what the rules of several games share.
#![allow(dead_code)] // Your bot need not use all of it.

pub use crate::games::{CheckerPuzzle, Chexers, ChineseCheckers, Freckers, Hex, PegSolitaire};

use crate::json::Json;
use crate::referee_kit::{Action, Board, Cell, Ending, Player, Position, Seat};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub type Cells = BTreeSet<Cell>;

/// The rules of a game, as one of the structs in `games.rs`.
#[derive(Clone, Debug)]
pub enum Rules {
    Hex(Hex),
    Chexers(Chexers),
    Freckers(Freckers),
    ChineseCheckers(ChineseCheckers),
    CheckerPuzzle(CheckerPuzzle),
    PegSolitaire(PegSolitaire),
}

/// Calls a method of the game's own struct.
macro_rules! of_game {
    ($rules:expr, $it:ident => $call:expr) => {
        match $rules {
            Rules::Hex($it) => $call,
            Rules::Chexers($it) => $call,
            Rules::Freckers($it) => $call,
            Rules::ChineseCheckers($it) => $call,
            Rules::CheckerPuzzle($it) => $call,
            Rules::PegSolitaire($it) => $call,
        }
    };
}

impl Rules {
    pub(crate) fn start(name: &str, setup: Json) -> Result<(Position, Self), String> {
        let from = setup.get("position");
        let colours = match name {
            "hex" => vec!["black", "red"],
            "chexers" => vec!["red", "green", "blue"],
            "freckers" => vec!["red", "blue"],
            "chinese-checkers" => vec!["red", "yellow", "green", "blue", "purple", "orange"],
            _ => vec!["peg"],
        };
        let seats = if name == "chinese-checkers" { 2 } else { colours.len() };
        let colours = colours[..number(setup, "seats", seats)].iter();
        let retired = from.get("retired").items().into_iter().map(|seat| seat.number() as Seat);
        let mut position = Position {
            seats: colours
                .map(|it| Player { name: it.to_string(), colour: it.to_string() })
                .collect(),
            turn: number(from, "turn", number(from, "moves", 0)) as u64,
            to_move: number(from, "to_move", 0),
            pieces: BTreeMap::new(),
            retired: retired.collect(),
            board: Rc::default(),
            turns_max: u64::MAX,
        };
        let at = &mut position;
        let rules = match name {
            "hex" => Self::Hex(Hex::start(setup, at)),
            "chexers" => Self::Chexers(Chexers::start(setup, at)),
            "freckers" => Self::Freckers(Freckers::start(setup, at)),
            "chinese-checkers" => Self::ChineseCheckers(ChineseCheckers::start(setup, at)),
            "checker-puzzle" => Self::CheckerPuzzle(CheckerPuzzle::start(setup, at)),
            "peg-solitaire" => Self::PegSolitaire(PegSolitaire::start(setup, at)),
            _ => return Err(format!("this kit doesn't know the game {name:?}")),
        };
        Ok((position, rules))
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        of_game!(self, it => it.actions(at))
    }

    pub(crate) fn play(&mut self, at: &mut Position, action: &Action) {
        of_game!(self, it => it.apply(at, action));
        self.end_turn(at);
    }

    pub(crate) fn retire(&mut self, at: &mut Position, seat: Seat) {
        if let Self::ChineseCheckers(rules) = self {
            rules.forget_pass(at, seat);
        }
        at.retired.insert(seat);
        if seat == at.to_move {
            self.end_turn(at);
        }
    }

    fn end_turn(&mut self, at: &mut Position) {
        at.end_turn();
        if let Self::Chexers(rules) = self {
            *rules.seen.entry(key(at)).or_default() += 1;
        }
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        of_game!(self, it => it.ending(at))
    }
}

pub fn number(json: Json, key: &str, usual: usize) -> usize {
    let number = json.get(key).number();
    if number.is_nan() { usual } else { number as usize }
}

pub fn text(json: Json, key: &str, usual: &str) -> String {
    Some(json.get(key).text()).filter(|text| !text.is_empty()).unwrap_or_else(|| usual.to_owned())
}

/// Sets the board, and places each seat's pieces: those of the setup's position, or the usual ones.
pub fn place(at: &mut Position, board: &Rc<Board>, lists: Vec<Json>, usual: &[Vec<Cell>]) {
    at.board = Rc::clone(board);
    let given: Vec<Vec<Cell>> = lists.into_iter().map(Cell::read_list).collect();
    let lists = if given.is_empty() { usual } else { &given };
    let of_seat = |(seat, cells): (Seat, &Vec<Cell>)| {
        cells.iter().map(|&cell| (cell, seat)).collect::<Vec<_>>()
    };
    at.pieces = lists.iter().enumerate().flat_map(of_seat).collect();
}

pub fn cells_where(board: &Board, has: impl Fn(Cell) -> bool) -> Vec<Cell> {
    board.cells.iter().copied().filter(|&cell| has(cell)).collect()
}

pub fn won(winner: Seat, reason: &'static str) -> Option<Ending> {
    Some(Ending { winner: Some(winner), reason })
}

/// Returns an ending at the limit of turns.
pub fn limited(at: &Position, winner: Option<Seat>, reason: &'static str) -> Option<Ending> {
    (at.turn >= at.turns_max).then_some(Ending { winner, reason })
}

/// Returns where a jump over a neighbour can lead, and over what.
pub fn jumps(at: &Position, cell: Cell) -> Vec<(Cell, Cell)> {
    let lines = at.lines(cell).iter().filter(|line| line.len() > 1);
    let ways = lines.map(|line| (line[1], line[0]));
    ways.filter(|(to, over)| at.pieces.contains_key(over) && !at.pieces.contains_key(to)).collect()
}

/// Returns the piece that a jump goes over.
pub fn jumped(at: &Position, from: Cell, to: Cell) -> Cell {
    let jump = jumps(at, from).into_iter().find(|(end, _)| *end == to);
    jump.unwrap_or_else(|| panic!("no jump leads from {from} to {to}")).1
}

pub fn carry(at: &mut Position, from: Cell, to: Cell) {
    at.pieces.remove(&from);
    at.pieces.insert(to, at.to_move);
}

/// Returns where a jump along a line ends: over the first piece in sight, as far behind it as it is away.
fn landing(line: &[Cell], is_long: bool, is_free: impl Fn(&Cell) -> bool) -> Option<Cell> {
    let away = line.iter().position(|cell| !is_free(cell))?;
    let behind = line.get(away + 1..2 * away + 2).filter(|_| is_long || away == 0)?;
    behind.iter().all(is_free).then(|| behind[away])
}

/// Returns the moves of the seat's pieces by a step or by jumps, each to an end once: by a shortest
/// path, and of those by the first in order. Jumps don't land where `bars` is true.
pub fn moves(
    at: &Position,
    is_long: bool,
    bars: impl Fn(&Cell) -> bool,
    bars_end: impl Fn(&Cell) -> bool,
) -> Vec<Action> {
    let mut moves = Vec::new();
    for start in at.pieces_of(at.to_move) {
        let is_free = |cell: &Cell| *cell == start || !at.pieces.contains_key(cell);
        let mut paths = BTreeMap::from([(start, vec![start])]);
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&here) = queue.get(next) {
            next += 1;
            let lines = at.lines(here).iter();
            let landings: Cells =
                lines.filter_map(|line| landing(line, is_long, is_free)).collect();
            for end in landings {
                if !paths.contains_key(&end) && !bars(&end) {
                    let path = [&paths[&here][..], &[end]].concat();
                    paths.insert(end, path);
                    queue.push(end);
                }
            }
        }
        for end in at.neighbours(start).into_iter().filter(is_free) {
            paths.insert(end, vec![start, end]);
        }
        paths.retain(|end, _| *end != start && !bars_end(end));
        moves.extend(paths.into_values().map(Action::Path));
    }
    moves
}

/// What has to recur for a repetition.
pub type Key = (Seat, BTreeMap<Cell, Seat>);

pub fn key(at: &Position) -> Key {
    (at.to_move, at.pieces.clone())
}
