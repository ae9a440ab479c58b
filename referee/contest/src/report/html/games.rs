//! The list of games, folded by rounds, each game with a link to its transcript.

use super::super::columns::{Column, Kind, Table};
use super::super::{GameRow, Report, SeatFault};
use super::links::Links;
use super::markup::{Markup, Name, Text};
use super::tables::columns_table;
use crate::numbers::short;
use crate::wording::count;
use referee_match::summary::{fault_by_text, fault_in_words};
use std::io;

/// Short rounds are combined until they have this many games.
const GROUP_GAMES: usize = 50;

/// Long rounds are split into parts of this many games, so that a part unfolds at once.
const PART_GAMES: usize = 500;

/// Longer lists have only games with a fault: browsers can't show more.
const LISTED_MAX: usize = 20_000;

/// Up to this many games are shown unfolded.
pub(super) const OPEN_GAMES_MAX: usize = 40;

/// The width of names, which every row repeats.
const NAME_COLUMNS: usize = 24;

/// The width of a fault's message; the transcript has all of it.
const FAULT_COLUMNS: usize = 100;

/// Returns the games that a page lists: all, or the first with a fault.
pub(super) fn listed(report: &Report) -> io::Result<Vec<GameRow>> {
    let all = report.games.len() <= LISTED_MAX as u64;
    let mut rows = Vec::new();
    report.games.each(|game| {
        if all || !game.faults.is_empty() && rows.len() < LISTED_MAX {
            rows.push(game);
        }
        Ok(())
    })?;
    Ok(rows)
}

pub(super) fn list(out: &mut Markup, report: &Report, games: &[GameRow], links: &Links<'_>) {
    let all = report.games.len();
    if all > games.len() as u64 {
        let shown = count(games.len() as u64, "game");
        out.paragraph(
            "note",
            &format!("{shown} of {all}, those with a fault. games.csv has all of them."),
        );
    }
    if games.is_empty() {
        return;
    }
    let leads_to = if links.replays { "replay" } else { "transcript" };
    out.paragraph("note", &format!("The number of a game is the link to its {leads_to}."));
    let columns = |group: &[GameRow]| columns(report, group, links);
    for group in groups(games) {
        let (first, last) = (group[0].round, group[group.len() - 1].round);
        let word = if report.standings.seats == 1 { "Instance" } else { "Round" };
        let rounds = if first == last {
            format!("{word} {first}")
        } else {
            format!("{word}s {first} to {last}")
        };
        let (from, to) = (group[0].number, group[group.len() - 1].number);
        let number = count(group.len() as u64, "game");
        let open = games.len() <= OPEN_GAMES_MAX;
        let summary = format!("{rounds}: {number}, {from} to {to}");
        out.details(open, &summary, |out| columns_table(out, "games", &columns(group)));
    }
}

/// Returns groups of games in schedule order: rounds, combined while they are short and split while
/// they are long.
fn groups(games: &[GameRow]) -> Vec<&[GameRow]> {
    let mut groups = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for round in games.chunk_by(|a, b| a.round == b.round) {
        end += round.len();
        if end - begin >= GROUP_GAMES {
            groups.extend(games[begin..end].chunks(PART_GAMES));
            begin = end;
        }
    }
    if begin < games.len() {
        groups.push(&games[begin..]);
    }
    groups
}

pub(super) fn columns(report: &Report, games: &[GameRow], links: &Links<'_>) -> Vec<Column> {
    let name = |name: &str| Name(name, NAME_COLUMNS).to_string();
    let mut table = Table::new(games);
    table.add("game", Kind::Html("n"), |game| links.game(game));
    if report.games.is_mixed {
        table.add("of", Kind::Html(""), |game| name(&game.game));
    }
    let (seats, names) = (report.standings.seats, report.names());
    for seat in 0..seats {
        let head = if seats == 1 { "player".to_owned() } else { format!("seat {seat}") };
        table.add(head, Kind::Html(""), |game| {
            let player = game.players.get(seat);
            name(player.and_then(|player| names.get(player.index())).unwrap_or(&"?"))
        });
    }
    let head = match seats {
        1 => "score",
        2 => "result",
        _ => "places",
    };
    table.add(head, Kind::Words, result);
    table.add("end", Kind::Words, |game| game.reason_text.clone());
    table.figure("turns", |game| Some(game.turns));
    table.add("remarks", Kind::Html("r"), |game| Text(&remarks(game)).to_string());
    table.columns
}

/// Returns the result by seat.
fn result(game: &GameRow) -> String {
    match game.places.as_slice() {
        [place] => {
            let score = game.scores.as_ref().and_then(|scores| scores.first());
            let solved = if *place == 1 { "solved" } else { "not solved" };
            score.map_or(solved.to_owned(), |score| format!("{score}, {solved}"))
        }
        [a, b] => match a.cmp(b) {
            std::cmp::Ordering::Less => "1–0".to_owned(),
            std::cmp::Ordering::Equal => "½–½".to_owned(),
            std::cmp::Ordering::Greater => "0–1".to_owned(),
        },
        places => places.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Returns what went wrong, with the messages of faults.
fn remarks(game: &GameRow) -> String {
    let fault = |fault: &SeatFault| {
        let text = fault.text.as_deref().unwrap_or_default();
        let what = fault_by_text(fault.kind, text);
        let text = short(&fault_in_words(text), FAULT_COLUMNS);
        let colon = if text.is_empty() { "" } else { ": " };
        format!("seat {} {what}{colon}{text}", fault.seat)
    };
    let late = game.marked.then(|| "the referee was late".to_owned());
    let past = (!game.counts).then(|| "past the decision, does not count".to_owned());
    let repeats = game.repeats.map(|of| format!("repeats game {of}"));
    let others = [late, past, repeats].into_iter().flatten();
    game.faults.iter().map(fault).chain(others).collect::<Vec<_>>().join("; ")
}
