//! What an agent did wrong, in words that help its author: what it is, where, why it matters, and how
//! to mend it. `check` and `play` tell the same.

mod caret;
mod denied;
mod locate;
mod nearest;

pub use caret::caret;
pub use denied::denied_paths;
pub use nearest::nearest_action;

use crate::absence::Absence;
use locate::{locate, locate_key};
use nearest::misshapen;
use referee_protocol::{
    Fault, FaultKind, Flaw, FromAgent, Garbled, parse_from_agent, parse_strict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

/// The kinds of defect that are told apart.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// No such program, or no `agent.toml` in the folder.
    NotFound,
    /// The file may not be executed.
    NotExecutable,
    /// A script without an interpreter, or with one that isn't there.
    Interpreter,
    /// `agent.toml` can't be read, or another reason why the program can't be started.
    CannotStart,
    /// It ended, with a status other than 0 or by a signal.
    Crash,
    /// It ended or closed its output in an orderly way, while it was needed.
    Gone,
    /// No answer, and no CPU time is used: it waits for something.
    Waiting,
    /// No answer, and CPU time is used.
    Thinking,
    /// An answer, after its time.
    Late,
    /// Text on stdout that is no message.
    DebugText,
    /// A line that is never ended.
    NoLineEnd,
    /// Nearly a message: JSON that is broken.
    BrokenJson,
    /// JSON, but not of the shape of a message.
    Shape,
    /// An action that the rules forbid.
    Illegal,
    /// A line that nothing asked for.
    Unasked,
    /// Too much output.
    Flood,
    /// Too much memory, or too many processes.
    Limit,
    /// It doesn't end when it should.
    Stays,
    /// It leaves processes behind.
    LeavesProcesses,
}

impl Defect {
    /// Why it matters.
    pub fn why(self) -> &'static str {
        self.advice().0
    }

    /// How to fix it, in general.
    pub fn fix(self) -> &'static str {
        self.advice().1
    }

    fn advice(self) -> (&'static str, &'static str) {
        static ADVICE: LazyLock<Vec<Advice>> = LazyLock::new(|| {
            serde_json::from_str(include_str!("advice.json")).expect("its test reads it")
        });
        let advice =
            ADVICE.iter().find_map(|it| Some((it.why.as_str(), it.fix.get(&self)?.as_str())));
        advice.expect("its test looks up every defect")
    }
}

/// What `advice.json` says of defects that matter for the same reason.
#[derive(Debug, Deserialize)]
struct Advice {
    why: String,
    fix: BTreeMap<Defect, String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of defect.
    pub defect: Defect,
    /// What happened, in words.
    pub what: String,
    /// The byte of the agent's line at which the trouble is, from 1, where it has one place.
    pub at_byte: Option<usize>,
    /// How to mend it.
    pub fix: String,
}

impl Finding {
    /// With the defect's own advice.
    pub fn new(defect: Defect, what: impl Into<String>) -> Self {
        Self { defect, what: what.into(), at_byte: None, fix: defect.fix().to_owned() }
    }

    /// With better advice.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }
}

/// What is known beside a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// The last line that came from the agent, as it came.
    pub got: Option<&'a [u8]>,
    /// What came of a line after that, without its end.
    pub unended: &'a [u8],
    /// It speaks another protocol than the referee's own, which that line is in.
    pub foreign: bool,
    /// How its process ended, if it did.
    pub status: Option<&'a str>,
    /// What it wrote to stderr.
    pub stderr: &'a str,
    /// What to do about a path that its stderr says it was not let read, where that was the sandbox.
    pub denied: Option<&'a str>,
    /// Actions that would have been legal, where they are known.
    pub legal: &'a [Value],
    /// What it used since it was asked, where that is known.
    pub used: Option<Used>,
}

/// What an agent used while it was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Time.
    pub wall: Duration,
    /// CPU time of its whole tree.
    pub cpu: Duration,
    /// Time that it was ready to run and had no core.
    pub waited: Duration,
}

impl Used {
    /// What was used since it had come to `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            wall: self.wall.saturating_sub(before.wall),
            cpu: self.cpu.saturating_sub(before.cpu),
            waited: self.waited.saturating_sub(before.waited),
        }
    }

    /// Whether it computed, or wanted to, for a good part of the time.
    fn is_busy(&self) -> bool {
        (self.cpu + self.waited) * 5 > self.wall
    }
}

/// What a fault was, in words for the agent's author. `None` for a resignation, which is none.
pub fn find(fault: &Fault, known: &Circumstances<'_>) -> Option<Finding> {
    let finding = find_plain(fault, known)?;
    // What it was kept from may be why it ended, or why nothing came.
    let ended = matches!(fault.kind, FaultKind::Start | FaultKind::Gone);
    let silent = fault.kind == FaultKind::Late && known.got.is_none();
    if let Some(advice) = known.denied.filter(|_| ended || silent) {
        return Some(finding.fix(advice));
    }
    let about_protocol =
        matches!(finding.defect, Defect::Shape | Defect::Late | Defect::Thinking | Defect::Waiting);
    if known.foreign && about_protocol {
        let page =
            "docs/existing-agents.md says what it is told of the time, and what it may answer";
        return Some(finding.fix(page));
    }
    Some(finding)
}

fn find_plain(fault: &Fault, known: &Circumstances<'_>) -> Option<Finding> {
    let plain = |defect| Finding::new(defect, fault.text.clone());
    Some(match fault.kind {
        FaultKind::Resigned => return None,
        FaultKind::Start | FaultKind::Gone => gone(fault, known),
        FaultKind::Late => late(fault, known),
        FaultKind::Garbled => garbled(fault, known),
        FaultKind::Illegal => illegal(fault, known),
        FaultKind::Unasked => plain(Defect::Unasked),
        FaultKind::Flood => plain(Defect::Flood),
        FaultKind::Memory | FaultKind::Processes => plain(Defect::Limit),
    })
}

fn gone(fault: &Fault, known: &Circumstances<'_>) -> Finding {
    let what = fault.text.clone();
    let defect = match known.status.map_or_else(|| Absence::read(&fault.text), Absence::Exited) {
        Absence::Unready => return silent(what, known),
        Absence::NotStarted => Defect::CannotStart,
        // What `env` and shells say of a program that isn't there, or can't be executed.
        Absence::Exited("exit status 126" | "exit status 127")
            if known.status.is_some() && fault.kind == FaultKind::Start =>
        {
            if known.stderr.contains("\\r") || known.stderr.contains('\r') {
                return Finding::new(Defect::Interpreter, what).fix(
                    "the first line of the script ends as on Windows: save it with Unix line ends \
                     (`sed -i 's/\\r$//' FILE`)",
                );
            }
            Defect::Interpreter
        }
        Absence::Exited("exit status 0") | Absence::Closed => Defect::Gone,
        Absence::Exited(_) => Defect::Crash,
    };
    Finding::new(defect, what)
}

fn late(fault: &Fault, known: &Circumstances<'_>) -> Finding {
    match (known.got, known.used) {
        (Some(_), Some(used)) => {
            let what = format!("{}; it came after {} ms", fault.text, used.wall.as_millis());
            Finding::new(Defect::Late, what)
        }
        (None, Some(_)) => silent(fault.text.clone(), known),
        (_, None) if !known.unended.is_empty() => silent(fault.text.clone(), known),
        (_, None) => {
            let (stop, flush) = (Defect::Late.fix(), Defect::Waiting.fix());
            Finding::new(Defect::Late, fault.text.clone())
                .fix(format!("{stop}; where it uses no CPU time, {flush}"))
        }
    }
}

/// No answer: is it computing, or does it wait?
fn silent(what: String, known: &Circumstances<'_>) -> Finding {
    idle_or_busy(what, known, known.used.is_none_or(|used| used.is_busy()))
}

fn idle_or_busy(what: String, known: &Circumstances<'_>, busy: bool) -> Finding {
    if let Some(finding) = unended(&what, known) {
        return finding;
    }
    let defect = if busy { Defect::Thinking } else { Defect::Waiting };
    let finding = Finding::new(defect, what);
    if busy || known.stderr.trim().is_empty() {
        return finding;
    }
    finding.fix(format!("read what it wrote to stderr; if that is no error, {}", defect.fix()))
}

/// Something came, but not the end of its line.
fn unended(what: &str, known: &Circumstances<'_>) -> Option<Finding> {
    let begun = known.unended.trim_ascii_start();
    if begun.is_empty() {
        return None;
    }
    let shown = String::from_utf8_lossy(&begun[..begun.len().min(60)]).into_owned();
    let what = format!("{what}; what came is a line without an end: {shown:?}");
    let defect = if begun[0] == b'{' { Defect::NoLineEnd } else { Defect::DebugText };
    Some(Finding::new(defect, what))
}

/// No answer: for a while the agent has done nothing but wait for more input.
pub fn waiting(known: &Circumstances<'_>) -> Finding {
    let used = known.used.unwrap_or_default();
    let (cpu, wall) = (used.cpu.as_millis(), used.wall.as_millis());
    let what =
        format!("no answer after {wall} ms; it used {cpu} ms of CPU time and waits for more input");
    idle_or_busy(what, known, false)
}

fn garbled(fault: &Fault, known: &Circumstances<'_>) -> Finding {
    if known.foreign {
        return Finding::new(Defect::Shape, fault.text.clone());
    }
    let Some(line) = known.got else { return Finding::new(Defect::Shape, fault.text.clone()) };
    if let Err(broken) = parse_strict(line) {
        return broken_json(line, &broken);
    }
    let (what, within) = match parse_from_agent(line) {
        Err(garbled) => (garbled.to_string(), ""),
        // The message is one; its action isn't.
        Ok(FromAgent::Action(action)) => {
            let path = misshapen(&action.action, known.legal);
            let told = fault.text.strip_prefix("action: ").unwrap_or(&fault.text);
            (path.map_or(fault.text.clone(), |path| format!("action: {path}: {told}")), "action")
        }
        Ok(_) => (fault.text.clone(), "action"),
    };
    let at_byte = place(line, &what, within);
    if !line.trim_ascii_start().starts_with(b"{") {
        return Finding { at_byte: Some(1), ..Finding::new(Defect::DebugText, what) };
    }
    let finding = Finding { at_byte, ..Finding::new(Defect::Shape, what) };
    let meant = match parse_from_agent(line) {
        Ok(FromAgent::Action(action)) => nearest_action(&action.action, known.legal).cloned(),
        _ => None,
    };
    match meant {
        Some(action) => finding.fix(format!(
            "write actions as the legal ones are written, such as {action} here; `referee games` \
             shows them"
        )),
        None => finding,
    }
}

fn broken_json(line: &[u8], broken: &Garbled) -> Finding {
    let at_byte = broken.column().or(Some(1));
    let begins = line.trim_ascii_start().first().copied();
    if begins != Some(b'{') && begins != Some(b'[') && !line.starts_with(b"\xEF\xBB\xBF") {
        let what = format!("not a message: {broken}");
        return Finding { at_byte: Some(1), ..Finding::new(Defect::DebugText, what) };
    }
    let finding = Finding { at_byte, ..Finding::new(Defect::BrokenJson, broken.to_string()) };
    let at = line.get(at_byte.unwrap_or(1).saturating_sub(2)..).unwrap_or_default();
    let not_a_number = [&b"NaN"[..], b"Inf", b"-Inf"];
    let fix = if line.starts_with(b"{'") {
        "JSON has double quotes: this looks as Python prints a dict; write json.dumps(message)"
    } else if line.starts_with(b"\xEF\xBB\xBF") {
        "write UTF-8 without a byte-order mark (in Python the encoding `utf-8`, not `utf-8-sig`)"
    } else if not_a_number.iter().any(|text| at.windows(text.len()).take(4).any(|it| it == *text)) {
        "JSON has no NaN and no Infinity: write null, or leave the field out (Python: \
         json.dumps(message, allow_nan=False) tells where they are)"
    } else {
        match broken.flaw() {
            Flaw::Unfinished => {
                "write a message in one line, without line breaks in it (no `indent`)"
            }
            Flaw::Trailing => "write one message a line, and end each with `\\n`",
            Flaw::Duplicate => "write each field once",
            Flaw::Other => return finding,
        }
    };
    finding.fix(fix)
}

/// Where the trouble is that a text such as `want[0]: unknown variant ..` or `unknown field ..`
/// tells of, in an object that is the whole line or its field `within`.
fn place(line: &[u8], what: &str, within: &str) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let what = what.strip_prefix("action: ").filter(|_| within == "action").unwrap_or(what);
    let path = what.split_once(": ").map_or("", |(path, _)| path);
    let is_path = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
        !text.is_empty() && text.chars().all(plain)
    };
    let path = if is_path(path) { path } else { "" };
    let whole = match (within, path) {
        (within, "") => within.to_owned(),
        ("", path) => path.to_owned(),
        (within, path) => format!("{within}.{path}"),
    };
    if let Some(key) = what.split("unknown field `").nth(1).and_then(|rest| rest.split('`').next())
    {
        return locate_key(line, &whole, key).or_else(|| {
            let outer = whole.rsplit_once('.').map_or("", |(outer, _)| outer);
            locate_key(line, outer, key)
        });
    }
    locate(line, &whole).map(|index| index + 1)
}

fn illegal(fault: &Fault, known: &Circumstances<'_>) -> Finding {
    let got = known.got.filter(|_| !known.foreign);
    let finding = Finding::new(Defect::Illegal, fault.text.clone());
    let action = got.and_then(|line| serde_json::from_slice::<Value>(line).ok());
    let action = action.as_ref().and_then(|message| message.get("action"));
    let legal = fault.legal.as_deref().unwrap_or_default();
    let at_byte = got
        .and_then(|line| std::str::from_utf8(line).ok())
        .and_then(|line| locate(line, "action"))
        .map(|index| index + 1);
    let near = action.and_then(|action| nearest_action(action, legal));
    if known.foreign {
        return finding.fix("look at the board that it keeps: `referee replay latest --print`");
    }
    match near {
        Some(near) => Finding { at_byte, ..finding }.fix(format!(
            "the nearest legal action is {near}, one of {}; {}",
            legal.len(),
            Defect::Illegal.fix()
        )),
        None => Finding { at_byte, ..finding },
    }
}

#[cfg(test)]
mod tests;
