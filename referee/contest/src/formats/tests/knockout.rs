use super::super::bracket::seeded;
use super::super::simulation::random;
use super::{Pairing, by_chance, favourite, field, listed, losers, played_out, ranking};
use crate::formats::{DoubleKnockout, Knockout, LevelTies, TieRules};
use crate::{FormatSettings, Player};
use proptest::prelude::*;

const TIES: TieRules = TieRules { replays: 3, level: LevelTies::HigherSeed };
const DOUBLE: FormatSettings = FormatSettings::DoubleKnockout(DoubleKnockout { ties: TIES });

fn knockout(third_place: bool) -> FormatSettings {
    FormatSettings::Knockout(Knockout { third_place, ..Knockout::default() })
}

#[test]
fn seeds_have_their_places() {
    let places = |players| -> Vec<Option<u32>> {
        seeded(players).into_iter().map(|place| place.map(|player| player.0 + 1)).collect()
    };
    assert_eq!(places(8), [1, 8, 4, 5, 2, 7, 3, 6].map(Some));
    assert_eq!(places(16)[..8], [1, 16, 8, 9, 4, 13, 5, 12].map(Some));
    let six = [Some(1), None, Some(4), Some(5), Some(2), None, Some(3), Some(6)];
    assert_eq!(places(6), six);
}

#[test]
fn six_players_and_a_third_place() {
    let format = knockout(true);
    let met = played_out(&format, field(6, 2, 1), favourite);
    let expected = [(1, [3, 4]), (1, [2, 5]), (2, [0, 3]), (2, [1, 2]), (3, [2, 3]), (3, [0, 1])];
    assert_eq!(listed(&met), expected);
    let places = ranking(&format, field(6, 2, 1), &met);
    assert_eq!(places, [vec![0], vec![1], vec![2], vec![3], vec![4, 5]]);
}

#[test]
fn very_few_players() {
    let knockouts = [knockout(false), knockout(true)].map(|format| (format, vec![0, 0, 1, 2]));
    for (format, pairings) in knockouts.into_iter().chain([(DOUBLE, vec![0, 0, 2])]) {
        for (players, pairings) in pairings.into_iter().enumerate() {
            let field = field(players, 2, 1);
            let met = played_out(&format, field, favourite);
            assert_eq!(met.len(), pairings);
            assert!(
                ranking(&format, field, &met)
                    .into_iter()
                    .eq((0..).map(|it| vec![it]).take(players))
            );
        }
    }
}

/// The longest contest is one of draws, in which the winners' bracket's winner loses the very last
/// game of the final of a double knockout; the shortest is won at once by the higher seeds.
#[test]
fn the_least_and_the_most_are_exact() {
    for (players, rounds) in
        (2..=20).flat_map(|players| (1..=3).map(move |rounds| (players, rounds)))
    {
        for format in [knockout(false), knockout(true), DOUBLE] {
            let field = field(players, 2, rounds);
            let size = format.size(field);
            let last_of_final = (2 * players as u64 - 2) * u64::from(rounds + 3);
            let mut games = 0;
            let longest = played_out(&format, field, |pairing| {
                games += 1;
                let lost = games == last_of_final && format == DOUBLE;
                let worth = |player: &Player| u32::from(player.0 > 0) * 2;
                if lost { pairing.players.iter().map(worth).collect() } else { vec![1, 1] }
            });
            assert_eq!(longest.len() as u64, *size.end(), "{format:?} {field:?}");
            assert_eq!(format.ranking(field, &longest).unwrap()[0], [Player(0)]);
            let shortest = played_out(&format, field, favourite);
            assert_eq!(shortest.len() as u64, *size.start(), "{format:?} {field:?}");
        }
    }
}

#[test]
fn a_level_tie_goes_on_three_times_at_most() {
    // The second seed wins the n-th game; all before are drawn.
    for wins_at in 0..6 {
        let mut game = 0;
        let met = played_out(&knockout(false), field(2, 2, 2), |pairing| {
            game += 1;
            let second = usize::from(pairing.players[1] == Player(1));
            let mut half_points = vec![1, 1];
            if game == wins_at + 1 {
                half_points = if second == 1 { vec![0, 2] } else { vec![2, 0] };
            }
            half_points
        });
        let (length, winner) = match wins_at {
            0 | 1 => (2, 1),
            2..=4 => (wins_at + 1, 1),
            _ => (5, 0),
        };
        assert_eq!(met.len(), length, "won at {wins_at}");
        let places = ranking(&knockout(false), field(2, 2, 2), &met);
        assert_eq!(places[0], [winner], "won at {wins_at}");
        let firsts: Vec<u32> = met.iter().map(|met| met.pairing.players[0].0).collect();
        assert_eq!(firsts, [0, 1, 0, 1, 0][..length], "they take turns with the first seat");
        assert!(met.iter().all(|met| met.pairing.round == 1));
    }
}

/// A simple knockout: the strongest remaining place meets the weakest, the second the second to
/// last, and so on. Winners of ties are looked up.
fn plain(players: usize, wins: impl Fn(u32, u32, u32) -> u32) -> Vec<Vec<u32>> {
    let mut left: Vec<Option<u32>> = (0..players.next_power_of_two())
        .map(|place| u32::try_from(place).ok().filter(|_| place < players))
        .collect();
    let mut ranking = Vec::new();
    let mut round = 0;
    while left.len() > 1 {
        round += 1;
        let mut out = Vec::new();
        let half = left.len() / 2;
        for place in 0..half {
            let other = left[2 * half - 1 - place];
            if let (Some(one), Some(other)) = (left[place], other) {
                let winner = wins(round, one, other);
                out.push(if winner == one { other } else { one });
                left[place] = Some(winner);
            }
        }
        left.truncate(half);
        out.sort_unstable();
        ranking.insert(0, out);
    }
    ranking.insert(0, left.into_iter().flatten().collect());
    ranking
}

proptest! {
    #[test]
    fn it_goes_as_a_plain_knockout(
        players in 2_usize..=70, rounds in 1_u32..=3, games in 1_u32..=2, seed: u64,
    ) {
        let field = field(players, 2, rounds);
        let met = played_out(&knockout(false), field, by_chance(games, seed));
        let losers = losers(&met);
        prop_assert_eq!(losers.len(), players - 1, "one tie for everybody who goes out");
        let expected = plain(players, |round, one, other| {
            one + other - losers[&(round, [one.min(other), one.max(other)])]
        });
        prop_assert_eq!(ranking(&knockout(false), field, &met), expected);
        let mut pairs: Vec<[u32; 2]> = losers.into_keys().map(|(_, pair)| pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), players - 1, "no two players meet twice");
    }

    #[test]
    fn the_third_place_changes_nothing_else(players in 4_usize..=40, seed: u64) {
        let field = field(players, 2, 1);
        let wins = |pairing: &Pairing| {
            let [one, other] = [0, 1].map(|seat| u64::from(pairing.players[seat].0));
            let higher: bool = random(seed ^ (one.min(other) << 16 | one.max(other))).random();
            if higher == (one < other) { vec![2, 0] } else { vec![0, 2] }
        };
        let places = |third: bool| {
            let format = knockout(third);
            ranking(&format, field, &played_out(&format, field, wins))
        };
        let (mut with, without) = (places(true), places(false));
        let mut third: Vec<u32> = with.splice(2..4, [vec![]]).flatten().collect();
        third.sort_unstable();
        with[2] = third;
        prop_assert_eq!(with, without);
    }
}
