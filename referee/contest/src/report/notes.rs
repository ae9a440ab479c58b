//! Notes for the reader of a report, as sentences.

use super::{CausedVoids, GameRow, Report, Tie};
use crate::Player;
use crate::numbers::{elo, fixed, interval, percent};
use crate::ratings::Ratings;
use crate::sprt::render::{Names, lines};
use crate::wording::count;
use referee_protocol::MatchResult;
use referee_protocol::sanitize::sanitize;

/// Returns the progress of the contest, in one sentence.
pub(super) fn progress(report: &Report) -> String {
    let progress = report.progress;
    let players = count(report.standings.players.len() as u64, "player");
    let played = progress.played;
    let games = if progress.over {
        format!("{} played", count(played, "game"))
    } else if progress.at_most > progress.known {
        let (known, most) = (progress.known, progress.at_most);
        format!("{played} of {known} known games played, {most} at most")
    } else {
        format!("{played} of {} games played", progress.known)
    };
    let over = if progress.over {
        "the contest is over"
    } else if played == progress.known {
        "the contest waits for new agents"
    } else {
        "the contest is not over"
    };
    format!("{players}, {games}; {over}.")
}

/// Returns the result of `compare`, as the terminal shows it when the contest ends.
pub(super) fn comparison(report: &Report) -> Vec<String> {
    let names = Names { new: report.player_name(Player(0)), old: report.player_name(Player(1)) };
    report.comparison.as_ref().map_or_else(Vec::new, |summary| lines(summary, names))
}

/// Returns notes on the order of the standings and their points.
pub(super) fn standings(report: &Report) -> Vec<String> {
    let mut notes = vec![format!("Ranked by {}.", report.standings.ranked_by.join(", then "))];
    if report.standings.seats > 2 {
        notes.push(
            "A game gives the share of opponents that a player is ahead of, and half for those it is \
             level with: 0 to 1 point."
                .to_owned(),
        );
    }
    let puzzle = report.standings.players.first().and_then(|own| own.puzzle.as_ref());
    for game in puzzle.iter().flat_map(|puzzle| &puzzle.games) {
        let better = if game.fewer_is_better { "fewer" } else { "more" };
        notes.push(format!("Score of {}: {better} is better.", game.game));
    }
    notes.extend(counts(report));
    notes
}

fn counts(report: &Report) -> Vec<String> {
    let (standings, void) = (&report.standings, &report.void);
    let counts = [
        (
            standings.duplicates,
            "game",
            "a repetition of another one with the same players in the same seats (`repeats` in games.csv).",
        ),
        (standings.marked, "game", "marked because the referee itself was late in a turn."),
        (void.attempts, "attempt", "void and did not count."),
        (void.given_up, "game", "given up after void attempts."),
        (report.games.past, "game", "played past the decision and did not count."),
    ];
    let some = counts.into_iter().filter(|(number, ..)| *number > 0);
    let note = |(number, noun, what)| {
        format!("{} {} {what}", count(number, noun), if number == 1 { "was" } else { "were" })
    };
    some.map(note).chain(void.caused.iter().map(CausedVoids::text)).collect()
}

/// Returns a sentence for each tie.
pub(super) fn ties(report: &Report) -> Vec<String> {
    let name = |player| sanitize(report.player_name(player));
    let sentence = |tie: &Tie| {
        let ([winner, loser], [won, lost]) = (tie.players.map(name), tie.points);
        let level = match tie {
            Tie { by_seed: true, .. } => ": level, the higher seed advances",
            Tie { by_lot: true, .. } => ": level, decided by lot",
            _ => "",
        };
        let pairings = count(u64::from(tie.pairings), "pairing");
        let part = tie.name.map_or_else(String::new, |name| format!(", {name}"));
        format!("Round {}{part}: {winner} {won} - {lost} {loser}, {pairings}{level}.", tie.round)
    };
    report.ties.iter().map(sentence).collect()
}

/// Returns how much stronger the first of two players is. Both are rated against their mean, so the
/// difference is twice as far from 0, and so are the ends of its interval.
fn difference(report: &Report) -> Option<String> {
    let [first, second] = &report.standings.players[..] else { return None };
    let (own, other) = (report.rating(first.player)?, report.rating(second.player)?);
    let twice = |end: Option<f64>| end.map(|end| 2.0 * end);
    let ahead = elo(own.elo - other.elo);
    let interval = interval(twice(own.low), twice(own.high))?;
    Some(format!(
        "Elo difference of {} to {}: {ahead} (95 % interval: {interval}).",
        first.name, second.name
    ))
}

/// Says that every game was resigned before each seat had played: then ratings mean nothing.
fn resigned_at_once(report: &Report) -> Option<String> {
    let (mut games, mut all) = (0, true);
    let seats = report.standings.seats as u64;
    let visit = |row: GameRow| {
        games += 1;
        all &= row.result == MatchResult::Resigned && row.turns < seats;
        Ok(())
    };
    report.games.each(visit).ok()?;
    (games > 0 && all).then(|| {
        "Every game ended by a resignation before each agent had played, which says nothing about strength: does \
         the agent return an action?"
            .to_owned()
    })
}

/// Returns what the ratings of a series mean.
pub(super) fn series(report: &Report) -> Vec<String> {
    if let Some(note) = resigned_at_once(report) {
        return vec![note];
    }
    let ratings = report.ratings.iter();
    let notes =
        ratings.flat_map(|ratings| [scale(ratings)].into_iter().chain(ratings.notes.clone()));
    difference(report).into_iter().chain(notes).collect()
}

fn scale(ratings: &Ratings) -> String {
    format!(
        "Elo: positive is stronger, 0 is {}. One fit ({}) over {} in {}.",
        ratings.anchor,
        ratings.model,
        count(ratings.games, "game"),
        count(ratings.blocks, "block"),
    )
}

/// Returns notes on the meaning of ratings, and on the other terms of the fit.
pub(super) fn ratings(ratings: &Ratings) -> Vec<String> {
    let mut notes = vec![scale(ratings)];
    for (seat, term) in ratings.seats.iter().enumerate() {
        let error = term.error.map(|error| format!(" ± {}", fixed(error, 1)));
        let error = error.unwrap_or_default();
        notes.push(format!(
            "Seat {seat} is worth {}{error} Elo compared with the mean of the seats.",
            elo(term.elo)
        ));
    }
    if let Some(draw) = ratings.draw {
        notes.push(format!("Two equal players would draw {} % of their games.", percent(draw)));
    }
    notes.extend(ratings.notes.iter().cloned());
    notes
}
