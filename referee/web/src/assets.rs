//! The page's files in `assets/`, embedded.

use super::export::modules;
use referee_render::palette_css;
use std::borrow::Cow;

/// The files with their names.
macro_rules! files {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("assets/", $name)))),*] };
}

/// All files, sorted by name.
pub(super) const FILES: &[(&str, &str)] = files![
    "base.css" "board.css" "board.js" "choosing.js" "common.js" "compare.css" "compare.html" "compare.js" "contest.html" "contest.js"
    "controls.js" "explorer.js" "graph.js" "grid.js" "handing.js" "home.js" "human.js" "icon.svg" "index.html" "instructing.js" "instructor.css" "instructor.html" "instructor.js" "keys.js"
    "lens.js" "lists.css" "live.js" "loupe.js" "match.html" "match.js" "motion.js" "moves.js" "offline.js"
    "page.html" "panes.js" "player.js" "replay.js" "rerun.js" "rows.js" "seats.js" "settings.js" "share.js"
    "starting.js" "store.js" "tabs.js" "team.css" "team.html" "team.js" "theme.js" "tv.css" "tv.html" "tv.js" "types.js" "versions.js" "viewer.css" "viewer.js"
    "whatif.js" "workers.js"
];

/// Returns a file and its content type: `match.html`, `viewer.js`, or `palette.css`, the colours of
/// boards.
pub(super) fn asset(name: &str) -> Option<(&'static str, Cow<'static, str>)> {
    match name.rsplit('.').next()? {
        "html" => Some(("text/html; charset=utf-8", page(name)?.into())),
        "css" if name == "palette.css" => Some(("text/css; charset=utf-8", palette_css().into())),
        "css" => Some(("text/css; charset=utf-8", text(name)?.into())),
        "js" => Some(("text/javascript; charset=utf-8", text(name)?.into())),
        "svg" => Some(("image/svg+xml", text(name)?.into())),
        _ => None,
    }
}

/// The pages: file, title, own style sheets, main module.
pub(super) const PAGES: [(&str, &str, &[&str], &str); 7] = [
    ("index.html", "Referee", &["lists.css"], "home.js"),
    ("match.html", "A match · Referee", &["viewer.css", "board.css"], "match.js"),
    ("contest.html", "Referee", &["lists.css"], "contest.js"),
    (
        "compare.html",
        "Two matches · Referee",
        &["lists.css", "board.css", "compare.css"],
        "compare.js",
    ),
    ("team.html", "Your team · Referee", &["lists.css", "team.css"], "team.js"),
    ("instructor.html", "Instructor · Referee", &["lists.css", "instructor.css"], "instructor.js"),
    ("tv.html", "TV · Referee", &["tv.css"], "tv.js"),
];

/// Returns a page: its file in the shared frame.
fn page(name: &str) -> Option<String> {
    let (_, title, styles, entry) = PAGES.into_iter().find(|page| page.0 == name)?;
    let links = |kind: &str, names: &[&str]| -> String {
        let link = |name| format!("<link rel=\"{kind}\" href=\"/assets/{name}\">\n");
        names.iter().map(link).collect()
    };
    // With these links the browser fetches all modules at once.
    let mut modules = modules(entry);
    modules.retain(|module| *module != entry);
    modules.sort_unstable();
    let page = text("page.html")?.replace("{title}", title).replace("{entry}", entry);
    let class = ["match", "tv"].into_iter().find(|stem| name == format!("{stem}.html"));
    let page = page.replace("{class}", class.unwrap_or("plain"));
    let page = page.replace("{styles}", &links("stylesheet", styles));
    let page = page.replace("{modules}", &links("modulepreload", &modules));
    Some(page.replace("{main}", text(name)?))
}

/// Returns the text of an embedded file.
pub(super) fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}
