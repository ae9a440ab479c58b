//! The colours of pieces among a terminal's 256 colours.
//!
//! The hues are those of Okabe and Ito, which people with any colour vision can distinguish, each
//! rounded to the terminal's colour cube. A piece is a letter on a block of its hue, readable on any
//! background; ink on the terminal's own background, dark or light, needs a middle brightness, which
//! changes some hues.

use super::canvas::Paint;
use crate::palette::{Rgb, contrast};
use referee_games::view::Colour;

/// The number of black in the colour cube, which no terminal's theme changes.
const BLACK: u8 = 16;
/// The number of white there.
const WHITE: u8 = 231;
/// The grey of a usual dark terminal.
const DARK: Rgb = [0x1e; 3];

/// A colour whose parts differ by less is a grey.
const GREY_WIDTH: u32 = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalColours {
    pub bold: bool,
    /// The glyph's colour, 0 to 255; `None` is the terminal's own.
    pub front: Option<u8>,
    /// The background's colour, 0 to 255; `None` is the terminal's own.
    pub back: Option<u8>,
}

/// Returns the colours of a paint.
pub fn terminal_colours(paint: Paint) -> TerminalColours {
    let front = |bold, colour| TerminalColours { bold, front: Some(colour), back: None };
    match paint {
        Paint::Plain => TerminalColours::default(),
        Paint::Strong => TerminalColours { bold: true, ..TerminalColours::default() },
        Paint::Faint => front(false, 244),
        Paint::Pad => terminal_colours(Paint::Ink(Colour::Green)),
        Paint::Ink(colour) => front(false, colours_of(colour)[2]),
        Paint::StrongInk(colour) => front(true, colours_of(colour)[2]),
        Paint::Block(colour) => {
            let [block, letter, _] = colours_of(colour);
            TerminalColours { bold: true, front: Some(letter), back: Some(block) }
        }
    }
}

/// Returns the parameters of the escape code for a paint, if it needs one.
pub(super) fn code(paint: Paint) -> Option<String> {
    let TerminalColours { bold, front, back } = terminal_colours(paint);
    let bold = bold.then(|| "1".to_owned());
    let front = front.map(|colour| format!("38;5;{colour}"));
    let back = back.map(|colour| format!("48;5;{colour}"));
    let parts: Vec<String> = [bold, front, back].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(";"))
}

/// Returns a piece's block, the letter on it, and the colour of marks and lower-case letters.
fn colours_of(colour: Colour) -> [u8; 3] {
    match colour {
        Colour::Red => [166, BLACK, 166],
        Colour::Green => [36, BLACK, 29],
        Colour::Blue => [25, WHITE, 32],
        Colour::Yellow => [227, BLACK, 136],
        Colour::Purple => [175, BLACK, 133],
        Colour::Orange => [214, BLACK, 172],
        Colour::Black => [238, WHITE, 244],
        Colour::Peg => [74, BLACK, 31],
        Colour::White => [255, BLACK, 246],
        Colour::Rgb(red, green, blue) => {
            let block = nearest([red, green, blue]);
            let on_it = |letter: u8| contrast(rgb(letter), rgb(block));
            let letter = if on_it(BLACK) >= on_it(WHITE) { BLACK } else { WHITE };
            [block, letter, readable([red, green, blue])]
        }
    }
}

/// Returns the number of the nearest colour of the cube and the greys.
fn nearest(wanted: Rgb) -> u8 {
    (BLACK..=u8::MAX).min_by_key(|&number| distance(rgb(number), wanted)).unwrap_or(WHITE)
}

/// Returns the colour that is the nearest to this one, or to its pure hue if it doesn't read itself, and reads on
/// dark and light.
fn readable(colour: Rgb) -> u8 {
    let reads = |number: &u8| {
        [DARK, rgb(WHITE)].into_iter().all(|ground| contrast(rgb(*number), ground) > 2.8)
    };
    let near = nearest(colour);
    if reads(&near) {
        return near;
    }
    let pure = pure_hue(colour);
    (BLACK..=u8::MAX).filter(reads).min_by_key(|&number| distance(rgb(number), pure)).unwrap_or(244)
}

/// Returns a colour of middle brightness with this one's hue, since light tints differ in nothing else.
fn pure_hue(colour: Rgb) -> Rgb {
    let (least, most) =
        (colour.into_iter().min().unwrap_or(0), colour.into_iter().max().unwrap_or(0));
    let width = u32::from(most - least);
    if width < GREY_WIDTH {
        return [0x80; 3];
    }
    colour.map(|part| u8::try_from(u32::from(part - least) * 0xc0 / width).unwrap_or(u8::MAX))
}

fn distance(one: Rgb, other: Rgb) -> u32 {
    one.into_iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

/// Returns the red, green and blue of a number in the colour cube or the greys.
fn rgb(number: u8) -> Rgb {
    if number >= 232 {
        return [8 + 10 * (number - 232); 3];
    }
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    let index = number - 16;
    [level(index / 36), level(index / 6 % 6), level(index % 6)]
}

#[cfg(test)]
mod tests {
    use super::{BLACK, DARK, WHITE, colours_of, contrast, rgb};
    use referee_games::view::Colour;
    use std::collections::BTreeSet;

    #[test]
    fn ink_reads_on_dark_and_light_and_letters_on_their_blocks() {
        for &colour in Colour::NAMED {
            let [block, letter, ink] = colours_of(colour).map(rgb);
            for ground in [DARK, rgb(WHITE)] {
                let contrast = contrast(ink, ground);
                assert!(contrast > 2.8, "{colour:?} {ink:?} on {ground:?}: {contrast}");
            }
            let contrast = contrast(block, letter);
            assert!(contrast > 4.5, "{colour:?}: {contrast}");
        }
    }

    #[test]
    fn light_tints_have_inks_of_their_own() {
        let tints =
            [(0xfb, 0xb4, 0xae), (0xb3, 0xcd, 0xe3), (0xcc, 0xeb, 0xc5), (0xde, 0xcb, 0xe4)];
        let inks = tints.map(|(red, green, blue)| colours_of(Colour::Rgb(red, green, blue))[2]);
        let different: BTreeSet<u8> = inks.into_iter().collect();
        assert_eq!(different.len(), 4, "{inks:?}");
        assert_eq!(colours_of(Colour::Rgb(0xdd, 0xdd, 0xd8))[2], 244, "a light grey");
    }

    #[test]
    fn no_two_colours_share_a_hue() {
        for (index, &one) in Colour::NAMED.iter().enumerate() {
            for &other in &Colour::NAMED[..index] {
                let ([block, _, ink], others) = (colours_of(one), colours_of(other));
                assert!(block != others[0] && ink != others[2], "{one:?} {other:?}");
            }
        }
        assert!(contrast(rgb(BLACK), rgb(WHITE)) > 20.9);
    }
}
