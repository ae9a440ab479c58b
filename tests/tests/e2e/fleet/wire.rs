//! A worker's behaviour on the wire, tested with a fake coordinator.

use super::fake_coordinator::FakeCoordinator;
use super::process::start_worker;
use super::server::Server;
use crate::support::{TestDir, eventually};
use nix::sys::signal::Signal;
use referee_fleet::{FaultCause, Order, Report};
use serde_json::{Value, json};
use std::time::Duration;

/// Long enough to see that nothing arrives.
const A_WHILE: Duration = Duration::from_millis(1500);
/// The most retries of an order: on a busy machine most games are a little late.
const RETRIES: u32 = 20;

/// Returns a contest of built-in agents as JSON.
fn contest(runs: &[&str], size: u64, policy: &Value) -> String {
    let player = |run: &&str| {
        let built_in = referee_play::agent_spec::AgentSpec::read(run).unwrap();
        json!({"name": built_in.name, "run": run, "digest": built_in.digest})
    };
    let players: Vec<Value> = runs.iter().map(player).collect();
    let game = json!({"name": "hex", "game": "hex", "setup": {"size": size}, "seats": 2,
                      "fewer_is_better": false});
    let clock = json!({"kind": "wall", "start_ms": 180_000, "bank_ms": 3_600_000,
                       "increment_ms": 0, "move_ms": null, "margin_ms": 100,
                       "backstop_ms": null});
    let limits = serde_json::to_value(referee_protocol::Limits::default()).unwrap();
    json!({"name": "wire", "seed": 7, "format": {"format": "round-robin", "triples_per_player": null},
           "rounds": 1, "seat_orders": "all", "games": [game], "players": players,
           "openings": {"plies": 0, "positions": []}, "clock": clock, "limits": limits,
           "policy": policy})
    .to_string()
}

fn policy() -> Value {
    json!({"on_fault": "retire", "void_retries": 2, "lag_ms": 60_000, "on_lag": "mark",
           "rate_faults": true})
}

fn numbers(report: &Report) -> Vec<u64> {
    report.tries.iter().map(|one| one.number).collect()
}

#[test]
fn an_order_is_played_reported_and_acknowledged() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let mut coordinator = FakeCoordinator::start(
        &server,
        &contest(&["@random", "@first", "@greedy"], 3, &policy()),
        30_000,
    );
    let words = ["--slots", "2", "--class", "lab", "--name", "bench-3"];
    let worker = start_worker(&dir, &server.url(), &words);
    for block in 0..3 {
        coordinator.send(&coordinator.order(block, 5));
    }
    let mut blocks = Vec::new();
    for _ in 0..3 {
        let (report, transcripts) = coordinator.report();
        assert_eq!(numbers(&report), [report.block * 2, report.block * 2 + 1]);
        assert_eq!(report.attempt, 5);
        coordinator.assert_played(&report, &transcripts);
        blocks.push(report.block);
    }
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2]);
    assert!(eventually(|| coordinator.orders_left() == 0));
    let beat = coordinator.beat(|beat| beat.played == 6);
    let output = &beat.worker;
    assert_eq!((output.name.as_str(), output.class.as_str(), output.slots), ("bench-3", "lab", 2));
    assert!(
        output.sandbox.is_some()
            && output.speed > 0.0
            && output.noise >= 1.0
            && beat.orders.is_empty()
    );
    coordinator.end_contest();
    worker.wait_for_stderr("wire is over; played 6 of its games");
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}

/// A change that makes an order invalid.
type Change = fn(&mut Value);

#[test]
fn invalid_orders_are_refused() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let coordinator = FakeCoordinator::start(
        &server,
        &contest(&["@random", "@first", "@greedy"], 3, &policy()),
        30_000,
    );
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    let wrong: [(Change, &str); 9] = [
        (|order| order["block"] = json!(1), "but arrived as block 0"),
        (|order| order["fixtures"] = json!([]), "0 games"),
        (|order| order["fixtures"][1] = order["fixtures"][0].clone(), "listed twice"),
        (|order| order["fixtures"][0]["number"] = json!(4), "not in its block"),
        (|order| order["fixtures"][0]["game"] = json!(9), "an unknown game"),
        (|order| order["fixtures"][0]["players"] = json!([0]), "wrong number of players"),
        (|order| order["fixtures"][0]["players"] = json!([0, 77]), "has an unknown player"),
        (|order| order["fixtures"][0]["players"] = json!([1, 1]), "in two seats"),
        (|order| order["fixtures"] = json!("../../etc/passwd"), "not a valid order"),
    ];
    for (attempt, (change, expected)) in (0..).zip(wrong) {
        let mut order = serde_json::to_value(coordinator.order(0, attempt)).unwrap();
        change(&mut order);
        coordinator.send_bytes(0, attempt, order.to_string().as_bytes());
        let (report, _) = coordinator.report();
        let fault = report.fault.unwrap();
        assert_eq!((report.block, report.attempt), (0, attempt));
        assert!(report.tries.is_empty() && fault.cause == FaultCause::Order, "{fault:?}");
        assert!(fault.text.contains(expected), "{}", fault.text);
    }
    coordinator.send(&coordinator.order(0, 99));
    let (report, transcripts) = coordinator.report();
    coordinator.assert_played(&report, &transcripts);
    worker.terminate().code(143);
}

#[test]
fn void_games_are_retried_and_all_attempts_reported() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    // A game is void if the machine lags at all in one of its turns.
    let policy = json!({"on_fault": "retire", "void_retries": 2, "lag_ms": 0, "on_lag": "again",
                        "rate_faults": true});
    let coordinator =
        FakeCoordinator::start(&server, &contest(&["@random", "@first"], 3, &policy), 30_000);
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    coordinator.send(&Order { void_retries: RETRIES, ..coordinator.order(0, 0) });
    let (report, transcripts) = coordinator.report();
    worker.terminate().code(143);
    if let Some(fault) = &report.fault {
        // The machine was too busy for any valid game.
        let is_late =
            fault.cause == FaultCause::Machine && fault.text.contains("ms late in one turn");
        assert!(is_late && report.tries.is_empty(), "{fault:?}");
        return;
    }
    coordinator.assert_played(&report, &transcripts);
    for fixture in coordinator.fixtures(0) {
        let tries = report.tries.iter().zip(&transcripts);
        let own = tries.filter(|(one, _)| one.number == fixture.number);
        let valid: Vec<bool> =
            own.map(|(_, transcript)| coordinator.counts(&fixture, transcript)).collect();
        assert!(valid.len() <= RETRIES as usize + 1, "{valid:?}");
        let (last, others) = valid.split_last().expect("every game was tried");
        assert!(*last && !others.contains(&true), "{valid:?}");
    }
}

#[test]
fn an_avoided_order_goes_to_another_worker() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let mut coordinator =
        FakeCoordinator::start(&server, &contest(&["@random", "@first"], 3, &policy()), 30_000);
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    let id = coordinator.beat(|_| true).worker.id;
    let mut order = coordinator.order(0, 0);
    order.avoid.push(id.clone());
    coordinator.send(&order);
    assert!(coordinator.report_within(A_WHILE).is_none());
    let other = start_worker(&dir, &server.url(), &["--slots", "1"]);
    let (report, _) = coordinator.report();
    assert_ne!(report.worker, id);
    for worker in [worker, other] {
        worker.terminate().code(143);
    }
}

/// Returns a contest whose matches last longer than any test.
fn long() -> String {
    contest(&["@minimax:9", "m=@minimax:9"], 11, &policy())
}

#[test]
fn an_interrupted_worker_finishes_its_games() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    // Both matches take five to nine seconds on any machine, which is longer than the interval between
    // heartbeats.
    let mut coordinator =
        FakeCoordinator::start(&server, &contest(&["@slow", "m=@slow"], 3, &policy()), 30_000);
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    coordinator.send(&coordinator.order(0, 0));
    coordinator.beat(|beat| !beat.games.is_empty());
    worker.send(Signal::SIGINT);
    coordinator.beat(|beat| beat.leaving);
    let (report, transcripts) = coordinator.report();
    coordinator.assert_played(&report, &transcripts);
    assert_eq!(report.tries.len(), 2, "the whole block");
    worker.wait().code(130);
    assert!(eventually(|| coordinator.orders_left() == 0));
}

/// A returned order goes to another worker immediately, long before its lease ends.
#[test]
fn a_worker_with_a_short_drain_returns_its_orders() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let mut coordinator = FakeCoordinator::start(&server, &long(), 3_600_000);
    coordinator.send(&coordinator.order(0, 0));
    let hasty = start_worker(&dir, &server.url(), &["--slots", "1", "--drain", "100ms"]);
    let first = coordinator.beat(|beat| !beat.games.is_empty()).worker.id;
    hasty.terminate().code(143);
    let asked_twice = start_worker(&dir, &server.url(), &["--slots", "1"]);
    let second =
        coordinator.beat(|beat| !beat.games.is_empty() && beat.worker.id != first).worker.id;
    asked_twice.send(Signal::SIGINT);
    coordinator.beat(|beat| beat.leaving && beat.worker.id == second);
    asked_twice.send(Signal::SIGTERM);
    asked_twice.wait().code(130);
    let last = start_worker(&dir, &server.url(), &["--slots", "1"]);
    coordinator
        .beat(|beat| !beat.games.is_empty() && beat.worker.id != first && beat.worker.id != second);
    last.send(Signal::SIGKILL);
}

#[test]
fn a_stopped_worker_replays_its_running_games() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let mut coordinator = FakeCoordinator::start(&server, &long(), 3_000);
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    coordinator.send(&coordinator.order(0, 0));
    coordinator.beat(|beat| !beat.games.is_empty());
    worker.send(Signal::SIGSTOP);
    std::thread::sleep(A_WHILE);
    worker.send(Signal::SIGCONT);
    worker.wait_for_stderr("paused for");
    // It first reports that it leaves, then that it plays again.
    coordinator.beat(|beat| beat.leaving);
    coordinator.beat(|beat| !beat.leaving && !beat.games.is_empty());
    // Repeated because a worker that was just stopped again misses it.
    let gone = eventually(|| {
        coordinator.stop();
        coordinator.orders_left() == 0
    });
    assert!(gone, "the coordinator wants it no more");
    coordinator.beat(|beat| beat.leaving);
    assert_eq!(coordinator.report_within(A_WHILE).map(|(report, _)| report), None);
}
