//! Bytes and foreign text as plain text that is safe to show: hex digits, and no control
//! characters.

/// The longest name of an agent, in characters.
pub const NAME_CHARACTERS_MAX: usize = 60;

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// What an agent wrote, or a transcript from elsewhere holds, without anything that a terminal
/// would obey or that can't be seen: controls, marks that turn the direction of text, byte-order
/// marks.
pub fn tame(text: &str) -> String {
    let hidden = |c: char| {
        let mark = matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}');
        c.is_control() || mark || matches!(c, '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|c| if hidden(c) { '\u{FFFD}' } else { c }).collect()
}

/// What an agent or a player is called: tame, and not too long.
pub fn tame_name(name: &str) -> String {
    tame(name).chars().take(NAME_CHARACTERS_MAX).collect()
}

/// Names for the seats of a match: those that are the same are told apart by ` #2`, ` #3`.
pub fn unique_names(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name} #{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        unique.extend(candidates.find(|name| !unique.contains(name)));
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::tame_name;

    #[test]
    fn names_are_tame_and_short() {
        assert_eq!(tame_name("a\u{1b}[31mb"), "a\u{FFFD}[31mb");
        assert_eq!(tame_name(&"x".repeat(99)).len(), 60);
    }
}
