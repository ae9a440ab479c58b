//! Fuzzes the output of an agent: splitting into lines and parsing messages.

use super::byte;
use referee_match::diagnosis::caret;
use referee_process::framer::Framer;
use referee_protocol::{escape_line, parse_from_agent, parse_strict, unescape_line};
use serde_json::Value;

/// The first byte is the longest line in units of 8 bytes, the second the length of the chunks. The
/// chunks give the same lines as the whole input; no line panics, and a parsed message survives a round
/// trip.
pub fn lines(bytes: &[u8]) {
    let (bound, bytes) = byte(bytes);
    let (piece, bytes) = byte(bytes);
    let line_bytes_max = 8 * (1 + usize::from(bound));
    let found = framed(bytes, line_bytes_max, 1 + usize::from(piece));
    assert_eq!(found, cut_at_once(bytes, line_bytes_max));
    for (line, is_cut) in &found {
        let (text, escaped) = escape_line(line);
        assert_eq!(unescape_line(&text, escaped).as_ref(), Some(line), "{text}");
        if !is_cut {
            message(line);
        }
    }
}

/// Lines, and whether each was truncated. Reading stops after a line that is too long.
type Lines = Vec<(Vec<u8>, bool)>;

fn framed(bytes: &[u8], line_bytes_max: usize, piece: usize) -> Lines {
    let mut framer = Framer::new(line_bytes_max);
    let mut found = Lines::new();
    for piece in bytes.chunks(piece) {
        framer.push(piece);
        while let Some(line) = framer.next_line() {
            found.push((line.bytes, line.cut));
            if line.cut {
                return found;
            }
        }
        assert!(framer.unended().len() <= line_bytes_max + 1, "more is kept than a line may have");
    }
    found.extend(framer.finish().map(|line| (line.bytes, line.cut)));
    found
}

/// Splits the whole input at once, without a framer.
fn cut_at_once(bytes: &[u8], line_bytes_max: usize) -> Lines {
    let mut found = Lines::new();
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    // Bytes after the last line end are a line unless empty.
    lines.pop_if(|last| last.is_empty());
    for line in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_cut = line.len() > line_bytes_max;
        found.push((line[..line.len().min(line_bytes_max)].to_vec(), is_cut));
        if is_cut {
            break;
        }
    }
    found
}

fn message(line: &[u8]) {
    if let Err(garbled) = parse_strict(line) {
        let column = garbled.column;
        assert!(column.is_none_or(|column| (1..=line.len() + 1).contains(&column)), "{garbled:?}");
        caret(line, column, 60);
        assert!(parse_from_agent(line).is_err(), "{garbled}");
        return;
    }
    // The strict parser accepts only what other parsers accept.
    serde_json::from_slice::<Value>(line).expect("what is strict is JSON");
    match parse_from_agent(line) {
        Ok(message) => {
            let written = serde_json::to_string(&message).expect("messages are JSON");
            assert_eq!(parse_from_agent(written.as_bytes()), Ok(message), "{written}");
        }
        Err(garbled) => assert!(!garbled.to_string().is_empty()),
    }
}
