//! For which builds others had to wait.

use super::{place, right};
use crate::Builds;
use crate::runner::Runner;
use referee_contest::Player;
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
