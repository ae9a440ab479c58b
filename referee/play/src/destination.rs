//! Where transcripts go, and which one is the latest.

use super::sink::Sink;
use referee_process::files::named;
use referee_protocol::Header;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder that transcripts go to unless they are sent elsewhere.
pub const DEFAULT_FOLDER: &str = "matches";

/// How the names of transcripts end.
pub const TRANSCRIPT_ENDINGS: &[&str] = &[".jsonl", ".jsonl.gz"];

/// Where the transcripts of a series go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Nowhere,
    /// To stdout; for a single game.
    Stdout,
    /// Into this file, which is overwritten only with `force`; for a single game.
    File {
        /// The file.
        path: PathBuf,
        /// Overwrite it.
        force: bool,
    },
    /// Into this folder, one file a game, under a name that is free.
    Folder(PathBuf),
}

impl Destination {
    /// Where transcripts are and will be; also those that were sent nowhere else before.
    pub fn places(&self) -> Vec<PathBuf> {
        let own = match self {
            Self::Nowhere | Self::Stdout => None,
            Self::File { path, .. } | Self::Folder(path) => Some(path.clone()),
        };
        own.into_iter().chain([PathBuf::from(DEFAULT_FOLDER)]).collect()
    }

    /// The same for a single game, with the file that its transcript goes to already there, so that
    /// it can be watched from its beginning.
    pub fn reserved(self, header: &Header) -> io::Result<Self> {
        let created = self.create(header)?;
        Ok(created.map_or(self, |(_, path)| Self::File { path, force: true }))
    }

    /// Opens the transcript of a game, and tells where it is.
    pub fn open(&self, header: &Header) -> io::Result<(Sink, Option<PathBuf>)> {
        Ok(match self.create(header)? {
            Some((file, path)) => (Sink::file(file, &path), Some(path)),
            None if *self == Self::Stdout => (Sink::stdout(), None),
            None => (Sink::nowhere(), None),
        })
    }

    /// The file for a game's transcript, where it goes to one.
    fn create(&self, header: &Header) -> io::Result<Option<(File, PathBuf)>> {
        match self {
            Self::Nowhere | Self::Stdout => Ok(None),
            Self::File { path, force } => {
                let file = create(path, *force).map_err(|error| named(path, &error))?;
                Ok(Some((file, path.clone())))
            }
            Self::Folder(folder) => {
                std::fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
                create_in(folder, header).map(Some)
            }
        }
    }
}

/// A new file; with `force` also in the place of one that is there.
pub fn create(path: &Path, force: bool) -> io::Result<File> {
    if force {
        return File::create(path);
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A new file named after the game and the match: `-2`, `-3` for the same match played again.
fn create_in(folder: &Path, header: &Header) -> io::Result<(File, PathBuf)> {
    let stem = format!("{}-{}", header.game, header.match_id);
    let numbered = (2..).map(|number| format!("{stem}-{number}.jsonl"));
    for name in std::iter::once(format!("{stem}.jsonl")).chain(numbered) {
        let path = folder.join(name);
        match create(&path, false) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(named(&path, &error)),
        }
    }
    unreachable!("the numbers don't end")
}

/// The newest transcript of the default folder.
pub fn latest() -> Option<PathBuf> {
    let entries = Path::new(DEFAULT_FOLDER).read_dir().ok()?;
    let transcripts =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_transcript(path));
    let aged = transcripts.filter_map(|path| {
        let time: SystemTime = path.metadata().ok()?.modified().ok()?;
        Some((time, path))
    });
    aged.max().map(|(_, path)| path)
}

/// Whether a file is named like a transcript.
pub fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    TRANSCRIPT_ENDINGS.iter().any(|ending| name.ends_with(ending))
}
