//! The page's own files, embedded: plain modules and style sheets, as they are in `assets/`.

use referee_render::palette_css;
use std::borrow::Cow;

/// Every file by its name.
macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("assets/", $name)))),*] };
}

/// In the order of their names.
pub(super) const FILES: &[(&str, &str)] = files![
    "base.css",
    "board.css",
    "board.js",
    "choosing.js",
    "common.js",
    "contest.html",
    "contest.js",
    "controls.js",
    "graph.js",
    "grid.js",
    "home.js",
    "human.js",
    "icon.svg",
    "index.html",
    "keys.js",
    "lists.css",
    "live.js",
    "match.html",
    "match.js",
    "moves.js",
    "offline.js",
    "panes.js",
    "player.js",
    "rows.js",
    "seats.js",
    "settings.js",
    "starting.js",
    "store.js",
    "theme.js",
    "types.js",
    "viewer.css",
    "viewer.js",
    "workers.js",
];

/// The file of this name, and what it is, as a header says it: `match.html`, `viewer.js`, and
/// `palette.css`, the colours of boards.
pub(super) fn asset(name: &str) -> Option<(&'static str, Cow<'static, str>)> {
    let content_type = match name.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let text = if name == "palette.css" { palette_css().into() } else { text(name)?.into() };
    Some((content_type, text))
}

/// The text of an embedded file.
pub(super) fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}
