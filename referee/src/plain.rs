//! Bytes and foreign text as plain text that is safe to show: hex digits, and no control characters.

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// What an agent wrote, or a transcript from elsewhere holds, without anything that a terminal would
/// obey or that can't be seen: controls, marks that turn the direction of text, byte-order marks.
pub fn tame(text: &str) -> String {
    let hidden = |c: char| {
        let mark = matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}');
        c.is_control() || mark || matches!(c, '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|c| if hidden(c) { '\u{FFFD}' } else { c }).collect()
}
