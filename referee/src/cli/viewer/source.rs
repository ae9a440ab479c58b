//! The transcript that the viewer shows, read as it grows.

use crate::screen::Progress;
use referee_games::Games;
use referee_match::transcript::{
    ExchangedLine, FollowState, Playback, TranscriptFollower, exchange,
};
use referee_play::growing_file::GrowingFile;
use referee_play::input_files::{read_transcript, transcript_path};
use referee_play::liveness::is_written;
use referee_process::Failure;
use referee_process::files::open_regular;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The lines sent and received by ply, or why there are none.
type Exchange = Result<Vec<Vec<ExchangedLine>>, String>;

/// A transcript as far as it has been written.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// `None` if the transcript doesn't grow.
    file: Option<GrowingFile>,
    bytes: Vec<u8>,
    following: TranscriptFollower,
    games: Games,
    /// The lines by ply, and the number of lines of the transcript they were read from.
    exchange: Option<(u64, Exchange)>,
    /// The request without an answer: since when, its seat and its turn.
    waiting: Option<(Instant, usize, u64)>,
}

impl Source {
    /// Opens a transcript named on the command line. Compressed files and pipes are read once; other
    /// files are followed.
    pub(super) fn named(name: &str, games: &Games) -> Result<Self, Failure> {
        let path = transcript_path(name)?;
        let mut begin = [0; GZIP.len()];
        let plain = name != "-"
            && open_regular(&path, u64::MAX)
                .and_then(|mut file| file.read(&mut begin))
                .is_ok_and(|count| count > 0)
            && begin != GZIP;
        if plain {
            let mut source = Self::following(path, games);
            source.read_on();
            return Ok(source);
        }
        let bytes = read_transcript(name)?;
        let following = TranscriptFollower::of(&bytes, games);
        Ok(Self { bytes, following, games: games.clone(), ..Self::default() })
    }

    /// Follows a file that may not exist yet.
    pub(super) fn following(path: PathBuf, games: &Games) -> Self {
        let following = TranscriptFollower::new(games);
        Self {
            file: Some(GrowingFile::new(path)),
            following,
            games: games.clone(),
            ..Self::default()
        }
    }

    /// Reads what was appended. Returns whether there was anything.
    pub(super) fn read_on(&mut self) -> bool {
        let sealed = matches!(self.following.state(), FollowState::Sealed(_));
        let Some(file) = &mut self.file else { return false };
        let grown = file.read_on(usize::MAX).unwrap_or_default();
        if grown.is_empty() && !sealed && file.is_replaced() {
            // Another process has replaced the file.
            *self = Self::following(file.path().to_owned(), &self.games);
            return true;
        }
        if !grown.is_empty() {
            self.following.feed(&grown);
            self.bytes.extend_from_slice(&grown);
            self.note_request();
        }
        !grown.is_empty()
    }

    fn note_request(&mut self) {
        let asked = self.playback().and_then(Playback::asked);
        let Some((seat, turn)) = asked.map(|asked| (asked.seat.index(), asked.turn)) else {
            self.waiting = None;
            return;
        };
        if self.waiting.is_none_or(|(_, of, at)| (of, at) != (seat, turn)) {
            // When the viewer opens, the age of the file shows how long the seat has been thinking.
            let age = self.age().filter(|_| self.waiting.is_none()).unwrap_or_default();
            let now = Instant::now();
            self.waiting = Some((now.checked_sub(age).unwrap_or(now), seat, turn));
        }
    }

    /// Returns the time since the last write to the file.
    fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.file.as_ref()?.modified()?).ok()
    }

    /// Whether the match seems to be running.
    fn is_written(&self) -> bool {
        let changed = self.file.as_ref().and_then(GrowingFile::modified);
        let clock = self.playback().map(|playback| &playback.header().clock);
        let asked = self.playback().and_then(Playback::asked);
        changed.is_some_and(|changed| is_written(changed, asked, clock))
    }

    pub(super) fn playback(&self) -> Option<&Playback> {
        self.following.playback()
    }

    /// Returns the progress; `known_live` if the match is known to be running.
    pub(super) fn progress(&self, known_live: bool) -> Progress {
        let over = self.playback().is_some_and(|playback| playback.over().is_some());
        match self.following.state() {
            FollowState::Sealed(_) => Progress::Over,
            FollowState::Broken { .. } => Progress::Broken,
            FollowState::Open if over => Progress::Over,
            FollowState::Open if known_live => Progress::Live,
            FollowState::Open if self.is_written() => Progress::Live,
            FollowState::Open => Progress::Unfinished,
        }
    }

    /// Returns why the rest can't be read.
    pub(super) fn problem(&self) -> Option<String> {
        match self.following.state() {
            FollowState::Broken { line, text } => Some(format!("line {line}: {text}")),
            FollowState::Open | FollowState::Sealed(_) => None,
        }
    }

    /// Returns how long the seat to move has been thinking.
    pub(super) fn waiting_ms(&self) -> u64 {
        let waited = self.waiting.map_or(Duration::ZERO, |(since, ..)| since.elapsed());
        u64::try_from(waited.as_millis()).unwrap_or(u64::MAX)
    }

    /// Reads the lines by ply, unless they are up to date.
    pub(super) fn load_exchange(&mut self) {
        let Some(playback) = self.playback() else { return };
        let (lines, last) = (playback.lines(), playback.last());
        if self.exchange.as_ref().is_some_and(|&(read_from, _)| read_from == lines) {
            return;
        }
        let mut plies = exchange(&self.bytes, &self.games, |_| true);
        if let Ok(plies) = &mut plies
            && playback.over().is_some()
            && plies.len() > last
        {
            // The end is shown with the last ply.
            let end: Vec<_> = plies.drain(last + 1..).flatten().collect();
            plies[last].extend(end);
        }
        self.exchange = Some((lines, plies));
    }

    /// Returns the lines of a ply.
    pub(super) fn exchange(&self, ply: usize) -> Result<&[ExchangedLine], &str> {
        match &self.exchange {
            None => Ok(&[]),
            Some((_, Err(why))) => Err(why),
            Some((_, Ok(plies))) => Ok(plies.get(ply).map_or(&[], Vec::as_slice)),
        }
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(GrowingFile::path)
    }
}
