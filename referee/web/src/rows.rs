//! A row of the list of transcripts: the game, the players, the result. It is read from the first line and
//! the last lines of the file.

use super::errors::{ApiError, ApiResult};
use super::served_folder::open;
use referee_match::summary::{seat_colour, sentence, setup};
use referee_match::transcript::{HeaderError, read, unpack_start};
use referee_play::growing_file::is_packed;
use referee_play::liveness::is_written;
use referee_protocol::{Event, Header, OverEvent, TurnEvent};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// How many bytes are read at the start and at the end of a file: the second number if the first is not
/// enough.
const EDGE_BYTES: [u64; 2] = [16 << 10, 1 << 20];

/// How much of a packed file is unpacked, in bytes: of a longer one only the header is shown.
const UNPACKED_BYTES_MAX: u64 = 4 << 20;

/// The longest text in a row, in bytes.
const TEXT_BYTES_MAX: usize = 1000;

/// How many bytes show whether a file begins like a transcript.
const START_BYTES: u64 = 4096;

/// What every transcript begins with.
const HEADER_START: &[u8] = br#"{"type":"header""#;

/// A match in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Row {
    /// The transcript.
    pub file: String,
    /// The game; empty if the file can't be read.
    pub game: String,
    /// The players, in seat order.
    pub names: Vec<String>,
    /// Their colours at the start.
    pub colours: Vec<String>,
    /// The number of turns, if it is known.
    pub turns: Option<u64>,
    /// The result, or why the file can't be read.
    pub result: Option<String>,
    pub live: bool,
    /// Whether this server plays it and can stop it.
    pub own: bool,
    /// The start, RFC 3339; empty if it is not known.
    pub started: String,
    /// The first fault's kind.
    pub fault: Option<&'static str>,
    /// The name of the worker that plays it, if it is known.
    pub worker: Option<String>,
    /// The setup, as ` name=value` per field.
    #[serde(skip)]
    pub setup: String,
    /// The names of those who came behind another, or didn't solve it, and their agents as given.
    #[serde(skip)]
    pub losers: Vec<String>,
}

/// The contents of the last lines.
#[derive(Debug, Default)]
struct End {
    sealed: bool,
    over: Option<Box<OverEvent>>,
    asked: Option<TurnEvent>,
    turns: Option<u64>,
}

/// Returns the row of a file that can't be read.
pub(super) fn unreadable(name: &str, error: &ApiError) -> Row {
    let result = Some(error.text().to_owned());
    Row { file: name.to_owned(), result, ..Row::default() }
}

impl Row {
    /// Returns whether every word of a lower-case text is in its name, game, setup, players, result, fault
    /// or date. `NAME wins` and `NAME loses` are about this player.
    pub(super) fn matches(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let result = self.result.as_deref().unwrap_or_default().to_lowercase();
        let winner = result.split_once(" wins").map_or("", |(winner, _)| winner);
        let is_in = |fields: &[String], word: &str| {
            fields.iter().any(|field| field.to_lowercase().contains(word))
        };
        let is_found = |word: &str| {
            let fields = [&self.file, &self.game, &self.started, &self.setup];
            let mut fields = fields.into_iter().chain(&self.names);
            fields.any(|field| field.to_lowercase().contains(word))
                || result.contains(word)
                || self.fault.is_some_and(|fault| fault.contains(word))
        };
        (0..words.len()).all(|at| match (words[at], words.get(at + 1)) {
            (name, Some(&"wins")) => winner.contains(name),
            (name, Some(&"loses")) => is_in(&self.losers, name),
            ("wins" | "loses", _) if at > 0 => true,
            (word, _) => is_found(word),
        })
    }

    /// Reads the row of a transcript; `changed` is the time of its last write. `None` before its header
    /// is written, and for a file of another kind, such as a list of openings.
    pub(super) fn read(name: &str, mut file: File, changed: SystemTime) -> ApiResult<Option<Self>> {
        let failed = |error: std::io::Error| ApiError::unfit(error.to_string());
        if is_packed(Path::new(name)) {
            let start = unpack_start(BufReader::new(file), UNPACKED_BYTES_MAX).map_err(failed)?;
            let Some(header) = header_of(&start)? else { return Ok(None) };
            let is_whole = (start.len() as u64) < UNPACKED_BYTES_MAX;
            let end =
                if is_whole { End::of(&start) } else { End { sealed: true, ..End::default() } };
            return Ok(Some(Self::of(name, &header, end, changed)));
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
        let (seats, over) = (&header.seats, over.as_deref());
        let turns_of = |over: &OverEvent| {
            over.verdict.seats.iter().map(|seat| seat.turns).fold(0, u64::saturating_add)
        };
        let result = |over: &OverEvent| sentence(header, over.outcome.as_ref(), &over.verdict);
        let places = over.and_then(|over| over.verdict.places.as_deref()).unwrap_or_default();
        let losers = seats.iter().zip(places).filter(|(_, place)| **place > 1);
        let mut verdicts = over.iter().flat_map(|over| &over.verdict.seats);
        Self {
            file: name.to_owned(),
            game: header.game.clone(),
            names: seats.iter().map(|seat| seat.name.clone()).collect(),
            colours: seats
                .iter()
                .map(|seat| seat_colour(header, &seat.colour).to_owned())
                .collect(),
            turns: over.map(turns_of).or(turns),
            result: over.map(result).map(short),
            live: !sealed && is_written(changed, asked.as_ref(), Some(&header.clock)),
            own: false,
            started: header.started.clone(),
            fault: verdicts.find_map(|seat| Some(seat.fault.as_ref()?.kind.name())),
            worker: None,
            setup: short(setup(header)),
            losers: losers
                .flat_map(|(seat, _)| [Some(seat.name.clone()), seat.agent.clone()])
                .flatten()
                .map(short)
                .collect(),
        }
    }
}

/// Cuts a text that a file may have of any length, since many rows are kept.
fn short(mut text: String) -> String {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    text.truncate(end.unwrap_or_default());
    text.shrink_to_fit();
    text
}

fn header(file: &mut File, length: u64) -> ApiResult<Option<Header>> {
    let [first, most] = EDGE_BYTES;
    let read = |file: &mut File, edge| {
        piece(file, 0, edge).map_err(|error| ApiError::unfit(error.to_string()))
    };
    match header_of(&read(file, first)?)? {
        None if length > first => header_of(&read(file, most)?),
        header => Ok(header),
    }
}

/// Whether a file begins like a transcript, with a whole first line; true if it can't be read.
pub(super) fn begins(path: &Path) -> bool {
    let looks = |file: File| {
        let start = unpack_start(BufReader::new(file), START_BYTES)?;
        let is_whole = start.len() as u64 == START_BYTES || start.contains(&b'\n');
        Ok::<_, std::io::Error>(is_whole && start.starts_with(HEADER_START))
    };
    open(path).and_then(looks).unwrap_or(true)
}

/// Reads the header at the start of a file; `None` if it isn't whole, or of another kind of file.
fn header_of(bytes: &[u8]) -> ApiResult<Option<Header>> {
    match read(bytes) {
        Ok(reading) => Ok(Some(reading.header)),
        Err(HeaderError::Cut) => Ok(None),
        Err(HeaderError::Foreign(_)) if !bytes.starts_with(HEADER_START) => Ok(None),
        Err(error) => Err(ApiError::unfit(error.to_string())),
    }
}

fn piece(file: &mut File, begin: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(begin))?;
    let mut piece = Vec::new();
    file.take(bytes).read_to_end(&mut piece)?;
    Ok(piece)
}

impl End {
    /// Reads the end from the last bytes of a transcript; the first of their lines may be cut.
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

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn all_words_must_fit() {
        let row = Row {
            file: "games/0001.jsonl".to_owned(),
            game: "hex".to_owned(),
            names: vec!["@Minimax".to_owned(), "ada".to_owned()],
            result: Some("@Minimax wins: ada ran out of time".to_owned()),
            started: "2026-11-24T10:00:00Z".to_owned(),
            fault: Some("late"),
            setup: " size=11".to_owned(),
            losers: vec!["ada".to_owned(), "./ada".to_owned()],
            ..Row::default()
        };
        for text in ["", "hex", "minimax wins hex", "ada loses", "size=11 late", "wins 2026-11-24"]
        {
            assert!(row.matches(text), "{text}");
        }
        for text in ["ada wins", "minimax loses", "hex bert", "size=5", "2026-11-23"] {
            assert!(!row.matches(text), "{text}");
        }
    }
}
