//! Chexers: three colours race across a hexagon of 37 hexes and convert what they jump over.
//!
//! Source: Rules for the Game of Chexers (COMP30024, University of Melbourne, 11 March 2019).

mod action;
mod estimate;
mod hexes;
mod history;
mod setup;
#[cfg(test)]
mod tests;

pub use action::Action;
pub use setup::{Position, Setup};

use crate::ActionKey;
use crate::board::{Cell, Layout};
use crate::game::{IgnoredInEq, seat_of};
use crate::view::{Colour, Edge, Figure, Labels, Piece, View};
use crate::{ActionFields, Game, Illegal, Turn};
use hexes::{Hexes, SHAPE};
use history::{History, Key};
use referee_protocol::{Outcome, Seat};
use std::sync::Arc;

const SEATS: usize = 3;
const COLOURS: [Colour; SEATS] = [Colour::Red, Colour::Green, Colour::Blue];
/// What an exit hex of each seat has in common, for refusals.
const EXIT_LINES: [&str; SEATS] = ["q = 3", "r = 3", "q + r = -3"];
/// Each seat's exit direction, in the units of [`Shape::place`](crate::board::Shape::place).
const OUTWARD: [(i8, i8); SEATS] = [(2, 0), (0, 1), (-2, 0)];

/// A game of Chexers in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Chexers {
    setup: Arc<Setup>,
    pieces: [Hexes; SEATS],
    exits: [u32; SEATS],
    /// The number of the turn; the seat to move is this modulo 3.
    turn: u32,
    retired: [bool; SEATS],
    history: History,
    outcome: Option<Outcome>,
    /// The hexes that the last action's piece left and, unless it left the board, reached.
    last: IgnoredInEq<[Option<Cell>; 2]>,
}

/// What an action does to the board.
#[derive(Clone, Copy)]
enum Change {
    Exit {
        from: Hexes,
    },
    /// `over` is empty for a move.
    Go {
        from: Hexes,
        over: Hexes,
        to: Hexes,
    },
    Pass,
}

impl Chexers {
    fn mover(&self) -> usize {
        self.turn as usize % SEATS
    }

    fn occupied(&self) -> Hexes {
        self.pieces[0] | self.pieces[1] | self.pieces[2]
    }

    fn usual_start(setup: Setup) -> Self {
        let edge = |on: fn(&Cell) -> bool| {
            SHAPE.cells().into_iter().filter(on).map(hexes::only).fold(0, |set, hex| set | hex)
        };
        Self {
            setup: Arc::new(setup),
            pieces: [
                edge(|hex| hex.0 == -3),
                edge(|hex| hex.1 == -3),
                edge(|hex| hex.0 + hex.1 == 3),
            ],
            exits: [0; SEATS],
            turn: 0,
            retired: [false; SEATS],
            history: History::default(),
            outcome: None,
            last: IgnoredInEq([None; 2]),
        }
    }

    /// Sets the position. Fails if no game can reach it.
    fn set_up(&mut self, position: &Position) -> Result<(), Illegal> {
        let refused = |text: String| Err(Illegal::new(format!("position: {text}")));
        let mut taken = 0;
        for (seat, cells) in position.pieces.iter().enumerate() {
            self.pieces[seat] = 0;
            for &cell in cells {
                let Some(hex) = hexes::find(cell.pair()) else {
                    return refused(format!("{},{} is off the board", cell.0, cell.1));
                };
                if taken & hex != 0 {
                    return refused(format!("two pieces are on {},{}", cell.0, cell.1));
                }
                taken |= hex;
                self.pieces[seat] |= hex;
            }
        }
        let most = self.setup.exits;
        if position.exits.iter().any(|&made| made > most) {
            return refused(format!("exits: a seat wins with {most} and can't have more"));
        }
        if position.exits.iter().filter(|&&made| made == most).count() > 1 {
            return refused(format!("exits: only one seat can have the {most} that win"));
        }
        self.exits = position.exits;
        let turns_max = self.setup.turns_max();
        if position.turn > turns_max {
            return refused(format!("turn: the game ends by turn {turns_max}"));
        }
        self.turn = position.turn;
        if usize::from(position.to_move) != self.mover() {
            return refused(format!(
                "to_move: in turn {} seat {} is to move",
                self.turn,
                self.mover()
            ));
        }
        for &seat in &position.retired {
            match self.retired.get_mut(usize::from(seat)) {
                Some(retired) if !*retired => *retired = true,
                Some(_) => return refused(format!("retired: seat {seat} is named twice")),
                None => return refused(format!("retired: there is no seat {seat}")),
            }
        }
        if self.retired == [true; SEATS] {
            return refused("retired: at least one seat must be left".to_owned());
        }
        if self.retired[self.mover()] && self.turn < turns_max {
            return refused(format!("to_move: seat {} is retired", self.mover()));
        }
        Ok(())
    }

    /// Determines whether the game has just ended. `winner` is the seat whose exits may suffice.
    /// Source: "Ending the game"; an exit that wins counts on the very last turn too.
    fn judge(&mut self, winner: Option<usize>) {
        let to_move = self.mover();
        let times = self.history.push(Key::new(self.pieces, to_move));
        let winner = winner.filter(|&seat| self.exits[seat] >= self.setup.exits);
        let outcome = if let Some(seat) = winner {
            Outcome::won_by(seat_of(seat), SEATS, "four_exits")
        } else if times >= self.setup.repetitions as usize {
            Outcome::drawn(SEATS, "repetition")
        } else if self.turn >= self.setup.turns_max() {
            Outcome::drawn(SEATS, "turn_limit")
        } else {
            return;
        };
        self.outcome = Some(outcome.with_scores(self.exits.map(i64::from).to_vec()));
    }

    /// Ends the turn. Turns of retired seats are skipped, but counted.
    fn next_turn(&mut self) {
        self.turn += 1;
        while self.turn < self.setup.turns_max() && self.retired[self.mover()] {
            self.turn += 1;
        }
    }

    /// Returns what the action does, or the rule that it breaks.
    fn check(&self, action: &Action) -> Result<Change, Illegal> {
        if self.outcome.is_some() {
            return Err(Illegal::game_over());
        }
        let mover = self.mover();
        match *action {
            Action::Exit { from } => {
                let from = self.own(from)?;
                if from & hexes::EXITS[mover] == 0 {
                    let (colour, line) = (COLOURS[mover].name(), EXIT_LINES[mover]);
                    return Err(Illegal::new(format!(
                        "{colour} exits only from hexes with {line}"
                    )));
                }
                Ok(Change::Exit { from })
            }
            Action::Move { from, to } => {
                let (from, to) = (self.own(from)?, self.empty(to)?);
                if hexes::around(from) & to == 0 {
                    return Err(Illegal::new("a move goes to an adjacent hex"));
                }
                Ok(Change::Go { from, over: 0, to })
            }
            Action::Jump { from, to } => self.check_jump(from, to),
            Action::Pass {} => {
                if self.actions() != [Action::Pass {}] {
                    return Err(Illegal::new("a pass is legal only if no other action is"));
                }
                Ok(Change::Pass)
            }
        }
    }

    fn check_jump(&self, from: [i64; 2], to: [i64; 2]) -> Result<Change, Illegal> {
        let (start, end) = (self.own(from)?, self.empty(to)?);
        let way = [to[0] - from[0], to[1] - from[1]];
        if !matches!(way, [0, 2 | -2] | [2 | -2, 0] | [2, -2] | [-2, 2]) {
            return Err(Illegal::new("a jump goes two hexes in a straight line"));
        }
        // The hex half-way between two hexes of the board is on the board.
        let middle = [from[0] + way[0] / 2, from[1] + way[1] / 2];
        match hexes::find(middle).filter(|over| over & self.occupied() != 0) {
            Some(over) => Ok(Change::Go { from: start, over, to: end }),
            None => Err(Illegal::new(format!(
                "a jump goes over a piece: there is none on {},{}",
                middle[0], middle[1]
            ))),
        }
    }

    fn own(&self, at: [i64; 2]) -> Result<Hexes, Illegal> {
        let hex = on_board(at)?;
        if self.pieces[self.mover()] & hex == 0 {
            let colour = COLOURS[self.mover()].name();
            return Err(Illegal::new(format!("{colour} has no piece on {},{}", at[0], at[1])));
        }
        Ok(hex)
    }

    fn empty(&self, at: [i64; 2]) -> Result<Hexes, Illegal> {
        let hex = on_board(at)?;
        if self.occupied() & hex != 0 {
            return Err(Illegal::new(format!("{},{} is occupied", at[0], at[1])));
        }
        Ok(hex)
    }

    fn apply(&mut self, change: Change) {
        let mover = self.mover();
        self.last = IgnoredInEq([None; 2]);
        match change {
            Change::Exit { from } => {
                self.pieces[mover] ^= from;
                self.exits[mover] += 1;
                self.history.clear();
                self.last.0[0] = hexes::cells(from).next();
            }
            Change::Go { from, over, to } => {
                go(&mut self.pieces, mover, from, over, to);
                self.last = IgnoredInEq([hexes::cells(from).next(), hexes::cells(to).next()]);
            }
            Change::Pass => {}
        }
        self.next_turn();
        self.judge(Some(mover));
    }
}

impl Game for Chexers {
    const NAME: &'static str = "chexers";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const KINDS: &'static [(&'static str, usize)] =
        &[("exit", 1), ("move", 2), ("jump", 2), ("pass", 0)];
    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(setup: Setup) -> Result<Self, Illegal> {
        setup.check_limits()?;
        let position = setup.position.clone();
        let mut game = Self::usual_start(setup);
        if let Some(position) = position {
            game.set_up(&position)?;
            // With its lists sorted.
            let position = Some(game.position());
            Arc::make_mut(&mut game.setup).position = position;
        }
        let winner = (0..SEATS).find(|&seat| game.exits[seat] >= game.setup.exits);
        game.judge(winner);
        Ok(game)
    }

    fn setup(&self) -> Setup {
        Setup::clone(&self.setup)
    }

    fn colours(&self) -> Vec<&'static str> {
        COLOURS.map(Colour::into).to_vec()
    }

    fn turn(&self) -> Turn {
        self.outcome.clone().map_or_else(|| Turn::Of(seat_of(self.mover())), Turn::Over)
    }

    fn turn_number(&self) -> u64 {
        self.turn.into()
    }

    fn actions(&self) -> Vec<Action> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        let own: Vec<Cell> = hexes::cells(self.pieces[self.mover()]).collect();
        let occupied = |cell: Cell| hexes::only(cell) & self.occupied() != 0;
        let mut actions = Vec::new();
        for &from in &own {
            if hexes::only(from) & hexes::EXITS[self.mover()] != 0 {
                actions.push(Action::Exit { from: from.pair() });
            }
        }
        for &from in &own {
            for to in SHAPE.neighbours(from).filter(|&to| !occupied(to)) {
                actions.push(Action::Move { from: from.pair(), to: to.pair() });
            }
        }
        for &from in &own {
            for &step in SHAPE.steps() {
                let over = from.step(step);
                let to = over.step(step);
                if SHAPE.contains(to) && occupied(over) && !occupied(to) {
                    actions.push(Action::Jump { from: from.pair(), to: to.pair() });
                }
            }
        }
        if actions.is_empty() {
            actions.push(Action::Pass {});
        }
        actions
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        let change = self.check(action)?;
        self.apply(change);
        Ok(action.clone())
    }

    fn key(&self, action: &Action) -> Option<ActionKey> {
        match *action {
            Action::Exit { from } => ActionKey::at(0, from),
            Action::Move { from, to } => ActionKey::between(1, from, to),
            Action::Jump { from, to } => ActionKey::between(2, from, to),
            Action::Pass {} => Some(ActionKey::of(3)),
        }
    }

    fn action(&self, ActionKey { kind, cells }: ActionKey) -> Action {
        let [from, to] = cells.map(Cell::pair);
        match kind {
            0 => Action::Exit { from },
            1 => Action::Move { from, to },
            2 => Action::Jump { from, to },
            _ => Action::Pass {},
        }
    }

    fn layout(&self) -> Layout {
        SHAPE.into()
    }

    fn retire(&mut self, seat: Seat) {
        self.retired[seat.index()] = true;
        if self.outcome.is_none() && seat.index() == self.mover() {
            self.last = IgnoredInEq([None; 2]);
            self.next_turn();
            self.judge(None);
        }
    }

    fn read_fields(fields: &ActionFields<'_>) -> Option<Action> {
        if fields.kind() == "exit" {
            let [from] = fields.fields(["from"])?;
            return Some(Action::Exit { from: from.pair()? });
        }
        let [from, to] = fields.fields(["from", "to"])?;
        let (from, to) = (from.pair()?, to.pair()?);
        match fields.kind() {
            "move" => Some(Action::Move { from, to }),
            "jump" => Some(Action::Jump { from, to }),
            _ => None,
        }
    }

    fn position(&self) -> Position {
        let retired = (0..).zip(self.retired).filter(|&(_, retired)| retired);
        Position {
            to_move: seat_of(self.mover()).0,
            pieces: self.pieces.map(|set| hexes::cells(set).collect()),
            exits: self.exits,
            turn: self.turn,
            retired: retired.map(|(seat, _)| seat).collect(),
        }
    }

    fn view(&self) -> View {
        let seats = || (0..SEATS).map(|seat| (seat, COLOURS[seat]));
        View {
            pieces: seats()
                .flat_map(|(seat, colour)| {
                    hexes::cells(self.pieces[seat]).map(move |at| Piece::new(at, colour))
                })
                .collect(),
            edges: seats()
                .map(|(seat, colour)| Edge {
                    colour,
                    cells: hexes::cells(hexes::EXITS[seat]).collect(),
                    outward: OUTWARD[seat],
                })
                .collect(),
            last: self.last.0.into_iter().flatten().collect(),
            figures: seats()
                .map(|(seat, colour)| Figure {
                    name: "exits".into(),
                    colour: Some(colour),
                    value: format!("{}/{}", self.exits[seat], self.setup.exits),
                })
                .collect(),
            ..View::new(SHAPE, Labels::Pair)
        }
    }

    fn estimate(&self, seat: Seat) -> i64 {
        estimate::estimate(self, seat)
    }
}

/// Moves a piece and recolours what it jumps over.
fn go(pieces: &mut [Hexes; SEATS], mover: usize, from: Hexes, over: Hexes, to: Hexes) {
    for set in &mut *pieces {
        *set &= !over;
    }
    pieces[mover] = pieces[mover] & !from | over | to;
}

fn on_board(at: [i64; 2]) -> Result<Hexes, Illegal> {
    hexes::find(at).ok_or_else(|| Illegal::new(format!("{},{} is off the board", at[0], at[1])))
}
