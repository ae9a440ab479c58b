//! The ties of a report are those that the format counts.

use crate::formats::{DoubleKnockout, Knockout, Swiss};
use crate::report::{Tie, ties};
use crate::standings::tests::contests::contest;
use crate::{FormatSettings, Schedule};
use referee_match::named_seed;
use std::sync::Arc;

/// A contest with random results, more than half of them draws, and its ties.
fn played(format: FormatSettings, players: usize, seed: u64) -> (Schedule, Vec<Tie>) {
    let contest = Arc::new(contest(players, 2, format));
    let mut schedule = Schedule::new(contest.clone());
    let mut number = 0;
    while number < schedule.known() {
        let places: &[u32] = match named_seed(&format!("{seed}:{number}")) % 5 {
            0 => &[1, 2],
            1 => &[2, 1],
            _ => &[1, 1],
        };
        assert!(schedule.record(number, places));
        number += 1;
    }
    assert!(schedule.is_over());
    let found = ties(&contest, schedule.results());
    (schedule, found)
}

#[test]
fn players_who_lose_ties_are_out() {
    for (format, lives) in [
        (FormatSettings::Knockout(Knockout { third_place: false }), 1),
        (FormatSettings::DoubleKnockout(DoubleKnockout {}), 2),
    ] {
        let mut by_seed = 0;
        for players in 2..=11 {
            for seed in 0..20 {
                let (schedule, found) = played(format.clone(), players, seed);
                let ranking = schedule.ranking().unwrap();
                let winner = ranking[0][0];
                for player in ranking.iter().flatten() {
                    let lost = found.iter().filter(|tie| tie.players[1] == *player).count();
                    let most = if *player == winner { lives - 1 } else { lives };
                    assert!(lost == most || (*player == winner && lost < lives), "{found:?}");
                }
                assert_eq!(found.last().unwrap().players[0], winner);
                for tie in &found {
                    assert_eq!(tie.by_seed, tie.points[0] <= tie.points[1], "{tie:?}");
                    assert!(!tie.by_seed || tie.players[0] < tie.players[1], "{tie:?}");
                    assert!((1..=4).contains(&tie.pairings), "{tie:?}");
                }
                let pairings: usize = found.iter().map(|tie| tie.pairings as usize).sum();
                assert_eq!(pairings, schedule.results().len(), "every pairing belongs to a tie");
                by_seed += found.iter().filter(|tie| tie.by_seed).count();
            }
        }
        assert!(by_seed > 0, "level ties came about");
    }
}

#[test]
fn other_formats_have_none() {
    let (_, found) = played(FormatSettings::Swiss(Swiss {}), 4, 1);
    assert!(found.is_empty());
}
