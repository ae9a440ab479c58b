//! The format with all that belongs to it, and whether it fits games and players.

use super::forms::{At, OneOf};
use super::games::seats;
use super::problem::{FileError, Source};
use super::raw::{Raw, RawCompare};
use super::{ContestFile, Entrant, GAMES_MAX, PLAYERS_MAX, tame_name, within};
use crate::formats::{
    Compare, DoubleKnockout, FormatName, Gauntlet, Knockout, Ladder, Puzzle, RoundRobin, Swiss,
};
use crate::{Contest, FormatSettings, SeatOrders, SprtSettings};
use std::ops::Range;

/// The largest hypothesis of a test, in Elo either way.
const ELO_MAX: f64 = 1000.0;
/// Chances of error that are used unless others are given.
const ERROR_CHANCE: f64 = 0.05;

/// Every table of a format stands beside its format.
pub(super) fn check_tables(source: &Source, raw: &Raw) -> Result<(), FileError> {
    let tables = [
        (FormatName::RoundRobin, "round_robin", raw.round_robin.as_ref().map(At::span)),
        (FormatName::Gauntlet, "gauntlet", raw.gauntlet.as_ref().map(At::span)),
        (FormatName::Knockout, "knockout", raw.knockout.as_ref().map(At::span)),
        (FormatName::Compare, "compare", raw.compare.as_ref().map(At::span)),
    ];
    let format = raw.format.as_deref().copied().unwrap_or(FormatName::RoundRobin);
    for (belongs, table, span) in tables {
        if let Some(span) = span.filter(|_| belongs != format) {
            let message =
                format!("`[{table}]` says nothing to a contest of format {}", format.about().0);
            return Err(source
                .error(span, message)
                .help(format!("add format = \"{}\", or take it out", belongs.about().0)));
        }
    }
    if let Some(compare) = &raw.compare {
        test(source, compare)?;
    }
    Ok(())
}

/// The format, and the order in which the entrants are its players.
pub(super) fn settings(
    file: &ContestFile,
    entrants: &[Entrant],
) -> Result<(FormatSettings, Vec<usize>), FileError> {
    let raw = &file.raw;
    let format = file.format();
    check_seats(file, format)?;
    check_players(file, format, entrants)?;
    let mut order: Vec<usize> = (0..entrants.len()).collect();
    let settings = match format {
        FormatName::RoundRobin => {
            FormatSettings::RoundRobin(RoundRobin { triples_per_player: triples(file)? })
        }
        FormatName::Gauntlet => {
            let front = challengers(file, entrants)?;
            order.retain(|place| !front.contains(place));
            order.splice(0..0, front.iter().copied());
            let challengers = u32::try_from(front.len()).unwrap_or(u32::MAX);
            FormatSettings::Gauntlet(Gauntlet { challengers })
        }
        FormatName::Swiss => FormatSettings::Swiss(Swiss {}),
        FormatName::Knockout => FormatSettings::Knockout(Knockout {
            third_place: raw.knockout.as_ref().is_some_and(|table| table.third_place),
        }),
        FormatName::DoubleKnockout => FormatSettings::DoubleKnockout(DoubleKnockout {}),
        FormatName::Ladder => FormatSettings::Ladder(Ladder {}),
        FormatName::Puzzle => FormatSettings::Puzzle(Puzzle {}),
        FormatName::Compare => {
            let sprt = raw.compare.as_ref().map(|table| test(&file.source, table)).transpose()?;
            FormatSettings::Compare(Compare { sprt: sprt.flatten() })
        }
    };
    Ok((settings, order))
}

fn check_seats(file: &ContestFile, format: FormatName) -> Result<(), FileError> {
    let ((name, fits), have) = (format.about(), file.seats());
    if fits.contains(&have) {
        return Ok(());
    }
    let game = &file.games[0].game;
    let more = if fits.end() > fits.start() { " or more" } else { "" };
    let wanted = seats(*fits.start()) + more;
    let message = format!("format {name} takes games of {wanted}, and {game} has {}", seats(have));
    let help = match have {
        1 => "games of one seat are played in format = \"puzzle\"",
        2 => "games of two seats are played in every other format, such as \"round-robin\"",
        _ => {
            "games of three seats and more are played in \"round-robin\", \"gauntlet\" and \
              \"ladder\""
        }
    };
    let span = file.raw.format.as_ref().map(At::span);
    Err(at(file, span, message).help(help))
}

fn at(file: &ContestFile, span: Option<Range<usize>>, message: String) -> FileError {
    match span {
        Some(span) => file.source.error(span, message),
        None => file.source.error_of_all(message),
    }
}

fn check_players(
    file: &ContestFile,
    format: FormatName,
    entrants: &[Entrant],
) -> Result<(), FileError> {
    let (count, seats) = (entrants.len(), file.seats());
    let last = entrants.last().map(|entrant| entrant.span.clone());
    if count < seats {
        let players = if seats == 1 { "player" } else { "players" };
        let game = &file.games[0].game;
        let message = format!("{game} needs at least {seats} {players}, and there {}", are(count));
        return Err(at(file, last, message).help(
            "name agents, such as agents = [\"@random\", \"./mybot\"], or a folder of \
             `submissions`",
        ));
    }
    if count > PLAYERS_MAX {
        let message = format!("there {}, and at most {PLAYERS_MAX} can play", are(count));
        return Err(at(file, last, message));
    }
    if format == FormatName::Compare && count != 2 {
        let message = format!(
            "format compare takes two players, the new one and the old one, \
                               and there {}",
            are(count)
        );
        return Err(at(file, file.raw.format.as_ref().map(At::span), message));
    }
    if format == FormatName::Compare && file.seat_orders == SeatOrders::One {
        let message = "format compare plays pairs of games with swapped seats, which \
                       seat_orders = \"one\" forbids";
        return Err(file.source.error_of_all(message.to_owned()).help("take `seat_orders` out"));
    }
    Ok(())
}

/// `is 1`, `are 3`.
fn are(count: usize) -> String {
    if count == 1 { "is 1".to_owned() } else { format!("are {count}") }
}

fn triples(file: &ContestFile) -> Result<Option<u32>, FileError> {
    let Some(triples) =
        file.raw.round_robin.as_ref().and_then(|table| table.triples_per_player.as_ref())
    else {
        return Ok(None);
    };
    if file.seats() != 3 {
        let message = format!(
            "triples meet in games of 3 seats, and {} has {}",
            file.games[0].game,
            file.seats()
        );
        return Err(file.source.error(triples.span(), message));
    }
    within(&file.source, Some(triples), "triples_per_player", 1..=1_000_000)
}

/// The places of those who meet everybody else.
fn challengers(file: &ContestFile, entrants: &[Entrant]) -> Result<Vec<usize>, FileError> {
    let source = &file.source;
    let given = file.raw.gauntlet.as_ref().and_then(|table| table.challengers.as_ref());
    let most = entrants.len().saturating_sub(1);
    let Some(given) = given else { return Ok(vec![0]) };
    let places = match &**given {
        OneOf::Short(count) => {
            (0..usize::try_from(*count).unwrap_or(usize::MAX).min(most + 1)).collect::<Vec<_>>()
        }
        OneOf::Long(names) => {
            let mut places = Vec::new();
            let known: Vec<String> =
                entrants.iter().map(|entrant| tame_name(&entrant.name)).collect();
            for name in names {
                let wanted = tame_name(name);
                let Some(place) = known.iter().position(|name| *name == wanted) else {
                    return Err(source
                        .error(name.span(), format!("no player is called `{wanted}`"))
                        .or_near(&wanted, known.iter().map(String::as_str)));
                };
                if places.contains(&place) {
                    let message = format!("`{wanted}` is named twice");
                    return Err(source.error(name.span(), message));
                }
                places.push(place);
            }
            places
        }
    };
    if places.is_empty() || places.len() > most {
        let message =
            format!("a gauntlet of {} players has 1 to {most} challengers", entrants.len());
        return Err(source.error(given.span(), message));
    }
    Ok(places)
}

/// The test of a comparison, where one is asked for.
fn test(source: &Source, raw: &RawCompare) -> Result<Option<SprtSettings>, FileError> {
    let (elo0, elo1) = match (&raw.elo0, &raw.elo1) {
        (Some(elo0), Some(elo1)) => (elo0, elo1),
        (None, None) => {
            let Some(lone) = raw.alpha.as_ref().or(raw.beta.as_ref()) else { return Ok(None) };
            let message = "a test needs its two hypotheses, `elo0` and `elo1`";
            return Err(source.error(lone.span(), message).help("such as elo0 = 0, elo1 = 20"));
        }
        (Some(lone), None) | (None, Some(lone)) => {
            let message = "a test needs both hypotheses, `elo0` and `elo1`";
            return Err(source.error(lone.span(), message));
        }
    };
    within(source, Some(elo0), "elo0", -ELO_MAX..=ELO_MAX)?;
    within(source, Some(elo1), "elo1", -ELO_MAX..=ELO_MAX)?;
    if **elo0 >= **elo1 {
        return Err(source.error(elo1.span(), "`elo1` must be above `elo0`"));
    }
    for (chance, key) in [(&raw.alpha, "alpha"), (&raw.beta, "beta")] {
        within(source, chance.as_ref(), key, 0.0001..=0.4999)?;
    }
    let chance = |value: &Option<At<f64>>| value.as_deref().copied().unwrap_or(ERROR_CHANCE);
    let (elo0, elo1) = (**elo0, **elo1);
    Ok(Some(SprtSettings { elo0, elo1, alpha: chance(&raw.alpha), beta: chance(&raw.beta) }))
}

/// Refuses contests that nobody can want, before their schedule fills the memory.
pub(super) fn check_size(file: &ContestFile, contest: &Contest) -> Result<(), FileError> {
    let each = (contest.games.len() * contest.games_of_a_block()) as u64;
    let games = contest.format.size(contest.field()).end().saturating_mul(each);
    if games > GAMES_MAX {
        let message = format!(
            "the contest may have {games} games, and {GAMES_MAX} is the most that is allowed"
        );
        let span = file.raw.rounds.as_ref().map(At::span);
        return Err(at(file, span, message).help("play fewer rounds, or take another format"));
    }
    Ok(())
}
