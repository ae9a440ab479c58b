//! Writes bundles: gzipped tar files that contain only regular files. The same files give the same
//! bytes.

use crate::BundleRef;
use flate2::{Compression, GzBuilder};
use referee_play::digest::digest_file;
use std::fs::{File, Metadata, OpenOptions};
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

impl Bounds {
    /// Checks the number of files and their total size. The kind of the error is [`io::ErrorKind::FileTooLarge`].
    pub(super) fn check(self, files: usize, bytes: u64) -> io::Result<()> {
        if files > self.files {
            return Err(too_large(format!("more than {} files", self.files)));
        }
        if bytes > self.bytes {
            return Err(too_large(format!("more than {} MiB", self.bytes >> 20)));
        }
        Ok(())
    }

    /// The most bytes of an archive of such files: with the header of each file, the rest of its last block and an
    /// entry for a long name.
    pub(super) fn archive_bytes(self) -> u64 {
        self.bytes + self.files as u64 * BYTES_A_FILE + BYTES_AT_END
    }

    /// The most bytes of a bundle: of an archive that can't be compressed.
    pub(super) fn packed_bytes(self) -> u64 {
        self.archive_bytes() + self.archive_bytes() / 1000
    }
}

/// The archive's overhead per file.
const BYTES_A_FILE: u64 = 6 * 1024;
/// The overhead at the end of the archive.
const BYTES_AT_END: u64 = 64 * 1024;

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileEntry {
    /// Its path in the bundle: normal components only.
    pub(super) archive_path: PathBuf,
    /// Where it is read; not a link.
    pub(super) source: PathBuf,
}

/// Writes a bundle of these files, in this order, to a new file. Errors name the source, or the limit that the files
/// exceed; then their kind is [`io::ErrorKind::FileTooLarge`].
pub(super) fn write(entries: &[FileEntry], file: &Path, bounds: Bounds) -> io::Result<BundleRef> {
    let out = BufWriter::new(File::create_new(file)?);
    let mut archive = Builder::new(GzBuilder::new().write(out, Compression::fast()));
    let mut unpacked_bytes = 0;
    for entry in entries {
        let source = open(&entry.source);
        let length = source.as_ref().map_or(0, |(_, about)| about.len());
        bounds.check(entries.len(), unpacked_bytes + length)?;
        source.and_then(|source| add(&mut archive, entry, source)).map_err(|error| {
            let source = entry.source.display();
            io::Error::new(error.kind(), format!("{source}: {error}"))
        })?;
        unpacked_bytes += length;
    }
    archive.into_inner()?.finish()?.flush()?;
    let (sha256, bytes) = (digest_file(file)?, file.metadata()?.len());
    Ok(BundleRef { sha256, bytes, unpacked_bytes })
}

fn too_large(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Opens a regular file.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let source = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    let about = source.metadata()?;
    if about.is_file() { Ok((source, about)) } else { Err(io::Error::other("not a regular file")) }
}

/// Adds a file: its bytes, and whether it is executable. A long name is an entry of its own.
fn add<W: Write>(
    archive: &mut Builder<W>,
    entry: &FileEntry,
    (source, about): (File, Metadata),
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(if about.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 });
    header.set_size(about.len());
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    let mut bytes = (&source).take(about.len());
    archive.append_data(&mut header, &entry.archive_path, &mut bytes)?;
    if bytes.limit() > 0 || (&source).read(&mut [0])? != 0 {
        return Err(io::Error::other("it changed while it was packed"));
    }
    Ok(())
}
