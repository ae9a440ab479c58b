//! A match as a game record, for notations that other programs read: the players, the actions and
//! the end, without messages and times.

use super::{Playback, PlyKind};
use crate::summary::sentence;
use referee_games::{GameRecord, RecordEnd};
use referee_protocol::{FaultKind, Header, MatchResult, OverEvent};
use std::fmt::Write;

/// Returns the record of a match as far as it has been played. Fails if a seat left and the others
/// played on, which a list of actions can't express.
pub fn game_record(playback: &Playback) -> Result<GameRecord, String> {
    let header = playback.header();
    let mut actions = Vec::new();
    let mut gone = None;
    for ply in playback.plies() {
        match (&ply.kind, gone) {
            (PlyKind::Played { event, .. }, None) => actions.push(event.action.value()),
            (PlyKind::Played { .. }, Some((seat, turn))) => {
                return Err(format!("seat {seat} left in turn {turn} and the others played on"));
            }
            (PlyKind::Retired { seat, .. }, _) => gone = Some((*seat, ply.turn)),
            (PlyKind::Start | PlyKind::Drawn(_) | PlyKind::Over(_), _) => {}
        }
    }
    let over = playback.over();
    let day = header.started.get(..10).filter(|day| day.is_ascii());
    Ok(GameRecord {
        setup: header.setup.clone(),
        names: header.seats.iter().map(|seat| Some(seat.name.clone())).collect(),
        title: Some(format!("{}-{}", header.game, header.match_id)),
        date: day.map(str::to_owned),
        actions,
        end: over.map_or(RecordEnd::Unfinished, end),
        comment: over.map(|over| comment(header, over)).unwrap_or_default(),
    })
}

fn end(over: &OverEvent) -> RecordEnd {
    let seats = over.verdict.seats.iter();
    let last = seats.filter_map(|seat| Some((seat.seat, seat.fault.as_ref()?.kind))).next_back();
    match (over.verdict.result, last) {
        (MatchResult::Played, _) => RecordEnd::Played,
        (MatchResult::Resigned, Some((seat, _))) => RecordEnd::Resigned(seat),
        (MatchResult::Fault, Some((seat, FaultKind::Late))) => RecordEnd::TimedOut(seat),
        (MatchResult::Fault, Some((seat, _))) => RecordEnd::Forfeited(seat),
        _ => RecordEnd::Unfinished,
    }
}

/// Describes the end: a line, and one for each fault.
fn comment(header: &Header, over: &OverEvent) -> String {
    let mut text = sentence(header, over.outcome.as_ref(), &over.verdict);
    for (seat, verdict) in header.seats.iter().zip(&over.verdict.seats) {
        if let Some(fault) = verdict.fault.as_ref().filter(|it| it.kind != FaultKind::Resigned) {
            write!(text, "\n{} in turn {}: {}", seat.name, fault.turn, fault.text).ok();
        }
    }
    text
}
