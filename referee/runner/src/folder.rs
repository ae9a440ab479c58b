//! A contest's folder: its files, and the lock that lets one referee at a time work on it.

use super::disk::Disk;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::signal::kill;
use nix::unistd::{Pid, Uid};
use referee_process::Failure;
use referee_process::files::{not_regular, read_all};
use referee_process::open_folder::OpenFolder;
use referee_process::work_folder::close_but_to_agents;
use std::fs::{File, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The copy of the contest file.
pub const CONTEST_FILE: &str = "contest.toml";
/// The largest that is read: that of the instructor with its name and seed.
pub(super) const FILE_BYTES_MAX: u64 = 2 << 20;
/// The store.
pub const STORE_FILE: &str = "contest.db";
/// The digests of its files.
pub const SUMS_FILE: &str = "SHA256SUMS";
/// The changes since the contest began, as JSON.
pub const CHANGES_FILE: &str = "changes.json";
/// The folder of the transcripts.
pub const GAMES_FOLDER: &str = "games";
/// The folder with copies of the game programs, each named by its digest.
pub const RULES_FOLDER: &str = "rules";
/// The folder of the agents' copies.
pub const AGENTS_FOLDER: &str = "agents";
/// The folder of all versions of the submissions of an open ladder.
pub const SUBMISSIONS_FOLDER: &str = "submissions";
/// The folder of what teams hand in on the web, which nobody else may read.
pub const TEAMS_FOLDER: &str = "teams";
/// The folder of replay pages, with the files that they share.
pub const REPLAYS_FOLDER: &str = "replays";
/// The workers of a contest on many machines.
pub const WORKERS_FILE: &str = "workers.json";
/// The lock file.
pub(super) const LOCK_FILE: &str = "lock";
/// See [`Folder::has_room`].
const ROOM_BYTES_MIN: u64 = 64 << 20;
/// How many games share a folder: larger folders are slow to list on some file systems.
const GAMES_A_FOLDER: u64 = 1000;
/// How often `lock` tries: 300 ms at least, as `is_locked` holds the lock for a moment.
const LOCK_TRIES: u32 = 50;
/// The same if the process that had it is no more: what the system still ends of it has the lock.
const DEAD_TRIES: u32 = 2000;
/// The pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(6);

/// A contest's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// The lock of a referee that works on a contest. The system releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: Flock<File>,
}

impl Folder {
    /// Creates a folder for a new contest; it must be empty or not exist yet.
    pub fn create(root: &Path) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::machine(format!("{}: {error}", root.display()));
        let folder = Self { root: root.to_owned() };
        if folder.store().exists() {
            return Err(has_contest(root));
        }
        std::fs::create_dir_all(root).map_err(failed)?;
        close(root, false).map_err(failed)?;
        folder.close_root().map_err(failed)?;
        // A run that was killed before its store was made leaves these: what has no lock is another's.
        let was_killed = root.join(LOCK_FILE).is_file();
        let known = [LOCK_FILE, CONTEST_FILE, AGENTS_FOLDER, RULES_FOLDER, GAMES_FOLDER];
        for entry in std::fs::read_dir(root).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            let left = was_killed && known.contains(&name.as_str());
            if !left && !name.starts_with(STORE_FILE) {
                return Err(Failure::usage(format!("{}: the folder is not empty", root.display()))
                    .help("choose an empty or new folder with --out DIR"));
            }
        }
        Ok(folder)
    }

    /// Closes everything in it to other users, if the folder itself is closed to them: its owner may have opened it since
    /// it was created. What agents need stays open, since they may run as others.
    pub fn close_to_others(&self) -> std::io::Result<()> {
        // Nobody else passes through another user's.
        if !Uid::effective().is_root() || self.root.metadata()?.mode() & 0o004 != 0 {
            return Ok(());
        }
        self.close_root()?;
        for entry in std::fs::read_dir(&self.root)? {
            let entry = entry?;
            let is_needed = [AGENTS_FOLDER, RULES_FOLDER].iter().any(|it| entry.file_name() == *it);
            if is_needed && entry.file_type()?.is_dir() {
                close_but_to_agents(&entry.path())?;
            } else if !entry.file_type()?.is_symlink() {
                close(&entry.path(), true)?;
            }
        }
        Ok(())
    }

    /// Lets nobody but agents pass through it, unless its owner has let others.
    fn close_root(&self) -> std::io::Result<()> {
        if self.root.metadata()?.mode() & 0o7777 == 0o711 {
            close_but_to_agents(&self.root)?;
        }
        Ok(())
    }

    /// Opens the folder of an existing contest.
    pub fn open(root: &Path) -> Result<Self, Failure> {
        let folder = Self { root: root.to_owned() };
        if folder.store().is_file() {
            return Ok(folder);
        }
        Err(Failure::usage(format!("{}: not a contest's folder", root.display())).help(format!(
            "it has no {STORE_FILE}; start a contest with `referee contest run FILE --out DIR`"
        )))
    }

    /// Returns the folder `.`, as the files in a contest's folder name it.
    pub fn here() -> Self {
        Self { root: PathBuf::from(".") }
    }

    /// Returns whether a folder contains a contest.
    pub fn has_contest(root: &Path) -> bool {
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

    /// Reads the copy of the contest file. The folder may come from anyone: a link or a pipe in its place is not followed.
    pub fn read_file(&self) -> std::io::Result<String> {
        let (file, _) = OpenFolder::open(&self.root)?.file(CONTEST_FILE)?;
        String::from_utf8(read_all(file, FILE_BYTES_MAX)?).map_err(std::io::Error::other)
    }

    /// Returns everything in it that no agent may read: all but the agents themselves.
    pub fn records(&self) -> Vec<PathBuf> {
        let suffixes = ["", ".new", "-wal", "-shm"].map(|suffix| format!("{STORE_FILE}{suffix}"));
        let files = [
            CONTEST_FILE,
            CHANGES_FILE,
            SUMS_FILE,
            GAMES_FOLDER,
            SUBMISSIONS_FOLDER,
            TEAMS_FOLDER,
            WORKERS_FILE,
        ];
        let files = files.map(str::to_owned);
        files.into_iter().chain(suffixes).map(|name| self.path(&name)).collect()
    }

    /// Returns the path of a file by its name relative to the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    /// The transcript of a game, relative to the folder.
    pub fn transcript(number: u64) -> String {
        format!("{GAMES_FOLDER}/{:04}/{number:07}.jsonl", number / GAMES_A_FOLDER)
    }

    /// Returns the game whose transcript has this name.
    pub(super) fn number_of(transcript: &Path) -> Option<u64> {
        let number = transcript.file_stem()?.to_str()?.parse().ok()?;
        (Path::new(&Self::transcript(number)) == transcript).then_some(number)
    }

    /// The transcript of a game that ended void, relative to the folder.
    pub fn void_transcript(number: u64, attempt: u32) -> String {
        format!("{GAMES_FOLDER}/{:04}/{number:07}-void-{attempt}.jsonl", number / GAMES_A_FOLDER)
    }

    /// Whether its disk has room for the games of a contest that goes on.
    pub fn has_room(&self) -> bool {
        Disk::of(&self.root).is_ok_and(|disk| disk.room() >= ROOM_BYTES_MIN)
    }

    /// Returns whether a referee is working on the contest.
    pub fn is_locked(&self) -> bool {
        let file = OpenFolder::open(&self.root).and_then(|root| root.file(LOCK_FILE));
        file.is_ok_and(|(file, _)| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
    }

    /// Checks that in its own folders there are only files and folders. Through a link somebody else's contest would have
    /// files read or written elsewhere, and a command would wait for a pipe.
    fn check_kinds(&self) -> Result<(), Failure> {
        // `COPY`, `0000/0000000.jsonl`, `0000/0000000.html`, `COPY`, `NAME/VERSION/FILE`. The files of agents may be links.
        let own = [
            (AGENTS_FOLDER, 1),
            (GAMES_FOLDER, 2),
            (REPLAYS_FOLDER, 2),
            (RULES_FOLDER, 1),
            (SUBMISSIONS_FOLDER, 3),
        ];
        own.into_iter().try_for_each(|(name, depth)| self.check_kinds_in(name, depth))?;
        self.check_teams()
    }

    /// The same for what teams have handed in.
    pub(super) fn check_teams(&self) -> Result<(), Failure> {
        // `uploads/TEAM/VERSION/FILE`.
        self.check_kinds_in(TEAMS_FOLDER, 4)
    }

    fn check_kinds_in(&self, name: &str, depth: usize) -> Result<(), Failure> {
        other_in(&self.path(name), depth).map_or(Ok(()), |other| {
            let is = if other.is_symlink() { "a link" } else { "neither a file nor a folder" };
            let text = format!("{}: it is {is}, so nothing is written there", other.display());
            Err(Failure::usage(text).help("replace it with what was there"))
        })
    }

    /// Takes the lock; the error names the process that has it.
    pub fn lock(&self) -> Result<Lock, Failure> {
        self.check_kinds()?;
        let path = self.root.join(LOCK_FILE);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::machine(format!("{}: {error}", path.display()))
        };
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()).open(&path);
        let mut file = file.map_err(|error| failed(&error))?;
        if !file.metadata().is_ok_and(|it| it.is_file()) {
            return Err(failed(&not_regular()));
        }
        let mut holder = String::new();
        (&mut file).take(20).read_to_string(&mut holder).ok();
        let mut file = try_lock(file, is_dead(&holder)).map_err(|errno| {
            if errno != Errno::EWOULDBLOCK {
                return failed(&errno);
            }
            let root = self.root.display();
            let holder = holder.trim();
            let who = if holder.is_empty() { String::new() } else { format!(", process {holder}") };
            Failure::machine(format!("{root}: another referee is working on this contest{who}"))
                .help(format!("wait for it, or stop it; see `referee contest status {root}`"))
        })?;
        // An earlier version left more of it open.
        self.close_to_others().map_err(|error| failed(&error))?;
        // For the message above, and for `is_dead`.
        file.set_len(0).ok();
        file.rewind().ok();
        writeln!(file, "{}", std::process::id()).ok();
        Ok(Lock { _file: file })
    }
}

/// Returns what is neither a file nor a folder at this path, or not deeper than so many levels below it.
fn other_in(path: &Path, depth: usize) -> Option<PathBuf> {
    let kind = path.symlink_metadata().ok()?.file_type();
    if !kind.is_dir() {
        return (!kind.is_file()).then(|| path.to_owned());
    }
    let entries = path.read_dir().into_iter().flatten().flatten().filter(|_| depth > 0);
    // Most are files, of which nothing more need be asked.
    let mut others = entries.filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_file()));
    others.find_map(|entry| other_in(&entry.path(), depth - 1))
}

/// Closes a file or folder to other users, who pass through a folder of root's if it isn't closed `wholly`: agents may
/// run as others.
fn close(path: &Path, wholly: bool) -> std::io::Result<()> {
    let mode = path.metadata()?.mode() & 0o7777;
    let closed = if wholly || !Uid::effective().is_root() { mode & !0o077 } else { mode & !0o066 };
    if closed == mode {
        Ok(())
    } else {
        std::fs::set_permissions(path, Permissions::from_mode(closed))
    }
}

/// The failure where a folder for a new contest already has one.
pub(super) fn has_contest(root: &Path) -> Failure {
    let root = root.display();
    Failure::usage(format!("{root}: this folder already has a contest")).help(format!(
        "continue it with `referee contest resume {root}`, or choose another folder with --out DIR"
    ))
}

/// Whether there is no process with this id.
fn is_dead(id: &str) -> bool {
    let id = id.trim().parse().ok().filter(|id| *id > 0);
    id.is_some_and(|id| kill(Pid::from_raw(id), None) == Err(Errno::ESRCH))
}

/// Takes a lock, which another process may have for a moment.
fn try_lock(mut file: File, holder_is_dead: bool) -> Result<Flock<File>, Errno> {
    // A number of tries rather than a time limit: a busy machine may leave time for none.
    for _ in 0..if holder_is_dead { DEAD_TRIES } else { LOCK_TRIES } {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Ok(locked),
            Err((back, Errno::EWOULDBLOCK)) => file = back,
            Err((_, errno)) => return Err(errno),
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Err(Errno::EWOULDBLOCK)
}

/// Returns the name of a folder for an agent: its own, as far as that is the name of a single folder. Other
/// characters, and a dot at the begin, are written as `%` and their bytes: so different agents have different
/// folders, whoever else plays.
pub fn folder_name(name: &str) -> String {
    let mut folder = String::new();
    for c in name.chars() {
        let is_plain = c.is_alphanumeric() || "_-@:# ()".contains(c);
        if is_plain || c == '.' && !folder.is_empty() {
            folder.push(c);
        } else {
            let mut bytes = [0; 4];
            folder.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")));
        }
    }
    if folder.is_empty() { "%".to_owned() } else { folder }
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn a_folder_s_name_is_the_agent_s_and_leads_nowhere() {
        for (name, folder) in [
            ("alice v2", "alice v2"),
            ("a.b", "a.b"),
            ("..", "%2e."),
            (".", "%2e"),
            ("a/b", "a%2fb"),
            ("a-b", "a-b"),
            ("a%2fb", "a%252fb"),
            ("", "%"),
        ] {
            assert_eq!(folder_name(name), folder, "{name}");
        }
    }
}
