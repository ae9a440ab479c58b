//! The schedule: what it makes of pairings, and that the order of results changes nothing in it.

use crate::formats::{Compare, DoubleKnockout, Gauntlet, Knockout, Puzzle, RoundRobin};
use crate::pairing::seat_orders;
use crate::standings::tests::contests;
use crate::summary::report;
use crate::{
    Contest, ContestGame, Fixture, FormatSettings, Opening, Player, Record, Schedule, SeatOrders,
    Seed, SprtSettings,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::GAMES;
use referee_protocol::GameProgramRecord;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) fn contest(format: FormatSettings, players: usize, seats: usize) -> Contest {
    let usual = contests::contest(players, seats, format);
    Contest { seed: Seed::Number(7), games: vec![game(seats, 0)], ..usual }
}

fn game(seats: usize, index: usize) -> ContestGame {
    ContestGame {
        name: format!("game {index}"),
        game: "any".to_owned(),
        program: None,
        setup: json!({}),
        seats,
        fewer_is_better: false,
    }
}

/// Contests of every format, with few enough games to be played through.
fn any_contest() -> impl Strategy<Value = Contest> {
    let settings = (0..8_usize, 2..=40_usize, 1..=2_u32, 1..=2_usize, 0..3_usize, 1..=4_u32);
    settings.prop_map(|(format, players, rounds, games, orders, count)| {
        use FormatSettings as F;
        let triples_per_player = (format == 2).then_some(count);
        let round_robin = F::RoundRobin(RoundRobin { triples_per_player });
        let (format, players, seats) = match format {
            0 => (round_robin, players, 2),
            1 => (round_robin, players / 5, 3),
            2 => (round_robin, players, 3),
            3 => (F::Gauntlet(Gauntlet { challengers: count }), players, 2),
            4 => (
                F::Knockout(Knockout { third_place: count > 2, ..Knockout::default() }),
                players,
                2,
            ),
            5 => (F::DoubleKnockout(DoubleKnockout::default()), players, 2),
            6 => (F::Compare(Compare { sprt: None }), 2, 2),
            _ => (F::Puzzle(Puzzle {}), players, 1),
        };
        let mut contest = contest(format, players, seats);
        contest.rounds = rounds;
        contest.games = (0..games).map(|index| game(seats, index)).collect();
        contest.seat_orders = [SeatOrders::All, SeatOrders::Rotations, SeatOrders::One][orders];
        contest
    })
}

/// How a game ends: places that its number and a seed decide, ties among them.
pub(super) fn places(number: u64, seats: usize, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let drawn: Vec<u64> = (0..seats).map(|_| random.next_u64() % 4).collect();
    let better = |mine: u64| drawn.iter().filter(|&&other| other > mine).count();
    drawn.iter().map(|&mine| u32::try_from(better(mine)).unwrap() + 1).collect()
}

/// Plays a contest to its end; of all games that are known, any is next, or the first without dice.
fn played_out(contest: &Contest, seed: u64, mut dice: Option<ChaCha8Rng>) -> Schedule {
    let mut schedule = Schedule::new(Arc::new(contest.clone()));
    let (least, most) = schedule.size();
    let mut begun = 0;
    let mut waiting = Vec::new();
    loop {
        waiting.extend(begun..schedule.known());
        begun = schedule.known();
        assert!(begun <= most, "{begun} games are more than {most}");
        assert_eq!(schedule.is_over(), waiting.is_empty(), "over when nothing is left");
        if waiting.is_empty() {
            break;
        }
        let index = dice.as_mut().map_or(0, |dice| dice.next_u64() % waiting.len() as u64);
        let number = waiting.remove(usize::try_from(index).unwrap());
        assert!(schedule.counts(number) && !schedule.has(number));
        assert!(!schedule.record(number, &vec![1; contest.seats() + 1]), "too many places");
        let result = places(number, contest.seats(), seed);
        assert!(schedule.record(number, &result));
        let met = schedule.results().len();
        assert!(schedule.record(number, &vec![1; contest.seats()]), "a second result is no error");
        assert_eq!(schedule.results().len(), met, "and changes nothing");
        assert!(schedule.has(number));
    }
    assert_eq!(schedule.played(), begun);
    let remembered = if contest.format.is_fixed() { 0 } else { schedule.pairings().len() };
    assert_eq!(schedule.results().len(), remembered);
    assert!((least..=most).contains(&begun), "{begun} games aren't in {least}..={most}");
    assert!(!schedule.counts(begun) && !schedule.has(begun), "there is no such game");
    assert!(!schedule.record(begun, &vec![1; contest.seats()]));
    assert_eq!(schedule.fixture(begun), None);
    schedule
}

fn fixtures(schedule: &Schedule) -> Vec<Fixture> {
    (0..schedule.known()).map(|number| schedule.fixture(number).unwrap()).collect()
}

/// Games of a block are next to each other, and share all but the order of the players.
fn assert_blocks_are_sound(contest: &Contest, schedule: &Schedule) {
    let games = fixtures(schedule);
    let orders = seat_orders(contest.seats(), contest.seat_orders).len();
    let mut seeds = BTreeSet::new();
    for (block, of_block) in (0..).zip(games.chunks(orders)) {
        let first = &of_block[0];
        assert!(first.seed < 1 << 53);
        seeds.insert(first.seed);
        let pairing = &schedule.pairings()[usize::try_from(block).unwrap() / contest.games.len()];
        assert_eq!((first.round, &first.players[..]), (pairing.round, &pairing.players[..]));
        for (index, fixture) in of_block.iter().enumerate() {
            let number = block * orders as u64 + index as u64;
            assert_eq!((fixture.number, fixture.block), (number, block));
            let shared = |game: &Fixture| (game.round, game.game, game.opening, game.seed);
            assert_eq!(shared(fixture), shared(first));
        }
        let mut seated: Vec<&Vec<Player>> = of_block.iter().map(|game| &game.players).collect();
        seated.sort_unstable();
        seated.dedup();
        assert_eq!(seated.len(), orders, "no order twice");
    }
    let alone = contest.seats() == 1;
    let instances = if alone { contest.rounds as usize } else { schedule.pairings().len() };
    assert_eq!(seeds.len(), instances * contest.games.len(), "a seed a block, or an instance");
}

#[test]
fn no_game_shows_the_draws_of_another_of_its_pairing() {
    let mut contest =
        contest(FormatSettings::RoundRobin(RoundRobin { triples_per_player: None }), 3, 2);
    contest.rounds = 2;
    let schedule = |contest: &Contest| Schedule::new(Arc::new(contest.clone()));
    let of_pairs = schedule(&contest);
    let program = |chance| {
        let described = json!({"name": "any", "chance": chance});
        Some(GameProgramRecord { digest: String::new(), described })
    };
    contest.games[0].program = program(false);
    assert_eq!(fixtures(&schedule(&contest)), fixtures(&of_pairs));
    let openings = |games: &[Fixture]| games.iter().map(|it| it.opening).collect::<Vec<_>>();
    // Without draws, agents could still learn from each other what an opponent draws from its seed.
    for (chance, own_seeds) in [(true, false), (false, true), (true, true)] {
        (contest.games[0].program, contest.own_seeds) = (program(chance), own_seeds);
        let own = fixtures(&schedule(&contest));
        let seeds: BTreeSet<u64> = own.iter().map(|game| game.seed).collect();
        assert_eq!(seeds.len(), own.len());
        assert_eq!(openings(&own), openings(&fixtures(&of_pairs)));
    }
    contest.duplicate_deals = true;
    assert_eq!(fixtures(&schedule(&contest)), fixtures(&of_pairs));
}

/// What a pairing's players got, added up from the games.
fn assert_points_add_up(contest: &Contest, schedule: &Schedule, seed: u64) {
    let mut sums: BTreeMap<(u64, Player), u32> = BTreeMap::new();
    for fixture in fixtures(schedule) {
        let places = places(fixture.number, contest.seats(), seed);
        for (player, worth) in fixture.players.iter().zip(crate::half_points(&places)) {
            *sums.entry((fixture.block, *player)).or_default() += worth;
        }
    }
    for (index, met) in (0..).zip(schedule.results()) {
        for (seat, player) in met.pairing.players.iter().enumerate() {
            for (game, block) in (0..).zip(&met.block_half_points) {
                let number = index * contest.games.len() as u64 + game;
                assert_eq!(block[seat], sums[&(number, *player)]);
            }
            assert_eq!(
                met.half_points[seat],
                met.block_half_points.iter().map(|block| block[seat]).sum::<u32>()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_order_of_results_changes_nothing(contest in any_contest(), seed: u64) {
        let in_order = played_out(&contest, seed, None);
        assert_blocks_are_sound(&contest, &in_order);
        assert_points_add_up(&contest, &in_order, seed);
        let dice = ChaCha8Rng::seed_from_u64(seed);
        let shuffled = played_out(&contest, seed, Some(dice));
        prop_assert_eq!(in_order.results(), shuffled.results());
        prop_assert_eq!(fixtures(&in_order), fixtures(&shuffled));
        let ranking = |schedule: &Schedule| schedule.ranking();
        prop_assert_eq!(ranking(&in_order), ranking(&shuffled));
        let mut ranked: Vec<Player> = ranking(&shuffled).into_iter().flatten().flatten().collect();
        ranked.sort_unstable();
        let all: Vec<Player> = Player::all(contest.players.len()).collect();
        prop_assert!(ranked.is_empty() || ranked == all, "everybody has one place");
    }
}

/// Every seat equally often; with rotations every two neighbours, too.
#[test]
fn seat_orders_are_balanced() {
    let lengths = |which| [1, 2, 3, 4, 6].map(|seats| seat_orders(seats, which).len());
    assert_eq!(lengths(SeatOrders::All), [1, 2, 6, 24, 720]);
    assert_eq!(lengths(SeatOrders::Rotations), [1, 2, 6, 8, 12]);
    assert_eq!(lengths(SeatOrders::One), [1; 5]);
    for seats in 1..=6 {
        for which in [SeatOrders::All, SeatOrders::Rotations] {
            let orders = seat_orders(seats, which);
            assert_eq!(orders.len() as u64, which.count(seats));
            assert_eq!(orders[0], (0..seats).collect::<Vec<_>>(), "its own order is first");
            let mut sat = BTreeMap::new();
            let mut followed = BTreeMap::new();
            for order in &orders {
                for seat in 0..seats {
                    let next = order[(seat + 1) % seats];
                    *sat.entry((order[seat], seat)).or_insert(0) += 1;
                    *followed.entry((order[seat], next)).or_insert(0) += 1;
                }
            }
            let times = orders.len() / seats;
            assert!(sat.len() == seats * seats && sat.values().all(|&count| count == times));
            assert!(
                followed
                    .iter()
                    .all(|((one, other), count)| { followed.get(&(*other, *one)) == Some(count) })
            );
        }
    }
}

/// Each game of a contest goes through all of its positions before one comes again.
#[test]
fn openings_are_all_used() {
    let format = FormatSettings::RoundRobin(RoundRobin { triples_per_player: None });
    let mut contest = contest(format, 9, 2);
    contest.games = vec![game(2, 0), game(2, 1)];
    let positions = |count: u32| (0..count).map(|index| Opening(json!(index))).collect();
    contest.openings.positions = vec![positions(6), positions(4)];
    let schedule = Schedule::new(Arc::new(contest.clone()));
    for (game, count) in [(0, 6), (1, 4)] {
        let games = fixtures(&schedule).into_iter().filter(|fixture| fixture.game == game);
        let drawn: Vec<u64> = games
            .step_by(2)
            .map(|fixture| contest.opening(GAMES[0], game, fixture.opening).unwrap())
            .map(|setup| setup["position"].as_u64().unwrap())
            .collect();
        assert_eq!(drawn.len(), 36);
        for chunk in drawn.chunks(count) {
            assert_eq!(chunk.iter().collect::<BTreeSet<_>>().len(), count, "{drawn:?}");
        }
    }
}

/// All players of a puzzle play the same instance in a round.
#[test]
fn puzzles_are_the_same_for_all() {
    let mut contest = contest(FormatSettings::Puzzle(Puzzle {}), 3, 1);
    contest.rounds = 2;
    let schedule = Schedule::new(Arc::new(contest));
    let instances =
        fixtures(&schedule).into_iter().map(|game| (game.round, game.opening, game.seed));
    let instances: Vec<_> = instances.collect();
    assert_eq!(instances.len(), 6);
    assert_eq!(instances.iter().collect::<BTreeSet<_>>().len(), 2);
    assert!(instances.iter().all(|(round, opening, _)| u64::from(*round) == opening + 1));
}

/// Who wins everything is better after twelve pairs, in whatever order results arrive, and games
/// beyond them don't count.
#[test]
fn what_comes_after_the_decision_does_not_count() {
    let sprt = SprtSettings { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 };
    let mut contest = contest(FormatSettings::Compare(Compare { sprt: Some(sprt) }), 2, 2);
    contest.rounds = 20;
    let contest = Arc::new(contest);
    let orders: [fn(u64) -> u64; 3] =
        [|number| number, |number| 39 - number, |number| 7 * number % 40];
    for order in orders {
        let mut schedule = Schedule::new(contest.clone());
        assert_eq!((schedule.known(), schedule.size()), (40, (2, 40)));
        for number in (0..40).map(order) {
            let decided = (0..24).all(|number| schedule.has(number));
            assert_eq!(schedule.is_over(), decided);
            let counted = if decided { 24 } else { 40 };
            assert!((0..40).all(|number| schedule.counts(number) == (number < counted)));
            let won = schedule.fixture(number).unwrap().players[0] == Player(0);
            assert!(schedule.record(number, if won { &[1, 2] } else { &[2, 1] }), "it still ends");
        }
        assert_eq!((schedule.played(), schedule.results().len()), (40, 12));
    }
}

#[test]
fn blocks_are_ranges_of_games_and_there_are_no_others() {
    let contest =
        contest(FormatSettings::RoundRobin(RoundRobin { triples_per_player: None }), 4, 3);
    let schedule = Schedule::new(Arc::new(contest));
    let games: Vec<u64> = (0..1000).filter(|&number| schedule.counts(number)).collect();
    let blocks = |number: &u64| schedule.fixture(*number).unwrap().block;
    let last = blocks(games.last().unwrap());
    for block in 0..=last {
        let its: Vec<u64> = games.iter().copied().filter(|it| blocks(it) == block).collect();
        assert_eq!(schedule.counting(block).collect::<Vec<_>>(), its);
        assert_eq!(schedule.block_of(its[0]), schedule.counting(block));
    }
    for block in [last + 1, u64::MAX / 6, u64::MAX / 6 + 1, i64::MAX.cast_unsigned(), u64::MAX] {
        assert!(schedule.counting(block).is_empty(), "{block}");
    }
}

#[test]
fn nothing_shows_the_key_from_which_games_follow() {
    let puzzle = |seed| Contest { seed, ..contest(FormatSettings::Puzzle(Puzzle {}), 2, 1) };
    let key = u128::from(u64::MAX) << 64 | 7;
    let seeds: BTreeSet<u64> = [Seed::Number(7), Seed::Key(7), Seed::Key(key)]
        .map(|seed| Schedule::new(Arc::new(puzzle(seed))).fixture(0).unwrap().seed)
        .into();
    assert_eq!(seeds.len(), 3, "a game's seed follows from all digits");
    for seed in [Seed::Number(7), Seed::Key(7), Seed::Key(key)] {
        let text = serde_json::to_string(&seed).unwrap();
        assert_eq!(serde_json::from_str::<Seed>(&text).unwrap(), seed, "{text}");
        let schedule = Arc::new(Schedule::new(Arc::new(puzzle(seed))));
        let report = report(&schedule, Arc::new(Vec::<Record>::new()), None).unwrap();
        let shown = serde_json::to_string(&report).unwrap();
        let is_shown = shown.contains(&format!("\"{seed}\""));
        assert_eq!(is_shown, matches!(seed, Seed::Number(_)), "{shown}");
    }
}
