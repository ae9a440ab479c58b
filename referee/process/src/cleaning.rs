//! Removes agents' work folders on its own thread, since that can take longer than a match.
//! Never follows links, and neither modes nor depth can prevent the removal.

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

/// How many folders may wait to be removed. Beyond that the caller waits: otherwise agents could
/// fill the disk faster than it is freed.
const WAITING: usize = 64;
/// How long the program waits for the last folders when it ends.
const END_WAIT: Duration = Duration::from_secs(10);
/// How often a folder is listed at most. Once is enough, unless the file system skips entries while
/// others are removed, or a process still writes there.
const LOOKS: usize = 100;

/// Sends folders to the thread that removes them.
#[derive(Clone, Debug)]
pub struct Cleaner(mpsc::Sender<TempDir>);

/// The thread that removes folders. It ends with the last [`Cleaner`].
#[derive(Debug)]
pub struct Cleaning(Receiver<()>);

impl Cleaner {
    /// Starts the thread.
    pub fn start() -> io::Result<(Self, Cleaning)> {
        // Created now, because an agent may leave no room for another folder; if that fails, on
        // demand.
        let mut trash = Trash::create();
        let (folders, mut given) = mpsc::channel::<TempDir>(WAITING);
        let (alive, ended): (Sender<()>, _) = channel();
        let work = move || {
            while let Some(folder) = given.blocking_recv() {
                if trash.is_err() {
                    trash = Trash::create();
                }
                match &mut trash {
                    Ok(trash) => trash.remove(folder),
                    Err(error) => tracing::warn!("a work folder could not be removed: {error}"),
                }
            }
            if let Ok(trash) = trash {
                trash.close();
            }
            drop(alive);
        };
        std::thread::Builder::new().name("cleaning".to_owned()).spawn(work)?;
        Ok((Self(folders), Cleaning(ended)))
    }

    /// Queues a folder for removal.
    pub async fn take(&self, folder: TempDir) {
        // Without the thread, which would be a bug, dropping the folder removes it.
        self.0.send(folder).await.ok();
    }
}

impl Cleaning {
    /// Waits until everything is removed, with a time limit. Call it when no [`Cleaner`] is left.
    pub fn join(self) {
        if !self.ends_within(END_WAIT) {
            tracing::warn!("some work folders could not be removed in time");
        }
    }

    /// Whether everything is removed within `wait`.
    pub fn ends_within(&self, wait: Duration) -> bool {
        self.0.recv_timeout(wait) != Err(RecvTimeoutError::Timeout)
    }
}

/// Removes a folder at once, which may take long.
pub fn remove(folder: TempDir) {
    match Trash::create() {
        Ok(mut trash) => {
            trash.remove(folder);
            trash.close();
        }
        Err(error) => tracing::warn!("a work folder could not be removed: {error}"),
    }
}

/// A folder into which others are moved, under numbers, to be emptied. So no folder is ever more
/// than two levels down, and at most two are open, however deep they were.
#[derive(Debug)]
struct Trash {
    folder: TempDir,
    opened: OwnedFd,
    /// The number for the next folder that is moved here.
    coming: u64,
    /// The lowest number that is not emptied yet.
    next: u64,
}

impl Trash {
    /// Creates it next to the folders to be removed: a folder can't be moved to another file system.
    fn create() -> io::Result<Self> {
        let permissions = Permissions::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix("referee-").permissions(permissions).tempdir()?;
        let opened = open_folder(AT_FDCWD, folder.path())?;
        Ok(Self { folder, opened, coming: 0, next: 0 })
    }

    /// Removes a folder. That an agent made it hard to remove is no reason to lose the match.
    fn remove(&mut self, folder: TempDir) {
        let path = folder.keep();
        if let Err(errno) = self.remove_all(&path) {
            let path = path.display();
            tracing::warn!(
                "the work folder {path} could not be removed completely: {}",
                errno.desc()
            );
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

    /// Removes a file, a link or an empty folder; moves any other folder here.
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
        // Moving a folder changes its `..`, which needs write permission. If that can't be set, the
        // move fails with the reason.
        fchmodat(from, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink).ok();
        renameat(from, name, &self.opened, self.coming.to_string().as_str())?;
        self.coming += 1;
        Ok(())
    }

    /// Empties a folder that has been moved here, and removes it.
    fn empty(&mut self, number: &str) -> nix::Result<()> {
        use std::os::fd::AsFd;
        let opened = open_folder(self.opened.as_fd(), number)?;
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
            tracing::warn!("files of an agent could not be removed: {error}");
        }
    }
}

/// Opens a folder; fails for anything else, such as a symbolic link.
pub fn open_folder<P: NixPath + ?Sized>(at: BorrowedFd<'_>, name: &P) -> nix::Result<OwnedFd> {
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

    /// Everything that an agent may leave, and a link to a folder that must not change.
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
    fn any_folder_is_removed_and_nothing_else() {
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
