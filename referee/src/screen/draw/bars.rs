//! The lines at the top and at the bottom: what is looked at, how far it is, and the keys.

use super::{Look, STRONG, put};
use crate::screen::text::{clean, fit, time, width};
use crate::screen::{Progress, Setting};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use referee_match::times::show_clock;
use referee_protocol::plain::tame;

/// The columns of the track on which the match goes by.
const TRACK: usize = 20;

/// The game, how far it is, and whose turn it is.
pub(super) fn title(look: &Look<'_>, place: Rect, buffer: &mut Buffer) {
    let header = look.playback.header();
    let columns = usize::from(place.width);
    let (state, style) = match look.scene.progress {
        Progress::Live => ("live", STRONG),
        Progress::Over => ("over", look.faint()),
        Progress::Unfinished => ("no end yet", look.faint()),
        Progress::Broken => ("broken", look.alarm()),
    };
    let state = match &look.scene.problem {
        Some(problem) => format!("{state}: {}", fit(&clean(problem), columns / 2)),
        None => state.to_owned(),
    };
    let game = clean(&format!("{}{}", header.game, referee_match::summary::setup(header)));
    let turn = match (look.waits_for(), look.ply.to_move) {
        (Some(seat), _) => format!("{} thinks {}", look.name(seat), time(look.scene.waiting_ms)),
        (None, Some(seat)) => {
            let colour = look.ply.colours.get(seat.index()).map_or("", String::as_str);
            format!("{} ({}) to move", look.name(seat), clean(colour))
        }
        (None, None) => "finished".to_owned(),
    };
    // What is known anyway goes first where there is little room.
    let name = clean(look.scene.name);
    let short = clean(&header.game);
    let all = [vec![&game, &turn, &name], vec![&game, &turn], vec![&short, &turn], vec![&turn]];
    let fits = |parts: &&Vec<&String>| {
        let wide: usize = parts.iter().map(|part| width(part) + 3).sum();
        wide + width(&state) <= columns
    };
    let parts = all.iter().find(fits).unwrap_or(&all[3]);
    let text: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    let text = fit(&text.join(" | "), columns.saturating_sub(width(&state) + 1));
    let blank = " ".repeat(columns.saturating_sub(width(&text) + width(&state)));
    let line =
        Line::from(vec![Span::styled(text, STRONG), blank.into(), Span::styled(state, style)]);
    put(buffer, place, &line);
}

/// The conditions of the match, in words.
pub(super) fn conditions(look: &Look<'_>) -> String {
    let header = look.playback.header();
    let clock = show_clock(&header.clock);
    format!(
        "clock {clock}, seed {}, match {}, begun {}",
        header.seed,
        tame(&header.match_id),
        // To the second.
        tame(header.started.split('.').next().unwrap_or_default())
    )
}

/// Where in the match it is, drawn as a track between a step back and a step on, and what happened.
pub(super) fn course(look: &Look<'_>, place: Rect, buffer: &mut Buffer) {
    let (at, last) = (look.model.at, look.playback.plies().len() - 1);
    let columns = usize::from(place.width);
    if let Some(typed) = &look.model.typed {
        let text = format!("go to turn: {typed}_   Enter goes there, Esc doesn't");
        return put(buffer, place, &Line::from(fit(&text, columns)));
    }
    let track = if columns >= 60 { TRACK } else { columns / 5 };
    let done = (at * track).checked_div(last).unwrap_or(track);
    let mut line = Line::default();
    let sign = if look.model.plays { " play " } else { " " };
    let (back, on) = if look.has_unicode() { ("◂", "▸") } else { ("<", ">") };
    line.push_span(format!("{back}{}", "=".repeat(done)));
    line.push_span(Span::styled("o", STRONG));
    line.push_span(Span::styled("-".repeat(track - done), look.faint()));
    line.push_span(format!("{on} {at}/{last}{sign} "));
    let told = match &look.model.news {
        Some(news) => clean(news),
        None => clean(&look.frame.sentence) + &super::pane::used(look),
    };
    let room = columns.saturating_sub(line.width());
    let style =
        if look.model.news.is_some() || look.ply.fault().is_some() { look.alarm() } else { STRONG };
    line.push_span(Span::styled(fit(&told, room), style));
    put(buffer, place, &line);
}

/// The keys, as many as there is room for, those that are missed most first.
pub(super) fn hints(look: &Look<'_>, place: Rect, buffer: &mut Buffer) {
    let columns = usize::from(place.width);
    let replays = look.model.setting == Setting::Replay;
    let close = if replays { ("q", "quit") } else { ("b", "close") };
    let mut hints = vec![("Left", "back"), ("Right", "on"), ("?", "keys"), close];
    if look.model.setting == Setting::LiveMany {
        hints.push(("Tab", "next match"));
    }
    if look.scene.progress == Progress::Live && !look.model.follows {
        hints.push(("End", "live"));
    }
    hints.extend([
        ("Space", if look.model.plays { "pause" } else { "play" }),
        ("s", "stderr, info, lines"),
        ("n p", "messages"),
        ("g", "turn"),
        ("f", "flip"),
        ("c", "coordinates"),
    ]);
    let mut line = Line::default();
    let mut room = columns;
    for (key, what) in hints {
        let wide = width(key) + width(what) + 4;
        if wide > room + 2 {
            break;
        }
        room = room.saturating_sub(wide);
        line.push_span(Span::styled(key, STRONG));
        line.push_span(Span::styled(format!(": {what}  "), look.faint()));
    }
    put(buffer, place, &line);
}
