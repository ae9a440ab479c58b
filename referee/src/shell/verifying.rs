//! Verifying many transcripts, on all cores, with a progress bar.

use super::console::is_in_front;
use super::destination::is_transcript;
use super::inputs::{read_bytes, transcript_path};
use crate::failure::Failure;
use crate::transcript::{Report, verify};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::io::stderr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often a spinner turns.
const SPIN: Duration = Duration::from_millis(120);
/// Work that takes no longer has no spinner.
const SOON: Duration = Duration::from_secs(1);

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
    progress: bool,
) -> Result<Vec<Checked>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = jobs.unwrap_or(cores).clamp(1, files.len().max(1));
    let bar = progress_bar(files.len(), progress);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(files.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(file) = files.get(index) else { return };
                    let result = check(file);
                    bar.inc(1);
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut results =
        results.into_inner().map_err(|_| Failure::machine("a verifying thread was lost"))?;
    // In the order of the files, whichever was done first.
    results.sort_by_key(|(index, _)| *index);
    let results = results.into_iter().map(|(_, result)| result);
    Ok(files.into_iter().zip(results).map(|(file, result)| Checked { file, result }).collect())
}

fn check(file: &Path) -> Result<Report, Problem> {
    let bytes = read_bytes(&file.to_string_lossy()).map_err(|error| Problem(error.to_string()))?;
    Ok(verify(&bytes))
}

/// Shown only where it is worth it: on a terminal, and for more than a moment's work.
pub fn progress_bar(count: usize, wanted: bool) -> ProgressBar {
    if !wanted || count < 2 {
        return ProgressBar::hidden();
    }
    let style = style("{bar:20} {pos}/{len}  {rate}  {eta} left  {wide_msg}");
    ProgressBar::new(count as u64).with_style(style)
}

/// For games that end when enough is known: how many are left can't be told.
pub fn games_counter(wanted: bool) -> ProgressBar {
    if !wanted {
        return ProgressBar::hidden();
    }
    ProgressBar::new(u64::MAX).with_style(style("{pos} games  {rate}  {wide_msg}"))
}

/// For work that has no end of its own: one line that says what goes on, where stderr is a terminal.
pub fn status_line(wanted: bool) -> ProgressBar {
    // Behind a shell's prompt it would write over what is typed there.
    if !wanted || !is_in_front(stderr()) {
        return ProgressBar::hidden();
    }
    let line = ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}"));
    line.enable_steady_tick(SPIN);
    line
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // There is nobody to tell of a text that takes no text.
            let _ = write!(out, "{:.1}/s", state.per_sec());
        })
}

/// For work whose length isn't known, such as a large fit. It shows itself only if that takes long,
/// and where stderr is a terminal.
pub fn spinner(what: &str, wanted: bool) -> ProgressBar {
    if !wanted {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    let shown = spinner.clone();
    std::thread::spawn(move || {
        std::thread::sleep(SOON);
        if !shown.is_finished() {
            shown.enable_steady_tick(SPIN);
        }
    });
    spinner
}
