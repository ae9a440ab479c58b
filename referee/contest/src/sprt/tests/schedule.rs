use super::test_of;
use crate::formats::Compare;
use crate::{
    Contest, ContestGame, FormatSettings, OpeningSettings, Player, PlayerInfo, Policy,
    SandboxSettings, Schedule, SeatOrders,
};
use referee_protocol::{ClockSettings, Limits};
use serde_json::json;
use std::sync::Arc;

fn contest(rounds: u32) -> Contest {
    let player =
        |name: &str| PlayerInfo { name: name.into(), run: name.into(), digest: String::new() };
    Contest {
        name: "new against old".into(),
        seed: 1,
        format: FormatSettings::Compare(Compare { sprt: Some(test_of(0.0, 100.0)) }),
        rounds,
        seat_orders: SeatOrders::All,
        games: vec![ContestGame {
            name: "a game".into(),
            game: "a game".into(),
            setup: json!({}),
            seats: 2,
            fewer_is_better: false,
        }],
        players: vec![player("new"), player("old")],
        openings: OpeningSettings::default(),
        clock: ClockSettings::default(),
        limits: Limits::default(),
        sandbox: SandboxSettings::default(),
        workers: crate::WorkerSettings::default(),
        policy: Policy::default(),
    }
}

/// The new agent wins everything: twelve pairs decide that, in whatever order results arrive, and
/// games beyond them don't count.
#[test]
fn results_in_any_order_decide_the_same() {
    let orders: [fn(u64) -> u64; 3] =
        [|number| number, |number| 59 - number, |number| 7 * number % 60];
    for order in orders {
        let mut schedule = Schedule::new(Arc::new(contest(30)));
        assert_eq!((schedule.known(), schedule.size()), (60, (2, 60)));
        for number in (0..60).map(order) {
            let fixture = schedule.fixture(number).unwrap();
            let won = fixture.players[0] == Player(0);
            assert!(schedule.record(number, if won { &[1, 2] } else { &[2, 1] }));
        }
        assert!(schedule.is_over());
        assert_eq!(schedule.met().len(), 12);
        assert!(schedule.counts(23) && !schedule.counts(24));
    }
}

#[test]
fn pairs_share_an_opening_and_swap_seats() {
    let schedule = Schedule::new(Arc::new(contest(30)));
    for pair in 0..30 {
        let [first, second] = [2 * pair, 2 * pair + 1].map(|at| schedule.fixture(at).unwrap());
        assert_eq!((first.opening, first.seed), (second.opening, second.seed));
        assert_eq!(first.players, [Player(0), Player(1)]);
        assert_eq!(second.players, [Player(1), Player(0)]);
    }
}
