//! What a position is worth to a seat, in one number that can be compared over a whole game: the
//! outcome where the game is over, the game's own estimate where it goes on.

use referee_games::{Game, Turn};
use referee_protocol::{Outcome, Seat};

/// What winning is worth; losing is the negative. Every estimate lies between the two.
pub(crate) const WON: i64 = 1 << 48;
/// Estimates are held within this distance from 0.
const ESTIMATE_MAX: i64 = 1 << 40;

/// What the position is worth to `seat`: larger is better, a draw is 0.
pub(crate) fn worth<G: Game>(game: &G, seat: Seat) -> i64 {
    match game.turn() {
        Turn::Over(outcome) => outcome_worth::<G>(&outcome, seat),
        Turn::Of(_) => game.estimate(seat).clamp(-ESTIMATE_MAX, ESTIMATE_MAX),
    }
}

/// Among several seats: the share of the others that it left behind, less that of those in front.
/// Alone: solved or not, and among the unsolved the better score.
pub(crate) fn outcome_worth<G: Game>(outcome: &Outcome, seat: Seat) -> i64 {
    let own = outcome.places[seat.index()];
    if outcome.places.len() == 1 {
        return if own == 1 { WON } else { -WON } + score::<G>(outcome);
    }
    let count = |relation: fn(&u32, &u32) -> bool| {
        i64::try_from(outcome.places.iter().filter(|place| relation(place, &own)).count())
            .expect("seats are few")
    };
    let others = i64::try_from(outcome.places.len()).expect("seats are few") - 1;
    WON / others * (count(u32::gt) - count(u32::lt))
}

/// A puzzle's score, larger being better.
fn score<G: Game>(outcome: &Outcome) -> i64 {
    let score = outcome.scores.as_ref().map_or(0, |scores| scores[0]);
    let fewer_is_better = G::about().score.is_some_and(|score| score.fewer_is_better);
    let score = score.clamp(-ESTIMATE_MAX, ESTIMATE_MAX);
    if fewer_is_better { -score } else { score }
}
