//! The frames of an animation.

use super::pictures::{PictureOptions, Plies, animation_width, caption, equalize_rooms, look};
use super::raster::{Canvas, PictureError, Pixels};
use super::svg::{PictureStyle, extent, layers};
use referee_match::transcript::{Playback, Ply};
use std::sync::mpsc::sync_channel;

/// The last frame of an animation is shown this many times as long as the others,
const LAST_TIMES: u32 = 4;
/// and at least for this many milliseconds.
const LAST_MS: u32 = 3000;
/// How many frames are drawn ahead.
const FRAMES_AHEAD: usize = 2;

/// The frames of an animation, all of one size.
#[derive(Debug)]
pub struct AnimationFrames<'a> {
    plies: &'a [Ply],
    pub(super) looks: Vec<PictureStyle>,
    options: &'a PictureOptions,
    /// The empty board, drawn once.
    board: Canvas,
}

impl<'a> AnimationFrames<'a> {
    /// Prepares the frames of these plies: all unless it is a range.
    pub fn new(
        playback: &'a Playback,
        plies: Plies,
        options: &'a PictureOptions,
    ) -> Result<Self, PictureError> {
        let all = playback.plies();
        let (first, last) = match plies {
            Plies::Range(first, last) => (first, last),
            Plies::One(_) | Plies::Strip(_) => (0, all.len() - 1),
        };
        let looks = (first..=last).map(|index| PictureStyle {
            caption: caption(playback, &all[index]),
            figures: true,
            ..look(options, all, index)
        });
        let (plies, looks) = (&all[first..=last], looks.collect());
        let looks = equalize_rooms(plies.iter().map(|ply| &ply.view), looks);
        let width =
            options.width.unwrap_or_else(|| animation_width(extent(&plies[0].view, &looks[0])));
        let [board, _] = layers(&plies[0].view, &looks[0]);
        Ok(Self { plies, looks, options, board: Canvas::new(&board, width)? })
    }

    pub(super) fn frame(&self, index: usize) -> Result<Pixels, PictureError> {
        let [_, over] = layers(&self.plies[index].view, &self.looks[index]);
        self.board.with(&over)
    }

    pub(super) fn count(&self) -> usize {
        self.looks.len()
    }

    /// Returns width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.board.size()
    }

    /// Returns the first and the last frame, which have all colours.
    pub(super) fn samples(&self) -> Result<[Pixels; 2], PictureError> {
        Ok([self.frame(0)?, self.frame(self.looks.len() - 1)?])
    }

    /// Draws all frames, in order. Calls `add` with each and how long it is shown, in milliseconds, and
    /// `done` with their number so far.
    pub fn each(
        &self,
        done: &mut dyn FnMut(usize),
        mut add: impl FnMut(&Pixels, u32) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        let last = self.looks.len() - 1;
        let delay = self.options.delay_ms;
        let longer = delay.saturating_mul(LAST_TIMES).max(LAST_MS);
        std::thread::scope(|scope| {
            // Frames are drawn while earlier ones are packed.
            let (to_pack, drawn) = sync_channel(FRAMES_AHEAD);
            scope.spawn(move || (0..=last).try_for_each(|index| to_pack.send(self.frame(index))));
            for (index, pixels) in drawn.iter().enumerate() {
                add(&pixels?, if index == last { longer } else { delay })?;
                done(index + 1);
            }
            Ok(())
        })
    }
}
