//! Bytes of an agent: cut into lines, read as messages.

use super::byte;
use referee_match::diagnosis::caret;
use referee_process::framer::Framer;
use referee_protocol::{escape_line, parse_from_agent, parse_strict, unescape_line};
use serde_json::Value;

/// The first byte is the bound of a line, in eights; the second the length of the pieces in which the
/// rest comes. The pieces give the lines that cutting the whole at once would give; no line panics,
/// and what reads as a message reads the same when it is written again.
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

/// Lines, and whether each was cut. After a line that is too long nobody reads on.
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

/// The same without a framer: all bytes at hand.
fn cut_at_once(bytes: &[u8], line_bytes_max: usize) -> Lines {
    let mut found = Lines::new();
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    // What follows the last line end is a line only if it is something.
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
        let column = garbled.column();
        assert!(column.is_none_or(|column| (1..=line.len() + 1).contains(&column)), "{garbled:?}");
        caret(line, column, 60);
        assert!(parse_from_agent(line).is_err(), "{garbled}");
        return;
    }
    // Strict means to refuse more than others do, never less.
    serde_json::from_slice::<Value>(line).expect("what is strict is JSON");
    match parse_from_agent(line) {
        Ok(message) => {
            let written = serde_json::to_string(&message).expect("messages are JSON");
            assert_eq!(parse_from_agent(written.as_bytes()), Ok(message), "{written}");
        }
        Err(garbled) => assert!(!garbled.to_string().is_empty()),
    }
}
