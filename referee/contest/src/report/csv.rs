//! The standings and the games as CSV (RFC 4180) that is safe to open in a spreadsheet: text that a
//! spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV Injection").

use super::Report;
use super::columns::{Column, Kind, faults, rows};
use super::number_format::fixed;
use crate::standings::{Standing, result_name};
use referee_protocol::plain::sanitize;

/// Builds a table with a row for each of `rows`.
struct Sheet<'a, T> {
    rows: &'a [T],
    columns: Vec<Column>,
}

impl<'a, T> Sheet<'a, T> {
    fn new(rows: &'a [T]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column of text.
    fn text(&mut self, head: &str, cell: impl Fn(&'a T) -> String) {
        self.columns.push(Column::new(head, Kind::Name, self.rows, cell));
    }

    /// Adds a column of values that need no quotes; `None` is an empty cell.
    fn figure<F: ToString>(&mut self, head: &str, cell: impl Fn(&'a T) -> Option<F>) {
        let cell = |row| cell(row).map_or_else(String::new, |value| value.to_string());
        self.columns.push(Column::new(head, Kind::Figure, self.rows, cell));
    }

    /// Adds a column of numbers with `decimals` decimals; a cell is empty if the number isn't
    /// finite.
    fn decimal(&mut self, head: &str, decimals: usize, cell: impl Fn(&'a T) -> Option<f64>) {
        let finite = |row| cell(row).filter(|value| value.is_finite());
        self.figure(head, |row| finite(row).map(|value| fixed(value, decimals)));
    }
}

/// Writes a table: the heads, then a line for each row.
fn csv(columns: &[Column]) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\r\n";
    let head = line(columns.iter().map(|column| quoted(&column.head)).collect());
    let row = |cells: &mut dyn Iterator<Item = &str>| {
        let written = columns.iter().zip(cells).map(|(column, cell)| match column.kind {
            Kind::Figure => cell.to_owned(),
            _ => quoted(cell),
        });
        line(written.collect())
    };
    head + &rows(columns).map(|mut cells| row(&mut cells)).collect::<String>()
}

/// Returns text as a cell: sanitized, no formula, and in quotes if needed.
fn quoted(text: &str) -> String {
    let text = sanitize(text);
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\u{FFFD}']);
    let text = if formula { format!("'{text}") } else { text };
    let quoted = text.contains(['"', ',', '\n', '\r', ';', '\t', '\'']) || text.trim() != text;
    if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

impl Report {
    /// Returns the standings as CSV: a line of names, then a line for each player.
    pub fn standings_csv(&self) -> String {
        let mut sheet = Sheet::new(&self.standings.players);
        sheet.figure("rank", |own| Some(own.rank));
        sheet.text("player", |own| own.name.clone());
        rating(&mut sheet, self);
        results(&mut sheet, self.standings.seats);
        sheet.figure("direct", |own| own.tie_breaks.direct);
        sheet.figure("buchholz", |own| own.tie_breaks.buchholz);
        sheet.figure("sonneborn_berger", |own| own.tie_breaks.sonneborn_berger);
        puzzle(&mut sheet);
        sheet.figure("faults", |own| Some(own.faults.iter().map(|fault| fault.games).sum::<u64>()));
        sheet.text("fault_kinds", |own| faults(own).unwrap_or_default());
        sheet.figure("used_ms", |own| Some(own.time.used_ms));
        sheet.decimal("mean_used_ms", 1, |own| own.time.mean_used_ms);
        sheet.figure("max_used_ms", |own| Some(own.time.max_used_ms));
        sheet.decimal("ms_per_turn", 3, |own| own.time.ms_a_turn);
        sheet.figure("cpu_ms", |own| Some(own.time.cpu_ms));
        sheet.figure("turns", |own| Some(own.time.turns));
        csv(&sheet.columns)
    }
}

fn rating(sheet: &mut Sheet<'_, Standing>, report: &Report) {
    let of = |own: &Standing| report.rating(own.player);
    sheet.decimal("elo", 2, |own| Some(of(own)?.elo));
    sheet.decimal("elo_error_95", 2, |own| of(own)?.error);
    sheet.decimal("elo_low_95", 2, |own| Some(of(own)?.bootstrap?.0));
    sheet.decimal("elo_high_95", 2, |own| Some(of(own)?.bootstrap?.1));
    sheet.decimal("better_than_next_percent", 2, |own| of(own)?.better_than_next);
}

fn results(sheet: &mut Sheet<'_, Standing>, seats: usize) {
    sheet.figure("games", |own| Some(own.total.games));
    sheet.figure("points", |own| Some(own.points));
    sheet.figure("bye_points", |own| Some(own.bye_points));
    sheet.decimal("points_per_game", 4, |own| own.total.share());
    sheet.figure("wins", |own| Some(own.total.wins));
    sheet.figure("draws", |own| own.total.draws);
    sheet.figure("losses", |own| own.total.losses);
    if seats > 2 {
        for place in 0..seats {
            sheet.figure(&format!("place_{}", place + 1), |own| own.total.places.get(place));
        }
    }
    for seat in 0..seats {
        let tally = |own: &Standing| own.by_seat.get(seat).cloned();
        sheet.figure(&format!("seat_{seat}_games"), |own| Some(tally(own)?.games));
        sheet.figure(&format!("seat_{seat}_points"), |own| Some(tally(own)?.points));
    }
}

/// What players achieved in games of one seat.
fn puzzle(sheet: &mut Sheet<'_, Standing>) {
    let Some(first) = sheet.rows.first().and_then(|own| own.puzzle.as_ref()) else { return };
    sheet.figure("solved", |own| Some(own.puzzle.as_ref()?.solved));
    for (index, game) in first.games.iter().enumerate() {
        let sum = |own: &Standing| own.puzzle.as_ref()?.games.get(index).cloned();
        sheet.figure(&format!("{} score", game.game), |own| {
            sum(own).filter(|game| game.scored > 0).map(|game| game.total)
        });
        sheet.decimal(&format!("{} mean", game.game), 3, |own| sum(own)?.mean);
    }
}

impl Report {
    /// Returns the games as CSV: a line of names, then a line for each game.
    pub fn games_csv(&self) -> String {
        let names = self.names();
        let mut sheet = Sheet::new(&self.games);
        sheet.figure("number", |game| Some(game.number));
        sheet.figure("round", |game| Some(game.round));
        sheet.text("game", |game| game.game.clone());
        for seat in 0..self.standings.seats {
            sheet.text(&format!("player_{seat}"), |game| {
                let player = game.players.get(seat).and_then(|player| names.get(player.index()));
                (*player.unwrap_or(&"")).to_owned()
            });
            sheet.figure(&format!("place_{seat}"), |game| game.places.get(seat));
            sheet.figure(&format!("score_{seat}"), |game| game.scores.as_ref()?.get(seat));
            sheet.figure(&format!("fault_{seat}"), |game| {
                game.faults.iter().find(|fault| fault.seat == seat).map(|fault| fault.kind)
            });
        }
        sheet.text("result", |game| result_name(game.result).to_owned());
        sheet.text("reason", |game| game.reason.clone());
        sheet.figure("turns", |game| Some(game.turns));
        sheet.figure("marked", |game| Some(game.marked));
        sheet.text("transcript", |game| game.transcript.clone());
        csv(&sheet.columns)
    }
}
