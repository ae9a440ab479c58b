//! Signals to a contest, and what is left of it.

use super::{
    GATE, assert_whole, contest, count, gated, query, start, status, transcripts, wait_for_games,
    write,
};
use crate::interrupts::state;
use crate::support::{Place, Running, eventually};
use crate::survivors::{assert_gone, families, family, wait_for_families};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

#[test]
fn the_first_interrupt_lets_games_end_and_begins_no_more() {
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    write(&place, &[&agent, "@random"], "rounds = 6\njobs = 2\n");
    let running = start(&place, &["run", "c.toml", "--out", "d"]);
    wait_for_games(&place, "d", 2);
    running.send(Signal::SIGUSR1);
    let standings = running.complained("0 of 12 games played");
    assert!(standings.contains("points") && standings.contains("@random"), "{standings}");
    running.send(Signal::SIGINT);
    running.complained("no new games; ");
    assert_eq!(transcripts(&place, "d").len(), 2);
    place.write(GATE, "");
    let ran = running.wait().code(130);
    assert_eq!(count(&place, "d"), 2);
    assert_eq!(transcripts(&place, "d").len(), 2);
    assert_eq!(query(&place, "d", "select * from voids").len(), 0);
    place.run(&["verify", "d"]).code(0).prints("not played to the end: ");
    let resume = ran.stderr.lines().find_map(|line| line.strip_prefix("resume: ")).unwrap();
    place.shell(resume).code(0).prints("@random");
    assert_whole(&place, "d", 12);
    place.assert_tidy();
}

/// Each way to be stopped at once.
const STOPS: [(&[Signal], i32); 3] =
    [(&[Signal::SIGINT, Signal::SIGINT], 130), (&[Signal::SIGTERM], 143), (&[Signal::SIGHUP], 129)];

#[test]
fn other_interrupts_stop_at_once_and_leave_nobody() {
    let place = Place::new();
    let gate = place.path(GATE).display().to_string();
    let Some(agent) = family(&place, &format!("until:{gate}")) else { return };
    let agents = [&*format!("a={agent}"), &format!("b={agent}")];
    write(&place, &agents, "rounds = 2\njobs = 2\n");
    let games = ["d/games/0000/0000000.jsonl", "d/games/0000/0000001.jsonl"];
    let mut words = vec!["run", "c.toml", "--out", "d"];
    for (signals, code) in STOPS {
        let running = start(&place, &words);
        wait_for_families(&place, &games);
        stop(&running, signals);
        let ran = running.wait().code(code).complains("resume: referee contest resume d");
        assert!(!ran.stderr.contains("void"), "{}", ran.stderr);
        assert_gone(&place);
        assert_eq!(transcripts(&place, "d").len(), 0);
        assert_eq!(query(&place, "d", "select * from games, voids").len(), 0);
        place.assert_tidy();
        words = vec!["resume", "d"];
    }
    let running = start(&place, &words);
    wait_for_families(&place, &games);
    running.send(Signal::SIGKILL);
    assert_eq!(running.wait().exit, None);
    assert!(eventually(|| families(&place).is_empty()), "still there: {:?}", families(&place));
    assert_eq!(status(&place, "d")["running"], false);
    place.run(&["verify", "d"]).code(0).prints("2 transcripts of games that don't count");
    place.write(GATE, "");
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 4);
}

fn stop(running: &Running, signals: &[Signal]) {
    running.send(signals[0]);
    for &signal in &signals[1..] {
        // Two that come together are one.
        running.complained("no new games; ");
        running.send(signal);
    }
}

/// How long a contest is stopped: longer than it takes otherwise where the machine isn't slow.
const GAP: Duration = Duration::from_secs(6);

#[test]
fn a_stopped_contest_goes_on_and_nobody_is_late() {
    let place = Place::new();
    let gate = place.path(GATE);
    // Agents see what is in it later.
    std::fs::create_dir(gate.parent().unwrap()).unwrap();
    let gate = gate.display();
    let Some(agent) = family(&place, &format!("until:{gate}")) else { return };
    let agents = [&*format!("a={agent}"), &format!("b={agent}")];
    // Agents of two matches on one core take turns, and nobody's turn ends here.
    let jobs = std::thread::available_parallelism().unwrap().get().min(2);
    write(&place, &agents, &format!("jobs = {jobs}\n"));
    let begun = Instant::now();
    let running = start(&place, &["run", "c.toml", "--out", "d"]);
    let games = ["d/games/0000/0000000.jsonl", "d/games/0000/0000001.jsonl"];
    // What agents tell of themselves is noted when the first turn begins.
    let pids = wait_for_families(&place, &games[..jobs]);
    running.send(Signal::SIGTSTP);
    let all_stand = || pids.iter().all(|&pid| state(pid) == Some('T'));
    assert!(eventually(|| state(running.pid()) == Some('T') && all_stand()), "it doesn't stop");
    let stood = Instant::now();
    std::thread::sleep(GAP);
    let gap = stood.elapsed();
    running.send(Signal::SIGCONT);
    place.write(GATE, "");
    running.wait().code(0);
    let moved = begun.elapsed().saturating_sub(gap);
    // One turn of a match comes after the other: were the gap in one of them, they would take longer
    // than everything did without it.
    for game in games {
        let turns = place.events_of(game, "played").into_iter();
        let took: Duration =
            turns.map(|event| Duration::from_nanos(event["wall_ns"].as_u64().unwrap())).sum();
        assert!(moved >= took, "{game}: the gap was charged: {took:?} of {moved:?}");
    }
    let faults = query(&place, "d", "select * from seats where fault is not null");
    assert_eq!(faults, [""; 0]);
    assert_whole(&place, "d", 2);
}
