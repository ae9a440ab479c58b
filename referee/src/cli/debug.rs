//! `debug`: replays a recorded turn to a new process of the agent.

use super::exit;
use super::global::Global;
use super::output::{eprint_line, print, print_exact, print_json};
use super::rows::Rows;
use super::sandbox::SandboxOptions;
use super::shell::join;
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use referee_contest::wording::count;
use referee_games::Games;
use referee_match::diagnosis::Finding;
use referee_match::transcript::{IMPORTED, sent};
use referee_play::adapted::is_strict;
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::CoreContext;
use referee_play::input_files::read_transcript;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::reach::not_granted;
use referee_play::recorded_turn::{RecordedTurn, TurnReport};
use referee_play::rerun::{RerunError, RerunReport, RerunRequest, rerun};
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_protocol::HeaderSeat;
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use tokio::task::LocalSet;

/// Replay a recorded turn to the agent and compare its answer
///
/// Starts the agent, sends it the recorded lines up to the turn, and judges its answer as the match did.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_long_help = "Exit codes: 0 legal answer, 1 the transcript cannot be replayed, 2 usage error, \
    3 agent fault, 4 machine failure\n\nExamples:\n  \
    referee debug latest\n  \
    referee debug matches/x.jsonl --seat 1 --turn 7 --agent './mybot --verbose'"
)]
pub(super) struct Options {
    /// Transcript; `latest` is the newest in ./matches, - is stdin
    file: String,
    /// Seat of the agent, from 0, or its name. Defaults to the seat that moved in the turn given, else the
    /// seat at fault, else the only one
    #[arg(long)]
    seat: Option<String>,
    /// Turn to replay, from 0. Defaults to the seat's last turn
    #[arg(long)]
    turn: Option<u64>,
    /// Agent to start. Defaults to the one named in the transcript if that is built in, or a folder here with
    /// the files that played
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Print the recorded lines, to pipe them into a program, and start nothing
    #[arg(long, conflicts_with_all = ["wait", "no_timeout", "json"])]
    print: bool,
    /// Print the process ID and wait for Enter before the last lines, to attach a debugger; implies
    /// --no-timeout
    #[arg(long)]
    wait: bool,
    /// Wait for answers without a time limit
    #[arg(long)]
    no_timeout: bool,
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A turn, as `debug --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DebugReport {
    /// The transcript.
    file: String,
    #[serde(flatten)]
    report: TurnReport,
}

/// How many times as much as usual an agent may use because a transcript, which may come from anyone, says so.
const LIMITS_FACTOR: u64 = 4;

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    if options.wait && options.file == "-" {
        return Err(Failure::usage("--wait can't be used with a transcript on stdin")
            .help("save the transcript to a file first"));
    }
    let games = global.games(Path::new(&options.file))?;
    let mut case = options.case(&games)?;
    if options.print {
        let bytes = sent(&case.header, &games, case.seat, &case.events, case.turn)
            .map_err(|error| options.unplayable(&error))?;
        return print_exact(&String::from_utf8_lossy(&bytes)).map(|()| ExitCode::SUCCESS);
    }
    case.header.limits.check().map_err(|error| {
        Failure::operation(format!("{}: line 1: limits: {error}", options.file))
    })?;
    let limits = case.header.limits.bounded(LIMITS_FACTOR);
    if limits != case.header.limits {
        global.note([format!(
            "the transcript's limits are more than {LIMITS_FACTOR} times the usual ones, which the agent gets"
        )]);
        case.header.limits = limits;
    }
    let spec = options.spec(&case)?;
    let sandbox = options.sandbox.choose(global)?;
    global.note(not_granted(&spec, &sandbox));
    let runtime = runtime()?;
    let local = LocalSet::new();
    let rerun = options.rerun(&case, &games, &spec, sandbox);
    let report = match local.block_on(&runtime, rerun)? {
        Ok(report) => report,
        Err(interrupt) => return Ok(ExitCode::from(interrupt.code())),
    };
    let wrong = case.wrong(&spec, &report);
    global.note(case.note(&spec, &report));
    if options.json {
        let file = options.file.clone();
        let report = TurnReport::new(&case, &spec, &report, wrong.as_ref());
        print_json(&DebugReport { file, report })?;
    } else {
        print(&text(&case, &spec.written, &report, wrong.as_ref()))?;
    }
    Ok(exit::success_or(exit::AGENT, wrong.is_none()))
}

impl Options {
    fn unplayable(&self, text: &str) -> Failure {
        Failure::operation(format!("{}: {text}", self.file)).help("`referee verify` explains it")
    }

    fn case(&self, games: &Games) -> Result<RecordedTurn, Failure> {
        let bytes = read_transcript(&self.file)?;
        let case = RecordedTurn::read(&bytes, games, &self.file, self.seat.as_deref(), self.turn)?;
        if let Some(wanted) = self.turn.filter(|_| self.turn != case.turn) {
            let seat = case.seat;
            let shown = case.turn.map_or("its start".to_owned(), |turn| format!("turn {turn}"));
            eprint_line(&format!(
                "note: seat {seat} did not move in turn {wanted}; showing {shown}"
            ));
        }
        Ok(case)
    }

    fn spec(&self, case: &RecordedTurn) -> Result<AgentSpec, Failure> {
        let seat = &case.header.seats[case.seat.index()];
        let mut spec = match &self.agent {
            Some(agent) => AgentSpec::read(agent)?,
            None => recorded(seat)?,
        };
        if is_strict(seat) {
            spec.be_strict();
        }
        if spec.launch.is_none() {
            return Err(Failure::usage("a person played at this seat")
                .help("name an agent to play instead with --agent AGENT"));
        }
        Ok(spec)
    }

    async fn rerun(
        &self,
        case: &RecordedTurn,
        games: &Games,
        spec: &AgentSpec,
        sandbox: Sandbox,
    ) -> Result<Result<RerunReport, Interrupt>, Failure> {
        let machine = machine("cannot run the agent");
        let mut interrupts = Interrupts::listen().map_err(&machine)?;
        let wanted = RerunRequest {
            header: &case.header,
            games,
            events: &case.events,
            seat: case.seat,
            turn: case.turn,
            is_patient: self.no_timeout || self.wait,
        };
        let core = CoreContext::alone(sandbox).map_err(&machine)?;
        let wait = self.wait;
        let pause = async move |process| if wait { wait_for_enter(process).await } else { Ok(()) };
        tokio::select! {
            report = rerun(&wanted, spec, &core, pause) => match report {
                Ok(report) => Ok(Ok(report)),
                Err(RerunError::Transcript(text)) => Err(self.unplayable(&text)),
                Err(RerunError::Machine(error)) => Err(machine(error)),
            },
            () = interrupts.next() => Ok(Err(interrupts.received().unwrap_or(Interrupt::Int))),
        }
    }
}

/// Reads the agent of a seat, unless only the user can name it.
fn recorded(seat: &HeaderSeat) -> Result<AgentSpec, Failure> {
    let name = named(seat).ok_or_else(|| {
        Failure::usage(format!("the transcript doesn't contain the command of {}", seat.name))
            .help("name the agent with --agent AGENT")
    })?;
    let here = std::env::current_dir().map_err(|error| Failure::operation(error.to_string()))?;
    AgentSpec::recorded(&name, &seat.digest, &here).map_err(|failure| {
        Failure::usage(failure.to_string()).help(format!(
            "run this in the folder where the match was run or, if you trust the agent, add {}",
            join(&["--agent", &name])
        ))
    })
}

/// Returns the agent as the header names it, else the command that was started.
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

/// Waits for Enter, so that a debugger can be attached.
async fn wait_for_enter(process: i32) -> io::Result<()> {
    eprint_line(&format!(
        "process {process} is waiting for the request; attach a debugger (`gdb -p {process}`, then \
         `continue`), then press Enter"
    ));
    let (done, waiting) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let read = io::stdin().read_line(&mut String::new());
        // After an interrupt, the receiver is gone.
        done.send(read).ok();
    });
    waiting.await.map_err(io::Error::other)?.map(|_| ())
}

fn text(case: &RecordedTurn, agent: &str, report: &RerunReport, wrong: Option<&Finding>) -> String {
    let mut rows = Rows::new(0, 9);
    let turn = case.turn.map_or("its start".to_owned(), |turn| format!("turn {turn}"));
    rows.wrapped("debug", &format!("{agent} at seat {} in {turn}", case.seat));
    if let Some(first) = report.strayed.first() {
        let note = match report.strayed.len() - 1 {
            0 => format!("its answer in turn {first} differs from the recording"),
            more => {
                let more = count(more as u64, "later turn");
                format!("its answers in turn {first} and {more} differ from the recording")
            }
        };
        rows.wrapped("note", &note);
    }
    for line in report.sent.lines() {
        rows.line("sent", line.as_bytes(), None);
    }
    let at_byte = wrong.and_then(|finding| finding.at_byte);
    let lines = report.got.len();
    for (index, line) in report.got.iter().enumerate() {
        rows.line("got", line, at_byte.filter(|_| index + 1 == lines));
    }
    if report.got.is_empty() {
        rows.wrapped("got", "nothing");
    }
    if let Some(ended) = report.status.as_deref().or(report.closed) {
        rows.wrapped("ended", ended);
    }
    let (wall, cpu) = (report.used.wall.as_millis(), report.used.cpu.as_millis());
    rows.wrapped("time", &format!("{wall} ms ({cpu} ms of CPU)"));
    if report.same {
        rows.wrapped("recorded", "the same");
    } else if report.recorded.is_empty() {
        rows.wrapped("recorded", "nothing");
    } else {
        for line in &report.recorded {
            rows.line("recorded", line, None);
        }
    }
    match wrong {
        Some(finding) => {
            rows.wrapped("wrong", &finding.what);
            rows.wrapped("fix", &finding.fix);
        }
        None => rows.wrapped("legal", "yes"),
    }
    rows.finish()
}
