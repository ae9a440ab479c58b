//! Compare: two players, until it is decided whether the first is stronger.

use super::{Comparison, Entry, Field, Format, FromContestFile, Pairing, PairingResult};
use crate::forms::within;
use crate::settings::Mistake;
use crate::sprt::{Decision, Pentanomial};
use crate::{Player, SeatOrders, SprtSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::ops::RangeInclusive;

/// The chance of each error, unless the contest file gives another.
const ERROR_CHANCE: f64 = 0.05;
const ERROR_CHANCES: RangeInclusive<f64> = 0.0001..=0.4999;

/// The same two players, `rounds` times at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// The test that ends it; `None` to play all rounds.
    pub sprt: Option<SprtSettings>,
}

/// More about `compare`: the test. Without the two hypotheses all rounds are played.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Compare")]
pub(crate) struct Table {
    /// The first hypothesis: by how many Elo the first agent is stronger.
    #[serde(default, deserialize_with = "within::<_, _, -1000, 1000>")]
    elo0: Option<f64>,
    /// The second.
    #[serde(default, deserialize_with = "within::<_, _, -1000, 1000>")]
    elo1: Option<f64>,
    /// How often the second may be accepted although the first is true. Defaults to 0.05.
    alpha: Option<f64>,
    /// How often the first may be accepted although the second is true. Defaults to 0.05.
    beta: Option<f64>,
}

impl FromContestFile for Compare {
    const HELP: &'static str = "two players, until a test decides which one is stronger";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Table = Table;

    fn check(table: &Table) -> Result<(), Mistake> {
        sprt(table).map(|_| ())
    }

    fn read(
        table: Option<&Table>,
        entry: &Entry<'_>,
        _order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        let count = entry.names.len();
        if count != 2 {
            let message =
                format!("format compare needs 2 agents, the new and the old one, not {count}");
            return Err(Mistake::at("format", message));
        }
        if entry.seat_orders == SeatOrders::One {
            let message = "format compare plays each opening with both seatings, which seat_orders = \
                           \"one\" rules out";
            return Err(Mistake::at("seat_orders", message).help("remove `seat_orders`"));
        }
        Ok(Self { sprt: table.map_or(Ok(None), sprt)? })
    }
}

/// Reads the test, if there is one.
fn sprt(table: &Table) -> Result<Option<SprtSettings>, Mistake> {
    let keys =
        [("elo0", table.elo0), ("elo1", table.elo1), ("alpha", table.alpha), ("beta", table.beta)];
    let (Some(elo0), Some(elo1)) = (table.elo0, table.elo1) else {
        let Some((lone, _)) = keys.into_iter().find(|(_, value)| value.is_some()) else {
            return Ok(None);
        };
        let message = "a test needs both hypotheses, `elo0` and `elo1`";
        return Err(Mistake::at(format!(".{lone}"), message).help("such as elo0 = 0, elo1 = 20"));
    };
    if elo0 >= elo1 {
        return Err(Mistake::at(".elo1", "`elo1` must be greater than `elo0`"));
    }
    let [alpha, beta] = [table.alpha, table.beta].map(|chance| chance.unwrap_or(ERROR_CHANCE));
    for (key, chance) in [("alpha", alpha), ("beta", beta)] {
        if !ERROR_CHANCES.contains(&chance) {
            let (least, most) = (ERROR_CHANCES.start(), ERROR_CHANCES.end());
            let message = format!("`{key}` must be from {least} to {most}, not {chance}");
            return Err(Mistake::at(format!(".{key}"), message));
        }
    }
    Ok(Some(SprtSettings { elo0, elo1, alpha, beta }))
}

impl Format for Compare {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let most = u64::from(field.rounds);
        let least = if self.sprt.is_some() { most.min(1) } else { most };
        least..=most
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        if !past.is_empty() || field.players != 2 {
            return Vec::new();
        }
        let players: SmallVec<[Player; 4]> = Player::all(2).collect();
        (1..=field.rounds).map(|round| Pairing { round, players: players.clone() }).collect()
    }

    /// Tests all of `past` only: every shorter beginning was tested before and decided nothing.
    fn decided(&self, past: &[PairingResult]) -> Option<usize> {
        let decision = self.sprt?.decision(&Pentanomial::of(past));
        (decision != Decision::Open).then_some(past.len())
    }

    fn comparison(&self) -> Option<Comparison> {
        Some(Comparison { sprt: self.sprt })
    }
}

#[cfg(test)]
mod tests {
    use super::Compare;
    use crate::formats::{Field, Format, Pairing, PairingResult};
    use crate::{Player, Seed, SprtSettings};
    use smallvec::SmallVec;

    const SPRT: SprtSettings = SprtSettings { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 };

    fn field(rounds: u32) -> Field {
        Field { players: 2, seats: 2, rounds, seed: Seed::Number(1) }
    }

    /// The results of pairings in which the first player gets these half-points in each block.
    fn met(pairings: &[Pairing], blocks: &[u32]) -> Vec<PairingResult> {
        let met = |pairing: &Pairing| {
            let blocks: Vec<Vec<u32>> = blocks.iter().map(|&new| vec![new, 4 - new]).collect();
            let half_points = (0..2).map(|player| blocks.iter().map(|block| block[player]).sum());
            PairingResult {
                pairing: pairing.clone(),
                half_points: half_points.collect(),
                block_half_points: blocks.clone(),
            }
        };
        pairings.iter().map(met).collect()
    }

    #[test]
    fn all_pairings_come_at_once() {
        let (format, field) = (Compare { sprt: Some(SPRT) }, field(3));
        let pairings = format.next(field, &[]);
        let players: SmallVec<[Player; 4]> = Player::all(2).collect();
        let expected = |round| Pairing { round, players: players.clone() };
        assert_eq!(pairings, [expected(1), expected(2), expected(3)]);
        assert_eq!(format.size(field), 1..=3);
        assert_eq!(Compare { sprt: None }.size(field), 3..=3);
        assert_eq!(format.next(field, &met(&pairings, &[2])), []);
        assert_eq!(format.ranking(field, &met(&pairings, &[2])), None);
    }

    #[test]
    fn it_ends_when_the_test_does() {
        for (sprt, most, blocks, decided) in [
            (Some(SPRT), 100, &[4][..], Some(12)),
            (Some(SPRT), 100, &[0], Some(9)),
            // Two games of the contest are two pairs in a pairing.
            (Some(SPRT), 100, &[4, 4], Some(6)),
            (Some(SPRT), 5, &[4], None),
            (None, 100, &[4], None),
        ] {
            let format = Compare { sprt };
            let met = met(&format.next(field(most), &[]), blocks);
            let found = (0..=met.len()).find_map(|ended| format.decided(&met[..ended]));
            assert_eq!(found, decided, "{sprt:?}, {most} pairings, {blocks:?}");
        }
    }
}
