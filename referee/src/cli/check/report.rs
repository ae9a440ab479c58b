//! The report of `check`: a line per probe, and an explanation of each failure.

use super::{Options, Shown};
use crate::cli::exit;
use crate::cli::global::Global;
use crate::cli::output::{print_if_read, to_json};
use crate::cli::rows::Rows;
use crate::cli::setup::{find_kind, first_for_two, start};
use crate::cli::shell::{join, option};
use referee_games::GameKind;
use referee_play::agent_spec::AgentSpec;
use referee_play::check::{CheckReport, Probe, ProbeFailure, ProbeOutcome, ProbeReport, Status};
use referee_process::Failure;
use referee_protocol::Level;
use referee_protocol::sanitize::{sanitize, sanitize_stderr};
use std::fmt::Write;
use std::process::ExitCode;

/// Options that the command for one probe leaves out.
const NOT_REPEATED: [&str; 7] =
    ["agent", "submissions", "probe", "fail_fast", "json", "junit", "annotate"];

/// The number of lines of stderr to show.
const STDERR_LINES: usize = 12;

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
        let output = CheckReport::new(agent, spec, kinds, &readable);
        let adapted = spec.is_some_and(AgentSpec::is_adapted);
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
        let (again, shows) = (self.again(probe), self.shows(&outcome));
        self.output.take(probe, outcome, again);
        match self.output.probes.last().filter(|_| shows) {
            Some(taken) => print_if_read(&line(taken)).map(drop),
            None => Ok(()),
        }
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
        words.extend(options.given.words(&[], &NOT_REPEATED));
        let game = options.game.is_empty().then_some(probe.kind.name);
        words.extend(option("--game", game));
        words.extend(option("--probe", Some(&probe.name)));
        words.extend(options.implied_args(self.adapted, probe.kind));
        words.extend(self.config_level());
        join(&words)
    }

    /// Returns the argument for a sandbox level of a config file.
    fn config_level(&self) -> impl Iterator<Item = String> {
        let level = self.options.sandbox.level().filter(|_| !self.options.given.has("sandbox"));
        option("--sandbox", level.map(Level::name))
    }

    pub(super) fn finish(self) -> Result<ExitCode, Failure> {
        if self.options.json {
            print_if_read(&to_json(&self.output)?)?;
        } else if !self.quiet {
            print_if_read(&self.summary())?;
        }
        Ok(exit::success_or(exit::AGENT, self.output.ok))
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
            // As given, since the name of a game program isn't enough to find it.
            let given = &self.options.game;
            let names = if given.is_empty() { &self.output.games } else { given };
            let found: Vec<(&String, GameKind)> =
                names.iter().filter_map(|name| Some((name, find_kind(name).ok()?))).collect();
            let kinds: Vec<GameKind> = found.iter().map(|(_, kind)| *kind).collect();
            let kind = (!kinds.is_empty()).then(|| first_for_two(&kinds));
            let is_it = |(_, own): &&(&String, GameKind)| Some(own.name) == kind.map(|it| it.name);
            let game = join(&[found.iter().find(is_it).map_or(&names[0], |(name, _)| *name)]);
            let agent = join(&[&self.output.agent]);
            let others = kind
                .and_then(|kind| {
                    let setup = self.options.setup(self.adapted, &[kind]).ok()?;
                    start(kind, &setup).ok()
                })
                .map_or(0, |game| game.seats() - 1);
            // No built-in agent plays where the rules list no actions.
            let rules = kind.and_then(|kind| kind.program());
            let unlisted = rules.is_some_and(|rules| !rules.lists());
            let other = if unlisted { &agent } else { "@random" };
            let others = format!(" {other}").repeat(others);
            let not_of_play = [&NOT_REPEATED[..], &["game", "seed"]].concat();
            let mut options = self.options.given.words(&[], &not_of_play);
            options.extend(
                kind.into_iter().flat_map(|it| self.options.implied_args(self.adapted, it)),
            );
            options.extend(self.config_level());
            let options = join(&options);
            let options = if options.is_empty() { options } else { format!(" {options}") };
            writeln!(text, "next: referee play {game} {agent}{others}{options}").ok();
        }
        text
    }
}

/// Returns one probe as text.
fn line(probe: &ProbeReport) -> String {
    let (green, red, dim, off) = ("\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m");
    let ProbeReport { number, title, note, again, same_as, .. } = probe;
    let note = note.as_ref().map_or(String::new(), |note| format!("  {dim}({note}){off}"));
    match (&probe.status, &probe.failure) {
        (Status::Passed, _) => format!("{number:3} {green}ok{off}      {title}{note}\n"),
        (Status::NotApplicable, _) => format!("{number:3} {dim}n/a{off}     {title}{note}\n"),
        (_, Some(failed)) => {
            let why = same_as.map_or_else(
                || explain(failed, again),
                |first| format!("      as in probe {first}: {}\n", sanitize(&failed.what)),
            );
            format!("{number:3} {red}FAILED{off}  {title}\n{why}")
        }
        (_, None) => String::new(),
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
        rows.verbatim(if index == 0 { "stderr" } else { "" }, &sanitize_stderr(line));
    }
    rows.wrapped("why", failed.why);
    rows.wrapped("fix", &failed.fix);
    rows.verbatim("again", again);
    rows.finish()
}
