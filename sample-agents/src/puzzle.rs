//! Plans for games of one seat: two searches that never look at the same position twice and stop
//! after a fixed number of positions, so that a plan depends on nothing but the position.

use crate::board::Board;
use crate::evaluation::evaluate;
use crate::position_key::position_key;
use referee_games::Turn;
use referee_protocol::Seat;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The number of positions of a built-in game that [`best_first`] searches before it gives up: at most a second, and well
/// below 200 MB in every game here.
const BEST_FIRST_MAX: usize = 100_000;
/// The number of positions that each attempt of [`shortest`] keeps of every length.
const WIDTHS: [usize; 3] = [60, 600, 6_000];
/// The number of positions that all attempts of [`shortest`] may search together.
const SHORTEST_MAX: usize = 150_000;

/// The one seat of a puzzle.
const ALONE: Seat = Seat(0);

pub(crate) struct Plan<A> {
    /// Whether the actions solve the puzzle.
    pub(crate) solved: bool,
    /// The actions from the start position to an end; empty if no end was found.
    pub(crate) actions: Vec<A>,
}

/// Searches best first by the estimate: finds a solution soon, but seldom a short one. Without a
/// solution, returns the path to the best end.
pub(crate) fn best_first<B: Board>(start: &B) -> Plan<B::Action> {
    let mut search = Search::new(start, 0);
    let mut games: HashMap<Step, B> = HashMap::new();
    // By the estimate, then by the order of discovery.
    let mut open: BinaryHeap<(i64, Reverse<Step>)> = BinaryHeap::new();
    let mut from = (start.clone(), None);
    loop {
        let (game, step) = from;
        for (value, step, next) in search.expand(&game, step) {
            open.push((value, Reverse(step)));
            games.insert(step, next);
        }
        if search.is_solved() || search.seen.len() > BEST_FIRST_MAX / B::COST {
            break;
        }
        let Some((_, Reverse(step))) = open.pop() else { break };
        let game = games.remove(&step).expect("each position is opened once");
        from = (game, Some(step));
    }
    let solved = search.is_solved();
    Plan { solved, actions: search.end().map_or_else(Vec::new, |(_, way)| way) }
}

/// Runs beam searches of growing width. The first solution of an attempt is its shortest, and an
/// attempt that drops no position proves that none is shorter. Without a solution, returns the path to
/// the best end.
pub(crate) fn shortest<B: Board>(start: &B) -> Plan<B::Action> {
    let mut best: Option<(i64, Vec<B::Action>)> = None;
    let mut looked = 0;
    for width in WIDTHS {
        let solved_in = best.as_ref().filter(|(value, _)| *value > 0).map(|(_, way)| way.len());
        let beam = beam(start, width, solved_in.unwrap_or(usize::MAX), &mut looked);
        if let Some((value, way)) = beam.end {
            let better = best.as_ref().is_none_or(|(best_value, best_way)| {
                let solved = *best_value > 0;
                if solved { value > 0 && way.len() < best_way.len() } else { value > *best_value }
            });
            if better {
                best = Some((value, way));
            } else if solved_in.is_some() {
                break;
            }
        }
        if beam.complete || looked >= SHORTEST_MAX / B::COST {
            break;
        }
    }
    match best {
        Some((value, actions)) => Plan { solved: value > 0, actions },
        None => Plan { solved: false, actions: Vec::new() },
    }
}

/// The result of one attempt.
struct Beam<A> {
    /// The best end, and the path to it.
    end: Option<(i64, Vec<A>)>,
    /// Whether no position was dropped.
    complete: bool,
}

/// Runs one attempt of [`shortest`] with at most `width` positions of each length, for solutions shorter
/// than `below`. Counts the positions in `looked` and stops at [`SHORTEST_MAX`].
fn beam<B: Board>(start: &B, width: usize, below: usize, looked: &mut usize) -> Beam<B::Action> {
    let mut search = Search::new(start, *looked);
    let mut complete = true;
    let mut level: Vec<(B, Option<Step>)> = vec![(start.clone(), None)];
    let mut length = 0;
    'levels: while !level.is_empty() {
        length += 1;
        if length >= below {
            break;
        }
        let mut found: Vec<(i64, Step, B)> = Vec::new();
        for (game, step) in level {
            if search.looked >= SHORTEST_MAX / B::COST {
                complete = false;
                break 'levels;
            }
            found.extend(search.expand(&game, step));
            if search.is_solved() {
                break 'levels;
            }
        }
        if found.len() > width {
            complete = false;
            found.sort_by_key(|&(value, step, _)| (Reverse(value), step));
            found.truncate(width);
        }
        level = found.into_iter().map(|(_, step, game)| (game, Some(step))).collect();
    }
    *looked = search.looked;
    Beam { end: search.end(), complete }
}

/// A position that a [`Search`] found, by the order of discovery.
type Step = usize;

/// The positions found so far.
struct Search<B: Board> {
    /// By position: its predecessor (`None` for the start) and the action from it.
    steps: Vec<(Option<Step>, B::Action)>,
    seen: HashSet<String>,
    /// The value of the best end.
    best_end: Option<(i64, Step)>,
    /// The number of positions searched.
    looked: usize,
}

impl<B: Board> Search<B> {
    fn new(start: &B, looked: usize) -> Self {
        Self {
            steps: Vec::new(),
            seen: HashSet::from([position_key(start)]),
            best_end: None,
            looked,
        }
    }

    /// Returns the new positions one action further in which the game is not over, each with its value.
    /// Stops at a solution.
    fn expand(&mut self, game: &B, from: Option<Step>) -> Vec<(i64, Step, B)> {
        let mut found = Vec::new();
        for action in game.actions() {
            let mut next = game.clone();
            next.play_listed(&action);
            self.looked += 1;
            if !self.seen.insert(position_key(&next)) {
                continue;
            }
            let step = self.steps.len();
            self.steps.push((from, action));
            let value = evaluate(&next, ALONE);
            if !matches!(next.turn(), Turn::Over(_)) {
                found.push((value, step, next));
                continue;
            }
            if self.best_end.is_none_or(|(best, _)| value > best) {
                self.best_end = Some((value, step));
            }
            if value > 0 {
                break;
            }
        }
        found
    }

    fn is_solved(&self) -> bool {
        self.best_end.is_some_and(|(value, _)| value > 0)
    }

    /// Returns the best end, and the path to it.
    fn end(&self) -> Option<(i64, Vec<B::Action>)> {
        let (value, step) = self.best_end?;
        let mut way = Vec::new();
        let mut at = Some(step);
        while let Some(step) = at {
            let (from, action) = &self.steps[step];
            way.push(action.clone());
            at = *from;
        }
        way.reverse();
        Some((value, way))
    }
}
