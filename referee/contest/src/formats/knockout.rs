//! Knockout: the loser of a tie is out.

use super::bracket::{TIE_REPLAYS_MAX, Ties, losers, seeded, sharing, ties, winners};
use super::{Field, Format, FromContestFile, Input, Pairing, PairingResult};
use crate::Player;
use crate::file::FileError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A bracket of the next power of two, for games of two seats. A tie is `rounds` pairings of two
/// players, and more while it is level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knockout {
    /// Whether the losers of the semi-finals play for the third place.
    #[serde(default)]
    pub third_place: bool,
}

impl FromContestFile for Knockout {
    const HELP: &'static str = "a bracket in which a player is out after a lost tie";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Table = Self;

    fn read(input: &mut Input<'_, Self>) -> Result<Self, FileError> {
        Ok(input.table.copied().unwrap_or_default())
    }
}

impl Knockout {
    /// Returns the final order, or the pairings to play before it is known.
    fn play(self, field: Field, past: &[PairingResult]) -> Result<Vec<Vec<Player>>, Vec<Pairing>> {
        let mut played = Ties::new(field, past);
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
        ties * rounds..=ties * (rounds + u64::from(TIE_REPLAYS_MAX))
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        self.play(field, past).err().unwrap_or_default()
    }

    fn tie_replays_max(&self) -> Option<u32> {
        Some(TIE_REPLAYS_MAX)
    }

    fn ranking(&self, field: Field, past: &[PairingResult]) -> Option<Vec<Vec<Player>>> {
        self.play(field, past).ok()
    }
}
