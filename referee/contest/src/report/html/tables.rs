//! The page's tables.

use super::super::columns::{self, Column, Detail, Kind};
use super::super::figures::{NONE, elo, fixed, or_none, ordinal, percent};
use super::super::{Report, notes};
use super::markup::{Markup, Name, Text};
use crate::ratings::Rating;
use crate::standings::{Tally, result_name};
use referee_protocol::plain::count;

/// Names are cut here in tables; the whole name is in the title.
pub(super) const NAME_COLUMNS: usize = 40;

/// Longer tables are folded away.
const OPEN_ROWS_MAX: usize = 30;

/// The standings with everything that is known of a player.
pub(super) fn standings(out: &mut Markup, report: &Report) {
    columns_table(out, &columns::standings(report, Detail::Ranks));
    out.notes(&notes::standings(report));
}

/// The time that players used, folded away.
pub(super) fn time(out: &mut Markup, report: &Report) {
    out.put(format_args!("<details><summary>The same as a table, with more</summary>\n"));
    columns_table(out, &columns::time_table(report));
    out.put(format_args!("</details>\n"));
}

fn columns_table(out: &mut Markup, columns: &[Column]) {
    out.put(format_args!("<div class=\"wide\">\n<table>\n<thead><tr>\n"));
    for column in columns {
        let class = if column.kind == Kind::Figure { " class=\"n\"" } else { "" };
        out.put(format_args!("<th scope=\"col\"{class}>{}</th>\n", Text(&column.head)));
    }
    out.put(format_args!("</tr></thead>\n<tbody>\n"));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        out.put(format_args!("<tr>"));
        for column in columns {
            let cell = &column.cells[row];
            let (name, figure) = (Name(cell, NAME_COLUMNS), Figure(cell));
            match column.kind {
                Kind::Name => out.put(format_args!("<th scope=\"row\">{name}</th>")),
                Kind::Figure => out.put(format_args!("<td class=\"n\">{figure}</td>")),
                Kind::Words if cell == NONE => out.put(format_args!("<td>–</td>")),
                Kind::Words => out.put(format_args!("<td>{}</td>", Text(cell))),
            }
        }
        out.put(format_args!("</tr>\n"));
    }
    out.put(format_args!("</tbody>\n</table>\n</div>\n"));
}

/// The ratings with all that the fit says of them, the best first, folded away.
pub(super) fn ratings(out: &mut Markup, report: &Report, sorted: &[&Rating]) {
    out.put(format_args!("<details><summary>The same as a table, with more</summary>\n"));
    let column = |head: &str, kind, cell: &dyn Fn(&Rating) -> String| {
        Column::new(head, kind, sorted.iter().copied(), cell)
    };
    let interval = |own: &Rating| {
        or_none(own.bootstrap, |(low, high)| format!("{} to {}", elo(low), elo(high)))
    };
    let better = |own: &Rating| or_none(own.better_than_next, |share| fixed(share, 1));
    let mut columns = vec![
        column("player", Kind::Name, &|own| report.player_name(own.player).to_owned()),
        column("Elo", Kind::Figure, &|own| elo(own.elo)),
        column("±", Kind::Figure, &|own| or_none(own.error, |error| fixed(error, 1))),
        column("95 % interval by bootstrap", Kind::Figure, &interval),
        column("better than the next, %", Kind::Figure, &better),
        column("games fitted", Kind::Figure, &|own| own.games.to_string()),
    ];
    if report.ratings.as_ref().is_some_and(|ratings| ratings.groups > 1) {
        columns.push(column("group", Kind::Figure, &|own| own.group.to_string()));
    }
    columns_table(out, &columns);
    out.put(format_args!("</details>\n"));
}

/// A figure with a proper minus.
struct Figure<'a>(&'a str);

impl std::fmt::Display for Figure<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == NONE {
            return f.write_str("–");
        }
        write!(f, "{}", Text(&self.0.replace('-', "−")))
    }
}

/// What each player got on each seat.
pub(super) fn seats(out: &mut Markup, report: &Report) {
    let players = &report.standings.players;
    out.put(format_args!("<details><summary>Players by seat</summary>\n<div class=\"wide\">\n"));
    out.put(format_args!("<table>\n<thead><tr><th scope=\"col\">player</th>"));
    for seat in 0..report.standings.seats {
        out.put(format_args!("<th scope=\"col\" class=\"n\">seat {seat}, points</th>"));
        out.put(format_args!("<th scope=\"col\" class=\"n\">of games</th>"));
        out.put(format_args!("<th scope=\"col\" class=\"n\">%</th>"));
    }
    out.put(format_args!("</tr></thead>\n<tbody>\n"));
    for standing in players {
        let name = Name(&standing.name, NAME_COLUMNS);
        out.put(format_args!("<tr><th scope=\"row\">{name}</th>"));
        for tally in &standing.by_seat {
            let share = or_none(tally.share(), percent);
            for cell in [tally.points.to_string(), tally.games.to_string(), share] {
                out.put(format_args!("<td class=\"n\">{}</td>", Figure(&cell)));
            }
        }
        out.put(format_args!("</tr>\n"));
    }
    out.put(format_args!("</tbody>\n</table>\n</div>\n</details>\n"));
}

/// How often each thing happened to a seat, in words.
pub(super) fn parts(tally: &Tally) -> Vec<(String, u64)> {
    if let (Some(draws), Some(losses)) = (tally.draws, tally.losses) {
        vec![("won".into(), tally.wins), ("drawn".into(), draws), ("lost".into(), losses)]
    } else {
        let places = tally.places.iter().enumerate();
        places.map(|(place, &count)| (ordinal(place + 1), count)).collect()
    }
}

/// How games ended.
pub(super) fn ends(out: &mut Markup, report: &Report) {
    let ends = &report.standings.ends;
    if ends.is_empty() {
        return;
    }
    out.put(format_args!(
        "<div class=\"wide\">\n<table>\n<thead><tr><th scope=\"col\">ended by</th><th \
         scope=\"col\">reason</th><th scope=\"col\" class=\"n\">games</th><th scope=\"col\" \
         class=\"n\">%</th></tr></thead>\n<tbody>\n"
    ));
    for end in ends {
        #[expect(clippy::cast_precision_loss, reason = "a percentage with one decimal")]
        let share = percent(end.games as f64 / report.standings.games.max(1) as f64);
        out.put(format_args!(
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{share}</td></tr>\n",
            result_name(end.result),
            Name(&end.reason, NAME_COLUMNS),
            end.games,
        ));
    }
    out.put(format_args!("</tbody>\n</table>\n</div>\n"));
}

/// The instances that players met alone.
pub(super) fn instances(out: &mut Markup, report: &Report) {
    let instances = &report.standings.instances;
    if instances.is_empty() {
        return;
    }
    let open = if instances.len() <= OPEN_ROWS_MAX { " open=\"open\"" } else { "" };
    let many = count(instances.len() as u64, "instance");
    out.put(format_args!(
        "<details{open}><summary>{many}</summary>\n<div class=\"wide\">\n<table>\n<thead><tr><th \
         scope=\"col\">game</th><th scope=\"col\" class=\"n\">instance</th><th scope=\"col\" \
         class=\"n\">tried</th><th scope=\"col\" class=\"n\">solved</th><th scope=\"col\" \
         class=\"n\">best score</th><th scope=\"col\">by</th></tr></thead>\n<tbody>\n"
    ));
    for instance in instances {
        out.put(format_args!(
            "<tr><td>{}</td><th scope=\"row\" class=\"n\">{}</th><td class=\"n\">{}</td><td \
             class=\"n\">{}</td><td class=\"n\">{}</td><td>",
            Name(&instance.game, NAME_COLUMNS),
            instance.number,
            instance.tried,
            instance.solved,
            Figure(&or_none(instance.best, |best| best.to_string())),
        ));
        for (index, &player) in instance.by.iter().take(3).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let name = Name(report.player_name(player), NAME_COLUMNS);
            out.put(format_args!("{comma}{name}"));
        }
        if instance.by.len() > 3 {
            out.put(format_args!(" and {} more", instance.by.len() - 3));
        }
        out.put(format_args!("</td></tr>\n"));
    }
    out.put(format_args!("</tbody>\n</table>\n</div>\n</details>\n"));
}

/// Who doesn't play, and why.
pub(super) fn left_out(out: &mut Markup, report: &Report) {
    if report.left_out.is_empty() {
        return;
    }
    out.put(format_args!("<ul class=\"notes\">\n"));
    for one in &report.left_out {
        let name = Name(&one.name, NAME_COLUMNS);
        let (first, rest) = one.reason.split_once('\n').unwrap_or((&one.reason, ""));
        out.put(format_args!("<li>{name}: {}", Text(first)));
        if !rest.is_empty() {
            // Lines of a compiler, with marks under what they mean.
            let lines: Vec<String> = rest.lines().map(|line| Text(line).to_string()).collect();
            out.put(format_args!("<pre>{}</pre>", lines.join("\n")));
        }
        out.put(format_args!("</li>\n"));
    }
    out.put(format_args!("</ul>\n"));
}

/// The settings, and commands for the reader.
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
