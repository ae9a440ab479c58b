//! What is known of a player's strength while a ladder runs: only to choose opponents by. Standings
//! come from the joint fit.

use crate::formats::{Field, Met};
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};
use skillratings::weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team};
use skillratings::{MultiTeamOutcome, Outcomes};
use std::f64::consts::PI;

/// Glicko-2's scale: so many points are one logit (Glickman, "Example of the Glicko-2 system").
const GLICKO_LOGIT: f64 = 173.7178;
/// Ratings stay within so many points of the middle: beyond, the chance of the weaker one would not
/// differ from nothing, and Glicko-2 divides by it.
const GLICKO_SPAN: f64 = 1500.0;
/// Deviations don't fall lower, so that a rating stays able to move (Glickman's advice for Glicko).
const GLICKO_LEAST_DEVIATION: f64 = 30.0;
/// The same bound for Weng-Lin ratings, which begin at 25 with a deviation of 25/3.
const WENG_LIN_SPAN: f64 = 75.0;
/// What is learnt is counted in units of so many a squared logit.
const UNITS: f64 = 1e9;

/// A strength in logits, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strength {
    /// The most likely one.
    pub(super) mean: f64,
    /// Its standard deviation.
    pub(super) deviation: f64,
}

impl Strength {
    /// How much the variances of two shrink when they meet once, after Glickman's formulas: a
    /// player of variance V and a game of information I come to 1 / (1/V + I). In billionths of a
    /// squared logit, not negative.
    pub(super) fn learnt(self, other: Self) -> i64 {
        let doubt = |variance: f64| 1.0 / (1.0 + 3.0 * variance / (PI * PI)).sqrt();
        let (own, theirs) = (self.deviation.powi(2), other.deviation.powi(2));
        let apart = doubt(own + theirs) * (self.mean - other.mean);
        let chance = 1.0 / (1.0 + (-apart).exp());
        let spread = chance * (1.0 - chance);
        let shrinks = |variance: f64, of: f64| {
            let information = doubt(of).powi(2) * spread;
            variance * variance * information / (1.0 + variance * information)
        };
        let units = UNITS * (shrinks(own, theirs) + shrinks(theirs, own));
        #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
        let learnt = units as i64;
        learnt
    }
}

/// The strength of everybody after what was played: by Glicko-2 with a batch as its period for two
/// seats, by Weng-Lin for more. With one seat nothing is known.
pub(super) fn strengths(field: Field, past: &[Met]) -> Vec<Strength> {
    if field.seats == 2 { glicko(field.players, past) } else { weng_lin(field.players, past) }
}

fn glicko(players: usize, past: &[Met]) -> Vec<Strength> {
    let config = Glicko2Config::new();
    let mut ratings = vec![Glicko2Rating::new(); players];
    for batch in past.chunk_by(|a, b| a.pairing.round == b.pairing.round) {
        let before = ratings.clone();
        for met in batch {
            let ([one, other], [own, theirs]) = (&met.pairing.players[..], &met.halves[..]) else {
                continue;
            };
            for (player, opponent, won) in [(one, other, own > theirs), (other, one, own < theirs)]
            {
                let results = results(*own, *theirs, won);
                let against: Vec<_> =
                    results.into_iter().map(|result| (before[opponent.index()], result)).collect();
                let rating = &mut ratings[player.index()];
                *rating = glicko2_rating_period(&before[player.index()], &against, &config);
                rating.rating = rating.rating.clamp(1500.0 - GLICKO_SPAN, 1500.0 + GLICKO_SPAN);
                rating.deviation = rating.deviation.clamp(GLICKO_LEAST_DEVIATION, 350.0);
            }
        }
    }
    let strength = |rating: Glicko2Rating| Strength {
        mean: (rating.rating - 1500.0) / GLICKO_LOGIT,
        deviation: rating.deviation / GLICKO_LOGIT,
    };
    ratings.into_iter().map(strength).collect()
}

/// The halves of a pairing as games: wins for what one got more, draws for the rest.
fn results(own: u32, theirs: u32, won: bool) -> Vec<Outcomes> {
    let games = u32::midpoint(own, theirs);
    let decided = own.abs_diff(theirs) / 2;
    let result = |game| match (game < decided, won) {
        (false, _) => Outcomes::DRAW,
        (true, true) => Outcomes::WIN,
        (true, false) => Outcomes::LOSS,
    };
    (0..games).map(result).collect()
}

fn weng_lin(players: usize, past: &[Met]) -> Vec<Strength> {
    let config = WengLinConfig::new();
    let mut ratings = vec![WengLinRating::new(); players];
    for met in past.iter().filter(|met| met.pairing.players.len() > 1) {
        for halves in &met.blocks {
            let before: Vec<[WengLinRating; 1]> =
                met.pairing.players.iter().map(|player| [ratings[player.index()]]).collect();
            let place = |own: &u32| 1 + halves.iter().filter(|&other| other > own).count();
            let places = halves.iter().map(place).map(MultiTeamOutcome::new);
            let teams: Vec<_> = before.iter().map(<[_; 1]>::as_slice).zip(places).collect();
            let after = weng_lin_multi_team(&teams, &config);
            for (player, rating) in met.pairing.players.iter().zip(after.into_iter().flatten()) {
                let middle = WengLinRating::new().rating;
                ratings[player.index()] = WengLinRating {
                    rating: rating.rating.clamp(middle - WENG_LIN_SPAN, middle + WENG_LIN_SPAN),
                    ..rating
                };
            }
        }
    }
    // Two of known strengths are apart by so many logits (Weng and Lin 2011, the Bradley-
    // Terry form with c = sqrt(2) beta).
    let logit = config.beta * std::f64::consts::SQRT_2;
    let strength = |rating: WengLinRating| Strength {
        mean: (rating.rating - WengLinRating::new().rating) / logit,
        deviation: rating.uncertainty / logit,
    };
    ratings.into_iter().map(strength).collect()
}
