//! Folders that others may change while they are used, such as submissions. A folder is opened once; what is in it
//! is reached from its descriptor, name by name, and no link is ever followed. So what was looked at is what is
//! read, copied or replaced, however fast names are exchanged meanwhile.
//!
//! Not `cap-std`: it follows links that stay inside, so each call would have to forbid that as well, and `nix`
//! has these calls already.

use crate::files::not_regular;
use nix::NixPath;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, readlinkat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat, mkdirat};
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, fchownat, fsync, symlinkat, unlinkat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How deep folders may be nested, since each level needs a descriptor.
pub const DEPTH_MAX: usize = 64;
/// The unit in which holes of a file are kept.
const HOLE_BYTES: usize = 64 * 1024;
/// How many links are followed from one, as in the kernel.
const LINKS_MAX: usize = 40;
/// How many parts of paths are followed from one link: a longer way counts as one out of the folder.
const PARTS_MAX: usize = 1000;
/// The prefix of new files until they are complete.
const NEW: &str = ".referee-new-";
/// How many names are tried for a new file, which others could occupy on purpose.
const NAMES_TRIED: u32 = 100;

/// An open folder.
#[derive(Debug)]
pub struct OpenFolder(OwnedFd);

/// Returns where a link in a folder leads out of it, by its own target or by those of further links: an absolute path,
/// or one that begins with `..`. `target_of` returns the targets of the links in the folder by their relative paths.
pub fn way_out<'a>(
    link: &'a Path,
    target_of: impl Fn(&Path) -> Option<&'a Path>,
) -> Option<PathBuf> {
    let mut place = link.parent().unwrap_or(Path::new("")).to_owned();
    // What is left of the way, from its end.
    let mut rest = vec![link.file_name().unwrap_or_default()];
    let left = |rest: &[&OsStr]| rest.iter().rev().collect::<PathBuf>();
    // The kernel follows no more links than this either.
    let mut links = 0..LINKS_MAX;
    for _ in 0..PARTS_MAX {
        let part = rest.pop()?;
        if part == ".." {
            if !place.pop() {
                rest.push(part);
                return Some(left(&rest));
            }
        } else if part != "." {
            place.push(part);
        }
        let Some(target) = target_of(&place) else { continue };
        if target.is_absolute() {
            return Some(target.join(left(&rest)));
        }
        links.next()?;
        place.pop();
        rest.extend(target.iter().rev());
    }
    Some(left(&rest))
}

/// What a name in a folder stands for. Whatever it is, it was not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A link, with what it leads to.
    Link(PathBuf),
    /// A socket, a pipe or a device.
    Other,
}

/// Length, permissions and time of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Its length, in bytes.
    pub length: u64,
    /// The bytes that it takes on the disk.
    pub allocated: u64,
    /// Its permissions.
    pub mode: u32,
    /// When its content was last changed: seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
}

impl FileState {
    #[expect(clippy::useless_conversion, reason = "the types of these fields differ by system")]
    fn of(stat: &FileStat) -> Self {
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
        Self {
            length: u64::try_from(stat.st_size).unwrap_or(0),
            allocated: blocks.saturating_mul(512),
            mode: u32::from(stat.st_mode) & 0o777,
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec.into()),
        }
    }

    fn modified_time(&self) -> SystemTime {
        let (seconds, nanos) = self.modified;
        let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or(0));
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let time = if seconds < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(whole)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(whole)
        };
        time.and_then(|time| time.checked_add(nanos)).unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

impl OpenFolder {
    /// Opens a folder whose path only the caller's own user can change; links in it are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self(openat(AT_FDCWD, path, folder_flags() & !OFlag::O_NOFOLLOW, Mode::empty())?))
    }

    /// Creates a folder whose path only the caller's own user can change, and opens it.
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir(path)?;
        Self::open(path)
    }

    /// Opens a folder whose path only the caller's own user can change, and creates those on the way that are missing.
    pub fn create_all(path: &Path) -> io::Result<Self> {
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
            return Self::open(path);
        };
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match Self::create_all(parent)?.create_folder(name) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            created => created,
        }
    }

    /// Opens a folder by its canonical path, of which others may exchange parts for links: none is followed.
    pub fn open_canonical(path: &Path) -> io::Result<Self> {
        let root = openat(AT_FDCWD, "/", pass_flags(), Mode::empty())?;
        let mut parts: Vec<&OsStr> = names(path.strip_prefix("/").unwrap_or(path))?;
        let Some(last) = parts.pop() else { return Self::open(Path::new("/")) };
        let mut folder = root;
        for part in parts {
            folder = openat(&folder, part, pass_flags(), Mode::empty())?;
        }
        Ok(Self(openat(&folder, last, folder_flags(), Mode::empty())?))
    }

    /// Opens a folder in this one.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(openat(&self.0, name, folder_flags(), Mode::empty())?))
    }

    /// Opens the folder at a relative path.
    pub fn folder_at(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for name in names(path)? {
            folder = folder.folder(name)?;
        }
        Ok(folder)
    }

    /// Opens the regular file at a relative path.
    pub fn file_at(&self, path: &Path) -> io::Result<(File, FileState)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.folder_at(parent)?.file(name),
            _ => self.file(name),
        }
    }

    /// Opens a regular file; fails for anything else, without waiting for a pipe's other end.
    pub fn file<P: NixPath + ?Sized>(&self, name: &P) -> io::Result<(File, FileState)> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = openat(&self.0, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if kind_of(&stat) != SFlag::S_IFREG {
            return Err(not_regular());
        }
        Ok((file.into(), FileState::of(&stat)))
    }

    /// Returns the names in it, in no order: no more than so many, since links cost who makes them nearly nothing.
    pub fn names(&self, most: usize) -> io::Result<Vec<OsString>> {
        let mut listed = Dir::from_fd(openat(&self.0, ".", folder_flags(), Mode::empty())?)?;
        let mut names = Vec::new();
        for entry in listed.iter() {
            if names.len() == most {
                break;
            }
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(names)
    }

    /// Returns what a name stands for.
    pub fn kind(&self, name: &OsStr) -> io::Result<(Kind, FileState)> {
        let stat = fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let kind = match kind_of(&stat) {
            SFlag::S_IFDIR => Kind::Folder,
            SFlag::S_IFREG => Kind::File,
            SFlag::S_IFLNK => Kind::Link(readlinkat(&self.0, name)?.into()),
            _ => Kind::Other,
        };
        Ok((kind, FileState::of(&stat)))
    }

    /// Creates a folder in it and opens that.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<Self> {
        mkdirat(&self.0, name, Mode::S_IRWXU | Mode::S_IRWXG | Mode::S_IRWXO)?;
        let new = self.folder(name)?;
        self.give(&new.0)?;
        Ok(new)
    }

    /// Gives what root has created in another user's folder to that user, who couldn't use it otherwise.
    fn give(&self, new: impl AsFd) -> io::Result<()> {
        if Uid::effective().is_root() {
            let folder = fstat(&self.0)?;
            if !Uid::from_raw(folder.st_uid).is_root() {
                let (user, group) = (Uid::from_raw(folder.st_uid), Gid::from_raw(folder.st_gid));
                fchown(new, Some(user), Some(group))?;
            }
        }
        Ok(())
    }

    /// The same for a folder that root has created in it by path, with all that is in it.
    pub fn give_all(&self, name: &OsStr) -> io::Result<()> {
        let folder = fstat(&self.0)?;
        let user = Uid::from_raw(folder.st_uid);
        if !Uid::effective().is_root() || user.is_root() {
            return Ok(());
        }
        self.folder(name)?.give_inner(user, Gid::from_raw(folder.st_gid), DEPTH_MAX)
    }

    /// Folders come after what is in them: until then nobody but root can put a link or another's file there.
    fn give_inner(&self, user: Uid, group: Gid, depth: usize) -> io::Result<()> {
        if !Uid::from_raw(fstat(&self.0)?.st_uid).is_root() {
            return Ok(());
        }
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        for name in self.names(usize::MAX)? {
            if self.kind(&name)?.0 == Kind::Folder {
                self.folder(&name)?.give_inner(user, group, depth)?;
            } else {
                let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
                fchownat(&self.0, &*name, Some(user), Some(group), flags)?;
            }
        }
        Ok(fchown(&self.0, Some(user), Some(group))?)
    }

    /// Gives it to a user, with all that is in it, whoever has put what there.
    pub fn give_to(&self, user: Uid, group: Gid) -> io::Result<()> {
        // By their paths from here, since a descriptor for each level might be too many.
        let mut folders = vec![PathBuf::new()];
        while let Some(path) = folders.pop() {
            let folder = self.folder_at(&path)?;
            fchown(&folder.0, Some(user), Some(group))?;
            for name in folder.names(usize::MAX)? {
                if folder.kind(&name)?.0 == Kind::Folder {
                    folders.push(path.join(name));
                } else {
                    let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
                    fchownat(&folder.0, &*name, Some(user), Some(group), flags)?;
                }
            }
        }
        Ok(())
    }

    /// Creates a file in it, with these permissions as far as the umask allows. Fails if the name stands for anything.
    pub fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let mode = Mode::from_bits_truncate(mode as libc::mode_t);
        let file = openat(&self.0, name, new_flags(), mode)?;
        self.give(&file)?;
        Ok(file.into())
    }

    /// Opens the folder at a relative path, and creates those that are missing. All users may read them, whatever
    /// the umask, since agents may run as other users.
    pub fn create_folders(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for name in names(path)? {
            let made = mkdirat(&folder.0, name, Mode::S_IRWXU);
            if !matches!(made, Ok(()) | Err(Errno::EEXIST)) {
                made?;
            }
            let above = folder;
            folder = above.folder(name)?;
            if made.is_ok() {
                above.give(&folder.0)?;
                folder.set_mode(0o755)?;
            }
        }
        Ok(folder)
    }

    /// Creates a file at a relative path, and the folders above it that are missing. Fails if the name stands for
    /// anything.
    pub fn create_file(&self, path: &Path, mode: u32) -> io::Result<File> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.create_folders(path.parent().unwrap_or(Path::new("")))?;
        let file = folder.create_new(name, 0o600)?;
        fchmod(&file, Mode::from_bits_truncate(mode as libc::mode_t))?;
        Ok(file)
    }

    /// Gives a file or folder in it another name, in place of what has that name.
    pub fn rename(&self, name: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, name, &self.0, to)?)
    }

    /// Creates a link in it.
    pub fn create_link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }

    /// Creates a file that has a name only when it is complete, in place of what has the name then unless that
    /// is a folder. `write` fills it and returns its permissions.
    pub fn replace_file(
        &self,
        name: &OsStr,
        write: impl FnOnce(&mut File) -> io::Result<u32>,
    ) -> io::Result<()> {
        let (new, mut file) = self.new_file()?;
        let written = write(&mut file).and_then(|mode| {
            fchmod(&file, Mode::from_bits_truncate(mode as libc::mode_t))?;
            Ok(renameat(&self.0, new.as_str(), &self.0, name)?)
        });
        if written.is_err() {
            unlinkat(&self.0, new.as_str(), UnlinkatFlags::NoRemoveDir).ok();
        }
        written
    }

    fn new_file(&self) -> io::Result<(String, File)> {
        for number in 0..NAMES_TRIED {
            let name = format!("{NEW}{}-{number}", std::process::id());
            match self.create_new(OsStr::new(&name), 0o600) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|file| (name, file)),
            }
        }
        Err(Errno::EEXIST.into())
    }

    /// Removes what has a name, if anything has: a folder with all that is in it.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.remove_at(name, DEPTH_MAX)
    }

    fn remove_at(&self, name: &OsStr, depth: usize) -> io::Result<()> {
        match unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => return Ok(()),
            // What POSIX and Linux say about a folder.
            Err(Errno::EPERM | Errno::EISDIR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let inside = self.folder(name)?;
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        for inner in inside.names(usize::MAX)? {
            inside.remove_at(&inner, depth)?;
        }
        Ok(unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)?)
    }

    /// Writes the names in it to the disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.0)?)
    }

    /// Sets its permissions.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(&self.0, Mode::from_bits_truncate(mode as libc::mode_t))?)
    }
}

impl AsFd for OpenFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Copies an open file, its holes included, with the time of its last change: tools such as make build only what
/// has changed. Copies no more than its length was when it was opened. The copy shares the disk's blocks where the
/// file system can do that.
pub fn copy_file(from: &File, state: &FileState, to: &mut File) -> io::Result<()> {
    let mut from = from.take(state.length);
    if state.allocated >= state.length {
        io::copy(&mut from, to)?;
    } else {
        copy_with_holes(&mut from, to)?;
    }
    to.set_modified(state.modified_time())
}

/// Copies without writing what is zero, so that a copy needs no more of the disk than the file.
fn copy_with_holes(from: &mut impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = vec![0; HOLE_BYTES];
    let mut length: u64 = 0;
    loop {
        let mut filled = 0;
        while filled < HOLE_BYTES {
            match from.read(&mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        length += filled as u64;
        if buffer[..filled].iter().all(|&byte| byte == 0) {
            to.seek(SeekFrom::Start(length))?;
        } else {
            to.write_all(&buffer[..filled])?;
        }
        if filled < HOLE_BYTES {
            return to.set_len(length);
        }
    }
}

/// The error for folders in folders beyond [`DEPTH_MAX`].
pub fn too_deep() -> io::Error {
    let text = format!("more than {DEPTH_MAX} folders are nested");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Returns the names of a relative path without `..`.
fn names(path: &Path) -> io::Result<Vec<&OsStr>> {
    let name = |part| match part {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => Some(Err(io::ErrorKind::InvalidInput.into())),
    };
    path.components().filter_map(name).collect()
}

fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn folder_flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC
}

/// To write a file that is new.
fn new_flags() -> OFlag {
    OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC
}

/// To pass through a folder that may not be listed.
fn pass_flags() -> OFlag {
    #[cfg(target_os = "linux")]
    return OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    return folder_flags();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::OpenFolder;
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    use nix::unistd::{Gid, Uid};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whoever had the folder before exchanges what is in it for a link.
    #[test]
    fn what_is_given_is_only_what_is_inside() {
        if !Uid::effective().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let [inside, outside] = ["inside", "outside"].map(|name| place.path().join(name));
        for path in [&inside, &outside] {
            fs::create_dir(path).unwrap();
        }
        fs::write(outside.join("file"), "root's").unwrap();
        let [folder, link] = ["folder", "link"].map(|name| inside.join(name));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        symlink(&outside, &link).unwrap();
        let owner = |path: &std::path::Path| path.symlink_metadata().unwrap().uid();
        let (to, stop) = (60_001, AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let flags = RenameFlags::RENAME_EXCHANGE;
                    renameat2(AT_FDCWD, &folder, AT_FDCWD, &link, flags).unwrap();
                }
            });
            for _ in 0..200 {
                // It may fail where a link is met instead of a folder.
                let opened = OpenFolder::open_canonical(&inside).unwrap();
                opened.give_to(Uid::from_raw(to), Gid::from_raw(to)).ok();
            }
            stop.store(true, Ordering::Relaxed);
        });
        for path in [outside.clone(), outside.join("file")] {
            assert_eq!(owner(&path), 0, "{}", path.display());
        }
        let deep = (0..100).fold(inside.clone(), |path, _| path.join("d"));
        fs::create_dir_all(&deep).unwrap();
        let opened = OpenFolder::open_canonical(&inside).unwrap();
        opened.give_to(Uid::from_raw(to), Gid::from_raw(to)).unwrap();
        for path in [&inside, &deep, &folder, &link] {
            assert_eq!(owner(path), to, "{}", path.display());
        }
    }
}
