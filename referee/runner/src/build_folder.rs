//! The copy of an agent's folder in which its build runs, and taking over what the build made. No link
//! is ever followed, in either direction, and both folders are opened once: others may change the original.

use super::disk::Disk;
use super::tree::{self, Entries, Links, NOTHING, State, Tree};
use referee_process::open_folder::{FileState, Kind, OpenFolder, copy_file};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A copy of a folder.
#[derive(Debug)]
pub(super) struct BuildFolder {
    original: OpenFolder,
    pub(super) copy: PathBuf,
    opened: OpenFolder,
    /// What was copied, by relative path.
    copied: Entries,
}

impl BuildFolder {
    /// Copies a folder, by its canonical path, to a new one.
    pub(super) fn new(original: &Path, copy: PathBuf) -> io::Result<Self> {
        let opened = OpenFolder::create(&copy)?;
        let from = OpenFolder::open_canonical(original)?;
        let tree = Tree { folder: &from, path: original };
        tree::copy(tree, &opened, Links::Absolute, NOTHING)?;
        let copied = tree::entries(Tree { folder: &opened, path: &copy }, NOTHING)?;
        Ok(Self { original: from, copy, opened, copied })
    }

    fn entries(&self) -> io::Result<Entries> {
        tree::entries(Tree { folder: &self.opened, path: &self.copy }, NOTHING)
    }

    /// Returns by what the copy is larger than an agent's folder may be, or which folder in it is closed, so that nobody
    /// can say. Files may come and go meanwhile.
    pub(super) fn excess(&self) -> Option<String> {
        let of = Tree { folder: &self.opened, path: Path::new("its folder") };
        tree::bound(of).err().map(|error| error.to_string())
    }

    /// Takes over what has changed in the copy: each file at once, whole. What is missing there stays.
    /// No process of the build may run any more. Fails if a new link leads out of the folder.
    pub(super) fn take_over(&self) -> io::Result<()> {
        let made = self.entries()?;
        let is_new = |(path, state): &(&PathBuf, &State)| self.copied.get(*path) != Some(*state);
        let mut links = made.iter().filter(is_new);
        if let Some(why) = links.find_map(|(path, _)| tree::refusal(&made, path)) {
            return Err(io::Error::other(why));
        }
        // What it made is copied to the contest, too.
        let (bytes, room) =
            (tree::bytes_of(&made), Disk::of_open(self.original.as_fd())?.room() / 2);
        if bytes > room {
            let [bytes, room] = [bytes, room].map(|it| it / 1_000_000);
            let text = format!(
                "with what it made its files have {bytes} MB, and the disk has room for {room}"
            );
            return Err(io::Error::other(text));
        }
        for (path, state) in made.iter().filter(is_new) {
            let parent = path.parent().unwrap_or(Path::new(""));
            let (from, to) = (self.opened.folder_at(parent)?, self.original.folder_at(parent)?);
            let name = path.file_name().unwrap_or_default();
            let is_folder = to.kind(name).is_ok_and(|(kind, _)| kind == Kind::Folder);
            match state {
                State::Folder if is_folder => {}
                State::Folder => {
                    to.remove(name)?;
                    to.create_folder(name)?;
                }
                State::Link(target) => {
                    to.remove(name)?;
                    to.create_link(name, target)?;
                }
                State::File(..) => {
                    if is_folder {
                        to.remove(name)?;
                    }
                    take_over_file(&from, &to, name)?;
                }
            }
        }
        Ok(())
    }
}

fn take_over_file(from: &OpenFolder, to: &OpenFolder, name: &OsStr) -> io::Result<()> {
    let (built, state) = from.file(name)?;
    let mode = 0o644 | state.mode & 0o755 | executable(&built, &state)?;
    to.replace_file(name, |copy| copy_file(&built, &state, copy).map(|()| mode))
}

/// Returns the permissions of a program, if a file is one: a sandbox without its own mounts keeps
/// linkers from setting them.
fn executable(file: &File, state: &FileState) -> io::Result<u32> {
    let mut begin = [0; 4];
    let length = begin.len().min(usize::try_from(state.length).unwrap_or(begin.len()));
    file.read_exact_at(&mut begin[..length], 0)?;
    Ok(if begin == *b"\x7fELF" || begin.starts_with(b"#!") { 0o111 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::BuildFolder;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn results_are_taken_over_and_links_are_never_followed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["agent/src", "outside"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("agent/src/main.c"), "old").unwrap();
        fs::write(at("agent/kept"), "kept").unwrap();
        fs::write(at("outside/key"), "secret").unwrap();
        symlink(at("outside"), at("agent/out")).unwrap();
        symlink(at("outside/key"), at("agent/link")).unwrap();
        let folder = BuildFolder::new(&at("agent"), at("copy")).unwrap();
        assert!(fs::symlink_metadata(at("copy/link")).unwrap().is_symlink());
        // The build replaces links by a folder and a file with the same names.
        fs::remove_file(at("copy/out")).unwrap();
        fs::create_dir(at("copy/out")).unwrap();
        fs::write(at("copy/out/key"), "forged").unwrap();
        fs::remove_file(at("copy/link")).unwrap();
        fs::write(at("copy/link"), "forged").unwrap();
        fs::remove_file(at("copy/kept")).unwrap();
        fs::write(at("copy/bot"), "\x7fELF").unwrap();
        symlink("/etc/shadow", at("copy/new")).unwrap();
        let why = folder.take_over().unwrap_err().to_string();
        assert_eq!(
            why,
            "new is a link to /etc/shadow, outside of the folder: replace it with a copy"
        );
        assert!(fs::symlink_metadata(at("agent/bot")).is_err(), "nothing is taken over");
        fs::remove_file(at("copy/new")).unwrap();
        symlink("src/main.c", at("copy/new")).unwrap();
        assert_eq!(fs::read_to_string(at("agent/src/main.c")).unwrap(), "old");
        folder.take_over().unwrap();
        assert_eq!(fs::read_to_string(at("outside/key")).unwrap(), "secret");
        assert_eq!(fs::read_to_string(at("agent/out/key")).unwrap(), "forged");
        assert_eq!(fs::read_to_string(at("agent/link")).unwrap(), "forged");
        assert_eq!(fs::read_to_string(at("agent/kept")).unwrap(), "kept");
        assert!(fs::symlink_metadata(at("agent/new")).unwrap().is_symlink());
        let bot = fs::metadata(at("agent/bot")).unwrap();
        assert_eq!(bot.permissions().mode() & 0o777, 0o755);
    }

    /// Others exchange what is in the folder while the results are taken over.
    #[test]
    fn names_that_are_exchanged_lead_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("agent/out")).unwrap();
        fs::create_dir(at("victim")).unwrap();
        let folder = BuildFolder::new(&at("agent").canonicalize().unwrap(), at("copy")).unwrap();
        fs::write(at("copy/out/planted"), "by the build").unwrap();
        // The folder that results are written to has become a link, and so has the whole folder.
        fs::rename(at("agent/out"), at("agent/was")).unwrap();
        symlink(at("victim"), at("agent/out")).unwrap();
        assert!(folder.take_over().is_err());
        fs::rename(at("agent"), at("moved")).unwrap();
        symlink(at("victim"), at("agent")).unwrap();
        fs::remove_file(at("moved/out")).unwrap();
        fs::rename(at("moved/was"), at("moved/out")).unwrap();
        folder.take_over().unwrap();
        assert!(at("moved/out/planted").exists());
        assert_eq!(fs::read_dir(at("victim")).unwrap().count(), 0);
    }
}
