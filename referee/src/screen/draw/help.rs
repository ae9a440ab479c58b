//! The keys and what the marks on the board mean, over everything else.

use super::{Look, STRONG, put, row};
use crate::screen::Setting;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use referee_render::{Style as BoardStyle, picture};

/// The keys and what they do.
const KEYS: [(&str, &str); 15] = [
    ("Left Right, h l", "a ply back, a ply on"),
    ("PageUp PageDown", "ten plies"),
    ("Home End", "the start, the last ply (and follow it)"),
    ("Space", "play by itself, pause"),
    ("+ -", "faster, slower"),
    ("n p", "next, previous ply with stderr or a fault"),
    ("g /", "go to a turn"),
    ("s", "stderr, info, exact lines"),
    ("Up Down, j k", "scroll these"),
    ("d", "the agents' marks on the board"),
    ("f", "turn the board round"),
    ("c", "coordinates"),
    ("v", "board on and off (b, too, in a replay)"),
    ("Alt+arrows", "move a large board"),
    ("Ctrl-L", "draw everything anew"),
];

pub(super) fn draw(look: &Look<'_>, area: Rect, buffer: &mut Buffer) {
    let mut lines: Vec<Line<'static>> = vec![Line::styled(
        "Keys",
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
    )];
    let close = match look.model.setting {
        Setting::Replay => vec![("q Esc", "quit")],
        Setting::Live => vec![("b q Esc", "back; the match goes on")],
        Setting::LiveMany => {
            vec![("Tab", "another match"), ("b q Esc", "back; the matches go on")]
        }
    };
    for (keys, what) in close.into_iter().chain(KEYS) {
        let keys = Span::styled(format!("{keys:<23} "), STRONG);
        lines.push(Line::from(vec![keys, what.into()]));
    }
    lines.push(Line::default());
    let style = BoardStyle { legend: true, ..look.model.style };
    let width = usize::from(area.width).saturating_sub(4);
    let captions = picture(&look.ply.view, &style, width).captions;
    lines.extend(captions.iter().map(|glyphs| look.painted(glyphs)));
    let columns = lines.iter().map(Line::width).max().unwrap_or(0) + 4;
    let width = area.width.min(super::short(columns));
    let height = area.height.min(super::short(lines.len() + 2));
    let (aside, above) = ((area.width - width) / 2, (area.height - height) / 2);
    let place = Rect::new(area.x + aside, area.y + above, width, height);
    Clear.render(place, buffer);
    let inner = place.inner(Margin::new(2, 0));
    // The last line of a small screen says that there are more.
    let room = usize::from(place.height);
    for (index, line) in lines.iter().take(room).enumerate() {
        put(buffer, row(inner, index), line);
    }
}
