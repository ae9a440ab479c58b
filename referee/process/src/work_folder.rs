//! The private folders in which agents may write, and the environment that points to them.

use super::cleaning::Cleaner;
use super::hints::hints;
use super::launcher::{Bytes, Reach, StartConditions, USERS_GROUP};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::{AccessFlags, access};
use referee_protocol::Limits;
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Variables that name the private folder.
const FOLDER_VARIABLES: [&str; 2] = ["HOME", "TMPDIR"];
/// Variables that an agent inherits from the referee; all others are removed.
const PASSED_VARIABLES: &[&str] = &["PATH", "LANG", "TZ", "VIRTUAL_ENV", "JAVA_HOME"];

/// `PATH` without folders that may not be searched: with one of them, a program that is nowhere is
/// "permission denied" instead of "not found".
static SEARCHED_PATH: LazyLock<Option<OsString>> = LazyLock::new(|| {
    let path = std::env::var_os("PATH")?;
    let may_search = |folder: &PathBuf| access(folder, AccessFlags::X_OK) != Err(Errno::EACCES);
    std::env::join_paths(std::env::split_paths(&path).filter(may_search)).ok()
});

/// The folder for temporary files, of which agents with their own mounts have their own.
pub(crate) const OWN_TMP: &str = "/tmp";
/// The name of the private folder of an agent with its own [`OWN_TMP`].
pub(crate) const WORK_INSIDE: &str = "referee-work/agent";

/// Creates a temporary folder that is closed to other users. If the referee runs as root, agents'
/// users may pass through it to their own folders.
pub fn create() -> io::Result<TempDir> {
    create_named("referee-", &std::env::temp_dir())
}

/// Creates such a folder in `folder`, with a name that starts with `prefix`.
pub fn create_named(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    let created = create_private_in(prefix, folder)?;
    if nix::unistd::geteuid().is_root() {
        // In a sandbox, where this program starts rules, too, nobody changes modes.
        close_but_to_agents(created.path())?;
    }
    Ok(created)
}

/// Creates a temporary folder that no other user may enter, not even agents' users.
pub fn create_private(prefix: &str) -> io::Result<TempDir> {
    create_private_in(prefix, &std::env::temp_dir())
}

fn create_private_in(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    let closed = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(closed).tempdir_in(folder)
}

/// Closes a folder of this user to others. If the referee runs as root, agents' users may pass through it. Other users may
/// not even if they know a path, as they do: the system shows everyone how a script was started.
pub fn close_but_to_agents(folder: &Path) -> io::Result<()> {
    // Whoever owns the folder around it may put a link in its place.
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    let folder = File::options().read(true).custom_flags(flags.bits()).open(folder)?;
    let mode = if !nix::unistd::geteuid().is_root() {
        0o700
    } else if fchown(&folder, None, Some(USERS_GROUP)).is_ok() {
        0o710
    } else {
        // There is no such group in this user namespace.
        0o711
    };
    folder.set_permissions(Permissions::from_mode(mode))
}

/// Locks a folder as long as the file is open, also against other processes; `None` if it is locked
/// already. However the process ends, the lock is released.
pub fn lock_folder(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    let same = fs::metadata(folder).ok()?.ino() == file.metadata().ok()?.ino();
    same.then_some(file)
}

/// Folders of agents that have ended, for the next ones, the last one first. On some file systems creating
/// a thousand folders a second costs more than the matches themselves.
#[derive(Clone, Debug)]
pub struct WorkFolders {
    unused: Rc<RefCell<Vec<WorkFolder>>>,
    cleaner: Cleaner,
}

impl WorkFolders {
    /// Starts with no folders; those that can't be reused go to `cleaner`.
    pub fn new(cleaner: Cleaner) -> Self {
        Self { unused: Rc::default(), cleaner }
    }

    /// Returns a clean folder for an agent.
    pub fn take(&self) -> WorkFolder {
        self.unused.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes back a folder when no process of the agent is left. A folder that was changed is removed.
    pub async fn put(&self, folder: WorkFolder) {
        if folder.is_as_new().unwrap_or(false) {
            self.unused.borrow_mut().push(folder);
        } else {
            self.remove(folder).await;
        }
    }

    /// Takes back a folder to which processes of the agent may still have access.
    pub async fn remove(&self, folder: WorkFolder) {
        if let Some(created) = folder.created {
            self.cleaner.take(created.whole).await;
        }
    }
}

/// The folder of one agent, created on first use.
#[derive(Debug, Default)]
pub struct WorkFolder {
    created: Option<Created>,
}

/// A folder of the referee with the agent's folder in it, and the states in which they were created.
#[derive(Debug)]
struct Created {
    whole: TempDir,
    states: [State; 2],
    at: Instant,
    /// How old it was when it was last given to an agent.
    age: Duration,
}

/// Changes of a folder within this time may have the same time stamp: some file systems have only whole
/// seconds.
const STAMP: Duration = Duration::from_secs(3);

/// A folder's inode, mode and time of change. As long as these are the same, neither the folder nor
/// its list of entries has changed.
pub(crate) type State = (u64, u32, i64, i64);

pub(crate) fn state_of(folder: &Path) -> io::Result<State> {
    let it = fs::symlink_metadata(folder)?;
    Ok((it.ino(), it.mode(), it.ctime(), it.ctime_nsec()))
}

impl WorkFolder {
    /// Returns its path.
    pub fn path(&mut self) -> io::Result<PathBuf> {
        let created = match &mut self.created {
            Some(created) => created,
            none => none.insert(Created::new()?),
        };
        created.age = created.at.elapsed();
        Ok(created.inner())
    }

    /// Whether nothing was changed.
    fn is_as_new(&self) -> io::Result<bool> {
        let Some(created) = &self.created else { return Ok(true) };
        if created.states()? != created.states {
            return Ok(false);
        }
        if created.age > STAMP {
            // A change since then would have another time stamp.
            return Ok(true);
        }
        let is_only = fs::read_dir(created.whole.path())?.take(2).count() == 1;
        Ok(is_only && fs::read_dir(created.inner())?.next().is_none())
    }
}

impl Created {
    fn new() -> io::Result<Self> {
        let mut created = Self {
            whole: create()?,
            states: <_>::default(),
            at: Instant::now(),
            age: Duration::ZERO,
        };
        fs::create_dir(created.inner())?;
        created.states = created.states()?;
        Ok(created)
    }

    fn inner(&self) -> PathBuf {
        self.whole.path().join("0")
    }

    fn states(&self) -> io::Result<[State; 2]> {
        Ok([state_of(self.whole.path())?, state_of(&self.inner())?])
    }
}

/// Whether [`start_conditions`] decides about this variable.
pub fn sets_variable(name: &str) -> bool {
    let hints = hints(&Limits::default());
    let mut hinted = hints.iter().filter_map(|hint| hint.split('=').next());
    PASSED_VARIABLES.contains(&name)
        || FOLDER_VARIABLES.contains(&name)
        || hinted.any(|hint| hint == name)
}

/// How an agent with this private folder is started, which is added to its reach. Its environment
/// has the inherited variables, the private folder as HOME and TMPDIR, and hints about memory.
pub fn start_conditions(
    folder: &Path,
    limits: &Limits,
    reach: Reach,
    core: Option<usize>,
) -> StartConditions {
    let passed = PASSED_VARIABLES.iter().filter_map(|&name| {
        let value = if name == "PATH" { SEARCHED_PATH.clone() } else { std::env::var_os(name) };
        Some(Bytes::variable(name, value?))
    });
    let own = FOLDER_VARIABLES.map(|name| Bytes::variable(name, folder));
    let environment = passed.chain(own).chain(hints(limits).iter().map(Bytes::of)).collect();
    StartConditions { environment, limits: limits.clone(), reach, core, counts_cpu: false }
}

#[cfg(test)]
mod tests {
    use super::WorkFolders;
    use crate::cleaning::Cleaner;
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    /// Whether an agent gets the folder of the agent before, after `change` in that folder.
    fn is_used_again(change: impl Fn(&Path) -> io::Result<()>) -> bool {
        let again = [false, true].map(|is_old| is_folder_used_again(is_old, &change));
        assert_eq!(again[0], again[1]);
        again[0]
    }

    /// The same for a folder that was created long before or just before the agent got it.
    fn is_folder_used_again(is_old: bool, change: impl Fn(&Path) -> io::Result<()>) -> bool {
        let (cleaner, cleaning) = Cleaner::start().unwrap();
        let folders = WorkFolders::new(cleaner);
        let mut folder = folders.take();
        let path = folder.path().unwrap();
        if is_old {
            folder.created.as_mut().unwrap().age = Duration::MAX;
            // The change gets another time stamp.
            std::thread::sleep(Duration::from_millis(50));
        }
        change(&path).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(folders.put(folder));
        let mut next = folders.take();
        drop(folders);
        assert!(cleaning.ends_within(Duration::from_secs(600)));
        let again = next.path().unwrap() == path;
        assert_eq!(path.exists(), again);
        assert_eq!(fs::read_dir(next.path().unwrap()).unwrap().count(), 0);
        let mode = fs::metadata(next.path().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o222, 0o200);
        drop(next);
        assert!(!path.exists());
        again
    }

    #[test]
    fn only_an_untouched_folder_is_used_again() {
        assert!(is_used_again(|_| Ok(())));
        assert!(!is_used_again(|seat| fs::write(seat.join("diary"), "mine")));
        assert!(!is_used_again(|seat| fs::create_dir(seat.join("more"))));
        assert!(!is_used_again(|seat| fs::set_permissions(seat, Permissions::from_mode(0o777))));
        assert!(!is_used_again(|seat| fs::write(seat.with_file_name("stray"), "")));
        assert!(!is_used_again(|seat| fs::remove_dir(seat)));
        assert!(!is_used_again(|seat| fs::rename(seat, seat.with_file_name("2"))));
    }
}
