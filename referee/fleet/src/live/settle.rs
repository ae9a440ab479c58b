//! Files in the place of others, so that who reads one never sees it change.

use nix::fcntl::OFlag;
use referee_play::replacing::replace;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes that are compared at once.
const PIECE_BYTES: usize = 8 << 10;

/// Makes a file have these bytes: what is missing is appended where there is a beginning of them, so
/// that who follows the file sees its end; else a new one takes its place. Its folder is made where
/// there is none.
pub fn settle(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_longer = path.metadata().is_ok_and(|it| it.len() > bytes.len() as u64);
    if !is_longer && append(path, 0, bytes)? {
        return Ok(());
    }
    replace(path, bytes)
}

/// Appends what a file lacks of these bytes, which stand there in it. Not where it has others in their
/// place, or nothing before them.
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

/// A plain file that is there already, to be read and appended to. Links aren't followed.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).append(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "not a plain file"))
}

/// Whether a file has these bytes there.
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
