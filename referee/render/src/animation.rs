//! Animated GIF and PNG with a palette. Each frame contains only the rectangle that differs from the frame
//! before, and in it only the pixels that do.

use super::indexed_palette::IndexedPalette;
use super::palette::Rgb;
use super::raster::{PictureError, Pixels};
use std::io::Write;
use std::ops::Range;

/// An unfinished GIF. It repeats forever.
pub(super) struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    frames: IndexedFrames,
}

/// An unfinished APNG. It repeats forever.
pub(super) struct Apng<W: Write> {
    writer: png::Writer<W>,
    frames: IndexedFrames,
}

/// The frames of an animation as numbers of colours.
struct IndexedFrames {
    colours: IndexedPalette,
    row: usize,
    before: Vec<Rgb>,
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl IndexedFrames {
    /// Takes the colours from these frames, which have one size.
    fn new(samples: &[Pixels; 2]) -> Self {
        let pixels = samples.each_ref().map(|frame| frame.rgb.as_slice()).concat();
        let row = usize::try_from(samples[0].width).unwrap_or(usize::MAX);
        Self { colours: IndexedPalette::new(&pixels), row, before: Vec::new() }
    }

    /// Returns the rectangle that a frame changes, and the numbers of its pixels; those that stay are
    /// transparent.
    fn next(&mut self, pixels: &Pixels) -> (Part, Vec<u8>) {
        let part = changed(&self.before, &pixels.rgb, self.row);
        let mut numbers = Vec::with_capacity(part.width * part.height);
        for places in part.rows(self.row) {
            let now = &pixels.rgb[places.clone()];
            match self.before.get(places) {
                Some(before) => self.colours.changes(before, now, &mut numbers),
                None => self.colours.numbers(now, &mut numbers),
            }
        }
        self.before.clone_from(&pixels.rgb);
        (part, numbers)
    }
}

impl<W: Write> Gif<W> {
    /// Begins an animation in the colours of these frames, which have one size.
    pub(super) fn begin(out: W, samples: &[Pixels; 2]) -> Result<Self, PictureError> {
        let Pixels { width, height, .. } = samples[0];
        let too_large = |_| PictureError::TooLarge { width, height: height.into() };
        let side = |pixels: u32| u16::try_from(pixels).map_err(too_large);
        let (width, height) = (side(width)?, side(height)?);
        let frames = IndexedFrames::new(samples);
        let mut encoder = gif::Encoder::new(out, width, height, &frames.colours.bytes())?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        Ok(Self { encoder, frames })
    }

    /// Adds a frame that is shown this long, rounded to hundredths of a second.
    pub(super) fn frame(&mut self, pixels: &Pixels, delay_ms: u32) -> Result<(), PictureError> {
        let first = self.frames.before.is_empty();
        let (part, numbers) = self.frames.next(pixels);
        let side = |pixels: usize| u16::try_from(pixels).unwrap_or(u16::MAX);
        let frame = gif::Frame {
            delay: u16::try_from(delay_ms / 10).unwrap_or(u16::MAX),
            transparent: (!first).then_some(self.frames.colours.transparent()),
            left: side(part.left),
            top: side(part.top),
            width: side(part.width),
            height: side(part.height),
            buffer: numbers.into(),
            ..gif::Frame::default()
        };
        Ok(self.encoder.write_frame(&frame)?)
    }

    pub(super) fn finish(self) -> Result<(), PictureError> {
        Ok(self.encoder.into_inner()?.flush()?)
    }
}

impl<W: Write> Apng<W> {
    /// Begins an animation of this many frames in the colours of two of them.
    pub(super) fn begin(out: W, samples: &[Pixels; 2], frames: u32) -> Result<Self, PictureError> {
        let mut encoder = png::Encoder::new(out, samples[0].width, samples[0].height);
        let indexed = IndexedFrames::new(samples);
        let mut opacity = vec![255; usize::from(indexed.colours.transparent())];
        opacity.push(0);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(indexed.colours.bytes());
        encoder.set_trns(opacity);
        encoder.set_animated(frames, 0)?;
        encoder.set_blend_op(png::BlendOp::Over)?;
        Ok(Self { writer: encoder.write_header()?, frames: indexed })
    }

    /// Adds a frame that is shown this long.
    pub(super) fn frame(&mut self, pixels: &Pixels, delay_ms: u32) -> Result<(), PictureError> {
        let (part, numbers) = self.frames.next(pixels);
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let writer = &mut self.writer;
        let delay = u16::try_from(delay_ms).unwrap_or(u16::MAX);
        writer.set_frame_delay(delay, 1000)?;
        // A new position is checked against the old size, so reset it first.
        writer.reset_frame_position()?;
        writer.set_frame_dimension(side(part.width), side(part.height))?;
        writer.set_frame_position(side(part.left), side(part.top))?;
        Ok(writer.write_image_data(&numbers)?)
    }

    /// Completes it; an error if frames are missing.
    pub(super) fn finish(self) -> Result<(), PictureError> {
        Ok(self.writer.finish()?)
    }
}

impl Part {
    /// Returns the indexes of its pixels, row by row, in a picture with rows of this length.
    fn rows(self, row: usize) -> impl Iterator<Item = Range<usize>> {
        let starts = (self.top..self.top + self.height).map(move |y| y * row + self.left);
        starts.map(move |start| start..start + self.width)
    }
}

/// Returns the smallest rectangle with all changes: the whole picture for a first frame, one pixel if
/// nothing changed.
fn changed(before: &[Rgb], now: &[Rgb], row: usize) -> Part {
    let rows = now.len() / row;
    if before.len() != now.len() {
        return Part { left: 0, top: 0, width: row, height: rows };
    }
    let (mut left, mut right, mut top, mut bottom) = (row, 0, rows, 0);
    for (y, (old, new)) in before.chunks(row).zip(now.chunks(row)).enumerate() {
        let differs = |x: &usize| old[*x] != new[*x];
        // Most rows are equal, which is quick to see as bytes.
        if old.as_flattened() == new.as_flattened() {
            continue;
        }
        if let Some(first) = (0..row).find(differs) {
            let last = (first..row).rev().find(differs).unwrap_or(first);
            (left, right) = (left.min(first), right.max(last + 1));
            (top, bottom) = (top.min(y), y + 1);
        }
    }
    if bottom == 0 {
        return Part { left: 0, top: 0, width: 1, height: 1 };
    }
    Part { left, top, width: right - left, height: bottom - top }
}

#[cfg(test)]
mod tests {
    use super::{Part, changed};

    #[test]
    fn a_frame_is_the_least_rectangle_with_all_changes() {
        let before = [[0; 3]; 12];
        let part = |left, top, width, height| Part { left, top, width, height };
        assert_eq!(changed(&[], &before, 4), part(0, 0, 4, 3));
        assert_eq!(changed(&before, &before, 4), part(0, 0, 1, 1));
        let mut now = before;
        now[6] = [0, 1, 0];
        assert_eq!(changed(&before, &now, 4), part(2, 1, 1, 1));
        now[8] = [1, 0, 0];
        assert_eq!(changed(&before, &now, 4), part(0, 1, 3, 2));
        assert_eq!(part(0, 1, 3, 2).rows(4).collect::<Vec<_>>(), [4..7, 8..11]);
    }
}
