//! A bundle as bytes: a gzipped tar file of plain files and nothing else, the same for the same
//! files.

use crate::BundleRef;
use flate2::{Compression, GzBuilder};
use referee_play::digest::digest_file;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// How much a bundle may hold, packed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Bytes of its files together; its own bytes aren't more either.
    pub(super) bytes: u64,
    /// How many files.
    pub(super) files: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 256 << 20, files: 20_000 }
    }
}

/// A file that travels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    /// Where it stands in the bundle: normal components only.
    pub(super) place: PathBuf,
    /// Where it is read; no link.
    pub(super) source: PathBuf,
}

/// Writes a bundle of these files, in their order, into a new file. Errors name the source; where
/// the files are more than the bounds allow, their kind is [`io::ErrorKind::FileTooLarge`].
pub(super) fn write(pieces: &[Piece], file: &Path, bounds: Bounds) -> io::Result<BundleRef> {
    let out = BufWriter::new(File::create_new(file)?);
    let mut archive = Builder::new(GzBuilder::new().write(out, Compression::default()));
    let mut room = bounds.bytes;
    if pieces.len() > bounds.files {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    for piece in pieces {
        let added = add(&mut archive, piece, room).map_err(|error| {
            let source = piece.source.display();
            io::Error::new(error.kind(), format!("{source}: {error}"))
        })?;
        room -= added;
    }
    archive.into_inner()?.finish()?.flush()?;
    let (sha256, bytes) = (digest_file(file)?, file.metadata()?.len());
    Ok(BundleRef { sha256, bytes, unpacked_bytes: bounds.bytes - room })
}

/// Adds a file, of which nothing is kept but its bytes and whether it can be executed.
fn add<W: Write>(archive: &mut Builder<W>, piece: &Piece, room: u64) -> io::Result<u64> {
    let source =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&piece.source)?;
    let about = source.metadata()?;
    let length = about.len();
    if !about.is_file() {
        return Err(io::Error::other("no plain file"));
    }
    if length > room {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too much for one bundle"));
    }
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(&piece.place)?;
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
