//! The private folders in which agents may write, and the environment that points to them.

use super::cleaning::Cleaner;
use super::hints::hints;
use super::launcher::{Bytes, Reach, StartConditions};
use referee_protocol::Limits;
use std::cell::RefCell;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;

/// Variables that name the private folder.
const FOLDER_VARIABLES: [&str; 2] = ["HOME", "TMPDIR"];
/// Variables that an agent inherits from the referee; all others are removed.
const PASSED_VARIABLES: &[&str] = &["PATH", "LANG", "TZ", "VIRTUAL_ENV", "JAVA_HOME"];

/// The folder for temporary files, of which agents with their own mounts have their own.
pub(crate) const OWN_TMP: &str = "/tmp";
/// The name of the private folder of an agent with its own [`OWN_TMP`].
pub(crate) const WORK_INSIDE: &str = "referee-work/agent";

/// Creates a temporary folder that no other user may list. If the referee runs as root, agents'
/// users may pass through it to their own folders.
pub fn create() -> io::Result<TempDir> {
    create_named("referee-", &std::env::temp_dir())
}

/// Creates such a folder in `folder`, with a name that starts with `prefix`.
pub fn create_named(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    let mode = if nix::unistd::geteuid().is_root() { 0o711 } else { 0o700 };
    let permissions = Permissions::from_mode(mode);
    tempfile::Builder::new().prefix(prefix).permissions(permissions).tempdir_in(folder)
}

/// Locks a folder as long as the file is open, also against other processes; `None` if it is locked
/// already. However the process ends, the lock is released.
pub fn lock_folder(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    let same = fs::metadata(folder).ok()?.ino() == file.metadata().ok()?.ino();
    same.then_some(file)
}

/// Folders of finished matches, for the next ones. On some file systems creating a thousand folders
/// a second costs more than the matches themselves.
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

    /// Returns a clean folder for a match.
    pub fn take(&self) -> WorkFolder {
        self.unused.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes back a folder when no process of the match is left. A folder that was changed is
    /// removed.
    pub async fn put(&self, folder: WorkFolder) {
        if folder.is_as_new().unwrap_or(false) {
            self.unused.borrow_mut().push(folder);
        } else {
            self.remove(folder).await;
        }
    }

    /// Takes back a folder to which processes of the match may still have access.
    pub async fn remove(&self, folder: WorkFolder) {
        if let Some((whole, _)) = folder.whole {
            self.cleaner.take(whole).await;
        }
    }
}

/// The folder of one match, with a subfolder for each seat's agent.
#[derive(Debug, Default)]
pub struct WorkFolder {
    /// Created on first use, with its state then.
    whole: Option<(TempDir, State)>,
    /// The seats' folders, as they were created.
    seats: Vec<State>,
}

/// A folder's inode, mode and time of change. As long as these are the same, neither the folder nor
/// its list of entries has changed.
pub(crate) type State = (u64, u32, i64, i64);

pub(crate) fn state_of(folder: &Path) -> io::Result<State> {
    let it = fs::symlink_metadata(folder)?;
    Ok((it.ino(), it.mode(), it.ctime(), it.ctime_nsec()))
}

impl WorkFolder {
    /// Returns the folder of a seat's agent.
    pub fn seat(&mut self, seat: usize) -> io::Result<PathBuf> {
        let (whole, untouched) = match &mut self.whole {
            Some(created) => created,
            none => none.insert((create()?, State::default())),
        };
        while self.seats.len() <= seat {
            let path = whole.path().join(self.seats.len().to_string());
            fs::create_dir(&path)?;
            self.seats.push(state_of(&path)?);
            *untouched = state_of(whole.path())?;
        }
        Ok(whole.path().join(seat.to_string()))
    }

    /// Whether nothing was changed. The metadata alone don't show changes within the same time
    /// stamp, which can last some milliseconds.
    fn is_as_new(&self) -> io::Result<bool> {
        let Some((whole, untouched)) = &self.whole else { return Ok(true) };
        let names = fs::read_dir(whole.path())?.take(self.seats.len() + 1).count();
        if names != self.seats.len() || state_of(whole.path())? != *untouched {
            return Ok(false);
        }
        for (seat, untouched) in self.seats.iter().enumerate() {
            let path = whole.path().join(seat.to_string());
            if state_of(&path)? != *untouched || fs::read_dir(path)?.next().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
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
    let passed = PASSED_VARIABLES
        .iter()
        .filter_map(|name| std::env::var_os(name).map(|value| Bytes::variable(name, value)));
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

    /// Whether a match gets the folder of the match before, after `change` in a seat's folder.
    fn is_used_again(change: impl Fn(&Path) -> io::Result<()>) -> bool {
        let (cleaner, cleaning) = Cleaner::start().unwrap();
        let folders = WorkFolders::new(cleaner);
        let mut folder = folders.take();
        let seats = [folder.seat(0).unwrap(), folder.seat(1).unwrap()];
        change(&seats[1]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(folders.put(folder));
        let mut next = folders.take();
        drop(folders);
        assert!(cleaning.ends_within(Duration::from_secs(600)));
        let again = next.seat(0).unwrap() == seats[0];
        assert_eq!(seats[0].exists(), again);
        assert_eq!(fs::read_dir(next.seat(1).unwrap()).unwrap().count(), 0);
        assert_eq!(
            fs::metadata(next.seat(1).unwrap()).unwrap().permissions().mode() & 0o222,
            0o200
        );
        drop(next);
        assert!(!seats[0].exists());
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
