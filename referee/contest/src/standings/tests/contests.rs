//! Small contests and games made by hand.

use crate::{Contest, ContestGame, OpeningSettings, PlayerInfo, Policy, SandboxSettings};
use crate::{FormatSettings, Player, Record, SeatOrders, SeatRecord, Seed};
use referee_protocol::{ClockSettings, Limits, MatchResult};

/// A contest of `players` players in games of `seats` seats.
pub(crate) fn contest(players: usize, seats: usize, format: FormatSettings) -> Contest {
    let game = |name: &str, fewer_is_better| ContestGame {
        name: name.into(),
        game: "hex".into(),
        program: None,
        setup: serde_json::json!({}),
        seats,
        fewer_is_better,
    };
    let player = |player: Player| PlayerInfo {
        name: format!("player {}", player.0 + 1),
        run: "@random".into(),
        digest: String::new(),
    };
    Contest {
        name: "a contest".into(),
        seed: Seed::Number(1),
        draw_key: None,
        show_hidden: false,
        duplicate_deals: false,
        own_seeds: false,
        format,
        rounds: 1,
        seat_orders: SeatOrders::All,
        games: vec![game("one", true), game("two", true)],
        players: Player::all(players).map(player).collect(),
        openings: OpeningSettings::default(),
        clock: ClockSettings::default(),
        preset: None,
        anonymous: false,
        reuse: false,
        adjudication: None,
        limits: Limits::default(),
        sandbox: SandboxSettings::default(),
        policy: Policy::default(),
        changes: Vec::new(),
    }
}

/// A game of these players, by seat, with these places.
pub(crate) fn game(number: u64, players: &[u32], places: &[u32]) -> Record {
    Record {
        number,
        block: number / 2,
        round: 1,
        game: 0,
        players: players.iter().copied().map(Player).collect(),
        match_id: format!("match-{number}"),
        seed: number,
        result: MatchResult::Played,
        reason: "connected".into(),
        places: places.to_vec(),
        scores: None,
        seats: players
            .iter()
            .map(|&player| SeatRecord {
                used_ms: 100 * u64::from(player + 1),
                cpu_ms: 10,
                turns: 20,
                ..SeatRecord::default()
            })
            .collect(),
        turns: 20 * players.len() as u64,
        lag_ns: 0,
        marked: false,
        moves: format!("moves {number}"),
        transcript: format!("games/{number}.jsonl"),
        seal: String::new(),
    }
}
