//! The title, the progress and the keys.

use super::{DrawContext, STRONG, put};
use crate::screen::text::{clean, fit, time, width};
use crate::screen::{Progress, Setting};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use referee_match::times::show_clock;
use referee_protocol::sanitize::sanitize;

/// The columns of the progress bar.
const TRACK: usize = 20;

/// Draws the game, its state, and whose turn it is.
pub(super) fn title(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) {
    let header = ctx.playback.header();
    let columns = usize::from(place.width);
    let (state, style) = match ctx.scene.progress {
        Progress::Live => ("live", STRONG),
        Progress::Over => ("over", ctx.faint()),
        Progress::Unfinished => ("unfinished", ctx.faint()),
        Progress::Broken => ("broken", ctx.alarm()),
    };
    let state = match &ctx.scene.problem {
        Some(problem) => format!("{state}: {}", fit(&clean(problem), columns / 2)),
        None => state.to_owned(),
    };
    let game = clean(&format!("{}{}", header.game, referee_match::summary::setup(header)));
    let turn = match (ctx.waits_for(), ctx.ply.to_move) {
        (Some(seat), _) => format!("{} thinks {}", ctx.name(seat), time(ctx.scene.waiting_ms)),
        (None, Some(seat)) => {
            let colour = ctx.ply.colours.get(seat.index()).map_or("", String::as_str);
            format!("{} ({}) to move", ctx.name(seat), clean(colour))
        }
        (None, None) => "finished".to_owned(),
    };
    // On a narrow screen, parts are left out.
    let name = clean(ctx.scene.name);
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

/// Returns the clock, seed and id of the match as text.
pub(super) fn conditions(ctx: &DrawContext<'_>) -> String {
    let header = ctx.playback.header();
    let clock = show_clock(&header.clock);
    format!(
        "clock {clock}, seed {}, match {}, started {}",
        header.seed,
        sanitize(&header.match_id),
        // Without the fraction of the second.
        sanitize(header.started.split('.').next().unwrap_or_default())
    )
}

/// Draws the progress bar and the last event.
pub(super) fn course(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) {
    let (at, last) = (ctx.model.at, ctx.playback.last());
    let columns = usize::from(place.width);
    if let Some(typed) = &ctx.model.typed {
        let text = format!("go to ply: {typed}_   Enter: go, Esc: cancel");
        return put(buffer, place, &Line::from(fit(&text, columns)));
    }
    let track = if columns >= 60 { TRACK } else { columns / 5 };
    let done = (at * track).checked_div(last).unwrap_or(track);
    let mut line = Line::default();
    let state = if ctx.model.plays { " play " } else { " " };
    let (back, on) = if ctx.has_unicode() { ("◂", "▸") } else { ("<", ">") };
    line.push_span(format!("{back}{}", "=".repeat(done)));
    line.push_span(Span::styled("o", STRONG));
    line.push_span(Span::styled("-".repeat(track - done), ctx.faint()));
    line.push_span(format!("{on} {at}/{last}{state} "));
    let text = match &ctx.model.status_message {
        Some(message) => clean(message),
        None => clean(&ctx.frame.sentence) + &super::pane::used(ctx),
    };
    let room = columns.saturating_sub(line.width());
    let style = if ctx.model.status_message.is_some() || ctx.ply.fault().is_some() {
        ctx.alarm()
    } else {
        STRONG
    };
    line.push_span(Span::styled(fit(&text, room), style));
    put(buffer, place, &line);
}

/// Draws the keys that fit, the most important first.
pub(super) fn hints(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) {
    let columns = usize::from(place.width);
    let replays = ctx.model.setting == Setting::Replay;
    let close = if replays { ("q", "quit") } else { ("b", "close") };
    let mut hints = vec![("Left", "back"), ("Right", "forward"), ("?", "keys"), close];
    if ctx.model.setting == Setting::LiveMany {
        hints.push(("Tab", "next match"));
    }
    if ctx.scene.progress == Progress::Live && !ctx.model.follows {
        hints.push(("End", "live"));
    }
    hints.extend([
        ("Space", if ctx.model.plays { "pause" } else { "play" }),
        ("s", "stderr, info, lines"),
        ("n p", "messages"),
        ("g", "go to ply"),
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
        line.push_span(Span::styled(format!(": {what}  "), ctx.faint()));
    }
    put(buffer, place, &line);
}
