//! Draws the screen into a buffer.

mod board;
mod clocks;
mod moves;
mod pane;
mod bars;
mod help;

use super::layout::{self, COLUMNS_MIN, LINES_MIN, Wanted, places};
use super::{Model, Scene};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use referee_games::view::Colour;
use referee_match::transcript::{Playback, Ply};
use referee_protocol::Seat;
use referee_render::{Charset, Glyph, Paint, Style as BoardStyle, picture, terminal_colours};
use referee_web::{Frame, Frames, Info};

/// The style of important text.
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// The minimum width of captions; wider ones than the board are wrapped.
const CAPTIONS_COLUMNS: usize = 26;

/// Draws a scene. Stores in the model what depends on the size of the screen, such as how far the pane
/// can be scrolled.
pub fn draw(model: &mut Model, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    if area.width < COLUMNS_MIN || area.height < LINES_MIN {
        let text = format!("the viewer needs {COLUMNS_MIN} columns and {LINES_MIN} lines");
        return put_text(&[&text], area, buffer);
    }
    let Some(playback) = scene.playback else { return draw_nothing(model, scene, area, buffer) };
    model.grow(playback);
    let ctx = DrawContext::new(model, scene, playback);
    let style = BoardStyle { legend: false, ..model.style };
    let view = &ctx.ply.view;
    let mut columns = picture(view, &style, 0).width.max(CAPTIONS_COLUMNS);
    let mut shown = picture(view, &style, columns);
    let below = if shown.captions.is_empty() { 0 } else { shown.captions.len() + 1 };
    let mut figures = Vec::new();
    if !model.board || shown.board.len() + below + layout::BARS > usize::from(area.height) {
        let aside = if model.board { columns + 1 } else { 0 };
        let aside = usize::from(area.width).saturating_sub(aside);
        if aside >= usize::from(layout::LISTS_COLUMNS_MIN) {
            // Captions go beside the board to leave more lines for it.
            figures = picture(view, &style, aside).captions;
            shown.captions.clear();
            columns = shown.width;
        }
    }
    let below = if shown.captions.is_empty() { 0 } else { shown.captions.len() + 1 };
    let size = (short(columns), short(shown.board.len() + below));
    let wanted = Wanted {
        board: model.board.then_some(size),
        seats: short(ctx.ply.left_ms.len()),
        figures: short(figures.len()),
    };
    let Some(places) = places(area, wanted) else { return };
    bars::title(&ctx, places.title, buffer);
    board::draw(&ctx, &shown, places.board, buffer);
    clocks::draw(&ctx, places.clocks, buffer);
    for (index, glyphs) in figures.iter().enumerate() {
        put(buffer, row(places.figures, index), &ctx.painted(glyphs));
    }
    moves::draw(&ctx, places.moves, buffer);
    let scrolling = pane::draw(&ctx, places.pane, buffer);
    bars::course(&ctx, places.course, buffer);
    bars::hints(&ctx, places.hints, buffer);
    if model.help {
        help::draw(&ctx, area, buffer);
    }
    (model.scroll_start, model.scroll_end) = scrolling;
}

/// Draws the screen before there is a match.
fn draw_nothing(model: &Model, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let name = super::text::clean(scene.name);
    let why = scene.problem.map_or("waiting for it to start", |problem| problem);
    let close = if model.setting == super::Setting::Replay { "q quits" } else { "b goes back" };
    let status_message = model.status_message.as_deref().unwrap_or_default();
    put_text(&[name.as_str(), why, status_message, close], area, buffer);
}

/// Draws text, wrapped.
fn put_text(lines: &[&str], area: Rect, buffer: &mut Buffer) {
    let lines = lines.iter().flat_map(|line| super::text::wrap(line, usize::from(area.width)));
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        buffer.set_string(area.x, y, line, Style::new());
    }
}

/// Converts a number of columns or lines.
fn short(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX / 2).min(u16::MAX / 2)
}

/// What is drawn, and how.
pub(super) struct DrawContext<'a> {
    model: &'a Model,
    scene: &'a Scene<'a>,
    playback: &'a Playback,
    /// The shown ply; the end of the match with the last one.
    ply: &'a Ply,
    /// The shown ply, with the output and the sentence of the end.
    frame: Frame,
    /// What agents sent about this position: they sent it in the next ply. Only the last of each agent that
    /// has marks.
    thoughts: Vec<Info>,
}

impl<'a> DrawContext<'a> {
    fn new(model: &'a Model, scene: &'a Scene<'a>, playback: &'a Playback) -> Self {
        let at = &playback.plies()[model.at];
        let frames = Frames::new(&at.view);
        let mut frame = frames.frame(playback, model.at);
        let next = playback.plies().get(model.at + 1).map(|_| frames.frame(playback, model.at + 1));
        let mut thoughts: Vec<Info> = Vec::new();
        for info in next.iter().flat_map(|frame| &frame.infos).filter(|it| !it.marks.is_empty()) {
            thoughts.retain(|earlier| earlier.seat != info.seat);
            thoughts.push(info.clone());
        }
        let ply = if model.at == playback.last() { playback.plies().last() } else { None };
        if let Some(end) = next.filter(|_| ply.is_some()) {
            frame.sentence = end.sentence;
            frame.infos.extend(end.infos);
            frame.stderr.extend(end.stderr);
        }
        Self { model, scene, playback, ply: ply.unwrap_or(at), frame, thoughts }
    }

    /// Returns an agent's name without control characters.
    fn name(&self, seat: Seat) -> String {
        let seat = self.playback.header().seats.get(seat.index());
        seat.map_or_else(|| "?".to_owned(), |seat| super::text::clean(&seat.name))
    }

    /// Returns a seat's letter in a ply, in the colour of its pieces.
    fn letter(&self, seat: Seat, ply: &Ply) -> Span<'static> {
        let name = ply.colours.get(seat.index()).map_or("", String::as_str);
        match ply.view.colour_of(name) {
            Some(colour) => {
                let letter = ply.view.letter(colour).to_string();
                Span::styled(letter, self.paint(Paint::Block(colour)))
            }
            None => Span::raw(seat.to_string()),
        }
    }

    fn paint(&self, paint: Paint) -> Style {
        let terminal_colours = terminal_colours(paint);
        let mut style = Style::new();
        if !self.model.style.colour {
            return style;
        }
        if terminal_colours.bold {
            style = style.add_modifier(Modifier::BOLD);
        }
        style.fg = terminal_colours.front.map(Color::Indexed);
        style.bg = terminal_colours.back.map(Color::Indexed);
        style
    }

    /// Returns glyphs as a line.
    fn painted(&self, glyphs: &[Glyph]) -> Line<'static> {
        let span = |&(glyph, paint): &Glyph| Span::styled(glyph.to_string(), self.paint(paint));
        Line::from(glyphs.iter().map(span).collect::<Vec<_>>())
    }

    /// The style of less important text.
    fn faint(&self) -> Style {
        self.paint(Paint::Faint)
    }

    /// The style of errors.
    fn alarm(&self) -> Style {
        self.paint(Paint::Ink(Colour::Red)).add_modifier(Modifier::BOLD)
    }

    fn has_unicode(&self) -> bool {
        self.model.style.charset == Charset::Unicode
    }

    /// Returns the seat that is thinking now, if the last ply is shown.
    fn waits_for(&self) -> Option<Seat> {
        let last = self.model.at == self.playback.last();
        let live = self.scene.progress == super::Progress::Live;
        let asked = self.playback.asked().filter(|_| last && live)?;
        Some(asked.seat)
    }
}

/// Draws a line in an area.
fn put(buffer: &mut Buffer, place: Rect, line: &Line<'_>) {
    if place.height > 0 {
        buffer.set_line(place.x, place.y, line, place.width);
    }
}

/// Returns one line of an area.
fn row(place: Rect, index: usize) -> Rect {
    let down = short(index).min(place.height);
    Rect { y: place.y + down, height: u16::from(down < place.height), ..place }
}
