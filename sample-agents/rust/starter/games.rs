//! The six games: what only each of them has, and its rules.
#![allow(dead_code)] // Your bot need not use all of it.

use crate::json::Json;
use crate::referee_kit::{Action, Board, Cell, Ending, Position, Seat};
use crate::rules::{
    Cells, Key, carry, cells_where, jumped, jumps, key, limited, moves, number, place, text, won,
};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Black connects first and last column, red first and last row; see `game.colour(seat)`.
#[derive(Clone, Debug)]
pub struct Hex {
    pub size: i32,
    pub(crate) sides: [&'static str; 2],
    swap: String,
    winner: Option<Seat>,
}

impl Hex {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let from = setup.get("position");
        let first = from
            .get("colours")
            .items()
            .first()
            .map_or_else(|| text(setup, "first", "black"), |colour| colour.text());
        let is_black = first == "black";
        let size = number(setup, "size", 11) as i32;
        let mut stones = from.get("stones").items();
        if !is_black {
            stones.reverse();
        }
        place(at, &Board::new("diamond", size), stones, &[]);
        let sides = if is_black { ["black", "red"] } else { ["red", "black"] };
        let mut hex = Self { size, sides, swap: text(setup, "swap", "none"), winner: None };
        hex.winner = (0..2).find(|&seat| hex.joins(at, seat));
        hex
    }

    /// Returns the two lists of cells that a seat has to connect.
    pub fn borders(&self, seat: Seat) -> [Vec<Cell>; 2] {
        let is_black = self.sides[seat] == "black";
        let cell = |n, end| if is_black { Cell(n, end) } else { Cell(end, n) };
        [0, self.size - 1].map(|end| (0..self.size).map(|n| cell(n, end)).collect())
    }

    fn joins(&self, at: &Position, seat: Seat) -> bool {
        let [near, far] = self.borders(seat);
        let is_own = |cell: &Cell| at.owner(*cell) == Some(seat);
        let mut chain: Vec<Cell> = near.into_iter().filter(is_own).collect();
        let mut seen: Cells = chain.iter().copied().collect();
        while let Some(here) = chain.pop() {
            let beside = at.neighbours(here).into_iter().filter(is_own);
            chain.extend(beside.filter(|&cell| seen.insert(cell)));
        }
        far.iter().any(|cell| seen.contains(cell))
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        let empty = at.board.cells.iter().filter(|cell| !at.pieces.contains_key(cell));
        let mut actions: Vec<Action> = empty.map(|&at| Action::Place { at }).collect();
        actions.extend((at.turn == 1 && self.swap != "none").then_some(Action::Swap));
        actions
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        let stones: Vec<Cell> = at.pieces.keys().copied().collect();
        if let Action::Place { at: cell } = action {
            at.pieces.insert(*cell, at.to_move);
            self.winner = self.joins(at, at.to_move).then_some(at.to_move);
        } else if self.swap == "sides" {
            self.sides.reverse();
            at.pieces = stones.into_iter().map(|cell| (cell, at.to_move)).collect();
        } else {
            at.pieces = stones.into_iter().map(|cell| (Cell(cell.1, cell.0), at.to_move)).collect();
        }
    }

    pub(crate) fn ending(&self, _: &Position) -> Option<Ending> {
        won(self.winner?, "connected")
    }
}

/// Chexers, for three.
#[derive(Clone, Debug)]
pub struct Chexers {
    /// The number of each seat's exits, and where it may leave the board.
    pub exits: Vec<usize>,
    pub exit_cells: Rc<[Cells]>,
    exits_to_win: usize,
    repetitions: u32,
    pub(crate) seen: HashMap<Key, u32>,
}

impl Chexers {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let from = setup.get("position");
        let board = Board::new("hexagon", 3);
        let edges = [0, 1, 2, 3, 4, 5]
            .map(|edge| cells_where(&board, |Cell(q, r)| [-q, -r, q + r, q, r, -q - r][edge] == 3));
        place(at, &board, from.get("pieces").items(), &edges[..3]);
        at.turns_max = 3 * number(setup, "turns_per_seat", 256) as u64;
        let exits = from.get("exits").items();
        let exits: Vec<usize> = exits.into_iter().map(|count| count.number() as usize).collect();
        Self {
            exits: if exits.is_empty() { vec![0; 3] } else { exits },
            exit_cells: edges[3..].iter().map(|edge| edge.iter().copied().collect()).collect(),
            exits_to_win: number(setup, "exits", 4),
            repetitions: number(setup, "repetitions", 4) as u32,
            seen: HashMap::from([(key(at), 1)]),
        }
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        let own = at.pieces_of(at.to_move);
        let exits = own.iter().filter(|cell| self.exit_cells[at.to_move].contains(cell));
        let mut actions: Vec<Action> = exits.map(|&from| Action::Exit { from }).collect();
        for &from in &own {
            let free = at.neighbours(from).into_iter().filter(|to| !at.pieces.contains_key(to));
            actions.extend(free.map(|to| Action::Move { from, to }));
        }
        for &from in &own {
            actions.extend(jumps(at, from).into_iter().map(|(to, _)| Action::Jump { from, to }));
        }
        if actions.is_empty() { vec![Action::Pass] } else { actions }
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        match *action {
            Action::Exit { from } => {
                at.pieces.remove(&from);
                self.exits[at.to_move] += 1;
                self.seen.clear(); // Positions before an exit can't recur.
            }
            Action::Jump { from, to } => {
                let over = jumped(at, from, to);
                at.pieces.insert(over, at.to_move);
                carry(at, from, to);
            }
            Action::Move { from, to } => carry(at, from, to),
            _ => {}
        }
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        let winner = self.exits.iter().position(|&count| count >= self.exits_to_win);
        if let Some(winner) = winner {
            return won(winner, "four_exits");
        }
        if self.seen[&key(at)] >= self.repetitions {
            return Some(Ending { winner: None, reason: "repetition" });
        }
        limited(at, None, "turn_limit")
    }
}

const DIRECTIONS: [(&str, (i32, i32)); 8] = [
    ("RIGHT", (0, 1)),
    ("LEFT", (0, -1)),
    ("DOWN", (1, 0)),
    ("DOWN_LEFT", (1, -1)),
    ("DOWN_RIGHT", (1, 1)),
    ("UP", (-1, 0)),
    ("UP_LEFT", (-1, -1)),
    ("UP_RIGHT", (-1, 1)),
];

/// Freckers, for two.
#[derive(Clone, Debug)]
pub struct Freckers {
    /// The free lily pads.
    pub pads: Cells,
    /// The row that each seat's frogs go to.
    pub goals: [i32; 2],
    lands_on_pads: bool,
}

impl Freckers {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let from = setup.get("position");
        let row = |row| (1..7).map(|column| Cell(row, column)).collect::<Vec<_>>();
        place(at, &Board::new("square", 8), from.get("frogs").items(), &[row(0), row(7)]);
        at.turns_max = number(setup, "turn_limit", 150) as u64;
        let corners = vec![Cell(0, 0), Cell(0, 7), Cell(7, 0), Cell(7, 7)];
        let pads = match from.get("pads") {
            Json("null") => [row(1), row(6), corners].concat(),
            pads => Cell::read_list(pads),
        };
        let lands_on_pads = text(setup, "landing", "") == "every";
        Self { pads: pads.into_iter().collect(), goals: [7, 0], lands_on_pads }
    }

    /// Returns the shortest directions to every cell where a frog's move can end.
    fn routes(&self, at: &Position, start: Cell) -> BTreeMap<Cell, Vec<String>> {
        let back = if at.to_move == 0 { -1 } else { 1 };
        let mut routes = BTreeMap::from([(start, Vec::new())]);
        let mut queue = vec![start];
        let mut next = 0;
        let ways = || DIRECTIONS.into_iter().filter(|(_, (r, _))| *r != back);
        while let Some(&here) = queue.get(next) {
            next += 1;
            for (name, (r, c)) in ways() {
                let over = Cell(here.0 + r, here.1 + c);
                let to = Cell(here.0 + 2 * r, here.1 + 2 * c);
                let is_free = at.board.lines.contains_key(&to) && !at.pieces.contains_key(&to);
                let is_new = !routes.contains_key(&to);
                if at.pieces.contains_key(&over)
                    && is_free
                    && is_new
                    && (self.pads.contains(&to) || !self.lands_on_pads)
                {
                    let route = [&routes[&here][..], &[name.to_owned()]].concat();
                    routes.insert(to, route);
                    queue.push(to);
                }
            }
        }
        for (name, (r, c)) in ways() {
            routes.insert(Cell(start.0 + r, start.1 + c), vec![name.to_owned()]);
        }
        routes.retain(|end, _| self.pads.contains(end));
        routes
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        let mut actions = Vec::new();
        for from in at.pieces_of(at.to_move) {
            let routes = self.routes(at, from).into_iter();
            actions.extend(routes.map(|(to, directions)| Action::Hops { from, directions, to }));
        }
        actions.push(Action::Grow);
        actions
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        if let &Action::Hops { from, to, .. } = action {
            carry(at, from, to);
            self.pads.remove(&to);
        } else {
            let own = at.pieces_of(at.to_move).into_iter();
            let around = own.flat_map(|cell| at.neighbours(cell));
            self.pads.extend(around.filter(|cell| !at.pieces.contains_key(cell)));
        }
    }

    /// Returns the number of a seat's frogs that are across.
    pub fn across(&self, at: &Position, seat: Seat) -> usize {
        at.pieces_of(seat).iter().filter(|cell| cell.0 == self.goals[seat]).count()
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        let (red, blue) = (self.across(at, 0), self.across(at, 1));
        let winner = (red != blue).then_some(usize::from(blue > red));
        if red == 6 || blue == 6 {
            return Some(Ending { winner, reason: "all_across" });
        }
        limited(at, winner, "turn_limit")
    }
}

/// Chinese Checkers, for 2, 3, 4 or 6.
#[derive(Clone, Debug)]
pub struct ChineseCheckers {
    /// Of each seat: where its marbles start, where they go, and the points of others.
    pub starts: Rc<[Cells]>,
    pub targets: Rc<[Cells]>,
    pub neutral: Rc<[Cells]>,
    pub passes: usize,
    has_long_jumps: bool,
    neutral_rule: String,
    is_filled_enough: bool,
}

impl ChineseCheckers {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let from = setup.get("position");
        let size = number(setup, "size", 4) as i32;
        let board = Board::new("star", size);
        let points = [0, 1, 2, 3, 4, 5].map(|point| {
            let in_point = |cell| {
                let (q, r) = board.places[&cell];
                [-r, q, q + r, r, -q, -q - r][point] > size
            };
            cells_where(&board, in_point)
        });
        let used = match at.seats.len() {
            2 => vec![0, 3],
            3 => vec![0, 2, 4],
            4 => vec![1, 2, 4, 5],
            _ => vec![0, 1, 2, 3, 4, 5],
        };
        let starts: Vec<Vec<Cell>> =
            used.iter().map(|&point: &usize| points[point].clone()).collect();
        let set = |cells: &Vec<Cell>| cells.iter().copied().collect::<Cells>();
        let others = |point: usize| (0..6).filter(move |other| other % 3 != point % 3);
        place(at, &board, from.get("marbles").items(), &starts);
        at.turns_max = number(setup, "max_turns", 1000) as u64;
        Self {
            targets: used.iter().map(|point| set(&points[(point + 3) % 6])).collect(),
            neutral: used
                .iter()
                .map(|&point| others(point).flat_map(|other| points[other].clone()).collect())
                .collect(),
            starts: starts.iter().map(set).collect(),
            passes: number(from, "passes", 0),
            has_long_jumps: text(setup, "jumps", "long") == "long",
            neutral_rule: text(setup, "neutral", "pass"),
            is_filled_enough: text(setup, "win", "own") == "filled",
        }
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        let is_neutral = |cell: &Cell| self.neutral[at.to_move].contains(cell);
        let bars = |cell: &Cell| self.neutral_rule == "closed" && is_neutral(cell);
        let bars_end = |cell: &Cell| self.neutral_rule != "free" && is_neutral(cell);
        let moves = moves(at, self.has_long_jumps, bars, bars_end);
        if moves.is_empty() { vec![Action::Pass] } else { moves }
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        self.passes += 1;
        if let Action::Path(path) = action {
            self.passes = 0;
            carry(at, path[0], path[path.len() - 1]);
        }
    }

    /// Returns the active seats, in the order of play from the one to move.
    fn left(&self, at: &Position) -> Vec<Seat> {
        let order = (0..at.seats.len()).map(|number| (at.to_move + number) % at.seats.len());
        order.filter(|seat| !at.retired.contains(seat)).collect()
    }

    /// A pass of a seat that is out no longer counts among those in a row.
    pub(crate) fn forget_pass(&mut self, at: &Position, seat: Seat) {
        let before = self.left(at).into_iter().rev().filter(|&other| other != at.to_move);
        if before.take(self.passes).any(|other| other == seat) {
            self.passes -= 1;
        }
    }

    /// Returns whether a seat has brought its marbles home.
    pub fn is_home(&self, at: &Position, seat: Seat) -> bool {
        let (own, target) = (at.pieces_of(seat), &self.targets[seat]);
        if at.retired.contains(&seat) || own.iter().all(|cell| !target.contains(cell)) {
            return false;
        }
        if self.is_filled_enough {
            return target.iter().all(|cell| at.pieces.contains_key(cell));
        }
        let counts = |owner| owner == seat || at.retired.contains(&owner);
        own.iter().all(|cell| target.contains(cell))
            || target.iter().all(|&cell| at.owner(cell).is_some_and(counts))
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        let mut left = self.left(at);
        let count = left.len();
        left.rotate_right(usize::from(count > 0)); // The last mover is checked first.
        if let Some(winner) = left.into_iter().find(|&seat| self.is_home(at, seat)) {
            return won(winner, "home");
        }
        if self.passes >= count {
            return Some(Ending { winner: None, reason: "no_moves" });
        }
        limited(at, None, "turn_limit")
    }
}

/// The Checker Puzzle, for one.
#[derive(Clone, Debug)]
pub struct CheckerPuzzle {
    /// The cells that the pieces have to fill.
    pub goal: Rc<Cells>,
}

impl CheckerPuzzle {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let size = number(setup, "size", 4) as i32;
        let depth = number(setup, "depth", 3) as i32;
        let board = Board::new("diamond", size);
        let camp = cells_where(&board, |Cell(a, b)| 2 * size - 2 - a - b < depth);
        let pieces = Some(setup.get("position").get("pieces")).filter(|it| *it != Json("null"));
        place(at, &board, pieces.into_iter().collect(), &[camp]);
        at.turns_max = number(setup, "max_moves", 200) as u64;
        let goal = cells_where(&board, |Cell(a, b)| a + b < depth);
        Self { goal: Rc::new(goal.into_iter().collect()) }
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        moves(at, false, |_| false, |_| false)
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        if let Action::Path(path) = action {
            carry(at, path[0], path[path.len() - 1]);
        }
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        if at.pieces.keys().eq(self.goal.iter()) {
            return won(0, "solved");
        }
        limited(at, None, "move_limit")
    }
}

/// Peg Solitaire, for one.
#[derive(Clone, Debug)]
pub struct PegSolitaire {
    /// The cells that were without a peg at the start.
    pub open: Vec<Cell>,
    ends_at_start: bool,
}

impl PegSolitaire {
    pub(crate) fn start(setup: Json, at: &mut Position) -> Self {
        let shape = text(setup, "shape", "triangle");
        let is_triangle = shape == "triangle";
        let size = number(setup, "size", if is_triangle { 5 } else { 6 }) as i32;
        let board = Board::new(&shape, size);
        let end = size - 1;
        let middle = if is_triangle { Cell(2 * end / 3, end / 3) } else { Cell(end / 2, end / 2) };
        let mut open = match setup.get("open") {
            Json("null") => vec![middle],
            open => Cell::read_list(open),
        };
        open.sort();
        let camp = cells_where(&board, |cell| !open.contains(&cell));
        let pegs = Some(setup.get("position").get("pegs")).filter(|it| *it != Json("null"));
        place(at, &board, pegs.into_iter().collect(), &[camp]);
        Self { open, ends_at_start: text(setup, "finish", "") == "start" }
    }

    pub(crate) fn actions(&self, at: &Position) -> Vec<Action> {
        let from = |&from: &Cell| {
            jumps(at, from).into_iter().map(move |(to, _)| Action::Jump { from, to })
        };
        at.pieces.keys().flat_map(from).collect()
    }

    pub(crate) fn apply(&mut self, at: &mut Position, action: &Action) {
        if let &Action::Jump { from, to } = action {
            at.pieces.remove(&jumped(at, from, to));
            carry(at, from, to);
        }
    }

    pub(crate) fn ending(&self, at: &Position) -> Option<Ending> {
        if at.pieces.keys().any(|&cell| !jumps(at, cell).is_empty()) {
            return None;
        }
        let is_place = !self.ends_at_start || at.pieces.contains_key(&self.open[0]);
        let is_solved = at.pieces.len() == 1 && is_place;
        if is_solved { won(0, "solved") } else { Some(Ending { winner: None, reason: "stuck" }) }
    }
}
