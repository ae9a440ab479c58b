//! Ratings from scores against contests with a known truth.

use super::{field, game};
use crate::Record;
use crate::ratings::{RatedGames, RatingField, ScoreRating, rate};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_protocol::{FaultKind, MatchResult};

fn scores_of(field: &RatingField, records: &[Record]) -> Vec<Option<ScoreRating>> {
    let ratings = rate(&RatedGames::of(field, records));
    ratings.players.iter().map(|rating| rating.score).collect()
}

fn scored(number: u64, block: u64, players: &[u32], scores: &[i64]) -> Record {
    let places: Vec<u32> = scores
        .iter()
        .map(|own| 1 + u32::try_from(scores.iter().filter(|other| *other > own).count()).unwrap())
        .collect();
    Record { scores: Some(scores.to_vec()), ..game(number, block, players, &places) }
}

#[test]
fn the_difference_is_what_one_scores_more_than_the_other() {
    // The first seat is worth 2 more than the second, player 0 scores 6 more than player 1.
    let records: Vec<Record> = (0..20)
        .map(|number| {
            let (players, scores) =
                if number % 2 == 0 { ([0, 1], [4, -4]) } else { ([1, 0], [-2, 2]) };
            scored(number, number / 2, &players, &scores)
        })
        .collect();
    let ratings = scores_of(&field(2, 2), &records);
    for (rating, truth) in ratings.iter().zip([3.0, -3.0]) {
        let rating = rating.unwrap();
        assert!((rating.score - truth).abs() < 1e-3, "{rating:?}");
        assert!(rating.low.unwrap() <= truth + 1e-3 && rating.high.unwrap() >= truth - 1e-3);
    }
    // Too few blocks for an interval.
    let one = scores_of(&field(2, 2), &records[..2]);
    assert!((one[0].unwrap().score - 3.0).abs() < 1e-3 && one[0].unwrap().low.is_none());
    // Nothing without scores, and where their units differ.
    let without = records.iter().map(|it| Record { scores: None, ..it.clone() });
    assert_eq!(scores_of(&field(2, 2), &without.collect::<Vec<_>>()), [None, None]);
    let differing = RatingField { has_scores: false, ..field(2, 2) };
    assert_eq!(scores_of(&differing, &records), [None, None]);
}

/// Who would lose 2 and leaves instead is as far behind as anybody was in any game.
#[test]
fn to_leave_is_never_better_than_to_lose() {
    let played: Vec<Record> = (0..20)
        .map(|number| {
            let score = if number % 4 == 0 { 3 } else { -2 };
            match number % 2 {
                0 => scored(number, number, &[0, 1], &[score, -score]),
                _ => scored(number, number, &[1, 0], &[-score, score]),
            }
        })
        .collect();
    let left: Vec<Record> = played
        .iter()
        .map(|game| {
            let mut game = game.clone();
            let own = game.players.iter().position(|player| player.0 == 0).unwrap();
            if game.places[own] == 2 {
                game.seats[own].fault = Some(FaultKind::Resigned);
                (game.result, game.scores) = (MatchResult::Resigned, None);
            }
            game
        })
        .collect();
    let of = |records: &[Record]| scores_of(&field(2, 2), records)[0].unwrap().score;
    // (5 * 3 + 15 * -2) / 20, and (5 * 3 + 15 * -3) / 20: the first player's place above the mean.
    assert!((of(&played) + 0.75).abs() < 1e-3 && (of(&left) + 1.5).abs() < 1e-3);
    let notes = rate(&RatedGames::of(&field(2, 2), &left)).notes;
    assert!(notes.iter().any(|note| note.contains("ended: 15") && note.contains("are 6 behind")));
    // Agents' scores that end a game are no way out, either; a draw by them is one.
    let adjudicated = |places: &[u32]| {
        let (result, places) = (MatchResult::Adjudicated, places.to_vec());
        vec![played[0].clone(), Record { result, scores: None, places, ..played[1].clone() }]
    };
    let of_two = |records: Vec<Record>| RatedGames::of(&field(2, 2), &records);
    let second = |games: RatedGames| games.scored().nth(1).unwrap().scores;
    assert_eq!(second(of_two(adjudicated(&[2, 1]))), [-6.0, 0.0]);
    assert_eq!(second(of_two(adjudicated(&[1, 1]))), [0.0, 0.0]);
}

#[test]
fn what_the_rules_score_a_seat_that_left_does_not_count() {
    let mut game = scored(1, 1, &[2, 1, 0], &[50, 20, 90]);
    game.seats[2].fault = Some(FaultKind::Late);
    let records = [scored(0, 0, &[0, 1, 2], &[0, 30, 10]), game];
    let of = |field: RatingField| {
        let games = RatedGames::of(&field, &records);
        games.scored().nth(1).unwrap().scores
    };
    assert_eq!(of(field(3, 3)), [50.0, 20.0, 20.0]);
    let fewer = RatingField { fewer_is_better: true, ..field(3, 3) };
    assert_eq!(of(fewer), [50.0, 20.0, 50.0]);
}

/// A contest in which each player meets each other one so often, with cards that are the same for a block or not, and
/// scores that are far from normal. Returns how many of the intervals contain the truth, in percent.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
fn coverage(players: u32, seats: usize, rounds: u64, duplicate: bool, contests: u64) -> f64 {
    let (mut held, mut all) = (0.0, 0.0);
    for seed in 0..contests {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut luck = || {
            let unit: f64 = random.random_range(-1.0..1.0);
            30.0 * unit.powi(5)
        };
        let worth: Vec<f64> = (0..players).map(|player| f64::from(player) * 3.0).collect();
        let mut records = Vec::new();
        let mut block = 0;
        for _ in 0..rounds {
            for first in 0..players {
                for step in 1..=(players - 1) / 2 + (players + 1) % 2 {
                    let of_pairing: Vec<u32> = (0..u32::try_from(seats).unwrap())
                        .map(|seat| (first + seat * step) % players)
                        .collect();
                    let mut cards: Vec<f64> = (0..seats).map(|_| luck()).collect();
                    for turn in 0..seats {
                        let mut order = of_pairing.clone();
                        order.rotate_left(turn);
                        let own: Vec<f64> = (0..seats).map(|_| luck()).collect();
                        if !duplicate {
                            cards = (0..seats).map(|_| luck()).collect();
                        }
                        let score = |seat: usize| {
                            let worth = worth[order[seat] as usize] + 2.0 * seat as f64;
                            (worth + cards[seat] + own[seat]).round() as i64
                        };
                        let scores: Vec<i64> = (0..seats).map(score).collect();
                        let number = records.len() as u64;
                        records.push(scored(number, block, &order, &scores));
                    }
                    block += 1;
                }
            }
        }
        let mean = worth.iter().sum::<f64>() / worth.len() as f64;
        let found = scores_of(&field(players as usize, seats), &records);
        for (rating, truth) in found.iter().zip(&worth) {
            let rating = rating.unwrap();
            let (low, high) = (rating.low.unwrap(), rating.high.unwrap());
            held += f64::from(u8::from((low..high).contains(&(truth - mean))));
            all += 1.0;
        }
    }
    100.0 * held / all
}

/// How many contests are simulated: docs/decisions has the result of many.
fn contests() -> u64 {
    std::env::var("REFEREE_RATED_CONTESTS").map_or(150, |it| it.parse().unwrap())
}

#[test]
fn intervals_contain_the_truth_as_often_as_they_say() {
    for (players, seats, rounds, duplicate) in
        [(2, 2, 5, false), (2, 2, 20, true), (6, 2, 1, false), (5, 3, 2, true)]
    {
        let coverage = coverage(players, seats, rounds, duplicate, contests());
        println!("{players} players, {seats} seats, {rounds} rounds, {duplicate}: {coverage}");
        assert!(
            (90.0..99.0).contains(&coverage),
            "{players} {seats} {rounds} {duplicate}: {coverage}"
        );
    }
}

/// A round robin in which players leave some of their games; the truth is that they are then as far behind as anybody was.
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
#[test]
fn intervals_contain_the_truth_if_players_leave() {
    const PLAYERS: u32 = 4;
    const LEAVES: [f64; 4] = [0.0, 0.1, 0.02, 0.2];
    let worth = |player: u32| f64::from(player) * 3.0;
    let (mut held, mut all) = (0.0, 0.0);
    for seed in 0..contests() {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut records = Vec::new();
        for number in 0..20 * u64::from(PLAYERS * PLAYERS) {
            let players = [number as u32 % PLAYERS, number as u32 / PLAYERS % PLAYERS];
            let [one, other] = players;
            if one == other {
                continue;
            }
            let lead = (worth(one) - worth(other) + random.random_range(-30.0..30.0)).round();
            let mut game = scored(number, number, &players, &[lead as i64, 0]);
            let luck: f64 = random.random_range(0.0..1.0);
            let leaver = if luck < LEAVES[one as usize] {
                Some(0)
            } else {
                (luck > 1.0 - LEAVES[other as usize]).then_some(1)
            };
            if let Some(seat) = leaver {
                game.seats[seat].fault = Some(FaultKind::Late);
                (game.result, game.scores) = (MatchResult::Fault, None);
                game.places = if seat == 0 { vec![2, 1] } else { vec![1, 2] };
            }
            records.push(game);
        }
        let field = field(PLAYERS as usize, 2);
        let lag = -RatedGames::of(&field, &records).greatest_lag();
        let found = scores_of(&field, &records);
        for (one, rating) in (0..PLAYERS).zip(found) {
            let against = |other: u32| {
                let [own, others] = [one, other].map(|player| LEAVES[player as usize]);
                (1.0 - own - others) * (worth(one) - worth(other)) + (others - own) * lag
            };
            let others = (0..PLAYERS).filter(|&other| other != one);
            let truth = others.map(against).sum::<f64>() / f64::from(PLAYERS);
            let rating = rating.unwrap();
            let within = rating.low.unwrap()..rating.high.unwrap();
            held += f64::from(u8::from(within.contains(&truth)));
            all += 1.0;
        }
    }
    let coverage = 100.0 * held / all;
    println!("if players leave: {coverage}");
    assert!((90.0..99.0).contains(&coverage), "{coverage}");
}
