//! `debug`: a turn of a recorded match once more, with a fresh process of the agent.

use super::Global;
use super::output::{print, print_json, tell};
use super::rows::Rows;
use super::sandbox::SandboxOptions;
use super::words::join;
use crate::cli::runtime::{machine, runtime};
use crate::reading::Case;
use clap::Args;
use referee_match::diagnosis::{Evidence, Finding, find};
use referee_match::transcript::{IMPORTED, sent};
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::CoreContext;
use referee_play::input_files::read_transcript;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::rerun::{LATE_ANSWER_WAIT, RerunError, RerunReport, RerunRequest, rerun};
use referee_process::Failure;
use referee_process::sandbox::Enclosure;
use referee_protocol::{ClockKind, HeaderSeat, Seat};
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use tokio::task::LocalSet;

/// Feeds a fresh process of an agent exactly the lines that it had been sent in a recorded match, up
/// to a turn, and compares its answer with the recorded one.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Exit codes: 0 it answered with a legal action, 3 it failed (again), \
    1 the transcript can't be replayed, 2 usage, 4 the machine")]
pub(super) struct Options {
    /// The transcript; `latest` is the newest in ./matches, `-` is stdin
    file: String,
    /// The agent's seat [default: the one that was at fault, or the only one]
    #[arg(long)]
    seat: Option<usize>,
    /// The turn [default: the seat's last one]
    #[arg(long)]
    turn: Option<u64>,
    /// The agent to start, instead of the one that the transcript names
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Prints the lines, to be piped into a program; starts nothing
    #[arg(long, conflicts_with_all = ["wait", "no_timeout", "json"])]
    print: bool,
    /// Says the number of the process, and waits for Enter before the last lines, so that a debugger
    /// can be attached; implies --no-timeout
    #[arg(long)]
    wait: bool,
    /// Waits for answers as long as they take
    #[arg(long)]
    no_timeout: bool,
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// A turn as `debug --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The transcript.
    file: String,
    /// The agent, as it was started.
    agent: String,
    /// The seat.
    seat: Seat,
    /// The turn; null where the seat was never asked.
    turn: Option<u64>,
    /// The lines that were sent since the turn before, the request last.
    sent: String,
    /// The lines that came; bytes that are no UTF-8 are replaced.
    got: Vec<String>,
    /// The lines that had come when the match was played.
    recorded: Vec<String>,
    /// Whether the answer was the recorded one.
    same: bool,
    /// Earlier turns in which the agent answered otherwise than it had.
    strayed: Vec<u64>,
    /// How its process ended, if it did.
    status: Option<String>,
    /// Time from the request to the answer, in milliseconds.
    wall_ms: u64,
    /// CPU time in it, in milliseconds.
    cpu_ms: u64,
    /// What is wrong with the answer; null where nothing is.
    wrong: Option<String>,
    /// How to mend it.
    fix: Option<String>,
    /// What it wrote to stderr.
    stderr: String,
}

impl Case {
    /// The agent speaks another protocol than the referee's own.
    fn is_foreign(&self) -> bool {
        self.header.seats[self.seat.index()].is_foreign()
    }

    /// What the clock allowed for the turn or the start, in milliseconds; `None` where it had no
    /// limit.
    fn allowed_ms(&self) -> Option<u64> {
        let clock = &self.header.clock;
        if self.turn.is_none() {
            return Some(clock.start_ms);
        }
        let bank = self.left_ms.or(clock.bank_ms);
        let allowed = bank.into_iter().chain(clock.move_ms).min()?;
        Some(allowed.saturating_add(clock.margin_ms))
    }

    /// Whether it is CPU time that counts: never for the start.
    fn counts_cpu(&self) -> bool {
        self.header.clock.kind == ClockKind::Cpu && self.turn.is_some()
    }

    /// What is wrong with what the agent did, if anything is.
    fn wrong(&self, told: &RerunReport) -> Option<Finding> {
        let known = Evidence {
            got: told.got.last().map(Vec::as_slice),
            unended: &told.unended,
            foreign: self.is_foreign(),
            status: told.status.as_deref(),
            stderr: &told.stderr,
            legal: &self.game.actions(),
            used: Some(told.used),
            ..Evidence::default()
        };
        find(told.fault.as_ref()?, &known)
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    if options.wait && options.file == "-" {
        return Err(Failure::usage("--wait reads stdin, which the transcript comes from")
            .help("save the transcript in a file"));
    }
    let case = options.case()?;
    if options.print {
        let bytes = sent(&case.header, case.seat, &case.events, case.turn)
            .map_err(|error| options.unplayable(&error))?;
        return print(&String::from_utf8_lossy(&bytes)).map(|()| ExitCode::SUCCESS);
    }
    let spec = options.spec(&case, global)?;
    let enclosure = options.sandbox.enclosure(global)?;
    let runtime = runtime()?;
    let local = LocalSet::new();
    let rerun = options.rerun(&case, &spec, enclosure);
    let told = match local.block_on(&runtime, rerun)? {
        Ok(told) => told,
        Err(interrupt) => return Ok(ExitCode::from(interrupt.code())),
    };
    let wrong = case.wrong(&told);
    if options.json {
        print_json(&options.told(&case, &spec, &told, wrong.as_ref()))?;
    } else {
        print(&text(&case, &spec.written, &told, wrong.as_ref()))?;
    }
    Ok(if wrong.is_some() { ExitCode::from(Failure::AGENT) } else { ExitCode::SUCCESS })
}

impl Options {
    fn unplayable(&self, text: &str) -> Failure {
        Failure::operation(format!("{}: {text}", self.file)).help("`referee verify` says more")
    }

    fn case(&self) -> Result<Case, Failure> {
        let case = Case::read(&read_transcript(&self.file)?, &self.file, self.seat, self.turn)?;
        if let (Some(wanted), Some(turn)) = (self.turn, case.turn)
            && wanted != turn
        {
            let seat = case.seat;
            tell(&format!("note: turn {wanted} is not seat {seat}'s; its turn before is {turn}"));
        }
        Ok(case)
    }

    fn spec(&self, case: &Case, global: &Global) -> Result<AgentSpec, Failure> {
        let seat = &case.header.seats[case.seat.index()];
        let name = self.agent.clone().or_else(|| named(seat)).ok_or_else(|| {
            Failure::usage(format!("the transcript doesn't say how {} is started", seat.name))
                .help("name the agent: --agent AGENT")
        })?;
        let spec = AgentSpec::read(&name).map_err(|failure| match self.agent {
            Some(_) => failure,
            None => Failure::usage(failure.to_string()).help(format!(
                "the transcript names the agent {name:?}, which is looked for here: run this \
                 where the match was run, or name it: --agent AGENT"
            )),
        })?;
        if spec.launch.is_none() {
            return Err(Failure::usage("a person played at this seat")
                .help("name an agent to put in their place: --agent AGENT"));
        }
        if spec.digest != seat.digest && self.agent.is_none() {
            global.note([format!(
                "{name} is not what it was: it has been changed since, or this is not the folder \
                 where the match was run"
            )]);
        }
        Ok(spec)
    }

    /// How long the answers to earlier turns are waited for: longer than the match did.
    fn patience(&self, case: &Case) -> Option<Duration> {
        let clock = &case.header.clock;
        let wall = case.allowed_ms().filter(|_| !self.no_timeout && !self.wait);
        let backstop = |ms: u64| clock.backstop_ms.unwrap_or(ms.saturating_mul(4));
        let wall = wall.map(|ms| if case.counts_cpu() { backstop(ms) } else { ms });
        wall.map(|ms| Duration::from_millis(ms) + LATE_ANSWER_WAIT)
    }

    async fn rerun(
        &self,
        case: &Case,
        spec: &AgentSpec,
        enclosure: Enclosure,
    ) -> Result<Result<RerunReport, Interrupt>, Failure> {
        let machine = machine("it can't be run");
        let mut interrupts = Interrupts::listen().map_err(&machine)?;
        let wanted = RerunRequest {
            header: &case.header,
            events: &case.events,
            seat: case.seat,
            turn: case.turn,
            patience: self.patience(case),
        };
        let table = CoreContext::alone(enclosure).map_err(&machine)?;
        let wait = self.wait;
        let pause = async move |process| if wait { wait_for_enter(process).await } else { Ok(()) };
        tokio::select! {
            told = rerun(&wanted, spec, &table, pause) => match told {
                Ok(told) => Ok(Ok(told)),
                Err(RerunError::Transcript(text)) => Err(self.unplayable(&text)),
                Err(RerunError::Machine(error)) => Err(machine(error)),
            },
            () = interrupts.next() => Ok(Err(interrupts.received().unwrap_or(Interrupt::Int))),
        }
    }

    fn told(
        &self,
        case: &Case,
        spec: &AgentSpec,
        told: &RerunReport,
        wrong: Option<&Finding>,
    ) -> Told {
        let lines = |lines: &[Vec<u8>]| {
            lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
        };
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Told {
            file: self.file.clone(),
            agent: spec.written.clone(),
            seat: case.seat,
            turn: case.turn,
            sent: told.sent.clone(),
            got: lines(&told.got),
            recorded: lines(&told.recorded),
            same: told.same,
            strayed: told.strayed.clone(),
            status: told.status.clone(),
            wall_ms: ms(told.used.wall),
            cpu_ms: ms(told.used.cpu),
            wrong: wrong.map(|finding| finding.what.clone()),
            fix: wrong.map(|finding| finding.fix.clone()),
            stderr: told.stderr.clone(),
        }
    }
}

/// The agent as the header names it, or what was started, where it was an ordinary command.
fn named(seat: &HeaderSeat) -> Option<String> {
    if let Some(agent) = &seat.agent {
        return Some(agent.clone());
    }
    let words: Vec<&str> = seat.command.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | [IMPORTED, ..] => None,
        ["referee", "agent", name] => Some(format!("@{name}")),
        _ => Some(join(&seat.command)),
    }
}

/// Waits until somebody has attached a debugger, or has changed their mind.
async fn wait_for_enter(process: i32) -> io::Result<()> {
    tell(&format!(
        "process {process} waits for the request; attach a debugger to it, then press Enter"
    ));
    let (done, waiting) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let read = io::stdin().read_line(&mut String::new());
        // Nobody waits any more where the run has been interrupted.
        done.send(read).ok();
    });
    waiting.await.map_err(io::Error::other)?.map(|_| ())
}

fn text(case: &Case, agent: &str, told: &RerunReport, wrong: Option<&Finding>) -> String {
    let mut rows = Rows::new(0, 9);
    let turn = case.turn.map_or("its start".to_owned(), |turn| format!("turn {turn}"));
    rows.words("debug", &format!("{agent} at seat {} in {turn}", case.seat));
    if let Some(first) = told.strayed.first() {
        let count = told.strayed.len();
        let turns = if count == 1 { "turn" } else { "turns, the first of them" };
        rows.words(
            "note",
            &format!("it answered otherwise than it had in {count} {turns} {first}"),
        );
    }
    for line in told.sent.lines() {
        rows.line("sent", line.as_bytes(), None);
    }
    let at_byte = wrong.and_then(|finding| finding.at_byte);
    let count = told.got.len();
    for (index, line) in told.got.iter().enumerate() {
        rows.line("got", line, at_byte.filter(|_| index + 1 == count));
    }
    if told.got.is_empty() {
        rows.words("got", "nothing");
    }
    if let Some(ended) = told.status.as_deref().or(told.closed) {
        rows.words("ended", ended);
    }
    let (wall, cpu) = (told.used.wall.as_millis(), told.used.cpu.as_millis());
    rows.words("time", &format!("{wall} ms, {cpu} ms of it on a core"));
    if told.same {
        rows.words("recorded", "the same");
    } else if told.recorded.is_empty() {
        rows.words("recorded", "nothing");
    } else {
        for line in &told.recorded {
            rows.line("recorded", line, None);
        }
    }
    match wrong {
        Some(finding) => {
            rows.words("wrong", &finding.what);
            rows.words("fix", &finding.fix);
        }
        None => rows.words("legal", "yes"),
    }
    rows.finish()
}
