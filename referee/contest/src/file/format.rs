//! The format with its settings, and whether it fits games and players.

use super::games::seats;
use super::problem::{FileError, Source};
use super::raw::Raw;
use super::{ContestFile, FoundAgent, GAMES_MAX, PLAYERS_MAX};
use crate::formats::{self, FORMATS, FormatName};
use crate::{Contest, FormatSettings};

/// Checks that the tables with settings of formats are those of the contest's format.
pub(super) fn check_tables(
    source: &Source,
    raw: &Raw,
    format: FormatName,
) -> Result<(), FileError> {
    for (owner, table, span) in formats::tables(raw) {
        if owner != format {
            let (owner, format) = (owner.info().name, format.info().name);
            let message = format!("`[{table}]` has no effect: the format is {format}");
            return Err(source
                .error(span, message)
                .help(format!("add format = \"{owner}\", or remove `[{table}]`")));
        }
    }
    formats::check_table(source, raw)
}

/// Returns the format, and the order in which the agents become players.
pub(super) fn settings(
    file: &ContestFile,
    agents: &[FoundAgent],
    ranking: Option<&Source>,
) -> Result<(FormatSettings, Vec<usize>), FileError> {
    check_seats(file)?;
    check_players(file, agents)?;
    formats::read(file.format, file, agents, ranking)
}

fn check_seats(file: &ContestFile) -> Result<(), FileError> {
    let (format, have) = (file.format.info(), file.settings.seats());
    if format.seats.contains(&have) {
        return Ok(());
    }
    let more = if format.seats.end() > format.seats.start() { " or more" } else { "" };
    let wanted = seats(*format.seats.start()) + more;
    let (name, game) = (format.name, &file.settings.games[0].game);
    let message = format!("format {name} is for games of {wanted}; {game} has {}", seats(have));
    let fitting = FORMATS.iter().filter(|format| format.seats.contains(&have));
    let names: Vec<&str> = fitting.map(|format| format.name).collect();
    let help = format!("formats for {game}: {}", names.join(", "));
    Err(file.error_at_format(message).help(help))
}

fn check_players(file: &ContestFile, agents: &[FoundAgent]) -> Result<(), FileError> {
    let (count, seats) = (agents.len(), file.settings.seats());
    let error = |message: String| match agents.last() {
        Some(last) => file.source.error(last.span.clone(), message),
        None => file.source.error_of_all(message),
    };
    if count < seats {
        let players = if seats == 1 { "agent" } else { "agents" };
        let game = &file.settings.games[0].game;
        let message = format!("{game} needs at least {seats} {players}, not {count}");
        return Err(error(message).help(
            "name agents, such as agents = [\"@random\", \"./mybot\"], or a folder of `submissions`",
        ));
    }
    if count > PLAYERS_MAX {
        return Err(error(format!("at most {PLAYERS_MAX} agents can play, not {count}")));
    }
    Ok(())
}

/// Refuses a contest whose schedule would fill the memory.
pub(super) fn check_size(file: &ContestFile, contest: &Contest) -> Result<(), FileError> {
    let each = (contest.games.len() * contest.games_of_a_block()) as u64;
    let games = contest.format.size(contest.field()).end().saturating_mul(each);
    if games > GAMES_MAX {
        let message =
            format!("the contest could have {games} games; at most {GAMES_MAX} are allowed");
        let error = match &file.raw.rounds {
            Some(rounds) => file.source.error(rounds.span(), message),
            None => file.source.error_of_all(message),
        };
        return Err(error.help("reduce `rounds`, or use another format"));
    }
    Ok(())
}
