//! The table model of reports: columns of text, which text, Markdown, CSV and HTML each write in
//! their way.

use super::Report;
use super::number_format::{NONE, duration, elo, fixed, or_dash, ordinal, percent};
use crate::standings::{Meeting, Points, Standing, result_name};

/// What a column contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Untrusted text such as names, to be escaped by the writer.
    Name,
    /// Figures.
    Figure,
    /// Words that need no escaping.
    Words,
    /// Figures that name their row; only in HTML, as is the next.
    Number,
    /// Escaped markup, in cells of this class.
    Html(&'static str),
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) head: String,
    pub(super) kind: Kind,
    /// The cells, one for each row.
    pub(super) cells: Vec<String>,
}

impl Column {
    /// Returns a column with a cell for each row.
    pub(super) fn new<'a, T: 'a>(
        head: impl Into<String>,
        kind: Kind,
        rows: impl IntoIterator<Item = &'a T>,
        cell: impl Fn(&'a T) -> String,
    ) -> Self {
        Self { head: head.into(), kind, cells: rows.into_iter().map(cell).collect() }
    }
}

/// Returns the cells row by row, without the heads.
pub(super) fn rows(columns: &[Column]) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    (0..rows).map(|row| columns.iter().map(move |column| column.cells[row].as_str()))
}

/// How much of the standings is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The columns that fit a terminal.
    Short,
    /// Tie-breaks as well.
    Ranks,
    /// Intervals and time use as well.
    Full,
}

/// Returns the standings, a row for each player.
pub(super) fn standings(report: &Report, detail: Detail) -> Vec<Column> {
    let mut columns = vec![
        column(report, "#", Kind::Figure, |standing| standing.rank.to_string()),
        column(report, "player", Kind::Name, |standing| standing.name.clone()),
    ];
    if report.ratings.is_some() {
        columns.extend(rating(report, detail));
    }
    columns.push(figure(report, "games", |standing| standing.total.games.to_string()));
    if report.standings.seats == 1 {
        columns.extend(alone(report));
    } else {
        columns.extend(results(report));
    }
    // Before the tie-breaks, so that a page shows it without scrolling.
    columns.push(column(report, "faults", Kind::Words, |standing| {
        faults(standing).unwrap_or_else(|| NONE.to_owned())
    }));
    if report.standings.seats > 1 && detail != Detail::Short {
        columns.extend(tie_breaks(report));
    }
    if detail == Detail::Full {
        columns.extend(time(report));
    }
    columns
}

fn column(report: &Report, head: &str, kind: Kind, cell: impl Fn(&Standing) -> String) -> Column {
    Column::new(head, kind, &report.standings.players, cell)
}

fn figure(report: &Report, head: &str, cell: impl Fn(&Standing) -> String) -> Column {
    column(report, head, Kind::Figure, cell)
}

fn rating(report: &Report, detail: Detail) -> Vec<Column> {
    let of = |standing: &Standing| report.rating(standing.player);
    let mut columns = vec![
        figure(report, "Elo", |standing| or_dash(of(standing), |own| elo(own.elo))),
        figure(report, "±", |standing| {
            or_dash(of(standing).and_then(|own| own.error), |error| fixed(error, 1))
        }),
    ];
    let rated = || report.standings.players.iter().filter_map(of);
    if detail == Detail::Full && rated().any(|own| own.bootstrap.is_some()) {
        columns.push(figure(report, "95 % bootstrap", |standing| {
            let interval = of(standing).and_then(|own| own.bootstrap);
            or_dash(interval, |(low, high)| format!("{} to {}", elo(low), elo(high)))
        }));
    }
    if detail == Detail::Full && rated().any(|own| own.better_than_next.is_some()) {
        columns.push(figure(report, "better than the next, %", |standing| {
            or_dash(of(standing).and_then(|own| own.better_than_next), |share| fixed(share, 1))
        }));
    }
    columns
}

fn results(report: &Report) -> Vec<Column> {
    let mut columns = vec![
        figure(report, "points", |standing| standing.points.to_string()),
        figure(report, "%", |standing| or_dash(standing.total.share(), percent)),
    ];
    if report.standings.players.iter().any(|standing| standing.bye_points.parts() > 0) {
        columns.push(figure(report, "of which byes", |standing| standing.bye_points.to_string()));
    }
    if report.standings.seats == 2 {
        columns.push(figure(report, "wins", |standing| standing.total.wins.to_string()));
        columns.push(figure(report, "draws", |standing| {
            or_dash(standing.total.draws, |draws| draws.to_string())
        }));
        columns.push(figure(report, "losses", |standing| {
            or_dash(standing.total.losses, |losses| losses.to_string())
        }));
    } else {
        for place in 0..report.standings.seats {
            columns.push(figure(report, &ordinal(place + 1), |standing| {
                or_dash(standing.total.places.get(place), u64::to_string)
            }));
        }
    }
    columns
}

fn alone(report: &Report) -> Vec<Column> {
    let puzzle = |standing: &Standing| standing.puzzle.clone();
    let mut columns = vec![figure(report, "solved", |standing| {
        or_dash(puzzle(standing), |own| own.solved.to_string())
    })];
    let games = report.standings.players.first().and_then(puzzle).map_or(0, |own| own.games.len());
    for game in 0..games {
        let sum = |standing: &Standing| {
            standing.puzzle.as_ref().and_then(|own| own.games.get(game)).cloned()
        };
        if !report.standings.players.iter().filter_map(sum).any(|own| own.scored > 0) {
            continue;
        }
        let first = report.standings.players.first().and_then(sum);
        // The game's name is untrusted; writers sanitize it.
        let name = first.filter(|_| games > 1).map(|own| format!("{} ", own.game));
        let name = name.unwrap_or_default();
        columns.push(figure(report, &format!("{name}score"), |standing| {
            let own = sum(standing).filter(|own| own.scored > 0);
            or_dash(own, |own| own.total.to_string())
        }));
        columns.push(figure(report, &format!("{name}mean"), |standing| {
            or_dash(sum(standing).and_then(|own| own.mean), |mean| fixed(mean, 2))
        }));
    }
    columns
}

fn tie_breaks(report: &Report) -> Vec<Column> {
    type Pick = fn(&Standing) -> Option<Points>;
    let all: [(&str, Pick); 3] = [
        ("direct", |standing| standing.tie_breaks.direct),
        ("Buchholz", |standing| standing.tie_breaks.buchholz),
        ("Sonneborn-Berger", |standing| standing.tie_breaks.sonneborn_berger),
    ];
    let used = |pick: &Pick| report.standings.players.iter().any(|own| pick(own).is_some());
    let shown = all.into_iter().filter(|(_, pick)| used(pick));
    let cell = |pick: Pick| move |own: &Standing| or_dash(pick(own), |points| points.to_string());
    shown.map(|(head, pick)| figure(report, head, cell(pick))).collect()
}

/// Returns the cross table of at most `players_max` players, by rank: what the row's player got
/// against the column's, in percent; `none` if they didn't meet.
pub(super) fn cross(
    report: &Report,
    players_max: usize,
    number: &str,
    none: &str,
) -> Option<Vec<Column>> {
    let players = &report.standings.players;
    if report.standings.seats < 2 || players.len() > players_max {
        return None;
    }
    let numbers: Vec<usize> = (1..=players.len()).collect();
    let mut columns = vec![
        Column::new(number, Kind::Figure, &numbers, usize::to_string),
        Column::new("player", Kind::Name, players, |own| own.name.clone()),
    ];
    columns.extend(players.iter().zip(&numbers).map(|(other, number)| {
        let met = |own: &Standing| report.standings.meeting(own.player, other.player);
        Column::new(number.to_string(), Kind::Figure, players, |own| {
            met(own).and_then(Meeting::share).map_or_else(|| none.to_owned(), percent)
        })
    }));
    Some(columns)
}

/// Returns the reasons for which games ended, a row each.
pub(super) fn ends(report: &Report) -> Vec<Column> {
    let ends = &report.standings.ends;
    vec![
        Column::new("ended by", Kind::Words, ends, |end| result_name(end.result).to_owned()),
        Column::new("reason", Kind::Words, ends, |end| end.reason.clone()),
        Column::new("games", Kind::Figure, ends, |end| end.games.to_string()),
    ]
}

/// Returns a player's faults with counts, by the protocol's names, if there are any.
pub(super) fn faults(standing: &Standing) -> Option<String> {
    let each = standing.faults.iter().map(|fault| format!("{} {}", fault.games, fault.kind));
    let text = each.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

/// Returns the players' names and time use.
pub(super) fn time_table(report: &Report) -> Vec<Column> {
    let name = column(report, "player", Kind::Name, |standing| standing.name.clone());
    std::iter::once(name).chain(time(report)).collect()
}

fn time(report: &Report) -> Vec<Column> {
    #[expect(clippy::cast_precision_loss, reason = "a time that is shown with three digits")]
    let longest = |standing: &Standing| duration(standing.time.max_used_ms as f64);
    vec![
        figure(report, "time per turn", |own| or_dash(own.time.ms_a_turn, duration)),
        figure(report, "time per game", |own| or_dash(own.time.mean_used_ms, duration)),
        figure(report, "longest game", longest),
        figure(report, "CPU per game", |own| or_dash(own.time.mean_cpu_ms, duration)),
    ]
}
