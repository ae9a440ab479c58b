//! CSV as RFC 4180 has it, and safe to open in a spreadsheet: text that a spreadsheet would take for
//! a formula begins with an apostrophe (OWASP, "CSV Injection").

use super::columns::faults;
use super::figures::fixed;
use super::{GameRow, Report};
use crate::standings::{Standing, result_name};
use referee_protocol::plain::tame;

/// A line of CSV, cell by cell.
#[derive(Default)]
struct Line(Vec<String>);

impl Line {
    /// Text of whomever.
    fn text(&mut self, text: &str) {
        let text = tame(text);
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\u{FFFD}']);
        let text = if formula { format!("'{text}") } else { text };
        let quoted = text.contains(['"', ',', '\n', '\r', ';', '\t', '\'']) || text.trim() != text;
        self.0.push(if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text });
    }

    /// A figure of our own; nothing is an empty cell.
    fn figure(&mut self, figure: Option<impl ToString>) {
        self.0.push(figure.map_or_else(String::new, |figure| figure.to_string()));
    }

    /// A number with decimals; nothing where it isn't finite.
    fn decimal(&mut self, value: Option<f64>, decimals: usize) {
        let finite = value.filter(|value| value.is_finite());
        self.figure(finite.map(|value| fixed(value, decimals)));
    }

    fn end(self) -> String {
        self.0.join(",") + "\r\n"
    }
}

pub(super) fn standings(report: &Report) -> String {
    let mut out = standings_head(report).end();
    for standing in &report.standings.players {
        let mut line = Line::default();
        line.figure(Some(standing.rank));
        line.text(&standing.name);
        rating(&mut line, report, standing);
        results(&mut line, report, standing);
        let faulty: u64 = standing.faults.iter().map(|fault| fault.games).sum();
        line.figure(Some(faulty));
        line.text(&faults(standing).unwrap_or_default());
        let time = &standing.time;
        line.figure(Some(time.used_ms));
        line.decimal(time.mean_used_ms, 1);
        line.figure(Some(time.max_used_ms));
        line.decimal(time.ms_a_turn, 3);
        line.figure(Some(time.cpu_ms));
        line.figure(Some(time.turns));
        out.push_str(&line.end());
    }
    out
}

fn standings_head(report: &Report) -> Line {
    let mut head: Vec<String> = Vec::new();
    let mut add = |names: &[&str]| head.extend(names.iter().map(|&name| name.to_owned()));
    add(&["rank", "player", "elo", "elo_error_95", "elo_low_95", "elo_high_95"]);
    add(&["better_than_next_percent", "games", "points", "bye_points", "points_per_game"]);
    add(&["wins", "draws", "losses"]);
    let seats = report.standings.seats;
    if seats > 2 {
        head.extend((1..=seats).map(|place| format!("place_{place}")));
    }
    for seat in 0..seats {
        head.extend([format!("seat_{seat}_games"), format!("seat_{seat}_points")]);
    }
    let mut add = |names: &[&str]| head.extend(names.iter().map(|&name| name.to_owned()));
    add(&["direct", "buchholz", "sonneborn_berger"]);
    let puzzle = report.standings.players.first().and_then(|own| own.puzzle.as_ref());
    let mut line = Line(head);
    if let Some(puzzle) = puzzle {
        line.text("solved");
        for game in &puzzle.games {
            line.text(&format!("{} score", game.game));
            line.text(&format!("{} mean", game.game));
        }
    }
    line.0.extend(
        ["faults", "fault_kinds", "used_ms", "mean_used_ms", "max_used_ms", "ms_per_turn"]
            .map(str::to_owned),
    );
    line.0.extend(["cpu_ms", "turns"].map(str::to_owned));
    line
}

fn rating(line: &mut Line, report: &Report, standing: &Standing) {
    let rating = report.rating(standing.player);
    line.decimal(rating.map(|own| own.elo), 2);
    line.decimal(rating.and_then(|own| own.error), 2);
    let bootstrap = rating.and_then(|own| own.bootstrap);
    line.decimal(bootstrap.map(|(low, _)| low), 2);
    line.decimal(bootstrap.map(|(_, high)| high), 2);
    line.decimal(rating.and_then(|own| own.better_than_next), 2);
}

fn results(line: &mut Line, report: &Report, standing: &Standing) {
    let total = &standing.total;
    line.figure(Some(total.games));
    line.figure(Some(standing.points));
    line.figure(Some(standing.bye_points));
    line.decimal(total.share(), 4);
    line.figure(Some(total.wins));
    line.figure(total.draws);
    line.figure(total.losses);
    if report.standings.seats > 2 {
        for &count in &total.places {
            line.figure(Some(count));
        }
    }
    for tally in &standing.by_seat {
        line.figure(Some(tally.games));
        line.figure(Some(tally.points));
    }
    let breaks = standing.tie_breaks;
    for points in [breaks.direct, breaks.buchholz, breaks.sonneborn_berger] {
        line.figure(points);
    }
    if let Some(puzzle) = &standing.puzzle {
        line.figure(Some(puzzle.solved));
        for game in &puzzle.games {
            line.figure((game.scored > 0).then_some(game.total));
            line.decimal(game.mean, 3);
        }
    }
}

pub(super) fn games(report: &Report) -> String {
    let seats = report.standings.seats;
    let mut head = Line(["number", "round", "game"].map(str::to_owned).to_vec());
    for seat in 0..seats {
        head.0.extend(["player", "place", "score", "fault"].map(|name| format!("{name}_{seat}")));
    }
    let rest = ["result", "reason", "turns", "marked", "transcript"];
    head.0.extend(rest.map(str::to_owned));
    let mut out = head.end();
    let names = report.names();
    for game in &report.games {
        out.push_str(&game_line(game, &names, seats).end());
    }
    out
}

fn game_line(game: &GameRow, names: &[&str], seats: usize) -> Line {
    let mut line = Line::default();
    line.figure(Some(game.number));
    line.figure(Some(game.round));
    line.text(&game.game);
    for seat in 0..seats {
        let player = game.players.get(seat);
        line.text(player.and_then(|player| names.get(player.index())).unwrap_or(&""));
        line.figure(game.places.get(seat));
        line.figure(game.scores.as_ref().and_then(|scores| scores.get(seat)));
        let fault = game.faults.iter().find(|fault| fault.seat == seat);
        line.figure(fault.map(|fault| fault.kind));
    }
    line.text(result_name(game.result));
    line.text(&game.reason);
    line.figure(Some(game.turns));
    line.figure(Some(game.marked));
    line.text(&game.transcript);
    line
}
