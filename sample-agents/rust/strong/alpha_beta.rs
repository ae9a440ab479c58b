//! Alpha-beta with growing depth for games on small boards, with the usual means of looking at good
//! actions first: a table of positions already met (by Zobrist keys), killers and a history. With
//! three or more seats it is paranoid: all others are assumed to play against this seat.
//!
//! Why this for the race games: their boards are cheap to copy, progress is a good estimate, and
//! what matters is to see the ladders and the captures of the next few turns exactly.

use crate::budget::Budget;
use crate::position_table::{Bound, Entry, Table};

/// The value of a win; every estimate is smaller.
pub(crate) const WON: i32 = 1_000_000;
const PLY_MAX: usize = 40;
/// From this place in the order on, actions are looked at less deeply first.
const LATE: usize = 5;

/// An action by two cells, interpreted by the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) from: u8,
    pub(crate) to: u8,
}

impl Move {
    fn slot(self) -> usize {
        usize::from(self.from) << 8 | usize::from(self.to)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Won(usize),
    Drawn,
}

/// A board to search.
pub(crate) trait Board: Clone {
    /// The number of most promising actions searched beyond the first ply.
    const BREADTH: usize;
    /// What leading back to a position that has been costs, for each time it has been.
    const REPEATING: i32;

    fn mover(&self) -> usize;
    /// How the game has ended, if it has.
    fn ending(&self) -> Option<Ending>;
    /// Adds every action to the list, each with what it promises: larger is looked at sooner.
    fn list(&self, actions: &mut Vec<(i32, Move)>);
    /// Plays an action that was listed.
    fn play(&mut self, action: Move);
    /// The estimate for a seat against the others; larger is better.
    fn standing(&self, seat: usize) -> i32;
    /// A hash of the position.
    fn key(&self) -> u64;
}

/// What a search has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The index of the best action.
    pub(crate) index: usize,
    /// The value of the position for the seat.
    pub(crate) value: i32,
    /// The depth reached, in plies.
    pub(crate) depth: usize,
}

/// A search for one seat, with what it keeps from turn to turn.
#[derive(Debug)]
pub(crate) struct Search {
    seat: usize,
    table: Table,
    /// By action: how often it made a position not worth following.
    history: Vec<i32>,
    /// By ply: the last two such actions.
    killers: [[Move; 2]; PLY_MAX + 1],
    /// Lists of actions that are kept for their memory.
    lists: Vec<Vec<(i32, Move)>>,
    /// Mixed into the keys: what other turns have put into the table counts plies from elsewhere.
    salt: u64,
}

impl Search {
    pub(crate) fn new(seat: usize) -> Self {
        Self {
            seat,
            table: Table::new(),
            history: vec![0; 1 << 16],
            killers: [[Move::default(); 2]; PLY_MAX + 1],
            lists: Vec::new(),
            salt: 0,
        }
    }

    /// The best of the actions, of which there is at least one. `been` says how often a position
    /// with this key has been in the match.
    pub(crate) fn best<B: Board>(
        &mut self,
        board: &B,
        actions: &[Move],
        been: impl Fn(u64) -> usize,
        budget: &mut Budget,
    ) -> Found {
        self.salt = self.salt.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.history.iter_mut().for_each(|count| *count /= 8);
        self.killers = [[Move::default(); 2]; PLY_MAX + 1];
        let mut first = self.first_ply(board, actions, been);
        let mut found = Found { index: first[0].index, value: first[0].promise, depth: 1 };
        if actions.len() == 1 || first[0].promise >= WON / 2 {
            return found;
        }
        for depth in 2..=PLY_MAX {
            if !self.deepen(&mut first, depth, &mut found, budget)
                || found.value.abs() >= WON / 2
                || budget.is_half_spent()
            {
                break;
            }
        }
        found
    }

    /// One iteration over the actions of the first ply; false when the budget ran out.
    fn deepen<B: Board>(
        &mut self,
        first: &mut [First<B>],
        depth: usize,
        found: &mut Found,
        budget: &mut Budget,
    ) -> bool {
        let mut alpha = -2 * WON;
        for place in 0..first.len() {
            let First { board: next, cost, .. } = &first[place];
            let (next, cost) = (next.clone(), *cost);
            let depth = depth - 1;
            let window = (alpha + cost, if place == 0 { 2 * WON } else { alpha + cost + 1 });
            let Some(mut value) = self.after(&next, depth, window, budget) else { return false };
            if place > 0 && value - cost > alpha {
                let window = (alpha + cost, 2 * WON);
                let Some(exact) = self.after(&next, depth, window, budget) else { return false };
                value = exact;
            }
            value -= cost;
            if value > alpha {
                alpha = value;
                // What is better at this depth counts even if the depth isn't finished: the best
                // of the depth before has been looked at first.
                *found = Found { index: first[place].index, value, depth: depth + 1 };
                first[..=place].rotate_right(1);
            }
        }
        true
    }

    /// The value of a position after the first ply, to the searching seat.
    fn after<B: Board>(
        &mut self,
        next: &B,
        depth: usize,
        (alpha, beta): (i32, i32),
        budget: &mut Budget,
    ) -> Option<i32> {
        if next.mover() == self.seat {
            self.value(next, depth, 1, (alpha, beta), budget)
        } else {
            self.value(next, depth, 1, (-beta, -alpha), budget).map(|value| -value)
        }
    }

    /// The actions with the boards that they lead to, the most promising first.
    fn first_ply<B: Board>(
        &self,
        board: &B,
        actions: &[Move],
        been: impl Fn(u64) -> usize,
    ) -> Vec<First<B>> {
        let mut first: Vec<First<B>> = (0..)
            .zip(actions)
            .map(|(index, &action)| {
                let mut next = board.clone();
                next.play(action);
                let cost = B::REPEATING * i32::try_from(been(next.key())).unwrap_or(1);
                let promise = match next.ending() {
                    Some(ending) => self.ended(ending, 1),
                    None => next.standing(self.seat) - cost,
                };
                First { index, board: next, promise, cost }
            })
            .collect();
        first.sort_by_key(|entry| -entry.promise);
        first
    }

    /// What an ending is worth to the searching seat: a win is better the sooner it comes.
    fn ended(&self, ending: Ending, ply: usize) -> i32 {
        let ply = i32::try_from(ply).unwrap_or(i32::MAX);
        match ending {
            Ending::Won(seat) if seat == self.seat => WON - ply,
            Ending::Won(_) => ply - WON,
            Ending::Drawn => 0,
        }
    }

    /// The value of a position to the side that is to move: the searching seat, or all others
    /// together. Exact within the window. None when the budget ran out.
    fn value<B: Board>(
        &mut self,
        board: &B,
        depth: usize,
        ply: usize,
        (mut alpha, beta): (i32, i32),
        budget: &mut Budget,
    ) -> Option<i32> {
        let own = board.mover() == self.seat;
        let factor = if own { 1 } else { -1 };
        if let Some(ending) = board.ending() {
            return Some(factor * self.ended(ending, ply));
        }
        if !budget.spend() {
            return None;
        }
        if depth == 0 || ply >= PLY_MAX {
            return Some(factor * board.standing(self.seat));
        }
        let key = board.key() ^ self.salt;
        let known = self.table.get(key);
        if let Some(value) = known.and_then(|entry| entry.answer(depth, alpha, beta)) {
            return Some(value);
        }
        let list = self.ordered(board, ply, known.map(|entry| entry.action));
        let (before, mut best, mut best_action) = (alpha, -2 * WON, Move::default());
        for (place, &(_, action)) in list.iter().enumerate() {
            let mut next = board.clone();
            next.play(action);
            let flips = (next.mover() == self.seat) != own;
            let value =
                self.child(&next, (depth, ply, place), flips, (alpha.max(best), beta), budget)?;
            if value > best {
                (best, best_action) = (value, action);
            }
            alpha = alpha.max(best);
            if alpha >= beta {
                self.record_cutoff(action, ply, depth);
                break;
            }
        }
        self.lists.push(list);
        let bound = match best {
            _ if best >= beta => Bound::AtLeast,
            _ if best <= before => Bound::AtMost,
            _ => Bound::Exact,
        };
        self.table.put(key, Entry::new(best, depth, bound, best_action));
        Some(best)
    }

    /// The value of what an action leads to, to the side that played it: with a window of nothing
    /// first, and late in the order with less depth too.
    fn child<B: Board>(
        &mut self,
        next: &B,
        (depth, ply, place): (usize, usize, usize),
        flips: bool,
        (alpha, beta): (i32, i32),
        budget: &mut Budget,
    ) -> Option<i32> {
        let mut look = |depth: usize, alpha: i32, beta: i32| {
            if flips {
                self.value(next, depth, ply + 1, (-beta, -alpha), budget).map(|value| -value)
            } else {
                self.value(next, depth, ply + 1, (alpha, beta), budget)
            }
        };
        if place == 0 {
            return look(depth - 1, alpha, beta);
        }
        let reduction = usize::from(place >= LATE && depth >= 3);
        let mut value = look(depth - 1 - reduction, alpha, alpha + 1)?;
        if value > alpha && reduction > 0 {
            value = look(depth - 1, alpha, alpha + 1)?;
        }
        if value > alpha && value < beta {
            value = look(depth - 1, alpha, beta)?;
        }
        Some(value)
    }

    /// The actions to follow, the most promising first: what the table knows, killers, and what
    /// board and history say.
    fn ordered<B: Board>(
        &mut self,
        board: &B,
        ply: usize,
        known: Option<Move>,
    ) -> Vec<(i32, Move)> {
        let mut list = self.lists.pop().unwrap_or_default();
        list.clear();
        board.list(&mut list);
        for (promise, action) in &mut list {
            *promise += if Some(*action) == known {
                WON
            } else if self.killers[ply].contains(action) {
                WON / 4
            } else {
                self.history[action.slot()].min(WON / 8) / 16
            };
        }
        list.sort_by_key(|&(promise, _)| -promise);
        list.truncate(B::BREADTH);
        list
    }

    fn record_cutoff(&mut self, action: Move, ply: usize, depth: usize) {
        let killers = &mut self.killers[ply];
        if killers[0] != action {
            *killers = [action, killers[0]];
        }
        let count = &mut self.history[action.slot()];
        *count = count.saturating_add(i32::try_from(depth * depth).unwrap_or(0));
    }
}

/// An action of the first ply.
struct First<B> {
    /// Its index in the list of actions.
    index: usize,
    /// What it leads to.
    board: B,
    promise: i32,
    /// What repeating a position costs, where it does.
    cost: i32,
}
