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
    /// A cell that has this colour itself.
    Tint(Colour),
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
            Role::Rim(colour) => self.pick([0x1a, 0x1a, 0x1a], dark_rim(colours_of(colour)[0])),
            Role::Letter(colour) => letter_on(colours_of(colour)[0]),
            Role::Target(colour) => {
                let [_, dark, light] = colours_of(colour);
                self.pick(dark, light)
            }
            Role::Tint(colour) => self.tint(colours_of(colour)[0]),
        }
    }

    /// Returns a cell's colour with a part of this one. On dark it isn't lighter than a cell, so that what
    /// can be seen on cells is seen on it, too.
    fn tint(self, colour: Rgb) -> Rgb {
        let cell = self.rgb(Role::Cell);
        let mixed = mix(cell, colour, 45);
        let fits = |tint: &Rgb| self == Self::Light || luminance(*tint) <= luminance(cell);
        let darker = (0..=100).map(|part| mix(mixed, [0; 3], part));
        darker.into_iter().find(fits).unwrap_or(cell)
    }

    fn pick(self, light: Rgb, dark: Rgb) -> Rgb {
        match self {
            Self::Light => light,
            Self::Dark => dark,
        }
    }
}

/// Returns a colour with a part of another one, in hundredths.
fn mix(one: Rgb, other: Rgb, part: u16) -> Rgb {
    let mixed = |(one, other): (u8, u8)| {
        (u16::from(one) * (100 - part) + u16::from(other) * part + 50) / 100
    };
    let at = |channel: usize| u8::try_from(mixed((one[channel], other[channel])));
    [0, 1, 2].map(|channel| at(channel).unwrap_or(u8::MAX))
}

/// Returns the rim of a piece on a dark board: a light one if the piece itself doesn't stand out.
fn dark_rim(piece: Rgb) -> Rgb {
    let grounds = [Role::Background, Role::Cell, Role::Pad].map(|role| Theme::Dark.rgb(role));
    let stands_out = grounds.into_iter().all(|ground| contrast(piece, ground) >= 3.0);
    if stands_out { [0x00, 0x00, 0x00] } else { [0xd8, 0xd8, 0xd8] }
}

/// Returns black or white, whichever reads better on this colour.
fn letter_on(piece: Rgb) -> Rgb {
    let [black, white] = [[0x00; 3], [0xff; 3]];
    if contrast(black, piece) >= contrast(white, piece) { black } else { white }
}

/// Returns the first of a colour and its mixtures with another one that reads on a cell.
fn readable(theme: Theme, colour: Rgb, towards: Rgb) -> Rgb {
    let cell = theme.rgb(Role::Cell);
    let mut mixtures = (0..=20).map(|step| mix(colour, towards, step * 5));
    mixtures.find(|&mixture| contrast(mixture, cell) >= 4.5).unwrap_or(towards)
}

/// The contrast ratio of the web's accessibility guidelines, 1 to 21.
pub(super) fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(rgb: Rgb) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2])
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
        Colour::White => [[0xfa, 0xfa, 0xfa], [0x66, 0x66, 0x66], [0xfa, 0xfa, 0xfa]],
        Colour::Rgb(red, green, blue) => {
            let own = [red, green, blue];
            let [black, white] = [[0x00; 3], [0xff; 3]];
            [own, readable(Theme::Light, own, black), readable(Theme::Dark, own, white)]
        }
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
        own.into_iter().chain(Colour::NAMED.iter().copied().flat_map(Self::of)).collect()
    }

    /// Returns the parts of a picture that depend on a colour.
    pub(super) fn of(colour: Colour) -> [Self; 5] {
        [Self::Piece, Self::Rim, Self::Letter, Self::Target, Self::Tint].map(|part| part(colour))
    }

    /// Returns the name in stylesheets: `piece-red`, `board-cell`.
    pub(super) fn name(self) -> String {
        let part: &str = self.into();
        match self {
            Self::Piece(colour)
            | Self::Rim(colour)
            | Self::Letter(colour)
            | Self::Target(colour)
            | Self::Tint(colour) => format!("{part}-{}", id(colour)),
            _ => format!("board-{part}"),
        }
    }
}

/// Returns the name of a colour in identifiers: `red`, `d55e00`.
pub(super) fn id(colour: Colour) -> String {
    colour.name().trim_start_matches('#').to_owned()
}

/// Formats a colour as `#rrggbb`.
pub(super) fn show([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::{Colour, Role, Theme, contrast};

    const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

    #[test]
    fn pieces_and_marks_stand_out_from_the_board() {
        for theme in THEMES {
            let to = |one: Role, other: Role| contrast(theme.rgb(one), theme.rgb(other));
            for ground in [Role::Cell, Role::Pad, Role::Background] {
                assert!(to(Role::Mark, ground) >= 3.0, "{theme:?} {ground:?}");
                for &colour in Colour::NAMED {
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
            for &colour in Colour::NAMED {
                assert!(to(Role::Letter(colour), Role::Piece(colour)) >= 4.5, "{colour:?}");
                assert!(to(Role::Target(colour), Role::Cell) >= 4.5, "{theme:?} {colour:?}");
            }
            for text in [Role::Ink, Role::Faint] {
                assert!(to(text, Role::Background) >= 4.5, "{theme:?} {text:?}");
            }
        }
    }

    /// Every colour of a coarse cube, and those that have a name.
    fn many() -> impl Iterator<Item = Colour> {
        let steps = || (0..=255).step_by(17);
        let with_red = move |red| {
            let with_green = move |green| steps().map(move |blue| Colour::Rgb(red, green, blue));
            steps().flat_map(with_green)
        };
        steps().flat_map(with_red).chain(Colour::NAMED.iter().copied())
    }

    #[test]
    fn any_colour_is_seen_and_read_on_every_ground() {
        for theme in THEMES {
            let to = |one: Role, other: Role| contrast(theme.rgb(one), theme.rgb(other));
            for colour in many() {
                for ground in [Role::Cell, Role::Pad, Role::Background, Role::Tint(Colour::White)] {
                    let piece = to(Role::Piece(colour), ground).max(to(Role::Rim(colour), ground));
                    assert!(piece >= 3.0, "{theme:?} {colour:?} on {ground:?}: {piece}");
                }
                assert!(to(Role::Letter(colour), Role::Piece(colour)) >= 4.5, "{colour:?}");
                assert!(to(Role::Target(colour), Role::Cell) >= 4.5, "{theme:?} {colour:?}");
                assert!(to(Role::Mark, Role::Tint(colour)) >= 3.0, "{theme:?} {colour:?}");
                for &piece in Colour::NAMED {
                    let tint = Role::Tint(colour);
                    let seen = to(Role::Piece(piece), tint).max(to(Role::Rim(piece), tint));
                    assert!(seen >= 3.0, "{theme:?} {piece:?} on {colour:?}: {seen}");
                }
            }
        }
    }

    #[test]
    fn no_two_pieces_share_a_colour() {
        for (index, &one) in Colour::NAMED.iter().enumerate() {
            for &other in &Colour::NAMED[..index] {
                for role in [Role::Piece, Role::Target] {
                    let rgb = |colour| Theme::Light.rgb(role(colour));
                    assert_ne!(rgb(one), rgb(other), "{one:?} {other:?}");
                }
            }
        }
    }
}
