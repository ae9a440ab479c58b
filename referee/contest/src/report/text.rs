//! The report for a terminal, or its standings with tabs for programs.

use super::columns::{self, Column, Detail, Kind};
use super::{Report, notes};
use crate::numbers::{NONE, short};
use referee_protocol::sanitize::sanitize;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

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
        if layout == Layout::Aligned {
            return table(&columns::standings(self, Detail::Short));
        }
        tabs(&columns::standings(self, Detail::Data))
    }

    /// Returns the standings, the results by seat, and what they mean.
    pub fn series(&self, layout: Layout) -> String {
        let mut text = self.players(layout);
        if self.standings.seats > 1 {
            let seats = columns::seats(self);
            match layout {
                Layout::Aligned => text.extend(["\n", &table(&seats), "\n"]),
                Layout::Tabs => text.push_str(&tabs(&seats)),
            }
        }
        for note in self.series_notes() {
            line(&mut text, &note);
        }
        text
    }

    /// Returns the difference in Elo of two players, and what the ratings mean. Names are not sanitized.
    pub fn series_notes(&self) -> Vec<String> {
        notes::series(self)
    }

    /// Returns the report as text: aligned for people, or with tabs for programs. Names are
    /// sanitized.
    pub fn text(&self, layout: Layout) -> String {
        let mut text = String::new();
        for result in notes::comparison(self) {
            line(&mut text, &result);
        }
        if layout == Layout::Tabs {
            return text + &self.players(layout);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.brief());
        text.push('\n');
        for note in notes::standings(self) {
            line(&mut text, &note);
        }
        for note in self.ratings.iter().flat_map(notes::ratings) {
            line(&mut text, &note);
        }
        for left_out in &self.left_out {
            line(&mut text, &format!("Left out: {}: {}", left_out.name, left_out.reason));
        }
        for change in &self.changes {
            line(&mut text, &format!("Changed: {}", change.line()));
        }
        if !self.ties.is_empty() {
            text.push_str("\nTies\n\n");
        }
        for tie in notes::ties(self) {
            line(&mut text, &tie);
        }
        if let Some(cross) = columns::cross(self, CROSS_PLAYERS_MAX, "", NONE) {
            text.push_str("\nPoints of the row's player against the column's, in percent\n\n");
            text.push_str(&table(&cross));
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
    shown(columns, usize::MAX).into_iter().map(|row| row.join("\t") + "\n").collect()
}

fn table(columns: &[Column]) -> String {
    aligned(&shown(columns, NAME_COLUMNS), |column| columns[column].kind == Kind::Figure)
}

/// Returns the heads and then the rows, sanitized, with names of at most `name_columns` columns.
fn shown(columns: &[Column], name_columns: usize) -> Vec<Vec<String>> {
    let heads = columns.iter().map(|column| short(&column.head, name_columns)).collect();
    let cell = |(column, cell): (&Column, &str)| match column.kind {
        Kind::Name => short(cell, name_columns),
        _ => sanitize(cell),
    };
    let rows = columns::rows(columns).map(|row| columns.iter().zip(row).map(cell).collect());
    std::iter::once(heads).chain(rows).collect()
}

/// Returns rows as text, with columns as wide as their widest cell and two spaces apart; figures are
/// aligned at the right.
pub fn aligned(rows: &[Vec<String>], is_figure: impl Fn(usize) -> bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.width());
            let [before, after] = if is_figure(column) { [&*padding, ""] } else { ["", &*padding] };
            write!(line, "{before}{cell}{after}  ").expect("text takes text");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
