//! Showing a line of an agent: a piece of it, and the place for a caret under one byte.

use referee_protocol::sanitize::sanitize;

/// Replaces what is cut off.
const DOTS: &str = "..";

/// Returns the line without control characters, cut to `width` characters (at least 20), and how many
/// characters are before its byte `at_byte` (from 1).
pub fn caret(line: &[u8], at_byte: Option<usize>, width: usize) -> (String, Option<usize>) {
    let column = at_byte.map(|byte| {
        let before = &line[..line.len().min(byte.saturating_sub(1))];
        String::from_utf8_lossy(before).chars().count()
    });
    let text = sanitize(&String::from_utf8_lossy(line));
    let count = text.chars().count();
    if count <= width {
        return (text, column);
    }
    let room = width.max(20) - 2 * DOTS.len();
    let left = column.map_or(0, |column| column.saturating_sub(room / 2)).min(count - room);
    let (mark, shift) = if left > 0 { (DOTS, DOTS.len()) } else { ("", 0) };
    let shown: String = text.chars().skip(left).take(room).collect();
    let end = if left + room < count { DOTS } else { "" };
    (format!("{mark}{shown}{end}"), column.map(|column| column - left + shift))
}

#[cfg(test)]
mod tests {
    use super::caret;

    #[test]
    fn the_caret_is_under_its_byte() {
        assert_eq!(caret(b"abc", Some(2), 96), ("abc".to_owned(), Some(1)));
        assert_eq!(caret("äbc".as_bytes(), Some(3), 96), ("äbc".to_owned(), Some(1)));
        assert_eq!(caret(b"a\x1b[31m", None, 96), ("a\u{FFFD}[31m".to_owned(), None));
        let long = "x".repeat(150) + "!" + &"y".repeat(150);
        let (shown, column) = caret(long.as_bytes(), Some(151), 96);
        assert_eq!(shown.chars().nth(column.unwrap()), Some('!'));
        assert!(shown.starts_with("..x") && shown.ends_with("y.."));
        let (shown, column) = caret(long.as_bytes(), Some(301), 96);
        assert_eq!(shown.chars().nth(column.unwrap() - 1), Some('y'));
    }
}
