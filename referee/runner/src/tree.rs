//! Copies of folders. No link is ever followed.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The most bytes in an agent's folder, before and after its build.
const BYTES_MAX: u64 = 4 << 30;
/// The most files and folders.
const ENTRIES_MAX: usize = 200_000;

/// A file's length, mode and time of change, or a link's target: as long as these are the same, it
/// has not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Folder,
    File(u64, u32, i64, i64),
    Link(PathBuf),
}

/// What is in a folder, by relative path; each folder comes before what is in it.
pub(super) type Entries = BTreeMap<PathBuf, State>;

/// Returns the folders, files and links in a folder. Sockets, pipes, devices and what `skips` names
/// are left out. Fails if there is too much.
pub(super) fn entries(folder: &Path, skips: &dyn Fn(&Path) -> bool) -> io::Result<Entries> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    let mut bytes = 0;
    while let Some(inside) = folders.pop() {
        for item in folder.join(&inside).read_dir()? {
            let item = item?;
            if skips(&item.path()) {
                continue;
            }
            let path = inside.join(item.file_name());
            let Some(state) = entry(&item.path())? else { continue };
            match state {
                State::Folder => folders.push(path.clone()),
                State::File(length, ..) => bytes += length,
                State::Link(_) => {}
            }
            found.insert(path, state);
            if found.len() > ENTRIES_MAX || bytes > BYTES_MAX {
                let (folder, gib) = (folder.display(), BYTES_MAX >> 30);
                let text =
                    format!("{folder} has more than {gib} GiB or {ENTRIES_MAX} files and folders");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
            }
        }
    }
    Ok(found)
}

/// Returns what is at a path; `None` for a socket, a pipe or a device.
pub(super) fn entry(path: &Path) -> io::Result<Option<State>> {
    let metadata = path.symlink_metadata()?;
    Ok(if metadata.is_dir() {
        Some(State::Folder)
    } else if metadata.is_symlink() {
        Some(State::Link(path.read_link()?))
    } else if metadata.is_file() {
        let (mode, at) = (metadata.mode() & 0o777, metadata.mtime());
        Some(State::File(metadata.len(), mode, at, metadata.mtime_nsec()))
    } else {
        None
    })
}

/// Copies these entries of a folder to another, which exists. A relative link that leads out of the folder
/// becomes absolute.
pub(super) fn copy(from: &Path, to: &Path, entries: &Entries) -> io::Result<()> {
    for (path, state) in entries {
        let (source, copy) = (from.join(path), to.join(path));
        match state {
            State::Folder => fs::create_dir(&copy)?,
            State::Link(target) => {
                let leads_to = source.canonicalize().ok().filter(|_| target.is_relative());
                symlink(
                    leads_to.filter(|to| !to.starts_with(from)).as_ref().unwrap_or(target),
                    copy,
                )?;
            }
            State::File(..) => copy_file(&source, &copy)?,
        }
    }
    Ok(())
}

/// Copies a file with its permissions and its time, so that tools such as make build only what has changed.
/// The copy shares the disk's blocks where the file system can do that.
pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.set_modified(from.symlink_metadata()?.modified()?)
}

/// Lets every user read the copy of a folder: agents may run as other users.
pub(super) fn open_to_all(folder: &Path, entries: &Entries) -> io::Result<()> {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    set(folder, 0o755)?;
    for (path, state) in entries {
        match state {
            State::Folder => set(&folder.join(path), 0o755)?,
            State::File(_, mode, ..) => set(&folder.join(path), 0o644 | mode & 0o755)?,
            State::Link(_) => {}
        }
    }
    Ok(())
}
