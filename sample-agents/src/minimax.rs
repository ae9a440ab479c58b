//! `minimax`: looks several actions ahead and expects the worst of everyone else.

use crate::on_board::{Choice, Chooser};
use crate::puzzle;
use crate::worth::{WON, worth};
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use referee_games::{Game, Turn};
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::cmp::Reverse;

/// The depth of `minimax` without an argument.
pub(crate) const DEPTH_DEFAULT: u32 = 2;
/// The greatest depth that may be asked for.
pub(crate) const DEPTH_MAX: u32 = 9;

/// The positions that are looked at in one turn. The last depth that they suffice for decides, so
/// that a great depth costs time but never all of it, and the same position always gets the same
/// answer. One action ahead is always looked at whole.
const POSITIONS_MAX: u64 = 100_000;
/// The positions that may be foreseen for looking at one's own answers too.
const ANSWERS_MAX: u64 = 10_000;
/// At positions below the first and above the last action ahead, only so many actions are followed:
/// those that look best to whoever moves.
const BREADTH: usize = 16;

/// Alpha-beta with growing depth. With three seats and more all others are taken to play against
/// this one. Of the first actions none is left out; further on, but for the last action ahead, the
/// [`BREADTH`] that look best are followed.
///
/// A search that ends on another's action sees what that one gains and not what comes back. So
/// where the last action ahead leaves this seat to move, its own answer is looked at too, if what
/// the search has cost so far says that it takes few positions.
#[derive(Debug)]
pub(crate) struct Minimax {
    /// How many actions it looks ahead.
    pub(crate) depth: u32,
}

impl Chooser for Minimax {
    fn choose<G: Game>(
        &mut self,
        game: &G,
        seat: Seat,
        mut actions: Vec<G::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<G::Action> {
        // Equals keep their order in every sort below, so this decides between them.
        actions.shuffle(random);
        let mut search = Search::new(seat, self.depth as usize);
        let mut first: Vec<(i64, G::Action, G)> = actions
            .into_iter()
            .map(|action| {
                let mut next = game.clone();
                next.play_listed(&action);
                search.looked += 1;
                (worth(&next, seat), action, next)
            })
            .collect();
        first.sort_by_key(|&(worth, ..)| Reverse(worth));
        let mut best = first[0].0;
        let mut reached = 1;
        let mut cost = search.looked;
        for depth in 2..=self.depth + 1 {
            if best.abs() > WON / 2 {
                break;
            }
            if depth > self.depth {
                let foreseen = cost.saturating_mul(first.len() as u64);
                if foreseen > ANSWERS_MAX {
                    break;
                }
                search.answers_at = Some(self.depth as usize);
            }
            let before = search.looked;
            let Some((index, value)) = search.best_of(&first, depth.min(self.depth)) else { break };
            cost = search.looked - before;
            (best, reached) = (value, depth.min(self.depth));
            // The best so far goes first, the others keep their order.
            first[..=index].rotate_right(1);
        }
        let info = info(reached, best, search.looked);
        Choice { action: first.swap_remove(0).1, info: Some(info) }
    }

    fn plan<G: Game>(&mut self, game: &G) -> Vec<G::Action> {
        let short = puzzle::shortest(game);
        if short.solved {
            return short.actions;
        }
        // A search that keeps every position that it has met sometimes gets through where one that
        // drops the less promising ones doesn't.
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
    /// How many positions were looked at.
    looked: u64,
    /// By how far ahead it is played: the last action that made a position not worth following.
    /// It often does so again next door, so it is tried first.
    refutations: Vec<Option<A>>,
    /// How far ahead the seat's own answer is looked at too, where it is looked at.
    answers_at: Option<usize>,
}

impl<A: Clone + PartialEq> Search<A> {
    fn new(seat: Seat, depth: usize) -> Self {
        Self { seat, looked: 0, refutations: vec![None; depth + 1], answers_at: None }
    }

    /// Which of the first actions is best, and its worth; none when the positions ran out.
    fn best_of<G: Game<Action = A>>(
        &mut self,
        first: &[(i64, A, G)],
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

    /// The worth of a position to `self.seat`, `depth` further actions ahead, `ply` actions after
    /// the board as it is; exact between `alpha` and `beta`. None when the positions ran out.
    fn value<G: Game<Action = A>>(
        &mut self,
        game: &G,
        mut depth: u32,
        ply: usize,
        mut alpha: i64,
        mut beta: i64,
    ) -> Option<i64> {
        let Turn::Of(mover) = game.turn() else {
            return Some(sooner(worth(game, self.seat), ply));
        };
        let own = mover == self.seat;
        if depth == 0 {
            if !own || self.answers_at != Some(ply) {
                return Some(worth(game, self.seat));
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

    /// The actions to follow, the most promising first, each with what it leads to where that had
    /// to be looked at for the order.
    fn continuations<G: Game<Action = A>>(
        &mut self,
        game: &G,
        depth: u32,
        ply: usize,
        mover: Seat,
    ) -> Option<Vec<(A, Option<G>)>> {
        if self.looked >= POSITIONS_MAX {
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
        let mut ordered: Vec<(i64, A, G)> = Vec::with_capacity(actions.len());
        for (index, action) in actions.into_iter().enumerate() {
            let next = self.after(game, &action);
            let promise = if Some(index) == refutation { i64::MAX } else { worth(&next, mover) };
            ordered.push((promise, action, next));
        }
        ordered.sort_by_key(|&(promise, ..)| Reverse(promise));
        ordered.truncate(BREADTH);
        Some(ordered.into_iter().map(|(_, action, next)| (action, Some(next))).collect())
    }

    fn after<G: Game<Action = A>>(&mut self, game: &G, action: &A) -> G {
        self.looked += 1;
        let mut next = game.clone();
        next.play_listed(action);
        next
    }
}

/// A win that comes sooner is worth more, a loss that comes later less bad.
fn sooner(worth: i64, ply: usize) -> i64 {
    let ply = i64::try_from(ply).expect("searches are shallow");
    worth - worth.signum() * ply
}
