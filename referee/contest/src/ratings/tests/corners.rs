//! Corner cases: every figure is finite, whatever happened, and notes say what it rests on.

use super::{field, game, games};
use crate::ratings::{Ends, HistoryPoint, RatedGames, RatingField, Ratings};
use crate::{Player, Record};
use proptest::prelude::*;
use referee_protocol::{FaultKind, MatchResult};

const WIN: &[u32] = &[1, 2];
const LOSS: &[u32] = &[2, 1];
const DRAW: &[u32] = &[1, 1];

/// Every figure there is.
fn figures(ratings: &Ratings) -> Vec<f64> {
    let players = ratings.players.iter().flat_map(|rating| {
        let interval = [rating.low, rating.high, rating.error];
        [Some(rating.elo), rating.better_than_next].into_iter().chain(interval).flatten()
    });
    let seats = ratings.seats.iter().flat_map(|term| [Some(term.elo), term.error]).flatten();
    players.chain(seats).chain(ratings.draw).collect()
}

fn assert_sound(field: &RatingField, records: &[Record]) -> Ratings {
    let ratings = rate(field, records);
    assert!(figures(&ratings).iter().all(|figure| figure.is_finite()), "{ratings:?}");
    assert_eq!(ratings.players.len(), field.players);
    let text = serde_json::to_string(&ratings).unwrap();
    for rating in &ratings.players {
        let both = rating.low.is_some() && rating.high.is_some();
        assert_eq!(rating.error.is_some(), both, "{text}");
        assert!(rating.error.is_none_or(|error| error > 0.0), "{text}");
        assert!(rating.better_than_next.is_none_or(|chance| (0.0..=100.0).contains(&chance)));
        assert_eq!((rating.low, rating.high).0.filter(|_| rating.games == 0), None, "{text}");
        assert!(rating.group < ratings.groups, "{text}");
    }
    for group in 0..ratings.groups {
        let members = ratings.players.iter().filter(|rating| rating.group == group);
        let centre = members.filter(|rating| ratings.centre.contains(&rating.player));
        let sum: f64 = centre.map(|rating| rating.elo).sum();
        assert!(sum.abs() < 1e-6, "the mean of a centre is 0: {text}");
    }
    for point in rate_history(field, records, 5) {
        assert!(point.elo.iter().flatten().all(|elo| elo.is_finite()));
    }
    ratings
}

fn rate(field: &RatingField, records: &[Record]) -> Ratings {
    crate::ratings::rate(&RatedGames::of(field, records))
}

fn rate_history(field: &RatingField, records: &[Record], points: usize) -> Vec<HistoryPoint> {
    crate::ratings::rate_history(&RatedGames::of(field, records), points)
}

fn elo(ratings: &Ratings) -> Vec<f64> {
    ratings.players.iter().map(|rating| rating.elo).collect()
}

#[test]
fn nothing_is_finite() {
    let none = assert_sound(&field(3, 2), &[]);
    assert_eq!(elo(&none), [0.0; 3]);
    assert_eq!((none.games, none.groups, none.draw), (0, 3, None));
    assert_eq!(none.notes[0], "No games were rated.");
    assert_eq!(assert_sound(&field(0, 2), &[]).groups, 0);
    assert_sound(&field(0, 0), &[]);
    assert!(rate_history(&field(3, 2), &[], 20).is_empty());
}

#[test]
fn puzzles_and_wrong_records_are_left_out() {
    let alone = games(&[(&[0], &[1]), (&[1], &[2])]);
    assert_eq!(assert_sound(&field(2, 1), &alone).games, 0);
    let mut wrong = games(&[
        (&[0, 0], WIN),
        (&[0, 5], WIN),
        (&[0, 1, 2], &[1, 2, 3]),
        (&[0, 1], &[1]),
        (&[0, 1], WIN),
    ]);
    wrong[4].result = MatchResult::Void;
    assert_eq!(assert_sound(&field(2, 2), &wrong).games, 0);
}

#[test]
fn who_wins_everything_stays_finite() {
    let won: Vec<(&[u32], &[u32])> = vec![(&[0, 1], WIN), (&[1, 0], LOSS)];
    let few = assert_sound(&field(2, 2), &games(&won));
    let many = assert_sound(&field(2, 2), &games(&won.repeat(500)));
    assert!(elo(&few)[0] > 50.0 && elo(&many)[0] > elo(&few)[0] + 300.0);
    assert!(elo(&many)[0] < 2000.0);
    let ends = |player: usize| [many.players[player].low, many.players[player].high];
    assert!(matches!(ends(0), [Some(low), None] if low > 500.0), "{:?}", ends(0));
    assert!(matches!(ends(1), [None, Some(high)] if high < -500.0), "{:?}", ends(1));
    assert_eq!((many.won_all, many.lost_all), (vec![Player(0)], vec![Player(1)]));
    assert!(many.notes.iter().any(|note| note.contains("1 player won every game")));
    assert_eq!(many.draw, Some(0.0));
}

/// In a Swiss contest only chains of pairings hold the ends of the field apart.
#[test]
fn ratings_of_a_chain_are_inside_their_intervals() {
    let pairs: Vec<[[u32; 2]; 2]> = (0..10).map(|own| [[own, own + 1], [own + 1, own]]).collect();
    let mut list: Vec<(&[u32], &[u32])> = Vec::new();
    for [first, second] in &pairs {
        // Two of three games are won, from either seat.
        list.extend([(&first[..], WIN), (&first[..], WIN), (&first[..], LOSS)]);
        list.extend([(&second[..], LOSS), (&second[..], LOSS), (&second[..], WIN)]);
    }
    let ratings = assert_sound(&field(11, 2), &games(&list));
    for rating in &ratings.players {
        assert!(rating.low.is_none_or(|low| low < rating.elo), "{rating:?}");
        assert!(rating.high.is_none_or(|high| rating.elo < high), "{rating:?}");
    }
    let distance = ratings.players[0].elo - ratings.players[10].elo;
    assert!((800.0..1200.0).contains(&distance), "ten steps of 120 Elo: {distance}");
}

/// Until games link them, groups have no common 0: the chart has a gap instead of a fall to 0.
#[test]
fn the_history_begins_when_the_groups_are_linked() {
    let list: &[(&[u32], &[u32])] = &[
        (&[0, 1], WIN),
        (&[2, 3], WIN),
        (&[1, 2], WIN),
        (&[0, 2], WIN),
        (&[4, 5], WIN),
        (&[4, 0], WIN),
    ];
    let shown: Vec<Vec<usize>> = rate_history(&field(6, 2), &games(list), 6)
        .iter()
        .map(|point| (0..6).filter(|&player| point.elo[player].is_some()).collect())
        .collect();
    // After one game nobody else has played; then there are two groups, one, again two, and one.
    let all = vec![0, 1, 2, 3, 4, 5];
    assert_eq!(shown, [vec![0, 1], vec![], vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![], all]);
    // Who is never linked has a line of its own.
    let apart = rate_history(&field(6, 2), &games(&list[..5]), 5);
    assert!(apart.last().is_some_and(|point| point.elo.iter().all(Option::is_some)));
}

#[test]
fn draws_alone_give_no_information() {
    let drawn: Vec<(&[u32], &[u32])> = vec![(&[0, 1], DRAW), (&[1, 0], DRAW)];
    let ratings = assert_sound(&field(2, 2), &games(&drawn.repeat(20)));
    assert_eq!(elo(&ratings), [0.0, 0.0]);
    assert_eq!(ratings.draw, Some(1.0));
    assert_eq!((ratings.players[0].low, ratings.players[0].high), (None, None));
    assert!(ratings.notes.iter().any(|note| note.contains("shared one place in every game")));
    assert!(ratings.won_all.is_empty() && ratings.lost_all.is_empty());
}

#[test]
fn one_seat_may_win_always() {
    let first: Vec<(&[u32], &[u32])> = vec![(&[0, 1], WIN), (&[1, 0], WIN)];
    let ratings = assert_sound(&field(2, 2), &games(&first.repeat(20)));
    assert!(elo(&ratings)[0].abs() < 1e-6);
    assert!(ratings.seats[0].elo > 200.0 && ratings.seats[1].elo < -200.0);
    // Only one of both orders is played: most of what was found is the players', whose prior is weaker.
    let one: Vec<(&[u32], &[u32])> = vec![(&[0, 1], WIN)];
    let ratings = assert_sound(&field(2, 2), &games(&one.repeat(40)));
    assert!(0.0 < ratings.seats[0].elo && ratings.seats[0].elo < elo(&ratings)[0]);
}

#[test]
fn places_may_be_shared_by_any() {
    for places in [[1, 1, 1], [1, 1, 3], [1, 2, 2], [1, 2, 3], [2, 2, 1], [3, 1, 1]] {
        let list: Vec<(&[u32], &[u32])> = vec![(&[0, 1, 2], &places), (&[2, 0, 1], &places)];
        assert_sound(&field(3, 3), &games(&list));
        assert_sound(&field(3, 3), &games(&list.repeat(30)));
    }
    // Who shares the first place is better than who comes behind, and worse than its only winner.
    let list: Vec<(&[u32], &[u32])> =
        vec![(&[0, 1, 2], &[1, 1, 3]), (&[2, 0, 1], &[3, 1, 2]), (&[1, 2, 0], &[2, 2, 1])];
    let ratings = assert_sound(&field(3, 3), &games(&list.repeat(10)));
    let elo = elo(&ratings);
    assert!(elo[0] > elo[1] && elo[1] > elo[2], "{elo:?}");
}

#[test]
fn groups_that_are_not_linked_have_their_own_zeros() {
    let list: Vec<(&[u32], &[u32])> =
        vec![(&[3, 1], WIN), (&[1, 3], WIN), (&[1, 3], WIN), (&[4, 0], WIN), (&[0, 4], LOSS)];
    let ratings = assert_sound(&field(5, 2), &games(&list.repeat(12)));
    let groups: Vec<u64> = ratings.players.iter().map(|rating| rating.group).collect();
    assert_eq!(groups, [0, 1, 2, 1, 0]);
    assert_eq!(ratings.groups, 3);
    assert!(ratings.notes.iter().any(|note| note.contains("2 groups")));
    assert!(ratings.notes.iter().any(|note| note.contains("1 player without a rated game")));
    // The next one is the next of the group.
    let better: Vec<bool> =
        ratings.players.iter().map(|rating| rating.better_than_next.is_some()).collect();
    assert_eq!(better, [false, true, false, false, true]);
}

#[test]
fn who_lost_everything_leaves_the_intervals_of_others_alone() {
    let list: Vec<(&[u32], &[u32])> = vec![
        (&[0, 1], WIN),
        (&[1, 0], WIN),
        (&[0, 1], LOSS),
        (&[1, 0], LOSS),
        (&[2, 0], LOSS),
        (&[1, 2], WIN),
    ];
    let ratings = assert_sound(&field(3, 2), &games(&list.repeat(10)));
    assert_eq!(ratings.centre, [Player(0), Player(1)]);
    let [one, other, loser] = &ratings.players[..] else { unreachable!("three players") };
    for own in [one, other] {
        assert!(own.low.is_some_and(|low| low > -150.0 && low < own.elo), "{own:?}");
        assert!(own.high.is_some_and(|high| high < 150.0 && high > own.elo), "{own:?}");
    }
    assert!(loser.low.is_none() && loser.high.is_some_and(|high| high < -200.0), "{loser:?}");
}

#[test]
fn results_in_a_fixed_order_bound_only_its_ends() {
    let list: Vec<(&[u32], &[u32])> = vec![(&[0, 1], WIN), (&[2, 1], LOSS), (&[0, 2], WIN)];
    let ratings = assert_sound(&field(3, 2), &games(&list.repeat(20)));
    let known: Vec<[bool; 2]> =
        ratings.players.iter().map(|own| [own.low.is_some(), own.high.is_some()]).collect();
    assert_eq!(known, [[true, false], [false, false], [false, true]]);
}

#[test]
fn games_of_a_block_that_are_alike_widen_intervals() {
    // Player 0 wins both games of six blocks and loses both of four.
    let pair = |block: u64, won: bool| {
        let (first, second) = if won { (WIN, LOSS) } else { (LOSS, WIN) };
        [game(2 * block, block, &[0, 1], first), game(2 * block + 1, block, &[1, 0], second)]
    };
    let alike: Vec<Record> = (0..100).flat_map(|block| pair(block, block % 10 < 6)).collect();
    let mut mixed = alike.clone();
    for record in &mut mixed {
        record.block = record.number;
    }
    let [alike, mixed] = [alike, mixed].map(|records| assert_sound(&field(2, 2), &records));
    assert!(alike.dispersion > 1.7 && mixed.dispersion < 1.3, "{alike:?} {mixed:?}");
    let [wide, narrow] = [&alike, &mixed].map(|ratings| ratings.players[0].error.unwrap());
    assert!(wide > 1.25 * narrow, "{wide} {narrow}");
}

#[test]
fn parts_that_only_won_against_the_others_are_noted() {
    let list: Vec<(&[u32], &[u32])> =
        vec![(&[0, 1], WIN), (&[1, 0], WIN), (&[2, 3], WIN), (&[3, 2], WIN), (&[0, 2], WIN)];
    let ratings = assert_sound(&field(4, 2), &games(&list));
    assert!(ratings.notes.iter().any(|note| note.contains("won every game against the rest")));
    let mut linked = list.clone();
    linked.push((&[3, 0], WIN));
    let ratings = assert_sound(&field(4, 2), &games(&linked));
    assert!(!ratings.notes.iter().any(|note| note.contains("prior")), "{:?}", ratings.notes);
}

#[test]
fn the_same_game_counts_once() {
    let list: Vec<(&[u32], &[u32])> = vec![(&[0, 1], WIN), (&[1, 0], WIN), (&[1, 0], LOSS)];
    let once = games(&list);
    let mut often = once.clone();
    for number in 3..30 {
        let mut again = game(number, number, &[0, 1], WIN);
        again.moves.clone_from(&once[0].moves);
        often.push(again);
    }
    let (once, often) = (assert_sound(&field(2, 2), &once), assert_sound(&field(2, 2), &often));
    assert_eq!(elo(&once), elo(&often));
    assert_eq!((once.duplicates, often.duplicates, often.games, often.blocks), (0, 27, 3, 3));
    assert!(often.notes.iter().any(|note| note.contains("27")));
    // The same moves by others, or in other seats, are another game.
    let mut swapped = games(&[(&[0, 1], WIN), (&[1, 0], WIN)]);
    swapped[1].moves = swapped[0].moves.clone();
    assert_eq!(rate(&field(2, 2), &swapped).duplicates, 0);
}

#[test]
fn faults_count_if_the_contest_says_so() {
    let mut list = games(&[(&[0, 1], WIN), (&[1, 0], WIN), (&[1, 0], LOSS)]);
    list[0].result = MatchResult::Fault;
    list[2].seats[0].fault = Some(FaultKind::Late);
    list[1].seats[1].fault = Some(FaultKind::Resigned);
    let counted = assert_sound(&field(2, 2), &list);
    assert_eq!(counted.games, 3);
    let strict = RatingField { rate_faults: false, ..field(2, 2) };
    let left = assert_sound(&strict, &list);
    assert_eq!(left.games, 1);
    assert!(left.notes.iter().any(|note| note.contains("not rated: 2")));
    list.remove(1);
    assert_eq!(assert_sound(&strict, &list).games, 0);
}

#[test]
fn history_ends_where_the_ratings_are() {
    let results: Vec<(&[u32], &[u32])> =
        vec![(&[0, 1], WIN), (&[1, 0], DRAW), (&[1, 2], LOSS), (&[2, 0], WIN), (&[0, 2], WIN)];
    let records = games(&results.repeat(9));
    let history = rate_history(&field(4, 2), &records, 20);
    assert_eq!(history.len(), 20);
    assert_eq!(history[0].games, 2);
    assert_eq!(history[0].elo[2], None);
    let last = history.last().unwrap();
    let ratings = rate(&field(4, 2), &records);
    assert_eq!(last.games, 45);
    for player in 0..3 {
        let difference = last.elo[player].unwrap() - ratings.players[player].elo;
        assert!(difference.abs() < 0.01, "{difference}");
    }
    assert_eq!(last.elo[3], None);
    let rated = RatedGames::of(&field(4, 2), &records);
    let intervals = crate::ratings::history_intervals(&rated, &history);
    assert_eq!(intervals.len(), 20);
    let present: Vec<Ends> = ratings.players.iter().map(|own| [own.low, own.high]).collect();
    assert_eq!(intervals[19], present);
    // The fewer games, the wider.
    assert_eq!(intervals[0][2], [None; 2]);
    let width = |point: usize| intervals[point][0][1].unwrap() - intervals[point][0][0].unwrap();
    assert!(width(0) > width(5) && width(5) > width(19), "{} {}", width(5), width(19));
    // Not more points than games.
    assert_eq!(rate_history(&field(4, 2), &records[..3], 20).len(), 3);
}

/// A record of a small contest: players may be wrong, and places anything.
fn any_record(players: u32, seats: usize) -> impl Strategy<Value = Record> {
    let sitting = prop::collection::vec(0..players + 1, seats);
    let places = prop::collection::vec(1..=u32::try_from(seats).unwrap(), seats);
    (0..12_u64, 0..6_u64, sitting, places, 0..8_u32).prop_map(
        |(number, block, sitting, places, luck)| {
            let mut record = game(number, block, &sitting, &places);
            record.moves = (luck / 2).to_string();
            record.result = if luck == 0 { MatchResult::Fault } else { MatchResult::Played };
            record
        },
    )
}

/// Players, seats and records.
fn any_contest() -> impl Strategy<Value = (usize, usize, Vec<Record>)> {
    (1..6_u32, 1..5_usize).prop_flat_map(|(players, seats)| {
        let records = prop::collection::vec(any_record(players, seats), 0..40);
        records.prop_map(move |records| (players as usize, seats, records))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_contest_has_finite_ratings(
        (players, seats, records) in any_contest(),
        rate_faults: bool,
    ) {
        assert_sound(&RatingField { rate_faults, ..field(players, seats) }, &records);
    }

    #[test]
    fn the_order_of_records_makes_no_difference(
        ((players, seats, records), turned) in any_contest().prop_flat_map(|contest| {
            let shuffled = Just(contest.2.clone()).prop_shuffle();
            (Just(contest), shuffled)
        })
    ) {
        let field = field(players, seats);
        let bits = |records: &[Record]| {
            let ratings = rate(&field, records);
            let history = rate_history(&field, records, 4);
            let figures: Vec<u64> = figures(&ratings).into_iter().map(f64::to_bits).collect();
            (figures, ratings.notes, ratings.duplicates, history)
        };
        prop_assert_eq!(bits(&records), bits(&turned));
    }
}
