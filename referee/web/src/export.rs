//! Exports a match as one HTML file that needs no server: the page's modules joined into one script, its
//! style sheets, and the match as JSON.

use super::assets::text;
use super::match_page::MatchPage;
use referee_contest::report::policy_hash;
use referee_protocol::encode::escape_markup;
use referee_render::palette_css;
use std::fmt::Write;

/// The module that runs in the file; its imports are included.
const ENTRY: &str = "offline.js";
const STYLES: [&str; 3] = ["base.css", "viewer.css", "board.css"];

/// Returns the HTML file of a match.
pub fn export(page: &MatchPage) -> String {
    let json = serde_json::to_string(page).expect("the fields can be written as JSON");
    html(&page.title, &json)
}

/// Returns the policy of such files: they load nothing.
fn policy() -> String {
    let sources = [first_script(), &joined(ENTRY)].map(policy_hash).join(" ");
    let style = policy_hash(&style());
    format!("default-src 'none'; script-src {sources}; style-src {style}; img-src data:")
}

fn first_script() -> &'static str {
    text("theme.js").unwrap_or_default()
}

/// Returns the file for a title and a match as JSON; both may contain text of agents.
fn html(title: &str, data: &str) -> String {
    let (style, first, script, policy) = (style(), first_script(), joined(ENTRY), policy());
    // In JSON, `<` is only in strings, where it may be escaped.
    let data = data.replace('<', "\\u003c");
    let title = escape_markup(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{style}</style>\n<script>{first}</script>\n</head>\n<body class=\"match\">\n\
         <header class=\"head\">\n<span class=\"home\">Referee</span>\n\
         <div class=\"head-words\"><h1 id=\"title\">{title}</h1>\
         <p id=\"result\" class=\"result\"></p></div>\n\
         <div id=\"tools\" class=\"tools\"></div>\n</header>\n\
         <main id=\"viewer\" class=\"viewer\"></main>\n\
         <script type=\"application/json\" id=\"match-data\">{data}</script>\n\
         <script type=\"module\">{script}</script>\n</body>\n</html>\n"
    )
}

/// Returns the style sheets of the viewer in one.
pub(super) fn style() -> String {
    STYLES.into_iter().filter_map(text).fold(palette_css(), |all, part| all + part)
}

/// Joins a module and all its imports into one script.
pub(super) fn joined(entry: &'static str) -> String {
    let mut script = String::new();
    for line in modules(entry).into_iter().filter_map(text).flat_map(str::lines) {
        if imported(line).is_none() {
            writeln!(script, "{}", line.strip_prefix("export ").unwrap_or(line)).ok();
        }
    }
    script
}

/// Returns a module and all its imports, each before the modules that import it.
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

/// Returns the module of an import line.
fn imported(line: &str) -> Option<&str> {
    let (_, from) = line.strip_prefix("import ")?.split_once(" from \"./")?;
    from.strip_suffix("\";")
}

#[cfg(test)]
mod tests {
    use super::super::assets::{FILES, PAGES, asset, text};
    use super::{ENTRY, html, imported, joined, modules};
    use std::collections::BTreeMap;

    /// Returns the names that a line declares in its module.
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
    fn text_of_agents_cannot_add_markup() {
        let hostile = r#"</script><script>alert("1")</script>"#;
        let page = html(hostile, &serde_json::json!({ "title": hostile }).to_string());
        assert_eq!(page.matches("</script>").count(), 3);
        assert!(!page.contains("<script>alert"));
        let (_, rest) = page.split_once("id=\"match-data\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["title"], hostile);
    }
}
