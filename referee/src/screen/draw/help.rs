//! The help: the keys and the legend of the board.

use super::{DrawContext, STRONG, put, row};
use crate::screen::Setting;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use referee_render::{Style as BoardStyle, picture};

/// The keys and what they do.
const KEYS: [(&str, &str); 15] = [
    ("Left Right, h l", "one ply back, forward"),
    ("PageUp PageDown", "ten plies"),
    ("Home End", "start, last ply (and follow)"),
    ("Space", "play, pause"),
    ("+ -", "faster, slower"),
    ("n p", "next, previous ply with stderr or a fault"),
    ("g /", "go to a ply"),
    ("s", "show stderr, info, lines"),
    ("Up Down, j k", "scroll them"),
    ("d", "marks of the agents on and off"),
    ("f", "rotate the board"),
    ("c", "coordinates on and off"),
    ("v", "board on and off (in a replay also b)"),
    ("Alt+arrows", "move a large board"),
    ("Ctrl-L", "redraw the screen"),
];

pub(super) fn draw(ctx: &DrawContext<'_>, area: Rect, buffer: &mut Buffer) {
    let mut lines: Vec<Line<'static>> = vec![Line::styled(
        "Keys",
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
    )];
    let close = match ctx.model.setting {
        Setting::Replay => vec![("q Esc", "quit")],
        Setting::Live => vec![("b q Esc", "close; the match continues")],
        Setting::LiveMany => {
            vec![("Tab", "another match"), ("b q Esc", "close; the matches continue")]
        }
    };
    for (keys, what) in close.into_iter().chain(KEYS) {
        let keys = Span::styled(format!("{keys:<23} "), STRONG);
        lines.push(Line::from(vec![keys, what.into()]));
    }
    lines.push(Line::default());
    let style = BoardStyle { legend: true, ..ctx.model.style };
    let width = usize::from(area.width).saturating_sub(4);
    let captions = picture(&ctx.ply.view, &style, width).captions;
    lines.extend(captions.iter().map(|glyphs| ctx.painted(glyphs)));
    let columns = lines.iter().map(Line::width).max().unwrap_or(0) + 4;
    let width = area.width.min(super::short(columns));
    let height = area.height.min(super::short(lines.len() + 2));
    let (aside, above) = ((area.width - width) / 2, (area.height - height) / 2);
    let place = Rect::new(area.x + aside, area.y + above, width, height);
    Clear.render(place, buffer);
    let inner = place.inner(Margin::new(2, 0));
    let room = usize::from(place.height);
    for (index, line) in lines.iter().take(room).enumerate() {
        put(buffer, row(inner, index), line);
    }
}
