//! The match that the viewer shows: a transcript, read on as it grows.

use crate::screen::Progress;
use referee_match::transcript::{
    ExchangedLine, FollowState, Playback, TranscriptFollower, exchange,
};
use referee_play::growing_file::GrowingFile;
use referee_play::input_files::{read_transcript, transcript_path};
use referee_play::liveness::is_written;
use referee_process::Failure;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The first bytes of a packed file.
const PACKED: [u8; 2] = [0x1f, 0x8b];
/// The exact lines by ply, or why there are none.
type Exchange = Result<Vec<Vec<ExchangedLine>>, String>;

/// A transcript as far as it is there.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// `None` where it was read once and doesn't grow.
    file: Option<GrowingFile>,
    bytes: Vec<u8>,
    following: TranscriptFollower,
    /// The exact lines by ply, and how many lines of the transcript they were made of.
    said: Option<(u64, Exchange)>,
    /// Since when the request that waits has been waiting, and what it is: seat and turn.
    waits: Option<(Instant, usize, u64)>,
}

impl Source {
    /// A transcript by its name on the command line. What is packed, or comes from a pipe, is read
    /// once; everything else is followed.
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let path = transcript_path(name)?;
        let mut begin = [0; PACKED.len()];
        let plain = name != "-"
            && File::open(&path)
                .and_then(|mut file| Ok(file.metadata()?.is_file() && file.read(&mut begin)? > 0))
                .unwrap_or(false)
            && begin != PACKED;
        if plain {
            let mut source = Self::following(path);
            source.read_on();
            return Ok(source);
        }
        let bytes = read_transcript(name)?;
        let following = TranscriptFollower::of(&bytes);
        Ok(Self { bytes, following, ..Self::default() })
    }

    /// A file that may not be there yet.
    pub(super) fn following(path: PathBuf) -> Self {
        Self { file: Some(GrowingFile::new(path)), ..Self::default() }
    }

    /// Reads what was appended; whether there was anything.
    pub(super) fn read_on(&mut self) -> bool {
        let sealed = matches!(self.following.state(), FollowState::Sealed(_));
        let Some(file) = &mut self.file else { return false };
        let grown = file.read_on(usize::MAX).unwrap_or_default();
        if grown.is_empty() && !sealed && file.is_replaced() {
            // Begun anew by somebody else: so do we.
            *self = Self::following(file.path().to_owned());
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
            self.waits = None;
            return;
        };
        if self.waits.is_none_or(|(_, of, at)| (of, at) != (seat, turn)) {
            // What was written last tells how long ago that was, at least.
            let age = self.age().filter(|_| self.waits.is_none()).unwrap_or_default();
            let now = Instant::now();
            self.waits = Some((now.checked_sub(age).unwrap_or(now), seat, turn));
        }
    }

    /// How long ago the file was written to.
    fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.file.as_ref()?.modified()?).ok()
    }

    /// Whether somebody seems to write it still.
    fn is_written(&self) -> bool {
        let changed = self.file.as_ref().and_then(GrowingFile::modified);
        let clock = self.playback().map(|playback| &playback.header().clock);
        let asked = self.playback().and_then(Playback::asked);
        changed.is_some_and(|changed| is_written(changed, asked, clock))
    }

    pub(super) fn playback(&self) -> Option<&Playback> {
        self.following.playback()
    }

    /// How far it is; `known_live` where the match is known to be under way.
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

    /// Why it can't be read on.
    pub(super) fn problem(&self) -> Option<String> {
        match self.following.state() {
            FollowState::Broken { line, text } => Some(format!("line {line}: {text}")),
            FollowState::Open | FollowState::Sealed(_) => None,
        }
    }

    /// How long the request that waits has been waiting.
    pub(super) fn waiting_ms(&self) -> u64 {
        let waited = self.waits.map_or(Duration::ZERO, |(since, ..)| since.elapsed());
        u64::try_from(waited.as_millis()).unwrap_or(u64::MAX)
    }

    /// Makes the exact lines, unless they are made.
    pub(super) fn make_said(&mut self) {
        let Some(lines) = self.playback().map(Playback::lines) else { return };
        if self.said.as_ref().is_some_and(|&(made_of, _)| made_of == lines) {
            return;
        }
        self.said = Some((lines, exchange(&self.bytes, |_| true)));
    }

    /// The exact lines of a ply, as far as they are made; of the last also those to come.
    pub(super) fn said(&self, ply: usize) -> Result<&[ExchangedLine], &str> {
        match &self.said {
            None => Ok(&[]),
            Some((_, Err(why))) => Err(why),
            Some((_, Ok(plies))) => Ok(plies.get(ply).map_or(&[], Vec::as_slice)),
        }
    }

    /// What the file is called.
    pub(super) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(GrowingFile::path)
    }
}
