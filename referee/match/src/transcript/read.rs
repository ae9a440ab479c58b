//! Reading a transcript event by event, for replays. Unknown events and fields of later versions, and
//! a missing end, are not errors.

use referee_protocol::{Event, Header, Seal, TRANSCRIPT_VERSION, parse_strict, plain_error};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::from_slice;
use std::io::BufRead as _;

/// How the recorder begins a header's line.
const HEADER_START: &[u8] = b"{\"type\":\"header\"";

/// A transcript that is being read: its header, and then, as an iterator, its events up to the seal
/// or to the first line that can't be read. Skips events of unknown types.
#[derive(Clone, Debug)]
pub struct EventReader<'a> {
    /// The header.
    pub header: Header,
    rest: &'a [u8],
    /// The line of the last event, counted from 1, the header.
    pub line: u64,
    /// Where reading stopped; `None` while there are events left.
    pub end: Option<ReadEnd>,
}

/// Where reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadEnd {
    /// At the seal, which only [`verify`](super::verify) checks.
    Seal(Seal),
    /// At the end of a truncated file: in or before this line, counted from 1.
    Cut {
        /// The line.
        line: u64,
    },
    /// At a line that is not an event.
    Broken {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

/// Why a transcript's header can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The file is cut off within the header.
    #[error("the transcript is cut off within its first line, the header")]
    Cut,
    /// It is not a transcript.
    #[error("not a transcript: {0}")]
    Foreign(String),
    /// It has an unknown version of the format.
    #[error(
        "the transcript has version {0}, but this referee reads version {TRANSCRIPT_VERSION}: \
             use the referee that wrote it, or a later one"
    )]
    Version(u64),
}

/// Reads the header of a transcript (unpacked, see [`unpack`](super::unpack)).
pub fn read(bytes: &[u8]) -> Result<EventReader<'_>, HeaderError> {
    let Some((line, rest)) = split_line(bytes) else {
        let cut = may_begin_header(bytes);
        return Err(if cut {
            HeaderError::Cut
        } else {
            foreign("it does not begin with a header")
        });
    };
    Ok(EventReader { header: read_header(line)?, rest, line: 1, end: None })
}

impl Iterator for EventReader<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.end.is_none() {
            self.line += 1;
            let Some((line, rest)) = split_line(self.rest) else {
                self.end = Some(ReadEnd::Cut { line: self.line });
                break;
            };
            self.rest = rest;
            match read_event(line) {
                Ok(Event::Seal(seal)) => self.end = Some(ReadEnd::Seal(seal)),
                Ok(Event::Unknown) => {}
                Ok(event) => return Some(event),
                Err(text) => self.end = Some(ReadEnd::Broken { line: self.line, text }),
            }
        }
        None
    }
}

/// The longest name or colour in a header, in bytes; those that are recorded are far shorter.
const SHOWN_BYTES_MAX: usize = 1000;

/// Reads the first line, without its end.
pub(super) fn read_header(line: &[u8]) -> Result<Header, HeaderError> {
    /// The fields that the header has in every version.
    #[derive(Deserialize)]
    struct AnyHeader {
        #[serde(rename = "type")]
        kind: String,
        transcript: u64,
    }
    let header = from_slice::<AnyHeader>(line)
        .ok()
        .filter(|header| header.kind == "header")
        .ok_or_else(|| foreign("its first line is not a header"))?;
    if header.transcript != u64::from(TRANSCRIPT_VERSION) {
        return Err(HeaderError::Version(header.transcript));
    }
    let unreadable =
        |why: &dyn std::fmt::Display| foreign(&format!("its header can't be read: line 1: {why}"));
    // Readers of JSON differ in which of two equal keys they take.
    parse_strict(line).map_err(|error| unreadable(&error))?;
    let header = from_slice(line).map_err(|error| unreadable(&json_error(&error)))?;
    check_texts(&header).map_err(|error| unreadable(&error))?;
    Ok(header)
}

/// Checks the length of what is shown with every ply: whoever wrote the file may have chosen it.
fn check_texts(header: &Header) -> Result<(), String> {
    let mut texts = vec![("game", &*header.game), ("started", &header.started)];
    for seat in &header.seats {
        texts.extend([("name", &*seat.name), ("colour", &seat.colour)]);
    }
    let pieces = header.program.as_ref().and_then(|it| it.described["pieces"].as_array());
    let colours = pieces.into_iter().flatten().filter_map(|piece| piece["colour"].as_str());
    texts.extend(colours.map(|colour| ("colour", colour)));
    match texts.into_iter().find(|(_, text)| text.len() > SHOWN_BYTES_MAX) {
        Some((name, _)) => Err(format!("a `{name}` has more than {SHOWN_BYTES_MAX} bytes")),
        None => Ok(()),
    }
}

/// Reads any other line, without its end.
pub(super) fn read_event(line: &[u8]) -> Result<Event, String> {
    from_slice(line).map_err(|error| json_error(&error))
}

fn foreign(text: &str) -> HeaderError {
    HeaderError::Foreign(text.to_owned())
}

/// Splits off the first line, without its end; `None` if it has none.
pub(super) fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // The standard library skips many bytes at a time.
    let mut rest = bytes;
    let length = rest.skip_until(b'\n').unwrap_or(0);
    let line = bytes[..length].strip_suffix(b"\n")?;
    Some((line, rest))
}

/// Whether this can be the beginning of a truncated header.
pub(super) fn may_begin_header(tail: &[u8]) -> bool {
    let length = tail.len().min(HEADER_START.len());
    tail[..length] == HEADER_START[..length] && may_begin_line(tail)
}

/// Whether this can be the beginning of a truncated line, up to the whole line without its end.
pub(super) fn may_begin_line(tail: &[u8]) -> bool {
    let cut_in_text = match std::str::from_utf8(tail) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let cut_in_json = match from_slice::<IgnoredAny>(tail) {
        Ok(_) => tail.ends_with(b"}"),
        Err(error) => error.is_eof() || is_cut_in_number(tail),
    };
    cut_in_text && cut_in_json && (tail.is_empty() || tail.starts_with(b"{"))
}

/// Whether another digit would make this valid: the JSON reader takes a number that ends with a sign,
/// a point or an `e` for a wrong one, not for a truncated one.
fn is_cut_in_number(tail: &[u8]) -> bool {
    let longer = [tail, b"0"].concat();
    matches!(tail.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'))
        && from_slice::<IgnoredAny>(&longer).is_err_and(|error| error.is_eof())
}

/// Describes a reader's error, with its place in the line.
fn json_error(error: &serde_json::Error) -> String {
    format!("{} (byte {})", plain_error(&error.to_string()), error.column().max(1))
}

#[cfg(test)]
mod tests {
    use super::read_header;

    #[test]
    fn names_that_are_shown_with_every_ply_are_bounded() {
        let whole = include_str!("../../../../tests/tests/transcripts/hex-fault.jsonl");
        let line = whole.lines().next().unwrap();
        let header = read_header(line.as_bytes()).unwrap();
        for (field, text) in [("name", &header.seats[1].name), ("colour", &header.seats[0].colour)]
        {
            let with = |text: &str, length: usize| {
                let (from, to) = (format!("\"{field}\":\"{text}\""), "x".repeat(length));
                assert!(line.contains(&from), "{from}");
                read_header(line.replace(&from, &format!("\"{field}\":\"{to}\"")).as_bytes())
            };
            assert!(with(text, 1000).is_ok());
            assert!(with(text, 1001).unwrap_err().to_string().contains(field));
        }
    }
}
