//! The writer: a thread that makes games durable in batches. It syncs the transcripts of a batch first,
//! then commits its rows, and only then reports to the runner that the games count.

use super::folder::Folder;
use super::store::{Store, VoidAttempt};
use crate::parallel;
use referee_contest::Record;
use referee_process::files::is_disk_full;
use referee_process::{Cause, Failure};
use referee_protocol::SandboxRecord;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc as async_mpsc;

/// The most entries in a batch.
const BATCH_ENTRIES: usize = 50;
/// How many transcripts of a batch are synced at once: each mostly waits for the others.
const SYNCS_AT_ONCE: usize = 8;
/// The fewest files worth a thread.
const SYNCS_A_THREAD: usize = 4;
/// The longest that the first entry of a batch waits for others.
const BATCH_WAIT: Duration = Duration::from_millis(100);

/// A result to store.
#[derive(Debug)]
pub(super) enum Entry {
    /// A game that counts, and SHA-256 of its transcript.
    Game(Box<Record>, Option<String>),
    /// An attempt that doesn't count.
    Void(VoidAttempt),
    /// The sandbox from now on.
    Session(Box<SandboxRecord>),
}

/// The entries of a stored batch, in the order of arrival, or why nothing more can be stored.
pub(super) type WrittenBatch = Result<Vec<Entry>, Failure>;

/// The thread that stores results.
#[derive(Debug)]
pub(super) struct ResultWriter {
    entries: mpsc::Sender<Entry>,
    thread: JoinHandle<()>,
    batches: async_mpsc::UnboundedReceiver<WrittenBatch>,
    /// Entries that are not stored yet.
    pending: usize,
}

impl ResultWriter {
    /// Starts a writer thread for a store.
    pub(super) fn start(folder: Folder, store: Store) -> io::Result<Self> {
        let (entries, given) = mpsc::channel();
        let (done, batches) = async_mpsc::unbounded_channel();
        let writer = WriterThread { folder, store, synced: BTreeSet::new() };
        let work = move || writer.run(&given, &done);
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(work)?;
        Ok(Self { entries, thread, batches, pending: 0 })
    }

    /// Sends an entry to the writer.
    pub(super) fn send(&mut self, entry: Entry) {
        // `next` reports if the thread is gone.
        self.pending += usize::from(self.entries.send(entry).is_ok());
    }

    /// Returns whether entries are not stored yet.
    pub(super) fn is_busy(&self) -> bool {
        self.pending > 0
    }

    /// Waits for the next stored batch. Cancel safe.
    pub(super) async fn next(&mut self) -> WrittenBatch {
        // A thread that ends may leave entries unread.
        let lost = || Err(Failure::machine("the thread that stores the results has ended"));
        let batch = self.batches.recv().await.unwrap_or_else(lost);
        self.pending = batch.as_ref().map_or(0, |batch| self.pending - batch.len());
        batch
    }

    /// Waits until all entries are stored and the thread has ended.
    pub(super) fn finish(self) {
        drop(self.entries);
        self.thread.join().ok();
    }
}

struct WriterThread {
    folder: Folder,
    store: Store,
    /// Folders that are themselves synced.
    synced: BTreeSet<PathBuf>,
}

impl WriterThread {
    fn run(
        mut self,
        given: &mpsc::Receiver<Entry>,
        done: &async_mpsc::UnboundedSender<WrittenBatch>,
    ) {
        while let Ok(first) = given.recv() {
            let batch = gather(given, first);
            let result = self.store(&batch).map(|()| batch);
            let failed = result.is_err();
            if done.send(result).is_err() || failed {
                return;
            }
        }
    }

    fn store(&mut self, batch: &[Entry]) -> Result<(), Failure> {
        let (mut games, mut voids, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for entry in batch {
            match entry {
                Entry::Game(game, sha256) => {
                    files.push(self.folder.path(&game.transcript));
                    games.push((game.as_ref().clone(), sha256.clone()));
                }
                Entry::Void(void) => {
                    files.extend(void.transcript.as_ref().map(|name| self.folder.path(name)));
                    voids.push(void.clone());
                }
                Entry::Session(sandbox) => {
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
                // A new folder survives a crash only if its parents are synced too.
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
    let end = Instant::now() + BATCH_WAIT;
    let mut batch = vec![first];
    while batch.len() < BATCH_ENTRIES
        && let Ok(entry) = given.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        batch.push(entry);
    }
    batch
}

/// Waits until a file's bytes, or a folder's names, are on the disk.
fn sync(path: &Path, folder: bool) -> Result<(), Failure> {
    let synced =
        File::open(path).and_then(|file| if folder { file.sync_all() } else { file.sync_data() });
    synced.map_err(|error| disk_failure(path, &error))
}

/// Returns the failure to report when a contest's folder can't be written.
pub fn disk_failure(path: &Path, error: &io::Error) -> Failure {
    if is_disk_full(error) {
        disk_full(path)
    } else {
        Failure::machine(format!("{}: {error}", path.display()))
    }
}

pub(super) fn disk_full(path: &Path) -> Failure {
    Failure::machine(format!("{}: the disk is full", path.display()))
        .because(Cause::DiskFull)
        .help("free some space, then run `referee contest resume DIR`: no result is lost")
}

#[cfg(test)]
mod tests {
    use super::{Entry, ResultWriter, async_mpsc, mpsc};
    use crate::tests::store::void;

    #[test]
    fn a_lost_thread_ends_the_wait() {
        // A thread that has failed accepts entries until it has ended.
        let (entries, _given) = mpsc::channel();
        let (_, batches) = async_mpsc::unbounded_channel();
        let thread = std::thread::spawn(|| ());
        let mut writer = ResultWriter { entries, thread, batches, pending: 0 };
        writer.send(Entry::Void(void(0, 1, "x")));
        assert!(writer.is_busy());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(writer.next()).is_err());
        assert!(!writer.is_busy());
        writer.finish();
    }
}
