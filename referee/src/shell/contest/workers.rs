//! `workers.json`: what is known of a contest's workers. The coordinator writes it, whoever looks on
//! reads it; nothing depends on it.

use super::folder::{Folder, WORKERS_FILE};
use crate::fleet::{WorkerTold, Workers};
use crate::shell::replacing::replace;
use nix::fcntl::OFlag;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// A larger file isn't one.
const BYTES_MAX: u64 = 32 << 20;

/// Writes what is known now in the place of what was known.
pub fn write(folder: &Folder, workers: &Workers) -> io::Result<()> {
    replace(&folder.path(WORKERS_FILE), &serde_json::to_vec(workers)?)
}

/// For how long nothing has been heard of a worker; `None` where that isn't known.
pub fn silence(told: &WorkerTold) -> Option<Duration> {
    let seen: jiff::Timestamp = told.seen.parse().ok()?;
    Some(Duration::try_from(jiff::Timestamp::now().duration_since(seen)).unwrap_or_default())
}

/// What was known last; nobody where the contest is played on one machine.
pub fn read(folder: &Folder) -> Workers {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(folder.path(WORKERS_FILE));
    let mut bytes = Vec::new();
    let taken = file.and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    taken.ok().and_then(|_| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{read, silence, write};
    use crate::fleet::{Beat, WorkerInfo, Workers};
    use crate::shell::contest::folder::Folder;
    use std::time::Duration;

    #[test]
    fn what_is_written_is_read() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("contest.db"), "").unwrap();
        let folder = Folder::open(place.path()).unwrap();
        assert_eq!(read(&folder), Workers::default());
        let mut workers = Workers::default();
        let worker = WorkerInfo { id: "a".to_owned(), speed: 1.5, ..WorkerInfo::default() };
        let beat = Beat { worker, games: vec![3], ..Beat::default() };
        workers.beat(&beat, &jiff::Timestamp::now().to_string());
        write(&folder, &workers).unwrap();
        write(&folder, &workers).unwrap();
        assert_eq!(read(&folder), workers);
        assert!(silence(&workers.workers[0]).unwrap() < Duration::from_secs(600));
        workers.workers[0].seen = "2999-01-01T00:00:00Z".to_owned();
        assert_eq!(silence(&workers.workers[0]), Some(Duration::ZERO));
        workers.workers[0].seen = "then".to_owned();
        assert_eq!(silence(&workers.workers[0]), None);
        std::fs::write(folder.path("workers.json"), "{").unwrap();
        assert_eq!(read(&folder), Workers::default());
    }
}
