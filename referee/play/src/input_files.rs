//! Reading input files: by name, stdin as `-`, the newest transcript as `latest`.

use super::destination::{DEFAULT_FOLDER, latest};
use referee_match::transcript::{TRANSCRIPT_BYTES_MAX, WalkError, unpack};
use referee_process::Failure;
use referee_process::files::{open_regular, read_all};
use referee_protocol::encode::to_hex;
use referee_protocol::sanitize::sanitize;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The largest input, in bytes: a transcript's.
const INPUT_BYTES_MAX: u64 = TRANSCRIPT_BYTES_MAX as u64;

/// Reads a text file or stdin. Invalid UTF-8 is replaced, so that an error is shown in its line.
pub fn read_text(name: &str) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&read_bytes(name)?).into_owned())
}

/// Reads a game record like [`read_text`], with the SHA-256 of its bytes, in hex.
pub fn read_record(name: &str) -> Result<(String, String), Failure> {
    let bytes = read_bytes(name)?;
    let digest = to_hex(&Sha256::digest(&bytes));
    Ok((String::from_utf8_lossy(&bytes).into_owned(), digest))
}

/// Reads a transcript, unpacked.
pub fn read_transcript(name: &str) -> Result<Vec<u8>, Failure> {
    let bytes = read_bytes(&transcript_path(name)?.to_string_lossy())
        .map_err(|failure| failure.help("`latest` is the newest transcript in ./matches"))?;
    unpack(&bytes, TRANSCRIPT_BYTES_MAX).map(std::borrow::Cow::into_owned).ok_or_else(|| {
        Failure::operation(format!(
            "{name}: larger than {TRANSCRIPT_BYTES_MAX} bytes unpacked, the limit of a transcript"
        ))
    })
}

/// Returns the failure of a transcript that breaks its own rules.
pub fn unreadable(file: &str, error: &WalkError) -> Failure {
    Failure::operation(format!("{file}: {}", sanitize(&error.to_string())))
        .help("`referee verify` explains it")
}

/// Returns the path for a transcript's name.
pub fn transcript_path(name: &str) -> Result<PathBuf, Failure> {
    if name != "latest" || Path::new(name).exists() {
        return Ok(name.into());
    }
    latest().ok_or_else(|| {
        Failure::operation(format!("there is no transcript in ./{DEFAULT_FOLDER}"))
            .help("`referee play` writes transcripts there; or name a file")
    })
}

/// Reads a file or stdin.
pub fn read_bytes(name: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure::operation(format!("{name}: {error}"));
    read_all(open(name).map_err(failed)?, INPUT_BYTES_MAX).map_err(failed)
}

/// Opens a file or stdin.
pub fn open(name: &str) -> io::Result<Box<dyn BufRead>> {
    if name == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    // A shell's `<(command)` is a pipe with a writer. Any other may never have one, and most devices have no end.
    let is_own = ["/dev/fd/", "/proc/self/fd/"].iter().any(|place| name.starts_with(place));
    let ends = is_own || ["/dev/stdin", "/dev/null"].contains(&name);
    let path = Path::new(name);
    let file = if ends { File::open(path)? } else { open_regular(path, u64::MAX)? };
    Ok(Box::new(BufReader::new(file)))
}
