use super::super::simulation::{by_strength, play, random};
use super::super::tests::played;
use super::super::{Field, Format, Pairing, PairingResult};
use super::{Ladder, Strength, learnt, strengths_after};
use crate::{Player, Seed};
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

const LADDER: Ladder = Ladder {};

fn field(players: usize, seats: usize, rounds: u32, seed: u64) -> Field {
    Field { players, seats, rounds, seed: Seed::Number(seed) }
}

/// Strengths from best to worst, in logits, over this range.
fn spread(players: usize, range: f64) -> Vec<f64> {
    let step = range / f64::from(u32::try_from(players).unwrap());
    (0..u32::try_from(players).unwrap()).map(|player| -step * f64::from(player)).collect()
}

fn meetings(past: &[PairingResult]) -> BTreeMap<(Player, Player), i64> {
    let mut meetings = BTreeMap::new();
    for met in past {
        let players = &met.pairing.players;
        for pair in players.iter().flat_map(|one| players.iter().map(move |other| (*one, *other))) {
            if pair.0 < pair.1 {
                *meetings.entry(pair).or_insert(0) += 1;
            }
        }
    }
    meetings
}

#[test]
fn every_player_plays_and_never_twice_at_once() {
    for (players, seats) in (2..=13).flat_map(|players| [(players, 2), (players + 1, 3)]) {
        let field = field(players, seats, 5, 9);
        let past =
            play(&LADDER, field, by_strength(&spread(players, 3.0), 1, random(1)), |past, next| {
                let played = played(players, past.iter().map(|met| &met.pairing.players));
                let (most, least) = (played.iter().max().unwrap(), played.iter().min().unwrap());
                assert!(most - least <= 1, "{players} players, {seats} seats: {played:?}");
                assert_eq!(next.is_empty(), *least >= 5);
                let mut all: Vec<Player> =
                    next.iter().flat_map(|pairing| pairing.players.clone()).collect();
                let count = all.len();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), count);
                assert_eq!(count, next.len() * seats);
            });
        assert_eq!(LADDER.size(field), past.len() as u64..=past.len() as u64);
    }
}

#[test]
fn the_same_seed_gives_the_same_batches_and_another_does_not() {
    let run = |seed| {
        let field = field(20, 2, 4, seed);
        play(&LADDER, field, by_strength(&spread(20, 3.0), 1, random(1)), |_, _| {})
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5)[..10], run(6)[..10]);
}

#[test]
fn no_two_players_meet_too_often() {
    // 2 * ceil(rounds * (seats - 1) / (players - 1)).
    for (players, rounds, most) in [(6, 20, 8), (10, 30, 8), (40, 20, 2), (24, 46, 4)] {
        let field = field(players, 2, rounds, 2);
        let past =
            play(&LADDER, field, by_strength(&spread(players, 6.0), 1, random(2)), |_, _| {});
        let often = meetings(&past).into_values().max().unwrap();
        assert!(often <= most, "{players} players, {rounds} rounds: {often}");
    }
    let past =
        play(&LADDER, field(30, 3, 20, 2), by_strength(&spread(30, 4.0), 1, random(2)), |_, _| {});
    let often = meetings(&past).into_values().max().unwrap();
    assert!(often <= 5, "thirty in threes: {often}");
}

#[test]
fn seats_are_balanced() {
    let past =
        play(&LADDER, field(30, 2, 21, 2), by_strength(&spread(30, 3.0), 1, random(2)), |_, _| {});
    let mut balance = [0_i32; 30];
    for met in &past {
        balance[met.pairing.players[0].index()] += 1;
        balance[met.pairing.players[1].index()] -= 1;
    }
    assert!(balance.iter().all(|balance| balance.abs() <= 3), "{balance:?}");
    let past =
        play(&LADDER, field(30, 3, 21, 2), by_strength(&spread(30, 3.0), 1, random(2)), |_, _| {});
    let mut sat = [[0_i32; 3]; 30];
    for met in &past {
        for (seat, player) in met.pairing.players.iter().enumerate() {
            sat[player.index()][seat] += 1;
        }
    }
    assert!(sat.iter().flatten().all(|&times| (5..=9).contains(&times)), "{sat:?}");
}

/// Returns how many meetings there are among the first players, as a multiple of those with
/// random opponents.
fn share(past: &[PairingResult], players: usize, first: u32) -> f64 {
    let meetings = meetings(past);
    let among = meetings.iter().filter(|((_, low), _)| low.0 < first);
    let among: i64 = among.map(|(_, times)| times).sum();
    let all: i64 = meetings.values().sum();
    let pairs = |players: u32| f64::from(players * (players - 1) / 2);
    let share = f64::from(u32::try_from(among).unwrap()) / f64::from(u32::try_from(all).unwrap());
    share * pairs(u32::try_from(players).unwrap()) / pairs(first)
}

#[test]
fn the_strong_meet_the_strong() {
    for (players, seats, least) in [(64, 2, 2.0), (63, 3, 2.0)] {
        let runs: Vec<Vec<PairingResult>> = (0..3)
            .map(|seed| {
                let field = field(players, seats, 20, seed);
                let luck = random(seed + 4);
                play(&LADDER, field, by_strength(&spread(players, 8.0), 1, luck), |_, _| {})
            })
            .collect();
        let mean = |first| runs.iter().map(|past| share(past, players, first)).sum::<f64>() / 3.0;
        let (quarter, four) = (mean(16), mean(4));
        eprintln!("{seats} seats: the first 16 meet {quarter:.2} times as often as by chance");
        eprintln!("{seats} seats: the first 4 meet {four:.2} times as often as by chance");
        assert!(quarter > least && four > least, "{seats} seats: {quarter} {four}");
        let first_two = (Player(0), Player(1));
        let met = runs.iter().filter(|past| meetings(past).contains_key(&first_two)).count();
        eprintln!("{seats} seats: the first two meet in {met} of 3");
        assert!(met >= 2, "{seats} seats: the first two meet in {met} of 3");
    }
}

/// All players play in every round, with random opponents: the baseline for a ladder.
struct Drawn;

impl Format for Drawn {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        LADDER.size(field)
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        let round = past.last().map_or(1, |met| met.pairing.round + 1);
        if round > field.rounds {
            return Vec::new();
        }
        let Seed::Number(seed) = field.seed else { unreachable!() };
        let mut all: Vec<Player> = Player::all(field.players).collect();
        all.shuffle(&mut random(seed * 1000 + u64::from(round)));
        let groups = all.chunks_exact(field.seats);
        groups.map(|group| Pairing { round, players: group[..].into() }).collect()
    }
}

/// Kendall's tau between an estimate and the list order.
fn tau(estimate: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for low in 0..estimate.len() {
        for high in 0..low {
            count += 1.0;
            sum += (estimate[high] - estimate[low]).signum();
        }
    }
    sum / count
}

/// A joint fit, independent of how the ladder rates: Bradley-Terry by minorisation (Hunter 2004),
/// each pair of a game a comparison, with half a win and half a loss against the middle.
fn fit(players: usize, past: &[PairingResult]) -> Vec<f64> {
    let mut strength = vec![1.0_f64; players];
    for _ in 0..200 {
        let mut won = vec![0.5; players];
        let mut met: Vec<f64> = strength.iter().map(|own| 1.0 / (own + 1.0)).collect();
        for pairing in past {
            let all = &pairing.pairing.players;
            for (index, player) in all.iter().enumerate() {
                won[player.index()] += f64::from(pairing.half_points[index]) / 2.0;
                for other in all.iter().filter(|&other| other != player) {
                    met[player.index()] +=
                        1.0 / (strength[player.index()] + strength[other.index()]);
                }
            }
        }
        strength = won.iter().zip(&met).map(|(won, met)| won / met).collect();
    }
    strength
}

#[test]
fn a_ladder_orders_at_least_as_well_as_chance() {
    // Where the two differ much, a few contests are enough.
    for (players, seats, rounds, range, contests) in
        [(40, 2, 10, 4.0, 4), (40, 2, 30, 4.0, 2), (100, 2, 15, 10.0, 1), (39, 3, 10, 4.0, 4)]
    {
        let strength = spread(players, range);
        let mean = |ladder: bool| {
            let runs = (0..contests).map(|seed| {
                let field = field(players, seats, rounds, seed);
                let format: &dyn Format = if ladder { &LADDER } else { &Drawn };
                let luck = random(seed + 50);
                let past = play(format, field, by_strength(&strength, 1, luck), |_, _| {});
                assert_eq!(past.len() as u64, *format.size(field).start());
                tau(&fit(players, &past))
            });
            runs.sum::<f64>() / f64::from(u32::try_from(contests).unwrap())
        };
        let (ladder, drawn) = (mean(true), mean(false));
        eprintln!(
            "{players} players, {seats} seats, {rounds} rounds: tau {ladder:.3}, drawn {drawn:.3}"
        );
        assert!(ladder >= drawn - 0.01, "tau {ladder:.3}, drawn {drawn:.3}");
    }
}

#[test]
fn most_is_learnt_from_the_unknown_and_the_near() {
    let strength = |mean, deviation| Strength { mean, deviation };
    let own = strength(0.0, 0.5);
    assert!(learnt(own, strength(0.1, 0.5)) > learnt(own, strength(1.0, 0.5)));
    assert!(learnt(own, strength(0.1, 1.0)) > learnt(own, strength(0.1, 0.5)));
    assert_eq!(learnt(own, strength(1.0, 0.3)), learnt(strength(1.0, 0.3), own));
}

/// Extreme results don't break the ratings.
#[test]
fn strengths_stay_finite() {
    for seats in [2, 3] {
        let field = field(6, seats, 100, 0);
        let lopsided = |pairing: &Pairing| {
            let worse = |own: &Player| pairing.players.iter().filter(|other| *other > own).count();
            let half_points = pairing.players.iter().map(worse);
            half_points.map(|worse| 400 * u32::try_from(worse).unwrap()).collect()
        };
        let past = play(&LADDER, field, lopsided, |_, _| {});
        let strengths = strengths_after(field, &past);
        assert!(strengths.iter().all(|own| own.mean.is_finite() && own.deviation > 0.0));
        assert!(strengths.windows(2).all(|pair| pair[0].mean >= pair[1].mean), "{strengths:?}");
    }
}

/// The ladder with the team of each player.
struct OfTeams(Vec<Option<Player>>);

impl Format for OfTeams {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        LADDER.size(field)
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        LADDER.next_of_teams(field, &self.0, past)
    }
}

/// A team can hand in any number of versions that lose to its first.
#[test]
fn versions_of_a_team_do_not_meet_and_all_find_opponents() {
    for teams in [
        &[0, 1, 2, 3, 0, 0][..],
        &[0, 1, 0, 0, 0, 0, 0],
        &[0, 1, 2, 0, 0, 0, 1, 1, 0, 0, 0],
        &[0, 1, 1, 0],
    ] {
        let ladder = OfTeams(teams.iter().map(|&team| Some(Player(team))).collect());
        let field = field(teams.len(), 2, 6, 3);
        let strengths = spread(teams.len(), 3.0);
        let past = play(&ladder, field, by_strength(&strengths, 1, random(1)), |_, next| {
            for pairing in next {
                let [one, other] = pairing.players[..] else { panic!("{pairing:?}") };
                assert_ne!(teams[one.index()], teams[other.index()], "{pairing:?}");
            }
        });
        let played = played(teams.len(), past.iter().map(|met| &met.pairing.players));
        assert!(played.iter().all(|count| *count >= 6), "{teams:?}: {played:?}");
        assert!(past.len() <= 6 * teams.len());
    }
    // Alone, a team has nobody to meet.
    let alone = OfTeams(vec![Some(Player(0)); 4]);
    assert_eq!(alone.next(field(4, 2, 6, 3), &[]), []);
}
