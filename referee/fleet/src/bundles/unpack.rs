//! Unpacks what came from the wire. Whatever a bundle says, nothing is written but new plain files
//! below one folder, and no more than its bounds allow: they are kept while it is read, so that a
//! small file that would become a huge one ends early.

use super::archive::{Bounds, check};
use crate::{BundleRef, FaultCause, WorkerFault};
use flate2::read::GzDecoder;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, fchmod, mkdirat};
use referee_protocol::plain::tame;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// What the form needs of the archive beside the bytes of a file: its header, and what fills up its
/// last block.
const BYTES_A_FILE: u64 = 1024;
/// What is read of the archive beside all files: its end.
const BYTES_AT_END: u64 = 64 * 1024;
/// How much is read at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// Who may execute a file in whose header this bit is.
const EXECUTABLE: u32 = 0o100;

/// Why a bundle could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    /// It is not what it should be, or holds what no bundle may hold.
    #[error("{0}")]
    Bundle(String),
    /// This machine can't keep it.
    #[error("{0}")]
    Disk(String),
}

/// Unpacks a bundle into a folder that is there and in which none of its files is. The files, in
/// their order, relative to the folder. After an error anything may be left in the folder.
pub(super) fn unpack(
    file: &Path,
    bundle: &BundleRef,
    folder: &Path,
    bounds: Bounds,
) -> Result<Vec<PathBuf>, UnpackError> {
    let disk = |error: io::Error| UnpackError::Disk(format!("{}: {error}", file.display()));
    if bundle.bytes > bounds.bytes || bundle.unpacked_bytes > bounds.bytes {
        return Err(UnpackError::Bundle(format!("more than {} bytes", bounds.bytes)));
    }
    let mut file = File::open(file).map_err(disk)?;
    check(&mut file, bundle).map_err(disk)?.map_err(UnpackError::Bundle)?;
    file.rewind().map_err(disk)?;
    let (files, bytes) = extract(file, folder, bounds)?;
    if bytes != bundle.unpacked_bytes {
        let told = bundle.unpacked_bytes;
        return Err(UnpackError::Bundle(format!("its files have {bytes} bytes, not {told}")));
    }
    Ok(files)
}

/// Extracts a gzipped archive; its files and how many bytes they have.
fn extract(
    archive: impl Read,
    folder: &Path,
    bounds: Bounds,
) -> Result<(Vec<PathBuf>, u64), UnpackError> {
    let wrong =
        |error: io::Error| UnpackError::Bundle(format!("no bundle: {}", tame_error(&error)));
    let root = open_folder(AT_FDCWD, folder.as_os_str())
        .map_err(|errno| UnpackError::Disk(format!("{}: {errno}", folder.display())))?;
    let most = bounds.bytes + bounds.files as u64 * BYTES_A_FILE + BYTES_AT_END;
    let mut archive = Archive::new(GzDecoder::new(archive).take(most));
    let mut files = Vec::new();
    let mut bytes = 0;
    // Raw: neither long names nor sparse files nor anything else that an entry says of the next.
    for entry in archive.entries().map_err(wrong)?.raw(true) {
        let mut entry = entry.map_err(wrong)?;
        let name = entry.path_bytes().into_owned();
        let shown = tame(&String::from_utf8_lossy(&name));
        let is_ustar = entry.header().as_ustar().is_some();
        if !is_ustar || entry.header().entry_type() != EntryType::Regular {
            return Err(UnpackError::Bundle(format!("{shown} is no plain file")));
        }
        let place = place(&name)
            .ok_or_else(|| UnpackError::Bundle(format!("{shown} is no path within the bundle")))?;
        let size = entry.header().entry_size().map_err(wrong)?;
        bytes = sum(bytes, size, bounds)?;
        if files.len() >= bounds.files {
            return Err(UnpackError::Bundle(format!("more than {} files", bounds.files)));
        }
        let executable = entry.header().mode().map_err(wrong)? & EXECUTABLE != 0;
        let mut file = create(root.as_fd(), &place, executable)
            .map_err(|error| UnpackError::of(&shown, &error))?;
        fill(&mut file, &mut entry, size, &shown)?;
        files.push(place.into_iter().collect());
    }
    Ok((files, bytes))
}

impl UnpackError {
    /// What is reported of it, where the bundle has this name.
    pub(super) fn fault(&self, bundle: &str) -> WorkerFault {
        match self {
            Self::Bundle(text) => WorkerFault::new(FaultCause::Bundle, format!("{bundle}: {text}")),
            Self::Disk(text) => WorkerFault::new(FaultCause::Disk, text),
        }
    }

    /// What came of writing a file: the disk's doing, unless the bundle has two of that name, or a
    /// file where it needs a folder.
    fn of(shown: &str, error: &io::Error) -> Self {
        let text = format!("{shown}: {error}");
        let errno = error.raw_os_error().map(Errno::from_raw);
        match errno {
            Some(Errno::EEXIST | Errno::ENOTDIR | Errno::ELOOP | Errno::ENAMETOOLONG) => {
                Self::Bundle(text)
            }
            _ => Self::Disk(text),
        }
    }
}

/// The bytes of all files so far, with one more, if they may be so many.
fn sum(bytes: u64, size: u64, bounds: Bounds) -> Result<u64, UnpackError> {
    bytes
        .checked_add(size)
        .filter(|all| *all <= bounds.bytes)
        .ok_or_else(|| UnpackError::Bundle(format!("more than {} bytes", bounds.bytes)))
}

/// The components of a path, if they are all normal ones.
fn place(name: &[u8]) -> Option<Vec<OsString>> {
    let parts = name.split(|&byte| byte == b'/').map(|part| {
        let plain = !part.is_empty() && part != b"." && part != b".." && !part.contains(&0);
        plain.then(|| OsString::from_vec(part.to_vec()))
    });
    parts.collect()
}

/// Creates a file, and the folders above it that aren't there yet. No link is followed.
fn create(root: BorrowedFd<'_>, place: &[OsString], executable: bool) -> io::Result<File> {
    let Some((name, above)) = place.split_last() else {
        return Err(Errno::EINVAL.into());
    };
    let mut folder: Option<OwnedFd> = None;
    for part in above {
        let at = folder.as_ref().map_or(root, AsFd::as_fd);
        folder = Some(enter(at, part)?);
    }
    let at = folder.as_ref().map_or(root, AsFd::as_fd);
    let flags =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(at, name.as_os_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
    // Whatever the umask: agents may have users of their own.
    fchmod(&file, Mode::from_bits_truncate(if executable { 0o755 } else { 0o644 }))?;
    Ok(file.into())
}

/// A folder in another, created if it isn't there.
fn enter(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    match mkdirat(at, name, Mode::S_IRWXU) {
        Ok(()) => {
            let folder = open_folder(at, name)?;
            fchmod(&folder, Mode::from_bits_truncate(0o755))?;
            Ok(folder)
        }
        Err(Errno::EEXIST) => open_folder(at, name),
        Err(errno) => Err(errno),
    }
}

fn open_folder(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Writes exactly the bytes that the header has told.
fn fill(file: &mut File, from: &mut impl Read, size: u64, shown: &str) -> Result<(), UnpackError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut left = size;
    while left > 0 {
        let count = from
            .read(&mut buffer)
            .map_err(|error| UnpackError::Bundle(format!("{shown}: {}", tame_error(&error))))?;
        if count == 0 || count as u64 > left {
            return Err(UnpackError::Bundle(format!("{shown} is cut off")));
        }
        file.write_all(&buffer[..count]).map_err(|error| UnpackError::of(shown, &error))?;
        left -= count as u64;
    }
    Ok(())
}

/// What a library says of bytes from the wire, in which these may be.
fn tame_error(error: &io::Error) -> String {
    tame(&error.to_string())
}
