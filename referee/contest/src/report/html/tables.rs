//! The page's tables.

use super::super::columns::{self, Column, Detail, Kind, Table};
use super::super::{Report, notes};
use super::links::Links;
use super::markup::{Markup, Name, Text};
use crate::numbers::{NONE, elo, interval, ordinal, percent};
use crate::ratings::Rating;
use crate::standings::{Standing, Tally};
use crate::wording::count;

/// The width of names in tables; the whole name is in the title.
pub(super) const NAME_COLUMNS: usize = 40;

/// Longer tables are folded.
const OPEN_ROWS_MAX: usize = 30;

/// The heading of a table with the data of a chart.
const AS_TABLE: &str = "The same as a table, with more";

/// Writes the standings.
pub(super) fn standings(out: &mut Markup, report: &Report, links: &Links<'_>) {
    let mut columns = columns::standings(report, Detail::Ranks);
    for column in columns.iter_mut().filter(|column| column.kind == Kind::Name) {
        let players = report.standings.players.iter();
        let name = |own: &Standing| links.player(own.player, &own.name, NAME_COLUMNS);
        column.cells = players.map(name).collect();
        column.kind = Kind::Row;
    }
    columns_table(out, "", &columns);
    out.notes(&notes::standings(report));
}

/// Writes the players' time use.
pub(super) fn time(out: &mut Markup, report: &Report) {
    let players = &report.standings.players;
    if players.iter().any(|own| own.time.max_used_ms > 0) {
        let summary = "Time that the clock charged";
        out.details(players.len() <= OPEN_ROWS_MAX, summary, |out| {
            columns_table(out, "", &columns::standings(report, Detail::Time));
        });
    }
}

/// Writes a table; `class` is empty or its class.
pub(super) fn columns_table(out: &mut Markup, class: &str, columns: &[Column]) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    out.put(format_args!("<div class=\"wide\">\n<table{class}>\n<thead><tr>\n"));
    for column in columns {
        let figures = matches!(column.kind, Kind::Figure | Kind::Number | Kind::Html("n"));
        let class = match column.kind {
            Kind::Name | Kind::Row => " class=\"name\"",
            _ if figures => " class=\"n\"",
            _ => "",
        };
        out.put(format_args!("<th scope=\"col\"{class}>{}</th>\n", Text(&column.head)));
    }
    out.put(format_args!("</tr></thead>\n<tbody>\n"));
    for row in columns::rows(columns) {
        out.put(format_args!("<tr>"));
        for (column, cell) in columns.iter().zip(row) {
            let (name, figure) = (Name(cell, NAME_COLUMNS), figure(cell));
            match column.kind {
                Kind::Name => out.put(format_args!("<th scope=\"row\">{name}</th>")),
                Kind::Row => out.put(format_args!("<th scope=\"row\">{cell}</th>")),
                Kind::Number => {
                    out.put(format_args!("<th scope=\"row\" class=\"n\">{figure}</th>"));
                }
                Kind::Figure => out.put(format_args!("<td class=\"n\">{figure}</td>")),
                Kind::Words if cell == NONE => out.put(format_args!("<td>–</td>")),
                Kind::Words => out.put(format_args!("<td>{}</td>", Text(cell))),
                Kind::Html("") => out.put(format_args!("<td>{cell}</td>")),
                Kind::Html(class) => out.put(format_args!("<td class=\"{class}\">{cell}</td>")),
            }
        }
        out.put(format_args!("</tr>\n"));
    }
    out.put(format_args!("</tbody>\n</table>\n</div>\n"));
}

/// Writes the ratings with all results of the fit, the best first, folded.
pub(super) fn ratings(out: &mut Markup, report: &Report, sorted: &[&Rating]) {
    let mut table = Table::new(sorted);
    table.name("player", |own| report.player_name(own.player));
    table.figure("Elo", |own| Some(elo(own.elo)));
    table.figure("95 % interval", |own| interval(own.low, own.high));
    table.decimal("better than the next, %", 1, |own| own.better_than_next);
    table.figure("games fitted", |own| Some(own.games));
    if report.ratings.as_ref().is_some_and(|ratings| ratings.groups > 1) {
        table.figure("group", |own| Some(own.group));
    }
    out.details(false, AS_TABLE, |out| columns_table(out, "", &table.columns));
}

/// Returns a figure with a minus sign instead of a hyphen.
fn figure(text: &str) -> String {
    if text == NONE { "–".to_owned() } else { Text(&text.replace('-', "−")).to_string() }
}

/// Writes the results in each seat, and each player's.
pub(super) fn seats(out: &mut Markup, report: &Report) {
    let seats: Vec<(usize, &Tally)> = report.standings.by_seat.iter().enumerate().collect();
    let mut table = Table::new(&seats);
    table.add("seat", Kind::Number, |(seat, _)| seat.to_string());
    table.figure("games", |(_, tally)| Some(tally.games));
    table.figure("% of points", |(_, tally)| tally.share().map(percent));
    if report.standings.seats == 2 {
        table.figure("won", |(_, tally)| Some(tally.wins));
        table.figure("drawn", |(_, tally)| tally.draws);
        table.figure("lost", |(_, tally)| tally.losses);
    }
    for place in 0..report.standings.by_seat[0].places.len() {
        table.figure(ordinal(place + 1), |(_, tally)| tally.places.get(place));
    }
    columns_table(out, "", &table.columns);
    out.details(false, "Players by seat", |out| columns_table(out, "", &columns::seats(report)));
}

/// Writes how games ended.
pub(super) fn ends(out: &mut Markup, report: &Report) {
    let mut table = columns::ends(report);
    if table.rows.is_empty() {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "a percentage with one decimal")]
    table.figure("%", |end| Some(percent(end.games as f64 / report.standings.games.max(1) as f64)));
    columns_table(out, "", &table.columns);
}

/// Writes the instances of one-seat games.
pub(super) fn instances(out: &mut Markup, report: &Report) {
    let instances = &report.standings.instances;
    if instances.is_empty() {
        return;
    }
    let name = |name| Name(name, NAME_COLUMNS).to_string();
    let mut table = Table::new(instances);
    table.add("game", Kind::Html(""), |one| name(&one.game));
    table.add("instance", Kind::Number, |one| one.number.to_string());
    table.figure("tried", |one| Some(one.tried));
    table.figure("solved", |one| Some(one.solved));
    table.figure("best score", |one| one.best);
    table.add("by", Kind::Html(""), |one| {
        let names = one.by.iter().take(3).map(|&player| name(report.player_name(player)));
        let more = match one.by.len().saturating_sub(3) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        names.collect::<Vec<_>>().join(", ") + &more
    });
    let open = instances.len() <= OPEN_ROWS_MAX;
    let summary = count(instances.len() as u64, "instance");
    out.details(open, &summary, |out| columns_table(out, "", &table.columns));
}

/// Writes which submissions don't play, and why.
pub(super) fn left_out(out: &mut Markup, report: &Report) {
    if report.left_out.is_empty() {
        return;
    }
    out.put(format_args!("<ul class=\"notes\">\n"));
    for one in &report.left_out {
        let name = Name(&one.name, NAME_COLUMNS);
        out.put(format_args!("<li>{name}: {}</li>\n", Text(&one.reason)));
    }
    out.put(format_args!("</ul>\n"));
}

/// Writes the settings and the commands.
pub(super) fn settings(out: &mut Markup, report: &Report) {
    if !report.settings.is_empty() {
        out.put(format_args!("<dl>\n"));
        for setting in &report.settings {
            let (name, value) = (Text(&setting.name), Text(&setting.value));
            out.put(format_args!("<dt>{name}</dt><dd>{value}</dd>\n"));
        }
        out.put(format_args!("</dl>\n"));
    }
    for command in &report.commands {
        let (does, line) = (Text(&command.does), Text(&command.line));
        out.put(format_args!("<p>{does}:</p>\n<pre><code>{line}</code></pre>\n"));
    }
}
