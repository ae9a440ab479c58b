//! Unpacks what came from the wire. Whatever a bundle says, nothing is written but new plain files
//! below one folder, and no more than its bounds allow: they are kept while it is read, so that a
//! small file that would become a huge one ends early.

use super::archive::Bounds;
use crate::{BundleRef, FaultCause, WorkerFault};
use flate2::read::GzDecoder;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, fchmod, mkdirat};
use referee_play::digest::digest_file;
use referee_protocol::plain::tame;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
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

/// Unpacks a bundle into a folder that is there and in which none of its files is. The files, in
/// their order, relative to the folder. After an error anything may be left in the folder. The fault
/// is the disk's where this machine can't keep it, else the bundle's.
pub(super) fn unpack(
    file: &Path,
    bundle: &BundleRef,
    folder: &Path,
    bounds: Bounds,
) -> Result<Vec<PathBuf>, WorkerFault> {
    let failed = |error: io::Error| disk(&file.display().to_string(), &error);
    if bundle.bytes > bounds.bytes || bundle.unpacked_bytes > bounds.bytes {
        return Err(wrong(format!("more than {} bytes", bounds.bytes)));
    }
    let length = file.metadata().map_err(failed)?.len();
    if length != bundle.bytes {
        return Err(wrong(format!("it has {length} bytes, not {}", bundle.bytes)));
    }
    let found = digest_file(file).map_err(failed)?;
    if found != bundle.sha256 {
        return Err(wrong(format!("its SHA-256 is {found}")));
    }
    let (files, bytes) = extract(File::open(file).map_err(failed)?, folder, bounds)?;
    if bytes != bundle.unpacked_bytes {
        let told = bundle.unpacked_bytes;
        return Err(wrong(format!("its files have {bytes} bytes, not {told}")));
    }
    Ok(files)
}

/// Extracts a gzipped archive; its files and how many bytes they have.
fn extract(
    archive: impl Read,
    folder: &Path,
    bounds: Bounds,
) -> Result<(Vec<PathBuf>, u64), WorkerFault> {
    let garbled = |error: io::Error| wrong(format!("no bundle: {}", tame(&error.to_string())));
    let root = open_folder(AT_FDCWD, folder.as_os_str())
        .map_err(|errno| disk(&folder.display().to_string(), &errno.into()))?;
    let most = bounds.bytes + bounds.files as u64 * BYTES_A_FILE + BYTES_AT_END;
    let mut archive = Archive::new(GzDecoder::new(archive).take(most));
    let mut files = Vec::new();
    let mut bytes = 0_u64;
    // Raw: neither long names nor sparse files nor anything else that an entry says of the next.
    for entry in archive.entries().map_err(garbled)?.raw(true) {
        let mut entry = entry.map_err(garbled)?;
        let name = entry.path_bytes().into_owned();
        let shown = tame(&String::from_utf8_lossy(&name));
        let is_ustar = entry.header().as_ustar().is_some();
        if !is_ustar || entry.header().entry_type() != EntryType::Regular {
            return Err(wrong(format!("{shown} is no plain file")));
        }
        let place =
            place(&name).ok_or_else(|| wrong(format!("{shown} is no path within the bundle")))?;
        let size = entry.header().entry_size().map_err(garbled)?;
        bytes = bytes.saturating_add(size);
        if bytes > bounds.bytes {
            return Err(wrong(format!("more than {} bytes", bounds.bytes)));
        }
        if files.len() >= bounds.files {
            return Err(wrong(format!("more than {} files", bounds.files)));
        }
        let executable = entry.header().mode().map_err(garbled)? & EXECUTABLE != 0;
        let mut file =
            create(&root, &place, executable).map_err(|error| unwritten(&shown, &error))?;
        fill(&mut file, &mut entry, size, &shown)?;
        files.push(place.into_iter().collect());
    }
    Ok((files, bytes))
}

/// It is not what it should be, or holds what no bundle may hold.
fn wrong(text: String) -> WorkerFault {
    WorkerFault::new(FaultCause::Bundle, text)
}

/// This machine can't keep it.
fn disk(shown: &str, error: &io::Error) -> WorkerFault {
    WorkerFault::new(FaultCause::Disk, format!("{shown}: {error}"))
}

/// A file can't be written: the disk's doing, unless the bundle has two of that name, or a file where
/// it needs a folder.
fn unwritten(shown: &str, error: &io::Error) -> WorkerFault {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EEXIST | Errno::ENOTDIR | Errno::ELOOP | Errno::ENAMETOOLONG) => {
            wrong(format!("{shown}: {error}"))
        }
        _ => disk(shown, error),
    }
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
fn create(root: &OwnedFd, place: &[OsString], executable: bool) -> io::Result<File> {
    let Some((name, above)) = place.split_last() else {
        return Err(Errno::EINVAL.into());
    };
    let mut folder = root.try_clone()?;
    for part in above {
        folder = enter(folder.as_fd(), part)?;
    }
    let flags =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(&folder, name.as_os_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
    // Whatever the umask: agents may have users of their own.
    fchmod(&file, Mode::from_bits_truncate(if executable { 0o755 } else { 0o644 }))?;
    Ok(file.into())
}

/// A folder in another, created if it isn't there.
fn enter(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let made = match mkdirat(at, name, Mode::S_IRWXU) {
        Err(Errno::EEXIST) => false,
        made => made.map(|()| true)?,
    };
    let folder = open_folder(at, name)?;
    if made {
        fchmod(&folder, Mode::from_bits_truncate(0o755))?;
    }
    Ok(folder)
}

fn open_folder(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Writes exactly the bytes that the header has told.
fn fill(file: &mut File, from: &mut impl Read, size: u64, shown: &str) -> Result<(), WorkerFault> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut from = from.take(size);
    while from.limit() > 0 {
        let count = from
            .read(&mut buffer)
            .map_err(|error| wrong(format!("{shown}: {}", tame(&error.to_string()))))?;
        if count == 0 {
            return Err(wrong(format!("{shown} is cut off")));
        }
        file.write_all(&buffer[..count]).map_err(|error| unwritten(shown, &error))?;
    }
    Ok(())
}
