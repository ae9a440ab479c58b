//! Reading input files: by name, stdin as `-`, the newest transcript as `latest`.

use super::destination::{DEFAULT_FOLDER, latest};
use referee_match::transcript::unpack;
use referee_process::Failure;
use referee_protocol::plain::to_hex;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest transcript that can be read, unpacked, in bytes.
const TRANSCRIPT_BYTES_MAX: usize = 1 << 30;

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
        Failure::operation(format!("{name}: larger than {TRANSCRIPT_BYTES_MAX} bytes"))
    })
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
    let failed = |error: std::io::Error| Failure::operation(format!("{name}: {error}"));
    if name != "-" {
        return std::fs::read(name).map_err(failed);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
