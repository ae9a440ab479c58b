//! The copy of an agent's folder in which its build runs, and taking over what the build made. No link
//! is ever followed, in either direction.

use super::tree::{self, Entries, State};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A copy of a folder.
#[derive(Debug)]
pub(super) struct BuildFolder {
    original: PathBuf,
    pub(super) copy: PathBuf,
    /// What was copied, by relative path.
    copied: Entries,
}

impl BuildFolder {
    /// Copies a folder to a new one.
    pub(super) fn new(original: &Path, copy: PathBuf) -> io::Result<Self> {
        fs::create_dir(&copy)?;
        tree::copy(original, &copy, &tree::entries(original, &|_| false)?)?;
        let copied = tree::entries(&copy, &|_| false)?;
        Ok(Self { original: original.to_owned(), copy, copied })
    }

    /// Whether the copy is larger than an agent's folder may be. Files may come and go meanwhile.
    pub(super) fn is_too_large(&self) -> bool {
        tree::entries(&self.copy, &|_| false)
            .is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge)
    }

    /// Takes over what has changed in the copy: each file at once, whole. What is missing there stays.
    /// No process of the build may run any more.
    pub(super) fn take_over(&self) -> io::Result<()> {
        for (path, state) in tree::entries(&self.copy, &|_| false)? {
            if self.copied.get(&path) == Some(&state) {
                continue;
            }
            let (from, to) = (self.copy.join(&path), self.original.join(&path));
            let found = to.symlink_metadata().ok();
            match state {
                State::Folder if found.as_ref().is_some_and(Metadata::is_dir) => {}
                State::Folder => {
                    remove(&to, found.as_ref())?;
                    fs::create_dir(&to)?;
                }
                State::Link(target) => {
                    remove(&to, found.as_ref())?;
                    symlink(target, &to)?;
                }
                State::File(_, mode, ..) => {
                    if found.as_ref().is_some_and(Metadata::is_dir) {
                        remove(&to, found.as_ref())?;
                    }
                    let mut file = NamedTempFile::new_in(to.parent().unwrap_or(&self.original))?;
                    io::copy(&mut File::open(&from)?, &mut file)?;
                    file.as_file().set_modified(from.symlink_metadata()?.modified()?)?;
                    let mode = 0o644 | mode & 0o755 | executable(&from)?;
                    file.as_file().set_permissions(Permissions::from_mode(mode))?;
                    file.persist(&to)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the permissions of a program, if a file is one: a sandbox without its own mounts keeps
/// linkers from setting them.
fn executable(file: &Path) -> io::Result<u32> {
    let mut begin = Vec::new();
    File::open(file)?.take(4).read_to_end(&mut begin)?;
    Ok(if begin.starts_with(b"\x7fELF") || begin.starts_with(b"#!") { 0o111 } else { 0 })
}

fn remove(path: &Path, found: Option<&Metadata>) -> io::Result<()> {
    match found {
        None => Ok(()),
        Some(found) if found.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    }
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
}
