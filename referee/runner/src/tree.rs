//! What is in an agent's folder, and copies of it. Others may change the folder meanwhile: no link is ever followed.

use super::disk::{Disk, ENTRY_BYTES};
use referee_process::files::named;
use referee_process::open_folder::{
    self, DEPTH_MAX, FileState, Kind, OpenFolder, copy_file, too_deep,
};
use referee_process::sandbox::reach::leads_to_installation;
use referee_protocol::sanitize::sanitize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most bytes in an agent's folder, before and after its build.
const BYTES_MAX: u64 = 4 << 30;
/// The most files and folders.
const ENTRIES_MAX: usize = 200_000;
/// The longest path in it. With that of any folder above it, no path in a contest is too long for the system.
const PATH_BYTES_MAX: usize = 1024;
/// The longest that all paths are together, since they are kept in memory and in lists.
const ALL_PATHS_BYTES_MAX: usize = 8 << 20;
/// A disk with less room is full, whatever is copied.
const ROOM_BYTES_MIN: u64 = 1 << 20;
/// How many times as much may be in a copy.
const COPY_ROOM: usize = 4;

/// A file's length, mode and time of change, or a link's target: as long as these are the same, it
/// has not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Folder,
    File(u64, u32, i64, i64),
    Link(PathBuf),
}

impl From<FileState> for State {
    fn from(file: FileState) -> Self {
        let (seconds, nanos) = file.modified;
        Self::File(file.length, file.mode, seconds, nanos)
    }
}

/// What is in a folder, by relative path; each folder comes before what is in it.
pub(super) type Entries = BTreeMap<PathBuf, State>;

/// What becomes of relative links that lead out of a copied folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They stay as they are.
    Same,
    /// They lead to the same place, by its full path.
    Absolute,
}

/// Which names in a folder are left out: its path, and the folder that it is in.
pub(super) type Skips<'a> = &'a dyn Fn(&Path, &OpenFolder) -> bool;

/// Leaves nothing out.
pub(super) const NOTHING: Skips<'static> = &|_, _| false;

/// A folder and its path in errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    pub(super) folder: &'a OpenFolder,
    pub(super) path: &'a Path,
}

/// Returns the folders, files and links in a folder. Sockets, pipes, devices and what `skips` names
/// are left out. Fails if there is too much.
pub(super) fn entries(tree: Tree<'_>, skips: Skips<'_>) -> io::Result<Entries> {
    let mut walk = Walk::new(tree, skips);
    walk.folder(tree.folder, None, Path::new(""), 0)?;
    Ok(walk.found)
}

/// The same for a copy of an agent's folder, with the folders that are above that: what was copied fits.
pub(super) fn entries_of_copy(tree: Tree<'_>, skips: Skips<'_>) -> io::Result<Entries> {
    let mut walk = Walk { room: COPY_ROOM, ..Walk::new(tree, skips) };
    walk.folder(tree.folder, None, Path::new(""), 0)?;
    Ok(walk.found)
}

/// Fails if there is too much in a folder, or a folder in it is closed. What is exchanged or removed meanwhile doesn't
/// end the walk.
pub(super) fn bound(tree: Tree<'_>) -> io::Result<()> {
    let mut walk = Walk { is_changing: true, ..Walk::new(tree, NOTHING) };
    walk.folder(tree.folder, None, Path::new(""), 0)
}

/// Copies what is in a folder to an empty one, with the permissions and times of files; returns what was copied.
pub(super) fn copy(
    tree: Tree<'_>,
    to: &OpenFolder,
    links: Links,
    skips: Skips<'_>,
) -> io::Result<Entries> {
    // Each hard link becomes a file of its own, so the copy can be much larger than the folder.
    let room = Disk::of_open(to.as_fd())?.room();
    let mut walk = Walk { disk: room, ..Walk::new(tree, skips) };
    walk.folder(tree.folder, Some(to), Path::new(""), 0)?;
    for (link, state) in &walk.found {
        let State::Link(target) = state else { continue };
        let parent = link.parent().unwrap_or(Path::new(""));
        let is_absolute = links == Links::Absolute
            && target.is_relative()
            && way_out(&walk.found, link).is_some();
        let target = if is_absolute { &tree.path.join(parent).join(target) } else { target };
        let name = link.file_name().unwrap_or_default();
        to.folder_at(parent)?.create_link(name, target)?;
    }
    Ok(walk.found)
}

/// Copies a file with its permissions and its time to a new one. Who owns the copy may read and change it, and nobody else
/// change it: whose file it was may have allowed its owner nothing.
pub(super) fn copy_one(from: &OpenFolder, name: &OsStr, to: &OpenFolder) -> io::Result<State> {
    let (file, state) = from.file(name)?;
    // It may be another file than the one that was counted.
    let room = Disk::of_open(to.as_fd())?.room();
    if state.length > room {
        let text =
            format!("it has more than the {} MB for which the disk has room", room / 1_000_000);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    let mode = 0o600 | state.mode & 0o755;
    to.replace_file(name, |copy| copy_file(&file, &state, copy).map(|()| mode))?;
    Ok(state.into())
}

/// Returns why a submission can't play: a link in it leads out of it, to something else than a language runtime.
/// Whoever made the link may not be allowed to read what it leads to, and it could change at any time.
pub(super) fn refused_link(entries: &Entries) -> Option<String> {
    entries.keys().find_map(|path| refusal(entries, path))
}

/// The same for what is at one path.
pub(super) fn refusal(entries: &Entries, path: &Path) -> Option<String> {
    let Some(State::Link(target)) = entries.get(path) else { return None };
    let way = way_out(entries, path)?;
    (!leads_to_installation(&way)).then(|| outside(path, target))
}

/// The words about a link that leads out of a submission, or that is one.
pub(super) fn outside(path: &Path, target: &Path) -> String {
    let (path, target) = (path.to_string_lossy(), target.to_string_lossy());
    let (path, target) = (sanitize(&path), sanitize(&target));
    format!("{path} is a link to {target}, outside of the folder: replace it with a copy")
}

/// Returns where a link leads out of the folder.
fn way_out(entries: &Entries, link: &Path) -> Option<PathBuf> {
    open_folder::way_out(link, |path| match entries.get(path) {
        Some(State::Link(target)) => Some(target),
        _ => None,
    })
}

/// A walk through a folder, which copies if there is a folder to copy to.
struct Walk<'a> {
    path: &'a Path,
    skips: Skips<'a>,
    found: Entries,
    bytes: u64,
    /// How many names were listed.
    listed: usize,
    /// The length of all paths together.
    paths: usize,
    /// How many times as much as in an agent's folder may be in it.
    room: usize,
    /// How many bytes fit on the disk to which it is copied.
    disk: u64,
    /// Whether what can't be looked at because it has changed is left out.
    is_changing: bool,
}

impl<'a> Walk<'a> {
    fn new(tree: Tree<'a>, skips: Skips<'a>) -> Self {
        let found = Entries::new();
        let (bytes, disk) = (0, u64::MAX);
        Self {
            path: tree.path,
            skips,
            found,
            bytes,
            listed: 0,
            paths: 0,
            room: 1,
            disk,
            is_changing: false,
        }
    }

    /// Whether this error ends the walk no more than a name that isn't there.
    fn is_passed<T>(&self, result: &io::Result<T>) -> bool {
        self.is_changing
            && result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::PermissionDenied)
    }

    /// `inside` is the folder's path in the whole.
    fn folder(
        &mut self,
        from: &OpenFolder,
        to: Option<&OpenFolder>,
        inside: &Path,
        depth: usize,
    ) -> io::Result<()> {
        let whole = self.path;
        let here = whole.join(inside);
        if depth > DEPTH_MAX * self.room {
            return Err(named(&here, &too_deep()));
        }
        let most = ENTRIES_MAX * self.room;
        let listed = from.names((most + 1).saturating_sub(self.listed));
        if self.is_passed(&listed) {
            return Ok(());
        }
        let names = listed.map_err(|error| named(&here, &error))?;
        self.listed += names.len();
        if self.listed > most {
            return Err(self.too_large(&format!("{ENTRIES_MAX} files and folders")));
        }
        for name in names {
            let path = inside.join(&name);
            let shown = whole.join(&path);
            if (self.skips)(&shown, from) {
                continue;
            }
            let failed = |error| named(&shown, &error);
            let found = from.kind(&name);
            if self.is_passed(&found) {
                continue;
            }
            let (kind, state) = found.map_err(failed)?;
            match kind {
                Kind::Folder => {
                    let inner = from.folder(&name);
                    if self.is_passed(&inner) {
                        continue;
                    }
                    let inner = inner.map_err(failed)?;
                    let copy = to.map(|to| to.create_folder(&name)).transpose().map_err(failed)?;
                    self.add(&path, State::Folder, 0)?;
                    self.folder(&inner, copy.as_ref(), &path, depth + 1)?;
                }
                Kind::Link(target) => self.add(&path, State::Link(target), 0)?,
                Kind::File => {
                    self.add(&path, state.into(), state.length)?;
                    if let Some(to) = to {
                        // As it is now that it is open.
                        let copied = copy_one(from, &name, to).map_err(failed)?;
                        let State::File(length, ..) = copied else { continue };
                        self.found.insert(path.clone(), copied);
                        self.count(&path, length.saturating_sub(state.length))?;
                    }
                }
                Kind::Other => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, state: State, bytes: u64) -> io::Result<()> {
        self.found.insert(path.to_owned(), state);
        self.paths += path.as_os_str().len();
        self.count(path, bytes)
    }

    /// Counts the bytes of what was found at a path.
    fn count(&mut self, path: &Path, bytes: u64) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        let room = self.bytes.saturating_add(self.found.len() as u64 * ENTRY_BYTES);
        let bound = if path.as_os_str().len() > PATH_BYTES_MAX * self.room {
            format!("{PATH_BYTES_MAX} bytes in the path of a file")
        } else if self.found.len() > ENTRIES_MAX * self.room {
            format!("{ENTRIES_MAX} files and folders")
        } else if self.paths > ALL_PATHS_BYTES_MAX * self.room {
            format!("{} MiB in the paths of all files together", ALL_PATHS_BYTES_MAX >> 20)
        } else if self.bytes > BYTES_MAX * self.room as u64 {
            format!("{} GiB", BYTES_MAX >> 30)
        } else if room > self.disk && self.disk < ROOM_BYTES_MIN {
            return Err(io::ErrorKind::StorageFull.into());
        } else if room > self.disk {
            format!("the {} MB for which the disk has room", self.disk / 1_000_000)
        } else {
            return Ok(());
        };
        Err(self.too_large(&bound))
    }

    fn too_large(&self, bound: &str) -> io::Error {
        let text = format!("{} has more than {bound}", self.path.display());
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    }
}

/// Returns how many bytes these files and folders take of a disk.
pub(super) fn bytes_of(entries: &Entries) -> u64 {
    let length = |state: &State| if let State::File(length, ..) = state { *length } else { 0 };
    entries.values().map(|state| length(state).saturating_add(ENTRY_BYTES)).sum()
}

/// Lets every user read the copy of a folder: agents may run as other users.
pub(super) fn open_to_all(copy: &OpenFolder, entries: &Entries) -> io::Result<()> {
    copy.set_mode(0o755)?;
    for (path, state) in entries {
        match state {
            State::Folder => copy.folder_at(path)?.set_mode(0o755)?,
            State::File(_, mode, ..) => {
                let mode = Permissions::from_mode(0o644 | mode & 0o755);
                copy.file_at(path)?.0.set_permissions(mode)?;
            }
            State::Link(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        ENTRY_BYTES, Entries, NOTHING, State, Tree, Walk, copy_one, refused_link, way_out,
    };
    use referee_process::open_folder::OpenFolder;
    use std::ffi::OsStr;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn the_paths_of_all_files_are_bounded() {
        let here = OpenFolder::open(Path::new(".")).unwrap();
        let mut walk = Walk::new(Tree { folder: &here, path: Path::new("amy") }, NOTHING);
        let path = |number: u32| format!("{number:05}{}", "x".repeat(1000));
        let add = |number| walk.add(Path::new(&path(number)), State::Folder, 0).err();
        let refused = (0..10_000).find_map(add).unwrap();
        let most = "amy has more than 8 MiB in the paths of all files together";
        assert_eq!(refused.to_string(), most);
    }

    #[test]
    fn a_copy_is_its_owners_whatever_the_mode_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let here = OpenFolder::open(dir.path()).unwrap();
        fs::create_dir(dir.path().join("copies")).unwrap();
        let copies = OpenFolder::open(&dir.path().join("copies")).unwrap();
        for (mode, expected) in [(0o406, 0o604), (0o577, 0o755), (0o644, 0o644), (0o400, 0o600)] {
            fs::write(dir.path().join("bot"), "").unwrap();
            fs::set_permissions(dir.path().join("bot"), Permissions::from_mode(mode)).unwrap();
            copy_one(&here, OsStr::new("bot"), &copies).unwrap();
            let about = fs::metadata(dir.path().join("copies/bot")).unwrap();
            assert_eq!(about.permissions().mode() & 0o7777, expected);
            fs::remove_file(dir.path().join("bot")).unwrap();
        }
    }

    #[test]
    fn a_copy_fits_on_the_disk_or_the_disk_is_full() {
        let here = OpenFolder::open(Path::new(".")).unwrap();
        let refused = |disk| {
            let tree = Tree { folder: &here, path: Path::new("amy") };
            let mut walk = Walk { disk, ..Walk::new(tree, NOTHING) };
            walk.add(Path::new("x"), State::Folder, 3_000_000).map_err(|error| error.to_string())
        };
        assert_eq!(refused(3_000_000 + ENTRY_BYTES), Ok(()));
        let room = "amy has more than the 3 MB for which the disk has room";
        assert_eq!(refused(2_999_999 + ENTRY_BYTES), Err(room.to_owned()));
        assert_eq!(refused(1000), Err("no storage space".to_owned()));
    }

    #[test]
    fn a_link_leads_out_by_itself_or_by_others() {
        let mut entries = Entries::new();
        for (path, target) in [
            ("in", "bin/x"),
            ("bin/up", ".."),
            ("bin/x", "up/in"),
            ("bin/out", "up/.."),
            ("bin/by", "out/alice"),
            ("venv/python", "python3"),
            ("venv/python3", "/usr/bin/env"),
            ("key", "/root/.ssh/id_rsa"),
            ("parent", "../alice"),
            ("dots", "bin/../../mallory/bin"),
            ("back", "bin/../bin"),
            ("gone", "bin/missing"),
        ] {
            entries.insert(path.into(), State::Link(target.into()));
        }
        entries.insert("bin".into(), State::Folder);
        let out = ["bin/out", "bin/by", "venv/python", "venv/python3", "key", "parent", "dots"];
        for (path, state) in &entries {
            if matches!(state, State::Link(_)) {
                let leads_out = out.iter().any(|it| path == Path::new(it));
                assert_eq!(way_out(&entries, path).is_some(), leads_out, "{path:?}");
            }
        }
        for path in ["bin/out", "bin/by", "key", "parent", "dots"] {
            assert!(refused_link(&entries).unwrap().contains("outside of the folder"));
            entries.remove(Path::new(path));
        }
        // Programs of the system, as in virtual environments.
        assert_eq!(refused_link(&entries), None);
    }
}
