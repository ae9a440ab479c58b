//! `minimax`: looks several actions ahead and assumes that all others play against it.

use crate::board::Board;
use crate::board_player::{Choice, Chooser};
use crate::evaluation::{WON, evaluate};
use crate::puzzle;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use referee_games::Turn;
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::cmp::Reverse;

/// The depth of `minimax` without an argument.
pub(crate) const DEPTH_DEFAULT: u32 = 2;
/// The greatest depth.
pub(crate) const DEPTH_MAX: u32 = 9;

/// The number of positions of a built-in game searched in one turn. The last complete depth decides, so that a great
/// depth takes bounded time, and the same position always gets the same answer. Depth 1 is always
/// complete.
const POSITIONS_MAX: u64 = 100_000;
/// The most of these positions, as estimated, for searching the agent's own answers too.
const ANSWERS_MAX: u64 = 10_000;
/// The number of actions searched between the first and the last ply: those that look best to the
/// seat to move.
const BREADTH: usize = 16;

/// Alpha-beta with growing depth. With three or more seats all others are assumed to play against this
/// one. The first and the last ply search all actions, the others the best-looking [`BREADTH`].
///
/// A search that ends on an opponent's action sees its gain but not the reply. So if this seat is to
/// move after the last ply, its own answer is searched too, if the search so far suggests that this
/// takes few positions.
///
/// Where several seats choose at once, the others are assumed to know what this one has chosen.
#[derive(Debug)]
pub(crate) struct Minimax {
    /// The number of actions it looks ahead.
    pub(crate) depth: u32,
}

impl Chooser for Minimax {
    fn choose<B: Board>(
        &mut self,
        game: &B,
        seat: Seat,
        mut actions: Vec<B::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<B::Action> {
        // Every sort below is stable, so this decides between equal actions.
        actions.shuffle(random);
        let mut search = Search::new(seat, self.depth as usize + game.seats());
        let mut first: Vec<(i64, B::Action, B)> = actions
            .into_iter()
            .map(|action| {
                let mut next = game.clone();
                next.play_listed(&action);
                search.searched += 1;
                (evaluate(&next, seat), action, next)
            })
            .collect();
        first.sort_by_key(|&(worth, ..)| Reverse(worth));
        let mut best = first[0].0;
        let mut reached = 1;
        let mut cost = search.searched;
        for depth in 2..=self.depth + 1 {
            if best.abs() > WON / 2 {
                break;
            }
            if depth > self.depth {
                let foreseen = cost.saturating_mul(first.len() as u64);
                if foreseen > ANSWERS_MAX / B::COST as u64 {
                    break;
                }
                search.answers_at = Some(self.depth as usize);
            }
            let before = search.searched;
            let Some((index, value)) = search.best_of(&first, depth.min(self.depth)) else { break };
            cost = search.searched - before;
            (best, reached) = (value, depth.min(self.depth));
            // The best so far goes first; the others keep their order.
            first[..=index].rotate_right(1);
        }
        let info = info(reached, best, search.searched);
        Choice { action: first.swap_remove(0).1, info: Some(info) }
    }

    fn plan<B: Board>(&mut self, game: &B) -> Vec<B::Action> {
        let short = puzzle::shortest(game);
        if short.solved {
            return short.actions;
        }
        // A search that keeps every position sometimes succeeds where one that drops the less
        // promising ones fails.
        let any = puzzle::best_first(game);
        if any.solved || short.actions.is_empty() { any.actions } else { short.actions }
    }
}

fn info(depth: u32, score: i64, positions: u64) -> Info {
    let fields = [("depth", depth.into()), ("score", score.into()), ("nodes", positions.into())];
    Info(fields.map(|(name, value): (&str, Value)| (name.to_owned(), value)).into_iter().collect())
}

/// One turn's search.
struct Search<A> {
    seat: Seat,
    /// The number of positions searched.
    searched: u64,
    /// By ply: the last action that caused a cutoff. It often does so again, so it is tried first.
    refutations: Vec<Option<A>>,
    /// The ply at which the seat's own answer is searched too, if it is.
    answers_at: Option<usize>,
}

impl<A: Clone + PartialEq> Search<A> {
    fn new(seat: Seat, plies: usize) -> Self {
        Self { seat, searched: 0, refutations: vec![None; plies + 1], answers_at: None }
    }

    /// Returns the index and the value of the best first action; `None` when out of positions.
    fn best_of<B: Board<Action = A>>(
        &mut self,
        first: &[(i64, A, B)],
        depth: u32,
    ) -> Option<(usize, i64)> {
        let (mut best, mut alpha) = (0, i64::MIN);
        for (index, (_, _, next)) in first.iter().enumerate() {
            let value = self.value(next, depth - 1, 1, alpha, i64::MAX)?;
            if value > alpha {
                (best, alpha) = (index, value);
            }
        }
        Some((best, alpha))
    }

    /// Returns the value of a position for `self.seat`, searched `depth` further actions, `ply` actions
    /// after the current board; exact between `alpha` and `beta`. `None` when out of positions.
    fn value<B: Board<Action = A>>(
        &mut self,
        game: &B,
        mut depth: u32,
        ply: usize,
        mut alpha: i64,
        mut beta: i64,
    ) -> Option<i64> {
        let Turn::Of(mover) = game.turn() else {
            return Some(sooner(evaluate(game, self.seat), ply));
        };
        let own = mover == self.seat;
        if depth == 0 {
            // What seats choose at once has no effect before the last one.
            if !(game.is_between_choices() || own && self.answers_at == Some(ply)) {
                return Some(evaluate(game, self.seat));
            }
            depth = 1;
        }
        let mut best = if own { i64::MIN } else { i64::MAX };
        for (action, next) in self.continuations(game, depth, ply, mover)? {
            let next = next.unwrap_or_else(|| self.after(game, &action));
            let value = self.value(&next, depth - 1, ply + 1, alpha, beta)?;
            if own {
                best = best.max(value);
                alpha = alpha.max(best);
            } else {
                best = best.min(value);
                beta = beta.min(best);
            }
            if alpha >= beta {
                self.refutations[ply] = Some(action);
                break;
            }
        }
        Some(best)
    }

    /// Returns the actions to search, the most promising first, each with the position it leads to if
    /// ordering needed it.
    fn continuations<B: Board<Action = A>>(
        &mut self,
        game: &B,
        depth: u32,
        ply: usize,
        mover: Seat,
    ) -> Option<Vec<(A, Option<B>)>> {
        if self.searched >= POSITIONS_MAX / B::COST as u64 {
            return None;
        }
        let mut actions = game.actions();
        let refutation = self.refutations[ply]
            .as_ref()
            .and_then(|refutation| actions.iter().position(|action| action == refutation));
        if depth == 1 {
            if let Some(index) = refutation {
                actions[..=index].rotate_right(1);
            }
            return Some(actions.into_iter().map(|action| (action, None)).collect());
        }
        let mut ordered: Vec<(i64, A, B)> = Vec::with_capacity(actions.len());
        for (index, action) in actions.into_iter().enumerate() {
            let next = self.after(game, &action);
            let promise = if Some(index) == refutation { i64::MAX } else { evaluate(&next, mover) };
            ordered.push((promise, action, next));
        }
        ordered.sort_by_key(|&(promise, ..)| Reverse(promise));
        ordered.truncate(BREADTH);
        Some(ordered.into_iter().map(|(_, action, next)| (action, Some(next))).collect())
    }

    fn after<B: Board<Action = A>>(&mut self, game: &B, action: &A) -> B {
        self.searched += 1;
        let mut next = game.clone();
        next.play_listed(action);
        next
    }
}

/// Prefers an earlier win and a later loss.
fn sooner(worth: i64, ply: usize) -> i64 {
    let ply = i64::try_from(ply).expect("searches are shallow");
    worth - worth.signum() * ply
}
