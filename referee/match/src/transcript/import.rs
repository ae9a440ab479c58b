//! Importing a game that was played elsewhere as a transcript, without agents, lines and times. It can
//! be verified like any other.

use super::walk::Walk;
use crate::match_id;
use crate::names::unique_names;
use referee_games::{AnyGame, GameKind, GameRecord, Games, RecordEnd, Turn};
use referee_protocol::sanitize::{sanitize, sanitize_name};
use referee_protocol::{
    ClockSettings, Event, Fault, FaultKind, Header, HeaderSeat, LateBy, OnFault, PlayedEvent, Seat,
    TurnEvent, VoidNote,
};

/// Replaces the program in the header of an imported game; the next word is the file's name.
pub const IMPORTED: &str = "@import";
/// Why a match is void whose record has no end.
const UNFINISHED: &str = "unfinished";

/// The source of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 over the file, in hex.
    pub digest: String,
    /// The number of the game in the file, from 0.
    pub number: u64,
    /// When the game began, RFC 3339, if the record has no date.
    pub started: String,
}

/// Whether a match was imported, so that its events have no times.
pub fn is_imported(header: &Header) -> bool {
    header.seats.iter().all(|seat| seat.command.first().is_some_and(|word| word == IMPORTED))
}

/// Returns the events of a transcript, from the header, without the seal. Fails if an action is
/// illegal.
pub fn import(kind: GameKind, record: &GameRecord, origin: &Origin) -> Result<Vec<Event>, String> {
    let game = kind.start(&record.setup).map_err(|error| error.to_string())?;
    let header = header(record, origin, game.as_ref());
    let left_ms = header.clock.bank_ms;
    let mut walk = Walk::begin(header.clone(), &Games::default())?;
    let mut events = vec![Event::Header(Box::new(header))];
    for action in &record.actions {
        let turn = walk.game().turn_number();
        let Turn::Of(seat) = walk.game().turn() else {
            return Err(format!("turn {turn}: the game is over"));
        };
        let played = walk.game().clone_box().play(action);
        let action = played.map_err(|refusal| format!("turn {turn}: {refusal}"))?.into();
        let together = Vec::new();
        let asked = TurnEvent { at_ns: 0, turn, seat, left_ms, pondered_ns: 0, together };
        for event in [Event::Turn(asked), Event::Played(PlayedEvent::untimed(turn, seat, action))] {
            walk.event(&event)?;
            events.push(event);
        }
    }
    let end = end(record.end, walk.game().turn_number());
    events.push(walk.end(end).ok_or("the match does not end")?);
    Ok(events)
}

fn header(record: &GameRecord, origin: &Origin, game: &dyn AnyGame) -> Header {
    let mut header = crate::header(game);
    let digests = vec![origin.digest.as_str(); header.seats.len()];
    header.match_id = match_id((&header.game, None), &record.setup, &digests, 0, origin.number);
    header.setup.clone_from(&record.setup);
    let name = |(index, seat): (usize, &HeaderSeat)| {
        let name = record.names.get(index).cloned().flatten();
        sanitize_name(&name.unwrap_or_else(|| seat.colour.clone()))
    };
    let names = unique_names(header.seats.iter().enumerate().map(name));
    for (seat, name) in header.seats.iter_mut().zip(names) {
        seat.name = name;
        seat.command = vec![IMPORTED.to_owned(), sanitize(&origin.file)];
        seat.digest.clone_from(&origin.digest);
    }
    (header.clock.bank_ms, header.clock.increment_ms) = (Some(ClockSettings::MS_MAX), 0);
    // A record ends with the first seat that leaves.
    header.on_fault = OnFault::End;
    "none".clone_into(&mut header.sandbox.level);
    header.game_number = origin.number;
    header.started = match &record.date {
        Some(day) => format!("{day}T00:00:00Z"),
        None => origin.started.clone(),
    };
    header
}

/// Returns the fault that ended a game before its rules did, or why it is void.
fn end(end: RecordEnd, turn: u64) -> Result<(Seat, Fault), VoidNote> {
    let fault = |kind, by, text: &str| Fault { kind, by, turn, text: text.to_owned(), legal: None };
    let text = match end {
        RecordEnd::Resigned(seat) => {
            return Ok((seat, fault(FaultKind::Resigned, None, "resigned")));
        }
        RecordEnd::TimedOut(seat) => {
            let text = "its time ran out, according to the imported record";
            return Ok((seat, fault(FaultKind::Late, Some(LateBy::Wall), text)));
        }
        RecordEnd::Forfeited(seat) => {
            format!("seat {seat} forfeited, and the record does not say why")
        }
        RecordEnd::Played | RecordEnd::Unfinished => {
            "the record ends before the game does".to_owned()
        }
    };
    Err(VoidNote { cause: UNFINISHED.to_owned(), text, seat: None })
}

#[cfg(test)]
mod tests {
    use super::{Origin, import};
    use crate::transcript::{Playback, Recorder, Status, game_record, verify};
    use referee_games::{GAMES, GameKind, GameRecord, Games, RecordEnd, Turn};
    use referee_protocol::{Event, MatchResult, Seat};
    use serde_json::json;

    fn origin() -> Origin {
        let (file, started) = ("a \u{1b}file".to_owned(), "2026-05-02T00:00:00Z".to_owned());
        Origin { file, digest: "ab".repeat(32), number: 3, started }
    }

    /// Returns this many actions of a game, each the first one that is listed.
    fn record(kind: GameKind, plies: usize) -> GameRecord {
        let mut game = kind.start(&json!({})).unwrap();
        let mut actions = Vec::new();
        while actions.len() < plies && matches!(game.turn(), Turn::Of(_)) {
            actions.push(game.play(&game.actions()[0]).unwrap());
        }
        GameRecord {
            setup: game.setup(),
            names: vec![Some("one".to_owned()); game.seats()],
            title: None,
            date: Some("2026-05-01".to_owned()),
            actions,
            end: RecordEnd::Played,
            comment: String::new(),
        }
    }

    fn sealed(events: &[Event]) -> Vec<u8> {
        let mut recorder = Recorder::new();
        for event in events {
            recorder.record(event);
        }
        recorder.seal();
        recorder.take()
    }

    fn playback(events: &[Event]) -> Playback {
        let Event::Header(header) = &events[0] else { panic!("no header") };
        let mut playback = Playback::begin(header.as_ref().clone(), &Games::default()).unwrap();
        for event in &events[1..] {
            playback.take(event).unwrap();
        }
        playback
    }

    #[test]
    fn the_transcript_is_ok_for_every_end() {
        for &kind in GAMES {
            let last = Seat(u8::try_from(record(kind, 0).names.len() - 1).unwrap());
            for (plies, end, result) in [
                (5, RecordEnd::Resigned(last), MatchResult::Resigned),
                (4, RecordEnd::TimedOut(Seat(0)), MatchResult::Fault),
                (3, RecordEnd::Forfeited(last), MatchResult::Void),
                (0, RecordEnd::Unfinished, MatchResult::Void),
                (2000, RecordEnd::Played, MatchResult::Played),
            ] {
                let record = GameRecord { end, ..record(kind, plies) };
                let events = import(kind, &record, &origin()).unwrap();
                let report = verify(&sealed(&events), &Games::default());
                assert_eq!(report.status, Status::Ok, "{} {end:?}: {report:?}", kind.name);
                assert_eq!(report.turns, record.actions.len() as u64);
                let playback = playback(&events);
                assert_eq!(playback.over().unwrap().verdict.result, result);
                // A void match has no other end.
                let back = game_record(&playback).unwrap();
                let end = if result == MatchResult::Void { RecordEnd::Unfinished } else { end };
                assert_eq!((&back.actions, back.end), (&record.actions, end));
                assert_eq!((back.setup, back.date), (record.setup, record.date));
            }
        }
    }

    #[test]
    fn the_header_says_that_nothing_was_started() {
        let kind = GAMES.iter().find(|kind| record(**kind, 0).names.len() == 2).unwrap();
        let nameless = GameRecord { names: vec![None; 2], date: None, ..record(*kind, 1) };
        let events = import(*kind, &nameless, &origin()).unwrap();
        let Event::Header(header) = &events[0] else { panic!("no header") };
        assert_eq!(header.seats[0].command, ["@import", "a \u{FFFD}file"]);
        assert_eq!((header.seats[0].agent.as_ref(), header.sandbox.level.as_str()), (None, "none"));
        assert_eq!(header.seats[1].name, header.seats[1].colour);
        assert_eq!((header.started.as_str(), header.game_number), ("2026-05-02T00:00:00Z", 3));
        let events = import(*kind, &record(*kind, 1), &origin()).unwrap();
        let Event::Header(header) = &events[0] else { panic!("no header") };
        assert_eq!([&header.seats[0].name, &header.seats[1].name], ["one", "one #2"]);
        assert_eq!(header.started, "2026-05-01T00:00:00Z");
    }

    #[test]
    fn an_invalid_game_is_refused() {
        let kind = GAMES[0];
        let wrong = GameRecord { actions: vec![json!({"type": "no"})], ..record(kind, 0) };
        assert!(import(kind, &wrong, &origin()).unwrap_err().starts_with("turn 0: "));
        let wrong = GameRecord { setup: json!({"sise": 1}), ..record(kind, 0) };
        assert!(import(kind, &wrong, &origin()).is_err());
    }
}
