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

    /// Returns whether there are new agents that may be taken in.
    pub(super) fn look(&self) -> bool {
        let now = Instant::now();
        let mut pace = self.pace.borrow_mut();
        pace.tidy(now);
        let mut found = false;
        if let Some(inbox) = self.inbox.as_ref().filter(|_| self.has_room()) {
            let mut inbox = inbox.borrow_mut();
            match inbox.look(&pace, now + LOOK_TIME) {
                Ok(new) => found = new,
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
}

/// The name under which a team waits.
pub(super) fn held_as(team: u32) -> PathBuf {
    Path::new(TEAMS_FOLDER).join(team.to_string())
}
