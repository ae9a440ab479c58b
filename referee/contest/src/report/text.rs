//! The report for a terminal, or its standings with tabs for programs.

use super::columns::{self, Column, Detail, Kind};
use super::number_format::{NONE, short, width};
use super::{Report, notes};
use referee_protocol::plain::sanitize;
use std::fmt::Write as _;

/// Larger cross tables don't fit a terminal.
const CROSS_PLAYERS_MAX: usize = 12;

/// Longer names are cut on a terminal.
const NAME_COLUMNS: usize = 32;

/// How tables are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns aligned, for people.
    Aligned,
    /// Cells separated by tabs, for programs; only the standings.
    Tabs,
}

impl Report {
    /// Returns the progress and the standings, aligned, to fit a screen.
    pub fn brief(&self) -> String {
        let progress = notes::progress(self);
        format!("{}\n{progress}\n\n{}", sanitize(&self.name), self.players(Layout::Aligned))
    }

    /// Returns the standings alone.
    pub fn players(&self, layout: Layout) -> String {
        let standings = columns::standings(self, Detail::Short);
        match layout {
            Layout::Aligned => aligned(&standings),
            Layout::Tabs => tabs(&standings),
        }
    }

    /// Returns the report as text: aligned for people, or with tabs for programs. Names are
    /// sanitized.
    pub fn text(&self, layout: Layout) -> String {
        if layout == Layout::Tabs {
            return self.players(layout);
        }
        let mut text = self.brief();
        text.push('\n');
        for note in notes::standings(self) {
            line(&mut text, &note);
        }
        for note in self.ratings.iter().flat_map(notes::ratings) {
            line(&mut text, &note);
        }
        for left_out in &self.left_out {
            let mut lines = left_out.reason.lines();
            let first = lines.next().unwrap_or_default();
            line(&mut text, &format!("Left out: {}: {first}", left_out.name));
            lines.for_each(|rest| line(&mut text, rest));
        }
        if !self.ties.is_empty() {
            text.push_str("\nTies\n\n");
        }
        for tie in notes::ties(self) {
            line(&mut text, &tie);
        }
        if let Some(cross) = columns::cross(self, CROSS_PLAYERS_MAX, "", NONE) {
            text.push_str("\nPoints of the row's player against the column's, in percent\n\n");
            text.push_str(&aligned(&cross));
        }
        if !self.commands.is_empty() {
            text.push('\n');
        }
        for command in &self.commands {
            line(&mut text, &format!("{}: {}", command.does, command.line));
        }
        text
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", sanitize(line)).expect("text takes text");
}

fn tabs(columns: &[Column]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        cells.map(sanitize).collect::<Vec<_>>().join("\t") + "\n"
    };
    let head = line(&mut columns.iter().map(|column| column.head.as_str()));
    head + &columns::rows(columns).map(|mut cells| line(&mut cells)).collect::<String>()
}

/// Writes columns as wide as their widest cell, two spaces apart, figures at the right.
fn aligned(columns: &[Column]) -> String {
    let shown: Vec<Vec<String>> = columns
        .iter()
        .map(|column| {
            let cells = std::iter::once(&column.head).chain(&column.cells);
            cells.map(|cell| short(cell, NAME_COLUMNS)).collect()
        })
        .collect();
    let widest = |cells: &Vec<String>| cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = shown.iter().map(widest).collect();
    let rows = shown.first().map_or(0, Vec::len);
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        for ((column, cells), &widest) in columns.iter().zip(&shown).zip(&widths) {
            let padding = " ".repeat(widest - width(&cells[row]));
            let (before, after) = if column.kind == Kind::Figure {
                (padding.as_str(), "")
            } else {
                ("", padding.as_str())
            };
            write!(line, "{before}{}{after}  ", cells[row]).expect("text takes text");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
