//! Who loses twice is out.

use super::bracket::{REPLAYS, Ties, losers, seeded, sharing, ties, winners};
use super::{Field, Format, Met, Pairing};
use crate::Player;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Two brackets, for games of two seats: who loses in the winners' bracket drops down into the
/// losers' bracket, who loses there is out. The winners of both play the final, and once more if
/// that is the first tie that the winner of the winners' bracket loses. Ties as in a knockout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubleKnockout {}

impl DoubleKnockout {
    /// The final order, or the pairings that come before it is known.
    ///
    /// A round of the winners' bracket is played together with one of the losers' bracket in which
    /// its own players meet; in the next round they meet those who just dropped down.
    fn play(field: Field, past: &[Met]) -> Result<Vec<Vec<Player>>, Vec<Pairing>> {
        if field.players < 2 {
            return Ok(Player::all(field.players).map(|player| vec![player]).collect());
        }
        let mut played = Ties::new(field, past);
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

/// Where those who drop down from the winners' bracket come into the losers' bracket, in its n-th
/// drop: so far from where earlier ones came in that any two who have met already come together as
/// late as can be. The n-th drop exchanges the parts of the bracket that the binary digits of n,
/// lowest first, stand for: halves in the first drop, quarters within halves in the second, both in
/// the third, eighths in the fourth, as long as there are any.
fn crossed(dropped: &[Option<Player>], drop: usize) -> Vec<Option<Player>> {
    let digits = dropped.len().trailing_zeros();
    let exchanged = drop.reverse_bits().checked_shr(usize::BITS - digits).unwrap_or(0);
    (0..dropped.len()).map(|place| dropped[place ^ exchanged]).collect()
}

impl Format for DoubleKnockout {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let beaten = (field.players as u64).saturating_sub(1);
        let rounds = u64::from(field.rounds);
        // Everybody but the winner loses twice, the winner once at most.
        let most = (2 * beaten + beaten.min(1)) * (rounds + u64::from(REPLAYS));
        2 * beaten * rounds..=most
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        Self::play(field, past).err().unwrap_or_default()
    }

    fn ranking(&self, field: Field, past: &[Met]) -> Option<Vec<Vec<Player>>> {
        Self::play(field, past).ok()
    }
}
