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
use std::time::Duration;

/// The kinds of defect that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
        match self {
            Self::NotFound | Self::NotExecutable | Self::Interpreter | Self::CannotStart => {
                "an agent that can't be started loses every match (fault `start`)"
            }
            Self::Crash | Self::Gone => {
                "an agent has to live until the referee says `over`: ending earlier loses the \
                 match (fault `gone`, before `ready` fault `start`)"
            }
            Self::Waiting => {
                "the agent is waiting, not computing, and so is the referee: did you forget to \
                 flush? Output that is not flushed stays in the program"
            }
            Self::Thinking | Self::Late => {
                "an answer has to come within the clock: what comes later loses the match (fault \
                 `late`)"
            }
            Self::NoLineEnd => {
                "a message counts when its line is ended: what comes without `\\n` waits for the \
                 rest"
            }
            Self::DebugText | Self::BrokenJson => {
                "stdout is for the protocol alone, one JSON object a line: anything else loses the \
                 match (fault `garbled`)"
            }
            Self::Shape => {
                "fields are checked, so that a mistyped one can't pass silently: a message of \
                 another shape loses the match (fault `garbled`)"
            }
            Self::Illegal => "an action against the rules loses the match (fault `illegal`)",
            Self::Unasked => {
                "a line that no `turn` asked for can't be told from a late or doubled answer, and \
                 loses the match (fault `unasked`)"
            }
            Self::Flood => {
                "output is bounded, and passing the bound loses the match (fault `flood`)"
            }
            Self::Limit => {
                "what an agent may use is bounded, and passing the bound loses the match"
            }
            Self::Stays => {
                "an agent that doesn't end by itself is killed a second after the match, and loses \
                 what it still wanted to write"
            }
            Self::LeavesProcesses => {
                "whatever an agent started is killed with it: work that is left to another process \
                 is lost"
            }
        }
    }

    /// How to mend it, in general.
    pub fn fix(self) -> &'static str {
        match self {
            Self::NotFound => "look at the spelling, and at where the command is run",
            Self::NotExecutable => "make the file executable: chmod +x FILE",
            Self::Interpreter => {
                "let the first line name an interpreter that is installed, such as \
                 `#!/usr/bin/env python3`, or name it yourself: \"python3 bot.py\""
            }
            Self::CannotStart => "start the program by hand and see what it says",
            Self::Crash => "read what it wrote to stderr, and run it again on the same lines",
            Self::Gone => "read lines until the end of the input, in a loop",
            Self::Waiting => {
                "flush stdout after every line (`print(.., flush=True)`, `fflush(stdout)`, \
                 `System.out.flush()`), answer every `turn`, and read line by line"
            }
            Self::Thinking => {
                "stop searching when `left_ms` of the `turn` runs low; look for an endless loop"
            }
            Self::Late => "stop earlier: leave some milliseconds of `left_ms` unused",
            Self::DebugText => {
                "write such text to stderr: `print(.., file=sys.stderr)`, `console.error(..)`, \
                 `System.err.println(..)`, `fprintf(stderr, ..)`"
            }
            Self::NoLineEnd => {
                "end every message with `\\n` (`print(..)`, `println!(..)`, `puts`), and flush"
            }
            Self::BrokenJson => {
                "let a JSON library write the line (`json.dumps(..)`, `JSON.stringify(..)`)"
            }
            Self::Shape => {
                "compare the line with docs/protocol.md, or with `referee schema from-agent`"
            }
            Self::Illegal => {
                "ask for the legal actions with \"want\":[\"actions\"] in `ready`, and compare"
            }
            Self::Unasked => {
                "write one `ready`, and then one `action` for each `turn`; nothing else but `info`, \
                 and that only before the action"
            }
            Self::Flood => "write less; look for an endless loop that prints",
            Self::Limit => "use less; `hello.limits` says how much there is",
            Self::Stays => {
                "end when `over` comes, and when stdin ends; don't wait for threads or children"
            }
            Self::LeavesProcesses => "end the processes that you start before you end yourself",
        }
    }
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
    Some(match fault.kind {
        FaultKind::Resigned => return None,
        FaultKind::Start | FaultKind::Gone => gone(fault, known),
        FaultKind::Late => late(fault, known),
        FaultKind::Garbled => garbled(fault, known),
        FaultKind::Illegal => illegal(fault, known),
        FaultKind::Unasked => Finding::new(Defect::Unasked, fault.text.clone()),
        FaultKind::Flood => Finding::new(Defect::Flood, fault.text.clone()),
        FaultKind::Memory | FaultKind::Processes => Finding::new(Defect::Limit, fault.text.clone()),
    })
}

fn gone(fault: &Fault, known: &Circumstances<'_>) -> Finding {
    let what = fault.text.clone();
    let Some(status) = known.status else {
        return match Absence::read(&fault.text) {
            Absence::Unready => silent(what, known),
            Absence::NotStarted => Finding::new(Defect::CannotStart, what),
            Absence::Exited("exit status 0") | Absence::Closed => Finding::new(Defect::Gone, what),
            Absence::Exited(_) => Finding::new(Defect::Crash, what),
        };
    };
    // What `env` and shells say of a program that isn't there, or can't be executed.
    let said = status == "exit status 127" || status == "exit status 126";
    if said && fault.kind == FaultKind::Start {
        let windows = known.stderr.contains("\\r") || known.stderr.contains('\r');
        let finding = Finding::new(Defect::Interpreter, what);
        return if windows {
            finding.fix(
                "the first line of the script ends as on Windows: save it with Unix line ends \
                 (`sed -i 's/\\r$//' FILE`)",
            )
        } else {
            finding
        };
    }
    let defect = if status == "exit status 0" { Defect::Gone } else { Defect::Crash };
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
