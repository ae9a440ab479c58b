//! Chinese Checkers on the star, by the rules of the ACM Hong Kong competitions (1997), for two
//! seats and, beyond those rules, for three, four and six.

mod action;
mod estimate;
mod paths;
mod picture;
mod setup;
mod star;
#[cfg(test)]
mod tests;

pub use action::Action;
pub use setup::{Jumps, Neutral, Position, Setup, Win};

use crate::ActionKey;
use crate::board::Layout;
use crate::game::seat_of;
use crate::setup_fields::check_path_length;
use crate::view::{Colour, View};
use crate::{ActionFields, Game, Illegal, Numbering, Turn};
use paths::{Mover, number};
use referee_protocol::{Outcome, Seat};
use star::Star;
use std::sync::Arc;

/// A set of positions, large enough for the largest star.
type CellSet = crate::cell_set::CellSet<u8, 3>;

/// The colours by seat.
const COLOURS: [Colour; 6] =
    [Colour::Red, Colour::Yellow, Colour::Green, Colour::Blue, Colour::Purple, Colour::Orange];

/// A game of Chinese Checkers.
#[derive(Clone, Debug, PartialEq)]
pub struct ChineseCheckers {
    rules: Arc<Rules>,
    /// By seat; empty beyond the last seat.
    marbles: [CellSet; 6],
    occupied: CellSet,
    /// By seat.
    retired: [bool; 6],
    to_move: Seat,
    turn: u64,
    /// The number of passes in a row, up to now.
    passes: u64,
    outcome: Option<Outcome>,
    /// The path of the last action; empty at the start and after a pass.
    last: Vec<u8>,
}

/// The constants of a game.
#[derive(Debug)]
struct Rules {
    setup: Setup,
    star: &'static Star,
    seats: usize,
    /// By seat.
    targets: [CellSet; 6],
    /// By seat: where no jump may land.
    no_landing: [CellSet; 6],
    /// By seat: where no turn may end.
    no_end: [CellSet; 6],
}

impl PartialEq for Rules {
    /// The setup determines everything else.
    fn eq(&self, other: &Self) -> bool {
        self.setup == other.setup
    }
}

impl Rules {
    fn new(setup: Setup) -> Self {
        let star = Star::of(setup.size);
        let starts = setup.starts();
        let mut targets = [CellSet::EMPTY; 6];
        let mut neutral = [CellSet::EMPTY; 6];
        for (seat, &start) in starts.iter().enumerate() {
            let target = (start + 3) % 6;
            targets[seat] = star.point(target);
            let others = (0..6).filter(|&point| point != start && point != target);
            neutral[seat] = others.map(|point| star.point(point)).fold(CellSet::EMPTY, CellSet::or);
        }
        let open = [CellSet::EMPTY; 6];
        let (no_landing, no_end) = match setup.neutral {
            Neutral::Free => (open, open),
            Neutral::Pass => (open, neutral),
            Neutral::Closed => (neutral, neutral),
        };
        Self { star, seats: starts.len(), targets, no_landing, no_end, setup }
    }
}

impl Game for ChineseCheckers {
    const NAME: &'static str = "chinese-checkers";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const KINDS: &'static [(&'static str, usize)] = &[("move", 2), ("pass", 0)];

    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(mut setup: Setup) -> Result<Self, Illegal> {
        setup.check()?;
        let (star, seats) = (Star::of(setup.size), setup.starts().len());
        let mut game = Self {
            marbles: [CellSet::EMPTY; 6],
            occupied: CellSet::EMPTY,
            retired: [false; 6],
            to_move: Seat(0),
            turn: 0,
            passes: 0,
            outcome: None,
            last: Vec::new(),
            rules: Arc::new(Rules::new(setup.clone())),
        };
        if let Some(position) = &mut setup.position {
            let placed = position.place(seats, star)?;
            game.marbles = placed.marbles;
            game.retired = placed.retired;
            game.to_move = position.to_move;
            game.turn = position.turn;
            game.passes = position.passes;
            game.rules = Arc::new(Rules::new(setup));
        } else {
            for (seat, &point) in setup.starts().iter().enumerate() {
                game.marbles[seat] = star.point(point);
            }
        }
        game.occupied = game.marbles.iter().copied().fold(CellSet::EMPTY, CellSet::or);
        game.judge();
        Ok(game)
    }

    fn setup(&self) -> Setup {
        self.rules.setup.clone()
    }

    fn colours(&self) -> Vec<&'static str> {
        COLOURS[..self.rules.seats].iter().map(|&colour| colour.into()).collect()
    }

    fn turn(&self) -> Turn {
        self.outcome.clone().map_or(Turn::Of(self.to_move), Turn::Over)
    }

    fn turn_number(&self) -> u64 {
        self.turn
    }

    fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::with_capacity(64);
        if self.outcome.is_some() {
            return actions;
        }
        for start in self.marbles[self.to_move.index()].iter() {
            self.mover(start).each_path(|path| actions.push(recorded(path)));
        }
        if actions.is_empty() {
            actions.push(Action::Pass {});
        }
        actions
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        if self.outcome.is_some() {
            return Err(Illegal::game_over());
        }
        match action {
            Action::Pass {} => {
                if let Some(start) = self.movable() {
                    let start = number(start);
                    let rule = format!(
                        "a pass is legal only if no marble can move: the one on {start} can"
                    );
                    return Err(Illegal::new(rule));
                }
                self.pass();
                Ok(Action::Pass {})
            }
            Action::Move { path } => {
                let path = self.complete(path)?;
                let action = recorded(&path);
                self.shift(path);
                Ok(action)
            }
        }
    }

    fn key(&self, action: &Action) -> Option<ActionKey> {
        let Action::Move { path } = action else { return Some(ActionKey::of(1)) };
        let star = self.rules.star;
        let cell = |number: &i64| star.index(*number).map(|index| star.cells[usize::from(index)]);
        Some(ActionKey { kind: 0, cells: [cell(path.first()?)?, cell(path.last()?)?] })
    }

    fn action(&self, ActionKey { kind, cells }: ActionKey) -> Action {
        if kind == 1 {
            return Action::Pass {};
        }
        let index = |cell| self.rules.star.cells.iter().position(|&other| other == cell);
        let number = |cell| index(cell).and_then(|index| i64::try_from(index + 1).ok());
        Action::Move { path: cells.into_iter().filter_map(number).collect() }
    }

    fn layout(&self) -> Layout {
        self.rules.star.shape.into()
    }

    fn play_listed(&mut self, action: &Action) {
        match action {
            Action::Pass {} => self.pass(),
            Action::Move { path } => {
                let cell = |&number| self.rules.star.index(number).expect("a listed position");
                self.shift(path.iter().map(cell).collect());
            }
        }
    }

    fn legal_numbers(&self, numbering: &Numbering) -> Vec<usize> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        let cell = |index: u8| self.rules.star.cells[usize::from(index)];
        let key = |start, end| ActionKey { kind: 0, cells: [cell(start), cell(end)] };
        let number = |key| numbering.of_key(key).expect("a number for each action");
        let ends = |(start, ends): (_, CellSet)| ends.iter().map(move |end| (start, end));
        let mut numbers: Vec<usize> =
            self.moves().flat_map(ends).map(|(start, end)| number(key(start, end))).collect();
        if numbers.is_empty() {
            numbers.push(number(ActionKey::of(1)));
        }
        numbers
    }

    fn play_at_random(&mut self, below: &mut dyn FnMut(u64) -> u64, plies_max: u64) {
        // The actions are counted, not listed: only that which is played needs a path.
        let mut moves: Vec<(u8, CellSet)> = Vec::new();
        for _ in 0..plies_max {
            if self.outcome.is_some() {
                return;
            }
            moves.clear();
            moves.extend(self.moves());
            let count: usize = moves.iter().map(|(_, ends)| ends.len()).sum();
            let mut chosen = usize::try_from(below(count.max(1) as u64)).unwrap_or_default();
            let found = moves.iter().find_map(|&(start, ends)| {
                let end = ends.iter().nth(chosen);
                chosen -= if end.is_none() { ends.len() } else { 0 };
                Some((start, end?))
            });
            match found {
                Some((start, end)) => {
                    let path = self.mover(start).complete(vec![start, end]);
                    self.shift(path.expect("an end that was found"));
                }
                None => self.pass(),
            }
        }
    }

    fn retire(&mut self, seat: Seat) {
        debug_assert!(self.outcome.is_none() && self.rules.seats > 2, "retired out of place");
        // A pass of a seat that is out no longer counts among those in a row.
        let run = usize::try_from(self.passes).unwrap_or(usize::MAX);
        if self.seats_before().take(run).any(|passed| passed == seat) {
            self.passes -= 1;
        }
        self.retired[seat.index()] = true;
        if self.to_move == seat {
            self.next_turn();
        }
        self.judge();
    }

    fn read_fields(fields: &ActionFields<'_>) -> Option<Action> {
        let [path] = fields.fields(["path"]).filter(|_| fields.kind() == "move")?;
        Some(Action::Move { path: path.all()? })
    }

    fn position(&self) -> Position {
        let seats = self.rules.seats;
        let numbers = |set: &CellSet| set.iter().map(|cell| u64::from(cell) + 1).collect();
        let retired = || Seat::all(seats).filter(|seat| self.retired[seat.index()]).collect();
        Position {
            to_move: self.to_move,
            marbles: self.marbles[..seats].iter().map(numbers).collect(),
            turn: self.turn,
            passes: self.passes,
            retired: (seats > 2).then(retired),
        }
    }

    fn view(&self) -> View {
        self.picture()
    }

    fn estimate(&self, seat: Seat) -> i64 {
        self.standing(seat)
    }
}

impl ChineseCheckers {
    /// Returns the move generator for the marble on `start`, of the seat to move.
    fn mover(&self, start: u8) -> Mover<'_> {
        let rules = &*self.rules;
        let mut others = self.occupied;
        others.remove(start);
        Mover {
            star: rules.star,
            start,
            others,
            long: rules.setup.jumps == Jumps::Long,
            no_landing: rules.no_landing[self.to_move.index()],
            no_end: rules.no_end[self.to_move.index()],
        }
    }

    /// Returns the marbles of the seat to move, each with where its turn can end, in the order of the actions.
    fn moves(&self) -> impl Iterator<Item = (u8, CellSet)> {
        let marbles = self.marbles[self.to_move.index()].iter();
        marbles.map(|start| (start, self.mover(start).ends()))
    }

    /// Returns a marble of the seat to move that can move, if there is one.
    fn movable(&self) -> Option<u8> {
        self.moves().find(|(_, ends)| !ends.is_empty()).map(|(start, _)| start)
    }

    /// Checks a path and returns its complete form.
    fn complete(&self, path: &[i64]) -> Result<Vec<u8>, Illegal> {
        let star = self.rules.star;
        check_path_length(path.len())?;
        let cells: Vec<u8> =
            path.iter().map(|&number| star.find(number)).collect::<Result<_, _>>()?;
        if !self.marbles[self.to_move.index()].contains(cells[0]) {
            let (start, seat) = (path[0], self.to_move);
            return Err(Illegal::new(format!("seat {seat} has no marble on {start}")));
        }
        self.mover(cells[0]).complete(cells)
    }

    /// Moves a marble along a legal path and passes the turn on.
    fn shift(&mut self, path: Vec<u8>) {
        let (start, end) = (path[0], path[path.len() - 1]);
        let own = &mut self.marbles[self.to_move.index()];
        own.remove(start);
        own.insert(end);
        self.occupied.remove(start);
        self.occupied.insert(end);
        self.last = path;
        self.passes = 0;
        self.next_turn();
        self.judge();
    }

    fn pass(&mut self) {
        self.last.clear();
        self.passes += 1;
        self.next_turn();
        self.judge();
    }

    /// Ends the turn. Turns of retired seats are skipped, but counted.
    fn next_turn(&mut self) {
        loop {
            self.turn += 1;
            let next = around(self.to_move.index() + 1, self.rules.seats);
            self.to_move = seat_of(next);
            if !self.retired[next] || self.turn >= self.rules.setup.max_turns {
                break;
            }
        }
    }

    /// Returns the other active seats, backwards from the one that moved last.
    fn seats_before(&self) -> impl Iterator<Item = Seat> + '_ {
        let (to_move, seats) = (self.to_move.index(), self.rules.seats);
        (1..seats)
            .map(move |back| around(to_move + seats - back, seats))
            .filter(|&seat| !self.retired[seat])
            .map(seat_of)
    }

    /// Determines whether the game is over: checks the seat that moved last first, then the rest in
    /// the order of play.
    fn judge(&mut self) {
        let seats = self.rules.seats;
        let first = self.seats_before().next().unwrap_or(self.to_move).index();
        let mut order = (0..seats).map(|ahead| around(first + ahead, seats));
        let left = self.retired[..seats].iter().filter(|&&retired| !retired).count() as u64;
        self.outcome = if let Some(seat) = order.find(|&seat| self.is_home(seat)) {
            Some(Outcome::won_by(seat_of(seat), seats, "home"))
        } else if self.passes >= left {
            Some(Outcome::drawn(seats, "no_moves"))
        } else if self.turn >= self.rules.setup.max_turns {
            Some(Outcome::drawn(seats, "turn_limit"))
        } else {
            None
        };
    }

    /// Returns whether a seat is home. A target position with a retired seat's marble counts as
    /// filled; at least one marble in the target must be the seat's own.
    fn is_home(&self, seat: usize) -> bool {
        let (own, target) = (self.marbles[seat], self.rules.targets[seat]);
        if self.retired[seat] || own.and(target).is_empty() {
            return false;
        }
        match self.rules.setup.win {
            Win::Own => {
                own.is_subset_of(target) || target.is_subset_of(own.or(self.retired_marbles()))
            }
            Win::Filled => target.is_subset_of(self.occupied),
        }
    }

    /// Returns the marbles of all retired seats.
    fn retired_marbles(&self) -> CellSet {
        let out = self.marbles.iter().zip(self.retired).filter(|&(_, retired)| retired);
        out.fold(CellSet::EMPTY, |all, (&marbles, _)| all.or(marbles))
    }
}

/// Returns `index % seats` for an index below twice the number of seats, without a division.
fn around(index: usize, seats: usize) -> usize {
    if index >= seats { index - seats } else { index }
}

/// Returns a complete path as an action.
fn recorded(path: &[u8]) -> Action {
    Action::Move { path: path.iter().map(|&cell| number(cell)).collect() }
}
