//! Removing what agents leave in their folders, on a thread of its own: that can take longer than a
//! match. Nothing in a folder is followed, and neither modes nor depth keep anything from being
//! removed.

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use nix::{NixPath, dir};
use std::fs::Permissions;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// How many folders wait to be removed at most. Whoever has one more waits with it: else agents
/// could fill the disk faster than it is freed.
const WAITING: usize = 64;
/// How long the end of the program waits for the last folders.
const END_WAIT: Duration = Duration::from_secs(10);
/// How often a folder is looked through at most. Once is enough, unless the file system leaves out
/// entries while others are removed, or somebody still writes there.
const LOOKS: usize = 100;

/// Where folders go that are to be removed.
#[derive(Clone, Debug)]
pub struct Cleaner(mpsc::Sender<TempDir>);

/// The thread that removes them. It ends with the last [`Cleaner`].
#[derive(Debug)]
pub struct Cleaning(Receiver<()>);

impl Cleaner {
    /// Starts the thread.
    pub fn start() -> io::Result<(Self, Cleaning)> {
        // Made now, as an agent may leave no room for one more folder; if that fails, when it is needed.
        let mut yard = Yard::create();
        let (folders, mut given) = mpsc::channel::<TempDir>(WAITING);
        let (alive, ended): (Sender<()>, _) = channel();
        let work = move || {
            while let Some(folder) = given.blocking_recv() {
                if yard.is_err() {
                    yard = Yard::create();
                }
                match &mut yard {
                    Ok(yard) => yard.remove(folder),
                    Err(error) => tracing::warn!("a work folder was left behind: {error}"),
                }
            }
            if let Ok(yard) = yard {
                yard.close();
            }
            drop(alive);
        };
        std::thread::Builder::new().name("cleaning".to_owned()).spawn(work)?;
        Ok((Self(folders), Cleaning(ended)))
    }

    /// Removes a folder some time.
    pub async fn take(&self, folder: TempDir) {
        // Without the thread, which is a defect, it is removed where it is dropped.
        self.0.send(folder).await.ok();
    }
}

impl Cleaning {
    /// Waits until all is removed, but not without bound. To be called when no [`Cleaner`] is left.
    pub fn join(self) {
        if !self.ends_within(END_WAIT) {
            tracing::warn!("what agents wrote could not be removed in time, some is left behind");
        }
    }

    /// Whether all is removed by then.
    pub fn ends_within(&self, wait: Duration) -> bool {
        self.0.recv_timeout(wait) != Err(RecvTimeoutError::Timeout)
    }
}

/// Removes a folder at once, which may take long.
pub fn remove(folder: TempDir) {
    match Yard::create() {
        Ok(mut yard) => {
            yard.remove(folder);
            yard.close();
        }
        Err(error) => tracing::warn!("a work folder was left behind: {error}"),
    }
}

/// A folder to which others are moved to be emptied, under numbers. So none is ever more than two
/// levels down, and no more than two are open, however deep they were.
#[derive(Debug)]
struct Yard {
    folder: TempDir,
    opened: OwnedFd,
    /// The number of the next one that comes.
    coming: u64,
    /// The lowest number of those that are not emptied yet.
    next: u64,
}

impl Yard {
    /// Beside the folders that are to be removed: nothing can be moved to another file system.
    fn create() -> io::Result<Self> {
        let permissions = Permissions::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix("referee-").permissions(permissions).tempdir()?;
        let opened = open(AT_FDCWD, folder.path())?;
        Ok(Self { folder, opened, coming: 0, next: 0 })
    }

    /// Removes a folder. An agent may have made that hard, which is no reason to lose what it did.
    fn remove(&mut self, folder: TempDir) {
        let path = folder.keep();
        if let Err(errno) = self.remove_all(&path) {
            let path = path.display();
            tracing::warn!("not all of the work folder {path} was removed: {}", errno.desc());
        }
    }

    fn remove_all(&mut self, path: &Path) -> nix::Result<()> {
        let mut result = self.take(AT_FDCWD, path);
        while self.next < self.coming {
            let number = self.next.to_string();
            self.next += 1;
            result = result.and(self.empty(&number));
        }
        result
    }

    /// Removes a file, a link or an empty folder; another folder is moved here.
    fn take<P: NixPath + ?Sized>(&mut self, from: BorrowedFd<'_>, name: &P) -> nix::Result<()> {
        match unlinkat(from, name, UnlinkatFlags::NoRemoveDir) {
            Err(Errno::EISDIR | Errno::EPERM) => {}
            Err(Errno::ENOENT) => return Ok(()),
            done => return done,
        }
        match unlinkat(from, name, UnlinkatFlags::RemoveDir) {
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => {}
            done => return done,
        }
        // Moving a folder changes what is above it, which takes the right to write in it. Where
        // that can't be had, moving it tells.
        fchmodat(from, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink).ok();
        renameat(from, name, &self.opened, self.coming.to_string().as_str())?;
        self.coming += 1;
        Ok(())
    }

    /// Empties a folder that has been moved here, and removes it.
    fn empty(&mut self, number: &str) -> nix::Result<()> {
        use std::os::fd::AsFd;
        let opened = open(self.opened.as_fd(), number)?;
        let listed = opened.try_clone().map_err(|_| Errno::last())?;
        let mut listed = Dir::from_fd(listed)?;
        let mut result = Err(Errno::ENOTEMPTY);
        for _ in 0..LOOKS {
            let mut removed = false;
            for entry in listed.iter() {
                let entry: dir::Entry = entry?;
                let name = entry.file_name();
                if name != c"." && name != c".." {
                    match self.take(opened.as_fd(), name) {
                        Ok(()) => removed = true,
                        failed => result = failed,
                    }
                }
            }
            match unlinkat(&self.opened, number, UnlinkatFlags::RemoveDir) {
                Err(Errno::ENOTEMPTY | Errno::EEXIST) if removed => {}
                Err(Errno::ENOTEMPTY | Errno::EEXIST) => break,
                done => return done,
            }
        }
        result
    }

    fn close(self) {
        if let Err(error) = self.folder.close() {
            tracing::warn!("something that an agent wrote was left behind: {error}");
        }
    }
}

/// Opens a folder, and nothing else.
fn open<P: NixPath + ?Sized>(at: BorrowedFd<'_>, name: &P) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::{Cleaner, remove};
    use nix::fcntl::{AT_FDCWD, OFlag, openat};
    use nix::sys::stat::{Mode, mkdirat};
    use nix::unistd::mkfifo;
    use std::fs::{self, Permissions};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::time::Duration;
    use tempfile::TempDir;

    fn lock(folder: &Path, mode: u32) {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }

    fn nest(folder: &Path, depth: usize) {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let mut below = openat(AT_FDCWD, folder, flags, Mode::empty()).unwrap();
        for _ in 0..depth {
            mkdirat(below.as_fd(), "deep", Mode::S_IRWXU).unwrap();
            below = openat(below.as_fd(), "deep", flags, Mode::empty()).unwrap();
        }
    }

    /// All that an agent may leave, and a link to a folder in which nothing may be changed.
    fn plant(folder: &Path, others: &Path) {
        symlink(others, folder.join("link")).unwrap();
        symlink(folder.join("loop"), folder.join("loop")).unwrap();
        mkfifo(&folder.join("fifo"), Mode::S_IRWXU).unwrap();
        nest(folder, 3000);
        for number in 0..2000 {
            fs::write(folder.join(format!("{number}\n")), "").unwrap();
        }
        for mode in [0, 0o500, 0o300] {
            let locked = folder.join(format!("locked-{mode}"));
            fs::create_dir_all(locked.join("in/it")).unwrap();
            symlink(others, locked.join("link")).unwrap();
            fs::write(locked.join("in/file"), "").unwrap();
            lock(&locked.join("in"), mode);
            lock(&locked, mode);
        }
        lock(folder, 0o500);
    }

    fn precious() -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("file"), "precious").unwrap();
        lock(folder.path(), 0o751);
        folder
    }

    fn is_unharmed(folder: &Path) -> bool {
        fs::metadata(folder).unwrap().permissions().mode() & 0o777 == 0o751
            && fs::read_to_string(folder.join("file")).unwrap() == "precious"
    }

    #[test]
    fn whatever_is_in_it_a_folder_is_removed_and_nothing_else() {
        let others = precious();
        let folder = TempDir::new().unwrap();
        let path = folder.path().to_owned();
        plant(&path, others.path());
        remove(folder);
        assert!(fs::symlink_metadata(path).is_err());
        assert!(is_unharmed(others.path()));
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_not_followed() {
        let others = precious();
        let folder = TempDir::new().unwrap();
        let path = folder.path().to_owned();
        fs::remove_dir(&path).unwrap();
        symlink(others.path(), &path).unwrap();
        remove(folder);
        assert!(fs::symlink_metadata(path).is_err());
        assert!(is_unharmed(others.path()));
    }

    #[test]
    fn the_end_waits_for_all_folders() {
        let others = precious();
        let (cleaner, cleaning) = Cleaner::start().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut paths = Vec::new();
        for _ in 0..3 {
            let folder = TempDir::new().unwrap();
            paths.push(folder.path().to_owned());
            plant(folder.path(), others.path());
            runtime.block_on(cleaner.take(folder));
        }
        drop(cleaner);
        assert!(cleaning.ends_within(Duration::from_secs(600)));
        assert!(paths.iter().all(|path| fs::symlink_metadata(path).is_err()));
    }
}
