//! Files in the place of others, so that who reads one never sees it change.

use nix::fcntl::OFlag;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes that are compared at once.
const PIECE_BYTES: usize = 8 << 10;

/// Makes a file have these bytes: what is missing is appended where there is a beginning of them, so
/// that who follows the file sees its end; else a new one takes its place. Its folder is made where
/// there is none.
pub fn settle(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match open(path) {
        Ok(mut file) => {
            let length = file.metadata()?.len();
            let known = usize::try_from(length).unwrap_or(usize::MAX);
            match bytes.get(..known) {
                Some(beginning) if is_at(&mut file, 0, beginning)? => {
                    file.write_all(&bytes[known..])
                }
                _ => replace(path, bytes),
            }
        }
        Err(_) => replace(path, bytes),
    }
}

/// A plain file that is there already, to be read and appended to. Links aren't followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).append(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "not a plain file"))
}

/// Whether a file has these bytes there.
pub(super) fn is_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
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

/// A new file in the place of whatever is there: who reads that one reads it on.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let coming = coming(path);
    // What a run left that was killed meanwhile.
    std::fs::remove_file(&coming).ok();
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&coming)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&coming, path));
    if written.is_err() {
        std::fs::remove_file(&coming).ok();
    }
    written
}

/// A name beside it that no list of transcripts has.
fn coming(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new"))
}
