//! Draws SVG as pixels and writes PNG, with the same bytes on every machine.

use super::lettering::outlined;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::io::Write;

/// The most pixels of a picture: 64 MiB while it is drawn.
pub(super) const PIXELS_MAX: u64 = 1 << 24;

/// A picture in pixels, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row, at least one.
    pub width: u32,
    /// Rows, at least one.
    pub height: u32,
    /// Red, green and blue of each pixel.
    pub rgb: Vec<[u8; 3]>,
}

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It would have too many pixels.
    #[error("{width} x {height} pixels are too many; {PIXELS_MAX} can be drawn")]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        height: u64,
    },
    #[error("the picture can't be drawn: {0}")]
    Broken(String),
    #[error(transparent)]
    Written(#[from] std::io::Error),
}

/// A picture while it is drawn.
#[derive(Clone, Debug)]
pub(super) struct Canvas(Pixmap);

impl Canvas {
    /// Draws an SVG document with this width in pixels.
    pub(super) fn new(svg: &str, width: u32) -> Result<Self, PictureError> {
        let tree = tree(svg)?;
        let (width, height) = scaled(tree.size().width(), tree.size().height(), width)?;
        let too_large = || PictureError::TooLarge { width, height: height.into() };
        let mut canvas = Self(Pixmap::new(width, height).ok_or_else(too_large)?);
        canvas.draw(&tree);
        Ok(canvas)
    }

    /// Draws another document of the same size over a copy.
    pub(super) fn with(&self, svg: &str) -> Result<Pixels, PictureError> {
        let mut canvas = self.clone();
        canvas.draw(&tree(svg)?);
        Ok(canvas.pixels())
    }

    fn draw(&mut self, tree: &Tree) {
        let (width, height) = self.size();
        let (across, down) =
            (ratio(width, tree.size().width()), ratio(height, tree.size().height()));
        resvg::render(tree, Transform::from_scale(across, down), &mut self.0.as_mut());
    }

    /// Returns width and height in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    fn pixels(&self) -> Pixels {
        let rgb = self.0.pixels().iter().map(|p| [p.red(), p.green(), p.blue()]).collect();
        let (width, height) = self.size();
        Pixels { width, height, rgb }
    }
}

/// Draws an SVG document with this width in pixels.
pub(super) fn pixels(svg: &str, width: u32) -> Result<Pixels, PictureError> {
    Ok(Canvas::new(svg, width)?.pixels())
}

pub(super) fn tree(svg: &str) -> Result<Tree, PictureError> {
    let drawn = Tree::from_str(&outlined(svg), &Options::default());
    drawn.map_err(|error| PictureError::Broken(error.to_string()))
}

pub(super) fn png(pixels: &Pixels, out: impl Write) -> Result<(), PictureError> {
    let mut encoder = png::Encoder::new(out, pixels.width, pixels.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels.rgb.as_flattened())?;
    Ok(writer.finish()?)
}

impl From<png::EncodingError> for PictureError {
    fn from(error: png::EncodingError) -> Self {
        match error {
            png::EncodingError::IoError(error) => Self::Written(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<gif::EncodingError> for PictureError {
    fn from(error: gif::EncodingError) -> Self {
        match error {
            gif::EncodingError::Io(error) => Self::Written(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

/// Returns width and height in pixels of a document scaled to this width.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number, checked to be small"
)]
fn scaled(across: f32, down: f32, width: u32) -> Result<(u32, u32), PictureError> {
    let width = width.max(1);
    let height = (f64::from(down) * f64::from(width) / f64::from(across)).round().max(1.0) as u64;
    if height.saturating_mul(u64::from(width)) > PIXELS_MAX {
        return Err(PictureError::TooLarge { width, height });
    }
    Ok((width, height as u32))
}

#[expect(clippy::cast_possible_truncation, reason = "no more digits are needed")]
fn ratio(pixels: u32, units: f32) -> f32 {
    (f64::from(pixels) / f64::from(units)) as f32
}

#[cfg(test)]
mod tests {
    use super::{PictureError, pixels, png};

    /// The characters that the font has: those of `fonts/README.md`.
    const COVERED: &[(char, char)] = &[
        (' ', '~'),
        ('\u{a0}', '\u{17f}'),
        ('\u{386}', '\u{38a}'),
        ('\u{38c}', '\u{38c}'),
        ('\u{38e}', '\u{3a1}'),
        ('\u{3a3}', '\u{3ce}'),
        ('\u{401}', '\u{45f}'),
        ('\u{2010}', '\u{2015}'),
        ('\u{2018}', '\u{201e}'),
        ('\u{2022}', '\u{2022}'),
        ('\u{2026}', '\u{2026}'),
        ('\u{2039}', '\u{203a}'),
        ('\u{20ac}', '\u{20ac}'),
        ('\u{2190}', '\u{2193}'),
        ('\u{2212}', '\u{2212}'),
        ('\u{2260}', '\u{2260}'),
        ('\u{2264}', '\u{2265}'),
        ('\u{fffd}', '\u{fffd}'),
    ];

    fn document(letter: char) -> String {
        let escaped = referee_protocol::encode::escape_markup(&letter.to_string());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 20\">\
             <rect width=\"20\" height=\"20\" fill=\"#fff\"/>\
             <text x=\"4\" y=\"15\" font-size=\"12\" font-family=\"Verdana\">{escaped}</text></svg>"
        )
    }

    #[test]
    fn every_covered_letter_is_drawn_and_others_are_replaced() {
        let (missing, blank) = (pixels(&document('\u{FFFD}'), 20), pixels(&document(' '), 20));
        let (missing, blank) = (missing.unwrap(), blank.unwrap());
        assert!(missing != blank);
        for (first, last) in COVERED {
            for letter in *first..=*last {
                let drawn = pixels(&document(letter), 20).unwrap();
                let expected = letter != '\u{FFFD}' && drawn == missing;
                assert!(!expected, "{letter:?} is replaced");
                let invisible = [' ', '\u{a0}', '\u{ad}'].contains(&letter);
                assert!((drawn == blank) == invisible, "{letter:?}");
            }
        }
        for letter in ['\u{1F40D}', '中', 'ش'] {
            assert!(pixels(&document(letter), 20).unwrap() == missing, "{letter:?}");
        }
    }

    #[test]
    fn a_picture_has_the_width_that_was_asked_for() {
        for width in [1, 7, 300] {
            let drawn = pixels(&document('a'), width).unwrap();
            assert_eq!((drawn.width, drawn.height), (width, width));
            let mut bytes = Vec::new();
            png(&drawn, &mut bytes).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
            let mut read = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut read).unwrap();
            assert!(read == drawn.rgb.as_flattened());
        }
    }

    #[test]
    fn what_is_too_large_or_no_picture_is_refused() {
        assert!(matches!(pixels(&document('a'), 5000), Err(PictureError::TooLarge { .. })));
        assert!(matches!(pixels("<svg", 10), Err(PictureError::Broken(_))));
    }
}
