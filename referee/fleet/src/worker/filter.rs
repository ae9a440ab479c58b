//! Which contests a worker plays.

use super::announced::AnnouncedContest;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a contest is not tried again: if this worker can't play it, and if it
/// could not be read.
const RETRY_AFTER: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3));

/// Why a worker does not play a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The reason as text.
    pub(super) why: String,
    /// Whether the reason is temporary: the server did not answer.
    pub(super) passing: bool,
}

impl From<String> for Mismatch {
    fn from(why: String) -> Self {
        Self { why, passing: false }
    }
}

/// Which contests a worker plays.
#[derive(Clone, Debug, Default)]
pub(super) struct ContestFilter {
    /// The only contest to play, by name or id.
    only: Option<String>,
    /// Contests that it does not play, by id.
    refused: BTreeMap<String, Refused>,
}

/// A contest that a worker does not play.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// The contest.
    pub(super) announced: AnnouncedContest,
    /// The reason.
    pub(super) mismatch: Mismatch,
    since: Instant,
}

impl ContestFilter {
    /// Plays only the contest of this name or id, or all.
    pub(super) fn new(only: Option<String>) -> Self {
        Self { only, refused: BTreeMap::new() }
    }

    /// Returns whether the worker would play this contest now.
    pub(super) fn wants(&self, announced: &AnnouncedContest) -> bool {
        let is_it =
            |only: &String| *only == announced.announcement.name || *only == announced.names.id;
        let refused = self.refused.get(&announced.names.id);
        let time = |it: &Refused| if it.mismatch.passing { RETRY_AFTER.1 } else { RETRY_AFTER.0 };
        let rests = |it: &Refused| it.announced == *announced && it.since.elapsed() < time(it);
        self.only.as_ref().is_none_or(is_it) && !refused.is_some_and(rests)
    }

    /// Returns whether the worker would leave another contest for this one: it was not refused before.
    pub(super) fn may_want(&self, announced: &AnnouncedContest) -> bool {
        let refused = self.refused.get(&announced.names.id);
        self.wants(announced) && refused.is_none_or(|it| it.announced != *announced)
    }

    /// Notes that the worker does not play it; returns whether the reason is new.
    pub(super) fn refuse(&mut self, announced: &AnnouncedContest, mismatch: Mismatch) -> bool {
        let before = self.refused.get(&announced.names.id);
        let is_new = before.is_none_or(|before| before.mismatch != mismatch);
        let refused = Refused { announced: announced.clone(), mismatch, since: Instant::now() };
        self.refused.insert(announced.names.id.clone(), refused);
        is_new
    }

    /// Notes that the worker plays it.
    pub(super) fn accept(&mut self, announced: &AnnouncedContest) {
        self.refused.remove(&announced.names.id);
    }

    /// Forgets contests that are over.
    pub(super) fn keep(&mut self, announced: &[AnnouncedContest]) {
        self.refused.retain(|id, _| announced.iter().any(|announced| announced.names.id == *id));
    }

    /// Returns the contests that it does not play.
    pub(super) fn refused(&self) -> impl Iterator<Item = &Refused> {
        self.refused.values()
    }
}

#[cfg(test)]
mod tests {
    use super::ContestFilter;
    use crate::worker::announced::AnnouncedContest;
    use crate::{Announcement, Names};

    fn announced(id: &str, name: &str) -> AnnouncedContest {
        let announcement = Announcement { name: name.to_owned(), ..Announcement::default() };
        AnnouncedContest { names: Names::new(id).unwrap(), announcement }
    }

    #[test]
    fn a_contest_is_selected_by_name_or_id_and_not_tried_again_at_once() {
        let (one, other) =
            (announced("0000000000000001", "one"), announced("0000000000000002", "other"));
        for (only, wants) in [(None, (true, true)), (Some("one"), (true, false))] {
            let filter = ContestFilter::new(only.map(str::to_owned));
            assert_eq!((filter.wants(&one), filter.wants(&other)), wants);
        }
        let mut filter = ContestFilter::new(Some("0000000000000001".to_owned()));
        assert!(filter.wants(&one) && !filter.wants(&other));
        assert!(filter.refuse(&one, "too slow".to_owned().into()));
        assert!(!filter.refuse(&one, "too slow".to_owned().into()), "reported once");
        assert!(!filter.wants(&one) && !filter.may_want(&one));
        let mut again = one.clone();
        again.announcement.since = "later".to_owned();
        assert!(
            filter.wants(&again) && filter.may_want(&again),
            "a resumed contest is tried again"
        );
        filter.keep(&[other]);
        assert!(filter.wants(&one));
    }
}
