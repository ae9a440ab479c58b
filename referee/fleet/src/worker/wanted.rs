//! Which contests a worker plays in.

use super::finding::Found;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a contest that this worker doesn't fit isn't tried again, and one that only could not be
/// looked at.
const AGAIN: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3));

/// Why a worker doesn't play in a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// In words.
    pub(super) why: String,
    /// It may well be another time: the server didn't answer.
    pub(super) passing: bool,
}

impl From<String> for Unfit {
    fn from(why: String) -> Self {
        Self { why, passing: false }
    }
}

/// Which contests a worker plays in.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Only that of this name or id.
    only: Option<String>,
    /// Those that it doesn't fit, by id.
    refused: BTreeMap<String, Refused>,
}

/// A contest that a worker doesn't fit.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// The contest.
    pub(super) found: Found,
    /// Why.
    pub(super) unfit: Unfit,
    since: Instant,
}

impl Wanted {
    /// Only the contest of this name or id, or all.
    pub(super) fn new(only: Option<String>) -> Self {
        Self { only, refused: BTreeMap::new() }
    }

    /// Whether it would play in this one now.
    pub(super) fn wants(&self, found: &Found) -> bool {
        let is_it = |only: &String| *only == found.announcement.name || *only == found.names.id;
        let refused = self.refused.get(&found.names.id);
        let time = |it: &Refused| if it.unfit.passing { AGAIN.1 } else { AGAIN.0 };
        let rests = |it: &Refused| it.found == *found && it.since.elapsed() < time(it);
        self.only.as_ref().is_none_or(is_it) && !refused.is_some_and(rests)
    }

    /// It doesn't fit this one. Whether that is news.
    pub(super) fn refuse(&mut self, found: &Found, unfit: Unfit) -> bool {
        let before = self.refused.get(&found.names.id);
        let news = before.is_none_or(|before| before.unfit != unfit);
        let refused = Refused { found: found.clone(), unfit, since: Instant::now() };
        self.refused.insert(found.names.id.clone(), refused);
        news
    }

    /// It fits this one after all.
    pub(super) fn accept(&mut self, found: &Found) {
        self.refused.remove(&found.names.id);
    }

    /// Forgets those that are no more.
    pub(super) fn keep(&mut self, found: &[Found]) {
        self.refused.retain(|id, _| found.iter().any(|found| found.names.id == *id));
    }

    /// Those that it doesn't fit.
    pub(super) fn refused(&self) -> impl Iterator<Item = &Refused> {
        self.refused.values()
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;
    use crate::worker::finding::Found;
    use crate::{Announcement, Names};

    fn found(id: &str, name: &str) -> Found {
        let announcement = Announcement { name: name.to_owned(), ..Announcement::default() };
        Found { names: Names::new(id).unwrap(), announcement }
    }

    #[test]
    fn a_contest_goes_by_name_or_id_and_rests_when_it_is_refused() {
        let (one, other) = (found("0000000000000001", "one"), found("0000000000000002", "other"));
        for (only, wants) in [(None, (true, true)), (Some("one"), (true, false))] {
            let wanted = Wanted::new(only.map(str::to_owned));
            assert_eq!((wanted.wants(&one), wanted.wants(&other)), wants);
        }
        let mut wanted = Wanted::new(Some("0000000000000001".to_owned()));
        assert!(wanted.wants(&one) && !wanted.wants(&other));
        assert!(wanted.refuse(&one, "too slow".to_owned().into()));
        assert!(!wanted.refuse(&one, "too slow".to_owned().into()), "told once");
        assert!(!wanted.wants(&one));
        let mut again = one.clone();
        again.announcement.since = "later".to_owned();
        assert!(wanted.wants(&again), "begun anew, it is looked at anew");
        wanted.keep(&[other]);
        assert!(wanted.wants(&one));
    }
}
