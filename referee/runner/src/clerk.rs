//! The clerk: a thread that makes games durable in groups. First the transcripts of a group are on
//! the disk, then its rows are, and only then the runner hears that its games count.

use super::folder::Folder;
use super::store::{Store, VoidAttempt};
use crate::parallel;
use referee_contest::Record;
use referee_process::Failure;
use referee_protocol::Sandbox;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc as async_mpsc;

/// The most games that are made durable together.
const GROUP_GAMES: usize = 50;
/// So many transcripts of a group are brought to the disk at once: each waits mostly for others to
/// get out of its way.
const SYNCS_AT_ONCE: usize = 8;
/// Fewer of them aren't worth a thread.
const SYNCS_A_THREAD: usize = 4;
/// The longest that the first of a group waits for others.
const GROUP_WAIT: Duration = Duration::from_millis(100);

/// What the clerk is given.
#[derive(Debug)]
pub(super) enum Entry {
    /// A game that is to count.
    Game(Box<Record>),
    /// An attempt that doesn't.
    Void(VoidAttempt),
    /// What keeps agents apart from now on.
    Apart(Box<Sandbox>),
}

/// What the clerk says of a group: its games, in the order in which they came, or why there is no
/// use in going on.
pub(super) type Group = Result<Vec<Entry>, Failure>;

/// The clerk, from outside.
#[derive(Debug)]
pub(super) struct Clerk {
    entries: mpsc::Sender<Entry>,
    groups: async_mpsc::UnboundedReceiver<Group>,
    thread: JoinHandle<()>,
    /// Entries that are under way.
    under_way: usize,
}

impl Clerk {
    /// Hires one for a store.
    pub(super) fn start(folder: Folder, store: Store) -> io::Result<Self> {
        let (entries, given) = mpsc::channel();
        let (done, groups) = async_mpsc::unbounded_channel();
        let desk = Desk { folder, store, synced: BTreeSet::new() };
        let work = move || desk.work(&given, &done);
        let thread = std::thread::Builder::new().name("clerk".to_owned()).spawn(work)?;
        Ok(Self { entries, groups, thread, under_way: 0 })
    }

    /// Hands in an entry.
    pub(super) fn give(&mut self, entry: Entry) {
        // Whether the clerk is still there is told by the groups.
        if self.entries.send(entry).is_ok() {
            self.under_way += 1;
        }
    }

    /// Whether entries are under way.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way > 0
    }

    /// The next group that is durable. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Group {
        match self.groups.recv().await {
            Some(Ok(group)) => {
                self.under_way -= group.len();
                Ok(group)
            }
            Some(Err(failure)) => {
                self.under_way = 0;
                Err(failure)
            }
            None => {
                // It can have taken entries with it that were given while it was on its way out.
                self.under_way = 0;
                Err(Failure::machine("the thread that keeps the results was lost"))
            }
        }
    }

    /// Lets the clerk go when everything given is done.
    pub(super) fn finish(self) {
        drop(self.entries);
        self.thread.join().ok();
    }
}

struct Desk {
    folder: Folder,
    store: Store,
    /// Folders whose own entries are on the disk.
    synced: BTreeSet<PathBuf>,
}

impl Desk {
    fn work(mut self, given: &mpsc::Receiver<Entry>, done: &async_mpsc::UnboundedSender<Group>) {
        while let Ok(first) = given.recv() {
            let group = gather(given, first);
            let result = self.keep(&group).map(|()| group);
            let failed = result.is_err();
            if done.send(result).is_err() || failed {
                return;
            }
        }
    }

    fn keep(&mut self, group: &[Entry]) -> Result<(), Failure> {
        let (mut games, mut voids, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for entry in group {
            match entry {
                Entry::Game(game) => {
                    files.push(self.folder.path(&game.transcript));
                    games.push(game.as_ref().clone());
                }
                Entry::Void(void) => {
                    files.extend(void.transcript.as_ref().map(|name| self.folder.path(name)));
                    voids.push(void.clone());
                }
                Entry::Apart(sandbox) => {
                    let now = jiff::Timestamp::now().to_string();
                    self.store.add_session(&now, sandbox)?;
                }
            }
        }
        let threads = SYNCS_AT_ONCE.min(files.len() / SYNCS_A_THREAD);
        let synced = parallel::map(&files, Some(threads), &|_, _| {}, |file| sync(file, false));
        synced.into_iter().collect::<Result<(), _>>()?;
        let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        for folder in folders {
            sync(folder, true)?;
            if self.synced.insert(folder.to_owned()) {
                // It is new, and stands in its parents only when they are on the disk too.
                let inside = |it: &&Path| it.starts_with(self.folder.root());
                for outer in folder.ancestors().skip(1).take_while(inside) {
                    sync(outer, true)?;
                }
            }
        }
        self.store.add(&games, &voids)
    }
}

fn gather(given: &mpsc::Receiver<Entry>, first: Entry) -> Vec<Entry> {
    let end = Instant::now() + GROUP_WAIT;
    let mut group = vec![first];
    while group.len() < GROUP_GAMES {
        match given.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(entry) => group.push(entry),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    group
}

/// Waits until a file's bytes, or a folder's names, are on the disk.
fn sync(path: &Path, folder: bool) -> Result<(), Failure> {
    let synced =
        File::open(path).and_then(|file| if folder { file.sync_all() } else { file.sync_data() });
    synced.map_err(|error| disk_failure(path, &error))
}

/// What is to be said when a contest's folder can't be written.
pub fn disk_failure(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::StorageFull => disk_full(path),
        _ => Failure::machine(format!("{}: {error}", path.display())),
    }
}

pub(super) fn disk_full(path: &Path) -> Failure {
    Failure::machine(format!("{}: the disk is full", path.display()))
        .help("make room, then resume the contest: nothing is lost")
}

#[cfg(test)]
mod tests {
    use super::{Clerk, Entry, async_mpsc, mpsc};
    use crate::tests::store::void;

    #[test]
    fn nobody_waits_for_what_a_clerk_took_along() {
        // It has told of its failure and not yet gone: what is given then is accepted.
        let (entries, _given) = mpsc::channel();
        let (_, groups) = async_mpsc::unbounded_channel();
        let thread = std::thread::spawn(|| ());
        let mut clerk = Clerk { entries, groups, thread, under_way: 0 };
        clerk.give(Entry::Void(void(0, 1, "x")));
        assert!(clerk.is_busy());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(clerk.next()).is_err());
        assert!(!clerk.is_busy());
        clerk.finish();
    }
}
