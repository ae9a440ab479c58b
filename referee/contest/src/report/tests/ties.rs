//! The ties of a report are those that the format counts.

use crate::formats::{DoubleKnockout, Knockout, LevelTies, Swiss, TieRules};
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
    for (level, replays) in [(LevelTies::HigherSeed, 3), (LevelTies::Lot, 0), (LevelTies::Lot, 3)] {
        let ties = TieRules { replays, level };
        let knockout = Knockout { third_place: false, ties };
        assert_lives(&FormatSettings::Knockout(knockout), 1, ties);
        assert_lives(&FormatSettings::DoubleKnockout(DoubleKnockout { ties }), 2, ties);
    }
}

/// Each player loses as many ties as it has lives, but the winner.
fn assert_lives(format: &FormatSettings, lives: usize, rules: TieRules) {
    let (mut higher, mut lower) = (0, 0);
    for (players, seed) in (2..=11).flat_map(|players| (0..20).map(move |seed| (players, seed))) {
        let (schedule, found) = played(format.clone(), players, seed);
        let ranking = schedule.ranking().unwrap();
        let winner = ranking[0][0];
        for player in ranking.iter().flatten() {
            let lost = found.iter().filter(|tie| tie.players[1] == *player).count();
            let most = if *player == winner { lives - 1 } else { lives };
            assert!(lost == most || (*player == winner && lost < lives), "{found:?}");
        }
        let last = found.last().unwrap();
        assert_eq!(last.players[0], winner);
        assert!(last.name.unwrap().ends_with("final"), "{last:?}");
        for tie in &found {
            let is_level = tie.points[0] <= tie.points[1];
            assert_eq!(
                (tie.by_seed, tie.by_lot),
                match rules.level {
                    LevelTies::HigherSeed => (is_level, false),
                    LevelTies::Lot => (false, is_level),
                }
            );
            let by_rank = tie.players[0] < tie.players[1];
            assert!(!tie.by_seed || by_rank, "{tie:?}");
            (higher, lower) =
                (higher + u32::from(is_level && by_rank), lower + u32::from(is_level && !by_rank));
            assert!((1..=1 + rules.replays).contains(&tie.pairings), "{tie:?}");
        }
        let pairings: usize = found.iter().map(|tie| tie.pairings as usize).sum();
        assert_eq!(pairings, schedule.results().len(), "every pairing belongs to a tie");
    }
    assert!(higher > 0, "level ties came about");
    assert_eq!(lower > 0, rules.level == LevelTies::Lot, "{higher} of {}", higher + lower);
}

#[test]
fn the_last_ties_have_names() {
    let ties = TieRules { replays: 3, level: LevelTies::Lot };
    let names = |format: FormatSettings, players| -> Vec<Option<&str>> {
        played(format, players, 1).1.iter().map(|tie| tie.name).collect()
    };
    let knockout = FormatSettings::Knockout(Knockout { third_place: true, ties });
    let [semi, third, last] = ["semi-final", "third place", "final"].map(Some);
    assert_eq!(names(knockout.clone(), 4), [semi, semi, third, last]);
    assert_eq!(names(knockout.clone(), 3), [semi, last]);
    assert_eq!(names(knockout, 5)[..1], [Some("quarter-final")]);
    let double = names(FormatSettings::DoubleKnockout(DoubleKnockout { ties }), 4);
    assert_eq!(double.iter().filter(|name| **name == last).count(), 1, "{double:?}");
}

#[test]
fn other_formats_have_none() {
    let (_, found) = played(FormatSettings::Swiss(Swiss {}), 4, 1);
    assert!(found.is_empty());
}
