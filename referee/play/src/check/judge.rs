//! Judges the trial of a probe.

use super::probes::{Aim, Probe};
use super::trial::{End, TrialReport};
use crate::agent_spec::{self, AgentSpec, first_line, has_kit};
use crate::destination::DEFAULT_FOLDER;
use crate::drive::GRACE;
use crate::sources::{after_building, newer_source};
use nix::errno::Errno;
use referee_games::Games;
use referee_match::diagnosis::{
    Defect, Engine, Evidence, Finding, IllegalAction, Stage, WINDOWS_LINES, failure_line, find,
    still_running, waiting, without_notices,
};
use referee_process::{Cause, Failure};
use referee_protocol::{ClockKind, ClockSettings, FaultKind};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Memory that grows by less in half a game is no concern.
const GROWTH_KB: u64 = 16 << 10;
/// A clock that lasts for fewer turns ends before many games.
const FEW_TURNS: u128 = 40;
/// The command in advice that shows the match.
const LATEST: &str = "referee replay latest";

/// Why a probe of a position does not apply.
pub(super) const NO_POSITIONS: &str = "needs `setup.position`, which the agent does not play from";
/// Why a probe of another game does not apply to an agent that fails in its first game.
const NOT_REACHED: &str = "it fails in the game before";
/// Why a probe that needs the others' actions does not apply.
const STUCK: &str = "the rules don't list actions, and none was found for the others: record a game in the game's folder `games`";
/// The same for one that plays a single game.
const NOT_AGAIN: &str = "it doesn't offer `again` in `ready`";

/// The outcome of a probe.
#[derive(Debug)]
pub enum ProbeOutcome {
    /// As expected, perhaps with a note.
    Passed(Option<String>),
    /// Not as expected.
    Failed(Box<ProbeFailure>),
    /// Not run, because a probe before it failed that it needs.
    Skipped,
    /// The machine was too busy to judge the agent. As in a match, which is void then, that isn't its fault.
    Unjudged,
    /// Not run, for this reason.
    NotApplicable(&'static str),
}

/// Why a probe failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProbeFailure {
    /// The kind of defect.
    pub defect: Defect,
    /// What happened.
    pub what: String,
    /// The last message that was sent.
    pub sent: String,
    /// The last line received; bytes that are not UTF-8 are replaced. Null if none.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "Option<String>")]
    pub got: Option<Vec<u8>>,
    /// The position of the error in that line, in bytes from 1.
    pub at_byte: Option<usize>,
    /// What the agent wrote to stderr.
    pub stderr: String,
    /// Why it matters.
    pub why: &'static str,
    /// How to fix it.
    pub fix: String,
    /// The transcript that `fix` names; null if it names none.
    pub transcript: Option<String>,
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn as_text<S: Serializer>(line: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    line.as_deref().map(String::from_utf8_lossy).serialize(serializer)
}

impl ProbeOutcome {
    /// Whether it is a failure.
    pub fn failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// Returns the outcome if the agent can't be read.
pub fn unreadable(failure: &Failure) -> ProbeOutcome {
    let missing = failure.cause() == Some(Cause::Missing);
    let defect = if missing { Defect::NotFound } else { Defect::CannotStart };
    let finding = Finding::new(defect, failure.to_string());
    let finding = match (failure.help_text(), failure.cause()) {
        (Some(help), _) => finding.fix(help),
        (None, Some(Cause::Manifest)) => finding.fix("fix agent.toml there"),
        (None, Some(_)) => finding,
        (None, None) => finding.fix("correct that, and check it again"),
    };
    failed(finding, defect.why(), "", None, "")
}

fn failed(
    finding: Finding,
    why: &'static str,
    sent: &str,
    got: Option<&[u8]>,
    stderr: &str,
) -> ProbeOutcome {
    let Finding { defect, what, fix, at_byte } = finding;
    let (sent, got, stderr) = (sent.to_owned(), got.map(<[u8]>::to_vec), stderr.to_owned());
    ProbeOutcome::Failed(Box::new(ProbeFailure {
        defect,
        what,
        sent,
        got,
        at_byte,
        stderr,
        why,
        fix,
        transcript: None,
    }))
}

/// Writes the transcript if the advice is to look at it.
fn show_transcript(
    probe: &Probe,
    trial: &TrialReport,
    failure: &mut ProbeFailure,
) -> io::Result<()> {
    if !failure.fix.contains(LATEST) {
        return Ok(());
    }
    std::fs::create_dir_all(DEFAULT_FOLDER)?;
    let path = format!("{DEFAULT_FOLDER}/check-{}.jsonl", probe.name.replace(':', "-"));
    std::fs::write(&path, &trial.transcript)?;
    failure.fix = failure.fix.replace(LATEST, &format!("referee replay {path}"));
    failure.transcript = Some(path);
    Ok(())
}

/// Judges a trial. `denied` is the advice if the sandbox denied the agent something, and `illegal` are its illegal actions
/// in other trials. Errors are the machine's.
pub(super) fn judge(
    probe: &Probe,
    spec: &AgentSpec,
    trial: &TrialReport,
    clock: &ClockSettings,
    denied: Option<&str>,
    illegal: &[IllegalAction],
) -> io::Result<ProbeOutcome> {
    let games = Games::of([probe.kind]);
    let stderr = without_notices(&trial.stderr);
    let known = Evidence {
        got: trial.got.as_deref(),
        unended: &trial.unended,
        foreign: spec.is_foreign(),
        engine: Engine::of(spec.protocol.as_ref(), probe.kind, &trial.sent),
        has_kit: has_kit(&spec.written),
        status: trial.status.as_deref(),
        stderr: &stderr,
        denied,
        game: trial.game.as_deref(),
        used: Some(trial.used),
        stage: Stage::after(trial.ready, trial.actions.len()),
        illegal,
        hang: trial.hang.as_ref(),
        transcript: Some((&trial.transcript, &games)),
    };
    let found = match &trial.end {
        // Its first game is that of another probe.
        end if trial.is_before && !matches!(end, End::NotOffered | End::NotWaiting(_)) => {
            return Ok(ProbeOutcome::NotApplicable(NOT_REACHED));
        }
        End::NotStarted(errno) => Some(not_started(spec, *errno)?),
        End::Silent => Some(waiting(&known)),
        // An agent that resigns before it has played has probably no action to send by mistake.
        End::Fault(fault) if fault.kind == FaultKind::Resigned => {
            let is_first = matches!(probe.aim, Aim::FirstTurn | Aim::Turns);
            let finding = Some(find(fault, &known));
            finding.filter(|_| is_first && trial.actions.is_empty())
        }
        End::Fault(fault) => Some(find(fault, &known)),
        End::NotOffered => return Ok(ProbeOutcome::NotApplicable(NOT_AGAIN)),
        End::NotWaiting(did) => Some(not_waiting(did, &known)),
        End::Fine | End::Stuck => None,
    };
    let found = found.map(|finding| hint_build(spec, trial, finding)).map(|finding| {
        let fix = after_building(spec, &finding.fix);
        finding.fix(fix)
    });
    let found = match probe.aim {
        Aim::Start => found.filter(|finding| {
            matches!(trial.end, End::NotStarted(_)) || finding.defect == Defect::CannotStart
        }),
        Aim::Ready => found.filter(|_| !trial.ready),
        Aim::Over | Aim::EndOfInput => found.or_else(|| stays(probe, trial, &known)),
        Aim::Leftovers => found.or_else(|| leftovers(trial)),
        _ => found,
    };
    if found.is_none() && trial.end == End::Stuck && trial.actions.len() < probe.turns_needed() {
        return Ok(ProbeOutcome::NotApplicable(STUCK));
    }
    let Some(finding) = found else {
        let resigned = trial.resignation().map(|fault| find(fault, &known).what);
        let note = note(probe, spec, trial, clock);
        let notes: Vec<String> = resigned.into_iter().chain(note).collect();
        return Ok(ProbeOutcome::Passed(Some(notes.join("; ")).filter(|notes| !notes.is_empty())));
    };
    let why = why(probe, finding.defect);
    let (sent, got) = (&trial.sent, trial.got.as_deref());
    // What it does in other situations, too, doesn't come from this one.
    let is_special = finding.defect != Defect::Illegal || illegal.is_empty();
    let finding = if is_special { advise(probe, finding) } else { finding };
    let mut outcome = failed(finding, why, sent, got, &stderr);
    if let ProbeOutcome::Failed(failure) = &mut outcome {
        show_transcript(probe, trial, failure)?;
    }
    Ok(outcome)
}

/// It offered to play another game and didn't wait for it.
fn not_waiting(did: &str, known: &Evidence<'_>) -> Finding {
    let defect = if did == "exited" { Defect::Gone } else { Defect::Unasked };
    let what = match known.status {
        Some(status) if did == "exited" => format!("exited after `over` ({status})"),
        _ => format!("{did} after `over`"),
    };
    Finding::new(defect, what)
}

/// Returns why the failure matters: by what the probe tests, else by the defect.
fn why(probe: &Probe, defect: Defect) -> &'static str {
    match probe.aim {
        _ if defect == Defect::Illegal => defect.why(),
        Aim::UnknownFields | Aim::UnknownTypes => {
            "later versions of the protocol add fields and messages; an agent that fails on unknown ones \
             will lose then"
        }
        Aim::Names => "opponents may have names in any alphabet",
        Aim::OtherClock => "contests choose their clock: `left_ms` is null without a bank",
        Aim::Again => {
            "with `\"again\":true` in `ready` it offers to play another game, which a contest may use"
        }
        Aim::Situation | Aim::Retired | Aim::RetiredAtStart
            if matches!(defect, Defect::Crash | Defect::Gone | Defect::Waiting) =>
        {
            "matches get into this situation, and an agent that doesn't answer in it loses"
        }
        _ => defect.why(),
    }
}

fn advise(probe: &Probe, finding: Finding) -> Finding {
    match probe.aim {
        // An illegal action has nothing to do with what is unusual about the messages.
        Aim::UnknownFields | Aim::UnknownTypes | Aim::Names | Aim::OtherClock
            if finding.defect == Defect::Illegal =>
        {
            finding
        }
        Aim::UnknownFields if finding.defect == Defect::BrokenJson => finding.fix(
            "read whole lines: a new field has made them longer, so that they may be cut where a buffer ends (a line may have \
             1 MiB); and ignore fields that you don't know",
        ),
        Aim::UnknownFields => finding.fix("read the fields that you need and ignore all others"),
        Aim::UnknownTypes => {
            finding.fix("answer `hello` and `turn`; ignore lines of any other `type`")
        }
        Aim::Names => finding.fix(
            "read stdin as UTF-8 in every locale (Python: \
             `sys.stdin.reconfigure(encoding=\"utf-8\")`), and parse lines with a JSON library",
        ),
        Aim::OtherClock => {
            let fix = format!(
                "expect null in `left_ms` of `turn` and `bank_ms` of `clock` if there is no bank, and in `move_ms` \
                 if a turn has no limit; {}",
                finding.fix
            );
            finding.fix(fix)
        }
        Aim::Again => finding.fix(
            "when the next `hello` comes, begin anew: forget the board, the seat and the turn of the game \
             before; or send `ready` without `again`",
        ),
        Aim::Retired | Aim::RetiredAtStart if depends_on_others(finding.defect) => {
            let fix = format!(
                "after `retired`, skip all turns of that seat but count them; its pieces stay on the \
                 board; {}",
                finding.fix
            );
            finding.fix(fix)
        }
        Aim::Situation if probe.condition().is_none() && !is_of_resources(finding.defect) => {
            let fix = format!(
                "{}; the setup is {}: if it never plays with that, give its own with --setup",
                finding.fix, probe.setup
            );
            finding.fix(fix)
        }
        _ => finding,
    }
}

/// Whether a defect may come from a wrong view of what the others do.
fn depends_on_others(defect: Defect) -> bool {
    matches!(
        defect,
        Defect::Illegal | Defect::Unasked | Defect::Waiting | Defect::Crash | Defect::Gone
    )
}

/// Whether a defect is one of time or memory, for which the setup doesn't matter.
fn is_of_resources(defect: Defect) -> bool {
    matches!(
        defect,
        Defect::Limit | Defect::Late | Defect::Thinking | Defect::SlowStart | Defect::Waiting
    )
}

/// Adds the build command to the fix if the program ended before `ready`: it may not be built.
fn hint_build(spec: &AgentSpec, trial: &TrialReport, finding: Finding) -> Finding {
    let ended = matches!(finding.defect, Defect::Crash | Defect::Gone);
    match &spec.build {
        Some(build) if ended && !trial.ready => {
            let fix =
                format!("if it isn't built yet, build it: {build}; otherwise {}", finding.fix);
            finding.fix(fix)
        }
        _ => finding,
    }
}

fn stays(probe: &Probe, trial: &TrialReport, known: &Evidence<'_>) -> Option<Finding> {
    let exit = trial.exit.as_ref()?;
    let after =
        if probe.aim == Aim::Over { "`over` and the end of its input" } else { "its input ended" };
    (!exit.exited).then(|| {
        let time = match exit.took.as_secs() {
            ..=1 => "a second".to_owned(),
            seconds => format!("{seconds} seconds"),
        };
        still_running(&format!("still running {time} after {after}"), known)
    })
}

fn leftovers(trial: &TrialReport) -> Option<Finding> {
    let exit = trial.exit.as_ref()?;
    let left = exit.left_behind;
    // If the agent itself is still running, that has been reported.
    (exit.exited && left > 0).then(|| {
        let processes = if left == 1 { "1 process" } else { &format!("{left} processes") };
        Finding::new(Defect::LeavesProcesses, format!("{processes} left after it ended"))
    })
}

/// Returns a note on a probe that passed.
fn note(
    probe: &Probe,
    spec: &AgentSpec,
    trial: &TrialReport,
    clock: &ClockSettings,
) -> Option<String> {
    match probe.aim {
        Aim::Start => newer_source(spec).map(|newer| format!("{newer}: build it again")),
        Aim::Turns => Some(pace(trial, clock, FEW_TURNS)).filter(|pace| !pace.is_empty()),
        Aim::Seat => {
            let kind = if clock.kind == ClockKind::Cpu { " of CPU time" } else { "" };
            Some(format!("slowest turn {} ms{kind}", trial.slowest.as_millis()))
        }
        Aim::LongGame => {
            let growth = growth(&trial.memory_kb).unwrap_or_default();
            let stopped = if trial.over || trial.resignation().is_some() {
                String::new()
            } else if trial.end == End::Stuck {
                ", until no legal action was found for the others".to_owned()
            } else {
                let pace = pace(trial, clock, u128::MAX);
                let pace = if pace.is_empty() { pace } else { format!("; {pace}") };
                format!(" in 30 s, then stopped{pace}")
            };
            Some(format!("{} turns{stopped}{growth}", trial.turns))
        }
        Aim::Over | Aim::EndOfInput => {
            let mut notes = Vec::new();
            if let Some(status) =
                trial.status.as_deref().filter(|status| *status != "exit status 0")
            {
                let cause = failure_line(&trial.stderr).map(|line| format!(": {line}"));
                notes.push(format!("exited with {status}{}", cause.unwrap_or_default()));
            }
            let took = trial.exit.as_ref()?.took;
            if probe.aim == Aim::Over && took > GRACE {
                let took = took.as_secs_f64();
                notes.push(format!("exited after {took:.1} s; a match kills it after 1 s"));
            }
            (!notes.is_empty()).then(|| notes.join("; "))
        }
        _ => None,
    }
}

/// Says that memory grows until the end of a game, by much. `memory_kb` is the peak after each turn.
fn growth(memory_kb: &[u64]) -> Option<String> {
    let (last, middle) = (*memory_kb.last()?, memory_kb[memory_kb.len() / 2]);
    let (first, second) = (middle.saturating_sub(memory_kb[0]), last.saturating_sub(middle));
    let turns = (memory_kb.len() - memory_kb.len() / 2) as u64;
    (second > GROWTH_KB && second * 2 > first).then(|| {
        format!("; its memory still grows, by {} KiB a turn to {} MiB", second / turns, last >> 10)
    })
}

/// Returns how long the bank lasts at the pace of a game, if that is for fewer turns than `most`.
fn pace(trial: &TrialReport, clock: &ClockSettings, most: u128) -> String {
    let turns = u64::try_from(trial.actions.len()).unwrap_or(u64::MAX).max(1);
    let each_ms = trial.total.as_millis() / u128::from(turns);
    let increment_ms = u128::from(clock.increment_ms);
    let bank_ms = clock.bank_ms.filter(|_| each_ms > increment_ms);
    let lasts = bank_ms.map(|bank_ms| u128::from(bank_ms) / (each_ms - increment_ms));
    match lasts.filter(|&lasts| lasts < most) {
        Some(lasts) => {
            format!(
                "at this pace, {each_ms} ms a turn, its clock lasts for {lasts} turns: think less if little is left"
            )
        }
        None => String::new(),
    }
}

/// Returns why a program could not be started. Errors are the machine's.
fn not_started(spec: &AgentSpec, errno: Errno) -> io::Result<Finding> {
    let file = spec.launch.as_ref().map(|launch| launch.file.clone()).unwrap_or_default();
    let shown = file.display();
    Ok(match errno {
        Errno::ENOMEM | Errno::EAGAIN | Errno::ENFILE | Errno::EMFILE | Errno::EIO => {
            return Err(errno.into());
        }
        Errno::EACCES if !is_executable(&file) => {
            let executable = format!("make it executable: chmod +x {}", quoted(&file));
            let known = agent_spec::interpreter(&file).filter(|_| first_line(&file).is_none());
            let fix = match known {
                Some((_, known)) => format!(
                    "start it by its interpreter: \"{known} {}\"; or give it a first line such as `#!/usr/bin/env \
                     {known}`, and {executable}",
                    file.file_name().unwrap_or_default().display()
                ),
                None => executable,
            };
            Finding::new(Defect::NotExecutable, format!("{shown} is not executable")).fix(fix)
        }
        Errno::ENOENT | Errno::EACCES => match first_line(&file) {
            Some(line) => {
                let text = format!(
                    "cannot execute the interpreter in the first line of {shown}, `{line}`"
                );
                let finding = Finding::new(Defect::Interpreter, text);
                if line.ends_with("\\r") { finding.fix(WINDOWS_LINES) } else { finding }
            }
            None => Finding::new(
                Defect::Interpreter,
                format!("{shown} needs a loader or library that is not installed"),
            )
            .fix("build it on this machine, or name its interpreter: \"INTERPRETER FILE\""),
        },
        Errno::ENOEXEC => Finding::new(
            Defect::Interpreter,
            format!("{shown} is neither a binary for this machine nor a script with a #! line"),
        ),
        errno => {
            Finding::new(Defect::CannotStart, format!("cannot start {shown}: {}", errno.desc()))
        }
    })
}

/// Returns a path as it is typed in a shell.
fn quoted(file: &Path) -> String {
    let file = file.to_string_lossy();
    shlex::try_quote(&file).map_or_else(|_| file.to_string(), |quoted| quoted.to_string())
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
