//! The served folder: finds files by their names. No file outside it is ever opened, not by a name with
//! `..` and not through a link. Inside, nothing is opened that agents or their authors may have put there.

use super::errors::{ApiError, ApiResult};
use axum::http::StatusCode;
use referee_games::Games;
use referee_play::destination::is_transcript;
use referee_process::lock::lock;
use referee_process::open_folder::OpenFolder;
use referee_protocol::Seat;
use referee_runner::folder::{Folder, GAMES_FOLDER, STORE_FILE};
use referee_runner::programs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 4096;
/// The largest transcript that is shown, packed or unpacked, in bytes.
pub(super) const TRANSCRIPT_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct ServedFolder {
    /// A canonical path.
    root: PathBuf,
    /// The folders in which others hand in agents for the contests here; canonical.
    inboxes: Mutex<BTreeSet<PathBuf>>,
    /// The games that are known.
    games: Games,
    /// Those of the contests here that have game programs, by the contest's folder.
    of_contests: Mutex<BTreeMap<PathBuf, Arc<Mutex<Option<Found>>>>>,
    /// The running matches in which a person may not see everything, by their transcripts, with the person's seat.
    seen_by: SeenBy,
}

/// The games of a contest with game programs.
#[derive(Debug)]
struct Found {
    games: Games,
    /// When to look again, if there was a failure.
    again: Option<Instant>,
}

/// When rules that could not be started are started again.
const AGAIN: Duration = Duration::from_secs(60);

/// Transcripts that are shown only as a seat sees the match.
pub(super) type SeenBy = Arc<Mutex<BTreeMap<PathBuf, Seat>>>;

/// What may be looked at in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    /// The folder is a contest's, which writes transcripts to this folder in it.
    Games,
    /// It is an agent's, or one of submissions: anyone may have written what is there.
    Nothing,
}

impl ServedFolder {
    pub(super) fn new(root: &Path, games: &Games) -> io::Result<Self> {
        let root = root.canonicalize()?;
        // Fail now, not at the first request.
        root.read_dir()?;
        Ok(Self {
            root,
            inboxes: Mutex::default(),
            games: games.clone(),
            of_contests: Mutex::default(),
            seen_by: SeenBy::default(),
        })
    }

    /// Returns the matches that are shown only as a seat sees them.
    pub(super) fn seen_by(&self) -> &SeenBy {
        &self.seen_by
    }

    /// Returns the games that are known.
    pub(super) fn games(&self) -> &Games {
        &self.games
    }

    /// Returns the games of which a transcript or a contest's folder can be; `path` is canonical. Those of a contest are
    /// played by its copies of their programs.
    pub(super) fn games_of(&self, path: &Path) -> Games {
        let seen_by = lock(&self.seen_by).get(path).copied();
        let Some(folder) = programs::contest_of(path) else {
            return self.games.seen_by(seen_by);
        };
        // Only those wait who look at the same contest, if its programs take long to start.
        let known = lock(&self.of_contests).entry(folder.to_owned()).or_default().clone();
        let mut known = lock(&known);
        let is_again = |it: &Found| it.again.is_some_and(|again| again <= Instant::now());
        known.take_if(|it| is_again(it));
        let found = known.get_or_insert_with(|| match programs::copies(folder, &self.games) {
            Ok(found) => Found { games: self.games.with(found), again: None },
            Err(failure) => {
                tracing::warn!("{failure}");
                Found { games: self.games.clone(), again: Some(Instant::now() + AGAIN) }
            }
        });
        found.games.seen_by(seen_by)
    }

    /// Sets the folders of submissions; canonical.
    pub(super) fn hide(&self, inboxes: BTreeSet<PathBuf>) {
        *lock(&self.inboxes) = inboxes;
    }

    /// Returns what may be looked at in a folder; `path` is canonical. The served folder itself was chosen by the
    /// person who serves it.
    pub(super) fn shown(&self, path: &Path) -> Shown {
        if lock(&self.inboxes).contains(path)
            || path != self.root && path.join("agent.toml").symlink_metadata().is_ok()
        {
            Shown::Nothing
        } else if path.join(STORE_FILE).symlink_metadata().is_ok() {
            Shown::Games
        } else {
            Shown::All
        }
    }

    /// Whether a file or a contest's folder may be looked at; `path` is canonical and inside.
    fn is_shown(&self, path: &Path) -> bool {
        let outer = path.ancestors().skip(1).take_while(|outer| outer.starts_with(&self.root));
        let mut outer = outer.chain([path].into_iter().filter(|path| path.is_dir()));
        outer.all(|folder| match self.shown(folder) {
            Shown::All => true,
            Shown::Games => folder == path || path.starts_with(folder.join(GAMES_FOLDER)),
            Shown::Nothing => false,
        })
    }

    /// Whether the served folder is a contest's, or in one.
    pub(super) fn is_in_contest(&self) -> bool {
        self.root.ancestors().any(Folder::has_contest)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn title(&self) -> String {
        let name = self.root.file_name().unwrap_or(self.root.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns the canonical path of a name in the folder. The empty name is the folder itself.
    pub(super) fn find(&self, name: &str) -> ApiResult<PathBuf> {
        let plain = |part: Component<'_>| match part {
            Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
            _ => false,
        };
        let outside = || {
            ApiError::missing(format!("the served folder has no file {name:?}")).help(
                "names are relative to it, with `/`, without `..` and hidden folders; of contests only \
                 their games are shown, of agents nothing",
            )
        };
        if name.len() > NAME_BYTES_MAX || !Path::new(name).components().all(plain) {
            return Err(outside());
        }
        let found = self.root.join(name).canonicalize();
        let found = found.map_err(|error| ApiError::missing(format!("{name}: {error}")))?;
        // A link may point outside.
        if found.starts_with(&self.root) && self.is_shown(&found) {
            Ok(found)
        } else {
            Err(outside())
        }
    }

    /// Returns the path of a transcript.
    pub(super) fn transcript(&self, name: &str) -> ApiResult<PathBuf> {
        let path = self.find(name)?;
        if !is_transcript(&path) {
            return Err(ApiError::missing(format!("{name:?} is not a transcript"))
                .help("transcripts end in .jsonl or .jsonl.gz"));
        }
        Ok(path)
    }
}

/// Opens a regular file by its canonical path; anything else, such as a pipe, is an error. Others may exchange parts of the
/// path for links now: none is followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok(OpenFolder::open_canonical(folder)?.file(name)?.0)
}

/// The error for a transcript that is too large to be shown.
pub(super) fn too_long(name: &str) -> ApiError {
    let most = TRANSCRIPT_BYTES_MAX >> 20;
    let text = format!("{name}: the page shows transcripts of at most {most} MB");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text).help("use `referee replay` in a terminal")
}

#[cfg(test)]
mod tests {
    use super::{ServedFolder, open};
    use referee_games::Games;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn names_outside_the_folder_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.jsonl"), "x").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let path = |name: &str| inside.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::create_dir_all(path(".hidden")).unwrap();
        for file in ["a/b/x.jsonl", ".hidden/x.jsonl", "a/x.toml", ".x.jsonl"] {
            fs::write(path(file), "x").unwrap();
        }
        symlink(outside.path().join("secret.jsonl"), path("link.jsonl")).unwrap();
        symlink(outside.path(), path("folder")).unwrap();
        symlink("a/b/x.jsonl", path("inner.jsonl")).unwrap();
        let served = ServedFolder::new(inside.path(), &Games::default()).unwrap();
        for good in ["a/b/x.jsonl", "inner.jsonl", "a//b/x.jsonl"] {
            assert!(served.transcript(good).is_ok(), "{good}");
        }
        let absolute = path("a/b/x.jsonl").display().to_string();
        let long = "a/".repeat(5000);
        for bad in [
            "",
            ".",
            "..",
            "../x.jsonl",
            "a/../../x.jsonl",
            "a/../a/b/x.jsonl",
            "/etc/passwd",
            &absolute,
            "link.jsonl",
            "folder/secret.jsonl",
            ".hidden/x.jsonl",
            ".x.jsonl",
            "a/x.toml",
            "a",
            "no.jsonl",
            "a\0.jsonl",
            "a/b/x.jsonl/x.jsonl",
            &long,
        ] {
            assert!(served.transcript(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().canonicalize().unwrap();
        let pipe = folder.join("x.jsonl");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open(&pipe).is_err());
        assert!(open(&folder).is_err());
        fs::create_dir(folder.join("d")).unwrap();
        fs::write(folder.join("d/y"), "x").unwrap();
        assert!(open(&folder.join("d/y")).is_ok());
        // A folder that was exchanged for a link.
        symlink("d", folder.join("e")).unwrap();
        assert!(open(&folder.join("e/y")).is_err());
    }
}
