//! A transcript in one line: who played what, and how it ended. Read from its first line and its last
//! ones.

use super::errors::{Answer, Refused};
use super::place::{TRANSCRIPT_BYTES_MAX, too_long};
use referee_match::summary::sentence;
use referee_match::transcript::{HeaderError, read, unpack};
use referee_play::growing_file::is_packed;
use referee_play::liveness::is_written;
use referee_protocol::{Event, Header, OverEvent, TurnEvent};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// Headers and ends mostly lie within so many bytes, and always within the second number: they name
/// commands, positions and legal actions.
const EDGE_BYTES: [u64; 2] = [16 << 10, 1 << 20];

/// A match in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    /// The transcript.
    pub(super) file: String,
    /// The game; empty where the file can't be read.
    pub(super) game: String,
    /// Who plays, in seat order.
    pub(super) names: Vec<String>,
    /// Their colours at the start.
    pub(super) colours: Vec<String>,
    /// The turns that were played, as far as is known.
    pub(super) turns: Option<u64>,
    /// How it ended, or why it can't be read.
    pub(super) result: Option<String>,
    /// It is played now.
    pub(super) live: bool,
    /// This server plays it, and can stop it.
    pub(super) own: bool,
    /// When it began, RFC 3339; empty where that isn't known.
    pub(super) started: String,
    /// The first fault's kind.
    pub(super) fault: Option<&'static str>,
    /// The name of the worker that plays it, where that is known.
    pub(super) worker: Option<String>,
}

/// What the last lines say.
#[derive(Debug, Default)]
struct End {
    sealed: bool,
    over: Option<Box<OverEvent>>,
    asked: Option<TurnEvent>,
    turns: Option<u64>,
}

/// The row of a file that can't be read.
pub(super) fn unreadable(name: &str, error: &Refused) -> Row {
    let result = Some(error.text().to_owned());
    Row { file: name.to_owned(), result, ..Row::default() }
}

impl Row {
    /// Whether a text in lower case is in its name, its game, who plays, or how it ended.
    pub(super) fn tells(&self, text: &str) -> bool {
        let told = [&self.file, &self.game].into_iter().chain(&self.names).chain(&self.result);
        told.into_iter().any(|told| told.to_lowercase().contains(text))
    }

    /// Reads what is needed of a transcript that was last written then; `None` while its header isn't
    /// there yet.
    pub(super) fn read(name: &str, mut file: File, changed: SystemTime) -> Answer<Option<Self>> {
        let failed = |error: std::io::Error| Refused::unfit(error.to_string());
        if is_packed(Path::new(name)) {
            let mut bytes = Vec::new();
            file.take(TRANSCRIPT_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(failed)?;
            let all = unpack(&bytes, TRANSCRIPT_BYTES_MAX).ok_or_else(|| too_long(name))?;
            let header = read(&all).map_err(|error| Refused::unfit(error.to_string()))?.header;
            return Ok(Some(Self::of(name, &header, End::of(&all), changed)));
        }
        let length = file.metadata().map_err(failed)?.len();
        let Some(header) = header(&mut file, length)? else { return Ok(None) };
        let mut end = End::default();
        for edge in EDGE_BYTES {
            let begin = length.saturating_sub(edge);
            end = End::of(&piece(&mut file, begin, edge).map_err(failed)?);
            if begin == 0 || !end.sealed || end.over.is_some() {
                break;
            }
        }
        Ok(Some(Self::of(name, &header, end, changed)))
    }

    fn of(name: &str, header: &Header, end: End, changed: SystemTime) -> Self {
        let End { sealed, over, asked, turns } = end;
        let seats = || header.seats.iter();
        let told = |over: &OverEvent| sentence(header, over.outcome.as_ref(), &over.verdict);
        let of_seats = |over: &OverEvent| {
            over.verdict.seats.iter().fold(0_u64, |sum, seat| sum.saturating_add(seat.turns))
        };
        let faults = |over: &OverEvent| {
            over.verdict.seats.iter().find_map(|seat| Some(seat.fault.as_ref()?.kind.name()))
        };
        Self {
            file: name.to_owned(),
            game: header.game.clone(),
            names: seats().map(|seat| seat.name.clone()).collect(),
            colours: seats().map(|seat| seat.colour.clone()).collect(),
            turns: over.as_deref().map(of_seats).or(turns),
            result: over.as_deref().map(told),
            live: !sealed && is_written(changed, asked.as_ref(), Some(&header.clock)),
            own: false,
            started: header.started.clone(),
            fault: over.as_deref().and_then(faults),
            worker: None,
        }
    }
}

fn header(file: &mut File, length: u64) -> Answer<Option<Header>> {
    let mut told = HeaderError::Cut;
    for edge in EDGE_BYTES {
        let bytes = piece(file, 0, edge).map_err(|error| Refused::unfit(error.to_string()))?;
        match read(&bytes) {
            Ok(reading) => return Ok(Some(reading.header)),
            Err(HeaderError::Cut) if length <= edge => return Ok(None),
            Err(error @ HeaderError::Cut) => told = error,
            Err(error) => return Err(Refused::unfit(error.to_string())),
        }
    }
    Err(Refused::unfit(told.to_string()))
}

fn piece(file: &mut File, begin: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(begin))?;
    let mut piece = Vec::new();
    file.take(bytes).read_to_end(&mut piece)?;
    Ok(piece)
}

impl End {
    /// From the last bytes of a transcript; the first line of them may be cut.
    fn of(bytes: &[u8]) -> Self {
        let mut end = Self::default();
        for line in bytes.rsplit(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Event>(line) {
                Ok(Event::Seal(_)) => end.sealed = true,
                Ok(Event::Over(over)) => {
                    end.over = Some(over);
                    break;
                }
                Ok(Event::Turn(asked)) => {
                    end.turns = Some(asked.turn);
                    end.asked = Some(asked);
                    break;
                }
                Ok(Event::Played(played)) => {
                    end.turns = Some(played.turn.saturating_add(1));
                    break;
                }
                _ => {}
            }
        }
        end
    }
}
