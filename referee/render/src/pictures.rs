//! Pictures of a match: one position, a strip of positions, an animation.

use crate::animation::{Apng, Gif};
pub use crate::animation_frames::AnimationFrames;
use crate::palette::Theme;
use crate::raster::{PictureError, pixels, png};
use crate::svg::{CaptionLine, PictureStyle, Room, extent, room, strip, svg};
use crate::symbols::Token;
use referee_games::view::View;
use referee_match::summary;
use referee_match::summary::ply_sentence;
use referee_match::transcript::{Playback, Ply, PlyKind};
use referee_protocol::Seat;
use serde::Deserialize;
use std::io::Write;

/// The widest default, in pixels: smaller boards get two pixels a unit.
const USUAL_WIDTH: u32 = 800;
/// The most characters of an agent's name, so that there is room for what it did.
const NAME_MAX: usize = 30;
/// The formats in which a match can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum OutputFormat {
    /// A picture that stays sharp at every size.
    Svg,
    Png,
    /// An animation that every program shows.
    Gif,
    /// The same as an animated PNG.
    Apng,
    /// A video, written by ffmpeg.
    Mp4,
    /// A video without patents, written by ffmpeg.
    Webm,
    /// The viewer with the match in one file, which opens from disk.
    Html,
    /// Every position and what happened, as text.
    Txt,
    /// The game for other programs, where it has that notation.
    Sgf,
}

impl OutputFormat {
    /// Returns the ending of file names.
    pub fn ending(self) -> &'static str {
        self.into()
    }

    /// Whether it shows one position after the other.
    pub fn is_animation(self) -> bool {
        matches!(self, Self::Gif | Self::Apng) || self.is_video()
    }

    /// Whether another program writes it.
    pub fn is_video(self) -> bool {
        matches!(self, Self::Mp4 | Self::Webm)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureOptions {
    /// Dark on light, or light on dark.
    pub theme: Theme,
    /// Whether to name rows and columns.
    pub coordinates: bool,
    /// Whether to turn the board by half a turn.
    pub flip: bool,
    /// Whether to make it as high as wide, with room at two sides.
    pub square: bool,
    /// The width in pixels, except for SVG.
    pub width: Option<u32>,
    /// How long a frame is shown, in milliseconds.
    pub delay_ms: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plies {
    /// One, by its index. Panics if there is none.
    One(usize),
    /// At most this many, evenly spread, the first and the last among them.
    Strip(usize),
    /// In an animation: from one to another, by their indices. Panics if there aren't both.
    Range(usize, usize),
}

/// Writes a match as SVG, PNG, GIF or APNG. An animation shows every ply unless `plies` is a range, and
/// calls `done` with the number of plies written.
pub fn write_picture(
    form: OutputFormat,
    playback: &Playback,
    plies: Plies,
    options: &PictureOptions,
    mut out: impl Write,
    done: &mut dyn FnMut(usize),
) -> Result<(), PictureError> {
    match form {
        OutputFormat::Svg => {
            out.write_all(drawn(playback, plies, options).0.as_bytes())?;
            Ok(out.flush()?)
        }
        OutputFormat::Png => {
            let (document, width) = drawn(playback, plies, options);
            png(&pixels(&document, options.width.unwrap_or(width))?, out)
        }
        OutputFormat::Gif => {
            let frames = AnimationFrames::new(playback, plies, options)?;
            let mut gif = Gif::begin(out, &frames.samples()?)?;
            frames.each(done, |pixels, delay| gif.frame(pixels, delay))?;
            gif.finish()
        }
        OutputFormat::Apng => {
            let frames = AnimationFrames::new(playback, plies, options)?;
            let count = u32::try_from(frames.count()).unwrap_or(u32::MAX);
            let mut apng = Apng::begin(out, &frames.samples()?, count)?;
            frames.each(done, |pixels, delay| apng.frame(pixels, delay))?;
            apng.finish()
        }
        OutputFormat::Mp4
        | OutputFormat::Webm
        | OutputFormat::Html
        | OutputFormat::Txt
        | OutputFormat::Sgf => unreachable!("{form:?} is not a picture"),
    }
}

/// Returns the SVG document and its default width in pixels.
fn drawn(playback: &Playback, plies: Plies, options: &PictureOptions) -> (String, u32) {
    let all = playback.plies();
    match plies {
        Plies::One(index) | Plies::Range(_, index) => {
            let (view, caption) = (&all[index].view, caption(playback, &all[index]));
            let title = title(playback, &ply_sentence(playback.header(), &all[index]));
            let look = PictureStyle { caption, figures: true, ..look(options, all, index) };
            (svg(&title, view, &look), usual_width(extent(view, &look).0))
        }
        Plies::Strip(most) => {
            let shown = spread(all.len(), most);
            let views = || shown.iter().map(|&index| &all[index].view);
            let looks = shown.iter().map(|&index| PictureStyle {
                caption: vec![short(playback, &all[index])],
                ..look(options, all, index)
            });
            let looks = equalize_rooms(views(), looks.collect());
            let (wide, high) = extent(views().next().unwrap_or(&all[0].view), &looks[0]);
            let columns = columns(looks.len(), wide, high);
            let positions: Vec<(&View, &PictureStyle)> = views().zip(&looks).collect();
            let count = u32::try_from(columns).unwrap_or(u32::MAX);
            let title = title(playback, &ply_sentence(playback.header(), &all[all.len() - 1]));
            (strip(&title, &positions, columns), whole(wide * f64::from(count)))
        }
    }
}

/// Returns the style of a ply without text.
pub(super) fn look(options: &PictureOptions, plies: &[Ply], index: usize) -> PictureStyle {
    let PictureOptions { theme, coordinates, flip, square, .. } = *options;
    let before = index.checked_sub(1).map(|before| &plies[before].view);
    let view = &plies[index].view;
    let changes = before.map(|before| view.changes_since(before)).unwrap_or_default();
    PictureStyle { theme, coordinates, flip, square, changes, ..PictureStyle::default() }
}

/// Returns what a picture shows, for those who can't see it: the game, the players, and what happened.
fn title(playback: &Playback, what: &str) -> String {
    let header = playback.header();
    let names: Vec<String> =
        Seat::all(header.seats.len()).map(|seat| name(playback, seat)).collect();
    format!("{}, {}: {what}", header.game, names.join(" - "))
}

/// Gives all of them room for as much as any of them has around its board.
pub(super) fn equalize_rooms<'a>(
    views: impl Iterator<Item = &'a View>,
    looks: Vec<PictureStyle>,
) -> Vec<PictureStyle> {
    let rooms = views.zip(&looks).map(|(view, look)| room(view, look));
    let room = rooms.fold(Room::default(), Room::max);
    looks.into_iter().map(|look| PictureStyle { room, ..look }).collect()
}

/// Returns what happened and who is to move; at the end, who played.
pub(super) fn caption(playback: &Playback, ply: &Ply) -> Vec<CaptionLine> {
    let header = playback.header();
    let text = match &ply.kind {
        PlyKind::Start => format!("{}{}", header.game, summary::setup(header)),
        PlyKind::Played { event, text } => {
            format!("turn {}: {} {text}", ply.turn, named(playback, ply, event.seat))
        }
        PlyKind::Retired { .. } => format!("turn {}: {}", ply.turn, ply_sentence(header, ply)),
        PlyKind::Drawn(drawn) => format!("drawn: {}", drawn.label),
        PlyKind::Over(_) => ply_sentence(header, ply),
    };
    let mut notes = vec![CaptionLine { piece: ply.seat().and_then(|seat| token(ply, seat)), text }];
    if let Some(seat) = ply.to_move {
        let text = format!("{} to move", named(playback, ply, seat));
        notes.push(CaptionLine { piece: token(ply, seat), text });
    }
    // Nothing else shows at the end who had which colour.
    if matches!(ply.kind, PlyKind::Over(_)) && header.seats.len() > 1 {
        for seat in Seat::all(header.seats.len()) {
            notes.push(CaptionLine { piece: token(ply, seat), text: named(playback, ply, seat) });
        }
    }
    notes
}

/// Returns what happened, for a strip.
fn short(playback: &Playback, ply: &Ply) -> CaptionLine {
    let name = |seat: Seat| name(playback, seat);
    let text = match &ply.kind {
        PlyKind::Played { event, text } => format!("{}. {} {text}", ply.turn, name(event.seat)),
        PlyKind::Retired { seat, fault } => {
            format!("{}. {} {}", ply.turn, name(*seat), summary::fault_text(fault.kind))
        }
        PlyKind::Start => "start".to_owned(),
        PlyKind::Drawn(drawn) => format!("drawn: {}", drawn.label),
        PlyKind::Over(_) => ply_sentence(playback.header(), ply),
    };
    CaptionLine { piece: ply.seat().and_then(|seat| token(ply, seat)), text }
}

fn named(playback: &Playback, ply: &Ply, seat: Seat) -> String {
    let colour = ply.colours.get(seat.index()).map_or("", String::as_str);
    format!("{} ({colour})", name(playback, seat))
}

/// Returns the agent's name, cut if it is long.
fn name(playback: &Playback, seat: Seat) -> String {
    let name = playback.header().seats.get(seat.index()).map_or("?", |seat| &seat.name);
    match name.char_indices().nth(NAME_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn token(ply: &Ply, seat: Seat) -> Option<Token> {
    ply.colours.get(seat.index()).and_then(|name| Token::named(&ply.view, name))
}

/// Returns the indexes of at most `most` of `count` plies, evenly spread.
fn spread(count: usize, most: usize) -> Vec<usize> {
    let most = most.clamp(1, count);
    (0..most)
        .map(|place| if most == 1 { count - 1 } else { place * (count - 1) / (most - 1) })
        .collect()
}

/// Returns the number of columns with which a strip is about three by two.
fn columns(count: usize, wide: f64, high: f64) -> usize {
    let fits = |columns: &usize| {
        let rows = count.div_ceil(*columns);
        2.0 * wide * small(*columns) >= 3.0 * high * small(rows)
    };
    (1..count).find(fits).unwrap_or(count)
}

fn small(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

/// Returns two pixels a unit, less for large boards, at least one.
pub(super) fn usual_width(units: f64) -> u32 {
    let units = whole(units);
    (2 * units).min(USUAL_WIDTH).max(units)
}

/// Returns the same for an animation, less if that would be higher than [`USUAL_WIDTH`].
pub(super) fn animation_width((across, down): (f64, f64)) -> u32 {
    let fitting = whole(f64::from(USUAL_WIDTH) * across / down);
    usual_width(across).min(fitting).max(whole(across))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a board's width is positive and small"
)]
fn whole(units: f64) -> u32 {
    units.round() as u32
}

#[cfg(test)]
mod tests {
    use super::{
        OutputFormat, PictureOptions, Plies, caption, columns, pixels, spread, svg, write_picture,
    };
    use referee_games::Games;
    use referee_games::view::Change;
    use referee_match::transcript::{Playback, PlyKind, TranscriptFollower};
    use resvg::usvg::roxmltree::Document;
    use std::io::Cursor;

    /// How far a colour may be from the palette, of 255, but for one pixel in 200.
    const COLOUR_DISTANCE_MAX: u8 = 16;
    const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts");

    fn golden() -> Vec<(String, Playback)> {
        let files = std::fs::read_dir(GOLDEN).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.extension().unwrap() == "jsonl").collect();
        files.sort();
        let read = |path: std::path::PathBuf| {
            let following =
                TranscriptFollower::of(&std::fs::read(&path).unwrap(), &Games::default());
            (path.display().to_string(), following.into_playback().unwrap())
        };
        files.into_iter().map(read).collect()
    }

    /// The shortest matches: pictures of all plies take their time.
    fn short() -> Vec<(String, Playback)> {
        let mut all = golden();
        all.sort_by_key(|(_, playback)| playback.plies().len());
        all.into_iter().filter(|(_, playback)| playback.plies().len() > 3).take(3).collect()
    }

    fn options() -> PictureOptions {
        PictureOptions { width: Some(90), delay_ms: 500, ..PictureOptions::default() }
    }

    fn written(form: OutputFormat, playback: &Playback, plies: Plies) -> (Vec<u8>, Vec<usize>) {
        let (mut out, mut counts) = (Vec::new(), Vec::new());
        let mut done = |count| counts.push(count);
        write_picture(form, playback, plies, &options(), &mut out, &mut done).unwrap();
        (out, counts)
    }

    fn text(playback: &Playback, plies: Plies) -> String {
        String::from_utf8(written(OutputFormat::Svg, playback, plies).0).unwrap()
    }

    #[test]
    fn every_ply_says_what_happened_and_who_is_to_move() {
        for (name, playback) in golden() {
            for (index, ply) in playback.plies().iter().enumerate() {
                let picture = text(&playback, Plies::One(index));
                Document::parse(&picture).unwrap();
                let caption = caption(&playback, ply);
                assert!(picture.matches("<text x=").count() >= caption.len(), "{name} {index}");
                let seats = playback.header().seats.len();
                let more = match (ply.to_move, &ply.kind) {
                    (Some(_), _) => 1,
                    (None, PlyKind::Over(_)) if seats > 1 => seats,
                    _ => 0,
                };
                assert_eq!(caption.len(), 1 + more, "{name} {index}");
                let has_turn = caption[0].text.starts_with("turn ");
                assert_eq!(has_turn, ply.seat().is_some(), "{name} {index}");
            }
        }
    }

    #[test]
    fn pictures_show_what_an_action_changed() {
        let mut kinds = [0; 4];
        for (name, playback) in golden() {
            for (index, pair) in playback.plies().windows(2).enumerate() {
                let changes = pair[1].view.changes_since(&pair[0].view);
                let mut counts = [0; 4];
                for (_, change) in changes {
                    counts[match change {
                        Change::Taken(_) => 0,
                        Change::Exited(_) => 1,
                        Change::Recoloured(_) => 2,
                        Change::Grown => 3,
                    }] += 1;
                }
                let picture = text(&playback, Plies::One(index + 1));
                let drawn = |what: &str| picture.matches(what).count();
                let [taken, exited, recoloured, _] = counts;
                assert_eq!(drawn("M-9-9 9 9"), taken, "{name} {index}");
                assert_eq!(drawn("opacity=\"0.35\""), taken + exited, "{name} {index}");
                assert_eq!(drawn("scale(0.45)"), recoloured, "{name} {index}");
                kinds = std::array::from_fn(|kind| kinds[kind] + counts[kind]);
            }
        }
        assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
    }

    #[test]
    fn a_title_names_the_players_and_what_happened() {
        let (_, playback) =
            golden().into_iter().find(|(name, _)| name.contains("hex-swap")).unwrap();
        let picture = text(&playback, Plies::One(1));
        let document = Document::parse(&picture).unwrap();
        let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
        let words = title.text().unwrap();
        for seat in &playback.header().seats {
            assert!(words.contains(&seat.name), "{words}");
        }
        assert!(words.starts_with("hex, "), "{words}");
    }

    #[test]
    fn a_strip_has_first_and_last_and_no_more_than_asked_for() {
        for (name, playback) in golden() {
            let count = playback.plies().len();
            let boards = |plies| text(&playback, plies).matches("layer-cells").count();
            assert_eq!(boards(Plies::Strip(5)), count.min(5), "{name}");
        }
        assert_eq!(spread(9, 4), [0, 2, 5, 8]);
        assert_eq!(spread(3, 12), [0, 1, 2]);
        assert_eq!(spread(7, 1), [6]);
        assert_eq!(columns(12, 1.0, 1.0), 5);
        assert_eq!(columns(1, 1.0, 9.0), 1);
        assert_eq!(columns(4, 9.0, 1.0), 1);
    }

    #[test]
    fn a_picture_is_as_wide_as_asked_for() {
        let (_, playback) = golden().remove(0);
        let (out, _) = written(OutputFormat::Png, &playback, Plies::One(0));
        let reader = png::Decoder::new(Cursor::new(out)).read_info().unwrap();
        assert_eq!(reader.info().width, 90);
    }

    #[test]
    fn animations_have_every_ply_and_stay_at_the_end() {
        for (name, playback) in short() {
            let count = playback.plies().len();
            let (out, counts) = written(OutputFormat::Gif, &playback, Plies::One(0));
            assert_eq!(counts, (1..=count).collect::<Vec<_>>());
            let mut decoder = gif::DecodeOptions::new().read_info(Cursor::new(out)).unwrap();
            assert_eq!(decoder.width(), 90);
            let mut delays = Vec::new();
            while let Some(frame) = decoder.read_next_frame().unwrap() {
                delays.push(frame.delay);
            }
            assert_eq!(delays.len(), count, "{name}");
            assert_eq!(delays.pop(), Some(300));
            assert!(delays.iter().all(|&delay| delay == 50));
        }
    }

    /// All frames of an animation drawn over each other give the picture of the last ply.
    #[test]
    fn the_frames_add_up_to_the_last_picture() {
        for (name, playback) in short() {
            let count = playback.plies().len();
            let options = options();
            let frames = super::AnimationFrames::new(&playback, Plies::Strip(1), &options).unwrap();
            let last = frames.frame(count - 1).unwrap();
            let look = &frames.looks[count - 1];
            let at_once = pixels(&svg("", &playback.plies()[count - 1].view, look), 90).unwrap();
            assert!(last == at_once, "{name}");
            let (out, _) = written(OutputFormat::Apng, &playback, Plies::One(0));
            let mut decoder = png::Decoder::new(Cursor::new(out));
            decoder.set_transformations(png::Transformations::EXPAND);
            let mut reader = decoder.read_info().unwrap();
            assert_eq!(reader.info().animation_control().unwrap().num_frames as usize, count);
            let row = last.width as usize;
            let mut canvas = vec![[0; 3]; last.rgb.len()];
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            for _ in 0..count {
                reader.next_frame(&mut buffer).unwrap();
                let part = *reader.info().frame_control().unwrap();
                let (left, top) = (part.x_offset as usize, part.y_offset as usize);
                for y in 0..part.height as usize {
                    for x in 0..part.width as usize {
                        let at = 4 * (y * part.width as usize + x);
                        // What stays is transparent.
                        if buffer[at + 3] == 255 {
                            canvas[(top + y) * row + left + x].copy_from_slice(&buffer[at..at + 3]);
                        }
                    }
                }
            }
            // Rare colours become the nearest of the palette.
            let distance = |(one, other): (&[u8; 3], &[u8; 3])| {
                one.iter().zip(other).map(|(one, other)| one.abs_diff(*other)).max()
            };
            let far = |pair: &(&[u8; 3], &[u8; 3])| distance(*pair) > Some(COLOUR_DISTANCE_MAX);
            let others = canvas.iter().zip(&last.rgb).filter(far).count();
            assert!(others * 200 < canvas.len(), "{name}: {others} of {}", canvas.len());
        }
    }
}
