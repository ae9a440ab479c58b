//! Fuzzes contest files and files with openings.

use super::Draw;
use referee_contest::file::{ContestFile, FileError, FoundAgent, OtherFiles, Source};
use referee_contest::{Contest, PlayerInfo, Schedule};
use referee_games::{Games, kind};
use std::ops::Range;
use std::sync::Arc;

/// The longest error, in bytes.
const ERROR_BYTES_MAX: usize = 8000;
/// Contests with more games are not played.
const GAMES_MAX: u64 = 300;
/// The number of games that get an opening.
const OPENINGS: u64 = 3;

/// The text up to the first zero byte is a contest file, the rest are openings
/// and a ranking. The file is refused
/// with a printable error, or it is a contest that can be played to the end. That of a stored contest may have keys
/// of earlier versions.
pub fn contest_file(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |&byte| byte == 0).map(std::str::from_utf8);
    let Some(Ok(text)) = parts.next() else { return };
    let openings = parts
        .next()
        .and_then(Result::ok)
        .map(|text| Source { file: "openings.jsonl".to_owned(), text: text.to_owned() });
    match plan(text, &OtherFiles { openings: openings.clone(), ranking: openings }) {
        Ok(contest) => play(contest),
        Err(error) => check_error(&error),
    }
    if let Err(error) = ContestFile::read_stored(text, "contest.toml", "contest", &Games::default())
    {
        check_error(&error);
    }
}

fn plan(text: &str, others: &OtherFiles) -> Result<Contest, FileError> {
    let file = ContestFile::read(text, "contest.toml", "contest", &Games::default())?;
    let spans = file.agents.iter().map(|agent| &agent.span);
    let spans = spans.chain(file.submissions.iter().map(|submissions| &submissions.span));
    for span in spans.chain(file.openings.iter().chain(&file.ranking).map(|(_, span)| span)) {
        assert!(text.get(span.clone()).is_some_and(|part| !part.is_empty()), "{span:?}");
        check_error(&file.source.error(span.clone(), "something"));
    }
    let entrant = |name: &str, span: &Range<usize>| {
        let (name, run) = (name.to_owned(), name.to_owned());
        FoundAgent { player: PlayerInfo { name, run, digest: String::new() }, span: span.clone() }
    };
    let mut entrants: Vec<FoundAgent> = Vec::new();
    for agent in &file.agents {
        entrants.push(entrant(agent.name.as_ref().unwrap_or(&agent.run), &agent.span));
    }
    if let Some(submissions) = &file.submissions {
        entrants.extend(["ann", "bob", "cleo"].map(|name| entrant(name, &submissions.span)));
    }
    let (contest, order) = file.contest(&entrants, others)?;
    assert_eq!(contest.players.len(), order.len());
    for (player, place) in contest.players.iter().zip(order) {
        assert_eq!(player.run, entrants[place].player.run);
    }
    Ok(contest)
}

/// Asserts that an error is bounded and has no control characters.
fn check_error(error: &FileError) {
    for text in [error.to_string(), error.help.clone().unwrap_or_default()] {
        assert!(text.len() < ERROR_BYTES_MAX, "{} bytes", text.len());
        let obeyed = text.chars().find(|&character| character.is_control() && character != '\n');
        assert_eq!(obeyed, None, "{text:?}");
    }
}

/// Plays every game of a small contest with random results.
fn play(contest: Contest) {
    let written = serde_json::to_string(&contest).expect("a contest is JSON");
    let read: Contest = serde_json::from_str(&written).expect(&written);
    assert_eq!(read, contest, "the contest read back differs");
    let games_of_a_pairing = contest.games.len() as u64;
    let most = contest.format.size(contest.field()).end().saturating_mul(games_of_a_pairing);
    if most > GAMES_MAX {
        return;
    }
    let contest = Arc::new(contest);
    let mut schedule = Schedule::new(Arc::clone(&contest));
    let (least, most) = schedule.size();
    let mut draw = Draw::of(written.as_bytes());
    let mut number = 0;
    while let Some(fixture) = schedule.fixture(number) {
        assert!(number < most, "game {number} of {most} at most");
        assert_eq!(fixture.players.len(), contest.seats());
        assert!(fixture.players.iter().all(|player| player.index() < contest.players.len()));
        if number < OPENINGS {
            let game = &contest.games[fixture.game];
            let kind = kind(&game.game).expect("a game of the registry");
            if let Ok(setup) = contest.opening(kind, fixture.game, fixture.opening) {
                kind.start(&setup).expect("an opening is a setup");
            }
        }
        let places = drawn_places(contest.seats(), &mut draw);
        assert!(schedule.record(number, &places), "game {number} takes no result");
        number += 1;
    }
    assert!(schedule.is_over(), "no game is left, but the contest isn't over");
    assert!((least..=most).contains(&number), "{number} games of {least} to {most}");
}

/// Draws places as a match assigns them: ties share a place, and the next is skipped.
fn drawn_places(seats: usize, draw: &mut Draw) -> Vec<u32> {
    if seats == 1 {
        return vec![u32::from(draw.below(2) == 1) + 1];
    }
    let worth: Vec<usize> = (0..seats).map(|_| draw.below(seats)).collect();
    let better = |own: usize| worth.iter().filter(|&&other| other > own).count();
    worth.iter().map(|&own| u32::try_from(better(own)).expect("few seats") + 1).collect()
}
