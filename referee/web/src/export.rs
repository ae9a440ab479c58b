//! A match as one file of HTML that opens from disk, with nothing to load and no network: the page's
//! modules joined into one script, its style sheets, and the match itself as JSON.

use super::assets::text;
use super::sheet::Sheet;
use base64::prelude::{BASE64_STANDARD, Engine};
use referee_render::palette_css;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The module that runs in the file; what it imports comes with it.
const ENTRY: &str = "offline.js";
const STYLES: [&str; 3] = ["base.css", "viewer.css", "board.css"];

/// The page for this match.
pub fn export(sheet: &Sheet) -> String {
    let json = serde_json::to_string(sheet).expect("a sheet can be written as JSON");
    page(&sheet.title, &json)
}

/// `title` is what the window is called, `sheet` the match as JSON; both may hold what agents wrote.
fn page(title: &str, sheet: &str) -> String {
    let style = STYLES.into_iter().filter_map(text).fold(palette_css(), |all, part| all + part);
    let first = text("theme.js").unwrap_or_default();
    let script = joined(ENTRY);
    let sources = [first, &script].map(hash).join(" ");
    let policy = format!(
        "default-src 'none'; script-src {sources}; style-src {}; img-src data:",
        hash(&style)
    );
    // In JSON `<` stands in strings alone, where it may be written by its number.
    let sheet = sheet.replace('<', "\\u003c");
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{style}</style>\n<script>{first}</script>\n</head>\n<body>\n\
         <header class=\"head\">\n<span class=\"home\">Referee</span>\n\
         <div class=\"head-words\"><h1 id=\"title\">{title}</h1>\
         <p id=\"result\" class=\"result\"></p></div>\n\
         <div id=\"tools\" class=\"tools\"></div>\n</header>\n\
         <main id=\"viewer\" class=\"viewer\"></main>\n\
         <script type=\"application/json\" id=\"sheet\">{sheet}</script>\n\
         <script type=\"module\">{script}</script>\n</body>\n</html>\n"
    )
}

/// A module and all that it imports as one script.
fn joined(entry: &'static str) -> String {
    let mut script = String::new();
    for line in modules(entry).into_iter().filter_map(text).flat_map(str::lines) {
        if imported(line).is_none() {
            writeln!(script, "{}", line.strip_prefix("export ").unwrap_or(line)).ok();
        }
    }
    script
}

/// A module and all that it imports, each before the first that needs it.
pub(super) fn modules(entry: &'static str) -> Vec<&'static str> {
    fn gather(name: &'static str, names: &mut Vec<&'static str>) {
        if !names.contains(&name) {
            for needed in text(name).unwrap_or_default().lines().filter_map(imported) {
                gather(needed, names);
            }
            names.push(name);
        }
    }
    let mut names = Vec::new();
    gather(entry, &mut names);
    names
}

/// The module that a line imports from, if it is an import.
fn imported(line: &str) -> Option<&str> {
    let (_, from) = line.strip_prefix("import ")?.split_once(" from \"./")?;
    from.strip_suffix("\";")
}

/// The content of an inline script or style, as a content security policy names it.
fn hash(content: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(content.as_bytes())))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::assets::{FILES, PAGES, asset, text};
    use super::{ENTRY, imported, joined, modules, page};
    use std::collections::BTreeMap;

    /// The names that a line declares for its whole module.
    fn declared(line: &str) -> Vec<&str> {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let Some((kind, rest)) = line.split_once(' ') else { return Vec::new() };
        if !["function", "class", "const", "let", "var"].contains(&kind) {
            return Vec::new();
        }
        let end = rest.find(['=', '(']).unwrap_or(rest.len());
        let words = rest[..end].split(|c: char| !c.is_alphanumeric() && c != '_');
        let names: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        if kind == "class" { names[..1].to_vec() } else { names }
    }

    #[test]
    fn modules_have_the_form_that_joining_needs() {
        let names = modules(ENTRY);
        assert!(names.len() > 10, "{names:?}");
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for name in &names {
            for line in text(name).unwrap().lines() {
                assert!(!line.starts_with("import ") || imported(line).is_some(), "{name}: {line}");
                assert!(!line.starts_with("await "), "{name}: {line}");
                assert!(!line.starts_with("export {"), "{name}: {line}");
                assert!(!line.starts_with("export default"), "{name}: {line}");
                for declared in declared(line) {
                    let other = owners.insert(declared, name);
                    assert!(other.is_none(), "{declared} is in {name} and {other:?}");
                }
            }
        }
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn pages_fetch_all_their_modules_at_once() {
        for (name, _, styles, entry) in PAGES {
            let (_, page) = asset(name).unwrap();
            let needed = modules(entry);
            assert_eq!(page.matches("\"modulepreload\"").count() + 1, needed.len(), "{name}");
            for part in needed.iter().chain(styles) {
                assert!(page.contains(&format!("=\"/assets/{part}\"")), "{name}: {part}");
            }
            assert!(!page.contains(['{', '}']), "{name}");
        }
    }

    #[test]
    fn a_script_has_every_module_once_and_no_line_that_a_script_cannot_have() {
        let script = joined(ENTRY);
        for line in script.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
        for once in ["class Viewer", "class Store", "class Board", "function h("] {
            assert_eq!(script.matches(once).count(), 1, "{once}");
        }
        assert!(!script.contains("</script"));
        assert!(script.find("class Store") < script.find("class Viewer"));
    }

    #[test]
    fn nothing_that_an_agent_wrote_gets_out_of_its_place() {
        let hostile = r#"</script><script>alert("1")</script>"#;
        let page = page(hostile, &serde_json::json!({ "title": hostile }).to_string());
        assert_eq!(page.matches("</script>").count(), 3);
        assert!(!page.contains("<script>alert"));
        let (_, rest) = page.split_once("id=\"sheet\">").unwrap();
        let (sheet, _) = rest.split_once("</script>").unwrap();
        let read: serde_json::Value = serde_json::from_str(sheet).unwrap();
        assert_eq!(read["title"], hostile);
    }
}
