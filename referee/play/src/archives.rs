//! Agents that are handed in as archives: they are unpacked to a private folder, whatever the archive contains. Never
//! writes outside of that folder, follows no link, and stops at its limits. The same archive is unpacked once.
//!
//! Everything is made from the descriptor of the folder above it, and links only when nothing else is made any more,
//! if all of them stay inside.

use super::digest::digest_file;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use nix::sys::stat::SFlag;
use nix::unistd::Uid;
use referee_process::lock::lock;
use referee_process::open_folder::{Kind, OpenFolder, way_out};
use referee_process::work_folder::{close_but_to_agents, create_named};
use referee_protocol::sanitize::sanitize;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};
use tar::{EntryType, PaxExtensions};
use tempfile::TempDir;
use unicode_normalization::UnicodeNormalization;

/// The most bytes of an archive, and of what is in it.
const BYTES_MAX: u64 = 256 << 20;
/// How many times its own size an archive may contain, and what any may contain.
const RATIO_MAX: u64 = 100;
const ANY_BYTES: u64 = 16 << 20;
/// The most files, folders and links in an archive.
const FILES_MAX: usize = 20_000;
/// The most bytes of what describes a file in a tar archive: its header and long names.
const HEADERS_BYTES: u64 = 4096;
/// The most bytes of the list of files in a zip archive.
const LIST_BYTES_MAX: u64 = FILES_MAX as u64 * 1024;
/// The most bytes of one extension of a tar archive, such as a long name: it is read into memory.
const EXTENSION_BYTES_MAX: u64 = 64 << 10;
/// How long after its last use something unpacked is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How deep its folders may be nested.
const DEPTH_MAX: usize = 32;
/// The longest name or target of a link, and the longest part of a name, in bytes.
const PATH_BYTES_MAX: usize = 1024;
const PART_BYTES_MAX: usize = 255;
/// How many bytes names may have on average, if there are as many as there may be.
const NAME_BYTES: usize = 128;
/// How much of a name that is too long is shown.
const SHOWN_BYTES: usize = 40;
/// What systems add to archives by themselves.
const ADDED: [&str; 3] = ["__MACOSX", ".DS_Store", "Icon\r"];

/// The kinds of archives, by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Zip,
    TarGz,
    Tar,
}

/// How much may be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// The bytes of all files.
    pub bytes: u64,
    /// The files, folders and links.
    pub files: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { bytes: BYTES_MAX, files: FILES_MAX }
    }
}

/// Returns the name without the ending of an archive, and what that says; `None` for other names.
fn split(path: &Path) -> Option<(String, Format)> {
    let name = path.file_name()?.to_str()?;
    let endings = [
        (".zip", Format::Zip),
        (".tar.gz", Format::TarGz),
        (".tgz", Format::TarGz),
        (".tar", Format::Tar),
    ];
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
        return Err(too_large(BYTES_MAX, BYTES_MAX));
    }
    let private = Private::new()?;
    // Its author may change the archive at any time: what is unpacked is the copy that was hashed.
    let copy = private.path("archive");
    let bytes = io::copy(&mut archive.take(BYTES_MAX), &mut File::create_new(&copy)?)?;
    let digest = digest_file(&copy)?;
    if let Some(folder) = private.known(&digest, OsStr::new(&stem))? {
        return Ok(folder);
    }
    let files = private.path("files");
    let mut unpacking = Unpacking::new(&files, bytes, Most::default())?;
    unpacking.archive(format, File::open(&copy)?)?;
    let whole = files.join(unpacking.finish()?);
    private.keep(&whole, &digest, OsStr::new(&stem))
}

/// Writes what was handed in to a new folder: an archive's content if it is all, else the files by their names, which
/// are relative paths. Returns the folder with the agent: that one, or the only one in it.
pub fn unpack(sent: &[(String, PathBuf)], to: &Path, most: Most) -> io::Result<PathBuf> {
    let opened = |path: &PathBuf| File::open(path);
    let size = |path: &PathBuf| Ok::<_, io::Error>(path.metadata()?.len());
    let bytes = sent.iter().map(|(_, path)| size(path)).sum::<io::Result<u64>>()?;
    let mut unpacking = Unpacking::new(to, bytes, most)?;
    let archive = match sent {
        [(name, path)] => split(Path::new(name)).map(|(_, format)| (format, path)),
        _ => None,
    };
    if let Some((format, path)) = archive {
        unpacking.archive(format, opened(path)?)?;
    } else {
        for (name, path) in sent {
            if let Some(place) = unpacking.path(name.as_bytes())? {
                unpacking.file(&place, None, &mut opened(path)?)?;
            }
        }
    }
    Ok(to.join(unpacking.finish()?))
}

/// Names that are not handed in with a folder: what versions and matches leave there.
const NOT_PACKED: [&str; 6] = [".git", ".hg", ".svn", "matches", "__pycache__", "node_modules"];

/// Returns the files of a folder as a .tar.gz, to be handed in; an error if they have more than `bytes_max` bytes. Links
/// stay links.
pub fn pack(folder: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = 0;
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    tar.follow_symlinks(false);
    let mut folders = vec![PathBuf::new()];
    while let Some(outer) = folders.pop() {
        let entries = fs::read_dir(folder.join(&outer))?.collect::<io::Result<Vec<_>>>()?;
        for entry in entries {
            if NOT_PACKED.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            let name = outer.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                bytes += entry.metadata()?.len();
                if bytes > bytes_max {
                    let most = bytes_max >> 20;
                    return Err(io::Error::other(format!("it has more than {most} MiB of files")));
                }
                tar.append_path_with_name(entry.path(), name)?;
            }
        }
    }
    tar.into_inner()?.finish()
}

/// A new folder that nobody else can change. What is complete in it is kept, by its digest.
#[derive(Debug)]
pub struct Private {
    root: PathBuf,
    new: TempDir,
}

impl Private {
    /// Creates one.
    pub fn new() -> io::Result<Self> {
        let only_now = lock(&ONLY_NOW).clone();
        let root = only_now.map_or_else(private_root, Ok)?;
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&root)?;
        Ok(Self { root, new })
    }

    /// Returns the path of a name in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.new.path().join(name)
    }

    /// Returns what has been kept with this digest and name.
    pub fn known(&self, digest: &str, name: &OsStr) -> io::Result<Option<PathBuf>> {
        let place = self.root.join(digest);
        let known = place.join(name);
        if known.symlink_metadata().is_err() {
            return Ok(None);
        }
        File::open(&place)?.set_modified(SystemTime::now())?;
        Ok(Some(known))
    }

    /// Keeps a file or folder in it. Returns its new path.
    pub fn keep(&self, from: &Path, digest: &str, name: &OsStr) -> io::Result<PathBuf> {
        remove_unused(&self.root);
        let place = self.root.join(digest);
        let kept = place.join(name);
        // Under another name it may be there already.
        DirBuilder::new().recursive(true).mode(0o755).create(&place)?;
        match fs::rename(from, &kept) {
            Err(error) if kept.symlink_metadata().is_err() => Err(error),
            _ => Ok(kept),
        }
    }
}

/// The folder in which everything is unpacked while an [`OnlyNow`] is there.
static ONLY_NOW: Mutex<Option<PathBuf>> = Mutex::new(None);

/// While this is there, all that is unpacked is only needed until it goes: what plays is a copy.
#[derive(Debug)]
pub struct OnlyNow {
    _folder: TempDir,
}

impl OnlyNow {
    /// Begins such a time. There is one at a time in a process.
    pub fn begin() -> io::Result<Self> {
        let root = private_root()?;
        remove_unused(&root);
        let folder = create_named(".now-", &root)?;
        lock(&ONLY_NOW).replace(folder.path().to_owned());
        Ok(Self { _folder: folder })
    }
}

impl Drop for OnlyNow {
    fn drop(&mut self) {
        lock(&ONLY_NOW).take();
    }
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
    // After the rest of the name and the digest.
    let is_digest = |part: &&str| part.len() == 64 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let digest = rest.split('/').find(is_digest).and_then(|digest| rest.split_once(digest));
    let inside = digest.map_or("", |(_, inside)| inside.trim_start_matches('/'));
    format!("{}{inside}", &before[..start])
}

/// The name of the folder for all that is unpacked.
fn root_name() -> String {
    format!("referee-unpacked-{}", Uid::effective())
}

/// Returns the folder for all that is unpacked, which nobody else can change or list.
fn private_root() -> io::Result<PathBuf> {
    private_root_in(&std::env::temp_dir().canonicalize()?)
}

fn private_root_in(folder: &Path) -> io::Result<PathBuf> {
    let is_own = |root: &Path| {
        let found = root.symlink_metadata();
        found.is_ok_and(|it| {
            it.is_dir() && it.uid() == Uid::effective().as_raw() && it.mode() & 0o022 == 0
        })
    };
    let root = folder.join(root_name());
    match DirBuilder::new().mode(0o700).create(&root) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if is_own(&root) {
        close_but_to_agents(&root)?;
        return Ok(root);
    }
    // Someone else has made it.
    let prefix = root_name() + "-";
    for entry in folder.read_dir()?.flatten() {
        let is_another = entry.file_name().as_bytes().starts_with(prefix.as_bytes());
        if is_another && is_own(&entry.path()) {
            return Ok(entry.path());
        }
    }
    Ok(create_named(&prefix, folder)?.keep())
}

/// Says what to do about an archive that can't be unpacked. Errors of the machine stay as they are.
fn unfit(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() {
        return error;
    }
    io::Error::other(format!("{error}; pack the folder again, with `zip -r` or `tar czf`"))
}

fn too_many(most: usize) -> io::Error {
    io::Error::other(format!("the archive has more than {most} files and folders"))
}

/// The most bytes of the names of so many files, and of the targets of links, since they are kept in memory. One name
/// may always be as long as any.
pub fn names_max(files: usize) -> usize {
    files.saturating_mul(NAME_BYTES).max(PATH_BYTES_MAX)
}

/// The error where names have more bytes.
pub fn long_names(most: usize) -> io::Error {
    io::Error::other(format!("the names of all files have more than {most} bytes: shorten them"))
}

/// The error where there is more than so many bytes, of which archives may have `bytes` at most.
fn too_large(most: u64, bytes: u64) -> io::Error {
    let [most, bytes, any] = [most, bytes, ANY_BYTES.min(bytes)].map(|bytes| bytes >> 20);
    io::Error::other(format!(
        "the archive has more than {most} MiB of files: it may have {bytes} MiB, and if that is more than {any} MiB, \
         {RATIO_MAX} times its own size"
    ))
}

/// Writes what is in an archive to a new folder.
struct Unpacking {
    root: OpenFolder,
    /// The most bytes that it may write.
    bytes_max: u64,
    most: Most,
    files: usize,
    bytes: u64,
    /// The bytes of all names and targets.
    names: usize,
    /// The parts of paths, in lower case with composed accents, by the number of the folder that they are in: their own
    /// number, and how they are written.
    written: BTreeMap<(usize, String), (usize, String)>,
    /// Links and their targets, which are made when nothing else is made any more.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Unpacking {
    /// `archive` is the size of the archive.
    fn new(folder: &Path, archive: u64, most: Most) -> io::Result<Self> {
        let root = OpenFolder::create(folder)?;
        root.set_mode(0o755)?;
        Ok(Self {
            root,
            bytes_max: archive
                .saturating_mul(RATIO_MAX)
                .clamp(ANY_BYTES, BYTES_MAX)
                .min(most.bytes),
            most,
            files: 0,
            bytes: 0,
            names: 0,
            written: BTreeMap::new(),
            links: BTreeMap::new(),
        })
    }

    fn archive(&mut self, format: Format, archive: File) -> io::Result<()> {
        let unpacked = match format {
            Format::Zip => self.zip(archive),
            Format::TarGz => self.tar(GzDecoder::new(archive)),
            Format::Tar => self.tar(archive),
        };
        unpacked.map_err(unfit)
    }

    fn zip(&mut self, archive: File) -> io::Result<()> {
        let left = Rc::new(Cell::new(LIST_BYTES_MAX));
        let listed = zip::ZipArchive::new(Bounded { archive, left: left.clone() });
        // The list of its files is read whole.
        let mut archive =
            if left.get() == 0 { Err(too_many(self.most.files)) } else { Ok(listed?) }?;
        left.set(u64::MAX);
        if archive.has_duplicate_names() {
            // The library keeps the last one.
            let name = twice_in_zip(archive.central_directory_start(), archive.into_inner())?;
            return Err(twice(Path::new(OsStr::from_bytes(&name))));
        }
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let name = entry.name_raw().to_vec();
            let Some(path) = self.path(&name)? else { continue };
            if entry.is_dir() {
                self.create(&path)?;
            } else if entry.is_symlink() {
                let mut target = Vec::new();
                // One more, which shows that it is too long.
                (&mut entry).take(PATH_BYTES_MAX as u64 + 1).read_to_end(&mut target)?;
                self.link(path, &target)?;
            } else {
                let mode = entry.unix_mode();
                // An archive of another system doesn't say what kind of file it is.
                let kind = SFlag::from_bits_truncate(mode.unwrap_or(0)) & SFlag::S_IFMT;
                if ![SFlag::empty(), SFlag::S_IFREG].contains(&kind) {
                    return Err(neither(&path));
                }
                self.file(&path, mode, &mut entry)?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, archive: impl Read) -> io::Result<()> {
        let mut archive = archive.take(self.bytes_max + FILES_MAX as u64 * HEADERS_BYTES);
        let read = self.tar_entries(&mut archive);
        // Where it is cut off there may seem to be its end.
        if archive.limit() == 0 { Err(self.too_large()) } else { read }
    }

    fn tar_entries(&mut self, archive: impl Read) -> io::Result<()> {
        let mut archive = tar::Archive::new(archive);
        let mut extensions = Extensions::default();
        // Raw: extensions are read whole, so they are bounded here.
        for entry in archive.entries()?.raw(true) {
            let mut entry = entry?;
            if extensions.read(&mut entry)? {
                continue;
            }
            let Extensions { name, target } = std::mem::take(&mut extensions);
            if entry.header().entry_type() == EntryType::XGlobalHeader {
                self.count()?;
                continue;
            }
            let name = name.unwrap_or_else(|| entry.path_bytes().into_owned());
            let Some(path) = self.path(&name)? else { continue };
            match entry.header().entry_type() {
                EntryType::Directory => self.create(&path)?,
                EntryType::Regular | EntryType::Continuous => {
                    let mode = entry.header().mode().ok();
                    self.file(&path, mode, &mut entry)?;
                }
                EntryType::Symlink => {
                    let short = || entry.link_name_bytes().unwrap_or_default().into_owned();
                    self.link(path, &target.unwrap_or_else(short))?;
                }
                EntryType::GNUSparse => return Err(sparse(&path)),
                _ => return Err(neither(&path)),
            }
        }
        Ok(())
    }

    /// Returns the path of an entry relative to the folder; `None` for what systems add.
    fn path(&mut self, name: &[u8]) -> io::Result<Option<PathBuf>> {
        self.count()?;
        // The parts of a name are kept even if nothing is made of it.
        self.count_name(name)?;
        if name.len() > PATH_BYTES_MAX
            || name.split(|&byte| byte == b'/').any(|part| part.len() > PART_BYTES_MAX)
        {
            let begin = Path::new(OsStr::from_bytes(&name[..name.len().min(SHOWN_BYTES)]));
            return Err(refused(
                &begin.join(".."),
                &format!(
                    "has a name of more than {PATH_BYTES_MAX} bytes, or a part of it more than {PART_BYTES_MAX}"
                ),
            ));
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
        if path.as_os_str().is_empty() || path.iter().any(is_added) {
            return Ok(None);
        }
        self.check_name(&path)?;
        Ok(Some(path))
    }

    /// Refuses names that are another file, or none, on another system.
    fn check_name(&mut self, path: &Path) -> io::Result<()> {
        let Some(name) = path.to_str() else {
            return Err(refused(path, "has a name that is not UTF-8: rename it"));
        };
        if name.contains('\\') {
            return Err(refused(
                path,
                "has a name with a backslash, which Windows takes for folders",
            ));
        }
        if name.contains(char::is_control) {
            return Err(refused(path, "has a name with a control character: rename it"));
        }
        // Those above it too: `Bot/x` and `bot/y` are in two folders or in one.
        let (mut folder, mut above) = (0, PathBuf::new());
        for part in name.split('/') {
            let composed = |text: &str| text.nfc().collect::<String>();
            let key = (folder, composed(&composed(part).to_lowercase()));
            let number = self.written.len() + 1;
            let (known, other) =
                self.written.entry(key).or_insert_with(|| (number, part.to_owned()));
            if other != part {
                let same_letters = other.to_lowercase() == part.to_lowercase();
                let by = if same_letters { "capital letters" } else { "how accents are encoded" };
                let other = above.join(other);
                let text = format!("differs from {} only by {by}", other.display());
                return Err(refused(path, &text));
            }
            folder = *known;
            above.push(part);
        }
        Ok(())
    }

    /// Counts a name or target that is kept.
    fn count_name(&mut self, name: &[u8]) -> io::Result<()> {
        self.names += name.len();
        let most = names_max(self.most.files);
        if self.names > most { Err(long_names(most)) } else { Ok(()) }
    }

    fn count(&mut self) -> io::Result<()> {
        self.files += 1;
        if self.files > self.most.files { Err(too_many(self.most.files)) } else { Ok(()) }
    }

    fn too_large(&self) -> io::Error {
        too_large(self.bytes_max, self.most.bytes)
    }

    /// Creates a folder and those above it.
    fn create(&mut self, path: &Path) -> io::Result<()> {
        let is_new = |folder: &&Path| self.root.folder_at(folder).is_err();
        for _ in 0..path.ancestors().take_while(is_new).count() {
            self.count()?;
        }
        self.root.create_folders(path).map_err(|error| refused(path, &error.to_string()))?;
        Ok(())
    }

    fn file(&mut self, path: &Path, mode: Option<u32>, from: &mut impl Read) -> io::Result<()> {
        self.create(path.parent().unwrap_or(Path::new("")))?;
        let opened = self.root.create_file(path, 0o644);
        let mut file = opened.map_err(|error| not_made(path, &error))?;
        let mut begin = Vec::new();
        from.take(4).read_to_end(&mut begin)?;
        file.write_all(&begin)?;
        let left = self.bytes_max.saturating_sub(self.bytes);
        self.bytes += begin.len() as u64 + io::copy(&mut from.take(left), &mut file)?;
        if self.bytes >= self.bytes_max {
            return Err(self.too_large());
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

    /// Notes a link.
    fn link(&mut self, path: PathBuf, target: &[u8]) -> io::Result<()> {
        self.create(path.parent().unwrap_or(Path::new("")))?;
        if target.len() > PATH_BYTES_MAX {
            return Err(refused(&path, "is a link to a name that is too long"));
        }
        self.count_name(target)?;
        let target = Path::new(OsStr::from_bytes(target)).to_owned();
        if self.links.contains_key(&path) {
            return Err(twice(&path));
        }
        self.links.insert(path, target);
        Ok(())
    }

    /// Makes the links, unless one leads out. Returns the path of the folder in which everything is.
    fn finish(self) -> io::Result<PathBuf> {
        let whole = self.only_folder()?.unwrap_or_default();
        let target_of = |path: &Path| self.links.get(&whole.join(path)).map(PathBuf::as_path);
        for (path, target) in &self.links {
            // Where a folder is instead, other links lead elsewhere than it says.
            if self.root.folder_at(path).is_ok() {
                return Err(twice(path));
            }
            let inside = path.strip_prefix(&whole).unwrap_or(path);
            if way_out(inside, target_of).is_some() {
                let why = format!("is a link to {}: replace it with a copy", target.display());
                return Err(refused(path, &why));
            }
        }
        for (path, target) in &self.links {
            let name = path.file_name().unwrap_or_default();
            let parent = self.root.folder_at(path.parent().unwrap_or(Path::new("")));
            parent
                .and_then(|parent| parent.create_link(name, target))
                .map_err(|error| not_made(path, &error))?;
        }
        Ok(whole)
    }

    /// Returns the folder in which everything is, if there is one and nothing beside it.
    fn only_folder(&self) -> io::Result<Option<PathBuf>> {
        let names = self.root.names(2)?;
        let is_beside = |link: &PathBuf| link.components().count() == 1;
        let [only] = &names[..] else { return Ok(None) };
        let is_folder = self.root.kind(only)?.0 == Kind::Folder;
        let is_only = is_folder && !self.links.keys().any(is_beside);
        Ok(is_only.then(|| PathBuf::from(only)))
    }
}

/// A file of which no more than so many bytes are read.
struct Bounded {
    archive: File,
    left: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.archive).take(self.left.get()).read(buffer)?;
        self.left.set(self.left.get() - count as u64);
        Ok(count)
    }
}

impl Seek for Bounded {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.archive.seek(place)
    }
}

/// What extensions of a tar archive say about the next entry.
#[derive(Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
}

impl Extensions {
    /// Reads an entry if it is an extension. Returns whether it is one.
    fn read(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        if !(kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions()) {
            return Ok(false);
        }
        let shown = PathBuf::from(OsString::from_vec(entry.path_bytes().into_owned()));
        if entry.header().entry_size()? > EXTENSION_BYTES_MAX {
            let why = format!("has a name or attributes of more than {EXTENSION_BYTES_MAX} bytes");
            return Err(refused(&shown, &why));
        }
        let mut data = Vec::new();
        entry.read_to_end(&mut data)?;
        if kind.is_pax_local_extensions() {
            for extension in PaxExtensions::new(&data) {
                let extension = extension?;
                match extension.key_bytes() {
                    b"path" => self.name = Some(extension.value_bytes().to_owned()),
                    b"linkpath" => self.target = Some(extension.value_bytes().to_owned()),
                    // Only for sizes that no file may have.
                    b"size" => return Err(too_large(BYTES_MAX, BYTES_MAX)),
                    key if key.starts_with(b"GNU.sparse.") => return Err(sparse(&shown)),
                    _ => {}
                }
            }
            return Ok(true);
        }
        data.truncate(data.iter().position(|&byte| byte == 0).unwrap_or(data.len()));
        *(if kind.is_gnu_longname() { &mut self.name } else { &mut self.target }) = Some(data);
        Ok(true)
    }
}

fn sparse(path: &Path) -> io::Error {
    refused(path, "is a sparse file: pack it without --sparse")
}

fn twice(path: &Path) -> io::Error {
    refused(path, "is there twice")
}

/// Says why a file or a link could not be made.
fn not_made(path: &Path, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => twice(path),
        _ => refused(path, &error.to_string()),
    }
}

/// Returns the first name that is twice in the list of a zip archive, which starts at this byte.
fn twice_in_zip(start: u64, mut archive: impl Read + Seek) -> io::Result<Vec<u8>> {
    archive.seek(SeekFrom::Start(start))?;
    let mut names = BTreeSet::new();
    loop {
        let mut head = [0; 46];
        archive.read_exact(&mut head)?;
        let length = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let mut name = vec![0; usize::from(length(28))];
        archive.read_exact(&mut name)?;
        archive.seek_relative(i64::from(length(30)) + i64::from(length(32)))?;
        if !names.insert(name.clone()) {
            return Ok(name);
        }
    }
}

fn neither(path: &Path) -> io::Error {
    refused(path, "is neither a file, a folder nor a symbolic link")
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(sanitize(&format!("{} in the archive {why}", path.display())))
}

#[cfg(test)]
mod tests;
