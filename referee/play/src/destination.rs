//! Where transcripts are written, and which one is the latest.

use super::sink::Sink;
use referee_process::files::named;
use referee_process::open_folder::OpenFolder;
use referee_protocol::Header;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The default folder for transcripts.
pub const DEFAULT_FOLDER: &str = "matches";

/// The extensions of transcripts.
pub const TRANSCRIPT_ENDINGS: &[&str] = &[".jsonl", ".jsonl.gz"];

/// Where the transcripts of a series are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Nowhere,
    /// To stdout; for a single game.
    Stdout,
    /// To this file, for a single game.
    File {
        /// The file.
        path: PathBuf,
        /// Whether to overwrite it.
        force: bool,
    },
    /// To this folder, one new file per game.
    Folder(PathBuf),
}

impl Destination {
    /// Returns where transcripts are: here, and in the default folder.
    pub fn places(&self) -> Vec<PathBuf> {
        let own = match self {
            Self::Nowhere | Self::Stdout => None,
            Self::File { path, .. } | Self::Folder(path) => Some(path.clone()),
        };
        own.into_iter().chain([PathBuf::from(DEFAULT_FOLDER)]).collect()
    }

    /// Creates the file for a single game, so that it can be watched from the start.
    pub fn reserved(self, header: &Header) -> io::Result<Self> {
        let created = self.create(header)?;
        Ok(created.map_or(self, |(_, path)| Self::File { path, force: true }))
    }

    /// Opens the transcript of a game and returns its path.
    pub fn open(&self, header: &Header) -> io::Result<(Sink, Option<PathBuf>)> {
        Ok(match self.create(header)? {
            Some((file, path)) => (Sink::file(file, &path), Some(path)),
            None if *self == Self::Stdout => (Sink::stream(), None),
            None => (Sink::nowhere(), None),
        })
    }

    /// Creates the file for a game's transcript, if it is written to one.
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

/// Creates a file; overwrites one only with `force`.
pub fn create(path: &Path, force: bool) -> io::Result<File> {
    let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
    // `name/` is the name of a folder.
    let is_file = !path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let name = name.filter(|_| is_file).ok_or(ErrorKind::IsADirectory)?;
    match OpenFolder::open(folder)?.create_new(name, 0o666) {
        Err(error) if force && error.kind() == ErrorKind::AlreadyExists => File::create(path),
        created => created,
    }
}

/// Creates a file named after the game and the match, with `-2`, `-3` if the match is played again.
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

/// Returns the newest transcript of the default folder.
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

/// Whether a file has the name of a transcript.
pub fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    TRANSCRIPT_ENDINGS.iter().any(|ending| name.ends_with(ending))
}
