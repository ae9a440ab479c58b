//! What to do about an engine with a protocol of its own that failed, by the command that it was sent last.

use super::Evidence;
use crate::transcript;
use referee_protocol::{Event, Fault, FaultKind, HeaderSeat, Seat};

/// Returns how to fix it; `None` if the last command isn't known, or says nothing.
pub(super) fn fix(fault: &Fault, known: &Evidence<'_>) -> Option<String> {
    let (bytes, games) = known.transcript?;
    let mut reader = transcript::read(bytes).ok()?;
    let events: Vec<Event> = reader.by_ref().collect();
    let header = &reader.header;
    let verdict = events.iter().rev().find_map(|event| match event {
        Event::Over(over) => Some(&over.verdict),
        _ => None,
    });
    let has_fault = |seat: Seat| {
        let found = verdict.and_then(|it| it.seats.get(seat.index())?.fault.as_ref());
        found.is_some_and(|found| found.kind == fault.kind && found.text == fault.text)
    };
    let engines: Vec<&HeaderSeat> =
        header.seats.iter().filter(|seat| seat.protocol.is_some()).collect();
    let engine = match engines[..] {
        [only] => only,
        _ => engines.into_iter().find(|engine| has_fault(engine.seat))?,
    };
    let dialect = games.find(&header.game)?.dialect(&engine.protocol.as_ref()?.name)?;
    if fault.kind == FaultKind::Garbled {
        let (command, reply) = fault.text.strip_prefix('`')?.split_once("` was answered `")?;
        return dialect.advise(command, Some(reply));
    }
    let sent = transcript::sent(header, games, engine.seat, &events, None).ok()?;
    dialect.advise(String::from_utf8_lossy(&sent).lines().last()?, None)
}
