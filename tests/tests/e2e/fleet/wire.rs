//! What a worker does with what comes over the wire, by a coordinator that can do anything.

use super::counter::Counter;
use super::people::Member;
use super::server::Server;
use crate::support::{Place, eventually};
use nix::sys::signal::Signal;
use referee_fleet::{FaultCause, Order, Report};
use serde_json::{Value, json};
use std::time::Duration;

/// Long enough to see that nothing comes.
const A_WHILE: Duration = Duration::from_millis(1500);
/// As often as any order may ask for: on a busy machine most games are late by a little.
const RETRIES: u32 = 20;

/// A contest of built-in agents.
fn contest(runs: &[&str], size: u64, policy: &Value) -> String {
    let player = |run: &&str| {
        let built_in = referee_play::contender::Contender::read(run).unwrap();
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
fn an_order_is_played_reported_and_answered_for() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let mut counter =
        Counter::open(&server, &contest(&["@random", "@first", "@greedy"], 3, &policy()), 30_000);
    let words = ["--slots", "2", "--class", "lab", "--name", "desk"];
    let worker = Member::worker(&place, &server.url(), &words);
    for block in 0..3 {
        counter.give(&counter.order(block, 5));
    }
    let mut blocks = Vec::new();
    for _ in 0..3 {
        let (report, transcripts) = counter.report();
        assert_eq!(numbers(&report), [report.block * 2, report.block * 2 + 1]);
        assert_eq!(report.attempt, 5);
        counter.assert_played(&report, &transcripts);
        blocks.push(report.block);
    }
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2]);
    assert!(eventually(|| counter.orders_left() == 0));
    let beat = counter.beat(|beat| beat.played == 6);
    let told = &beat.worker;
    assert_eq!((told.name.as_str(), told.class.as_str(), told.slots), ("desk", "lab", 2));
    assert!(
        told.sandbox.is_some() && told.speed > 0.0 && told.noise >= 1.0 && beat.orders.is_empty()
    );
    counter.close();
    worker.running().complained("wire is over; 6 games played in it");
    worker.dismiss().code(143);
    place.assert_tidy();
}

/// What is wrong with an order.
type Change = fn(&mut Value);

#[test]
fn nonsense_is_refused_and_nothing_comes_of_it() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let counter =
        Counter::open(&server, &contest(&["@random", "@first", "@greedy"], 3, &policy()), 30_000);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    let wrong: [(Change, &str); 9] = [
        (|order| order["block"] = json!(1), "under the subject of block 0"),
        (|order| order["fixtures"] = json!([]), "0 games"),
        (|order| order["fixtures"][1] = order["fixtures"][0].clone(), "there twice"),
        (|order| order["fixtures"][0]["number"] = json!(4), "none of its block's"),
        (|order| order["fixtures"][0]["game"] = json!(9), "no game of the contest"),
        (|order| order["fixtures"][0]["players"] = json!([0]), "one player a seat"),
        (|order| order["fixtures"][0]["players"] = json!([0, 77]), "isn't in the contest"),
        (|order| order["fixtures"][0]["players"] = json!([1, 1]), "on two seats"),
        (|order| order["fixtures"] = json!("../../etc/passwd"), "no order"),
    ];
    for (attempt, (change, told)) in (0..).zip(wrong) {
        let mut order = serde_json::to_value(counter.order(0, attempt)).unwrap();
        change(&mut order);
        counter.give_bytes(0, attempt, order.to_string().as_bytes());
        let (report, _) = counter.report();
        let fault = report.fault.unwrap();
        assert_eq!((report.block, report.attempt), (0, attempt));
        assert!(report.tries.is_empty() && fault.cause == FaultCause::Order, "{fault:?}");
        assert!(fault.text.contains(told), "{}", fault.text);
    }
    counter.give(&counter.order(0, 99));
    let (report, transcripts) = counter.report();
    counter.assert_played(&report, &transcripts);
    worker.dismiss().code(143);
}

#[test]
fn void_games_are_played_again_and_all_tries_are_reported() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    // A game is void if the machine was late at all in one of its turns.
    let policy = json!({"on_fault": "retire", "void_retries": 2, "lag_ms": 0, "on_lag": "again",
                        "rate_faults": true});
    let counter = Counter::open(&server, &contest(&["@random", "@first"], 3, &policy), 30_000);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    counter.give(&Order { void_retries: RETRIES, ..counter.order(0, 0) });
    let (report, transcripts) = counter.report();
    worker.dismiss().code(143);
    if let Some(fault) = &report.fault {
        // So busy a machine that nothing counts in the end.
        let is_late =
            fault.cause == FaultCause::Machine && fault.text.contains("ms late in one turn");
        assert!(is_late && report.tries.is_empty(), "{fault:?}");
        return;
    }
    counter.assert_played(&report, &transcripts);
    for fixture in counter.fixtures(0) {
        let tries = report.tries.iter().zip(&transcripts);
        let own = tries.filter(|(one, _)| one.number == fixture.number);
        let valid: Vec<bool> =
            own.map(|(_, transcript)| counter.counts(&fixture, transcript)).collect();
        assert!(valid.len() <= RETRIES as usize + 1, "{valid:?}");
        let (last, others) = valid.split_last().expect("every game was tried");
        assert!(*last && !others.contains(&true), "{valid:?}");
    }
}

#[test]
fn an_order_that_this_worker_is_to_avoid_is_left_to_others() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let mut counter =
        Counter::open(&server, &contest(&["@random", "@first"], 3, &policy()), 30_000);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    let id = counter.beat(|_| true).worker.id;
    let mut order = counter.order(0, 0);
    order.avoid.push(id.clone());
    counter.give(&order);
    assert!(counter.report_within(A_WHILE).is_none());
    let other = Member::worker(&place, &server.url(), &["--slots", "1"]);
    let (report, _) = counter.report();
    assert_ne!(report.worker, id);
    for worker in [worker, other] {
        worker.dismiss().code(143);
    }
}

/// A match that lasts for longer than anybody here waits for its end.
fn long() -> String {
    contest(&["@minimax:9", "m=@minimax:9"], 11, &policy())
}

#[test]
fn a_worker_that_is_asked_to_end_plays_to_the_end() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    // Both matches last for longer than the signs of life are apart: five seconds at least, and
    // nine at most, however slow the machine is.
    let mut counter = Counter::open(&server, &contest(&["@slow", "m=@slow"], 3, &policy()), 30_000);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    counter.give(&counter.order(0, 0));
    counter.beat(|beat| !beat.games.is_empty());
    worker.send(Signal::SIGINT);
    counter.beat(|beat| beat.leaving);
    let (report, transcripts) = counter.report();
    counter.assert_played(&report, &transcripts);
    assert_eq!(report.tries.len(), 2, "the whole block");
    worker.wait().code(130);
    assert!(eventually(|| counter.orders_left() == 0));
}

/// What a worker gives back comes to another one at once, long before its lease is over.
#[test]
fn a_worker_that_can_not_wait_gives_its_orders_back() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let mut counter = Counter::open(&server, &long(), 3_600_000);
    counter.give(&counter.order(0, 0));
    let hasty = Member::worker(&place, &server.url(), &["--slots", "1", "--drain", "100ms"]);
    let first = counter.beat(|beat| !beat.games.is_empty()).worker.id;
    hasty.dismiss().code(143);
    let asked_twice = Member::worker(&place, &server.url(), &["--slots", "1"]);
    let second = counter.beat(|beat| !beat.games.is_empty() && beat.worker.id != first).worker.id;
    asked_twice.send(Signal::SIGINT);
    counter.beat(|beat| beat.leaving && beat.worker.id == second);
    asked_twice.send(Signal::SIGTERM);
    asked_twice.wait().code(130);
    let last = Member::worker(&place, &server.url(), &["--slots", "1"]);
    counter
        .beat(|beat| !beat.games.is_empty() && beat.worker.id != first && beat.worker.id != second);
    last.send(Signal::SIGKILL);
}

#[test]
fn whoever_was_stopped_plays_again_what_was_under_way() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let mut counter = Counter::open(&server, &long(), 3_000);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    counter.give(&counter.order(0, 0));
    counter.beat(|beat| !beat.games.is_empty());
    worker.send(Signal::SIGSTOP);
    std::thread::sleep(A_WHILE);
    worker.send(Signal::SIGCONT);
    worker.running().complained("stood still for");
    // The last of those that it left to others, and the first of those that it took since.
    counter.beat(|beat| beat.leaving);
    counter.beat(|beat| !beat.leaving && !beat.games.is_empty());
    // Said again and again, since nobody hears it who just stood still once more.
    let gone = eventually(|| {
        counter.stop();
        counter.orders_left() == 0
    });
    assert!(gone, "the coordinator wants it no more");
    counter.beat(|beat| beat.leaving);
    assert_eq!(counter.report_within(A_WHILE).map(|(report, _)| report), None);
}
