//! Plans for games of one seat: two searches that never look at the same position twice and stop
//! after a fixed number of positions, so that a plan depends on nothing but the position.

use crate::same::key;
use crate::worth::worth;
use referee_games::{Game, Turn};
use referee_protocol::Seat;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

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
    let mut search = Search::new(start, 0);
    let mut games: HashMap<Step, G> = HashMap::new();
    // The estimate first, then the position that was met first.
    let mut open: BinaryHeap<(i64, Reverse<Step>)> = BinaryHeap::new();
    let mut from = (start.clone(), None);
    loop {
        let (game, step) = from;
        for (value, step, next) in search.expand(&game, step) {
            open.push((value, Reverse(step)));
            games.insert(step, next);
        }
        if search.is_solved() || search.seen.len() > BEST_FIRST_MAX {
            break;
        }
        let Some((_, Reverse(step))) = open.pop() else { break };
        let game = games.remove(&step).expect("each position is opened once");
        from = (game, Some(step));
    }
    let solved = search.is_solved();
    Plan { solved, actions: search.end().map_or_else(Vec::new, |(_, way)| way) }
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
    let mut search = Search::new(start, *looked);
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
            if search.looked >= SHORTEST_MAX {
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

/// A position that a [`Search`] has met, by when it did.
type Step = usize;

/// The positions that were met.
struct Search<G: Game> {
    /// How each position was reached: from which one, none being the start, and by which action.
    steps: Vec<(Option<Step>, G::Action)>,
    seen: HashSet<String>,
    /// What the best end is worth.
    best_end: Option<(i64, Step)>,
    /// How many positions were looked at.
    looked: usize,
}

impl<G: Game> Search<G> {
    fn new(start: &G, looked: usize) -> Self {
        Self { steps: Vec::new(), seen: HashSet::from([key(start)]), best_end: None, looked }
    }

    /// The positions one action further that weren't met before and where the game goes on, each
    /// with its worth. Stops at a solution.
    fn expand(&mut self, game: &G, from: Option<Step>) -> Vec<(i64, Step, G)> {
        let mut found = Vec::new();
        for action in game.actions() {
            let mut next = game.clone();
            next.play_listed(&action);
            self.looked += 1;
            if !self.seen.insert(key(&next)) {
                continue;
            }
            let step = self.steps.len();
            self.steps.push((from, action));
            let value = worth(&next, ALONE);
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

    /// The best end, and the way there.
    fn end(&self) -> Option<(i64, Vec<G::Action>)> {
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
