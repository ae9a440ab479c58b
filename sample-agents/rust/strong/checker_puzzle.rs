//! The checker puzzle, planned whole before the first move.
//!
//! A beam search soon finds a way; then, on boards of up to 64 cells, breadth first from both ends
//! proves length after length that there is no shorter one, or finds it. Moves can be taken back and
//! the goal is the start seen from the other end, so one search is both: the two halves meet where a
//! position equals another one turned round. Positions that need more moves than the length allows
//! are left out. On larger boards, from other positions than the start, and when time or memory run
//! out, the beam gets wider instead.

use crate::Cells;
use crate::beam::{Found, keep, trace};
use crate::budget::Budget;
use crate::diamond::Diamond;
use crate::player::{Choice, Clock, Player};
use referee_games::Game;
use referee_games::checker_puzzle::{Action, CheckerPuzzle};
use serde_json::json;
use std::collections::{HashSet, VecDeque};

/// The first beam's width on boards of up to 64 cells and on larger ones, and by how much each one
/// is wider than the one before.
const WIDTH: [usize; 2] = [200, 10];
const WIDER: usize = 4;
/// No beam is wider.
const WIDTH_MAX: usize = 30_000;
/// The positions that a breadth-first layer may have, and those that are sorted at a time.
const LAYER_MAX: usize = 4_000_000;
const BATCH: usize = 3_000_000;
/// How the budget is shared, in hundredths: so much for the first beams, and so much of the rest
/// for proofs.
const FIRST_BEAMS: u32 = 20;
const PROOFS: u32 = 70;

/// A move: from where to where.
type Move = (usize, usize);

pub(crate) struct Solver {
    /// What is left of the plan, each move with what is known of the plan's length.
    plan: VecDeque<Move>,
    note: &'static str,
}

impl Player for Solver {
    type Game = CheckerPuzzle;

    fn start(_game: &CheckerPuzzle, _seat: usize, _seed: u64) -> Self {
        Self { plan: VecDeque::new(), note: "" }
    }

    fn choose(
        &mut self,
        game: &CheckerPuzzle,
        actions: &[Action],
        clock: &Clock<'_>,
    ) -> Option<Choice<Action>> {
        let mut budget = clock.policy.plan(clock.begun, clock.left_ms);
        let size = usize::try_from(game.setup().size).expect("at most 26");
        if self.plan.is_empty() {
            let plan = if size * size <= 64 {
                plan::<1>(game, &mut budget)
            } else {
                plan::<11>(game, &mut budget)
            };
            (self.plan, self.note) = (plan.moves.into(), plan.note);
        }
        let text = format!("{} moves to go{}", self.plan.len(), self.note);
        let (from, to) = self.plan.pop_front()?;
        let at = |cell: usize| {
            [cell / size, cell % size].map(|along| i64::try_from(along).expect("at most 26"))
        };
        let wanted = |action: &&Action| {
            let Action::Move { path } = action;
            path.first() == Some(&at(from)) && path.last() == Some(&at(to))
        };
        let action = actions.iter().find(wanted)?.clone();
        Some(Choice { action, info: json!({"nodes": budget.spent, "text": text}) })
    }
}

/// A way to the goal, or as far towards it as was found.
struct Plan {
    moves: Vec<Move>,
    note: &'static str,
}

fn plan<const WORDS: usize>(game: &CheckerPuzzle, budget: &mut Budget) -> Plan {
    let position = game.position();
    let wide = |number: u64| usize::try_from(number).expect("at most 26");
    let size = wide(position.size);
    let diamond = Diamond::<WORDS>::new(size, wide(position.depth));
    let cell = |[row, column]: [i64; 2]| {
        let index = row * i64::try_from(size).expect("at most 26") + column;
        usize::try_from(index).expect("a cell of the board")
    };
    let pieces: Cells<WORDS> = position.pieces.iter().map(|&at| cell(at)).collect();
    let mut beams = budget.part(FIRST_BEAMS);
    let mut width = WIDTH[usize::from(WORDS > 1)];
    let mut best = widen(&diamond, &pieces, None, &mut width, &mut beams);
    budget.merge(&beams);
    if WORDS == 1 && pieces == diamond.turned(&diamond.goal) {
        let shortest = best.is_solved.then_some(best.moves.len());
        let mut proofs = budget.part(PROOFS);
        let proved = Proof { diamond: &diamond, start: pieces }.shortest(shortest, &mut proofs);
        budget.merge(&proofs);
        match proved {
            Proved::Shorter(moves) => {
                return Plan { moves, note: ", which is proved to be the fewest" };
            }
            Proved::Shortest => {
                return Plan { moves: best.moves, note: ", which is proved to be the fewest" };
            }
            Proved::Unknown => {}
        }
    }
    let known = best.is_solved.then_some(best.moves.len());
    let wider = widen(&diamond, &pieces, known, &mut width, budget);
    if wider.is_solved || !best.is_solved && !wider.moves.is_empty() {
        best = wider;
    }
    let note = if best.is_solved { "" } else { " so far" };
    Plan { moves: best.moves, note }
}

/// What came of a beam search.
struct Way {
    is_solved: bool,
    moves: Vec<Move>,
}

/// Beams, each wider than the one before, for ways shorter than `known`, until the budget is spent
/// or a beam drops nothing.
fn widen<const WORDS: usize>(
    diamond: &Diamond<WORDS>,
    start: &Cells<WORDS>,
    known: Option<usize>,
    width: &mut usize,
    budget: &mut Budget,
) -> Way {
    let mut best = Way { is_solved: false, moves: Vec::new() };
    let mut below = known.unwrap_or(usize::MAX);
    while *width <= WIDTH_MAX {
        let way = beam(diamond, start, *width, below, budget);
        if way.is_solved {
            below = way.moves.len();
            best = way;
        } else if !best.is_solved && best.moves.is_empty() {
            best = way;
        }
        if budget.is_half_spent() {
            break;
        }
        *width *= WIDER;
    }
    best
}

/// All positions one move away, then two, and so on, but of each only the best `width`.
fn beam<const WORDS: usize>(
    diamond: &Diamond<WORDS>,
    start: &Cells<WORDS>,
    width: usize,
    below: usize,
    budget: &mut Budget,
) -> Way {
    let mut tree: Vec<(u32, Move)> = Vec::new();
    let mut level: Vec<(u32, Cells<WORDS>)> = vec![(u32::MAX, *start)];
    // What the level before kept: moves can be taken back.
    let mut before: HashSet<u64> = HashSet::new();
    let mut nearest = (i32::MAX, u32::MAX);
    for length in 1..below {
        let own = level.iter().map(|(_, pieces)| diamond.either(pieces).mark());
        let own: HashSet<u64> = own.collect();
        let mut seen: HashSet<u64> = own.union(&before).copied().collect();
        let mut found: Vec<Found<Move, WORDS>> = Vec::new();
        for (from, pieces) in &level {
            if !budget.spend() {
                return Way { is_solved: false, moves: trace(&tree, nearest.1) };
            }
            diamond.each_move(pieces, |next, start, end| {
                if length + diamond.least(&next) < below
                    && seen.insert(diamond.either(&next).mark())
                {
                    found.push((lacking(diamond, &next), *from, (start, end), next));
                }
            });
            if found.len() > 4 * width {
                keep(&mut found, width);
            }
        }
        keep(&mut found, width);
        if found.is_empty() {
            break;
        }
        before = own;
        level.clear();
        for (lacking, from, step, pieces) in found {
            let place = u32::try_from(tree.len()).expect("beams are bounded");
            tree.push((from, step));
            if pieces == diamond.goal {
                return Way { is_solved: true, moves: trace(&tree, place) };
            }
            nearest = nearest.min((lacking, place));
            level.push((place, pieces));
        }
    }
    Way { is_solved: false, moves: trace(&tree, nearest.1) }
}

/// How far the pieces are from the goal: the rows still to climb, where those far behind count
/// most, and those to the side.
fn lacking<const WORDS: usize>(diamond: &Diamond<WORDS>, pieces: &Cells<WORDS>) -> i32 {
    let rows = |set: &Cells<WORDS>| {
        let mut rows: Vec<i32> = set.iter().map(|cell| diamond.drawn(cell).0).collect();
        rows.sort_unstable();
        rows
    };
    let goal = &diamond.goal;
    let climbs = rows(pieces).into_iter().zip(rows(goal)).map(|(row, goal)| (row - goal).abs());
    let climb: i32 = climbs.map(|rows| 4 * rows + rows * rows).sum();
    let aside = |cell: usize| 2 + diamond.drawn(cell).1;
    climb + pieces.without(*goal).iter().map(aside).sum::<i32>()
}

/// The search from both ends.
struct Proof<'a, const WORDS: usize> {
    diamond: &'a Diamond<WORDS>,
    start: Cells<WORDS>,
}

enum Proved<M> {
    /// This is a way as short as any.
    Shorter(M),
    /// The length that was known is the shortest.
    Shortest,
    /// Time or memory ran out.
    Unknown,
}

/// The positions of each distance from one end, those of one distance sorted.
type Layers<const WORDS: usize> = Vec<Vec<Cells<WORDS>>>;

impl<const WORDS: usize> Proof<'_, WORDS> {
    /// Looks for ways of every length from the least possible one on, up to what is known.
    fn shortest(&self, known: Option<usize>, budget: &mut Budget) -> Proved<Vec<Move>> {
        let least = self.diamond.least(&self.start).max(1);
        for length in least.. {
            if known == Some(length) {
                return Proved::Shortest;
            }
            match self.of_length(length, budget) {
                Proved::Shorter(way) => return Proved::Shorter(self.lift(&way)),
                Proved::Shortest => {}
                Proved::Unknown => return Proved::Unknown,
            }
        }
        Proved::Unknown
    }

    /// A way of just this length as classes of mirror images, when there is no shorter one.
    fn of_length(&self, length: usize, budget: &mut Budget) -> Proved<Vec<Cells<WORDS>>> {
        let diamond = self.diamond;
        let half = length / 2;
        let Some(layers) = self.layers(half, length, budget) else { return Proved::Unknown };
        let Some(last) = layers.get(half) else { return Proved::Shortest };
        // A position as seen from the goal.
        let seen = |pieces: &Cells<WORDS>| diamond.either(&diamond.turned(pieces));
        let meets = |pieces: &Cells<WORDS>| last.binary_search(&seen(pieces)).is_ok();
        let mut meeting = None;
        for pieces in last {
            if length.is_multiple_of(2) {
                if meets(pieces) {
                    meeting = Some((*pieces, *pieces));
                }
            } else {
                if !budget.spend() {
                    return Proved::Unknown;
                }
                diamond.each_move(pieces, |next, _, _| {
                    if meeting.is_none() && meets(&next) {
                        meeting = Some((*pieces, next));
                    }
                });
            }
            if meeting.is_some() {
                break;
            }
        }
        let Some((here, there)) = meeting else { return Proved::Shortest };
        let mut way = self.back(&layers, diamond.either(&here));
        way.reverse();
        let rest = self.back(&layers, seen(&there));
        let skip = usize::from(length.is_multiple_of(2));
        way.extend(rest.iter().skip(skip).map(seen));
        Proved::Shorter(way)
    }

    /// The positions up to `distance` from the start that can lie on a way of `length` to the goal.
    fn layers(&self, distance: usize, length: usize, budget: &mut Budget) -> Option<Layers<WORDS>> {
        let mut layers: Layers<WORDS> = vec![vec![self.diamond.either(&self.start)]];
        for done in 1..=distance {
            let mut next: Vec<Cells<WORDS>> = Vec::new();
            let mut batch: Vec<Cells<WORDS>> = Vec::new();
            let last = &layers[done - 1];
            for pieces in last {
                if !budget.spend() {
                    return None;
                }
                self.diamond.each_move(pieces, |moved, _, _| {
                    if done + self.diamond.least(&moved) <= length {
                        batch.push(self.diamond.either(&moved));
                    }
                });
                if batch.len() >= BATCH {
                    gather(&mut next, &mut batch, &layers);
                    if next.len() > LAYER_MAX {
                        return None;
                    }
                }
            }
            gather(&mut next, &mut batch, &layers);
            if next.is_empty() {
                break;
            }
            layers.push(next);
        }
        Some(layers)
    }

    /// The positions from this one, which is in the last layer, back to the first.
    fn back(&self, layers: &Layers<WORDS>, last: Cells<WORDS>) -> Vec<Cells<WORDS>> {
        let mut way = vec![last];
        let place = layers.iter().rposition(|layer| layer.binary_search(&last).is_ok());
        for layer in layers[..place.unwrap_or(0)].iter().rev() {
            let mut before = None;
            let here = way[way.len() - 1];
            self.diamond.each_move(&here, |moved, _, _| {
                let class = self.diamond.either(&moved);
                if before.is_none() && layer.binary_search(&class).is_ok() {
                    before = Some(class);
                }
            });
            way.extend(before);
        }
        way
    }

    /// Real moves along a way of classes.
    fn lift(&self, way: &[Cells<WORDS>]) -> Vec<Move> {
        let mut pieces = self.start;
        let mut steps = Vec::new();
        for class in &way[1..] {
            let mut step = None;
            self.diamond.each_move(&pieces, |moved, from, to| {
                if step.is_none() && self.diamond.either(&moved) == *class {
                    step = Some((moved, (from, to)));
                }
            });
            let Some((next, step)) = step else { break };
            pieces = next;
            steps.push(step);
        }
        steps
    }
}

/// Adds a batch to a layer: sorted, each position once, and none that is in the two layers before,
/// where all others are that a move can lead back to.
fn gather<const WORDS: usize>(
    layer: &mut Vec<Cells<WORDS>>,
    batch: &mut Vec<Cells<WORDS>>,
    before: &Layers<WORDS>,
) {
    batch.sort_unstable();
    batch.dedup();
    let known = |pieces: &Cells<WORDS>| {
        let mut two = before.iter().rev().take(2);
        two.any(|layer| layer.binary_search(pieces).is_ok())
    };
    batch.retain(|pieces| layer.binary_search(pieces).is_err() && !known(pieces));
    layer.append(batch);
    // Two sorted runs, which this sort merges.
    layer.sort();
}

#[cfg(test)]
mod tests {
    use super::plan;
    use crate::budget::TimePolicy;
    use referee_games::Game;
    use referee_games::checker_puzzle::CheckerPuzzle;
    use referee_protocol::ClockSettings;
    use serde_json::json;
    use std::time::Instant;

    /// The fewest moves by size and depth, as the pages on the games give them.
    #[test]
    fn the_fewest_moves_are_found_and_proved() {
        for (size, depth, fewest) in [
            (3, 2, 5),
            (3, 3, 4),
            (3, 4, 2),
            (4, 2, 8),
            (4, 3, 8),
            (4, 4, 9),
            (5, 2, 11),
            (5, 3, 11),
        ] {
            let setup = serde_json::from_value(json!({"size": size, "depth": depth})).unwrap();
            let game = CheckerPuzzle::start(setup).unwrap();
            let policy = TimePolicy { nodes: Some(2_000_000), clock: ClockSettings::default() };
            let plan = plan::<1>(&game, &mut policy.plan(Instant::now(), None));
            assert_eq!(plan.moves.len(), fewest, "{size} {depth}");
            assert!(plan.note.contains("proved"), "{size} {depth}: {}", plan.note);
        }
    }
}
