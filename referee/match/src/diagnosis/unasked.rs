//! Messages that no `turn` asked for: what they probably answer.

use super::history::History;
use super::{Defect, Evidence, Finding, Stage};
use referee_protocol::Fault;
use serde_json::Value;

pub(super) fn unasked(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let finding = |what: &str| {
        let what = if what.is_empty() { String::new() } else { format!("; {what}") };
        Finding::new(Defect::Unasked, format!("{}{what}", fault.text))
    };
    let message = known.got.and_then(|line| serde_json::from_slice::<Value>(line).ok());
    let is_of = |kind: &str| fault.text.starts_with(&format!("sent `{kind}`"));
    if is_of("ready") {
        return finding("").fix("send `ready` once, as the answer to `hello`");
    }
    if is_of("info") {
        return finding("").fix("send `info` only between a `turn` and its `action`");
    }
    if !is_of("action") && !is_of("resign") {
        return finding("");
    }
    let asked = History::before(known).filter(|it| it.turns > 0);
    if let Some(turn) = message.as_ref().and_then(|it| it["turn"].as_u64()) {
        let counts_its_own =
            turn < fault.turn && asked.is_some_and(|it| turn == it.turns || turn + 1 == it.turns);
        let what = if counts_its_own { "it counts only its own turns" } else { "" };
        return finding(what).fix(
            "copy `turn` from the message that it answers, since all seats' turns count; or leave it out, since only \
             `type` and `action` are required",
        );
    }
    match asked {
        Some(it) if it.played > 0 => finding(
            "before its last `turn` came `played`, and it probably answers that, too",
        )
        .fix("answer only messages of the type `turn`: `played` says what a seat has played, and needs no answer"),
        Some(_) => finding("it has answered its first `turn` more than once").fix(
            "send one `action` for each `turn`: perhaps it reads a long line in pieces, and answers each of them",
        ),
        None if known.stage == Stage::Start => finding("it answers `hello` like a `turn`").fix(
            "answer `hello` with `ready`, and only `turn` with an action: decide by the value of `type`, not by a word that \
             may be anywhere in the line",
        ),
        None => finding(""),
    }
}
