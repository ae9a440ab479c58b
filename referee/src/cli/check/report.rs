//! The report of `check`: a line per probe, and an explanation of each failure.

use super::judge::{ProbeFailure, ProbeOutcome};
use super::probes::Probe;
use super::{Options, Shown};
use crate::cli::global::Global;
use crate::cli::output::{print_if_read, to_json};
use crate::cli::rows::Rows;
use crate::cli::shell::{join, option};
use referee_games::GameKind;
use referee_play::agent_spec::AgentSpec;
use referee_play::reach::requested;
use referee_process::Failure;
use referee_protocol::Seat;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// Why a probe does not apply.
const NO_POSITIONS: &str = "needs `setup.position`, which the agent does not play from";

/// The number of lines of stderr to show.
const STDERR_LINES: usize = 12;

/// A check, as `check --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    /// The agent, as given.
    pub(super) agent: String,
    /// Its name; null if it can't be read.
    pub(in crate::cli) name: Option<String>,
    /// SHA-256 of the agent, in hex; null if it can't be read.
    digest: Option<String>,
    /// The games that it was checked in.
    games: Vec<String>,
    /// What it asks to read outside of its folder, and whether that is granted.
    requests: Vec<String>,
    /// Whether all probes that were run passed.
    pub(in crate::cli) ok: bool,
    /// Whether the same seed gave the same actions twice; null if not known.
    pub(super) deterministic: Option<bool>,
    /// The probes, in order.
    pub(super) probes: Vec<ProbeReport>,
}

impl CheckReport {
    /// Returns the name to show.
    pub(super) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.agent)
    }

    /// Adds the probes of the same agent in another game.
    pub(super) fn append(&mut self, more: Self) {
        let before = self.probes.len();
        self.games.extend(more.games);
        self.ok &= more.ok;
        self.deterministic = match (self.deterministic, more.deterministic) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        let numbered = |probe: ProbeReport| ProbeReport { number: before + probe.number, ..probe };
        self.probes.extend(more.probes.into_iter().map(numbered));
    }

    /// Returns the result on one line: the counts, and the first probe that failed.
    pub(in crate::cli) fn line(&self) -> String {
        let failed = self.probes.iter().find_map(|probe| Some((probe, probe.failure.as_ref()?)));
        match failed {
            None => format!("ok      {}", self.counts()),
            Some((probe, failure)) => {
                let what = failure.what.lines().next().unwrap_or_default();
                format!("FAILED  {}: {what} ({})", probe.name, self.counts())
            }
        }
    }

    pub(super) fn counts(&self) -> String {
        let count = |status| self.probes.iter().filter(|it| it.status == status).count();
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let skipped = count(Status::Skipped);
        let mut text = format!("{passed} passed, {failed} failed");
        if skipped > 0 {
            write!(text, ", {skipped} skipped: they need a probe that failed").ok();
        }
        text
    }
}

/// One probe in [`CheckReport`].
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProbeReport {
    /// Its place in the list, from 1.
    pub(super) number: usize,
    /// Its name on the command line.
    pub(super) name: String,
    /// What is expected.
    pub(super) title: String,
    /// The game.
    game: String,
    /// The agent's seat.
    seat: Seat,
    /// Its outcome.
    pub(super) status: Status,
    /// A note on a probe that passed or doesn't apply.
    pub(super) note: Option<String>,
    /// Why it failed.
    pub(super) failure: Option<Box<ProbeFailure>>,
    /// The command that runs only this probe.
    pub(super) again: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not run, because an earlier one failed.
    #[serde(rename = "passed_over")]
    Skipped,
    /// Not run, because the agent doesn't play from a position in the setup.
    NotApplicable,
}

/// Prints the report, probe by probe.
pub(super) struct Report<'a> {
    options: &'a Options,
    adapted: bool,
    shown: Shown,
    quiet: bool,
    pub(super) output: CheckReport,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        options: &'a Options,
        agent: &str,
        (shown, global): (Shown, &Global),
        spec: Option<&AgentSpec>,
        kinds: &[GameKind],
    ) -> Result<Self, Failure> {
        let readable = options.sandbox.readable()?;
        let output = CheckReport {
            agent: agent.to_owned(),
            name: spec.map(|spec| spec.name.clone()),
            digest: spec.map(|spec| spec.digest.clone()),
            games: kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            requests: spec.map(|spec| requested(spec, &readable)).unwrap_or_default(),
            ok: true,
            deterministic: None,
            probes: Vec::new(),
        };
        let adapted = spec.is_some_and(|spec| spec.adapted);
        Ok(Self { options, adapted, shown, quiet: global.quiet, output })
    }

    /// Whether the probes are shown, and so their progress.
    pub(super) fn is_shown(&self) -> bool {
        self.shown == Shown::Probes && !self.options.json && !self.quiet
    }

    pub(super) fn begin(&self) -> Result<(), Failure> {
        if !self.is_shown() {
            return Ok(());
        }
        let name = self.output.name.as_deref().unwrap_or(&self.output.agent);
        let games = self.output.games.join(", ");
        let requests = self.output.requests.iter().map(|request| format!("  {request}\n"));
        let requests: String = requests.collect();
        print_if_read(&format!("check {} in {games}\n{requests}", sanitize(name))).map(drop)
    }

    pub(super) fn take(&mut self, probe: &Probe, outcome: ProbeOutcome) -> Result<(), Failure> {
        let again = self.again(probe);
        if self.shows(&outcome) {
            print_if_read(&line(probe, &outcome, &again))?;
        }
        self.output.ok &= !outcome.failed();
        let (status, note, failure) = match outcome {
            ProbeOutcome::Passed(note) => (Status::Passed, note, None),
            ProbeOutcome::Skipped => (Status::Skipped, None, None),
            ProbeOutcome::NotApplicable => {
                (Status::NotApplicable, Some(NO_POSITIONS.to_owned()), None)
            }
            ProbeOutcome::Failed(failed) => (Status::Failed, None, Some(failed)),
        };
        self.output.probes.push(ProbeReport {
            number: probe.number,
            name: probe.name.clone(),
            title: probe.title.clone(),
            game: probe.kind.name.to_owned(),
            seat: probe.seat,
            status,
            note,
            failure,
            again,
        });
        Ok(())
    }

    /// Whether the outcome of a probe is printed: with --quiet, if it failed.
    fn shows(&self, outcome: &ProbeOutcome) -> bool {
        let quiet = self.shown == Shown::Probes && !self.options.json;
        self.is_shown() || quiet && outcome.failed()
    }

    /// Returns the command that runs one probe.
    fn again(&self, probe: &Probe) -> String {
        let options = self.options;
        let mut words = ["referee", "check", &self.output.agent].map(str::to_owned).to_vec();
        let given = options.game.iter().map(String::as_str);
        let game = options.game.is_empty().then_some(probe.kind.name);
        words.extend(given.chain(game).flat_map(|game| option("--game", Some(game))));
        words.extend(options.setup_args());
        words.extend(option("--probe", Some(&probe.name)));
        words.extend(option("--seed", Some(options.seed).filter(|&seed| seed != 1)));
        words.extend(options.condition_args(self.adapted, probe.kind));
        words.extend(options.sandbox.args());
        join(&words)
    }

    pub(super) fn finish(self) -> Result<ExitCode, Failure> {
        if self.options.json {
            print_if_read(&to_json(&self.output)?)?;
        } else if !self.quiet {
            print_if_read(&self.summary())?;
        }
        Ok(if self.output.ok { ExitCode::SUCCESS } else { ExitCode::from(Failure::AGENT) })
    }

    fn summary(&self) -> String {
        let mut text = self.output.counts();
        match self.output.deterministic {
            Some(true) => text.push_str("; the same seed gave the same actions"),
            Some(false) => text.push_str("; the same seed gave different actions"),
            None => {}
        }
        text.push('\n');
        if self.output.ok {
            let game = self.output.games.first().map_or("", String::as_str);
            let agent = join(&[&self.output.agent]);
            let kind = crate::cli::setup::find_kind(game).ok();
            let others = kind
                .and_then(|kind| {
                    let setup = self.options.setup(&[kind]).ok()?;
                    crate::cli::setup::start(kind, &setup).ok()
                })
                .map_or(0, |game| game.seats() - 1);
            let others = " @random".repeat(others);
            let mut options = self.options.setup_args();
            options.extend(
                kind.into_iter().flat_map(|it| self.options.condition_args(self.adapted, it)),
            );
            let options = join(&options);
            let options = if options.is_empty() { options } else { format!(" {options}") };
            writeln!(text, "next: referee play {game} {agent}{others}{options}").ok();
        }
        text
    }
}

/// Returns one probe as text.
fn line(probe: &Probe, outcome: &ProbeOutcome, again: &str) -> String {
    let (green, red, dim, off) = ("\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m");
    let (number, title) = (probe.number, &probe.title);
    match outcome {
        ProbeOutcome::Passed(note) => {
            let note = note.as_ref().map_or(String::new(), |note| format!("  {dim}({note}){off}"));
            format!("{number:3} {green}ok{off}      {title}{note}\n")
        }
        ProbeOutcome::Skipped => String::new(),
        ProbeOutcome::NotApplicable => {
            format!("{number:3} {dim}n/a{off}     {title}  {dim}({NO_POSITIONS}){off}\n")
        }
        ProbeOutcome::Failed(failed) => {
            format!("{number:3} {red}FAILED{off}  {title}\n{}", explain(failed, again))
        }
    }
}

pub(super) fn explain(failed: &ProbeFailure, again: &str) -> String {
    let mut rows = Rows::new(6, 7);
    rows.wrapped("what", &failed.what);
    for (index, line) in failed.sent.lines().enumerate() {
        // The caret is below the unknown part of a message.
        let unknown = line.find("\"x_new").map(|index| index + 1);
        rows.line(if index == 0 { "sent" } else { "" }, line.as_bytes(), unknown);
    }
    match &failed.got {
        Some(line) => rows.line("got", line, failed.at_byte),
        None if !failed.sent.is_empty() => rows.wrapped("got", "nothing"),
        None => {}
    }
    let lines: Vec<&str> = failed.stderr.lines().collect();
    for (index, line) in lines.iter().rev().take(STDERR_LINES).rev().enumerate() {
        rows.verbatim(if index == 0 { "stderr" } else { "" }, &sanitize(line));
    }
    rows.wrapped("why", failed.why);
    rows.wrapped("fix", &failed.fix);
    rows.verbatim("again", again);
    rows.finish()
}
