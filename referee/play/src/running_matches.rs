//! The running matches with their transcripts, for viewers, who read the files. A match is added when
//! it begins and removed when it ends.

use referee_process::lock::lock;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// The running matches, by number.
#[derive(Clone, Debug, Default)]
pub struct RunningMatches(Arc<Mutex<BTreeMap<u64, RunningMatch>>>);

/// A running match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningMatch {
    /// Its transcript.
    pub transcript: PathBuf,
    /// When it began: a game that is played again is another match.
    pub since: Instant,
}

/// Keeps a match in the list until it is dropped.
#[derive(Debug)]
pub struct RunningMatchGuard {
    playing: RunningMatches,
    number: u64,
}

impl RunningMatches {
    /// Adds a match with its transcript.
    pub fn begin(&self, number: u64, transcript: &Path) -> RunningMatchGuard {
        let begun = RunningMatch { transcript: transcript.to_owned(), since: Instant::now() };
        self.matches().insert(number, begun);
        RunningMatchGuard { playing: self.clone(), number }
    }

    /// Whether this match is running.
    pub fn has(&self, number: u64) -> bool {
        self.matches().contains_key(&number)
    }

    /// Returns the next running match by number, and the first one after the last.
    pub fn after(&self, number: Option<u64>) -> Option<(u64, PathBuf)> {
        let matches = self.matches();
        let next = matches.iter().find(|(other, _)| Some(**other) > number);
        next.or_else(|| matches.iter().next())
            .map(|(&number, begun)| (number, begun.transcript.clone()))
    }

    /// Returns all of them.
    pub fn all(&self) -> BTreeMap<u64, RunningMatch> {
        self.matches().clone()
    }

    fn matches(&self) -> MutexGuard<'_, BTreeMap<u64, RunningMatch>> {
        lock(&self.0)
    }
}

impl Drop for RunningMatchGuard {
    fn drop(&mut self) {
        self.playing.matches().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::RunningMatches;
    use std::path::Path;

    #[test]
    fn matches_are_cycled_and_removed() {
        let playing = RunningMatches::default();
        assert_eq!(playing.after(None), None);
        let three = playing.begin(3, Path::new("three"));
        let five = playing.begin(5, Path::new("five"));
        let after = |number| playing.after(number).map(|(number, _)| number);
        assert_eq!((after(None), after(Some(3)), after(Some(5))), (Some(3), Some(5), Some(3)));
        drop(three);
        assert!(!playing.has(3) && playing.has(5));
        assert_eq!(after(Some(5)), Some(5));
        drop(five);
        assert_eq!(after(None), None);
    }
}
