//! Reports made by hand and by dice.

use crate::formats::{Puzzle, RoundRobin};
use crate::ratings::{Rating, Ratings, Term};
use crate::report::game_list::RowSource;
use crate::report::{
    CausedVoids, Command, GameList, GameRow, HistoryPoint, LeftOut, Progress, Report, Setting,
    VoidCounts,
};
use crate::standings::tests::contests::{contest, game};
use crate::standings::tests::standings;
use crate::{Contest, FormatSettings, Player, Record, half_points};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use referee_protocol::{FaultKind, MatchResult};
use std::io;
use std::sync::Arc;

pub(super) const ROUND_ROBIN: FormatSettings =
    FormatSettings::RoundRobin(RoundRobin { triples_per_player: None });

/// Hostile names.
pub(super) const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "`*_|[x](javascript:alert(1))\\",
    "two\nlines\r\nand a\ttab",
    "\u{202E}gnihtyreve snrut\u{200F}",
    "שחקן עם שם עברי ארוך למדי",
    "これは非常に長い日本語の名前でありまして幅が二倍になります",
    "</style></title></svg><![CDATA[ -->",
    "a name that goes on and on and on and on and on and on and on and on and on and on and on",
];

/// A report on these games, with ratings that go by the share of points.
pub(super) fn report(contest: &Contest, records: &[Record]) -> Report {
    let table = standings(contest, records, &[], None);
    let count = contest.players.len();
    let all = shares(count, records);
    let rating = |player: Player| {
        let (own, games) = all[player.index()];
        let root = f64::from(games).sqrt();
        Rating {
            player,
            elo: own,
            low: (player.0 != 0).then_some(own - 640.0 / root),
            high: (player.0 != 1).then_some(own + 720.0 / root),
            error: (player.0 > 1).then_some(680.0 / root),
            better_than_next: Some(87.25),
            score: None,
            games: u64::from(games) - 2,
            group: 0,
        }
    };
    let ratings = (contest.seats() > 1).then(|| Ratings {
        model: "bradley-terry-davidson".into(),
        anchor: "the mean of all rated players".into(),
        centre: Player::all(count).collect(),
        prior: "two virtual draws a player".into(),
        won_all: Vec::new(),
        lost_all: Vec::new(),
        players: Player::all(count).map(rating).collect(),
        seats: vec![Term { elo: 20.5, error: Some(9.0) }, Term { elo: -20.5, error: None }],
        draw: Some(0.125),
        games: records.len() as u64,
        blocks: records.len() as u64 / 2,
        dispersion: 1.0,
        duplicates: 0,
        groups: 1,
        notes: vec!["A note.".into()],
    });
    let point = |part: usize| {
        let upto = records.len() * part / 20;
        let known = |&(elo, games): &(f64, u32)| (games > 2).then_some(elo);
        let elo = shares(count, &records[..upto]).iter().map(known).collect();
        HistoryPoint { games: upto as u64, elo }
    };
    let history = if ratings.is_some() { (1..=20).map(point).collect() } else { Vec::new() };
    let games = records.len() as u64;
    Report {
        changes: Vec::new(),
        referee: "0.0.0".into(),
        name: contest.name.clone(),
        settings: vec![
            Setting { name: "format".into(), value: "round robin, 2 rounds".into() },
            Setting { name: "clock".into(), value: "60 s + 0.5 s a turn".into() },
        ],
        progress: Progress { played: games, known: games, at_most: games, over: true },
        void: VoidCounts {
            attempts: 3,
            given_up: 0,
            caused: contest
                .players
                .iter()
                .zip([2, 1])
                .map(|(player, attempts)| CausedVoids {
                    name: player.name.clone(),
                    attempts,
                    at_most: 2,
                })
                .collect(),
        },
        standings: table,
        comparison: None,
        ratings,
        history,
        rated: None,
        ties: Vec::new(),
        games: listed(records.iter().map(|record| GameRow::new(contest, record)).collect()),
        left_out: vec![LeftOut { name: "late one".into(), reason: "not built: x.c:1 <a>".into() }],
        commands: vec![Command {
            does: "Checks every game and the tables".into(),
            line: "referee verify results".into(),
        }],
    }
}

pub(super) fn games_csv(report: &Report) -> String {
    let mut csv = Vec::new();
    report.write_games_csv(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

/// A list of rows that are in memory.
impl RowSource for Vec<GameRow> {
    fn each(&self, visit: &mut dyn FnMut(GameRow) -> io::Result<()>) -> io::Result<()> {
        self.iter().cloned().try_for_each(visit)
    }
}

pub(super) fn listed(rows: Vec<GameRow>) -> GameList {
    let (len, is_mixed) = (rows.len() as u64, rows.iter().any(|row| row.game != rows[0].game));
    GameList { rows: Arc::new(rows), len, past: 0, is_mixed }
}

/// What a player's share of points is in Elo, two draws added, and the games with them.
fn shares(players: usize, records: &[Record]) -> Vec<(f64, u32)> {
    let mut sums = vec![(1.0_f64, 2_u32); players];
    for record in records {
        let others = f64::from(u32::try_from(record.places.len()).unwrap().max(2) - 1);
        for (player, half_points) in record.players.iter().zip(half_points(&record.places)) {
            let sum = &mut sums[player.index()];
            *sum = (sum.0 + f64::from(half_points) / (2.0 * others), sum.1 + 1);
        }
    }
    let elo = |(got, games): (f64, u32)| (400.0 * (got / (f64::from(games) - got)).log10(), games);
    sums.into_iter().map(elo).collect()
}

/// Random games (Plackett-Luce) of players whose strength falls with their number.
pub(super) fn games(seed: u64, players: u32, seats: usize, count: u64) -> Vec<Record> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let strength = |player: u32| (-3.0 * f64::from(player) / f64::from(players)).exp();
    (0..count)
        .map(|number| {
            let mut all: Vec<u32> = (0..players).collect();
            for index in 0..seats {
                let other = dice.random_range(index..all.len());
                all.swap(index, other);
            }
            let seated = &all[..seats];
            // Exponential waiting times: who is stronger tends to come first.
            let wait = |&player: &u32| {
                let seat_bonus = if seated[0] == player { 1.15 } else { 1.0 };
                let dice: f64 = dice.random();
                -(1.0 - dice).ln() / (strength(player) * seat_bonus)
            };
            let waits: Vec<f64> = seated.iter().map(wait).collect();
            let place =
                |own: &f64| 1 + waits.iter().map(|other| u32::from(other < own)).sum::<u32>();
            let mut places: Vec<u32> = waits.iter().map(place).collect();
            if number % 9 == 0 && seats > 1 {
                places = vec![1; seats];
            }
            let mut record = game(number, seated, &places);
            record.round = u32::try_from(number / 280).unwrap() + 1;
            for part in &mut record.seats {
                part.used_ms = part.used_ms * 7 + dice.random_range(0..900);
            }
            if number % 31 == 5 {
                let worst = places.iter().position(|&place| place > 1).unwrap_or(0);
                record.seats[worst].fault = Some(FaultKind::Illegal);
                record.result = MatchResult::Fault;
                record.reason = "illegal".into();
            }
            record.marked = number % 97 == 3;
            record
        })
        .collect()
}

/// Every player on every instance alone.
pub(super) fn puzzles(seed: u64, players: u32, instances: u32) -> Vec<Record> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut records = Vec::new();
    for round in 1..=instances {
        for player in 0..players {
            let solved = dice.random_range(0..players + 2) > player;
            let mut record = game(records.len() as u64, &[player], &[if solved { 1 } else { 2 }]);
            record.round = round;
            record.scores = Some(vec![if solved { 1 } else { dice.random_range(2..6) }]);
            record.reason = if solved { "solved" } else { "stuck" }.into();
            records.push(record);
        }
    }
    records
}

/// A contest whose players have these names, as far as there are enough.
pub(super) fn named(players: usize, seats: usize, names: &[&str]) -> Contest {
    let format = if seats == 1 { FormatSettings::Puzzle(Puzzle {}) } else { ROUND_ROBIN };
    let mut contest = contest(players, seats, format);
    for (player, name) in contest.players.iter_mut().zip(names) {
        player.name = (*name).to_owned();
    }
    contest
}
