//! The palette of an animation, which has at most 256 colours.

use super::palette::Rgb;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter;

/// The most colours; one more number means "as in the frame before".
const COLOURS_MAX: usize = 255;

/// The most frequent colours of some pixels; any other becomes the nearest of them.
#[derive(Clone, Debug)]
pub(super) struct IndexedPalette {
    colours: Vec<Rgb>,
    known: HashMap<Rgb, u8>,
}

impl IndexedPalette {
    pub(super) fn new(pixels: &[Rgb]) -> Self {
        let mut counts: HashMap<Rgb, usize> = HashMap::new();
        for run in pixels.chunk_by(Rgb::eq) {
            *counts.entry(run[0]).or_default() += run.len();
        }
        let mut counts: Vec<(Rgb, usize)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|&(colour, count)| (Reverse(count), colour));
        let colours = counts.into_iter().take(COLOURS_MAX).map(|(colour, _)| colour).collect();
        Self { colours, known: HashMap::new() }
    }

    /// Returns the colours, and one more that is never shown.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.colours.iter().chain([&[0; 3]]).flatten().copied().collect()
    }

    /// Returns the number of "as in the frame before".
    pub(super) fn transparent(&self) -> u8 {
        u8::try_from(self.colours.len()).unwrap_or(u8::MAX)
    }

    /// Appends the number of the nearest colour for each pixel.
    pub(super) fn numbers(&mut self, pixels: &[Rgb], numbers: &mut Vec<u8>) {
        for run in pixels.chunk_by(Rgb::eq) {
            numbers.extend(iter::repeat_n(self.number(run[0]), run.len()));
        }
    }

    /// Appends the same for a part of a frame; pixels that are as in the frame `before` are transparent.
    pub(super) fn changes(&mut self, before: &[Rgb], now: &[Rgb], numbers: &mut Vec<u8>) {
        let transparent = self.transparent();
        for (before, now) in before.iter().zip(now) {
            numbers.push(if before == now { transparent } else { self.number(*now) });
        }
    }

    fn number(&mut self, pixel: Rgb) -> u8 {
        let colours = &self.colours;
        *self.known.entry(pixel).or_insert_with(|| nearest(colours, pixel))
    }
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
    use super::{COLOURS_MAX, IndexedPalette};

    #[test]
    fn frequent_colours_are_exact_and_others_become_the_nearest() {
        let many: Vec<[u8; 3]> = (0..=255).flat_map(|red| [[red, 0, 0]; 2]).collect();
        let pixels = [vec![[255, 255, 255]; 3], many].concat();
        let mut palette = IndexedPalette::new(&pixels);
        assert_eq!(palette.bytes().len(), 3 * (COLOURS_MAX + 1));
        assert_eq!(palette.transparent(), 255);
        let pixels = [[255, 255, 255], [253, 0, 0], [255, 0, 0], [253, 9, 9]];
        let mut shown = Vec::new();
        palette.numbers(&pixels, &mut shown);
        assert_eq!(shown, [0, 254, 254, 254]);
        palette.changes(&[[255, 255, 255], [0; 3]], &pixels[..2], &mut shown);
        assert_eq!(shown[4..], [255, 254]);
    }
}
