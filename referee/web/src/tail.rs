//! A transcript of the folder as it grows: read from where it was read to, and judged whether somebody
//! still writes it.

use super::errors::{Answer, Refused};
use super::place::{TRANSCRIPT_BYTES_MAX, open, too_long};
use crate::{Growth, Sheet, Stage};
use referee_match::transcript::{Following, Playback, State, read, unpack};
use referee_play::writing::{is_replaced, is_written};
use referee_protocol::Event;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes that are read and played at once.
const PIECE_BYTES: u64 = 256 << 10;
/// So many plies are shown: more than any match of an honest agent has, and as much as fits memory.
const PLIES_MAX: usize = 20_000;
/// A transcript as far as it was read.
#[derive(Debug)]
pub(super) struct Tail {
    name: String,
    path: PathBuf,
    file: File,
    packed: bool,
    /// Bytes of the file, as it was when it was last read, that have been taken in.
    read: u64,
    /// Bytes that were fed, unpacked.
    fed: usize,
    following: Following,
    /// When it was last written.
    changed: SystemTime,
    /// It can't be shown any further, though it could be read.
    stopped: Option<String>,
    /// Another match is written under its name now.
    anew: bool,
}

impl Tail {
    /// A file that is named like a transcript.
    pub(super) fn open(name: &str, path: PathBuf) -> Answer<Self> {
        let file = open(&path).map_err(|error| Refused::unfit(format!("{name}: {error}")))?;
        Ok(Self {
            name: name.to_owned(),
            packed: is_packed(&path),
            path,
            file,
            read: 0,
            fed: 0,
            following: Following::new(),
            changed: SystemTime::UNIX_EPOCH,
            stopped: None,
            anew: false,
        })
    }

    /// The whole of a transcript as it is now.
    pub(super) fn read(name: &str, path: PathBuf) -> Answer<Self> {
        let mut tail = Self::open(name, path)?;
        tail.look()?;
        Ok(tail)
    }

    /// Takes in what was appended.
    pub(super) fn look(&mut self) -> Answer<()> {
        self.read_on()?;
        if !self.is_over() && is_replaced(&self.file, &self.path) {
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
        let name = self.name.clone();
        let failed = |error: std::io::Error| Refused::unfit(format!("{name}: {error}"));
        let about = self.file.metadata().map_err(failed)?;
        let length = about.len();
        if length > TRANSCRIPT_BYTES_MAX as u64 {
            return Err(too_long(&self.name));
        }
        self.changed = about.modified().map_err(failed)?;
        self.anew = length < self.read;
        if self.anew || self.stopped.is_some() || length == self.read {
            return Ok(());
        }
        if self.packed { self.unpack(length) } else { self.append(length).map_err(failed) }
    }

    fn is_over(&self) -> bool {
        matches!(self.following.state(), State::Sealed(_))
    }

    /// Whether another match is written under its name now: who follows begins anew.
    pub(super) fn is_anew(&self) -> bool {
        self.anew
    }

    fn append(&mut self, length: u64) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(self.read))?;
        let mut piece = Vec::new();
        while self.read < length && self.stopped.is_none() {
            piece.clear();
            let wanted = PIECE_BYTES.min(length - self.read);
            let count = (&mut self.file).take(wanted).read_to_end(&mut piece)?;
            if count == 0 {
                break;
            }
            self.read += count as u64;
            self.feed(&piece);
        }
        Ok(())
    }

    /// What is packed is unpacked from its beginning each time.
    fn unpack(&mut self, length: u64) -> Answer<()> {
        let name = self.name.clone();
        let failed = |error: std::io::Error| Refused::unfit(format!("{name}: {error}"));
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut bytes = Vec::new();
        (&mut self.file).take(length).read_to_end(&mut bytes).map_err(failed)?;
        let all = unpack(&bytes, TRANSCRIPT_BYTES_MAX).ok_or_else(|| too_long(&self.name))?;
        self.read = length;
        let piece = usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX);
        for piece in all.get(self.fed..).unwrap_or_default().chunks(piece) {
            self.feed(piece);
        }
        Ok(())
    }

    fn feed(&mut self, piece: &[u8]) {
        if self.stopped.is_some() {
            return;
        }
        self.fed += piece.len();
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
            State::Broken { text, .. } => Refused::unfit(format!("{}: {text}", self.name)),
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
            State::Sealed(_) => Stage::Over,
            State::Broken { line, text } => Stage::Broken(format!("line {line}: {text}")),
            State::Open if own => Stage::Running,
            State::Open => {
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

    /// All events, read once more.
    pub(super) fn events(&self) -> Answer<Vec<Event>> {
        let failed = |error: String| Refused::unfit(format!("{}: {error}", self.name));
        let mut bytes = Vec::new();
        let file = open(&self.path).map_err(|error| failed(error.to_string()))?;
        let taken = file.take(TRANSCRIPT_BYTES_MAX as u64).read_to_end(&mut bytes);
        taken.map_err(|error| failed(error.to_string()))?;
        let all = unpack(&bytes, TRANSCRIPT_BYTES_MAX).ok_or_else(|| too_long(&self.name))?;
        Ok(read(&all).map_err(|error| failed(error.to_string()))?.collect())
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}
