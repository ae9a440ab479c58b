//! The list of games, folded by rounds: every one with a link to its transcript.

use super::super::figures::short;
use super::super::{GameRow, Report, SeatFault};
use super::markup::{Link, Markup, Name, Text};
use referee_protocol::plain::count;

/// Short rounds are shown together until they have so many games.
const GROUP_GAMES: usize = 50;

/// Long rounds are shown in parts of so many games, so that a part unfolds at once.
const PART_GAMES: usize = 500;

/// So few games are shown unfolded.
const OPEN_GAMES_MAX: usize = 40;

/// Names are cut here: they stand in every row.
const NAME_COLUMNS: usize = 24;

/// What is told of a fault is cut here; the transcript has it whole.
const FAULT_COLUMNS: usize = 100;

pub(super) fn list(out: &mut Markup, report: &Report, folder: &str) {
    if report.games.is_empty() {
        return;
    }
    let names = report.names();
    let several = report.games.iter().any(|game| game.game != report.games[0].game);
    let open = if report.games.len() <= OPEN_GAMES_MAX { " open=\"open\"" } else { "" };
    out.paragraph("note", "The number of a game is the link to its transcript.");
    for group in groups(&report.games) {
        let (first, last) = (group[0].round, group[group.len() - 1].round);
        let word = if report.standings.seats == 1 { "Instance" } else { "Round" };
        let rounds = if first == last {
            format!("{word} {first}")
        } else {
            format!("{word}s {first} to {last}")
        };
        let (from, to) = (group[0].number, group[group.len() - 1].number);
        let games = count(group.len() as u64, "game");
        out.put(format_args!(
            "<details{open}><summary>{rounds}: {games}, {from} to {to}</summary>\n"
        ));
        head(out, report, several);
        for game in group {
            row(out, game, &names, several, folder);
        }
        out.put(format_args!("</tbody>\n</table>\n</div>\n</details>\n"));
    }
}

/// Rounds, together until there are enough games, and in parts where there are too many. Games are
/// in schedule order.
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

fn head(out: &mut Markup, report: &Report, several: bool) {
    out.put(format_args!(
        "<div class=\"wide\">\n<table class=\"games\">\n<thead><tr><th scope=\"col\" \
         class=\"n\">game</th>"
    ));
    if several {
        out.put(format_args!("<th scope=\"col\">of</th>"));
    }
    let seats = report.standings.seats;
    for seat in 0..seats {
        if seats == 1 {
            out.put(format_args!("<th scope=\"col\">player</th>"));
        } else {
            out.put(format_args!("<th scope=\"col\">seat {seat}</th>"));
        }
    }
    let result = match seats {
        1 => "score",
        2 => "result",
        _ => "places",
    };
    out.put(format_args!(
        "<th scope=\"col\">{result}</th><th scope=\"col\">end</th><th scope=\"col\" \
         class=\"n\">turns</th><th scope=\"col\">remarks</th></tr></thead>\n<tbody>\n"
    ));
}

fn row(out: &mut Markup, game: &GameRow, names: &[&str], several: bool, folder: &str) {
    let link = Link { folder, path: &game.transcript };
    out.put(format_args!("<tr><td class=\"n\"><a href=\"{link}\">{}</a></td>", game.number));
    if several {
        out.put(format_args!("<td>{}</td>", Name(&game.game, NAME_COLUMNS)));
    }
    for &player in &game.players {
        let name = Name(names.get(player.index()).unwrap_or(&"?"), NAME_COLUMNS);
        out.put(format_args!("<td>{name}</td>"));
    }
    out.put(format_args!(
        "<td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"r\">{}</td></tr>\n",
        Text(&result(game)),
        Name(&game.reason, NAME_COLUMNS),
        game.turns,
        Text(&remarks(game)),
    ));
}

/// The result by seat.
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

/// What went wrong: the fault's kind, and what its author was told.
fn remarks(game: &GameRow) -> String {
    let fault = |fault: &SeatFault| {
        let text = fault.text.as_deref().unwrap_or_default();
        let text = short(text, FAULT_COLUMNS);
        let colon = if text.is_empty() { "" } else { ": " };
        format!("seat {}, {}{colon}{text}", fault.seat, fault.kind)
    };
    let late = game.marked.then(|| "the referee was late".to_owned());
    game.faults.iter().map(fault).chain(late).collect::<Vec<_>>().join("; ")
}
