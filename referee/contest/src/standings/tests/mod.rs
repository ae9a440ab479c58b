//! Standings of games made by hand and at random.

pub(crate) mod contests;
mod ranks;
mod sums;

use super::{Standings, Sums};
use crate::repeats::Repeats;
use crate::{Contest, Player, Record};

/// Returns the standings after `records`.
pub(crate) fn standings(
    contest: &Contest,
    records: &[Record],
    bonus: &[u32],
    ranking: Option<&[Vec<Player>]>,
) -> Standings {
    let (mut sums, mut repeats) = (Sums::new(contest), Repeats::default());
    for record in records {
        sums.add(record, repeats.first(record, &[]).is_some());
    }
    sums.standings(bonus, ranking)
}
