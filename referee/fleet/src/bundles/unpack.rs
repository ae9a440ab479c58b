//! Unpacks bundles from the wire. Whatever a bundle contains, only new regular files below one
//! folder are written, within the limits. Sizes are checked while reading, so that a decompression
//! bomb ends early.

use super::archive::Bounds;
use crate::{BundleRef, FaultCause, WorkerFault};
use flate2::read::GzDecoder;
use nix::errno::Errno;
use referee_play::digest::digest_file;
use referee_process::open_folder::OpenFolder;
use referee_protocol::sanitize::sanitize;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// The number of bytes read at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// The longest name, in bytes with the zero at its end: that of a path.
const LONG_NAME_MAX: u64 = 4096;
/// The permission bit of an executable file.
const EXECUTABLE: u32 = 0o100;

/// Unpacks a bundle into an existing folder that contains none of its files; returns their
/// relative paths in order. After an error some files may be left in the folder. The fault is the
/// disk's if this machine can't write the files, else the bundle's.
pub(super) fn unpack(
    file: &Path,
    bundle: &BundleRef,
    folder: &Path,
    bounds: Bounds,
) -> Result<Vec<PathBuf>, WorkerFault> {
    let failed = |error: io::Error| disk(&file.display().to_string(), &error);
    if bundle.bytes > bounds.packed_bytes() {
        return Err(wrong(format!("more than {} bytes", bounds.packed_bytes())));
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
        let expected = bundle.unpacked_bytes;
        return Err(wrong(format!("its files have {bytes} bytes, not {expected}")));
    }
    Ok(files)
}

/// Extracts a gzipped archive; returns its files and their total size.
fn extract(
    archive: impl Read,
    folder: &Path,
    bounds: Bounds,
) -> Result<(Vec<PathBuf>, u64), WorkerFault> {
    let invalid =
        |error: io::Error| wrong(format!("not a bundle: {}", sanitize(&error.to_string())));
    let root =
        OpenFolder::open(folder).map_err(|error| disk(&folder.display().to_string(), &error))?;
    let mut archive = Archive::new(GzDecoder::new(archive).take(bounds.archive_bytes()));
    let mut files = Vec::new();
    let mut bytes = 0_u64;
    let mut long_name = None;
    // Raw: sparse files and other extensions are rejected.
    for entry in archive.entries().map_err(invalid)?.raw(true) {
        let mut entry = entry.map_err(invalid)?;
        if entry.header().entry_type() == EntryType::GNULongName && long_name.is_none() {
            let mut name = Vec::new();
            (&mut entry).take(LONG_NAME_MAX).read_to_end(&mut name).map_err(invalid)?;
            if name.pop() != Some(0) {
                return Err(wrong("a name is too long or has no end".to_owned()));
            }
            long_name = Some(name);
            continue;
        }
        let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let shown = sanitize(&String::from_utf8_lossy(&name));
        let is_ustar = entry.header().as_ustar().is_some();
        if !is_ustar || entry.header().entry_type() != EntryType::Regular {
            return Err(wrong(format!("{shown} is not a regular file")));
        }
        let place = place(&name)
            .ok_or_else(|| wrong(format!("{shown} is not a path inside the bundle")))?;
        let size = entry.header().entry_size().map_err(invalid)?;
        bytes = bytes.saturating_add(size);
        bounds.check(files.len() + 1, bytes).map_err(|error| wrong(error.to_string()))?;
        let executable = entry.header().mode().map_err(invalid)? & EXECUTABLE != 0;
        let mode = if executable { 0o755 } else { 0o644 };
        let mut file =
            root.create_file(&place, mode).map_err(|error| write_fault(&shown, &error))?;
        fill(&mut file, &mut entry, size, &shown)?;
        files.push(place);
    }
    Ok((files, bytes))
}

/// The bundle is invalid or exceeds the limits.
fn wrong(text: String) -> WorkerFault {
    WorkerFault::new(FaultCause::Bundle, text)
}

/// This machine can't write it.
fn disk(shown: &str, error: &io::Error) -> WorkerFault {
    WorkerFault::new(FaultCause::Disk, format!("{shown}: {error}"))
}

/// Returns the fault for a file that can't be written: the disk's, unless the bundle contains the
/// name twice, or a file where it needs a folder.
fn write_fault(shown: &str, error: &io::Error) -> WorkerFault {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EEXIST | Errno::ENOTDIR | Errno::ELOOP | Errno::ENAMETOOLONG) => {
            wrong(format!("{shown}: {error}"))
        }
        _ => disk(shown, error),
    }
}

/// Returns the path if all its components are normal.
fn place(name: &[u8]) -> Option<PathBuf> {
    let parts = name.split(|&byte| byte == b'/').map(|part| {
        let plain = !part.is_empty() && part != b"." && part != b".." && !part.contains(&0);
        plain.then(|| OsString::from_vec(part.to_vec()))
    });
    parts.collect()
}

/// Writes exactly as many bytes as the header says.
fn fill(file: &mut File, from: &mut impl Read, size: u64, shown: &str) -> Result<(), WorkerFault> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut from = from.take(size);
    while from.limit() > 0 {
        let count = from
            .read(&mut buffer)
            .map_err(|error| wrong(format!("{shown}: {}", sanitize(&error.to_string()))))?;
        if count == 0 {
            return Err(wrong(format!("{shown} is truncated")));
        }
        file.write_all(&buffer[..count]).map_err(|error| write_fault(shown, &error))?;
    }
    Ok(())
}
