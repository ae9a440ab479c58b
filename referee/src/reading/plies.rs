//! A recorded match as data, ply by ply.

use referee_games::Games;
use referee_match::summary::{fault_by_text, sentence};
use referee_match::transcript::walk;
use referee_play::input_files::unreadable;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{ActionJson, Event, Fault, Header, Outcome, Seat, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// A match, as `replay --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MatchReport {
    /// The header of the transcript: game, setup, clock, limits and agents.
    header: Header,
    /// What happened, in order.
    plies: Vec<PlyReport>,
    /// The outcome by the rules; null unless they ended the game.
    outcome: Option<Outcome>,
    /// The verdict; null if the match has no end.
    verdict: Option<Verdict>,
    /// Who won and why, as a sentence; null if the match has no end.
    text: Option<String>,
}

/// An action, or an agent that is out, in [`MatchReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct PlyReport {
    /// The turn, from 0.
    turn: u64,
    /// The seat that acted or is out; null if the referee drew.
    seat: Option<Seat>,
    /// The action, in the game's JSON form; null if the agent is out, or the referee drew.
    action: Option<ActionJson>,
    /// The action in its text form, what the agent did wrong, or what was drawn.
    text: String,
    /// Time charged for the action, in milliseconds.
    used_ms: Option<u64>,
    /// The fault of an agent that is out.
    fault: Option<Fault>,
}

/// Returns a recorded match for --json.
pub fn match_report(bytes: &[u8], games: &Games, file: &str) -> Result<MatchReport, Failure> {
    let mut steps = walk(bytes, games).map_err(|error| unreadable(file, &error))?;
    let header = steps.walk().header().clone();
    let mut report =
        MatchReport { header, plies: Vec::new(), outcome: None, verdict: None, text: None };
    loop {
        let turn = steps.walk().game().turn_number();
        let step = steps.step().map_err(|error| unreadable(file, &error))?;
        match step {
            Some(Event::Played(played)) => report.plies.push(PlyReport {
                turn,
                seat: Some(played.seat),
                text: sanitize(&steps.walk().game().format_action(&played.action.value())),
                action: Some(played.action),
                used_ms: Some(played.used_ms),
                fault: None,
            }),
            Some(Event::Drawn(drawn)) => report.plies.push(PlyReport {
                turn,
                seat: None,
                action: None,
                text: sanitize(&format!("drawn: {}", drawn.label)),
                used_ms: None,
                fault: None,
            }),
            Some(Event::Retired(retired)) => report.plies.push(PlyReport {
                turn,
                seat: Some(retired.seat),
                action: None,
                text: fault_by_text(retired.fault.kind, &retired.fault.text).to_owned(),
                used_ms: None,
                fault: Some(retired.fault),
            }),
            Some(Event::Over(over)) => {
                let text = sentence(&report.header, over.outcome.as_ref(), &over.verdict);
                report.text = Some(sanitize(&text));
                (report.outcome, report.verdict) = (over.outcome, Some(over.verdict));
            }
            Some(_) => {}
            None => return Ok(report),
        }
    }
}
