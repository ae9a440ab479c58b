//! Replaces or extends files, so that a reader of the old file never sees it change.

use nix::fcntl::OFlag;
use referee_play::replace_file::replace;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The number of bytes compared at once.
const PIECE_BYTES: usize = 8 << 10;

/// Gives a file these contents: appends if the file is a prefix of them, so that readers can
/// follow it, else replaces it. Creates its folder if needed.
pub fn write_or_append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_longer = path.metadata().is_ok_and(|it| it.len() > bytes.len() as u64);
    if !is_longer && append(path, 0, bytes)? {
        return Ok(());
    }
    replace(path, bytes)
}

/// Appends those of these bytes that a file does not have yet; `offset` is their position. Returns
/// false if the file has different bytes there, or ends before them.
pub(super) fn append(path: &Path, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    let Ok(mut file) = open(path) else { return Ok(false) };
    let Some(there) = file.metadata()?.len().checked_sub(offset) else { return Ok(false) };
    let there = usize::try_from(there).unwrap_or(usize::MAX).min(bytes.len());
    if !is_at(&mut file, offset, &bytes[..there])? {
        return Ok(false);
    }
    file.write_all(&bytes[there..])?;
    Ok(true)
}

/// Opens an existing regular file for reading and appending, without following links.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).append(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "not a plain file"))
}

/// Returns whether a file has these bytes at this position.
fn is_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(offset))?;
    let mut piece = [0; PIECE_BYTES];
    for expected in bytes.chunks(PIECE_BYTES) {
        let piece = &mut piece[..expected.len()];
        match file.read_exact(piece) {
            Ok(()) if piece == expected => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
