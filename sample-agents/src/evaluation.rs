//! Evaluates a position for a seat, comparable over a whole game: by the outcome if the game is over,
//! by the game's own estimate otherwise.

use crate::board::Board;
use referee_games::Turn;
use referee_protocol::{Outcome, Seat};

/// The value of a win; a loss is the negative. Every estimate is between the two.
pub(crate) const WON: i64 = 1 << 48;
/// Estimates are clamped to this distance from 0.
pub(crate) const ESTIMATE_MAX: i64 = 1 << 40;

/// Returns the value of the position for `seat`: larger is better, a draw is 0.
pub(crate) fn evaluate<B: Board>(game: &B, seat: Seat) -> i64 {
    match game.turn() {
        Turn::Over(outcome) => evaluate_outcome(game, &outcome, seat),
        Turn::Of(_) | Turn::Chance(_) => game.estimate(seat).clamp(-ESTIMATE_MAX, ESTIMATE_MAX),
    }
}

/// Returns the value of an outcome. With several seats: the share of the others behind the seat minus
/// that of those ahead. With one seat: solved or not, adjusted by the score.
pub(crate) fn evaluate_outcome<B: Board>(game: &B, outcome: &Outcome, seat: Seat) -> i64 {
    let own = outcome.places[seat.index()];
    if outcome.places.len() == 1 {
        return if own == 1 { WON } else { -WON } + score(game, outcome);
    }
    let count = |relation: fn(&u32, &u32) -> bool| {
        i64::try_from(outcome.places.iter().filter(|place| relation(place, &own)).count())
            .expect("seats are few")
    };
    let others = i64::try_from(outcome.places.len()).expect("seats are few") - 1;
    WON / others * (count(u32::gt) - count(u32::lt))
}

/// Returns a puzzle's score so that larger is better.
fn score<B: Board>(game: &B, outcome: &Outcome) -> i64 {
    let score = outcome.scores.as_ref().map_or(0, |scores| scores[0]);
    let score = score.clamp(-ESTIMATE_MAX, ESTIMATE_MAX);
    if game.fewer_is_better() { -score } else { score }
}
