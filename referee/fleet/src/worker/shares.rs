//! Divides a worker's time among contests in proportion to their priorities, by start-time fair
//! queueing (Goyal, Vin and Cheng 1996): each contest has a virtual time, which advances faster the
//! lower its priority is, and the contest with the least is next. Time without waiting orders is not
//! made up for.

use super::announced::AnnouncedContest;
use std::collections::BTreeMap;
use std::time::Duration;

/// A worker's time, by contest.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// The virtual time at which the current turn began.
    clock: f64,
    /// The virtual time up to which a contest was played, by id.
    played: BTreeMap<String, f64>,
}

impl Shares {
    /// Returns the virtual time at which a contest's next turn begins. The least is next.
    pub(super) fn next_turn(&self, contest: &AnnouncedContest) -> f64 {
        self.played.get(&contest.names.id).map_or(self.clock, |played| played.max(self.clock))
    }

    /// Begins a turn of this contest.
    pub(super) fn begin(&mut self, contest: &AnnouncedContest) {
        self.clock = self.next_turn(contest);
    }

    /// Adds time to the turn of this contest.
    pub(super) fn add(&mut self, contest: &AnnouncedContest, time: Duration) {
        let priority = f64::from(contest.announcement.priority.max(1));
        let played = self.next_turn(contest) + time.as_secs_f64() / priority;
        self.played.insert(contest.names.id.clone(), played);
    }

    /// Forgets contests that are over.
    pub(super) fn keep(&mut self, announced: &[AnnouncedContest]) {
        self.played.retain(|id, _| announced.iter().any(|announced| announced.names.id == *id));
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;
    use crate::worker::announced::AnnouncedContest;
    use crate::{Announcement, Names};
    use std::time::Duration;

    const TURN: Duration = Duration::from_secs(30);

    fn contest(number: u64, priority: u32) -> AnnouncedContest {
        AnnouncedContest {
            names: Names::new(&format!("{number:016x}")).unwrap(),
            announcement: Announcement { priority, ..Announcement::default() },
        }
    }

    /// Returns how many of these turns each contest gets.
    fn turns(shares: &mut Shares, contests: &[AnnouncedContest], count: usize) -> Vec<usize> {
        let mut turns = vec![0; contests.len()];
        for _ in 0..count {
            let due: Vec<f64> = contests.iter().map(|it| shares.next_turn(it)).collect();
            let next = (0..contests.len()).min_by(|&a, &b| due[a].total_cmp(&due[b])).unwrap();
            turns[next] += 1;
            shares.begin(&contests[next]);
            shares.add(&contests[next], TURN);
        }
        turns
    }

    #[test]
    fn turns_are_in_proportion_to_priorities() {
        let contests = [contest(1, 300), contest(2, 100), contest(3, 100)];
        let turns = turns(&mut Shares::default(), &contests, 500);
        for (turns, expected) in turns.into_iter().zip([300_usize, 100, 100]) {
            assert!(turns.abs_diff(expected) <= 3, "{turns} of {expected}");
        }
    }

    #[test]
    fn a_new_contest_gets_its_share_and_no_more() {
        let mut shares = Shares::default();
        let contests = [contest(1, 100), contest(2, 100)];
        turns(&mut shares, &contests[..1], 1000);
        let turns = turns(&mut shares, &contests, 100);
        assert!(turns[0].abs_diff(50) <= 2, "{turns:?}");
        shares.keep(&contests[1..]);
        assert_eq!(shares.played.len(), 1);
    }
}
