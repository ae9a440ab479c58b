//! What must hold of any games.

use super::contests::{contest, game};
use super::ranks::ALL;
use super::standings;
use crate::formats::{Compare, Swiss};
use crate::standings::Points;
use crate::{FormatSettings, Player, Record};
use proptest::prelude::*;
use referee_protocol::{FaultKind, MatchResult};

const PLAYERS: u32 = 5;

/// Games of `seats` different players with places as competitions give them.
fn records(seats: usize) -> impl Strategy<Value = Vec<Record>> {
    let players = Just((0..PLAYERS).collect::<Vec<u32>>()).prop_shuffle();
    let one = (players, prop::collection::vec(0_u32..3, seats), any::<bool>());
    prop::collection::vec(one, 0..30).prop_map(move |games| {
        let record = |(number, (players, levels, marked)): (u64, (Vec<u32>, Vec<u32>, bool))| {
            let behind = |level: &u32| levels.iter().filter(|other| *other < level).count() + 1;
            let places: Vec<u32> =
                levels.iter().map(|level| u32::try_from(behind(level)).unwrap()).collect();
            Record { marked, ..game(number, &players[..seats], &places) }
        };
        (0..).zip(games).map(record).collect()
    })
}

fn any_games() -> impl Strategy<Value = (usize, Vec<Record>)> {
    (2_usize..=4).prop_flat_map(|seats| (Just(seats), records(seats)))
}

proptest! {
    #[test]
    fn every_game_hands_out_the_same_points((seats, records) in any_games()) {
        let table = standings(&contest(PLAYERS as usize, seats, ALL), &records, &[], None);
        let sum: u64 = table.players.iter().map(|standing| standing.points.parts()).sum();
        let games = records.len() as u64;
        prop_assert_eq!(Points::new(sum, 2 * (seats as u64 - 1)),
            Points::new(games * seats as u64, 2));
        let seats_sum: u64 = table.by_seat.iter().map(|tally| tally.points.parts()).sum();
        prop_assert_eq!(sum, seats_sum);
        prop_assert_eq!(table.ends.iter().map(|end| end.games).sum::<u64>(), games);
        for standing in &table.players {
            let by_seat: u64 = standing.by_seat.iter().map(|tally| tally.points.parts()).sum();
            prop_assert_eq!(by_seat, standing.points.parts());
            let against: Vec<_> =
                table.cross.iter().filter(|met| met.row == standing.player).collect();
            let met: u64 = against.iter().map(|met| met.games).sum();
            prop_assert_eq!(met, standing.total.games * (seats as u64 - 1));
            // What it did to all others is what it got, in parts of a game of two.
            let half_points: u64 = against.iter().map(|met| met.points.parts()).sum();
            prop_assert_eq!(half_points, standing.points.parts());
            if let (Some(draws), Some(losses)) = (standing.total.draws, standing.total.losses) {
                prop_assert_eq!(standing.total.wins + draws + losses, standing.total.games);
            } else {
                let places: u64 = standing.total.places.iter().sum();
                prop_assert_eq!(places, standing.total.games);
            }
        }
        for met in &table.cross {
            let back = table.cross.iter().find(|o| (o.row, o.column) == (met.column, met.row));
            let back = back.unwrap();
            prop_assert_eq!(met.points.parts() + back.points.parts(), 2 * met.games);
        }
    }

    #[test]
    fn the_order_of_the_records_is_nothing((seats, records) in any_games(), turn in 0_usize..30) {
        let contest = contest(PLAYERS as usize, seats, FormatSettings::Swiss(Swiss {}));
        let mut other = records.clone();
        if !other.is_empty() {
            let middle = turn % other.len();
            other.rotate_left(middle);
            other.swap(0, middle);
        }
        let (table, same) =
            (standings(&contest, &records, &[], None), standings(&contest, &other, &[], None));
        prop_assert_eq!(table, same);
    }

    #[test]
    fn points_are_printed_exactly_where_they_can_be(parts in 0_u64..100_000, whole in 1_u64..9) {
        let points = Points::new(parts, whole);
        let printed: f64 = points.to_string().parse().unwrap();
        let error = if matches!(whole, 3 | 6 | 7) { 0.0005 } else { 0.0 };
        prop_assert!((printed - points.value()).abs() <= error + 1e-9, "{points}");
        prop_assert!(!points.to_string().ends_with(".0"));
    }
}

#[test]
fn ranks_go_down_with_points() {
    let records: Vec<Record> =
        (0..40_u64).map(|n| game(n, &[(n % 5) as u32, (n / 5 % 5) as u32], &[1, 2])).collect();
    let table = standings(&contest(5, 2, ALL), &records, &[], None);
    assert_eq!(table.players[0].rank, 1);
    for pair in table.players.windows(2) {
        assert!(pair[0].rank <= pair[1].rank && pair[0].points >= pair[1].points);
    }
}

#[test]
fn faults_duplicates_marks_and_ends_are_counted() {
    let mut records =
        vec![game(0, &[0, 1], &[1, 2]), game(1, &[1, 0], &[1, 2]), game(2, &[0, 1], &[1, 2])];
    records[2].moves = records[0].moves.clone();
    records[1].moves = records[0].moves.clone();
    records[1].seats[1].fault = Some(FaultKind::Late);
    // To resign is no fault.
    records[1].seats[0].fault = Some(FaultKind::Resigned);
    records[1].result = MatchResult::Fault;
    records[1].reason = "late".into();
    records[1].marked = true;
    let format = FormatSettings::Compare(Compare { sprt: None });
    let table = standings(&contest(2, 2, format), &records, &[], None);
    assert_eq!((table.games, table.duplicates, table.marked), (3, 1, 1));
    assert_eq!(table.ends[0].games, 2);
    assert_eq!((table.ends[1].result, table.ends[1].reason.as_str()), (MatchResult::Fault, "late"));
    let resigned = records[1].players[0];
    assert!(table.of(resigned).unwrap().faults.iter().all(|one| one.kind != FaultKind::Resigned));
    let faults = &table.of(Player(0)).unwrap().faults;
    assert_eq!((faults.len(), faults[0].kind, faults[0].games), (1, FaultKind::Late, 1));
    let time = table.of(Player(1)).unwrap().time;
    assert_eq!((time.used_ms, time.max_used_ms, time.ms_a_turn), (600, 200, Some(10.0)));
}

#[test]
fn no_games_and_foreign_records_are_no_panic() {
    let contest = contest(2, 2, ALL);
    let table = standings(&contest, &[], &[], None);
    assert_eq!(table.players.iter().map(|standing| standing.rank).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(table.players[0].total.share(), None);
    let foreign = [game(0, &[0, 7], &[1, 2]), game(1, &[0], &[1]), game(2, &[0, 1], &[1])];
    assert_eq!(standings(&contest, &foreign, &[], None).games, 0);
}
