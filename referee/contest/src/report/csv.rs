//! The standings and the games as CSV (RFC 4180) that is safe to open in a spreadsheet: text that a
//! spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV Injection").

use super::columns::{self, Column, Detail, Kind, Table, rows};
use super::{GameRow, Report};
use crate::grades::Grade;
use crate::standings::result_name;
use referee_protocol::sanitize::sanitize;
use std::io::{self, Write};

/// Games are written in parts of so many.
const PART_GAMES: usize = 1000;

/// Returns a table: the heads, then a line for each row.
fn csv(columns: &[Column]) -> String {
    heads(columns) + &lines(columns)
}

fn heads(columns: &[Column]) -> String {
    line(columns.iter().map(|column| quoted(&column.head)))
}

/// Returns a line for each row.
fn lines(columns: &[Column]) -> String {
    let row = |cells: &mut dyn Iterator<Item = &str>| {
        let written = columns.iter().zip(cells).map(|(column, cell)| match column.kind {
            Kind::Figure => cell.to_owned(),
            _ => quoted(cell),
        });
        line(written)
    };
    rows(columns).map(|mut cells| row(&mut cells)).collect()
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

/// Returns text as a cell: sanitized, no formula, and in quotes if needed.
fn quoted(text: &str) -> String {
    let text = no_formula(text);
    let quoted = text.contains(['"', ',', '\n', '\r', ';', '\t', '\'']) || text.trim() != text;
    if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Returns text for a cell: sanitized, with an apostrophe in front of a formula.
pub fn no_formula(text: &str) -> String {
    let text = sanitize(text);
    // A built-in agent is no function of a spreadsheet.
    let is_built_in = |name: &str| name.parse::<sample_agents::Agent>().is_ok();
    if text.strip_prefix('@').is_some_and(is_built_in) {
        return text;
    }
    // Some spreadsheets skip spaces, and read the wide forms that East Asian keyboards type like the others.
    let formula = text.trim_start().starts_with([
        '=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}', '\u{2212}', '\t', '\r',
        '\u{FFFD}',
    ]);
    if formula { format!("'{text}") } else { text }
}

impl Report {
    /// Returns the standings as CSV: a line of names, then a line for each player.
    pub fn standings_csv(&self) -> String {
        csv(&columns::standings(self, Detail::Csv))
    }

    /// Writes the games as CSV: a line of names, then a line for each game.
    pub fn write_games_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(heads(&self.game_columns(&[])).as_bytes())?;
        let mut part = Vec::with_capacity(PART_GAMES);
        self.games.each(|game| {
            part.push(game);
            if part.len() < PART_GAMES {
                return Ok(());
            }
            let lines = lines(&self.game_columns(&part));
            part.clear();
            out.write_all(lines.as_bytes())
        })?;
        out.write_all(lines(&self.game_columns(&part)).as_bytes())
    }

    fn game_columns(&self, games: &[GameRow]) -> Vec<Column> {
        let names = self.names();
        let mut table = Table::of_data(games);
        table.figure("number", |game| Some(game.number));
        table.figure("round", |game| Some(game.round));
        table.name("game", |game| &game.game);
        for seat in 0..self.standings.seats {
            table.name(format!("player_{seat}"), |game| {
                let player = game.players.get(seat).and_then(|player| names.get(player.index()));
                player.unwrap_or(&"")
            });
            table.figure(format!("place_{seat}"), |game| game.places.get(seat));
            table.figure(format!("score_{seat}"), |game| game.scores.as_ref()?.get(seat));
            table.figure(format!("fault_{seat}"), |game| {
                game.faults.iter().find(|fault| fault.seat == seat).map(|fault| fault.kind)
            });
        }
        table.name("result", |game| result_name(game.result));
        table.name("reason", |game| &game.reason);
        table.figure("turns", |game| Some(game.turns));
        table.figure("marked", |game| Some(game.marked));
        table.name("transcript", |game| &game.transcript);
        table.figure("counts", |game| Some(game.counts));
        table.figure("repeats", |game| game.repeats);
        table.columns
    }
}

/// Returns grades as CSV: a line of names, then a line for each agent.
pub fn grades_csv(grades: &[Grade]) -> String {
    let mut table = Table::of_data(grades);
    table.name("player", |own| &own.name);
    if grades.iter().any(|own| own.id.is_some()) {
        table.name("id", |own| own.id.as_deref().unwrap_or_default());
    }
    table.name("mark", |own| own.mark.as_deref().unwrap_or_default());
    table.figure("points", |own| Some(own.points));
    table.figure("place", |own| own.place);
    table.decimal("percent", 2, |own| own.percent);
    table.decimal("elo", 2, |own| own.elo);
    table.add("reason", Kind::Name, |own| own.reasons.join("; "));
    csv(&table.columns)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn no_cell_is_a_formula() {
        for text in
            ["=1+1", " =1+1", "+1", "-1", "@x", "\u{FF1D}1", "\u{FF0B}1", "\u{FF0D}1", "\u{FF20}x"]
        {
            assert_eq!(quoted(text), format!("\"'{text}\""), "{text}");
        }
        for text in ["a=1", "@greedy", "@minimax:3"] {
            assert_eq!(quoted(text), text);
        }
        for text in
            ["@SUM(A1)", "@greedy ", " @greedy", "@greedy+1", "@minimax:3+1", "\tx", "\u{2212}1"]
        {
            assert!(quoted(text).starts_with("\"'"), "{text}");
        }
    }
}
