//! Paths and programs by name, with errors that name the file.

use crate::{Cause, Failure};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Returns the running program's own file; on Linux even if it has been replaced or removed since the
/// start.
#[cfg(not(portable))]
pub fn own_program() -> &'static Path {
    Path::new("/proc/self/exe")
}

/// Returns the running program's own file.
#[cfg(portable)]
pub fn own_program() -> &'static Path {
    static FILE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    FILE.get_or_init(|| std::env::current_exe().unwrap_or_else(|_| "referee".into()))
}

/// Decodes a path in which white space and backslashes are written as `\040`, three octal digits.
#[cfg(not(portable))]
pub(crate) fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let octal = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let escaped = octal.filter(|_| first == b'\\');
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into()
}

/// Prefixes an error with the file's path.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Reads a file of at most `bytes_max` bytes; a larger one, also one with holes, is an error.
pub fn read_at_most(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, bytes_max)
}

/// Reads at most `bytes_max` bytes to the end; more is an error.
pub fn read_all(reader: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes_max));
    }
    Ok(bytes)
}

/// Reads a regular file like [`read_at_most`]: opening a FIFO would block, and a device has no end.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_all(open_regular(path, bytes_max)?, bytes_max)
}

/// Opens a regular file of at most `bytes_max` bytes. It is looked at after it has been opened, so that it can't be
/// exchanged in between; opening a FIFO would wait for its other end without `O_NONBLOCK`.
pub fn open_regular(path: &Path, bytes_max: u64) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(not_regular());
    }
    if data.len() > bytes_max { Err(too_large(bytes_max)) } else { Ok(file) }
}

/// The error for what is no regular file.
pub fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}

/// The error for a file that is larger than this.
pub fn too_large(bytes_max: u64) -> io::Error {
    let size = match bytes_max {
        0..=0xf_ffff => format!("{} kB", bytes_max >> 10),
        _ => format!("{} MB", bytes_max >> 20),
    };
    io::Error::new(ErrorKind::FileTooLarge, format!("larger than {size}"))
}

/// Whether the disk, or the user's part of it, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Writes everything in a folder's file system to the disk, names and bytes.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    let folder = File::open(folder)?;
    #[cfg(target_os = "linux")]
    nix::unistd::syncfs(&folder)?;
    #[cfg(not(target_os = "linux"))]
    nix::unistd::sync();
    folder.sync_all()
}

/// Makes a path absolute and canonical; the empty path is the working directory.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().map_err(|error| {
        Failure::operation(format!("{}: {error}", path.display())).because_of(&error)
    })
}

/// Reads up to `bytes` bytes from the start of a file; `None` unless it is a regular file (opening
/// a FIFO would block).
pub(crate) fn head(file: &Path, bytes: u64) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    open_regular(file, u64::MAX).ok()?.take(bytes).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Finds a program in PATH.
pub(crate) fn in_path(word: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file())
}

/// Finds a program's file: in `folder`, if the word names a file there or is a path, otherwise in
/// PATH.
pub fn program(word: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let local = folder.join(word);
    if local.is_file() {
        return Ok(local);
    }
    let missing = |text: String| Failure::usage(text).because(Cause::Missing);
    if word.contains('/') {
        return Err(missing(format!("no program `{word}` in {}", folder.display())));
    }
    in_path(word)
        .ok_or_else(|| missing(format!("no program `{word}` in {} or in PATH", folder.display())))
}

/// What each file and folder takes at least, in bytes.
const ENTRY_BYTES: u64 = 4096;

/// Returns the room that everything in a folder takes: the size of the files, and 4 KiB for each of them and
/// each folder. Links are not followed.
pub fn size_of_files(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { size_of_files(&entry.path())? } else { about.len() };
        bytes += ENTRY_BYTES;
    }
    Ok(bytes)
}
