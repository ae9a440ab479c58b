//! The table model of reports: columns of text, which text, Markdown, CSV and HTML each write in
//! their way.

use super::Report;
use crate::numbers::{NONE, duration, elo, fixed, interval, ordinal, percent};
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

/// What is shown of the standings, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The columns that fit a terminal.
    Short,
    /// The same for programs.
    Data,
    /// Tie-breaks as well.
    Ranks,
    /// The order's certainty and time use as well.
    Full,
    /// Time use alone.
    Time,
    /// Everything, under the names and in the units of CSV.
    Csv,
}

const NEVER: &[Detail] = &[];
const ALWAYS: &[Detail] = &[Detail::Short, Detail::Data, Detail::Ranks, Detail::Full];
const RANKS: &[Detail] = &[Detail::Ranks, Detail::Full];
const TIME: &[Detail] = &[Detail::Full, Detail::Time];

/// A figure of the standings, which people and CSV get in different forms.
enum Value {
    Plain(String),
    Elo(f64),
    /// A share of 1: in percent for people.
    Share(f64),
    Percent(f64),
    Mean(f64),
    /// Milliseconds, and their decimals in CSV.
    Ms(f64, usize),
    /// Memory in units of 1,024 bytes.
    Memory(u64),
}

impl Value {
    #[expect(clippy::needless_pass_by_value, reason = "most are numbers")]
    fn plain(value: impl ToString) -> Self {
        Self::Plain(value.to_string())
    }

    /// Returns it as text; nothing if it isn't finite.
    fn text(self, is_csv: bool) -> Option<String> {
        let number = match self {
            Self::Plain(text) => return Some(text),
            Self::Memory(kb) => return Some(if is_csv { kb.to_string() } else { show_memory(kb) }),
            Self::Elo(it)
            | Self::Share(it)
            | Self::Percent(it)
            | Self::Mean(it)
            | Self::Ms(it, _) => it,
        };
        let text = match (self, is_csv) {
            (Self::Elo(it), false) => elo(it),
            (Self::Share(it), false) => percent(it),
            (Self::Percent(it), false) => fixed(it, 1),
            (Self::Mean(it), false) => fixed(it, 2),
            (Self::Ms(it, _), false) => duration(it),
            (Self::Share(it), true) => fixed(it, 4),
            (Self::Mean(it), true) => fixed(it, 3),
            (Self::Ms(it, decimals), true) => fixed(it, decimals),
            _ => fixed(number, 2),
        };
        number.is_finite().then_some(text)
    }
}

/// The standings' table under construction.
struct Players<'a> {
    table: Table<'a, Standing>,
    detail: Detail,
}

impl<'a> Players<'a> {
    /// Adds a column: where and under which head people see it, and its name in CSV, if it is there.
    fn column(
        &mut self,
        shown: &[Detail],
        head: impl Into<String>,
        name: impl Into<String>,
        value: impl Fn(&'a Standing) -> Option<Value>,
    ) {
        let is_csv = self.detail == Detail::Csv;
        let head = if is_csv { name.into() } else { head.into() };
        if !head.is_empty() && (is_csv || shown.contains(&self.detail)) {
            self.table.figure(head, |own| value(own)?.text(is_csv));
        }
    }
}

/// Returns the standings, a row for each player.
pub(super) fn standings(report: &Report, detail: Detail) -> Vec<Column> {
    let (seats, players) = (report.standings.seats, &report.standings.players);
    let table = if detail == Detail::Csv { Table::of_data(players) } else { Table::new(players) };
    let mut all = Players { table, detail };
    all.column(ALWAYS, "#", "rank", |own| Some(Value::plain(own.rank)));
    all.table.name("player", |own| &own.name);
    ratings(&mut all, report);
    all.column(ALWAYS, "games", "games", |own| Some(Value::plain(own.total.games)));
    results(&mut all, seats);
    for seat in 0..seats {
        let of = move |own: &'_ Standing| own.by_seat.get(seat).cloned();
        all.column(NEVER, "", format!("seat_{seat}_games"), |own| {
            Some(Value::plain(of(own)?.games))
        });
        all.column(NEVER, "", format!("seat_{seat}_points"), |own| {
            Some(Value::plain(of(own)?.points))
        });
    }
    // Before the tie-breaks, so that a page shows it without scrolling.
    if seats > 1 {
        fault_texts(&mut all);
    }
    tie_breaks(&mut all);
    scores(&mut all);
    if seats == 1 {
        fault_texts(&mut all);
    }
    all.column(NEVER, "", "faults", |own| {
        Some(Value::plain(own.faults.iter().map(|fault| fault.games).sum::<u64>()))
    });
    if detail == Detail::Csv {
        all.table.add("fault_kinds", Kind::Name, |own| faults(own, true));
    }
    time(&mut all);
    all.table.columns
}

fn ratings(all: &mut Players<'_>, report: &Report) {
    let of = |own: &Standing| report.rating(own.player);
    let rated = if report.ratings.is_some() { ALWAYS } else { NEVER };
    let [intervals, ends]: [&[Detail]; 2] = match report.ratings {
        Some(_) => [&[Detail::Short, Detail::Ranks, Detail::Full], &[Detail::Data]],
        None => [NEVER; 2],
    };
    let is_ordered = all.table.rows.iter().filter_map(of).any(|own| own.better_than_next.is_some());
    let order = if is_ordered { &[Detail::Full] } else { NEVER };
    all.column(rated, "Elo", "elo", |own| Some(Value::Elo(of(own)?.elo)));
    all.column(intervals, "95 % interval", "", |own| {
        interval(of(own)?.low, of(own)?.high).map(Value::Plain)
    });
    all.column(NEVER, "", "elo_error_95", |own| of(own)?.error.map(Value::Elo));
    all.column(ends, "Elo low", "elo_low_95", |own| of(own)?.low.map(Value::Elo));
    all.column(ends, "Elo high", "elo_high_95", |own| of(own)?.high.map(Value::Elo));
    if all.table.rows.iter().filter_map(of).any(|own| own.score.is_some()) {
        let score = |own: &Standing| of(own)?.score;
        all.column(rated, "score", "score", |own| Some(Value::Mean(score(own)?.score)));
        all.column(intervals, "score interval", "", |own| {
            let own = score(own)?;
            Some(Value::Plain(format!("{} to {}", fixed(own.low?, 2), fixed(own.high?, 2))))
        });
        all.column(ends, "score low", "score_low_95", |own| score(own)?.low.map(Value::Mean));
        all.column(ends, "score high", "score_high_95", |own| score(own)?.high.map(Value::Mean));
    }
    all.column(order, "better than the next, %", "better_than_next_percent", |own| {
        of(own)?.better_than_next.map(Value::Percent)
    });
}

fn results(all: &mut Players<'_>, seats: usize) {
    let several = if seats > 1 { ALWAYS } else { NEVER };
    let two = if seats == 2 { ALWAYS } else { NEVER };
    let has_byes = all.table.rows.iter().any(|own| own.bye_points.parts() > 0);
    let byes = if has_byes { several } else { NEVER };
    all.column(several, "points", "points", |own| Some(Value::plain(own.points)));
    all.column(byes, "of which byes", "bye_points", |own| Some(Value::plain(own.bye_points)));
    all.column(several, "%", "points_per_game", |own| own.total.share().map(Value::Share));
    all.column(two, "wins", "wins", |own| Some(Value::plain(own.total.wins)));
    all.column(two, "draws", "draws", |own| own.total.draws.map(Value::plain));
    all.column(two, "losses", "losses", |own| own.total.losses.map(Value::plain));
    for place in 0..if seats > 2 { seats } else { 0 } {
        all.column(ALWAYS, ordinal(place + 1), format!("place_{}", place + 1), |own| {
            own.total.places.get(place).map(Value::plain)
        });
    }
}

fn fault_texts(all: &mut Players<'_>) {
    if ALWAYS.contains(&all.detail) {
        let for_programs = all.detail == Detail::Data;
        all.table.add("faults", Kind::Words, |own| {
            let faults = faults(own, for_programs);
            if faults.is_empty() { NONE.to_owned() } else { faults }
        });
    }
}

fn tie_breaks(all: &mut Players<'_>) {
    type Pick = fn(&Standing) -> Option<Points>;
    let picks: [(&str, &str, Pick); 3] = [
        ("direct", "direct", |own| own.tie_breaks.direct),
        ("Buchholz", "buchholz", |own| own.tie_breaks.buchholz),
        ("Sonneborn-Berger", "sonneborn_berger", |own| own.tie_breaks.sonneborn_berger),
    ];
    for (head, name, pick) in picks {
        let some = all.table.rows.iter().any(|own| pick(own).is_some());
        all.column(if some { RANKS } else { NEVER }, head, name, |own| pick(own).map(Value::plain));
    }
}

/// What players achieved in games of one seat.
fn scores(all: &mut Players<'_>) {
    let Some(first) = all.table.rows.first().and_then(|own| own.puzzle.as_ref()) else { return };
    all.column(ALWAYS, "solved", "solved", |own| Some(Value::plain(own.puzzle.as_ref()?.solved)));
    for (game, sum) in first.games.iter().enumerate() {
        let scored = |own: &Standing| {
            let sum = own.puzzle.as_ref()?.games.get(game).filter(|sum| sum.scored > 0)?;
            Some((sum.total, sum.mean?))
        };
        let shown =
            if all.table.rows.iter().any(|own| scored(own).is_some()) { ALWAYS } else { NEVER };
        // The game's name is untrusted; writers sanitize it.
        let name = |what: &str| format!("{} {what}", sum.game);
        let head = |what: &str| if first.games.len() > 1 { name(what) } else { what.to_owned() };
        all.column(shown, head("score"), name("score"), |own| Some(Value::plain(scored(own)?.0)));
        all.column(shown, head("mean"), name("mean"), |own| Some(Value::Mean(scored(own)?.1)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time that is shown with three digits")]
fn time(all: &mut Players<'_>) {
    let has_memory = all.table.rows.iter().any(|own| own.time.peak_memory_kb.is_some());
    let ms = |ms: Option<f64>, decimals| Some(Value::Ms(ms?, decimals));
    all.column(NEVER, "", "used_ms", |own| Some(Value::plain(own.time.used_ms)));
    all.column(TIME, "time per game", "mean_used_ms", |own| ms(own.time.mean_used_ms, 1));
    all.column(TIME, "longest game", "max_used_ms", |own| ms(Some(own.time.max_used_ms as f64), 0));
    all.column(TIME, "time per turn", "ms_per_turn", |own| ms(own.time.ms_a_turn, 3));
    all.column(TIME, "CPU per game", "", |own| ms(own.time.mean_cpu_ms, 0));
    all.column(NEVER, "", "cpu_ms", |own| Some(Value::plain(own.time.cpu_ms)));
    all.column(if has_memory { TIME } else { NEVER }, "most memory", "peak_memory_kb", |own| {
        own.time.peak_memory_kb.map(Value::Memory)
    });
    all.column(NEVER, "", "turns", |own| Some(Value::plain(own.time.turns)));
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
