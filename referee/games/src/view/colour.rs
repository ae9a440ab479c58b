//! The colours of pieces: those that have a name, and any other.

use serde::{Serialize, Serializer};
use std::borrow::Cow;
use strum::IntoStaticStr;

/// The colour of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Colour {
    /// R
    Red,
    /// G
    Green,
    /// B
    Blue,
    /// Y
    Yellow,
    /// P
    Purple,
    /// O
    Orange,
    /// B; in the built-in games never on one board with blue
    Black,
    /// The one kind of piece in a puzzle: `o`
    Peg,
    /// W
    White,
    /// Any other, by its red, green and blue: `#`
    Rgb(u8, u8, u8),
}

impl Colour {
    /// All that have a name.
    pub const NAMED: &'static [Self] = &[
        Self::Red,
        Self::Green,
        Self::Blue,
        Self::Yellow,
        Self::Purple,
        Self::Orange,
        Self::Black,
        Self::Peg,
        Self::White,
    ];

    /// Returns the colour with this name on the wire, or these digits: `red`, `#d55e00`.
    pub fn named(name: &str) -> Option<Self> {
        let Some(digits) = name.strip_prefix('#') else {
            return Self::NAMED.iter().copied().find(|&colour| name == <&str>::from(colour));
        };
        let is_hex = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        if is_hex { Some(Self::Rgb(part(0)?, part(2)?, part(4)?)) } else { None }
    }

    /// Returns the name on the wire: a word, or `#` and six digits.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}").into(),
            named => Cow::Borrowed(named.into()),
        }
    }

    /// Returns the letter that stands for it in plain text, if the pieces have no names.
    pub fn letter(self) -> char {
        match self {
            Self::Peg => 'o',
            _ => char::from(self.name().as_bytes()[0].to_ascii_uppercase()),
        }
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Colour;

    #[test]
    fn every_colour_has_one_name() {
        let more = [Colour::Rgb(0, 0, 0), Colour::Rgb(0xd5, 0x5e, 0), Colour::Rgb(255, 255, 255)];
        for &colour in Colour::NAMED.iter().chain(&more) {
            assert_eq!(Colour::named(&colour.name()), Some(colour));
        }
        assert_eq!(Colour::named("#D55E00"), Some(Colour::Rgb(0xd5, 0x5e, 0)));
        for name in ["", "Red", "rgb", "#fff", "#d55e0", "#d55e000", "#+5+e+0", "#é5e0", "d55e00"]
        {
            assert_eq!(Colour::named(name), None, "{name}");
        }
    }
}
