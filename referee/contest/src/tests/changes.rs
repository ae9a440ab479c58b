//! Changes: the schedule follows from the contest with its changes and from the results, and what was
//! played stays.

use super::schedule::{contest, places};
use crate::formats::{Gauntlet, Knockout, Ladder, Puzzle, RoundRobin, Swiss};
use crate::ratings::{RatedGames, RatingField, rate};
use crate::{Change, ChangeKind, Contest, FormatSettings, Player, PlayerInfo, Schedule};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn info(name: usize) -> PlayerInfo {
    PlayerInfo { name: format!("late {name}"), run: String::new(), digest: format!("{name}") }
}

/// A contest, its results, and what happens to them.
struct Run {
    contest: Contest,
    results: BTreeMap<u64, Vec<u32>>,
    dice: ChaCha8Rng,
    /// How often each game was played.
    attempts: BTreeMap<u64, u64>,
}

impl Run {
    /// The schedule, of the results in an order that is drawn.
    fn schedule(&mut self) -> Schedule {
        let mut schedule = Schedule::new(Arc::new(self.contest.clone()));
        let mut left: Vec<u64> = self.results.keys().copied().collect();
        while !left.is_empty() {
            let before = left.len();
            let offset = self.draw(before);
            left.rotate_left(offset);
            // Only known games can be recorded.
            left.retain(|number| !schedule.record(*number, &self.results[number]));
            assert!(left.len() < before, "{left:?} are not in the schedule");
        }
        schedule
    }

    fn draw(&mut self, below: usize) -> usize {
        usize::try_from(self.dice.next_u64() % below.max(1) as u64).unwrap()
    }

    /// Plays some games that are missing, or all.
    fn play(&mut self, most: usize) {
        let mut schedule = self.schedule();
        for _ in 0..most {
            let missing: Vec<u64> = (0..schedule.known()).filter(|it| !schedule.has(*it)).collect();
            assert_eq!(missing.is_empty(), schedule.is_over());
            if missing.is_empty() {
                return;
            }
            let number = missing[self.draw(missing.len())];
            let fixture = schedule.fixture(number).unwrap();
            assert_eq!(self.contest.forfeited(number, &fixture.players), None);
            let attempt = self.attempts.entry(number).or_default();
            *attempt += 1;
            let result = places(number + *attempt * 1_000_003, self.contest.seats(), 1);
            assert!(schedule.record(number, &result));
            assert!(self.results.insert(number, result).is_none(), "played once");
        }
    }

    /// Makes a change that is drawn, if the contest allows it.
    fn change(&mut self) {
        let schedule = self.schedule();
        let before = fixtures(&schedule);
        let first = schedule.first_open();
        let players = self.contest.players.len();
        let drawn = self.draw(players);
        let player = Player(u32::try_from(drawn).unwrap());
        let has = |number: &u64| before[usize::try_from(*number).unwrap()].contains(&player);
        let known: Vec<u64> = self.results.keys().copied().collect();
        let open = |number: &u64| *number >= first;
        let (kind, removes) = match self.draw(5) {
            _ if self.contest.has_left(player) => {
                (ChangeKind::Return { player, from: first }, Vec::new())
            }
            0 => {
                let team = (self.draw(2) == 0).then_some(player);
                let from = before.len() as u64;
                (ChangeKind::Add { player: info(players), from, team }, Vec::new())
            }
            1 => {
                let (old, new) = (self.contest.players[drawn].clone(), info(players + 1000));
                let kind = ChangeKind::Replace { player, before: old, after: new, from: first };
                (kind, known.into_iter().filter(open).filter(has).collect())
            }
            2 => {
                let kind = ChangeKind::Withdraw {
                    player,
                    played: known.into_iter().filter(has).collect(),
                    from: (self.draw(4) > 0).then_some(before.len() as u64),
                };
                (kind, Vec::new())
            }
            3 => {
                let games: Vec<u64> = known.into_iter().filter(open).collect();
                let remain = |it: &u64| {
                    !before[usize::try_from(*it).unwrap()]
                        .iter()
                        .any(|it| self.contest.has_left(*it))
                };
                (ChangeKind::Replay, games.into_iter().filter(remain).take(3).collect())
            }
            _ => {
                let Some(game) = (first..before.len() as u64).next_back() else { return };
                let loser = before[usize::try_from(game).unwrap()][0];
                let removes = self.results.contains_key(&game).then_some(game);
                (ChangeKind::Forfeit { game, loser }, removes.into_iter().collect())
            }
        };
        if self.contest.refuses(&kind).is_some() {
            assert!(matches!(kind, ChangeKind::Add { .. }));
            return;
        }
        for number in &removes {
            self.results.remove(number);
        }
        let (at, by, reason) = (String::new(), String::new(), "x".to_owned());
        let untouched = self.contest.clone();
        self.contest.change(Change { at, by, reason, removes, kind });
        let count = self.contest.changes.len();
        assert_eq!(self.contest.with_changes(count - 1), untouched);
        let json = serde_json::to_string(&self.contest).unwrap();
        assert_eq!(serde_json::from_str::<Contest>(&json).unwrap(), self.contest);
        // All games that were known stay, with their numbers.
        let now = fixtures(&self.schedule());
        let teams = self.contest.teams();
        let team = |player: &Player| teams[player.index()];
        for players in &now {
            let own: BTreeSet<Player> = players.iter().map(team).collect();
            assert_eq!(own.len(), players.len(), "versions of a team meet");
        }
        assert_eq!(now[..before.len().min(now.len())], before[..before.len().min(now.len())]);
    }
}

fn before_players(schedule: &Schedule, number: u64) -> Vec<Player> {
    schedule.fixture(number).map(|fixture| fixture.players).unwrap_or_default()
}

fn fixtures(schedule: &Schedule) -> Vec<Vec<Player>> {
    (0..schedule.known()).map(|number| before_players(schedule, number)).collect()
}

fn formats() -> impl Strategy<Value = (FormatSettings, usize)> {
    use FormatSettings as F;
    (0..7_usize).prop_map(|format| match format {
        0 => (F::RoundRobin(RoundRobin::default()), 2),
        1 => (F::RoundRobin(RoundRobin::default()), 3),
        2 => (F::Gauntlet(Gauntlet { challengers: 1 }), 2),
        3 => (F::Swiss(Swiss {}), 2),
        4 => (F::Knockout(Knockout::default()), 2),
        5 => (F::Ladder(Ladder {}), 2),
        _ => (F::Puzzle(Puzzle {}), 1),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_game_is_played_once_through_any_changes(
        (format, seats) in formats(), players in 3..7_usize, rounds in 1..3_u32, seed: u64,
    ) {
        let contest = Contest { rounds, ..contest(format, players, seats) };
        let (results, attempts) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Run { contest, results, attempts, dice: ChaCha8Rng::seed_from_u64(seed) };
        for _ in 0..6 {
            let some = run.draw(12);
            run.play(some);
            run.change();
        }
        run.play(usize::MAX);
        let schedule = run.schedule();
        prop_assert!(schedule.is_over());
        let forfeits: BTreeSet<u64> = schedule.forfeits().iter().map(|it| it.number).collect();
        let played: BTreeSet<u64> = run.results.keys().copied().collect();
        prop_assert!(played.is_disjoint(&forfeits));
        prop_assert_eq!(&played | &forfeits, (0..schedule.known()).collect());
    }
}

/// Otherwise newcomers to a ladder, and all others, have free wins over players who have left.
#[test]
fn a_ladder_does_not_pair_players_who_have_left() {
    let contest = Contest { rounds: 6, ..contest(FormatSettings::Ladder(Ladder {}), 5, 2) };
    let dice = ChaCha8Rng::seed_from_u64(1);
    let mut run = Run { contest, results: BTreeMap::new(), attempts: BTreeMap::new(), dice };
    let player = Player(1);
    let change = |run: &mut Run, kind| {
        let (at, by, reason) = (String::new(), String::new(), String::new());
        run.contest.change(Change { at, by, reason, removes: Vec::new(), kind });
    };
    run.play(3);
    let known = run.schedule().known();
    let with_result = run.results.keys().copied().collect();
    let leaves = ChangeKind::Withdraw { player, played: with_result, from: Some(known) };
    change(&mut run, leaves);
    run.play(usize::MAX);
    let after = fixtures(&run.schedule()).split_off(usize::try_from(known).unwrap());
    assert!(
        !after.is_empty() && after.iter().all(|players| !players.contains(&player)),
        "{after:?}"
    );
    let new = ChangeKind::Add { player: info(5), from: run.schedule().known(), team: None };
    change(&mut run, new);
    run.play(usize::MAX);
    assert!(fixtures(&run.schedule()).iter().flatten().any(|it| *it == Player(5)));
    // All that it has missed comes when it is back.
    let (from, known) = (run.schedule().first_open(), run.schedule().known());
    change(&mut run, ChangeKind::Return { player, from });
    run.play(usize::MAX);
    let after = fixtures(&run.schedule()).split_off(usize::try_from(known).unwrap());
    assert!(after.iter().flatten().any(|it| *it == player), "{after:?}");
    assert!(run.schedule().is_over());
}

/// Late players end up with the games that they would have had from the start.
#[test]
fn late_players_play_everyone() {
    for (format, seats) in [
        (FormatSettings::RoundRobin(RoundRobin::default()), 2),
        (FormatSettings::RoundRobin(RoundRobin::default()), 3),
        (FormatSettings::Gauntlet(Gauntlet { challengers: 2 }), 2),
        (FormatSettings::Puzzle(Puzzle {}), 1),
    ] {
        let sorted = |contest: &Contest| {
            let mut games = fixtures(&Schedule::new(Arc::new(contest.clone())));
            for players in &mut games {
                players.sort();
            }
            games.sort();
            games
        };
        let mut late = Contest { rounds: 2, ..contest(format.clone(), 4, seats) };
        for name in 0..2 {
            let from = Schedule::new(Arc::new(late.clone())).known();
            let kind = ChangeKind::Add { player: info(name), from, team: None };
            let (at, by, reason) = (String::new(), String::new(), String::new());
            late.change(Change { at, by, reason, removes: Vec::new(), kind });
        }
        let whole = Contest { rounds: 2, ..contest(format, 6, seats) };
        assert_eq!(sorted(&late), sorted(&whole));
    }
}

#[test]
fn a_game_belongs_to_the_version_that_played_it() {
    let format = FormatSettings::Swiss(Swiss {});
    let mut contest = contest(format, 4, 2);
    let (player, begun) = (Player(1), contest.players[1].clone());
    for (from, version) in [(4, 10), (8, 20)] {
        let before = contest.players[1].clone();
        let kind = ChangeKind::Replace { player, before, after: info(version), from };
        let (at, by, reason) = (String::new(), String::new(), String::new());
        contest.change(Change { at, by, reason, removes: Vec::new(), kind });
    }
    for (number, expected) in [(3, &begun), (4, &info(10)), (7, &info(10)), (8, &info(20))] {
        assert_eq!(contest.version(player, number), expected, "game {number}");
    }
}

/// Else a team would be away while the strongest opponent is next.
#[test]
fn forfeits_are_rated_if_the_player_came_back() {
    let mut contest = contest(FormatSettings::RoundRobin(RoundRobin::default()), 3, 2);
    let player = Player(0);
    let rated = |contest: &Contest| {
        let forfeits = Schedule::new(Arc::new(contest.clone())).forfeits();
        let ratings = rate(&RatedGames::of(&RatingField::of(contest), &forfeits));
        assert!(!forfeits.is_empty());
        (ratings.games == forfeits.len() as u64, ratings.games, ratings.lost_all)
    };
    for (kind, is_rated) in [
        (ChangeKind::Withdraw { player, played: vec![], from: None }, false),
        // It comes back too late for these games.
        (ChangeKind::Return { player, from: 100 }, true),
    ] {
        let (at, by, reason) = (String::new(), String::new(), String::new());
        contest.change(Change { at, by, reason, removes: Vec::new(), kind });
        let (all, games, lost_all) = rated(&contest);
        assert_eq!((all, games == 0, lost_all.contains(&player)), (is_rated, !is_rated, is_rated));
    }
}

/// Each of a team's versions plays instances that none before has seen, the same as that version of any other team.
#[test]
fn later_versions_play_other_instances_of_a_puzzle() {
    let mut contest = contest(FormatSettings::Puzzle(Puzzle {}), 2, 1);
    contest.own_seeds = true;
    for (number, team) in [(2, 1), (3, 0), (4, 1)] {
        let kind = ChangeKind::Add { player: info(number), from: 100, team: Some(Player(team)) };
        let (at, by, reason) = (String::new(), String::new(), String::new());
        contest.change(Change { at, by, reason, removes: Vec::new(), kind });
    }
    let rounds = u64::from(contest.rounds);
    let schedule = Schedule::new(Arc::new(contest));
    let mut played: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
    for fixture in (0..schedule.known()).filter_map(|number| schedule.fixture(number)) {
        played.entry(fixture.players[0].0).or_default().insert(fixture.opening, fixture.seed);
    }
    let openings = |player| played[&player].keys().copied().collect::<Vec<_>>();
    for (player, version) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
        let own: Vec<u64> = (version * rounds..(version + 1) * rounds).collect();
        assert_eq!(openings(player), own, "player {player}");
    }
    assert_eq!((&played[&0], &played[&2]), (&played[&1], &played[&3]));
}

#[test]
fn whoever_comes_back_plays_what_is_open() {
    let mut contest = contest(FormatSettings::RoundRobin(RoundRobin::default()), 3, 2);
    let [one, two] = [Player(0), Player(1)];
    let leaves = |player| ChangeKind::Withdraw { player, played: vec![4], from: None };
    let comes_back = |player, from| ChangeKind::Return { player, from };
    let (first_loses, second_loses) = (Some(vec![2, 1]), Some(vec![1, 2]));
    for (kind, left, before, after) in [
        (leaves(one), [true, false], &first_loses, &first_loses),
        // What was decided before stays.
        (comes_back(one, 2), [false, false], &first_loses, &None),
        (leaves(one), [true, false], &first_loses, &first_loses),
        (leaves(two), [true, true], &first_loses, &first_loses),
        (comes_back(one, 2), [false, true], &first_loses, &second_loses),
        (comes_back(two, 0), [false, false], &first_loses, &None),
    ] {
        let (at, by, reason) = (String::new(), String::new(), String::new());
        contest.change(Change { at, by, reason, removes: Vec::new(), kind });
        assert_eq!([one, two].map(|player| contest.has_left(player)), left);
        let decided = |number| contest.forfeited(number, &[one, two]);
        assert_eq!([&decided(1), &decided(3), &decided(4)], [before, after, &None]);
    }
}
