//! Agents that are handed in as archives: they are unpacked to a private folder, whatever the archive contains. Never
//! writes outside of that folder, follows no link, and stops at its limits. The same archive is unpacked once.

use super::digest::digest_file;
use flate2::read::GzDecoder;
use nix::unistd::Uid;
use referee_process::open_folder::OpenFolder;
use referee_protocol::sanitize::sanitize;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};
use tar::EntryType;

/// The most bytes of an archive, and of what is in it.
const BYTES_MAX: u64 = 1 << 30;
/// The most files in an archive.
const FILES_MAX: usize = 20_000;
/// How long after its last use something unpacked is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How deep its folders may be nested.
const DEPTH_MAX: usize = 32;
/// The longest target of a link.
const TARGET_BYTES_MAX: u64 = 4096;
/// What systems add to archives by themselves.
const ADDED: [&str; 2] = ["__MACOSX", ".DS_Store"];

/// The kinds of archives, by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Zip,
    TarGz,
}

/// Returns the name without the ending of an archive, and what that says; `None` for other names.
fn split(path: &Path) -> Option<(String, Format)> {
    let name = path.file_name()?.to_str()?;
    let endings = [(".zip", Format::Zip), (".tar.gz", Format::TarGz), (".tgz", Format::TarGz)];
    let fits = |(ending, format): (&str, Format)| {
        let at = name.len().checked_sub(ending.len()).filter(|&at| at > 0)?;
        let (stem, end) = name.split_at_checked(at)?;
        end.eq_ignore_ascii_case(ending).then(|| (stem.to_owned(), format))
    };
    endings.into_iter().find_map(fits)
}

/// Returns the name of the agent in an archive that can be unpacked; `None` for other files.
pub fn archive_stem(path: &Path) -> Option<String> {
    split(path).map(|(stem, _)| stem)
}

/// Returns the folder with the files of an archive, which it unpacks there if it hasn't yet. If all files are in one
/// folder, that is it. `path` is not followed if it is a link.
pub fn unpacked(path: &Path) -> io::Result<PathBuf> {
    let (stem, format) = split(path).ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path.parent().unwrap_or(Path::new(""));
    let (archive, state) = OpenFolder::open(parent)?.file(path.file_name().unwrap_or_default())?;
    if state.length > BYTES_MAX {
        return Err(too_large());
    }
    let root = private_root()?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&root)?;
    // Its author may change the archive at any time: what is unpacked is the copy that was hashed.
    let copy = new.path().join("archive");
    io::copy(&mut archive.take(BYTES_MAX), &mut File::create_new(&copy)?)?;
    let place = root.join(digest_file(&copy)?);
    let folder = place.join(&stem);
    if folder.is_dir() {
        File::open(&place)?.set_modified(SystemTime::now())?;
        return Ok(folder);
    }
    remove_unused(&root);
    let files = new.path().join("files");
    let mut unpacking = Unpacking::new(files.clone())?;
    match format {
        Format::Zip => unpacking.zip(File::open(&copy)?)?,
        Format::TarGz => unpacking.tar(GzDecoder::new(File::open(&copy)?))?,
    }
    unpacking.finish()?;
    let whole = only_folder(&files)?.unwrap_or(files);
    // Under another name it may be there already.
    DirBuilder::new().recursive(true).mode(0o755).create(&place)?;
    if let Err(error) = fs::rename(whole, &folder)
        && !folder.is_dir()
    {
        return Err(error);
    }
    Ok(folder)
}

/// Removes what nobody has used for long. Contests play copies of their own.
fn remove_unused(root: &Path) {
    let is_unused = |place: &Path| {
        let used = place.symlink_metadata().and_then(|it| it.modified()).ok();
        used.and_then(|used| used.elapsed().ok()).is_some_and(|since| since > KEPT)
    };
    let places = root.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    for place in places.filter(|place| is_unused(place)) {
        // Another process may remove it too.
        fs::remove_dir_all(place).ok();
    }
}

/// Returns the path of what is unpacked without the private folder's, for people.
pub fn shown(path: &str) -> String {
    let Some((before, rest)) = path.split_once(&root_name()) else { return path.to_owned() };
    let start =
        before.rfind(|c: char| c.is_whitespace() || c == ':' || c == '=').map_or(0, |at| at + 1);
    // The digest is the first part.
    let inside = rest.trim_start_matches('/').split_once('/').map_or("", |(_, inside)| inside);
    format!("{}{inside}", &before[..start])
}

/// The name of the folder for all that is unpacked.
fn root_name() -> String {
    format!("referee-unpacked-{}", Uid::effective())
}

/// Returns the folder for all that is unpacked, which nobody else can change.
fn private_root() -> io::Result<PathBuf> {
    let root = std::env::temp_dir().canonicalize()?.join(root_name());
    match DirBuilder::new().mode(0o755).create(&root) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = root.symlink_metadata()?;
    let is_own = found.is_dir() && found.uid() == Uid::effective().as_raw();
    if !is_own || found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!(
            "{} belongs to someone else, or others can change it: remove it",
            root.display()
        )));
    }
    Ok(root)
}

/// Returns the folder in which everything is, if there is one and no agent.toml beside it.
fn only_folder(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut entries = folder.read_dir()?;
    let (first, second) = (entries.next().transpose()?, entries.next());
    let only =
        first.filter(|entry| second.is_none() && entry.file_type().is_ok_and(|it| it.is_dir()));
    Ok(only.map(|entry| entry.path()))
}

fn too_large() -> io::Error {
    io::Error::other(format!("the archive has more than {BYTES_MAX} bytes or {FILES_MAX} files"))
}

/// Writes what is in an archive to a new folder.
struct Unpacking {
    folder: PathBuf,
    files: usize,
    bytes: u64,
    /// Links and their targets, which are made when no file is written any more.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Unpacking {
    fn new(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o755).create(&folder)?;
        Ok(Self { folder, files: 0, bytes: 0, links: Vec::new() })
    }

    fn zip(&mut self, archive: File) -> io::Result<()> {
        let mut archive = zip::ZipArchive::new(archive)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let name = entry.name_raw().to_vec();
            let Some(path) = self.path(&name)? else { continue };
            if entry.is_dir() {
                self.create(&path)?;
            } else if entry.is_symlink() {
                let mut target = Vec::new();
                (&mut entry).take(TARGET_BYTES_MAX).read_to_end(&mut target)?;
                self.link(path, &target)?;
            } else {
                let mode = entry.unix_mode();
                self.file(&path, mode, &mut entry)?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, archive: impl Read) -> io::Result<()> {
        let mut archive = tar::Archive::new(archive.take(2 * BYTES_MAX));
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path_bytes().into_owned();
            let Some(path) = self.path(&name)? else { continue };
            match entry.header().entry_type() {
                EntryType::Directory => self.create(&path)?,
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let mode = entry.header().mode().ok();
                    self.file(&path, mode, &mut entry)?;
                }
                EntryType::Symlink => {
                    let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                    self.link(path, &target)?;
                }
                EntryType::XGlobalHeader => {}
                _ => {
                    return Err(refused(&path, "is neither a file, a folder nor a symbolic link"));
                }
            }
        }
        Ok(())
    }

    /// Returns the path of an entry relative to the folder; `None` for what systems add.
    fn path(&mut self, name: &[u8]) -> io::Result<Option<PathBuf>> {
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(too_large());
        }
        let mut path = PathBuf::new();
        for part in Path::new(OsStr::from_bytes(name)).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => {
                    return Err(refused(
                        Path::new(OsStr::from_bytes(name)),
                        "leads out of the archive",
                    ));
                }
            }
        }
        if path.components().count() > DEPTH_MAX {
            return Err(refused(&path, "is nested too deep"));
        }
        let is_added = |part: &OsStr| {
            ADDED.iter().any(|added| part == *added) || part.as_bytes().starts_with(b"._")
        };
        let is_none = path.as_os_str().is_empty() || path.iter().any(is_added);
        Ok((!is_none).then_some(path))
    }

    /// Creates a folder and those above it.
    fn create(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o755).create(self.folder.join(path))
    }

    fn file(&mut self, path: &Path, mode: Option<u32>, from: &mut impl Read) -> io::Result<()> {
        self.create(path.parent().unwrap_or(Path::new("")))?;
        let whole = self.folder.join(path);
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&whole);
        let mut file = opened.map_err(|error| refused(path, &error.to_string()))?;
        let mut begin = Vec::new();
        from.take(4).read_to_end(&mut begin)?;
        file.write_all(&begin)?;
        let left = BYTES_MAX - self.bytes;
        self.bytes += begin.len() as u64 + io::copy(&mut from.take(left), &mut file)?;
        if self.bytes >= BYTES_MAX {
            return Err(too_large());
        }
        // Archives that were made on Windows have no modes.
        let is_program = match mode {
            Some(mode) => mode & 0o111 != 0,
            None => begin.starts_with(b"#!") || begin == *b"\x7fELF",
        };
        if is_program {
            file.set_permissions(Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// Notes a link. It may only go up from its own folder, then down: so it stays inside, whatever else is a link.
    fn link(&mut self, path: PathBuf, target: &[u8]) -> io::Result<()> {
        let target = Path::new(OsStr::from_bytes(target));
        let up = target.components().take_while(|part| *part == Component::ParentDir).count();
        let goes_down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let depth = path.components().count() - 1;
        if up > depth || !target.components().skip(up).all(goes_down) {
            let why = format!("is a link to {}: replace it with a copy", target.display());
            return Err(refused(&path, &why));
        }
        self.links.push((path, target.to_owned()));
        Ok(())
    }

    /// Makes the links.
    fn finish(self) -> io::Result<()> {
        for (path, target) in &self.links {
            self.create(path.parent().unwrap_or(Path::new("")))?;
            symlink(target, self.folder.join(path))
                .map_err(|error| refused(path, &error.to_string()))?;
        }
        Ok(())
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(sanitize(&format!("{} in the archive {why}", path.display())))
}

#[cfg(test)]
mod tests;
