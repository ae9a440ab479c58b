//! Writes bundles: gzipped tar files that contain only regular files. The same files give the same
//! bytes.

use crate::BundleRef;
use flate2::{Compression, GzBuilder};
use referee_play::digest::digest_file;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The limits of a bundle, packed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The total size of its files, and of the bundle itself, in bytes.
    pub(super) bytes: u64,
    /// The number of files.
    pub(super) files: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 256 << 20, files: 20_000 }
    }
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileEntry {
    /// Its path in the bundle: normal components only.
    pub(super) archive_path: PathBuf,
    /// Where it is read; not a link.
    pub(super) source: PathBuf,
}

/// Writes a bundle of these files, in this order, to a new file. Errors name the source; if the
/// files exceed a limit, they name it, and their kind is [`io::ErrorKind::FileTooLarge`].
pub(super) fn write(entries: &[FileEntry], file: &Path, bounds: Bounds) -> io::Result<BundleRef> {
    let out = BufWriter::new(File::create_new(file)?);
    let mut archive = Builder::new(GzBuilder::new().write(out, Compression::default()));
    let mut room = bounds.bytes;
    if entries.len() > bounds.files {
        return Err(too_large(format!("more than {} files", bounds.files)));
    }
    for entry in entries {
        let added = add(&mut archive, entry, room).map_err(|error| {
            if error.kind() == io::ErrorKind::FileTooLarge {
                return too_large(format!("more than {} MiB", bounds.bytes >> 20));
            }
            let source = entry.source.display();
            io::Error::new(error.kind(), format!("{source}: {error}"))
        })?;
        room -= added;
    }
    archive.into_inner()?.finish()?.flush()?;
    let (sha256, bytes) = (digest_file(file)?, file.metadata()?.len());
    Ok(BundleRef { sha256, bytes, unpacked_bytes: bounds.bytes - room })
}

fn too_large(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Adds a file: its bytes, and whether it is executable.
fn add<W: Write>(archive: &mut Builder<W>, entry: &FileEntry, room: u64) -> io::Result<u64> {
    let source =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&entry.source)?;
    let about = source.metadata()?;
    let length = about.len();
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if length > room {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(&entry.archive_path)?;
    header.set_mode(if about.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 });
    header.set_size(length);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    let mut bytes = (&source).take(length);
    archive.append(&header, &mut bytes)?;
    if bytes.limit() > 0 || (&source).read(&mut [0])? != 0 {
        return Err(io::Error::other("it changed while it was packed"));
    }
    Ok(length)
}
