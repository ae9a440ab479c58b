//! Agents' lines as text: UTF-8 is unchanged, other bytes are written as `\xHH`.

use crate::LineEvent;
use std::fmt::Write as _;

/// Returns a line as in a `line` event, and whether it is escaped. In an escaped line, invalid
/// UTF-8 is written as `\xHH` (two lower-case hex digits) and a backslash as `\\`.
pub fn escape_line(line: &[u8]) -> (String, bool) {
    if let Ok(text) = std::str::from_utf8(line) {
        return (text.to_owned(), false);
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for chunk in line.utf8_chunks() {
        for (index, piece) in chunk.valid().split('\\').enumerate() {
            if index > 0 {
                escaped.push_str("\\\\");
            }
            escaped.push_str(piece);
        }
        for byte in chunk.invalid() {
            write!(escaped, "\\x{byte:02x}").expect("a string takes all text");
        }
    }
    (escaped, true)
}

/// Returns how many bytes a text has in a transcript, where JSON escapes characters with up to six.
pub fn recorded_bytes(text: &str) -> u64 {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    });
    bytes.sum()
}

/// Returns an event's line as received; unchanged if it has an invalid escape.
pub fn line_bytes(event: &LineEvent) -> Vec<u8> {
    unescape_line(&event.line, event.escaped).unwrap_or_else(|| event.line.clone().into_bytes())
}

/// Decodes a `line` event; `None` if `line` has an escape that [`escape_line`] doesn't write.
pub fn unescape_line(line: &str, escaped: bool) -> Option<Vec<u8>> {
    if !escaped {
        return Some(line.as_bytes().to_vec());
    }
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((plain, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = if let Some(after) = after.strip_prefix('\\') {
            bytes.push(b'\\');
            after
        } else {
            let digits = after.strip_prefix('x')?.get(..2)?;
            let byte = u8::from_str_radix(digits, 16).ok();
            bytes.push(byte.filter(|byte| format!("{byte:02x}") == digits)?);
            &after[3..]
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{escape_line, recorded_bytes, unescape_line};
    use proptest::prelude::*;

    #[test]
    fn text_is_unchanged_and_other_bytes_are_hex() {
        for (line, wanted, escaped) in [
            (&b"{\"type\":\"pass\"}"[..], "{\"type\":\"pass\"}", false),
            (b"a\\b", "a\\b", false),
            ("gr\u{fc}n".as_bytes(), "gr\u{fc}n", false),
            (b"a\\b\xff\x00", "a\\\\b\\xff\0", true),
            (b"\xe2\x82", "\\xe2\\x82", true),
            (b"\\x41\xfe", "\\\\x41\\xfe", true),
        ] {
            assert_eq!(escape_line(line), (wanted.to_owned(), escaped));
            assert_eq!(unescape_line(wanted, escaped).unwrap(), line);
        }
    }

    #[test]
    fn escapes_that_are_never_written_are_refused() {
        for text in ["\\", "\\n", "\\x", "\\x4", "\\xG0", "\\xFF", "\\x\u{fc}"] {
            assert_eq!(unescape_line(text, true), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_line_comes_back(line in proptest::collection::vec(any::<u8>(), 0..40)) {
            let (text, escaped) = escape_line(&line);
            prop_assert_eq!(unescape_line(&text, escaped).unwrap(), line);
        }

        #[test]
        fn recorded_bytes_are_those_of_its_json(text in "[\\x00-\\x7f\u{80}\u{fc}\u{2028}]{0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(recorded_bytes(&text), json.len() as u64 - 2);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\\\x0-9a-f\u{fc}]{0,12}") {
            drop(unescape_line(&text, true));
        }
    }
}
