//! Reading a transcript event by event, for replays: lenient towards what later versions add, and
//! towards an end that is missing.

use referee_protocol::{Event, Header, Seal, TRANSCRIPT_VERSION};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::BufRead as _;

/// How a header's line begins, as the recorder writes it.
const HEADER_START: &[u8] = b"{\"type\":\"header\"";

/// A transcript that is being read: its header, and then, as an iterator, its events up to the seal
/// or to where it can't be read any further. Events of types that are unknown here are left out.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// What the match was played under.
    pub header: Header,
    rest: &'a [u8],
    line: u64,
    end: Option<End>,
}

/// Where reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// At the seal. Whether it fits is [`verify`](super::verify)'s to say.
    Seal(Seal),
    /// Where the file was cut off: in or before this line, counted from 1.
    Cut {
        /// The line.
        line: u64,
    },
    /// At a line that is no event.
    Broken {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

/// Why a transcript has no header to begin reading with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHeader {
    /// The file was cut off before the header's end.
    #[error("the transcript is cut off within its first line, the header")]
    Cut,
    /// It isn't a transcript.
    #[error("not a transcript: {0}")]
    Foreign(String),
    /// It is a transcript in a version of the format that is unknown here.
    #[error(
        "the transcript has version {0}, and this referee reads version {TRANSCRIPT_VERSION}: \
             use the referee that wrote it, or a later one"
    )]
    Version(u64),
}

/// Begins to read a transcript (unpacked, see [`unpack`](super::unpack)).
pub fn read(bytes: &[u8]) -> Result<Reading<'_>, NoHeader> {
    let Some((line, rest)) = split_line(bytes) else {
        let cut = may_begin_header(bytes);
        return Err(if cut { NoHeader::Cut } else { foreign("it doesn't begin with a header") });
    };
    Ok(Reading { header: read_header(line)?, rest, line: 1, end: None })
}

impl Reading<'_> {
    /// The line that the last event came from, counted from 1, the header's.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Where reading stopped; `None` while there are events left.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }
}

impl Iterator for Reading<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.end.is_none() {
            self.line += 1;
            let Some((line, rest)) = split_line(self.rest) else {
                self.end = Some(End::Cut { line: self.line });
                break;
            };
            self.rest = rest;
            match read_event(line) {
                Ok(Event::Seal(seal)) => self.end = Some(End::Seal(seal)),
                Ok(Event::Unknown) => {}
                Ok(event) => return Some(event),
                Err(text) => self.end = Some(End::Broken { line: self.line, text }),
            }
        }
        None
    }
}

/// Reads the first line, without its end.
pub(super) fn read_header(line: &[u8]) -> Result<Header, NoHeader> {
    /// What every version's header has.
    #[derive(Deserialize)]
    struct AnyHeader {
        #[serde(rename = "type")]
        kind: String,
        transcript: u64,
    }
    let header = serde_json::from_slice::<AnyHeader>(line)
        .ok()
        .filter(|header| header.kind == "header")
        .ok_or_else(|| foreign("its first line isn't a header"))?;
    if header.transcript != u64::from(TRANSCRIPT_VERSION) {
        return Err(NoHeader::Version(header.transcript));
    }
    serde_json::from_slice(line)
        .map_err(|error| foreign(&format!("its header can't be read: {}", without_line(&error))))
}

/// Reads any other line, without its end. An error is in words.
pub(super) fn read_event(line: &[u8]) -> Result<Event, String> {
    serde_json::from_slice(line).map_err(|error| without_line(&error))
}

fn foreign(text: &str) -> NoHeader {
    NoHeader::Foreign(text.to_owned())
}

/// Splits off the first line, without its end; `None` if it has none.
pub(super) fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // The standard library's own way to skip many bytes at a time.
    let mut rest = bytes;
    let length = rest.skip_until(b'\n').unwrap_or(0);
    let line = bytes[..length].strip_suffix(b"\n")?;
    Some((line, rest))
}

/// Whether this can be the beginning of a header's line that was cut off.
pub(super) fn may_begin_header(tail: &[u8]) -> bool {
    let length = tail.len().min(HEADER_START.len());
    tail[..length] == HEADER_START[..length] && may_begin_line(tail)
}

/// Whether this can be the beginning of a line that was cut off, up to the whole line without its
/// end.
pub(super) fn may_begin_line(tail: &[u8]) -> bool {
    let cut_in_text = match std::str::from_utf8(tail) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let cut_in_json = match serde_json::from_slice::<IgnoredAny>(tail) {
        Ok(_) => tail.ends_with(b"}"),
        Err(error) => error.is_eof() || is_cut_in_number(tail),
    };
    cut_in_text && cut_in_json && (tail.is_empty() || tail.starts_with(b"{"))
}

/// Whether another digit would make good what the JSON reader objects to: it takes a number that
/// ends with a sign, a point or an `e` for a wrong one, not for a cut one.
fn is_cut_in_number(tail: &[u8]) -> bool {
    let longer = [tail, b"0"].concat();
    matches!(tail.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'))
        && serde_json::from_slice::<IgnoredAny>(&longer).is_err_and(|error| error.is_eof())
}

/// A reader's error without its "at line 1", as it only ever saw one line.
pub(super) fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace("at line 1 column", "at byte")
}
