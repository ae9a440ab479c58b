//! Explains to an agent's author what the agent did wrong: what happened, where, why it matters, and
//! how to fix it. `check`, `debug` and `play` use the same texts.

mod caret;
mod cells;
mod denied;
mod engine;
mod garbled;
mod hang;
mod history;
mod known_errors;
mod last_words;
mod locate;
mod nearest;
mod repair;
mod restricted;
mod unasked;

pub use caret::caret;
pub use denied::denied_paths;
pub use engine::Engine;
pub use hang::{AtEnd, Hang, Wait, still_running};
pub use last_words::{
    cause_line, failure_line, failure_place, may_miss_a_value, stack_place, without_notices,
};
pub use nearest::nearest_action;
pub use restricted::{Restriction, restriction};

use crate::end_reason::EndReason;
use crate::transcript;
use garbled::garbled;
use history::History;
use locate::locate;
use referee_games::{AnyGame, Games};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Fault, FaultKind, Want};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;
use unasked::unasked;

/// A kind of defect.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// No such program, or no `agent.toml` in the folder.
    NotFound,
    /// The file may not be executed.
    NotExecutable,
    /// A script whose interpreter is missing.
    Interpreter,
    /// `agent.toml` can't be read, or the program can't be started for another reason.
    CannotStart,
    /// It exited with a status other than 0, or by a signal.
    Crash,
    /// It exited normally or closed its output, too early.
    Gone,
    /// No answer, and it uses no CPU time: it waits for something.
    Waiting,
    /// No `ready`, and it uses CPU time.
    SlowStart,
    /// No answer, and it uses CPU time.
    Thinking,
    /// An answer that came too late.
    Late,
    /// Text on stdout that is not a message.
    DebugText,
    /// A line without a line end.
    NoLineEnd,
    /// Broken JSON.
    BrokenJson,
    /// JSON, but not the form of a message.
    Shape,
    /// An action that the rules forbid.
    Illegal,
    /// It gives up before it has played.
    Resigns,
    /// A message that was not asked for.
    Unasked,
    /// Too much output.
    Flood,
    /// Too much memory, or too many processes.
    Limit,
    /// It doesn't exit when it should.
    Stays,
    /// It leaves processes behind.
    LeavesProcesses,
}

impl Defect {
    /// Returns why it matters.
    pub fn why(self) -> &'static str {
        self.advice().0
    }

    /// Returns how to fix it, in general.
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

/// Advice in `advice.json` for defects that matter for the same reason.
#[derive(Debug, Deserialize)]
struct Advice {
    why: String,
    fix: BTreeMap<Defect, String>,
}

/// What to do about a script whose first line ends with a carriage return.
pub const WINDOWS_LINES: &str =
    "its lines end as on Windows: save the file with line ends LF (`sed -i 's/\\r$//' FILE`)";

/// A defect that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of defect.
    pub defect: Defect,
    /// What happened.
    pub what: String,
    /// The byte of the agent's line, from 1, if the defect has one place.
    pub at_byte: Option<usize>,
    /// How to fix it.
    pub fix: String,
}

impl Finding {
    /// Creates a finding with the general advice for its defect.
    pub fn new(defect: Defect, what: impl Into<String>) -> Self {
        Self { defect, what: what.into(), at_byte: None, fix: defect.fix().to_owned() }
    }

    /// Replaces the advice.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }
}

/// What is known besides a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The last line that the agent sent.
    pub got: Option<&'a [u8]>,
    /// The beginning of a line after that.
    pub unended: &'a [u8],
    /// Whether the line is in another protocol than the referee's own.
    pub foreign: bool,
    /// What is known of it then.
    pub engine: Option<Engine<'a>>,
    /// Whether it uses the Python kit, whose functions advice then names.
    pub has_kit: bool,
    /// How its process exited, if it did.
    pub status: Option<&'a str>,
    /// Its stderr.
    pub stderr: &'a str,
    /// What to do about a path in its stderr that the sandbox kept it from reading.
    pub denied: Option<&'a str>,
    /// The game when it was asked last, if that is known.
    pub game: Option<&'a dyn AnyGame>,
    /// What it used since it was asked, if that is known.
    pub used: Option<Usage>,
    /// How far it came.
    pub stage: Stage,
    /// Its other illegal actions, of other games.
    pub illegal: &'a [IllegalAction],
    /// What was seen of it if it didn't answer.
    pub hang: Option<&'a Hang>,
    /// The transcript of the match, and the games that are known.
    pub transcript: Option<(&'a [u8], &'a Games)>,
}

/// An action that was illegal.
#[derive(Clone, Debug)]
pub struct IllegalAction {
    /// The game when it was played.
    pub game: Box<dyn AnyGame>,
    /// The action.
    pub action: Value,
    /// Why it was refused.
    pub text: String,
}

impl Evidence<'_> {
    /// Returns how to fix a defect, in general.
    pub fn usual_fix(&self, defect: Defect) -> &'static str {
        kit_fix(defect).filter(|_| self.has_kit).unwrap_or_else(|| defect.fix())
    }

    /// Whether its stderr says why it failed, in an error of a runtime or about a file. What it wrote before a signal ended
    /// it need not be about that.
    fn explains_itself(&self, fault: &str) -> bool {
        let ended = self.status.map_or_else(|| EndReason::read(fault), EndReason::Exited);
        let by_signal = matches!(ended, EndReason::Exited(status) if status.starts_with("signal"));
        let says = cause_line(self.stderr).is_some()
            || last_words::has_words(self.stderr)
                && last_words::crash(String::new(), self.stderr).fix != Defect::Crash.fix()
            || !denied_paths(self.stderr).is_empty();
        says && !by_signal
    }

    /// Returns the actions that would have been legal, as far as they are known.
    fn legal(&self) -> Vec<Value> {
        self.game.map(AnyGame::actions).unwrap_or_default()
    }
}

/// How far an agent came before its fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// It has not sent `ready`.
    Start,
    /// It has sent `ready`.
    #[default]
    FirstTurn,
    /// It has answered a turn.
    LaterTurn,
}

impl Stage {
    /// Returns the stage of an agent that may have sent `ready`, and has played this many actions.
    pub fn after(ready: bool, actions: usize) -> Self {
        match (ready, actions) {
            (false, _) => Self::Start,
            (true, 0) => Self::FirstTurn,
            (true, _) => Self::LaterTurn,
        }
    }
}

/// The time that an agent used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time.
    pub wall: Duration,
    /// CPU time of its process tree.
    pub cpu: Duration,
    /// Time that it waited for a core.
    pub waited: Duration,
    /// Whether all its processes slept in the end; false if unknown.
    pub asleep: bool,
}

impl Usage {
    /// Returns what was used since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            wall: self.wall.saturating_sub(before.wall),
            cpu: self.cpu.saturating_sub(before.cpu),
            waited: self.waited.saturating_sub(before.waited),
            ..self
        }
    }

    /// Whether it computed, or waited for a core, for a good part of the time, and until the end: a start
    /// takes long on a busy machine, and may be followed by waiting.
    fn is_busy(&self) -> bool {
        !self.asleep && (self.cpu + self.waited) * 5 > self.wall
    }
}

/// Explains a fault.
pub fn find(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let finding = find_plain(fault, known);
    // What the sandbox denied may be why it exited, or why nothing came.
    let ended = matches!(fault.kind, FaultKind::Start | FaultKind::Gone);
    let silent = fault.kind == FaultKind::Late && known.got.is_none();
    // An engine that misses a file may go on and refuse a command.
    let refused = known.foreign && fault.kind == FaultKind::Garbled;
    if let Some(advice) = known.denied.filter(|_| ended || silent || refused) {
        return finding.fix(advice);
    }
    let by_command = match finding.defect {
        Defect::Shape | Defect::Waiting | Defect::Gone => true,
        // Unless its last words say more.
        Defect::Crash => {
            finding.fix == known.usual_fix(finding.defect) || failure_line(known.stderr).is_none()
        }
        _ => false,
    };
    // Where it fails by itself at its start, the command is not the cause.
    let is_explained = fault.kind != FaultKind::Garbled && known.explains_itself(&fault.text);
    let engine = known.engine.filter(|engine| !(is_explained && engine.may_skip()));
    if let Some(fix) = engine.and_then(|engine| engine.fix(fault)) {
        if by_command {
            return finding.fix(fix);
        }
        if finding.defect == Defect::Crash {
            let fix = format!("{}; {fix}", finding.fix);
            return finding.fix(fix);
        }
    }
    match foreign_fix(finding.defect).filter(|_| known.foreign) {
        Some(fix) => finding.fix(fix),
        None if finding.fix == finding.defect.fix() => {
            let fix = known.usual_fix(finding.defect);
            finding.fix(fix)
        }
        None => finding,
    }
}

/// Returns how to fix a defect of an agent that uses the Python kit, if the kit helps.
fn kit_fix(defect: Defect) -> Option<&'static str> {
    Some(match defect {
        Defect::Illegal => "`choose` must return one of `game.actions()`",
        Defect::Resigns => {
            "return an action from `choose`: without `return` it returns None, with which the kit resigns"
        }
        Defect::Thinking => {
            "stop searching when `game.left_ms` (milliseconds) runs low; look for an endless loop"
        }
        Defect::Late => "stop earlier: keep some milliseconds of `game.left_ms` in reserve",
        _ => return None,
    })
}

/// Returns how to fix a defect of an agent that doesn't know the referee's protocol, if that differs.
fn foreign_fix(defect: Defect) -> Option<&'static str> {
    Some(match defect {
        Defect::Shape | Defect::Late | Defect::Thinking | Defect::Waiting => {
            "docs/existing-agents.md says how it learns the time that is left, and what it may answer"
        }
        Defect::SlowStart => "allow more time with --start-time",
        Defect::Limit => {
            "make its tables smaller or use fewer threads, by its own settings; or allow more with \
             `--limit`, such as `--limit memory_mb=2048`"
        }
        _ => return None,
    })
}

fn find_plain(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let plain = |defect| Finding::new(defect, fault.text.clone());
    match fault.kind {
        FaultKind::Resigned => resigned(fault, known),
        FaultKind::Start | FaultKind::Gone => gone(fault, known),
        FaultKind::Late => late(fault, known),
        FaultKind::Garbled => garbled(fault, known),
        FaultKind::Illegal => illegal(fault, known),
        FaultKind::Unasked => unasked(fault, known),
        FaultKind::Flood => plain(Defect::Flood),
        FaultKind::Memory | FaultKind::Processes => limit(fault, known),
    }
}

/// It came to its limit, at once or turn by turn.
fn limit(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let turns = History::before(known).map_or(0, |it| it.turns);
    if turns < SEVERAL {
        return Finding::new(Defect::Limit, fault.text.clone());
    }
    let what = format!("{}; it came there in {turns} turns", fault.text);
    Finding::new(Defect::Limit, what).fix(if fault.kind == FaultKind::Memory {
        "free what it keeps from turn to turn, such as a table or a list that only grows; or use less: `hello.limits` has \
         the limits"
    } else {
        "end the threads and processes that it starts in a turn before it answers, or use the same ones in every turn; \
         `hello.limits` has the limits"
    })
}

/// What needs so many turns grows from turn to turn.
const SEVERAL: u64 = 4;

/// An agent may resign, but perhaps by mistake.
fn resigned(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let how = match (known.stage, known.legal().len()) {
        (Stage::Start | Stage::FirstTurn, _) => " without having played".to_owned(),
        (Stage::LaterTurn, 0) => String::new(),
        (Stage::LaterTurn, legal) => format!(" in turn {} with {legal} legal actions", fault.turn),
    };
    Finding::new(Defect::Resigns, format!("{}{how}", fault.text))
}

/// What to do about an end without words.
const DEBUGGER: &str = "compiled with `-g -fsanitize=address`, a program in C or C++ names the line; after a match, `referee debug \
     FILE --wait` stops before the turn and prints how to attach a debugger";
/// What to do about an exception in C++ that nothing catches, whose line no sanitizer names.
const UNCAUGHT: &str = "nothing catches that exception: write `try` and `catch` around the code for a turn, and print to stderr what it \
     works on; a debugger shows where it comes from (`gdb -ex 'catch throw' -ex run`)";

/// Signals by which a program ends, and what to do.
const SIGNALS: [(&[&str], &str); 4] = [
    (&["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGTRAP"], DEBUGGER),
    (
        &["SIGFPE"],
        "a whole number is divided by 0 (or `%`), such as by a count that is 0 in the first turn: test the divisor; compiled \
         with `-g -fsanitize=undefined`, a program in C or C++ names the line",
    ),
    (
        &["SIGALRM"],
        "a timer that it has set (`alarm`, `setitimer`) ran out: handle its signal, or set it anew in each turn",
    ),
    (&["SIGPIPE"], "it wrote to a process or a pipe that had ended: find out why that ended"),
];

fn signal_fix(status: &str) -> Option<&'static str> {
    let is_it = |names: &[&str]| names.iter().any(|name| status.contains(name));
    SIGNALS.iter().find(|(names, _)| is_it(names)).map(|(_, fix)| *fix)
}

/// Whether an agent that had sent `ready` was not asked for a turn.
fn is_unasked(known: &Evidence<'_>, before: Option<&History>) -> bool {
    known.transcript.is_some()
        && !known.foreign
        && (known.game.is_none() || before.is_some_and(|before| before.turns == 0))
}

/// Returns a name in `hello` that has a blank.
fn name_with_blank(known: &Evidence<'_>) -> Option<String> {
    let (transcript, _) = known.transcript.filter(|_| !known.foreign && !known.has_kit)?;
    let reader = transcript::read(transcript).ok()?;
    reader.header.seats.into_iter().map(|seat| seat.name).find(|name| name.contains(' '))
}

/// Adds to the advice after a crash what is unusual about the request: it may not be prepared for that.
fn with_request(fix: &str, known: &Evidence<'_>) -> String {
    let before = History::before(known);
    let blank = name_with_blank(known);
    let legal = known.legal();
    let kinds: BTreeSet<&str> = legal.iter().filter_map(|action| action["type"].as_str()).collect();
    match (known.stage, kinds.first(), &before) {
        (Stage::FirstTurn, ..) if is_unasked(known, before.as_ref()) => format!(
            "it ended before its first `turn`: `hello`, of which it has answered a part, may be what it can't read{}: read whole \
             lines; {fix}",
            blank
                .map(|name| format!(", such as the blank in the name \"{name}\""))
                .unwrap_or_default()
        ),
        (Stage::FirstTurn, ..) if fix == Defect::Crash.fix() && blank.is_some() => format!(
            "`hello` has a name with a blank, \"{}\", at which it ends if it reads words instead of whole lines (`scanf(\"%s\")`): \
             read lines; else {fix}",
            blank.unwrap_or_default()
        ),
        (_, _, Some(before))
            if fix == known_errors::NOT_ASKED
                && failure_line(known.stderr).is_some_and(|line| before.has_named(&line)) =>
        {
            let played = match before.played {
                0 => String::new(),
                1 => "a `played` came before this `turn`; ".to_owned(),
                played => format!("{played} `played` came before this `turn`; "),
            };
            format!(
                "the message that it reads there is no `turn`, which would have what `ready` asks for: {played}decide by the \
                 `type` of each message what to do with it, instead of counting messages"
            )
        }
        (_, _, Some(before))
            if before.played > 0
                && may_miss_a_value(known.stderr)
                && before.has_named(known.stderr) =>
        {
            format!(
                "perhaps the message that it reads there is no `turn`, since {} `played` came before this one: look at the `type` of \
                 each message; else {fix}",
                before.played
            )
        }
        (Stage::FirstTurn, _, Some(before))
            if !known.has_kit
                && before.wants.as_ref().is_some_and(Vec::is_empty)
                && may_miss_a_value(known.stderr) =>
        {
            format!(
                "a `turn` has `actions` and `position` only if `want` in `ready` asks for them; {fix}"
            )
        }
        (Stage::FirstTurn | Stage::LaterTurn, Some(kind), Some(before))
            if kinds.len() == 1 && before.is_of_another(kind) =>
        {
            format!("here all legal actions have the type `{kind}`, such as {}; {fix}", legal[0])
        }
        // Its board may have had that action already.
        (Stage::LaterTurn, _, Some(before))
            if before.turns == 2 && !before.is_varied && fix.starts_with(last_words::CORRECT) =>
        {
            format!(
                "`played` brings its own action, too: if its board had that already, let it apply only `played`; else {fix}"
            )
        }
        _ => fix.to_owned(),
    }
}

fn gone(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let what = EndReason::in_words(&fault.text).into_owned();
    let defect = match known.status.map_or_else(|| EndReason::read(&fault.text), EndReason::Exited)
    {
        EndReason::Unready => return silent(what, &Evidence { stage: Stage::Start, ..*known }),
        EndReason::NotStarted if what.contains("--allow-read") => {
            return Finding::new(Defect::CannotStart, what)
                .fix("copy the program into the agent's folder, or grant it");
        }
        EndReason::NotStarted if what.contains("chmod") => Defect::NotExecutable,
        EndReason::NotStarted if what.contains("\\r`") => {
            return Finding::new(Defect::Interpreter, what).fix(WINDOWS_LINES);
        }
        EndReason::NotStarted if what.contains("first line") => Defect::Interpreter,
        EndReason::NotStarted => Defect::CannotStart,
        // The status of `env` and shells for a program that is missing or can't be executed.
        EndReason::Exited("exit status 126" | "exit status 127")
            if known.status.is_some() && fault.kind == FaultKind::Start =>
        {
            // The second is the last line of GNU `env` about such a script.
            if ["\\r", "\r", "use -[v]S to pass options"].iter().any(|it| known.stderr.contains(it))
            {
                return Finding::new(Defect::Interpreter, what).fix(WINDOWS_LINES);
            }
            Defect::Interpreter
        }
        EndReason::Exited("exit status 0") if fault.kind == FaultKind::Start => {
            return Finding::new(Defect::Gone, what).fix(
                "read stdin in a loop, and answer `hello` with `ready` (in Python, `if __name__ == \
                 \"__main__\":` must call it)",
            );
        }
        EndReason::Exited("exit status 0") | EndReason::Closed => Defect::Gone,
        EndReason::Exited(status) => {
            let finding = last_words::crash(what, known.stderr);
            let is_known = |it: &Finding| it.fix != Defect::Crash.fix();
            let fix = match signal_fix(status) {
                Some(fix) if !last_words::has_words(known.stderr) => fix,
                Some(_)
                    if finding.what.contains("terminate called after throwing")
                        && !is_known(&finding) =>
                {
                    UNCAUGHT
                }
                Some(fix) if !is_known(&finding) => fix,
                _ => &finding.fix,
            };
            // It has sent `ready`, though it was asked for no turn.
            let is_ready = fault.kind == FaultKind::Gone && known.stage == Stage::Start;
            let stage = if is_ready { Stage::FirstTurn } else { known.stage };
            let fix = with_request(fix, &Evidence { stage, ..*known });
            return finding.fix(fix);
        }
    };
    Finding::new(defect, what)
}

fn late(fault: &Fault, known: &Evidence<'_>) -> Finding {
    match (known.got, known.used) {
        (Some(_), Some(used)) => {
            let what =
                format!("{}; the answer came after {} ms", fault.text, used.wall.as_millis());
            Finding::new(Defect::Late, what)
        }
        (None, _) => silent(fault.text.clone(), known),
        (Some(_), None) => Finding::new(Defect::Late, fault.text.clone()),
    }
}

/// There is no answer, perhaps since a part of the agent has failed, which its stderr says.
fn silent(what: String, known: &Evidence<'_>) -> Finding {
    let finding = without_answer(what, known);
    match known_errors::known_anywhere(known.stderr) {
        Some(fix) => finding.fix(fix),
        None => finding,
    }
}

/// There is no answer: is it computing or waiting?
fn without_answer(what: String, known: &Evidence<'_>) -> Finding {
    // Beside much other work, the processes that it started wait for a core, which isn't measured.
    let is_awake = known.hang.is_some_and(|hang| hang.awake && hang.at_end.is_none());
    let is_busy = known.used.is_none_or(|used| used.is_busy());
    if !is_busy && !is_awake {
        return idle(&what, known);
    }
    let place = known.hang.and_then(|hang| hang.place.as_ref());
    let what = match place {
        Some(place) => format!("{what}; it computes in {place}"),
        None => what,
    };
    let defect = if known.stage == Stage::Start { Defect::SlowStart } else { Defect::Thinking };
    unended(&what, known).unwrap_or_else(|| Finding::new(defect, what))
}

/// There is no answer, and the agent doesn't compute one.
fn idle(what: &str, known: &Evidence<'_>) -> Finding {
    let usual = || match known.stage {
        Stage::Start => Finding::new(Defect::Waiting, what)
            .fix(format!("answer `hello` with `ready`; {}", Defect::Waiting.fix())),
        // It has flushed its earlier answers.
        Stage::LaterTurn => Finding::new(Defect::Waiting, what).fix(hang::unanswered(known)),
        Stage::FirstTurn => Finding::new(Defect::Waiting, what),
    };
    let finding = unended(what, known).or_else(|| hang::explain(what, known)).unwrap_or_else(usual);
    // What the end of its input led to is no cause.
    let fails = known.hang.is_some_and(|hang| {
        matches!(hang.at_end, Some(AtEnd::Failed(_) | AtEnd::Wrote(_) | AtEnd::Prompted(_)))
    });
    match cause_line(known.stderr).filter(|_| !fails) {
        Some(line) => {
            let fix = known_errors::known_error(&line).map_or_else(
                || {
                    format!(
                        "correct the error in its stderr, which may be why it waits; {}",
                        finding.fix
                    )
                },
                str::to_owned,
            );
            Finding { what: format!("{}; its stderr says: {line}", finding.what), ..finding }
                .fix(fix)
        }
        None if last_words::has_message(known.stderr) => finding.fix(
            "it writes its messages to stderr: write them to stdout, and only other text to stderr",
        ),
        None if last_words::has_words(known.stderr) && !fails => {
            let fix = format!("read its stderr; if that shows no error, {}", finding.fix);
            finding.fix(fix)
        }
        None => finding,
    }
}

/// Returns the beginning of a line, to show it in a sentence.
fn beginning(line: &[u8]) -> String {
    sanitize(&String::from_utf8_lossy(&line[..line.len().min(60)]))
}

/// A line has begun, but not ended.
fn unended(what: &str, known: &Evidence<'_>) -> Option<Finding> {
    let begun = known.unended.trim_ascii_start();
    if begun.is_empty() {
        return None;
    }
    let what = format!("{what}; it wrote a line without a line end: {}", beginning(begun));
    let defect = if begun[0] == b'{' { Defect::NoLineEnd } else { Defect::DebugText };
    Some(Finding::new(defect, what))
}

/// There is no answer: for a while the agent has only waited for more input.
pub fn waiting(known: &Evidence<'_>) -> Finding {
    let used = known.used.unwrap_or_default();
    let (cpu, wall) = (used.cpu.as_millis(), used.wall.as_millis());
    let what = format!("no answer after {wall} ms ({cpu} ms of CPU)");
    let finding = silent(what, known);
    let engine = known.engine.filter(|engine| !(engine.may_skip() && known.explains_itself("")));
    match engine.and_then(Engine::unanswered) {
        Some(fix) => finding.fix(fix),
        None => finding,
    }
}

fn illegal(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let finding = Finding::new(Defect::Illegal, fault.text.clone());
    if known.foreign {
        return finding.fix("compare its board with the match: `referee replay latest --print`");
    }
    let message = known.got.and_then(|line| serde_json::from_slice::<Value>(line).ok());
    let Some((message, action)) = message.as_ref().and_then(|it| Some((it, it.get("action")?)))
    else {
        return finding;
    };
    let text = &fault.text;
    let at_byte = known
        .got
        .and_then(|line| std::str::from_utf8(line).ok())
        .and_then(|line| locate(line, "action"))
        .map(|index| index + 1);
    let facts = cells::what_is_there(text, action, known);
    let what = facts.as_ref().map_or_else(|| text.clone(), |it| format!("{text}; {}", it.text));
    let finding = Finding { what, at_byte, ..finding };
    let advice = facts.as_ref().and_then(cells::Facts::advice);
    let legal = fault.legal.as_deref().unwrap_or_default();
    let of_type = |it: &&Value| {
        let mut other = action.clone();
        other["type"] = it["type"].clone();
        action.get("from").is_some() && other == **it
    };
    if let Some(meant) = legal.iter().find(of_type) {
        return finding.fix(format!("its `type` is that of another action: {meant} is legal"));
    }
    if let Some((wrong, meant)) = cells::changed(text, action, known) {
        let changed = format!("{wrong}: {meant} is legal");
        let is_elsewhere = |it: &cells::Facts| it.is_of_another() || it.has_left();
        return match advice.filter(|_| facts.as_ref().is_some_and(is_elsewhere)) {
            Some(advice) => {
                finding.fix(format!("{advice}; or, if it means another cell, {changed}"))
            }
            None => finding.fix(changed),
        };
    }
    let before = History::before(known).unwrap_or_default();
    if before.is_repeated_by(message) {
        return finding.fix(
            "this repeats its answer to the turn before: send one `action` for each `turn`, and apply each `played` to \
             your board, also your own; if it does both, compare the order of your coordinates with the rules",
        );
    }
    let near = nearest_action(action, legal)
        .map(|near| format!("the nearest of {} legal actions is {near}", legal.len()));
    let advice = cells::within(text, known).or(advice);
    let usual = if fault.legal.is_some() && legal.is_empty() {
        "the rules don't list what is legal: compare its board with `position` in the `turn`, and try an action by the \
         rules before it is sent"
    } else if before.has(Want::Actions) {
        "compare it with `actions` in the `turn`"
    } else if before.has(Want::Position) {
        "compare its board with `position` in the `turn`"
    } else {
        known.usual_fix(Defect::Illegal)
    };
    finding.fix(match (advice, near) {
        (Some(advice), Some(near)) => format!("{advice}; {near}"),
        (None, Some(near)) => format!("{near}; {usual}"),
        (advice, None) => advice.unwrap_or_else(|| usual.to_owned()),
    })
}

#[cfg(test)]
mod tests;
