//! A transcript of the folder as it grows: read from where it was read to, and judged whether somebody
//! still writes it.

use super::errors::{Answer, Refused};
use super::place::{Place, TRANSCRIPT_BYTES_MAX, open, too_long};
use crate::{Growth, Sheet, Stage};
use referee_match::transcript::{FollowState, Playback, TranscriptFollower, unpack};
use referee_play::growing_file::{GrowingError, GrowingFile};
use referee_play::liveness::is_written;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Bytes that are read and played at once.
const PIECE_BYTES: usize = 256 << 10;
/// So many plies are shown: more than any match of an honest agent has, and as much as fits memory.
const PLIES_MAX: usize = 20_000;
/// A transcript as far as it was read.
#[derive(Debug)]
pub(super) struct Tail {
    name: String,
    file: GrowingFile,
    following: TranscriptFollower,
    /// When it was last written.
    changed: SystemTime,
    /// It can't be shown any further, though it could be read.
    stopped: Option<String>,
    /// Another match is written under its name now.
    anew: bool,
}

impl Tail {
    /// A transcript of the folder.
    pub(super) fn open(name: &str, place: &Place) -> Answer<Self> {
        let path = place.transcript(name)?;
        let file = open(&path).map_err(|error| Refused::unfit(format!("{name}: {error}")))?;
        Ok(Self {
            name: name.to_owned(),
            file: GrowingFile::of(file, path, TRANSCRIPT_BYTES_MAX),
            following: TranscriptFollower::new(),
            changed: SystemTime::UNIX_EPOCH,
            stopped: None,
            anew: false,
        })
    }

    /// The whole of a transcript as it is now.
    pub(super) fn read(name: &str, place: &Place) -> Answer<Self> {
        let mut tail = Self::open(name, place)?;
        tail.look()?;
        Ok(tail)
    }

    /// Takes in what was appended.
    pub(super) fn look(&mut self) -> Answer<()> {
        self.read_on()?;
        if !self.is_over() && self.file.is_replaced() {
            // It may have come to its end in between.
            self.read_on()?;
            self.anew = !self.is_over();
        }
        if self.anew {
            self.stopped = Some("the file was written anew: load the page again".to_owned());
        }
        Ok(())
    }

    fn read_on(&mut self) -> Answer<()> {
        while self.stopped.is_none() {
            let piece = self.file.read_on(PIECE_BYTES).map_err(|error| match error {
                GrowingError::TooLong => too_long(&self.name),
                GrowingError::Io(error) => Refused::unfit(format!("{}: {error}", self.name)),
            })?;
            if piece.is_empty() {
                break;
            }
            // What is packed comes at once.
            piece.chunks(PIECE_BYTES).for_each(|some| self.feed(some));
        }
        self.changed = self.file.modified().unwrap_or(self.changed);
        Ok(())
    }

    fn is_over(&self) -> bool {
        matches!(self.following.state(), FollowState::Sealed(_))
    }

    /// Whether another match is written under its name now: who follows begins anew.
    pub(super) fn is_anew(&self) -> bool {
        self.anew
    }

    fn feed(&mut self, piece: &[u8]) {
        if self.stopped.is_some() {
            return;
        }
        self.following.feed(piece);
        if self.following.playback().is_some_and(|playback| playback.plies().len() > PLIES_MAX) {
            let told = format!("the page shows {PLIES_MAX} plies, and there are more");
            self.stopped = Some(told);
        }
    }

    /// Nothing more comes of it, where that has a reason that is known.
    pub(super) fn give_up(&mut self, why: Option<String>) {
        if !self.is_over() {
            self.stopped = self.stopped.take().or(why);
        }
    }

    /// The match; `None` before its header is there.
    pub(super) fn playback(&self) -> Option<&Playback> {
        self.following.playback()
    }

    /// The match of a transcript that can be shown.
    pub(super) fn shown(&self) -> Answer<&Playback> {
        self.playback().ok_or_else(|| match self.following.state() {
            FollowState::Broken { text, .. } => Refused::unfit(format!("{}: {text}", self.name)),
            _ if self.stopped.is_some() => {
                let why = self.stopped.as_deref().unwrap_or_default();
                Refused::unfit(format!("{}: {why}", self.name))
            }
            _ => Refused::conflict(format!("{}: the transcript has no header yet", self.name))
                .help("it is written when all agents are ready; try again"),
        })
    }

    /// How far it is. `own` says that it is written by this very program.
    pub(super) fn stage(&self, own: bool) -> Stage {
        if let Some(text) = &self.stopped {
            return Stage::Broken(text.clone());
        }
        match self.following.state() {
            FollowState::Sealed(_) => Stage::Over,
            FollowState::Broken { line, text } => Stage::Broken(format!("line {line}: {text}")),
            FollowState::Open if own => Stage::Running,
            FollowState::Open => {
                let asked = self.playback().and_then(Playback::asked);
                let clock = self.playback().map(|playback| &playback.header().clock);
                let is_live = is_written(self.changed, asked, clock);
                if is_live { Stage::Running } else { Stage::Torn }
            }
        }
    }

    /// The match for the page.
    pub(super) fn sheet(&self, own: bool) -> Answer<Sheet> {
        let playback = self.shown()?;
        Ok(Sheet::new(&self.name, playback, &self.stage(own), self.for_ms()))
    }

    /// What is new since a line; nothing before there is a header.
    pub(super) fn growth(&self, line: u64, stage: &Stage) -> Option<Growth> {
        Some(Growth::since(line, self.playback()?, stage, self.for_ms()))
    }

    /// How long the seat that is asked has been thinking. The file's own time says when the last of
    /// its events was written, and their times how much earlier the request was.
    fn for_ms(&self) -> u64 {
        let Some(playback) = self.playback() else { return 0 };
        let Some(asked) = playback.asked() else { return 0 };
        let silent = SystemTime::now().duration_since(self.changed).unwrap_or_default();
        let since = Duration::from_nanos(playback.latest_ns().saturating_sub(asked.at_ns));
        u64::try_from((silent + since).as_millis()).unwrap_or(u64::MAX)
    }

    /// All of it, unpacked, read once more.
    pub(super) fn bytes(&self) -> Answer<Vec<u8>> {
        let failed = |error: std::io::Error| Refused::unfit(format!("{}: {error}", self.name));
        let mut bytes = Vec::new();
        let file = open(self.path()).map_err(failed)?;
        file.take(TRANSCRIPT_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(failed)?;
        let all = unpack(&bytes, TRANSCRIPT_BYTES_MAX).ok_or_else(|| too_long(&self.name))?;
        Ok(all.into_owned())
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }
}
