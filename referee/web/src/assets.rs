//! The page's own files, embedded: plain modules and style sheets, as they are in `assets/`.

use std::borrow::Cow;

/// A file of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// What it is, for the header of the same name.
    pub content_type: &'static str,
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
}

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

/// The file of this name: `match.html`, `viewer.js`, and `palette.css`, the colours of boards.
pub fn asset(name: &str) -> Option<Asset> {
    let bytes = if name == PALETTE {
        Cow::Owned(palette().into_bytes())
    } else {
        Cow::Borrowed(text(name)?.as_bytes())
    };
    Some(Asset { content_type: content_type(name)?, bytes })
}

/// The text of an embedded file.
pub(super) fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

const PALETTE: &str = "palette.css";

/// The colours of boards, as every picture has them.
pub(super) fn palette() -> String {
    referee_render::palette_css()
}

fn content_type(name: &str) -> Option<&'static str> {
    match name.rsplit('.').next()? {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
