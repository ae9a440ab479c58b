//! The private folders in which agents may write, and the environment that leads them there.

use super::agent::Surroundings;
use super::cleaning::Cleaner;
use super::hints::hints;
use super::launcher::{Bytes, Reach};
use referee_protocol::Limits;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;

/// Variables that an agent gets from the referee's own environment; nothing else passes.
const PASSED_VARIABLES: &[&str] = &["PATH", "LANG", "TZ", "VIRTUAL_ENV", "JAVA_HOME"];

/// A new folder that nobody else may look into. Where the referee runs as root, agents have users of
/// their own, who go through it to their parts of it.
pub fn create() -> io::Result<TempDir> {
    create_in(&std::env::temp_dir())
}

/// The same in a folder of one's choice.
pub fn create_in(folder: &Path) -> io::Result<TempDir> {
    create_named("referee-", folder)
}

/// The same with a name that begins so.
pub fn create_named(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    let mode = if nix::unistd::geteuid().is_root() { 0o711 } else { 0o700 };
    let permissions = Permissions::from_mode(mode);
    tempfile::Builder::new().prefix(prefix).permissions(permissions).tempdir_in(folder)
}

/// A folder that nobody else holds, as long as the file is open; however its holder ends, it is held no
/// more.
pub fn hold(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    let same = fs::metadata(folder).ok()?.ino() == file.metadata().ok()?.ino();
    same.then_some(file)
}

/// Folders of matches that are over, for matches to come. On some file systems a thousand new
/// folders a second cost more than the matches themselves.
#[derive(Clone, Debug)]
pub struct WorkFolders {
    unused: Rc<RefCell<Vec<WorkFolder>>>,
    cleaner: Cleaner,
}

impl WorkFolders {
    /// None so far; those that can't be used again go to `cleaner`.
    pub fn new(cleaner: Cleaner) -> Self {
        Self { unused: Rc::default(), cleaner }
    }

    /// A folder for a match, as good as new.
    pub fn take(&self) -> io::Result<WorkFolder> {
        let used = self.unused.borrow_mut().pop();
        used.map_or_else(WorkFolder::create, Ok)
    }

    /// Takes back a folder when nothing of the match is left. Where anything was changed in it, it
    /// is removed.
    pub async fn put(&self, folder: WorkFolder) {
        if folder.is_as_new().unwrap_or(false) {
            self.unused.borrow_mut().push(folder);
        } else {
            self.remove(folder).await;
        }
    }

    /// Takes back a folder to which something of the match may still have access.
    pub async fn remove(&self, folder: WorkFolder) {
        self.cleaner.take(folder.whole).await;
    }
}

/// The folder of one match, with one in it for each seat's agent.
#[derive(Debug)]
pub struct WorkFolder {
    whole: TempDir,
    untouched: State,
    /// Those of the seats, as they were made.
    seats: Vec<State>,
}

/// What the system tells of a folder. As long as it is the same, nobody has changed the folder or
/// what it lists.
#[derive(Debug, PartialEq, Eq)]
struct State {
    inode: u64,
    mode: u32,
    changed: (i64, i64),
}

impl State {
    fn of(folder: &Path) -> io::Result<Self> {
        let it = fs::symlink_metadata(folder)?;
        Ok(Self { inode: it.ino(), mode: it.mode(), changed: (it.ctime(), it.ctime_nsec()) })
    }
}

impl WorkFolder {
    fn create() -> io::Result<Self> {
        let whole = create()?;
        Ok(Self { untouched: State::of(whole.path())?, whole, seats: Vec::new() })
    }

    /// The folder of a seat's agent; to be asked for in the seats' order.
    pub fn seat(&mut self, seat: usize) -> io::Result<PathBuf> {
        let path = self.whole.path().join(seat.to_string());
        if seat >= self.seats.len() {
            fs::create_dir(&path)?;
            self.seats.push(State::of(&path)?);
            self.untouched = State::of(self.whole.path())?;
        }
        Ok(path)
    }

    /// Nobody has changed it. Its state alone would not tell what was done while its time stamp was
    /// still the same, which can be some milliseconds.
    fn is_as_new(&self) -> io::Result<bool> {
        let names = fs::read_dir(self.whole.path())?.take(self.seats.len() + 1).count();
        if names != self.seats.len() || State::of(self.whole.path())? != self.untouched {
            return Ok(false);
        }
        for (seat, untouched) in self.seats.iter().enumerate() {
            let path = self.whole.path().join(seat.to_string());
            if State::of(&path)? != *untouched || fs::read_dir(path)?.next().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Where an agent is started whose private folder this is, which is in its reach too. Its whole
/// environment is what passes, its private folder for all that it writes, and how much memory there is.
pub fn surroundings(
    folder: &Path,
    limits: &Limits,
    reach: Reach,
    core: Option<usize>,
) -> Surroundings {
    let variable = |name: &str, value: &OsStr| {
        let mut variable = OsString::from(format!("{name}="));
        variable.push(value);
        Bytes::of(variable)
    };
    let passed = PASSED_VARIABLES
        .iter()
        .filter_map(|name| std::env::var_os(name).map(|value| variable(name, &value)));
    let own = ["HOME", "TMPDIR"].map(|name| variable(name, folder.as_os_str()));
    let environment = passed.chain(own).chain(hints(limits).iter().map(Bytes::of)).collect();
    Surroundings { environment, bounds: limits.into(), reach, core }
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

    /// Whether a match gets the folder of the one before, which has done something in its own.
    fn is_used_again(change: impl Fn(&Path) -> io::Result<()>) -> bool {
        let (cleaner, cleaning) = Cleaner::start().unwrap();
        let folders = WorkFolders::new(cleaner);
        let mut folder = folders.take().unwrap();
        let seats = [folder.seat(0).unwrap(), folder.seat(1).unwrap()];
        change(&seats[1]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(folders.put(folder));
        let mut next = folders.take().unwrap();
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
