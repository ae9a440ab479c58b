//! The report as Markdown with tables, as on GitHub.

use super::columns::{self, Column, Detail, Kind, Table};
use super::{ChangeRow, Report, notes};
use referee_protocol::encode::escape_markup;
use referee_protocol::sanitize::sanitize;
use std::fmt::Write as _;

/// Larger cross tables can't be read in Markdown.
const CROSS_PLAYERS_MAX: usize = 30;

impl Report {
    /// Returns the report as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n{}\n\n", escape(&self.name), notes::progress(self));
        if self.comparison.is_some() {
            out.push_str("## Comparison\n\n");
            list(&mut out, &notes::comparison(self));
        }
        out.push_str("## Standings\n\n");
        table(&mut out, &columns::standings(self, Detail::Full));
        list(&mut out, &notes::standings(self));
        if let Some(ratings) = &self.ratings {
            out.push_str("## Ratings\n\n");
            list(&mut out, &notes::ratings(ratings));
        }
        if !self.ties.is_empty() {
            out.push_str("## Ties\n\n");
            list(&mut out, &notes::ties(self));
        }
        if let Some(cross) = columns::cross(self, CROSS_PLAYERS_MAX, "no.", "") {
            out.push_str(
                "## Cross table\n\nPoints of the row's player against the column's, in percent.\n\n",
            );
            table(&mut out, &cross);
        }
        out.push_str("## Ends\n\n");
        table(&mut out, &columns::ends(self).columns);
        if !self.left_out.is_empty() {
            out.push_str("## Left out\n\n");
            let each = self.left_out.iter();
            let each = each.map(|one| format!("{}: {}", one.name, one.reason));
            list(&mut out, &each.collect::<Vec<_>>());
        }
        if !self.changes.is_empty() {
            out.push_str("## Changes\n\n");
            list(&mut out, &self.changes.iter().map(ChangeRow::line).collect::<Vec<_>>());
        }
        if !self.settings.is_empty() {
            out.push_str("## Settings\n\n");
            let mut settings = Table::new(&self.settings);
            settings.name("setting", |own| &own.name);
            settings.name("value", |own| &own.value);
            table(&mut out, &settings.columns);
        }
        for command in &self.commands {
            writeln!(out, "{}:\n\n    {}\n", escape(&command.does), sanitize(&command.line))
                .expect("text takes text");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}

fn table(out: &mut String, columns: &[Column]) {
    let row = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
        out.push('|');
        for cell in cells {
            write!(out, " {cell} |").expect("text takes text");
        }
        out.push('\n');
    };
    row(out, &mut columns.iter().map(|column| escape(&column.head)));
    let rule = |column: &Column| if column.kind == Kind::Figure { "---:" } else { "---" };
    row(out, &mut columns.iter().map(|column| rule(column).to_owned()));
    for cells in columns::rows(columns) {
        row(out, &mut cells.map(escape));
    }
    out.push('\n');
}

fn list(out: &mut String, items: &[String]) {
    for item in items {
        writeln!(out, "- {}", escape(item)).expect("text takes text");
    }
    out.push('\n');
}

/// Returns Markdown as [`escape`] and the referee's own texts make it, for people who see it as it is: without the marks of
/// headings, code and tables.
pub fn plain_text(markdown: &str) -> String {
    let (mut out, mut fence, mut in_table) = (String::new(), None, false);
    for line in markdown.lines() {
        if fence.is_some() {
            if fence == Some(line) {
                fence = None;
            } else {
                out.extend([line, "\n"]);
            }
            continue;
        }
        let mark = &line[..line.len() - line.trim_start_matches('`').len()];
        if mark.len() >= 3 {
            fence = Some(mark);
            continue;
        }
        let row = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |"));
        let is_head = row.is_some_and(|row| !in_table || row.starts_with('-'));
        in_table = row.is_some();
        if is_head {
            continue;
        }
        let cells = row
            .map_or_else(|| vec![line.trim_start_matches('#')], |row| row.split(" | ").collect());
        let cells: Vec<String> = cells.into_iter().map(|cell| unescape(cell.trim())).collect();
        out.extend([cells.join("  ").as_str(), "\n"]);
    }
    out
}

/// Returns the text of a line without marks.
fn unescape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '*' | '`' => {}
            _ => out.push(c),
        }
    }
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Escapes text so that Markdown shows it as it is, in a cell, too.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_markup(&sanitize(text)).chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '!' | '$' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    // A line that begins with one of these would be a heading or a list.
    if out.starts_with(['#', '+', '-']) && out.len() > 1 && !starts_as_number(&out) {
        out.insert(0, '\\');
    }
    out
}

fn starts_as_number(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{escape, plain_text};

    #[test]
    fn markdown_is_shown_without_its_marks() {
        let name = "#1 <b>a|b_c*</b> & \\`d`";
        let markdown = format!(
            "# {}: the check failed\n\n1 of 2\n\n## Failed: start\n\n````text\n# a `line` | x |\n```\n````\n\n\
             | # | probe | result |\n| ---: | --- | --- |\n| 1 | {} | **failed** |\n| 2 | play | ok |\n",
            escape(name),
            escape("a | b")
        );
        assert_eq!(
            plain_text(&markdown),
            format!(
                "{name}: the check failed\n\n1 of 2\n\nFailed: start\n\n# a `line` | x |\n```\n\n\
                 1  a | b  failed\n2  play  ok\n"
            )
        );
    }
}
