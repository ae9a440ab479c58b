//! Plans for games of one seat: two searches that never look at the same position twice and stop
//! after a fixed number of positions, so that a plan depends on nothing but the position.

use crate::same::key;
use crate::worth::worth;
use referee_games::{Game, Turn};
use referee_protocol::Seat;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// The positions that [`best_first`] looks at before it gives up: a second at most, and well below
/// 200 MB in every game here.
const BEST_FIRST_MAX: usize = 100_000;
/// How many positions each try of [`shortest`] keeps of every length.
const WIDTHS: [usize; 3] = [60, 600, 6_000];
/// The positions that all tries of [`shortest`] may look at together.
const SHORTEST_MAX: usize = 150_000;

/// The one seat of a puzzle.
const ALONE: Seat = Seat(0);

/// What a search found to do.
pub(crate) struct Plan<A> {
    /// The puzzle is then solved.
    pub(crate) solved: bool,
    /// The actions from the position that was asked about to an end; none if no end was met.
    pub(crate) actions: Vec<A>,
}

/// Follows the best estimate, wherever in the tree it stands, to a solution: soon found, seldom
/// short. Without one, the way to the best end that was met.
pub(crate) fn best_first<G: Game>(start: &G) -> Plan<G::Action> {
    let mut tree = Tree::new();
    let mut seen = HashSet::from([key(start)]);
    let mut best_end: Option<(i64, Step)> = None;
    let mut games: Vec<Option<G>> = Vec::new();
    // The estimate first, then the position that was met first.
    let mut open: BinaryHeap<(i64, Reverse<usize>)> = BinaryHeap::new();
    let mut from = (start.clone(), None);
    loop {
        let (game, step) = from;
        for action in game.actions() {
            let mut next = game.clone();
            next.play_listed(&action);
            if !seen.insert(key(&next)) {
                continue;
            }
            let next_step = tree.grow(step, action);
            let value = worth(&next, ALONE);
            if matches!(next.turn(), Turn::Over(_)) {
                if best_end.is_none_or(|(best, _)| value > best) {
                    best_end = Some((value, next_step));
                }
                if value > 0 {
                    return Plan { solved: true, actions: tree.way_to(next_step) };
                }
                games.push(None);
            } else {
                open.push((value, Reverse(next_step)));
                games.push(Some(next));
            }
        }
        if seen.len() > BEST_FIRST_MAX {
            break;
        }
        let Some((_, Reverse(step))) = open.pop() else { break };
        let game = games[step].take().expect("each position is opened once");
        from = (game, Some(step));
    }
    let actions = best_end.map_or_else(Vec::new, |(_, step)| tree.way_to(step));
    Plan { solved: false, actions }
}

/// Looks at all positions one action away, then two, and so on, keeping only so many of the best of
/// each, then tries again keeping more: the first solution of a try is its shortest. A try that
/// never had to drop a position proves that there is none shorter. Without a solution, the way to
/// the best end that was met.
pub(crate) fn shortest<G: Game>(start: &G) -> Plan<G::Action> {
    let mut best: Option<(i64, Vec<G::Action>)> = None;
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
        if beam.complete || looked >= SHORTEST_MAX {
            break;
        }
    }
    match best {
        Some((value, actions)) => Plan { solved: value > 0, actions },
        None => Plan { solved: false, actions: Vec::new() },
    }
}

/// What came of one try.
struct Beam<A> {
    /// The best end, and the way there.
    end: Option<(i64, Vec<A>)>,
    /// No position was dropped.
    complete: bool,
}

/// One try of [`shortest`]: at most `width` positions of each length, for solutions shorter than
/// `below`. Counts the positions in `looked`, and stops at [`SHORTEST_MAX`].
fn beam<G: Game>(start: &G, width: usize, below: usize, looked: &mut usize) -> Beam<G::Action> {
    let mut tree = Tree::new();
    let mut seen = HashSet::from([key(start)]);
    let mut best_end: Option<(i64, Step)> = None;
    let mut complete = true;
    let mut level: Vec<(G, Option<Step>)> = vec![(start.clone(), None)];
    let mut length = 0;
    'levels: while !level.is_empty() {
        length += 1;
        if length >= below {
            break;
        }
        let mut found: Vec<(i64, Step, G)> = Vec::new();
        for (game, step) in level {
            if *looked >= SHORTEST_MAX {
                complete = false;
                break 'levels;
            }
            for action in game.actions() {
                let mut next = game.clone();
                next.play_listed(&action);
                *looked += 1;
                if !seen.insert(key(&next)) {
                    continue;
                }
                let next_step = tree.grow(step, action);
                let value = worth(&next, ALONE);
                if matches!(next.turn(), Turn::Over(_)) {
                    if best_end.is_none_or(|(best, _)| value > best) {
                        best_end = Some((value, next_step));
                    }
                    if value > 0 {
                        break 'levels;
                    }
                } else {
                    found.push((value, next_step, next));
                }
            }
        }
        if found.len() > width {
            complete = false;
            found.sort_by_key(|&(value, step, _)| (Reverse(value), step));
            found.truncate(width);
        }
        level = found.into_iter().map(|(_, step, game)| (game, Some(step))).collect();
    }
    Beam { end: best_end.map(|(value, step)| (value, tree.way_to(step))), complete }
}

/// A position in a [`Tree`].
type Step = usize;

/// How each position was reached.
struct Tree<A> {
    steps: Vec<(Option<Step>, A)>,
}

impl<A: Clone> Tree<A> {
    fn new() -> Self {
        Self { steps: Vec::new() }
    }

    /// Adds the position that `action` leads to; `from` is none at the start.
    fn grow(&mut self, from: Option<Step>, action: A) -> Step {
        self.steps.push((from, action));
        self.steps.len() - 1
    }

    fn way_to(&self, step: Step) -> Vec<A> {
        let mut way = Vec::new();
        let mut at = Some(step);
        while let Some(step) = at {
            let (from, action) = &self.steps[step];
            way.push(action.clone());
            at = *from;
        }
        way.reverse();
        way
    }
}
