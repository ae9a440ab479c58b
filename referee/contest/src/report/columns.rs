//! The table model of reports: columns of text, which text, Markdown, CSV and HTML each write in
//! their way.

use super::Report;
use super::number_format::{NONE, duration, elo, fixed, interval, ordinal, percent};
use crate::standings::{End, FaultCount, Meeting, Points, Standing, result_name};
use referee_match::summary::fault_text;
use referee_match::times::show_memory;

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
    /// Escaped markup that names its row.
    Row,
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

/// A table with a row for each of `rows`.
#[derive(Debug)]
pub(super) struct Table<'a, T> {
    pub(super) rows: &'a [T],
    pub(super) columns: Vec<Column>,
    /// What a figure without a value is shown as.
    none: &'static str,
}

impl<'a, T> Table<'a, T> {
    /// Returns a table for people.
    pub(super) fn new(rows: &'a [T]) -> Self {
        Self { rows, columns: Vec::new(), none: NONE }
    }

    /// Returns a table for programs.
    pub(super) fn of_data(rows: &'a [T]) -> Self {
        Self { none: "", ..Self::new(rows) }
    }

    /// Adds a column.
    pub(super) fn add(
        &mut self,
        head: impl Into<String>,
        kind: Kind,
        cell: impl Fn(&'a T) -> String,
    ) {
        self.columns.push(Column {
            head: head.into(),
            kind,
            cells: self.rows.iter().map(cell).collect(),
        });
    }

    /// Adds a column of names.
    pub(super) fn name(&mut self, head: impl Into<String>, cell: impl Fn(&'a T) -> &'a str) {
        self.add(head, Kind::Name, |row| cell(row).to_owned());
    }

    /// Adds a column of figures.
    pub(super) fn figure<F: ToString>(
        &mut self,
        head: impl Into<String>,
        cell: impl Fn(&'a T) -> Option<F>,
    ) {
        let none = self.none;
        self.add(head, Kind::Figure, |row| {
            cell(row).map_or_else(|| none.to_owned(), |value| value.to_string())
        });
    }

    /// Adds a column of numbers with `decimals` decimals; one that isn't finite is missing.
    pub(super) fn decimal(
        &mut self,
        head: impl Into<String>,
        decimals: usize,
        cell: impl Fn(&'a T) -> Option<f64>,
    ) {
        let finite = |row| cell(row).filter(|value| value.is_finite());
        self.figure(head, |row| finite(row).map(|value| fixed(value, decimals)));
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
    /// The same for programs.
    Data,
    /// Tie-breaks as well.
    Ranks,
    /// Intervals and time use as well.
    Full,
}

type Players<'a> = Table<'a, Standing>;

/// Returns the standings, a row for each player.
pub(super) fn standings(report: &Report, detail: Detail) -> Vec<Column> {
    let seats = report.standings.seats;
    let mut table = Table::new(&report.standings.players);
    table.figure("#", |own| Some(own.rank));
    table.name("player", |own| &own.name);
    if report.ratings.is_some() {
        rating(&mut table, report, detail);
    }
    table.figure("games", |own| Some(own.total.games));
    if seats == 1 {
        scores(&mut table);
    } else {
        results(&mut table, seats);
    }
    // Before the tie-breaks, so that a page shows it without scrolling.
    table.add("faults", Kind::Words, |own| {
        let faults = faults(own, detail == Detail::Data);
        if faults.is_empty() { NONE.to_owned() } else { faults }
    });
    if seats > 1 && matches!(detail, Detail::Ranks | Detail::Full) {
        tie_breaks(&mut table);
    }
    if detail == Detail::Full {
        time(&mut table);
    }
    table.columns
}

fn rating(table: &mut Players<'_>, report: &Report, detail: Detail) {
    let of = |own: &Standing| report.rating(own.player);
    table.figure("Elo", |own| Some(elo(of(own)?.elo)));
    if detail == Detail::Data {
        table.figure("Elo low", |own| of(own)?.low.map(elo));
        table.figure("Elo high", |own| of(own)?.high.map(elo));
    } else {
        table.figure("95 % interval", |own| interval(of(own)?.low, of(own)?.high));
    }
    let is_ordered = table.rows.iter().filter_map(of).any(|own| own.better_than_next.is_some());
    if detail == Detail::Full && is_ordered {
        table.decimal("better than the next, %", 1, |own| of(own)?.better_than_next);
    }
}

fn results(table: &mut Players<'_>, seats: usize) {
    table.figure("points", |own| Some(own.points));
    table.figure("%", |own| own.total.share().map(percent));
    if table.rows.iter().any(|own| own.bye_points.parts() > 0) {
        table.figure("of which byes", |own| Some(own.bye_points));
    }
    if seats == 2 {
        table.figure("wins", |own| Some(own.total.wins));
        table.figure("draws", |own| own.total.draws);
        table.figure("losses", |own| own.total.losses);
    } else {
        for place in 0..seats {
            table.figure(ordinal(place + 1), |own| own.total.places.get(place));
        }
    }
}

/// Returns the points of each player in each seat.
pub(super) fn seats(report: &Report) -> Vec<Column> {
    let mut table = Table::new(&report.standings.players);
    table.name("player", |own| &own.name);
    for seat in 0..report.standings.seats {
        table.figure(format!("seat {seat}"), |own| {
            own.by_seat.get(seat).map(|tally| format!("{}/{}", tally.points, tally.games))
        });
        table.figure("%", |own| own.by_seat.get(seat)?.share().map(percent));
    }
    table.columns
}

fn scores(table: &mut Players<'_>) {
    table.figure("solved", |own| Some(own.puzzle.as_ref()?.solved));
    let Some(first) = table.rows.first().and_then(|own| own.puzzle.as_ref()) else { return };
    for (game, sum) in first.games.iter().enumerate() {
        let scored = |own: &Standing| {
            let sum = own.puzzle.as_ref()?.games.get(game).filter(|sum| sum.scored > 0)?;
            Some((sum.total, sum.mean))
        };
        if table.rows.iter().all(|own| scored(own).is_none()) {
            continue;
        }
        // The game's name is untrusted; writers sanitize it.
        let name = if first.games.len() > 1 { format!("{} ", sum.game) } else { String::new() };
        table.figure(format!("{name}score"), |own| Some(scored(own)?.0));
        table.decimal(format!("{name}mean"), 2, |own| scored(own)?.1);
    }
}

fn tie_breaks(table: &mut Players<'_>) {
    type Pick = fn(&Standing) -> Option<Points>;
    let all: [(&str, Pick); 3] = [
        ("direct", |own| own.tie_breaks.direct),
        ("Buchholz", |own| own.tie_breaks.buchholz),
        ("Sonneborn-Berger", |own| own.tie_breaks.sonneborn_berger),
    ];
    for (head, pick) in all {
        if table.rows.iter().any(|own| pick(own).is_some()) {
            table.figure(head, pick);
        }
    }
}

/// Returns the heads and the rows as text.
pub(super) fn texts(columns: &[Column]) -> (Vec<String>, Vec<Vec<String>>) {
    let head = columns.iter().map(|column| column.head.clone()).collect();
    (head, rows(columns).map(|row| row.map(str::to_owned).collect()).collect())
}

/// Returns the cross table of at most `players_max` players, by rank: what the row's player got
/// against the column's, in percent; `none` if they didn't meet.
pub(super) fn cross(
    report: &Report,
    players_max: usize,
    number: &str,
    none: &'static str,
) -> Option<Vec<Column>> {
    let players = &report.standings.players;
    if report.standings.seats < 2 || players.len() > players_max {
        return None;
    }
    let rows: Vec<(usize, &Standing)> = (1..).zip(players).collect();
    let mut table = Table { none, ..Table::new(&rows) };
    table.figure(number, |(number, _)| Some(number));
    table.name("player", |(_, own)| &own.name);
    for (number, other) in &rows {
        table.figure(number.to_string(), |(_, own)| {
            let met = report.standings.meeting(own.player, other.player);
            met.and_then(Meeting::share).map(percent)
        });
    }
    Some(table.columns)
}

/// Returns the reasons for which games ended, a row each.
pub(super) fn ends(report: &Report) -> Table<'_, End> {
    let mut table = Table::new(&report.standings.ends);
    table.add("ended by", Kind::Words, |end| result_name(end.result).to_owned());
    table.add("reason", Kind::Words, |end| {
        end.texts.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    });
    table.figure("games", |end| Some(end.games));
    table
}

/// Returns a player's faults with counts, for programs by their codes; empty if there are none.
pub(super) fn faults(standing: &Standing, for_programs: bool) -> String {
    let each = |fault: &FaultCount| {
        if for_programs {
            format!("{} {}", fault.games, fault.kind)
        } else {
            format!("{} ({})", fault_text(fault.kind), fault.games)
        }
    };
    standing.faults.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// Returns the players' names and time use.
pub(super) fn time_table(report: &Report) -> Vec<Column> {
    let mut table = Table::new(&report.standings.players);
    table.name("player", |own| &own.name);
    time(&mut table);
    table.columns
}

fn time(table: &mut Players<'_>) {
    table.figure("time per turn", |own| own.time.ms_a_turn.map(duration));
    table.figure("time per game", |own| own.time.mean_used_ms.map(duration));
    #[expect(clippy::cast_precision_loss, reason = "a time that is shown with three digits")]
    table.figure("longest game", |own| Some(duration(own.time.max_used_ms as f64)));
    table.figure("CPU per game", |own| own.time.mean_cpu_ms.map(duration));
    if table.rows.iter().any(|own| own.time.peak_memory_kb.is_some()) {
        table.figure("most memory", |own| own.time.peak_memory_kb.map(show_memory));
    }
}
