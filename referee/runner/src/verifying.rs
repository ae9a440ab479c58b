//! Verifies many transcripts on all cores.

use crate::parallel::{self, Progress};
use referee_games::Games;
use referee_match::transcript::{Report, Status, verify_from};
use referee_play::destination::is_transcript;
use referee_play::input_files::{open, transcript_path};
use referee_process::Failure;
use referee_protocol::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A file, as `verify --json` prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "VerifyReport")]
pub struct CheckedFile {
    /// The file.
    pub file: String,
    /// `ok`, `torn`, `tampered`, `disagrees`, `unreadable`, `rules_not_available`, `other_rules` or `rules_failed`.
    #[schemars(with = "String")]
    pub status: Status,
    /// The number of turns replayed by the rules.
    pub turns: u64,
    /// The outcome by the rules; null if the game is not over.
    pub outcome: Option<Outcome>,
    /// Where and how the file differs, as text.
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
        } else if path.exists() || name == "-" {
            files.push(path);
        } else {
            return Err(Failure::operation(format!("{name}: no such file"))
                .help("name a transcript, a folder of transcripts, or a contest's folder"));
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

/// How many files are verified before their results are passed on.
pub(super) const BATCH_FILES: usize = 2000;

/// Verifies files on `jobs` cores (default: all), and passes each result to `take`, in the files' order,
/// until it fails.
pub fn verify_all<E>(
    files: &[PathBuf],
    games: &Games,
    jobs: Option<usize>,
    progress: Progress<'_>,
    mut take: impl FnMut(CheckedFile) -> Result<(), E>,
) -> Result<(), E> {
    for (batch, begin) in files.chunks(BATCH_FILES).zip((0..).step_by(BATCH_FILES)) {
        let progress = |done: usize, _: usize| progress(begin + done, files.len());
        parallel::map(batch, jobs, &progress, |file| verify_file(file, games))
            .into_iter()
            .try_for_each(&mut take)?;
    }
    Ok(())
}

fn verify_file(file: &Path, games: &Games) -> CheckedFile {
    let verified = open(&file.to_string_lossy()).and_then(|reader| verify_from(reader, games));
    let (status, turns, outcome, detail) = match verified {
        Ok(Report { status, turns, outcome, detail, .. }) => (status, turns, outcome, detail),
        Err(error) => (Status::Unreadable, 0, None, format!("{}: {error}", file.display())),
    };
    let file = file.display().to_string();
    CheckedFile { file, status, turns, outcome, detail }
}
