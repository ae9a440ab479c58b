//! The colours that a GIF of a board has: those of the palette that the board uses, and mixtures of
//! those that meet, for the soft borders between them.

use super::palette::{Rgb, Role, Theme};
use referee_games::view::{Colour, GroundKind, View};
use std::collections::{BTreeSet, HashMap};

/// A GIF has at most so many, of which one means "as before".
const COLOURS_MAX: usize = 255;

/// A fixed list of colours, and the nearest of them to any other.
#[derive(Clone, Debug)]
pub(super) struct GifPalette {
    colours: Vec<Rgb>,
    known: HashMap<Rgb, u8>,
}

impl GifPalette {
    /// The colours for pictures of boards with these colours of pieces, edges and camps.
    pub(super) fn new(theme: Theme, colours_used: &BTreeSet<Colour>) -> Self {
        let pairs = pairs(colours_used);
        let mut colours: Vec<Rgb> = Vec::new();
        let mut add = |colour: Rgb| {
            if colours.len() < COLOURS_MAX && !colours.contains(&colour) {
                colours.push(colour);
            }
        };
        for role in pairs.iter().flat_map(|&(one, other)| [one, other]) {
            add(theme.rgb(role));
        }
        // Halves first, then quarters and so on: if the room ends, all borders are equally soft.
        for parts in [2, 4, 8, 16] {
            for part in (1..parts).step_by(2) {
                for &(one, other) in &pairs {
                    add(mixed(theme.rgb(one), theme.rgb(other), part, parts));
                }
            }
        }
        Self { colours, known: HashMap::new() }
    }

    /// The colours one after the other, with one more that stands for no colour.
    pub(super) fn palette(&self) -> Vec<u8> {
        self.colours.iter().chain([&[0; 3]]).flatten().copied().collect()
    }

    /// The number of "as before".
    pub(super) fn transparent(&self) -> u8 {
        u8::try_from(self.colours.len()).unwrap_or(u8::MAX)
    }

    /// The number of the nearest colour for each pixel.
    pub(super) fn numbers(&mut self, pixels: &[Rgb]) -> Vec<u8> {
        let mut last = None;
        let mut number = |&pixel: &Rgb| match last {
            Some((known, number)) if known == pixel => number,
            _ => {
                let colours = &self.colours;
                let number = *self.known.entry(pixel).or_insert_with(|| nearest(colours, pixel));
                last = Some((pixel, number));
                number
            }
        };
        pixels.iter().map(&mut number).collect()
    }
}

/// The colours of the players on these boards.
pub(super) fn colours_used<'a>(views: impl IntoIterator<Item = &'a View>) -> BTreeSet<Colour> {
    let mut colours_used = BTreeSet::new();
    for view in views {
        colours_used.extend(view.pieces.iter().map(|piece| piece.colour));
        colours_used.extend(view.edges.iter().map(|edge| edge.colour));
        colours_used.extend(view.ground.iter().filter_map(|ground| match ground.kind {
            GroundKind::Target(colour) => Some(colour),
            GroundKind::Pad => None,
        }));
    }
    colours_used
}

/// What meets on a picture.
fn pairs(colours_used: &BTreeSet<Colour>) -> Vec<(Role, Role)> {
    let mut pairs = vec![
        (Role::Background, Role::Ink),
        (Role::Cell, Role::Line),
        (Role::Cell, Role::Mark),
        (Role::Background, Role::Line),
        (Role::Background, Role::Faint),
        (Role::Pad, Role::PadLine),
        (Role::Cell, Role::PadLine),
        (Role::Pad, Role::Mark),
        (Role::Line, Role::Mark),
    ];
    for &colour in colours_used {
        let (piece, rim) = (Role::Piece(colour), Role::Rim(colour));
        pairs.extend([
            (piece, rim),
            (piece, Role::Letter(colour)),
            (rim, Role::Cell),
            (rim, Role::Background),
            (Role::Target(colour), Role::Cell),
            (rim, Role::Pad),
            (piece, Role::Line),
        ]);
    }
    pairs
}

fn mixed(one: Rgb, other: Rgb, part: u32, parts: u32) -> Rgb {
    let mix = |index: usize| {
        let (one, other) = (u32::from(one[index]), u32::from(other[index]));
        let sum = one * (parts - part) + other * part;
        u8::try_from((sum + parts / 2) / parts).unwrap_or(u8::MAX)
    };
    [mix(0), mix(1), mix(2)]
}

fn nearest(colours: &[Rgb], pixel: Rgb) -> u8 {
    let distance = |colour: &Rgb| -> u32 {
        colour.iter().zip(pixel).map(|(&one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    let numbered = (0_u8..).zip(colours);
    numbered.min_by_key(|(_, colour)| distance(colour)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::{COLOURS_MAX, GifPalette, nearest};
    use crate::palette::{Role, Theme};
    use referee_games::view::Colour;

    #[test]
    fn every_colour_of_the_palette_is_exact_and_there_is_room_for_none() {
        for theme in [Theme::Light, Theme::Dark] {
            let exact = GifPalette::new(theme, &Colour::ALL.iter().copied().collect());
            assert!(exact.colours.len() <= COLOURS_MAX);
            assert!(usize::from(exact.transparent()) == exact.colours.len());
            for role in Role::all() {
                assert!(exact.colours.contains(&theme.rgb(role)), "{theme:?} {role:?}");
            }
        }
    }

    #[test]
    fn the_nearest_colour_is_taken() {
        let colours = [[0, 0, 0], [255, 255, 255], [200, 0, 0]];
        assert_eq!(nearest(&colours, [200, 0, 0]), 2);
        assert_eq!(nearest(&colours, [250, 240, 240]), 1);
        let mut exact =
            GifPalette { colours: colours.to_vec(), known: std::collections::HashMap::new() };
        assert_eq!(exact.numbers(&[[1, 1, 1], [1, 1, 1], [190, 9, 9], [1, 1, 1]]), [0, 0, 2, 0]);
    }
}
