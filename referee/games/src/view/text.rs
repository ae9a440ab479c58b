//! The text on a piece.

use std::fmt::{self, Debug, Display};

/// One to three printable ASCII characters without blanks: they fit on a piece, in every font and
/// terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceText {
    bytes: [u8; Self::MAX],
    length: u8,
}

impl PieceText {
    /// The most characters.
    pub const MAX: usize = 3;

    /// Returns the text, if it is one that fits.
    pub fn new(text: &str) -> Option<Self> {
        let length = u8::try_from(text.len()).ok().filter(|length| (1..=3).contains(length))?;
        let mut bytes = [0; Self::MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        text.bytes().all(|byte| byte.is_ascii_graphic()).then_some(Self { bytes, length })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length.into()]).unwrap_or_default()
    }
}

impl Display for PieceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Debug for PieceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::PieceText;

    #[test]
    fn a_text_is_short_and_printable() {
        for text in ["X", "12", "10H", "<&>", "\"'`"] {
            assert_eq!(PieceText::new(text).unwrap().as_str(), text);
        }
        for text in ["", "1234", " ", "a b", "\t", "\u{7f}", "\u{e9}", "\u{265e}"] {
            assert_eq!(PieceText::new(text), None, "{text:?}");
        }
    }
}
