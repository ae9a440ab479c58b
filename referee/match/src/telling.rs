//! Matches in words, as every place that shows them says it. What agents call themselves stands in it
//! as it is: whoever shows it makes it harmless.

use referee_protocol::{Header, Outcome, Result as Ended, Verdict};
use std::fmt::Write;

/// The setup, one ` name=value` a field; a position that was given is left out.
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

/// How a match ended, in a sentence without a full stop.
pub fn sentence(header: &Header, outcome: Option<&Outcome>, verdict: &Verdict) -> String {
    if let Some(void) = &verdict.void {
        return format!("void ({}): {}", void.cause, void.text);
    }
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let why = match (outcome, verdict.result) {
        (Some(outcome), Ended::Played) => &outcome.reason,
        _ => &verdict.reason,
    };
    placed(&names, verdict.places.as_deref().unwrap_or_default(), why)
}

/// The same of a match of which only the places are known, from 1 and by seat, and the reason.
pub fn placed(names: &[&str], places: &[u32], why: &str) -> String {
    let first = names.iter().zip(places).filter(|&(_, &place)| place == 1);
    let best: Vec<&str> = first.map(|(&name, _)| name).collect();
    match (best.as_slice(), names.len()) {
        ([], _) => format!("not solved: {why}"),
        ([one], 1) => format!("{one} solved it: {why}"),
        ([one], _) => format!("{one} wins: {why}"),
        (all, count) if all.len() == count => format!("a draw: {why}"),
        (some, _) => format!("{} share the first place: {why}", some.join(" and ")),
    }
}
