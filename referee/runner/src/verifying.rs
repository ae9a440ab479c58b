//! Verifying many transcripts, on all cores.

use crate::parallel::{self, Progress};
use referee_match::transcript::{Report, verify};
use referee_play::destination::is_transcript;
use referee_play::inputs::{read_bytes, transcript_path};
use referee_process::Failure;
use std::path::{Path, PathBuf};

/// What verifying a file gave.
#[derive(Debug)]
pub struct Checked {
    /// The file.
    pub file: PathBuf,
    /// What was found, or why the file can't be read.
    pub result: Result<Report, Problem>,
}

/// Why a file can't be read.
#[derive(Clone, Debug)]
pub struct Problem(pub String);

/// The transcripts that names mean: files as they are, folders with all that lie in them, sorted.
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

/// Verifies the files on `jobs` cores, all unless it is given; results are in the files' order.
pub fn verify_all(
    files: Vec<PathBuf>,
    jobs: Option<usize>,
    progress: Progress<'_>,
) -> Vec<Checked> {
    let results = parallel::map(&files, jobs, progress, |file| check(file));
    files.into_iter().zip(results).map(|(file, result)| Checked { file, result }).collect()
}

fn check(file: &Path) -> Result<Report, Problem> {
    let bytes = read_bytes(&file.to_string_lossy()).map_err(|error| Problem(error.to_string()))?;
    Ok(verify(&bytes))
}
