//! Double knockout: a player who loses two ties is out.

use super::bracket::{Ties, losers, seeded, sharing, ties, winners};
use super::cup::{self, Table};
use super::{Entry, Field, Format, FromContestFile, Pairing, PairingResult, TieRules};
use crate::Player;
use crate::settings::Mistake;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Two brackets, for games of two seats. The loser of a tie in the winners' bracket drops into the
/// losers' bracket; the loser of a tie there is out. The winners of both brackets play the final, and
/// once more if the winner of the winners' bracket loses it. Ties are those of a knockout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubleKnockout {
    /// How ties are decided.
    #[serde(default)]
    pub ties: TieRules,
}

impl DoubleKnockout {
    /// Returns the final order, or the pairings to play before it is known.
    ///
    /// A round of the winners' bracket is played together with a round of the losers' bracket among
    /// players who are already there. In the next round they meet those who have just dropped.
    fn play(self, field: Field, past: &[PairingResult]) -> Result<Vec<Vec<Player>>, Vec<Pairing>> {
        if field.players < 2 {
            return Ok(Player::all(field.players).map(|player| vec![player]).collect());
        }
        let mut played = Ties::new(field, self.ties, past);
        let mut out = Vec::new();
        let decided = played.play(1, &ties(&seeded(field.players)))?;
        let [mut upper, mut lower] = [winners(&decided), losers(&decided)];
        let mut round = 1;
        for drop in 1.. {
            if upper.len() < 2 {
                break;
            }
            let stage = [ties(&lower), ties(&upper)].concat();
            let decided = played.play(round + 1, &stage)?;
            let (below, above) = decided.split_at(lower.len() / 2);
            out.push(sharing(&losers(below)));
            upper = winners(above);
            let dropped = crossed(&losers(above), drop);
            let stage: Vec<_> =
                std::iter::zip(winners(below), dropped).map(<[_; 2]>::from).collect();
            let decided = played.play(round + 2, &stage)?;
            out.push(sharing(&losers(&decided)));
            lower = winners(&decided);
            round += 2;
        }
        let last: Vec<_> = std::iter::zip(upper, lower).map(<[_; 2]>::from).collect();
        let unbeaten = last.first().and_then(|tie| tie[0]);
        let mut decided = played.play(round + 1, &last)?;
        if decided.iter().any(|tie| tie.winner != unbeaten) {
            decided = played.play(round + 2, &last)?;
        }
        out.push(sharing(&losers(&decided)));
        out.push(sharing(&winners(&decided)));
        out.retain(|group| !group.is_empty());
        out.reverse();
        Ok(out)
    }
}

/// The places in the losers' bracket of those who drop from the winners' bracket in the n-th drop, such
/// that two who have met meet again as late as possible. The n-th drop exchanges the parts of the
/// bracket that the binary digits of n, lowest first, represent: halves in the first drop, quarters
/// within halves in the second, both in the third, eighths in the fourth, and so on.
fn crossed(dropped: &[Option<Player>], drop: usize) -> Vec<Option<Player>> {
    let digits = dropped.len().trailing_zeros();
    let exchanged = drop.reverse_bits().checked_shr(usize::BITS - digits).unwrap_or(0);
    (0..dropped.len()).map(|place| dropped[place ^ exchanged]).collect()
}

impl FromContestFile for DoubleKnockout {
    const HELP: &'static str = "a bracket in which a player is out after two lost ties";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Table = Table;

    fn check(table: &Table) -> Result<(), Mistake> {
        if table.third_place.is_some() {
            let message = "a double knockout has no tie for the third place";
            return Err(Mistake::at(".third_place", message).help("remove `third_place`"));
        }
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
        Ok(Self { ties: Table::tie_rules(table) })
    }
}

impl Format for DoubleKnockout {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let beaten = (field.players as u64).saturating_sub(1);
        let rounds = u64::from(field.rounds);
        // Everyone but the winner loses twice, the winner once at most.
        let most = (2 * beaten + beaten.min(1)) * (rounds + u64::from(self.ties.replays));
        2 * beaten * rounds..=most
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        self.play(field, past).err().unwrap_or_default()
    }

    fn tie_rules(&self) -> Option<TieRules> {
        Some(self.ties)
    }

    fn tie_name(&self, field: Field, round: u32, _nth: usize) -> Option<&'static str> {
        // Two rounds of the losers' bracket follow each but the first of the winners' bracket.
        let last = 2 * field.players.next_power_of_two().ilog2();
        match round.checked_sub(last)? {
            0 => Some("final"),
            _ => Some("second final"),
        }
    }

    fn ranking(&self, field: Field, past: &[PairingResult]) -> Option<Vec<Vec<Player>>> {
        self.play(field, past).ok()
    }
}
