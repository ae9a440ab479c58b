//! The colours of pictures, light and dark. The hues are those of Okabe and Ito, which people with any
//! colour vision can distinguish.
//!
//! Colour only repeats letters and shapes. Pieces and marks have a contrast of 3:1 to the board, letters
//! 4.5:1 to their background, as in the web's accessibility guidelines (WCAG 2.2, 1.4.3 and 1.4.11).

use referee_games::view::Colour;

/// The background of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// A part of a picture that has a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Role {
    /// Behind everything.
    Background,
    Ink,
    /// Less important text, such as coordinates.
    Faint,
    Cell,
    Line,
    /// Marks: the last action, a chain.
    Mark,
    Pad,
    /// Its border.
    PadLine,
    Piece(Colour),
    Rim(Colour),
    Letter(Colour),
    /// The letter and the border of a camp that this colour wants to reach.
    Target(Colour),
}

impl Theme {
    /// Returns the colour of a part.
    pub(super) fn rgb(self, role: Role) -> Rgb {
        match role {
            Role::Background => self.pick([0xff, 0xff, 0xff], [0x14, 0x14, 0x14]),
            Role::Ink => self.pick([0x1a, 0x1a, 0x1a], [0xf0, 0xf0, 0xf0]),
            Role::Faint => self.pick([0x5f, 0x5b, 0x50], [0xa8, 0xa8, 0xa8]),
            Role::Cell => self.pick([0xfb, 0xf8, 0xf0], [0x32, 0x37, 0x3e]),
            Role::Line => self.pick([0x8a, 0x85, 0x77], [0x86, 0x8b, 0x93]),
            Role::Mark => self.pick([0x00, 0x00, 0x00], [0xff, 0xff, 0xff]),
            Role::Pad => self.pick([0xcf, 0xe8, 0xd5], [0x14, 0x20, 0x1a]),
            Role::PadLine => self.pick([0x2f, 0x7d, 0x5b], [0x3a, 0xa3, 0x7c]),
            Role::Piece(colour) => colours_of(colour)[0],
            // Dark pieces on a dark board have light rims.
            Role::Rim(Colour::Black) => self.pick([0x1a, 0x1a, 0x1a], [0xd8, 0xd8, 0xd8]),
            Role::Rim(Colour::Blue) => self.pick([0x1a, 0x1a, 0x1a], [0x9c, 0xc9, 0xea]),
            Role::Rim(_) => self.pick([0x1a, 0x1a, 0x1a], [0x00, 0x00, 0x00]),
            Role::Letter(Colour::Blue | Colour::Black) => [0xff, 0xff, 0xff],
            Role::Letter(_) => [0x00, 0x00, 0x00],
            Role::Target(colour) => {
                let [_, dark, light] = colours_of(colour);
                self.pick(dark, light)
            }
        }
    }

    fn pick(self, light: Rgb, dark: Rgb) -> Rgb {
        match self {
            Self::Light => light,
            Self::Dark => dark,
        }
    }
}

/// Returns the hue of a colour's pieces, and a darker and a lighter one for letters on the board.
fn colours_of(colour: Colour) -> [Rgb; 3] {
    match colour {
        Colour::Red => [[0xd5, 0x5e, 0x00], [0xa8, 0x47, 0x00], [0xf0, 0x8a, 0x3c]],
        Colour::Green => [[0x00, 0x9e, 0x73], [0x00, 0x6e, 0x50], [0x1f, 0xbf, 0x92]],
        Colour::Blue => [[0x00, 0x72, 0xb2], [0x00, 0x65, 0xa0], [0x6c, 0xb2, 0xe8]],
        Colour::Yellow => [[0xf0, 0xe4, 0x42], [0x7a, 0x6a, 0x00], [0xf0, 0xe4, 0x42]],
        Colour::Purple => [[0xcc, 0x79, 0xa7], [0x96, 0x43, 0x7a], [0xe2, 0x9a, 0xc2]],
        Colour::Orange => [[0xe6, 0x9f, 0x00], [0x8a, 0x5a, 0x00], [0xf0, 0xac, 0x20]],
        Colour::Black => [[0x0a, 0x0a, 0x0a], [0x33, 0x33, 0x33], [0xc8, 0xc8, 0xc8]],
        Colour::Peg => [[0x56, 0xb4, 0xe9], [0x1c, 0x6a, 0x96], [0x6f, 0xc3, 0xf2]],
    }
}

impl Role {
    pub(super) fn all() -> Vec<Self> {
        let own = [
            Self::Background,
            Self::Ink,
            Self::Faint,
            Self::Cell,
            Self::Line,
            Self::Mark,
            Self::Pad,
            Self::PadLine,
        ];
        let of = |colour| {
            [Self::Piece(colour), Self::Rim(colour), Self::Letter(colour), Self::Target(colour)]
        };
        own.into_iter().chain(Colour::ALL.iter().copied().flat_map(of)).collect()
    }

    /// Returns the name in stylesheets: `piece-red`, `board-cell`.
    pub(super) fn name(self) -> String {
        let part: &str = self.into();
        match self {
            Self::Piece(colour)
            | Self::Rim(colour)
            | Self::Letter(colour)
            | Self::Target(colour) => format!("{part}-{}", colour.name()),
            _ => format!("board-{part}"),
        }
    }
}

/// Formats a colour as `#rrggbb`.
pub(super) fn show([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::{Colour, Role, Theme};
    use crate::tests::contrast;

    const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

    #[test]
    fn pieces_and_marks_stand_out_from_the_board() {
        for theme in THEMES {
            let to = |one: Role, other: Role| contrast(theme.rgb(one), theme.rgb(other));
            for ground in [Role::Cell, Role::Pad, Role::Background] {
                assert!(to(Role::Mark, ground) >= 3.0, "{theme:?} {ground:?}");
                for &colour in Colour::ALL {
                    let piece = to(Role::Piece(colour), ground).max(to(Role::Rim(colour), ground));
                    assert!(piece >= 3.0, "{theme:?} {colour:?} on {ground:?}: {piece}");
                }
            }
            assert!(to(Role::Line, Role::Cell) >= 3.0, "{theme:?}");
            assert!(to(Role::PadLine, Role::Pad) >= 3.0, "{theme:?}");
            assert!(to(Role::PadLine, Role::Cell) >= 3.0, "{theme:?}");
        }
    }

    #[test]
    fn letters_are_read_on_what_they_stand_on() {
        for theme in THEMES {
            let to = |one: Role, other: Role| contrast(theme.rgb(one), theme.rgb(other));
            for &colour in Colour::ALL {
                assert!(to(Role::Letter(colour), Role::Piece(colour)) >= 4.5, "{colour:?}");
                assert!(to(Role::Target(colour), Role::Cell) >= 4.5, "{theme:?} {colour:?}");
            }
            for text in [Role::Ink, Role::Faint] {
                assert!(to(text, Role::Background) >= 4.5, "{theme:?} {text:?}");
            }
        }
    }

    #[test]
    fn no_two_pieces_share_a_colour() {
        for (index, &one) in Colour::ALL.iter().enumerate() {
            for &other in &Colour::ALL[..index] {
                for role in [Role::Piece, Role::Target] {
                    let rgb = |colour| Theme::Light.rgb(role(colour));
                    assert_ne!(rgb(one), rgb(other), "{one:?} {other:?}");
                }
            }
        }
    }
}
