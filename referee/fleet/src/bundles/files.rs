//! Selects the files of a folder that are packed, and their paths in a bundle.

use super::archive::FileEntry;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_runner::folder::Folder;
use std::io;
use std::path::{Path, PathBuf};

/// Never part of an agent: version control and leftovers of runs.
const NEVER: &[&str] = &[".git", ".hg", ".svn", "__pycache__", "matches"];
/// Leftovers of builds.
const BUILT: &[&str] = &["node_modules", "target"];

/// Files to pack. Their archive paths are absolute paths of this machine until the bundle is
/// written.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) list: Vec<FileEntry>,
    /// How many links were left out.
    pub(super) links: usize,
}

/// What is left out of a folder, besides what is never part of an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exclude<'a> {
    /// Hidden files and leftovers of builds.
    pub(super) hidden: bool,
    /// These canonical paths and everything below them.
    pub(super) paths: &'a [PathBuf],
}

impl Exclude<'_> {
    fn has(&self, name: &str, path: &Path) -> bool {
        let hidden = BUILT.contains(&name) || name.starts_with('.');
        NEVER.contains(&name) || (self.hidden && hidden) || self.has_path(path)
    }

    fn has_path(&self, path: &Path) -> bool {
        self.paths.iter().any(|excluded| path.starts_with(excluded))
    }
}

impl Files {
    /// Adds a file, or a folder except `exclude`, at this path in the bundle. A link in the folder
    /// is followed if it leads to a file of the folder, and left out otherwise.
    pub(super) fn add(
        &mut self,
        source: &Path,
        place: &Path,
        exclude: Exclude<'_>,
    ) -> Result<(), Failure> {
        let added = source.canonicalize().and_then(|source| {
            if source.is_dir() {
                return self.walk(&source, &source, place, exclude);
            }
            self.list.push(FileEntry { archive_path: place.to_owned(), source });
            Ok(())
        });
        let shown = sanitize(&source.display().to_string());
        added.map_err(|error| Failure::operation(format!("{shown}: {error}")))
    }

    fn walk(
        &mut self,
        root: &Path,
        folder: &Path,
        place: &Path,
        exclude: Exclude<'_>,
    ) -> io::Result<()> {
        for entry in folder.read_dir()? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            if exclude.has(&name.to_string_lossy(), &path) || Folder::has_contest(&path) {
                continue;
            }
            let (place, kind) = (place.join(&name), entry.file_type()?);
            if kind.is_dir() {
                self.walk(root, &path, &place, exclude)?;
            } else if kind.is_file() {
                self.list.push(FileEntry { archive_path: place, source: path });
            } else if kind.is_symlink() {
                let target = path.canonicalize().ok();
                let target = target.filter(|to| to.starts_with(root) && to.is_file());
                match target.filter(|to| !exclude.has_path(to)) {
                    Some(source) => self.list.push(FileEntry { archive_path: place, source }),
                    None => self.links += 1,
                }
            }
        }
        Ok(())
    }
}
