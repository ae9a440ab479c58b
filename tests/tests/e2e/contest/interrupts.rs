//! Signals to a contest, and the state they leave.

use crate::support::contest::{
    GATE, assert_whole, check_sums, contest, count, gated, query, start, status, transcripts,
    wait_for_games, write,
};
use crate::support::family::{assert_gone, families, family, wait_for_families};
use crate::support::{Running, TestDir, eventually};
use crate::support::{is_stopped, state};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

#[test]
fn the_first_interrupt_finishes_running_games() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    write(&dir, &[&agent, "@random"], "rounds = 6\njobs = 2\n");
    let running = start(&dir, &["run", "c.toml", "--out", "d"]);
    wait_for_games(&dir, "d", 2);
    running.send(Signal::SIGUSR1);
    let standings = running.wait_for_stderr("0 of 12 games played");
    assert!(standings.contains("points") && standings.contains("@random"), "{standings}");
    running.send(Signal::SIGINT);
    running.wait_for_stderr("finishing ");
    assert_eq!(transcripts(&dir, "d").len(), 2);
    dir.write(GATE, "");
    let ran = running.wait().code(130);
    assert_eq!(count(&dir, "d"), 2);
    assert_eq!(transcripts(&dir, "d").len(), 2);
    assert_eq!(query(&dir, "d", "select * from voids").len(), 0);
    dir.run(&["verify", "d"]).code(0).stdout_has("not complete: ");
    check_sums(&dir, "d");
    let resume = ran.stderr.lines().find_map(|line| line.strip_prefix("resume: ")).unwrap();
    dir.shell(resume).code(0).stdout_has("@random");
    assert_whole(&dir, "d", 12);
    dir.assert_tmp_is_empty();
}

/// Every combination of signals that stops a contest immediately.
const STOPS: [(&[Signal], i32); 3] =
    [(&[Signal::SIGINT, Signal::SIGINT], 130), (&[Signal::SIGTERM], 143), (&[Signal::SIGHUP], 129)];

#[test]
fn other_interrupts_stop_at_once_and_leave_no_process() {
    let dir = TestDir::new();
    let gate = dir.path(GATE).display().to_string();
    let Some(agent) = family(&dir, &format!("until:{gate}")) else { return };
    let agents = [&*format!("a={agent}"), &format!("b={agent}")];
    write(&dir, &agents, "rounds = 2\njobs = 2\n");
    let games = ["d/games/0000/0000000.jsonl", "d/games/0000/0000001.jsonl"];
    let mut words = vec!["run", "c.toml", "--out", "d"];
    for (signals, code) in STOPS {
        let running = start(&dir, &words);
        wait_for_families(&dir, &games);
        stop(&running, signals);
        let ran = running.wait().code(code).stderr_has("resume: referee contest resume d");
        assert!(!ran.stderr.contains("void"), "{}", ran.stderr);
        assert_gone(&dir);
        assert_eq!(transcripts(&dir, "d").len(), 0);
        assert_eq!(query(&dir, "d", "select * from games, voids").len(), 0);
        dir.assert_tmp_is_empty();
        words = vec!["resume", "d"];
    }
    let running = start(&dir, &words);
    wait_for_families(&dir, &games);
    running.send(Signal::SIGKILL);
    assert_eq!(running.wait().exit, None);
    assert!(eventually(|| families(&dir).is_empty()), "still there: {:?}", families(&dir));
    assert_eq!(status(&dir, "d")["running"], false);
    dir.run(&["verify", "d"]).code(0).stdout_has("2 transcripts of unfinished games");
    check_sums(&dir, "d");
    dir.write(GATE, "");
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 4);
}

fn stop(running: &Running, signals: &[Signal]) {
    running.send(signals[0]);
    for &signal in &signals[1..] {
        // Two pending signals of one kind are delivered once.
        running.wait_for_stderr("finishing ");
        running.send(signal);
    }
}

/// How long the contest is stopped: longer than it runs on a machine that isn't slow.
const GAP: Duration = Duration::from_secs(6);

#[test]
fn a_stopped_contest_continues_without_late_faults() {
    let dir = TestDir::new();
    let gate = dir.path(GATE);
    // Agents can read files created in it later.
    std::fs::create_dir(gate.parent().unwrap()).unwrap();
    let gate = gate.display();
    let Some(agent) = family(&dir, &format!("until:{gate}")) else { return };
    let agents = [&*format!("a={agent}"), &format!("b={agent}")];
    // Agents of two matches on one core alternate, and no turn ends here.
    let jobs = std::thread::available_parallelism().unwrap().get().min(2);
    write(&dir, &agents, &format!("jobs = {jobs}\n"));
    let begun = Instant::now();
    let running = start(&dir, &["run", "c.toml", "--out", "d"]);
    let games = ["d/games/0000/0000000.jsonl", "d/games/0000/0000001.jsonl"];
    // Reports of agents are recorded when the first turn begins.
    let pids = wait_for_families(&dir, &games[..jobs]);
    running.send(Signal::SIGTSTP);
    let all_stopped = || pids.iter().all(|&pid| is_stopped(pid));
    assert!(eventually(|| state(running.pid()) == Some('T') && all_stopped()), "it doesn't stop");
    let stopped_at = Instant::now();
    std::thread::sleep(GAP);
    let gap = stopped_at.elapsed();
    running.send(Signal::SIGCONT);
    dir.write(GATE, "");
    running.wait().code(0);
    let moved = begun.elapsed().saturating_sub(gap);
    // Turns of a match are sequential: if one contained the gap, their sum would exceed the run time
    // without the gap.
    for game in games {
        let turns = dir.events_of(game, "played").into_iter();
        let took: Duration =
            turns.map(|event| Duration::from_nanos(event["wall_ns"].as_u64().unwrap())).sum();
        assert!(moved >= took, "{game}: the gap was charged: {took:?} of {moved:?}");
    }
    let faults = query(&dir, "d", "select * from seats where fault is not null");
    assert_eq!(faults, [""; 0]);
    assert_whole(&dir, "d", 2);
}
