//! For which builds others had to wait.

use super::{place, right};
use crate::Builds;
use crate::runner::Runner;
use referee_contest::{Change, ChangeKind, Player, Schedule};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_build_holds_nobody_up_after_its_players_first_result() {
    let place = place(&[(
        "contest.toml",
        "game = \"hex\"\nagents = [\"@random\", \"@first\", \"@greedy\"]\nformat = \"ladder\"",
    )]);
    let contest = right(&place, Builds::Later).contest;
    let mut runner = Runner::in_memory(contest, 0..u64::MAX);
    let [one, other] = runner.schedule.fixture(0).unwrap().players[..] else { panic!() };
    let third = (0..3).map(Player).find(|it| ![one, other].contains(it)).unwrap();
    let seconds = Duration::from_secs;
    runner.waited(one, seconds(3));
    runner.waited(one, seconds(6));
    runner.schedule.record(0, &[1, 2]);
    runner.waited(one, seconds(9));
    runner.waited(other, seconds(9));
    runner.waited(third, seconds(2));
    let waits: Vec<(Player, Duration)> = runner.waits.into_iter().collect();
    let mut expected = [(one, seconds(6)), (third, seconds(2))];
    expected.sort();
    assert_eq!(waits, expected);
}

#[test]
fn a_build_of_a_player_that_comes_back_holds_others_up_again() {
    let place = place(&[(
        "contest.toml",
        "game = \"hex\"\nagents = [\"@random\", \"@first\", \"@greedy\"]\nformat = \"ladder\"",
    )]);
    let mut contest = (*right(&place, Builds::Later).contest).clone();
    let player = Schedule::new(Arc::new(contest.clone())).fixture(0).unwrap().players[0];
    let left = ChangeKind::Withdraw { player, played: vec![0], from: Some(2) };
    for kind in [left, ChangeKind::Return { player, from: 0 }] {
        let [at, by, reason] = [const { String::new() }; 3];
        contest.changes.push(Change { at, by, reason, removes: Vec::new(), kind });
    }
    let mut runner = Runner::in_memory(Arc::new(contest), 0..u64::MAX);
    runner.schedule.record(0, &[1, 2]);
    runner.waited(player, Duration::from_secs(3));
    assert_eq!(runner.waits.get(&player), Some(&Duration::from_secs(3)));
    runner.schedule.record(1, &[1, 2]);
    runner.waited(player, Duration::from_secs(9));
    assert_eq!(runner.waits.get(&player), Some(&Duration::from_secs(3)));
}
