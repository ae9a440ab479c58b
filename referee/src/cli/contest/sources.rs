//! Where the agents of an open contest come from.

use referee_process::Failure;
use referee_runner::course::{Course, Phase};
use referee_runner::disk::is_nearly_full;
use referee_runner::folder::{Folder, TEAMS_FOLDER};
use referee_runner::inbox::Inbox;
use referee_runner::pace::Pace;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the folder of submissions is searched at most, since no game begins meanwhile.
const LOOK_TIME: Duration = Duration::from_millis(300);
/// How long after it games are tried again that could not be played: at first, and at most.
const AGAIN: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(3600)];
/// How long after the last time is looked again who fills the disk.
const RELIEF: Duration = Duration::from_secs(60);

/// Where new agents come from.
pub(super) struct Sources {
    /// The contest's folder.
    pub(super) contest: Folder,
    /// The folder of submissions, if there is one.
    pub(super) inbox: Option<RefCell<Inbox>>,
    /// The teams that hand in on the web, if they do.
    pub(super) course: Option<Arc<Course>>,
    pub(super) pace: RefCell<Pace>,
    /// Whether the disk was nearly full at the last look.
    pub(super) is_full: Cell<bool>,
    /// When was looked last who fills it.
    pub(super) relieved: Cell<Option<Instant>>,
    /// When games are tried again that could not be played.
    pub(super) again: Cell<Option<Instant>>,
    /// How long after the last run that is.
    pub(super) wait: Cell<Duration>,
}

impl Sources {
    /// Returns what is to be done.
    pub(super) fn phase(&self) -> Result<Phase, Failure> {
        self.course.as_ref().map_or(Ok(Phase::Ladder), |course| course.phase())
    }

    /// Returns whether something else is to be done.
    pub(super) fn has_other_phase(&self, phase: &Phase) -> bool {
        let now = self.phase().inspect_err(|failure| tracing::warn!("{failure}"));
        now.is_ok_and(|now| now != *phase)
    }

    /// Notes whether games could not be played: others may wait for their results.
    pub(super) fn has_given_up(&self, has: bool) {
        let [first, longest] = AGAIN;
        let wait = if has { (self.wait.get() * 2).clamp(first, longest) } else { Duration::ZERO };
        self.wait.set(wait);
        self.again.set(has.then(|| Instant::now() + wait));
    }

    /// Returns whether there are new agents that may be taken in, agents that fill the disk, or games to try again.
    pub(super) fn look(&self) -> bool {
        let now = Instant::now();
        let mut pace = self.pace.borrow_mut();
        pace.tidy(now);
        let has_room = self.has_room();
        let is_due = self.again.get().is_some_and(|at| now >= at);
        if is_due {
            self.again.set(None);
        }
        let mut found = is_due || self.needs_relief();
        if let Some(inbox) = self.inbox.as_ref().filter(|_| has_room) {
            let mut inbox = inbox.borrow_mut();
            match inbox.look(&pace, now + LOOK_TIME) {
                Ok(new) => found |= new,
                Err(error) => tracing::warn!(%error, "cannot list the submissions"),
            }
            for warning in inbox.warnings() {
                tracing::warn!("{warning}");
            }
        }
        if let Some(course) = &self.course {
            match course.tasks(|team| pace.is_held(&held_as(team), now)) {
                Ok(tasks) => found |= !tasks.is_empty(),
                Err(failure) => tracing::warn!("{failure}"),
            }
        }
        found
    }

    /// Whether the disk has room for submissions, beside the games of those who play already.
    fn has_room(&self) -> bool {
        let is_full = is_nearly_full(self.contest.root());
        let was_full = self.is_full.replace(is_full);
        if is_full && !was_full {
            let root = self.contest.root().display();
            tracing::warn!("{root}: the disk is nearly full, so no submission is taken in");
        }
        !is_full
    }

    /// Whether the disk is nearly full, and it is time to look who fills it.
    pub(super) fn needs_relief(&self) -> bool {
        self.is_full.get() && self.relieved.get().is_none_or(|at| at.elapsed() >= RELIEF)
    }
}

/// The name under which a team waits.
pub(super) fn held_as(team: u32) -> PathBuf {
    Path::new(TEAMS_FOLDER).join(team.to_string())
}
