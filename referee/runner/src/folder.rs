//! A contest's folder: where everything in it is, and the lock that lets one referee at a time work
//! on it.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use referee_process::Failure;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The copy of the contest file.
pub const CONTEST_FILE: &str = "contest.toml";
/// The store.
pub const STORE_FILE: &str = "contest.db";
/// The folder of the transcripts.
pub const GAMES_FOLDER: &str = "games";
/// What is known of the workers of a contest that is played on many machines.
pub const WORKERS_FILE: &str = "workers.json";
/// What is locked.
const LOCK_FILE: &str = "lock";
/// How many games share a folder: more make listing slow on some file systems.
const GAMES_A_FOLDER: u64 = 1000;
/// How long the lock is tried for.
const ASKING: Duration = Duration::from_millis(300);
/// How often it is tried meanwhile.
const TRIES: u32 = 50;

/// A contest's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// Held as long as a referee works on a contest. The system takes it back when the process ends,
/// however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: Flock<File>,
}

impl Folder {
    /// A folder for a new contest: one that doesn't exist yet, or is empty.
    pub fn create(root: &Path) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::machine(format!("{}: {error}", root.display()));
        let holds = Self { root: root.to_owned() };
        if holds.store().exists() {
            return Err(Failure::usage(format!("{}: there is a contest in it", root.display()))
                .help(format!(
                    "`referee contest resume {0}` goes on with it; --out names another folder",
                    root.display()
                )));
        }
        std::fs::create_dir_all(root).map_err(failed)?;
        for entry in std::fs::read_dir(root).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            // What a run leaves that was killed before its store was there.
            let left = [LOCK_FILE, CONTEST_FILE].contains(&name.as_str());
            if !left && !name.starts_with(STORE_FILE) {
                return Err(Failure::usage(format!("{}: the folder is not empty", root.display()))
                    .help("--out names a folder for the contest alone"));
            }
        }
        Ok(holds)
    }

    /// The folder of a contest that was begun.
    pub fn open(root: &Path) -> Result<Self, Failure> {
        let folder = Self { root: root.to_owned() };
        if folder.store().is_file() {
            return Ok(folder);
        }
        Err(Failure::usage(format!("{}: no contest is in it", root.display())).help(format!(
            "a contest's folder has a {STORE_FILE}; `referee contest run FILE --out DIR` makes one"
        )))
    }

    /// Whether a contest is kept there.
    pub fn is_one(root: &Path) -> bool {
        root.join(STORE_FILE).is_file()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.root.join(STORE_FILE)
    }

    /// The copy of the contest file.
    pub fn file(&self) -> PathBuf {
        self.root.join(CONTEST_FILE)
    }

    /// A file by its name relative to the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The transcript of a game, relative to the folder.
    pub fn transcript(number: u64) -> String {
        format!("{GAMES_FOLDER}/{:04}/{number:07}.jsonl", number / GAMES_A_FOLDER)
    }

    /// The transcript of a game that ended void, relative to the folder.
    pub fn void_transcript(number: u64, attempt: u32) -> String {
        format!("{GAMES_FOLDER}/{:04}/{number:07}-void-{attempt}.jsonl", number / GAMES_A_FOLDER)
    }

    /// Whether a referee is working on the contest now.
    pub fn is_locked(&self) -> bool {
        let file = File::open(self.root.join(LOCK_FILE));
        file.is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
    }

    /// Takes the lock, or says who has it.
    pub fn lock(&self) -> Result<Lock, Failure> {
        let path = self.root.join(LOCK_FILE);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::machine(format!("{}: {error}", path.display()))
        };
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(|error| failed(&error))?;
        let mut holder = String::new();
        (&mut file).take(20).read_to_string(&mut holder).ok();
        let mut file = take(file).map_err(|errno| {
            if errno != Errno::EWOULDBLOCK {
                return failed(&errno);
            }
            let root = self.root.display();
            let holder = holder.trim();
            let who = if holder.is_empty() { String::new() } else { format!(", process {holder}") };
            Failure::machine(format!("{root}: another referee is working on this contest{who}"))
                .help("wait for it, or stop it; `referee contest status` looks on meanwhile")
        })?;
        // For the message above; the lock itself doesn't depend on it.
        file.set_len(0).ok();
        file.rewind().ok();
        writeln!(file, "{}", std::process::id()).ok();
        Ok(Lock { _file: file })
    }
}

/// Takes a lock. Whoever only asks whether it is taken has it for a moment, and is waited for.
fn take(mut file: File) -> Result<Flock<File>, Errno> {
    // Tries are counted rather than time, of which a busy machine may leave none.
    for _ in 0..TRIES {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Ok(locked),
            Err((back, Errno::EWOULDBLOCK)) => file = back,
            Err((_, errno)) => return Err(errno),
        }
        std::thread::sleep(ASKING / TRIES);
    }
    Err(Errno::EWOULDBLOCK)
}
