//! Peg Solitaire, planned whole before the first jump.
//!
//! Every jump takes one peg, so positions fall into layers by their pegs. From the wanted ends all
//! layers are made backwards while they are few enough; from the start a beam goes forwards that
//! keeps the most promising positions of each layer. Where a layer backwards contains a position of
//! the beam, the puzzle is solved; where the layers backwards reach the start's number of pegs
//! completely, they decide whether it can be solved. If it can't, the plan leaves as few pegs as the
//! beams find.

use crate::Cells;
use crate::beam::{Found, keep, trace};
use crate::budget::Budget;
use crate::pegs::{Board, Jump};
use crate::player::{Choice, Clock, Player};
use referee_games::Game;
use referee_games::board::Shape;
use referee_games::peg_solitaire::{Action, Finish, PegSolitaire, Position};
use serde_json::json;
use std::collections::{HashSet, VecDeque};

/// The words of the positions that the layers backwards may have together.
const BACKWARDS_MAX: usize = 3_000_000;
/// The hundredths of the budget that they may take.
const BACKWARDS_PART: u32 = 30;
/// From where to where.
type FromTo = ([i64; 2], [i64; 2]);
/// The first beam's width, and by how much each one is wider than the one before.
const WIDTH: usize = 300;
const WIDER: usize = 6;
/// No beam is wider.
const WIDTH_MAX: usize = 65_000;

pub(crate) struct Solver {
    /// The jumps of the plan, from where to where.
    plan: VecDeque<FromTo>,
    note: String,
}

impl Player for Solver {
    type Game = PegSolitaire;

    fn start(_game: &PegSolitaire, _seat: usize, _seed: u64) -> Self {
        Self { plan: VecDeque::new(), note: String::new() }
    }

    fn choose(
        &mut self,
        game: &PegSolitaire,
        actions: &[Action],
        clock: &Clock<'_>,
    ) -> Option<Choice<Action>> {
        let mut budget = clock.policy.plan(clock.begun, clock.left_ms);
        let wanted = |solver: &Self| {
            let &(from, to) = solver.plan.front()?;
            actions.iter().find(|action| **action == Action::Jump { from, to }).cloned()
        };
        let mut action = wanted(self);
        if action.is_none() {
            let position = game.position();
            let (plan, left) = if shape(&position).cells().len() <= 64 {
                plan::<1>(game, &position, &mut budget)
            } else {
                plan::<3>(game, &position, &mut budget)
            };
            self.plan = plan.into();
            self.note = format!("{left} pegs are to be left");
            action = wanted(self);
        }
        self.plan.pop_front();
        Some(Choice { action: action?, info: json!({"nodes": budget.spent, "text": self.note}) })
    }
}

fn shape(position: &Position) -> Shape {
    position.shape.of(u8::try_from(position.size).expect("at most 12"))
}

/// The jumps to take, and how many pegs are then left.
fn plan<const WORDS: usize>(
    game: &PegSolitaire,
    position: &Position,
    budget: &mut Budget,
) -> (Vec<FromTo>, usize) {
    let board = Board::<WORDS>::new(shape(position));
    let pegs: Cells<WORDS> = position.pegs.iter().filter_map(|&at| board.place(at)).collect();
    let ends: Vec<usize> = match game.setup().finish {
        Finish::Any => (0..board.cells.len()).collect(),
        Finish::Start => position.open.iter().filter_map(|&at| board.place(at)).collect(),
    };
    let search = Search { board: &board, start: pegs, ends };
    let (jumps, left) = search.solve(budget);
    let at = |place: usize| {
        let cell = board.cells[place];
        [i64::from(cell.0), i64::from(cell.1)]
    };
    (jumps.into_iter().map(|jump| (at(jump.from), at(jump.to))).collect(), left)
}

/// What is looked for on a board.
struct Search<'a, const WORDS: usize> {
    board: &'a Board<WORDS>,
    start: Cells<WORDS>,
    /// The cells in which the last peg may be.
    ends: Vec<usize>,
}

/// By the number of pegs less one, sorted: the positions from which the puzzle can be solved.
type Layers<const WORDS: usize> = Vec<Vec<Cells<WORDS>>>;

impl<const WORDS: usize> Search<'_, WORDS> {
    /// The best jumps that were found, and how many pegs they leave.
    fn solve(&self, budget: &mut Budget) -> (Vec<Jump<WORDS>>, usize) {
        let layers = self.backwards(budget);
        let known = layers.len() >= self.start.len();
        if known && let Some(way) = self.forwards(&layers, self.start) {
            return (way, 1);
        }
        let mut best: Option<(Vec<Jump<WORDS>>, usize)> = None;
        let mut width = WIDTH;
        while width <= WIDTH_MAX {
            let (way, left, is_whole) = self.beam(&layers, width, budget);
            if best.as_ref().is_none_or(|&(_, fewest)| left < fewest) {
                best = Some((way, left));
            }
            // Two pegs are the fewest of what can't be solved.
            let fewest = best.as_ref().map_or(0, |&(_, fewest)| fewest);
            if fewest == 1 || known && fewest == 2 || is_whole || budget.is_half_spent() {
                break;
            }
            width *= WIDER;
        }
        best.unwrap_or((Vec::new(), self.start.len()))
    }

    /// The layers from the ends on, as far as there is room and, if need be, time.
    fn backwards(&self, budget: &mut Budget) -> Layers<WORDS> {
        let mut part = budget.part(BACKWARDS_PART);
        let mut layer: Vec<Cells<WORDS>> =
            self.ends.iter().map(|&end| [end].into_iter().collect()).collect();
        layer.sort_unstable();
        let mut layers = vec![layer];
        let mut count = 0;
        let most = BACKWARDS_MAX / WORDS;
        while layers.len() < self.start.len() {
            let mut next = Vec::new();
            let last = &layers[layers.len() - 1];
            for pegs in last {
                let is_full = next.len() > 2 * most;
                if is_full {
                    next.sort_unstable();
                    next.dedup();
                }
                if !part.spend() || is_full && next.len() > most {
                    budget.merge(&part);
                    return layers;
                }
                next.extend(self.board.jumps.iter().filter_map(|jump| jump.back(pegs)));
            }
            next.sort_unstable();
            next.dedup();
            count += next.len();
            if count > most {
                break;
            }
            layers.push(next);
        }
        budget.merge(&part);
        layers
    }

    /// The jumps from a position of the layers to an end.
    fn forwards(&self, layers: &Layers<WORDS>, from: Cells<WORDS>) -> Option<Vec<Jump<WORDS>>> {
        let mut pegs = from;
        layers.get(pegs.len() - 1)?.binary_search(&pegs).ok()?;
        let mut way = Vec::new();
        while pegs.len() > 1 {
            let below = &layers[pegs.len() - 2];
            let next = self.board.jumps.iter().find_map(|jump| {
                let next = jump.of(&pegs)?;
                below.binary_search(&next).is_ok().then_some((*jump, next))
            });
            let (jump, next) = next?;
            way.push(jump);
            pegs = next;
        }
        Some(way)
    }

    /// One beam: the jumps, how many pegs they leave, and whether no position was dropped.
    fn beam(
        &self,
        layers: &Layers<WORDS>,
        width: usize,
        budget: &mut Budget,
    ) -> (Vec<Jump<WORDS>>, usize, bool) {
        let jumps = &self.board.jumps;
        // By place: from which one, and by which jump.
        let mut tree: Vec<(u32, u32)> = Vec::new();
        let mut level = vec![(u32::MAX, self.start)];
        let mut is_whole = true;
        let mut left = self.start.len();
        let mut lowest = u32::MAX;
        loop {
            let mut seen: HashSet<u64> = HashSet::new();
            let mut found: Vec<Found<u32, WORDS>> = Vec::new();
            for (place, pegs) in &level {
                if !budget.spend() {
                    return (self.jumps_to(&tree, lowest), left, false);
                }
                for (number, jump) in (0u32..).zip(jumps) {
                    if let Some(next) = jump.of(pegs)
                        && seen.insert(next.mark())
                    {
                        found.push((self.cost(&next), *place, number, next));
                    }
                }
                if found.len() > 4 * width {
                    is_whole &= keep(&mut found, width);
                }
            }
            is_whole &= keep(&mut found, width);
            if found.is_empty() {
                return (self.jumps_to(&tree, lowest), left, is_whole);
            }
            left -= 1;
            level.clear();
            for (_, from, number, pegs) in found {
                lowest = u32::try_from(tree.len()).expect("beams are bounded");
                tree.push((from, number));
                if let Some(rest) = self.forwards(layers, pegs) {
                    let mut way = self.jumps_to(&tree, lowest);
                    way.extend(rest);
                    return (way, 1, true);
                }
                level.push((lowest, pegs));
            }
        }
    }

    /// Returns the jumps to a place of a beam's tree.
    fn jumps_to(&self, tree: &[(u32, u32)], place: u32) -> Vec<Jump<WORDS>> {
        trace(tree, place).into_iter().map(|number| self.board.jumps[number as usize]).collect()
    }

    /// Returns the cost of a position: pegs that are alone or that nothing can jump over are hard to
    /// remove, and pegs that are together can jump.
    fn cost(&self, pegs: &Cells<WORDS>) -> i32 {
        let mut cost = 0;
        for cell in pegs.iter() {
            let company = self.board.beside[cell].and(*pegs).len();
            cost += self.board.remote[cell] + [6, -1, -2, -3][company.min(3)];
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::plan;
    use crate::budget::TimePolicy;
    use referee_games::Game;
    use referee_games::peg_solitaire::PegSolitaire;
    use referee_protocol::ClockSettings;
    use serde_json::{Value, json};
    use std::time::Instant;

    /// How many pegs the plan leaves when its jumps are played.
    fn left(setup: Value) -> i64 {
        let mut game = PegSolitaire::start(serde_json::from_value(setup).unwrap()).unwrap();
        let policy = TimePolicy { nodes: Some(300_000), clock: ClockSettings::default() };
        let mut budget = policy.plan(Instant::now(), None);
        let (jumps, left) = plan::<1>(&game, &game.position(), &mut budget);
        for (from, to) in jumps {
            game.play(&referee_games::peg_solitaire::Action::Jump { from, to }).unwrap();
        }
        assert_eq!(game.position().pegs.len(), left);
        i64::try_from(left).unwrap()
    }

    #[test]
    fn what_can_be_solved_is() {
        for setup in [
            json!({"size": 4, "open": [[1, 0]]}),
            json!({}),
            json!({"open": [[0, 0]], "finish": "start"}),
            json!({"open": [[0, 0], [2, 1], [4, 1]]}),
            json!({"size": 6}),
            json!({"size": 7, "open": [[1, 0]]}),
            json!({"size": 8}),
            json!({"shape": "diamond", "size": 4, "open": [[0, 1]]}),
            json!({"shape": "diamond", "size": 5, "open": [[0, 1]]}),
            json!({"shape": "diamond", "size": 6}),
        ] {
            assert_eq!(left(setup.clone()), 1, "{setup}");
        }
    }

    #[test]
    fn what_cannot_be_solved_leaves_two() {
        for setup in [
            json!({"shape": "diamond", "size": 4}),
            json!({"size": 7}),
            json!({"open": [[0, 0], [2, 2], [4, 1]]}),
        ] {
            assert_eq!(left(setup.clone()), 2, "{setup}");
        }
    }
}
