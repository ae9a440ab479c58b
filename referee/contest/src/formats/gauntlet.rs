//! Gauntlet: some players, the challengers, play all others.

use super::balance::balance_seats;
use super::{Entry, Field, Format, FromContestFile, Pairing, PairingResult, Ranking, groups};
use crate::Player;
use crate::forms::ShortOrLong;
use crate::settings::Mistake;
use referee_protocol::sanitize::sanitize_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::ops::RangeInclusive;

/// Each challenger plays every group of others that fills the seats, `rounds` times. Challengers don't
/// play each other. All pairings are known from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauntlet {
    /// How many of the first players are challengers.
    pub challengers: u32,
}

/// More about `gauntlet`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Gauntlet")]
pub(crate) struct Table {
    /// The challengers: how many of the first agents, or a list of names.
    challengers: Option<ShortOrLong<u32, Vec<String>>>,
}

impl FromContestFile for Gauntlet {
    const HELP: &'static str = "the first player, or several, plays all others";
    const SEATS: RangeInclusive<usize> = 2..=usize::MAX;
    type Table = Table;

    /// Reads how many challengers there are, and puts them first.
    fn read(
        table: Option<&Table>,
        entry: &Entry<'_>,
        order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        let challengers = challengers(table, entry.names)?;
        order.retain(|place| !challengers.contains(place));
        order.splice(0..0, challengers.iter().copied());
        Ok(Self { challengers: u32::try_from(challengers.len()).unwrap_or(u32::MAX) })
    }
}

/// Returns the places of the challengers among the agents.
fn challengers(table: Option<&Table>, known: &[String]) -> Result<Vec<usize>, Mistake> {
    let Some(given) = table.and_then(|table| table.challengers.as_ref()) else {
        return Ok(vec![0]);
    };
    let most = known.len().saturating_sub(1);
    let mut places = Vec::new();
    match given {
        ShortOrLong::Short(count) => {
            places.extend(0..usize::try_from(*count).unwrap_or(usize::MAX).min(most + 1));
        }
        ShortOrLong::Long(names) => {
            for (index, name) in names.iter().enumerate() {
                let wanted = sanitize_name(name);
                let at = |message| Mistake::at(format!(".challengers.{index}"), message);
                let Some(place) = known.iter().position(|name| *name == wanted) else {
                    return Err(at(format!("there is no player `{wanted}`"))
                        .or_near(&wanted, known.iter().map(String::as_str)));
                };
                if places.contains(&place) {
                    return Err(at(format!("`{wanted}` is named twice")));
                }
                places.push(place);
            }
        }
    }
    if places.is_empty() || places.len() > most {
        let message = format!(
            "a gauntlet of {} players needs 1 to {most} challengers, not {}",
            known.len(),
            places.len()
        );
        return Err(Mistake::at(".challengers", message));
    }
    Ok(places)
}

impl Gauntlet {
    /// Returns the number of challengers and that of the others.
    fn sides(self, field: Field) -> (usize, usize) {
        let challengers = field.players.min(self.challengers as usize);
        (challengers, field.players - challengers)
    }
}

impl Format for Gauntlet {
    fn takes_late(&self) -> bool {
        true
    }

    fn ranked_by(&self, _is_even: bool) -> Ranking {
        Ranking::PointsPerGame
    }

    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let (challengers, others) = self.sides(field);
        let tables = groups::count(others, field.seats.saturating_sub(1));
        let count =
            tables.saturating_mul(challengers as u64).saturating_mul(u64::from(field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        let Field { players, seats, rounds, .. } = field;
        let (challengers, others) = self.sides(field);
        if !past.is_empty() {
            return Vec::new();
        }
        let tables = groups::groups(others, seats.saturating_sub(1));
        let mut pairings = Vec::new();
        for round in 1..=rounds {
            for step in 0..tables.len() {
                for (turn, challenger) in Player::all(challengers).enumerate() {
                    // Challengers begin as far from each other as they can, so that no one waits.
                    let begins = turn * tables.len() / challengers;
                    let table = (step + begins) % tables.len();
                    let others = tables[table].iter().map(|other| other.index() + challengers);
                    let met = std::iter::once(challenger).chain(others.map(groups::player));
                    let mut players: SmallVec<[Player; 4]> = met.collect();
                    // Every other opponent of a player is first: that balances two seats, and
                    // more than two nearly.
                    let turned = (round as usize - 1 + turn + table) % players.len();
                    players.rotate_left(turned);
                    pairings.push(Pairing { round, players });
                }
            }
        }
        if seats > 2 {
            balance_seats(&mut pairings, players, seats);
        }
        pairings
    }
}
