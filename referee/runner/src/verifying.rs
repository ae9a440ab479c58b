//! Verifies many transcripts on all cores.

use crate::parallel::{self, Progress};
use referee_match::transcript::{Report, Status, verify};
use referee_play::destination::is_transcript;
use referee_play::input_files::{read_bytes, transcript_path};
use referee_process::Failure;
use referee_protocol::Outcome;
use std::path::{Path, PathBuf};

/// The result of verifying a transcript.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// The transcript.
    pub file: PathBuf,
    /// The result in one word.
    pub status: Status,
    /// The turns that could be replayed.
    pub turns: u64,
    /// The outcome after them.
    pub outcome: Option<Outcome>,
    /// What is wrong with it, or why it can't be read.
    pub detail: String,
}

/// Returns the files among `names`, and all transcripts below the folders among them, sorted.
pub fn find(names: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for name in names {
        let path = transcript_path(name)?;
        if path.is_dir() {
            let before = files.len();
            collect(&path, &mut files)
                .map_err(|error| Failure::operation(format!("{}: {error}", path.display())))?;
            files[before..].sort();
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            collect(&path, files)?;
        } else if kind.is_file() && is_transcript(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Verifies files on `jobs` cores (default: all); returns the results in the files' order.
pub fn verify_all(
    files: &[PathBuf],
    jobs: Option<usize>,
    progress: Progress<'_>,
) -> Vec<CheckedFile> {
    parallel::map(files, jobs, progress, |file| {
        let (status, turns, outcome, detail) = match read_bytes(&file.to_string_lossy()) {
            Ok(bytes) => {
                let Report { status, turns, outcome, detail, .. } = verify(&bytes);
                (status, turns, outcome, detail)
            }
            Err(error) => (Status::Unreadable, 0, None, error.to_string()),
        };
        CheckedFile { file: file.clone(), status, turns, outcome, detail }
    })
}
