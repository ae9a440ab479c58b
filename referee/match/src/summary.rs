//! How a match ended, in one sentence: the only table of these sentences. And its plies, in one sentence
//! each. Names of agents are in them as they are: sanitize the text before you show it.

use crate::end_reason::EndReason;
use crate::transcript::{Ply, PlyKind};
use referee_games::reason_text;
use referee_protocol::{
    Fault, FaultKind, GameProgramRecord, Header, MatchResult, Outcome, Verdict,
};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The reason of a verdict when all seats but one are out.
pub(crate) const LAST_SEAT: &str = "last_seat";

/// The longest text of an agent, in characters.
const TEXT_MAX: usize = 2000;

/// What the sentence about an end is made of.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The game's name.
    pub game: &'a str,
    /// The program that has its rules, if they aren't built in.
    pub program: Option<&'a GameProgramRecord>,
    /// Its setup; fields that are missing have their defaults.
    pub setup: &'a Value,
    /// What the agents are called, by seat.
    pub names: &'a [&'a str],
    /// What ended the match.
    pub result: MatchResult,
    /// The verdict's reason, a code.
    pub reason: &'a str,
    /// The place of each seat, from 1; empty if the match is void.
    pub places: &'a [u32],
    /// The fault of each seat, with its text if that is known.
    pub faults: &'a [Option<(FaultKind, &'a str)>],
}

impl Summary<'_> {
    /// Says who won and why: "A wins: B ran out of time".
    pub fn sentence(&self) -> String {
        let why = self.why();
        let first = self.names.iter().zip(self.places).filter(|&(_, &place)| place == 1);
        let best: Vec<&str> = first.map(|(&name, _)| name).collect();
        match (best.as_slice(), self.names.len()) {
            ([], _) => format!("not solved: {why}"),
            ([one], 1) => format!("{one} solved it: {why}"),
            ([one], _) => format!("{one} wins: {why}"),
            (all, count) if all.len() == count => format!("draw: {why}"),
            (some, _) => format!("{} share first place: {why}", some.join(" and ")),
        }
    }

    /// Says why the match ended, without the winner.
    fn why(&self) -> String {
        let why = reason((self.game, self.program), self.setup, self.result, self.reason);
        let mut faults = self.names.iter().zip(self.faults);
        // They chose at once, and all were at fault.
        let all_failed =
            self.faults.len() == self.names.len() && self.faults.iter().all(Option::is_some);
        if self.names.len() > 1 && all_failed && self.result != MatchResult::Played {
            let each = faults.filter_map(|(name, fault)| {
                fault.map(|(kind, text)| format!("{name} {}", fault_by_text(kind, text)))
            });
            return each.collect::<Vec<_>>().join(", ");
        }
        let cause = faults.find_map(|(name, fault)| {
            fault.filter(|(kind, _)| kind.name() == self.reason).map(|fault| (name, fault))
        });
        match cause.filter(|_| self.result != MatchResult::Played) {
            Some((name, (kind, text))) => format!("{name} {}", fault_by_text(kind, text)),
            None => why,
        }
    }
}

/// Says why a match of a game with this setup ended, without names; a code that is unknown stays.
pub fn reason(
    (game, program): (&str, Option<&GameProgramRecord>),
    setup: &Value,
    result: MatchResult,
    code: &str,
) -> String {
    match result {
        MatchResult::Played => reason_text(game, program, setup, code),
        MatchResult::Adjudicated => Some("the scores of both agents agree on it".to_owned()),
        _ if code == LAST_SEAT => Some("all other players are out".to_owned()),
        _ => serde_json::from_value(code.into()).ok().map(|kind| fault_text(kind).to_owned()),
    }
    .unwrap_or_else(|| code.to_owned())
}

/// Says how a match ended.
pub fn sentence(header: &Header, outcome: Option<&Outcome>, verdict: &Verdict) -> String {
    if let Some(void) = &verdict.void {
        return format!("void: {}", void.text);
    }
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let faults: Vec<_> = verdict
        .seats
        .iter()
        .map(|seat| seat.fault.as_ref().map(|it| (it.kind, it.text.as_str())))
        .collect();
    let reason = match (outcome, verdict.result) {
        (Some(outcome), MatchResult::Played) => &outcome.reason,
        _ => &verdict.reason,
    };
    let (game, setup, result) = (header.game.as_str(), &header.setup, verdict.result);
    let (places, program) =
        (verdict.places.as_deref().unwrap_or_default(), header.program.as_ref());
    Summary { game, program, setup, names: &names, result, reason, places, faults: &faults }
        .sentence()
}

/// Says what an agent did wrong. Completes "NAME ...".
pub fn fault_text(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Start => "did not start",
        FaultKind::Late => "ran out of time",
        FaultKind::Garbled => "sent an invalid message",
        FaultKind::Illegal => "sent an illegal action",
        FaultKind::Unasked => "sent a message that was not asked for",
        FaultKind::Gone => "stopped before the match ended",
        FaultKind::Flood => "wrote too much output",
        FaultKind::Memory => "used too much memory",
        FaultKind::Processes => "started too many processes",
        FaultKind::Resigned => "resigned",
    }
}

/// Says what an agent did wrong, by the text of its fault: whether it crashed or exited. Completes "NAME ...".
pub fn fault_by_text(kind: FaultKind, text: &str) -> &'static str {
    match (kind, EndReason::read(text)) {
        (FaultKind::Gone, EndReason::Exited(status)) => EndReason::what(status),
        _ => fault_text(kind),
    }
}

/// Says what an agent did wrong, when and how: "crashed in turn 3 (exit status 1)". Completes "NAME ...".
pub fn fault_in_turn(fault: &Fault) -> String {
    let (what, turn) = (fault_by_text(fault.kind, &fault.text), fault.turn);
    match (fault.kind, EndReason::read(&fault.text)) {
        (FaultKind::Resigned, _) => format!("{what} in turn {turn}"),
        (FaultKind::Gone, EndReason::Exited(status)) => format!("{what} in turn {turn} ({status})"),
        _ => format!("{what} in turn {turn}: {}", fault_in_words(&fault.text)),
    }
}

/// Returns the text of a fault in the words for people: "crashed before answering turn 4 (exit status 1)".
pub fn fault_in_words(text: &str) -> Cow<'_, str> {
    EndReason::in_words(text)
}

/// Returns the colour for people of what a seat plays: a piece of a game program, or the colour itself.
pub fn seat_colour<'a>(header: &'a Header, name: &'a str) -> &'a str {
    let pieces = header.program.as_ref().and_then(|program| program.described["pieces"].as_array());
    let piece = pieces.and_then(|pieces| pieces.iter().find(|piece| piece["name"] == name));
    piece.and_then(|piece| piece["colour"].as_str()).unwrap_or(name)
}

/// Describes a ply in a full sentence, without its number.
pub fn ply_sentence(header: &Header, ply: &Ply) -> String {
    let text = ply_text(header, ply);
    let Some(seat) = ply.seat() else { return text };
    let name = header.seats.get(seat.index()).map_or("?", |seat| seat.name.as_str());
    let colour = ply.colours.get(seat.index()).map_or("", String::as_str);
    format!("{name} ({colour}) {text}")
}

/// Describes a ply without its number and seat.
pub fn ply_text(header: &Header, ply: &Ply) -> String {
    match &ply.kind {
        PlyKind::Start => "start".to_owned(),
        PlyKind::Played { text, .. } => cut(text),
        PlyKind::Drawn(drawn) => cut(&format!("drawn: {}", drawn.label)),
        PlyKind::Retired { fault, .. } => cut(&fault_in_turn(fault)),
        PlyKind::Over(over) => {
            let mut text = sentence(header, over.outcome.as_ref(), &over.verdict);
            for seat in &over.verdict.seats {
                if let (Some(fault), Some(listed)) =
                    (&seat.fault, header.seats.get(seat.seat.index()))
                {
                    write!(text, "; {}: {}", listed.name, fault.text).ok();
                }
            }
            cut(&text)
        }
    }
}

/// Cuts a text of an agent to 2000 characters.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the setup as ` name=value` per field, without a given position.
pub fn setup(header: &Header) -> String {
    let mut text = String::new();
    for (key, value) in header.setup.as_object().into_iter().flatten() {
        if key != "position" {
            let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            write!(text, " {key}={plain}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Summary;
    use referee_protocol::{FaultKind, MatchResult};
    use serde_json::json;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a row for each end")]
    fn every_end_has_a_sentence() {
        let crash = "ended with exit status 1 before answering turn 4";
        let (late, gone) = (Some((FaultKind::Late, "")), Some((FaultKind::Gone, crash)));
        let none: &[Option<(FaultKind, &str)>] = &[None, None, None];
        for (game, result, reason, places, faults, sentence) in [
            (
                "hex",
                MatchResult::Played,
                "connected",
                &[1, 2][..],
                none,
                "A wins: it connected its two sides",
            ),
            (
                "chinese-checkers",
                MatchResult::Played,
                "turn_limit",
                &[1, 1],
                none,
                "draw: the limit of 300 turns was reached",
            ),
            (
                "hex",
                MatchResult::Fault,
                "late",
                &[1, 2],
                &[None, late],
                "A wins: B ran out of time",
            ),
            (
                "hex",
                MatchResult::Resigned,
                "resigned",
                &[2, 1],
                &[Some((FaultKind::Resigned, "")), None],
                "B wins: A resigned",
            ),
            (
                "chexers",
                MatchResult::Fault,
                "gone",
                &[1, 3, 1],
                &[None, gone, None],
                "A and C share first place: B crashed",
            ),
            (
                "chexers",
                MatchResult::Fault,
                "last_seat",
                &[1, 3, 2],
                &[None, gone, late],
                "A wins: all other players are out",
            ),
            (
                "hex",
                MatchResult::Fault,
                "late",
                &[1, 1],
                &[gone, late],
                "draw: A crashed, B ran out of time",
            ),
            (
                "hex",
                MatchResult::Played,
                "connected",
                &[1, 2],
                &[],
                "A wins: it connected its two sides",
            ),
            (
                "peg-solitaire",
                MatchResult::Played,
                "solved",
                &[1],
                none,
                "A solved it: one peg is left",
            ),
            (
                "peg-solitaire",
                MatchResult::Played,
                "stuck",
                &[2],
                none,
                "not solved: no jump is left",
            ),
            (
                "peg-solitaire",
                MatchResult::Fault,
                "late",
                &[2],
                &[late],
                "not solved: A ran out of time",
            ),
            (
                "hex",
                MatchResult::Adjudicated,
                "win",
                &[2, 1],
                none,
                "B wins: the scores of both agents agree on it",
            ),
            ("unknown", MatchResult::Played, "a_code", &[1, 2], none, "A wins: a_code"),
        ] {
            let names = &["A", "B", "C"][..places.len()];
            let setup = &json!({"max_turns": 300});
            let summary =
                Summary { game, program: None, setup, names, result, reason, places, faults };
            assert_eq!(summary.sentence(), sentence);
        }
    }
}
