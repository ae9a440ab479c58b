//! Contests with a known truth: whether intervals hold it as often as they say.

use super::{RatingField, field, game};
use crate::ratings::fit::{ELO, mean};
use crate::ratings::rate;
use crate::schedule::seat_orders;
use crate::{Record, SeatOrders};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// What is true, in units of the fit, and what is played.
struct Truth {
    strengths: Vec<f64>,
    seats: Vec<f64>,
    /// How much likelier than one player's place one shared by two is, between equals; three seats
    /// share by chance what two seats share.
    tie: f64,
    /// How often all players meet in every seat order.
    rounds: u64,
    contests: u64,
}

impl Truth {
    /// All games of one contest; a block is one pairing in all its seat orders.
    fn play(&self, random: &mut ChaCha8Rng) -> Vec<Record> {
        let mut records = Vec::new();
        let mut block = 0;
        for _ in 0..self.rounds {
            for pairing in pairings(self.strengths.len(), self.seats.len()) {
                for order in seat_orders(pairing.len(), SeatOrders::All) {
                    let sitting: Vec<u32> = order.iter().map(|&place| pairing[place]).collect();
                    let places = self.places(&sitting, random);
                    records.push(game(records.len() as u64, block, &sitting, &places));
                }
                block += 1;
            }
        }
        records
    }

    /// Place by place, as the model says: one of those that remain, or two of them.
    fn places(&self, sitting: &[u32], random: &mut ChaCha8Rng) -> Vec<u32> {
        let worth = |seat: usize| (self.strengths[sitting[seat] as usize] + self.seats[seat]).exp();
        let mut places = vec![0; sitting.len()];
        let mut place = 1;
        loop {
            let remaining: Vec<usize> =
                (0..places.len()).filter(|&seat| places[seat] == 0).collect();
            let singles = remaining.iter().map(|&seat| (vec![seat], worth(seat)));
            let doubles = remaining.iter().enumerate().flat_map(|(index, &seat)| {
                let others = remaining[index + 1..].iter();
                others.map(move |&other| {
                    (vec![seat, other], self.tie * (worth(seat) * worth(other)).sqrt())
                })
            });
            let options: Vec<(Vec<usize>, f64)> = singles.chain(doubles).collect();
            let all: f64 = options.iter().map(|option| option.1).sum();
            let mut left = random.random::<f64>() * all;
            let chosen = options.iter().find(|option| {
                left -= option.1;
                left < 0.0
            });
            let Some((chosen, _)) = chosen.or(options.last()) else { return places };
            for &seat in chosen {
                places[seat] = place;
            }
            place += u32::try_from(chosen.len()).unwrap();
        }
    }

    /// In how many percent of players an interval holds the truth.
    fn assert_covered(&self) {
        let centre = mean(self.strengths.iter().copied());
        let truth: Vec<f64> = self.strengths.iter().map(|one| (one - centre) * ELO).collect();
        let (mut information, mut bootstrap) = (Vec::new(), Vec::new());
        let mut seats = vec![Vec::new(); self.seats.len()];
        for seed in 0..self.contests {
            let records = self.play(&mut ChaCha8Rng::seed_from_u64(seed));
            let field = field(self.strengths.len(), self.seats.len());
            let found = rate(&RatingField { samples: 100, seed, ..field }, &records);
            for (rating, truth) in found.players.iter().zip(&truth) {
                let (low, high) = rating.bootstrap.unwrap();
                information.push((rating.elo - truth).abs() <= rating.error.unwrap());
                bootstrap.push((low..=high).contains(truth));
            }
            for (seat, term) in found.seats.iter().enumerate() {
                seats[seat].push(term.elo);
            }
        }
        let percent = |held: &[bool]| mean(held.iter().map(|&held| f64::from(held))) * 100.0;
        let off =
            |(found, truth): (&Vec<f64>, &f64)| (mean(found.iter().copied()) - truth * ELO).abs();
        let (information, bootstrap) = (percent(&information), percent(&bootstrap));
        let seats_off = seats.iter().zip(&self.seats).map(off).fold(0.0, f64::max);
        let found = format!(
            "intervals of 95 %: {information:.1} % by the information matrix, {bootstrap:.1} % by \
             bootstrap; seats off by {seats_off:.1} Elo"
        );
        assert!((90.0..=99.0).contains(&information), "{found}");
        assert!((90.0..=99.0).contains(&bootstrap), "{found}");
        assert!(seats_off < 5.0, "{found}");
    }
}

/// All against all.
fn pairings(players: usize, seats: usize) -> Vec<Vec<u32>> {
    let mut pairings: Vec<Vec<u32>> = vec![vec![]];
    for _ in 0..seats {
        let longer = pairings.iter().flat_map(|pairing| {
            let first = pairing.last().map_or(0, |last| last + 1);
            (first..u32::try_from(players).unwrap())
                .map(move |next| [&pairing[..], &[next]].concat())
        });
        pairings = longer.collect();
    }
    pairings
}

#[test]
fn intervals_hold_the_truth() {
    for truth in [
        Truth {
            strengths: vec![-1.2, -0.7, -0.2, 0.0, 0.3, 0.8, 1.0],
            seats: vec![0.25, -0.25],
            tie: 0.5,
            rounds: 15,
            contests: 30,
        },
        Truth {
            strengths: vec![-0.8, -0.2, 0.1, 0.3, 0.6],
            seats: vec![0.4, 0.0, -0.4],
            tie: 0.2,
            rounds: 5,
            contests: 20,
        },
    ] {
        truth.assert_covered();
    }
}
