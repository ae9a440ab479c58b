//! Replay pages of a published contest: small pages that share one script and one style sheet, for a web host
//! and for reading from disk.

use super::assets::text;
use super::export::{joined, style};
use super::match_page::MatchPage;
use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_protocol::encode::escape_markup;
use std::io::Write;

/// The module that runs in the pages.
const ENTRY: &str = "replay.js";

/// Returns the files that all replay pages share, with their paths in the site.
pub fn shared_files() -> [(&'static str, String); 3] {
    // From disk, a browser loads no modules, so this is a plain script.
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", joined(ENTRY));
    [
        ("assets/viewer.js", script),
        ("assets/viewer.css", style()),
        ("assets/theme.js", text("theme.js").unwrap_or_default().to_owned()),
    ]
}

/// Returns the replay page of a match. `root` is the relative path from its folder to the site's, `home` the
/// page with the standings in there.
pub fn replay_page(page: &MatchPage, root: &str, home: &str) -> String {
    // `file:` is for browsers in which a page on the disk isn't `self`.
    let policy =
        "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:";
    let title = escape_markup(&page.title);
    let data = packed(page);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{root}/assets/viewer.css\">\n\
         <script src=\"{root}/assets/theme.js\"></script>\n\
         <script src=\"{root}/assets/viewer.js\" defer></script>\n</head>\n<body class=\"match\">\n\
         <header class=\"head\">\n<a class=\"home\" href=\"{root}/{home}\">Standings</a>\n\
         <div class=\"head-words\"><h1 id=\"title\">{title}</h1>\
         <p id=\"result\" class=\"result\"></p></div>\n\
         <div id=\"tools\" class=\"tools\"></div>\n</header>\n\
         <main id=\"viewer\" class=\"viewer\"></main>\n\
         <script type=\"text/plain\" id=\"match-data\">{data}</script>\n</body>\n</html>\n"
    )
}

/// Returns a match as JSON, packed with gzip and as Base64.
fn packed(page: &MatchPage) -> String {
    let json = serde_json::to_vec(page).expect("the fields can be written as JSON");
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&json).expect("a vector takes bytes");
    BASE64_STANDARD.encode(packer.finish().expect("a vector takes bytes"))
}

#[cfg(test)]
mod tests {
    use super::shared_files;

    #[test]
    fn the_script_is_no_module() {
        let [(_, script), (_, style), (_, theme)] = shared_files();
        assert!(script.contains("class Viewer") && style.contains("--") && !theme.is_empty());
        for line in script.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
    }
}
