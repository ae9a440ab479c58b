//! A growing transcript: reads what was appended, and judges whether it is still being written.

use super::course::Audience;
use super::errors::{ApiError, ApiResult};
use super::served_folder::{ServedFolder, TRANSCRIPT_BYTES_MAX, open, too_long};
use crate::{MatchPage, MatchState, MatchUpdate};
use referee_games::Games;
use referee_match::transcript::{FollowState, Playback, TranscriptFollower, unpack};
use referee_play::growing_file::{GrowingError, GrowingFile};
use referee_play::liveness::is_written;
use referee_protocol::Seat;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How many bytes are read and replayed at once.
const PIECE_BYTES: usize = 256 << 10;
/// The most plies that are shown: more than any honest match has, few enough for memory.
const PLIES_MAX: usize = 20_000;

/// A transcript as far as it was read.
#[derive(Debug)]
pub(super) struct Tail {
    name: String,
    file: GrowingFile,
    /// The games of which it can be.
    pub(super) games: Games,
    following: TranscriptFollower,
    /// The time of the last write.
    changed: SystemTime,
    /// Why it can't be shown any further, though it could be read.
    problem: Option<String>,
    /// When the match was started that is expected, if one is.
    expected: Option<String>,
    /// Whether another match is now written to the same file.
    pub(super) replaced: bool,
}

impl Tail {
    /// Opens a transcript of the served folder.
    pub(super) fn open(name: &str, served: &ServedFolder) -> ApiResult<Self> {
        let path = served.transcript(name)?;
        let games = served.games_of(&path);
        let file = open(&path).map_err(|error| ApiError::unfit(format!("{name}: {error}")))?;
        Ok(Self {
            name: name.to_owned(),
            file: GrowingFile::of(file, path, TRANSCRIPT_BYTES_MAX),
            following: TranscriptFollower::new(&games),
            games,
            changed: SystemTime::UNIX_EPOCH,
            problem: None,
            expected: None,
            replaced: false,
        })
    }

    /// Reads a whole transcript.
    pub(super) fn read(name: &str, served: &ServedFolder) -> ApiResult<Self> {
        Self::read_as(None, name, served)
    }

    /// Opens a transcript, to show the match as a seat saw it.
    pub(super) fn open_as(
        viewer: Option<Seat>,
        name: &str,
        served: &ServedFolder,
    ) -> ApiResult<Self> {
        let tail = Self::open(name, served)?;
        let games = tail.games.seen_by(tail.games.viewer().or(viewer));
        Ok(Self { following: TranscriptFollower::new(&games), games, ..tail })
    }

    /// Reads a whole transcript, as [`Tail::open_as`].
    pub(super) fn read_as(
        viewer: Option<Seat>,
        name: &str,
        served: &ServedFolder,
    ) -> ApiResult<Self> {
        let mut tail = Self::open_as(viewer, name, served)?;
        tail.update()?;
        Ok(tail)
    }

    /// Expects the match that was started at this time: the file may have been replaced before it was opened. A game that
    /// is played again has the same match id.
    pub(super) fn expect(&mut self, started: Option<String>) {
        self.expected = started;
    }

    /// Reads what was appended.
    pub(super) fn update(&mut self) -> ApiResult<()> {
        self.read_more()?;
        if !self.is_over() && self.file.is_replaced() {
            // The match may have ended in between.
            self.read_more()?;
            self.replaced = !self.is_over();
        }
        if let (Some(expected), Some(playback)) = (&self.expected, self.playback()) {
            self.replaced |= playback.header().started != *expected;
        }
        if self.replaced {
            self.problem = Some("the file has another match now: load the page again".to_owned());
        }
        Ok(())
    }

    fn read_more(&mut self) -> ApiResult<()> {
        while self.problem.is_none() {
            let piece = self.file.read_on(PIECE_BYTES).map_err(|error| match error {
                GrowingError::TooLong => too_long(&self.name),
                GrowingError::Io(error) => ApiError::unfit(format!("{}: {error}", self.name)),
            })?;
            if piece.is_empty() {
                break;
            }
            // A packed transcript arrives in one piece.
            piece.chunks(PIECE_BYTES).for_each(|some| self.feed(some));
        }
        self.changed = self.file.modified().unwrap_or(self.changed);
        Ok(())
    }

    fn is_over(&self) -> bool {
        matches!(self.following.state(), FollowState::Sealed(_))
    }

    fn feed(&mut self, piece: &[u8]) {
        if self.problem.is_some() {
            return;
        }
        self.following.feed(piece);
        if self.following.playback().is_some_and(|playback| playback.plies().len() > PLIES_MAX) {
            self.problem = Some(format!("the page shows only the first {PLIES_MAX} plies"));
        }
    }

    /// Sets why the match has no end, if that is known.
    pub(super) fn set_problem(&mut self, why: Option<String>) {
        if !self.is_over() {
            self.problem = self.problem.take().or(why);
        }
    }

    /// Returns the match; `None` before its header is written.
    pub(super) fn playback(&self) -> Option<&Playback> {
        self.following.playback()
    }

    /// Returns the match, or why it can't be shown.
    pub(super) fn shown(&self) -> ApiResult<&Playback> {
        self.playback().ok_or_else(|| match self.following.state() {
            FollowState::Broken { text, .. } => ApiError::unfit(format!("{}: {text}", self.name)),
            _ => match &self.problem {
                Some(why) => ApiError::unfit(format!("{}: {why}", self.name)),
                None => ApiError::conflict(format!("{}: the match has not started yet", self.name))
                    .help("it starts when all agents are ready"),
            },
        })
    }

    /// Returns the state of the match; `own` says that this program writes the transcript.
    pub(super) fn state(&self, own: bool) -> MatchState {
        if let Some(text) = &self.problem {
            return MatchState::Broken(text.clone());
        }
        match self.following.state() {
            FollowState::Sealed(_) => MatchState::Over,
            FollowState::Broken { line, text } => {
                MatchState::Broken(format!("line {line}: {text}"))
            }
            FollowState::Open if own => MatchState::Running,
            FollowState::Open => {
                let asked = self.playback().and_then(Playback::asked);
                let clock = self.playback().map(|playback| &playback.header().clock);
                let is_live = is_written(self.changed, asked, clock);
                if is_live { MatchState::Running } else { MatchState::Torn }
            }
        }
    }

    /// Returns the match for the page.
    pub(super) fn match_page(&self, own: bool, audience: &Audience) -> ApiResult<MatchPage> {
        let playback = self.shown()?;
        let page = MatchPage::new(&self.name, playback, &self.state(own), self.for_ms());
        Ok(audience.page(page, playback.header()))
    }

    /// Returns what is new since a line; `None` before the header is written.
    pub(super) fn updates_since(
        &self,
        line: u64,
        state: &MatchState,
        audience: &Audience,
    ) -> Option<MatchUpdate> {
        let playback = self.playback()?;
        let update = MatchUpdate::since(line, playback, state, self.for_ms());
        Some(audience.update(update, playback.header()))
    }

    /// Returns how long the agent to move has been thinking: the time since the file's last write, plus
    /// the time from the request to the last event.
    fn for_ms(&self) -> u64 {
        let Some(playback) = self.playback() else { return 0 };
        let Some(asked) = playback.asked() else { return 0 };
        let silent = SystemTime::now().duration_since(self.changed).unwrap_or_default();
        let since = Duration::from_nanos(playback.latest_ns().saturating_sub(asked.at_ns));
        u64::try_from((silent + since).as_millis()).unwrap_or(u64::MAX)
    }

    /// Reads the whole file again, unpacked.
    pub(super) fn bytes(&self) -> ApiResult<Vec<u8>> {
        let failed = |error: std::io::Error| ApiError::unfit(format!("{}: {error}", self.name));
        let mut bytes = Vec::new();
        let file = open(self.path()).map_err(failed)?;
        file.take(TRANSCRIPT_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(failed)?;
        let all = unpack(&bytes, TRANSCRIPT_BYTES_MAX).ok_or_else(|| too_long(&self.name))?;
        Ok(all.into_owned())
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }
}
