//! Knockout: the loser of a tie is out.

use super::bracket::{Ties, losers, seeded, sharing, ties, winners};
use super::cup::{self, THIRD_PLACE, Table};
use super::{Entry, Field, Format, FromContestFile, Pairing, PairingResult, TieRules};
use crate::Player;
use crate::settings::Mistake;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A bracket of the next power of two, for games of two seats. A tie is `rounds` pairings of two
/// players, and more while it is level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knockout {
    /// Whether the losers of the semi-finals play for the third place.
    #[serde(default)]
    pub third_place: bool,
    /// How ties are decided.
    #[serde(default)]
    pub ties: TieRules,
}

impl FromContestFile for Knockout {
    const HELP: &'static str = "a bracket in which a player is out after a lost tie";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Table = Table;

    fn check(table: &Table) -> Result<(), Mistake> {
        table.check()
    }

    fn ranking_file(table: &Table) -> Option<&String> {
        table.seeding_from.as_ref()
    }

    fn read(
        table: Option<&Table>,
        entry: &Entry<'_>,
        order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        cup::seed(table, entry, order)?;
        let third_place = table.and_then(|table| table.third_place).unwrap_or(false);
        Ok(Self { third_place, ties: Table::tie_rules(table) })
    }
}

impl Knockout {
    /// Returns the final order, or the pairings to play before it is known.
    fn play(self, field: Field, past: &[PairingResult]) -> Result<Vec<Vec<Player>>, Vec<Pairing>> {
        let mut played = Ties::new(field, self.ties, past);
        let mut places = seeded(field.players);
        // The players who went out in each round, the last round first.
        let mut out: Vec<Vec<Player>> = Vec::new();
        for round in 1.. {
            let mut stage = ties(&places);
            let is_final = stage.len() == 1;
            let for_third = match out.first().map(Vec::as_slice) {
                Some(&[one, other]) if is_final && self.third_place => Some([one, other]),
                _ => None,
            };
            stage.splice(0..0, for_third.map(|pair| pair.map(Some)));
            let decided = played.play(round, &stage)?;
            let (third, decided) = decided.split_at(usize::from(for_third.is_some()));
            for tie in third {
                out.splice(0..1, [sharing(&[tie.winner]), sharing(&[tie.loser])]);
            }
            if !decided.is_empty() {
                out.insert(0, sharing(&losers(decided)));
                places = winners(decided);
            }
            if decided.len() < 2 {
                break;
            }
        }
        out.insert(0, sharing(&places));
        out.retain(|group| !group.is_empty());
        Ok(out)
    }
}

impl Format for Knockout {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let ties = match field.players as u64 {
            players @ 4.. if self.third_place => players,
            players => players.saturating_sub(1),
        };
        let rounds = u64::from(field.rounds);
        ties * rounds..=ties * (rounds + u64::from(self.ties.replays))
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        self.play(field, past).err().unwrap_or_default()
    }

    fn tie_rules(&self) -> Option<TieRules> {
        Some(self.ties)
    }

    fn tie_name(&self, field: Field, round: u32, nth: usize) -> Option<&'static str> {
        let left = field.players.next_power_of_two().ilog2().checked_sub(round)?;
        Some(match left {
            0 if nth == 0 && self.third_place && field.players > 3 => THIRD_PLACE,
            0 => "final",
            1 => "semi-final",
            2 => "quarter-final",
            _ => return None,
        })
    }

    fn ranking(&self, field: Field, past: &[PairingResult]) -> Option<Vec<Vec<Player>>> {
        self.play(field, past).ok()
    }
}
