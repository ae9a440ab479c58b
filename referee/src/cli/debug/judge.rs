//! Whether what an agent did when a turn was seen once more is what a match would let pass.

use super::Case;
use referee_games::Refusal;
use referee_match::diagnosis::{Circumstances, Finding, find};
use referee_play::debugging::Rerunning;
use referee_protocol::{Fault, FaultKind, FromAgent, parse_from_agent};

/// A fault in words, and the line that it is in, where it is in one.
type Judged<'a> = (FaultKind, String, Option<&'a Vec<u8>>);

/// What is wrong with what the agent did, as a match would judge it.
pub(super) fn wrong(case: &Case, told: &Rerunning) -> Option<Finding> {
    let legal = case.game.actions();
    let (kind, text, line): Judged<'_> = if let Some(errno) = told.not_started {
        (FaultKind::Start, format!("can't start: {}", errno.desc()), None)
    } else if told.cut {
        let bound = case.header.limits.line_bytes;
        (FaultKind::Flood, format!("a line is longer than {bound} bytes"), told.got.last())
    } else if told.said.is_none() {
        let (kind, text) = silent(case, told);
        (kind, text, None)
    } else if case.is_late(told) {
        let (wall, cpu) = (told.used.wall.as_millis(), told.used.cpu.as_millis());
        let allowed = case.allowed_ms().unwrap_or_default();
        let text =
            format!("its answer took {wall} ms, {cpu} ms on a core; {allowed} ms were allowed");
        (FaultKind::Late, text, None)
    } else {
        judge(case, told)?
    };
    let fault = Fault { kind, by: None, turn: case.turn.unwrap_or(0), text, legal: Some(legal) };
    let known = Circumstances {
        got: line.map(Vec::as_slice),
        foreign: case.is_foreign(),
        status: told.status.as_deref(),
        stderr: &told.stderr,
        legal: fault.legal.as_deref().unwrap_or_default(),
        used: Some(told.used).filter(|_| told.said.is_none()),
        ..Circumstances::default()
    };
    find(&fault, &known)
}

/// No answer came: because it had ended, or in time.
fn silent(case: &Case, told: &Rerunning) -> (FaultKind, String) {
    let kind = if case.turn.is_some() { FaultKind::Gone } else { FaultKind::Start };
    match (&told.status, told.closed) {
        (Some(status), _) => (kind, format!("ended with {status} before it answered")),
        (None, Some(closed)) => (kind, format!("{closed} before it answered")),
        (None, None) => {
            let wall = told.used.wall.as_millis();
            (FaultKind::Late, format!("no answer after {wall} ms"))
        }
    }
}

/// What is wrong with what it said, and in which line.
fn judge<'a>(case: &Case, told: &'a Rerunning) -> Option<Judged<'a>> {
    let answer = match told.said.as_ref()? {
        Err(garbled) => Some((FaultKind::Garbled, garbled.to_string())),
        Ok(message) => misfit(case, message),
    };
    if case.is_foreign() {
        return answer.map(|(kind, text)| (kind, text, told.got.last()));
    }
    let is_info = |line: &&Vec<u8>| matches!(parse_from_agent(line), Ok(FromAgent::Info(_)));
    let mut rest = told.got.iter().skip_while(is_info);
    let line = rest.next();
    match (answer, rest.next()) {
        (Some((kind, text)), _) => Some((kind, text, line)),
        (None, Some(line)) => {
            let text = "a line after its answer, which nothing asked for".to_owned();
            Some((FaultKind::Unasked, text, Some(line)))
        }
        (None, None) => None,
    }
}

/// What is wrong with a message where it is the first answer.
fn misfit(case: &Case, message: &FromAgent) -> Option<(FaultKind, String)> {
    let starting = case.turn.is_none();
    match message {
        FromAgent::Ready(_) if starting => None,
        FromAgent::Ready(_) => Some((FaultKind::Unasked, "a second `ready`".to_owned())),
        _ if starting => {
            Some((FaultKind::Unasked, "something else before it said `ready`".to_owned()))
        }
        FromAgent::Action(action) if action.turn.is_some_and(|it| Some(it) != case.turn) => {
            let (told, asked) = (action.turn.unwrap_or(0), case.turn.unwrap_or(0));
            Some((FaultKind::Unasked, format!("`action` for turn {told} in turn {asked}")))
        }
        FromAgent::Action(action) => match case.game.clone_box().play(&action.action) {
            Ok(_) => None,
            Err(Refusal::Malformed(text)) => Some((FaultKind::Garbled, format!("action: {text}"))),
            Err(Refusal::Illegal(rule)) => {
                let shown = case.game.show_action(&action.action);
                Some((FaultKind::Illegal, format!("{shown}: {rule}")))
            }
        },
        FromAgent::Resign(_) | FromAgent::Info(_) => None,
    }
}
