//! `play`: a match or a series.

use super::exit;
use super::faults::{
    Record as FaultRecord, advice, bad_ends, debug_command, fault_text, programs_at_fault,
    stderr_explains,
};
use super::global::Global;
use super::jobs::note_memory;
use super::live::BoardPrinter;
use super::output::{BoardOptions, print, print_json, stderr_has_colour, stdout_has_colour};
use super::play_open::Page;
use super::play_options::{Options, Plan};
use super::play_series::SeriesReport;
use super::viewer::ViewerHost;
use crate::cli::bars::{progress_bar, spinner};
use crate::cli::contest::report::layout;
use crate::cli::runtime::{machine, runtime};
use crate::reading::report;
use crate::screen::Setting;
use indicatif::ProgressBar;
use referee_contest::wording::count;
use referee_contest::{Fixture, Record, Schedule};
use referee_games::Games;
use referee_match::diagnosis::failure_line;
use referee_match::summary::sentence;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Job, Played, PoolSize, Watching};
use referee_play::reach::not_granted;
use referee_play::running_matches::RunningMatches;
use referee_play::sources::after_building;
use referee_process::Failure;
use referee_process::files::is_disk_full;
use referee_process::sandbox::Layers;
use referee_process::sandbox::Sandbox;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{
    Event, FaultKind, HeaderSeat, MatchResult, Outcome, Pondering, SandboxRecord, Verdict,
};
use referee_render::{Style, terminal};
use referee_runner::backend::NoResult;
use referee_runner::local::{GameJobs, Local};
use referee_runner::runner::{Observer, Progress, Runner};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

/// The number of faults that a series lists.
const FAULTS_SHOWN: usize = 10;

/// A match, as `play --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlayReport {
    /// The game's name.
    game: String,
    /// The whole setup.
    setup: Value,
    /// The match's seed.
    seed: u64,
    /// The number of the game in its series, from 0.
    game_number: u64,
    /// The match's id.
    #[serde(rename = "match")]
    match_id: String,
    /// The agents, in seat order.
    seats: Vec<HeaderSeat>,
    /// The outcome by the rules; null unless they ended the game.
    outcome: Option<Outcome>,
    /// The verdict of the match.
    verdict: Verdict,
    /// Who won and why, as a sentence.
    text: String,
    /// The turns, passed-over ones included.
    turns: u64,
    /// The file of the transcript; null if there is none.
    transcript: Option<String>,
    /// The sandbox of the agents.
    sandbox: SandboxRecord,
    /// The command that repeats the match.
    reproduce: String,
    /// The results of the series, in the object of its last game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<SeriesReport>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    if options.build {
        options.build_agents(global)?;
    }
    let mut plan = options.plan()?;
    global.note(super::setup::start(plan.first.kind, &plan.first.setup)?.notes());
    let (seats, limits) = (plan.first.seated.len(), &plan.first.conditions.limits);
    note_memory(pool_size(options, &plan).matches, seats, limits, global);
    let agents = pool_size(options, &plan).agents(seats);
    let sandbox = options.series.conditions.choose(agents, global)?;
    let runtime = runtime()?;
    for spec in &plan.first.seated {
        global.note(not_granted(spec, &sandbox));
    }
    plan.first.readable_files.check(sandbox.launcher.layers, &plan.first.seated)?;
    let mut page = None;
    if options.open {
        page = Some(Page::prepare(&mut plan, &sandbox)?);
    }
    let series = SeriesResults::new(options, &plan, &sandbox, global);
    let played = play_all(series, sandbox, page.as_mut());
    let (series, mut interrupts) = runtime.block_on(played)?;
    series.summarize()?;
    if let Some(interrupt) = interrupts.received() {
        return Ok(ExitCode::from(interrupt.code()));
    }
    if let Some(page) = page {
        runtime.block_on(page.serve_until_interrupted(&mut interrupts));
    }
    series.code()
}

/// Plays the games, and reports them in the order of their numbers.
async fn play_all<'a>(
    series: SeriesResults<'a>,
    sandbox: Sandbox,
    page: Option<&mut Page>,
) -> Result<(SeriesResults<'a>, Interrupts), Failure> {
    let SeriesResults { options, plan, quiet, .. } = series;
    let contest = plan.contest.clone();
    let mut interrupts = Interrupts::listen().map_err(machine("cannot start matches"))?;
    // Who plays on the page must not see more in the terminal either.
    let person = plan.has_person() && (page.is_none() || plan.person_who_sees_a_part()?.is_some());
    if let Some(page) = page {
        page.serve(&interrupts)?;
    }
    let shown = plan.is_single() && !quiet;
    let bar = if plan.is_single() {
        spinner("playing", shown && !person)
    } else {
        progress_bar(plan.count(), !quiet)
    };
    let playing = RunningMatches::default();
    let colour = stderr_has_colour();
    let board = options.board.style(colour);
    let style = board.unwrap_or(Style { colour, ..Style::default() });
    let setting = if plan.is_single() { Setting::Live } else { Setting::LiveMany };
    let games = Games::of([plan.first.kind]);
    let mut host =
        ViewerHost::new((playing.clone(), &games), style, setting, &bar, &mut interrupts, !person)?;
    let has_viewer = host.has_terminal();
    if has_viewer {
        bar.set_message("b: watch");
    }
    if shown && !options.open && board.is_some() {
        host.open_soon();
    }
    let watching = board_observer(options, shown && (person || !has_viewer), person);
    let place = (pool_size(options, plan), sandbox);
    let local =
        Local::start(contest.clone(), SeriesGames(plan), place, playing, &interrupts, watching)?;
    let runner = Runner::in_memory(contest, plan.games.clone());
    let next = plan.games.start;
    let mut watcher = SeriesWatcher { bar, host, series, early: BTreeMap::new(), next };
    let ended = Box::pin(runner.play(local, &mut interrupts, &mut watcher)).await;
    let mut series = watcher.finish(&mut interrupts).await;
    series.failed = series.failed.or(ended.failure);
    Ok((series, interrupts))
}

fn pool_size(options: &Options, plan: &Plan) -> PoolSize {
    let matches = plan.jobs.clamp(1, plan.count());
    PoolSize { matches, pin: options.series.pin, uses_free_cores: true }
}

/// The games of a series.
struct SeriesGames<'a>(&'a Plan);

/// A game that has ended, with its record if it counts.
type EndedGame = (Played, Option<Record>);

impl GameJobs for SeriesGames<'_> {
    fn job(&mut self, fixture: &mut Fixture) -> Result<Job, NoResult> {
        fixture.players = self.0.contest.seated(fixture.number);
        self.0.job(fixture.number).map_err(NoResult::Halt)
    }
}

/// Shows the progress of a series, and prints its games in the order of their numbers.
struct SeriesWatcher<'a> {
    bar: ProgressBar,
    host: ViewerHost,
    series: SeriesResults<'a>,
    /// Games that ended before others with lower numbers.
    early: BTreeMap<u64, EndedGame>,
    /// The number of the game to print next.
    next: u64,
}

impl Observer for SeriesWatcher<'_> {
    fn update(&mut self, _: &Progress, _: &Schedule) {}

    fn print(&mut self, text: &str) {
        // The report on a single match says it.
        if !self.series.plan.is_single() {
            self.host.print(&sanitize(text));
        }
    }

    fn ended(&mut self, played: Played, record: Option<&Record>) {
        self.bar.inc(1);
        self.early.insert(played.number, (played, record.cloned()));
        self.report();
    }

    async fn attend(&mut self) {
        let key = self.host.next().await;
        self.host.handle(key);
        self.report();
    }
}

impl<'a> SeriesWatcher<'a> {
    /// Prints the games whose turn it is, unless the viewer has the screen.
    fn report(&mut self) {
        while !self.host.is_open()
            && let Some(ended) = self.early.remove(&self.next)
        {
            self.bar.suspend(|| self.series.add(ended));
            self.next += 1;
        }
    }

    /// Prints the remaining games. A viewer that is used stays open on a single match that is over.
    async fn finish(mut self, interrupts: &mut Interrupts) -> SeriesResults<'a> {
        while self.series.plan.is_single() && self.host.is_used() && interrupts.received().is_none()
        {
            tokio::select! {
                key = self.host.next() => drop(self.host.handle(key)),
                () = interrupts.next() => {}
            }
        }
        // Before the bar would be shown again.
        self.bar.finish_and_clear();
        self.host.close();
        for ended in self.early.into_values() {
            self.series.add(ended);
        }
        self.series
    }
}

/// Returns what the pool calls with each event: it prints the board and keeps the pace.
fn board_observer(options: &Options, wanted: bool, person: bool) -> Box<Watching> {
    // Waiting blocks a core, so only a single match has a pace.
    let pace = options.pace.filter(|_| options.games == 1);
    // A person types what the coordinates say.
    let board = BoardOptions { coords: options.board.coords || person, ..options.board.clone() };
    Box::new(move |_| {
        let mut printer = if wanted { BoardPrinter::new(&board, person) } else { None };
        Box::new(move |event, state| {
            if let Some(printer) = &mut printer {
                printer.add_event(event, state);
            }
            if matches!(event, Event::Played(_)) {
                std::thread::sleep(Duration::from_millis(pace.unwrap_or(0)));
            }
        })
    })
}

/// The results of the games so far.
struct SeriesResults<'a> {
    options: &'a Options,
    plan: &'a Plan,
    /// The layers of the sandbox.
    layers: Layers,
    /// The pondering that was used, in a series.
    pondering: Option<Pondering>,
    quiet: bool,
    /// The games that count.
    records: Vec<Record>,
    /// Whether any agent was at fault, or resigned.
    has_fault: bool,
    /// The faults of programs, as text.
    faults: Vec<String>,
    /// The number of games that don't count.
    void: u64,
    /// The first game that could not be played or recorded because of the machine.
    failed: Option<Failure>,
}

impl<'a> SeriesResults<'a> {
    fn new(options: &'a Options, plan: &'a Plan, sandbox: &Sandbox, global: &Global) -> Self {
        Self {
            options,
            plan,
            layers: sandbox.launcher.layers,
            pondering: sandbox.recorded.pondering.filter(|_| options.games > 1),
            quiet: global.quiet,
            records: Vec::new(),
            has_fault: false,
            faults: Vec::new(),
            void: 0,
            failed: None,
        }
    }

    /// Prints and counts a game.
    fn add(&mut self, (played, record): (Played, Option<Record>)) {
        self.records.extend(record);
        if let Err(failure) = self.take(played) {
            self.failed.get_or_insert(failure);
        }
    }

    fn take(&mut self, played: Played) -> Result<(), Failure> {
        let number = played.number;
        let finished = match played.result {
            Ok(finished) => finished,
            Err(error) => {
                self.void += 1;
                let again = self.options.reproduce(self.plan, number, self.pondering);
                let failure = Failure::machine(format!("game {number} is void: {error}"));
                let full = is_disk_full(&error);
                let first = match played.transcript.filter(|_| full) {
                    Some(path) => format!("free disk space for {}, then ", path.display()),
                    None => String::new(),
                };
                return Err(failure.help(format!("{first}repeat it: {again}")));
            }
        };
        let (outcome, verdict) = (finished.ending.outcome.as_ref(), &finished.ending.verdict);
        self.void += u64::from(verdict.result == MatchResult::Void);
        self.has_fault |= verdict.seats.iter().any(|seat| seat.fault.is_some());
        let transcript = played.transcript.map(|path| path.display().to_string());
        let at_fault = programs_at_fault(&finished.header, verdict).into_iter();
        for (seat, fault) in at_fault.filter(|(_, fault)| fault.kind != FaultKind::Resigned) {
            let words = finished.seen[seat.seat.index()].words();
            let words = words.filter(|_| stderr_explains(seat, fault));
            let text = fault_text(number, (seat, fault), words.as_deref(), transcript.as_deref());
            self.faults.push(text);
        }
        if self.options.output.json {
            return print_json(&PlayReport {
                game: finished.header.game.clone(),
                setup: finished.header.setup.clone(),
                seed: finished.header.seed,
                game_number: number,
                match_id: finished.header.match_id.clone(),
                seats: finished.header.seats.clone(),
                outcome: outcome.cloned(),
                verdict: verdict.clone(),
                text: sanitize(&sentence(&finished.header, outcome, verdict)),
                turns: finished.turns,
                transcript,
                sandbox: finished.header.sandbox.clone(),
                reproduce: self.options.reproduce(self.plan, number, self.pondering),
                series: self.series(number),
            });
        }
        if self.plan.is_single() && self.options.output.out.as_deref() != Some("-") {
            self.print_match(&finished, number, transcript.as_deref())?;
        }
        Ok(())
    }

    fn print_match(
        &self,
        finished: &referee_play::drive::Finished,
        number: u64,
        transcript: Option<&str>,
    ) -> Result<(), Failure> {
        let mut text = String::new();
        let style = self.options.board.style(stdout_has_colour()).filter(|_| !self.quiet);
        let seen = self.plan.has_person() && !self.options.open && boards_are_on_screen();
        if let Some(style) = style.filter(|_| !seen) {
            let header = &finished.header;
            text.push_str(&report::title(header));
            if !std::io::stdout().is_terminal() {
                let start = super::setup::start(self.plan.first.kind, &header.setup)?;
                text.push_str(&terminal(&start.view(), &style));
                text.push('\n');
            }
            text.extend(finished.view.as_ref().map(|view| terminal(view, &style)));
        }
        let ending = &finished.ending;
        let verdict = &ending.verdict;
        text.push_str(&report::verdict(&finished.header, ending.outcome.as_ref(), &ending.verdict));
        let faults = programs_at_fault(&finished.header, verdict);
        let games = Games::of([self.plan.first.kind]);
        // With one fault, its lines need no name.
        let of = |seat: &HeaderSeat| match faults.len() {
            1 => String::new(),
            _ => format!(" {} (seat {})", sanitize(&seat.name), seat.seat),
        };
        for (seat, fault) in &faults {
            let seen = &finished.seen[seat.seat.index()];
            let turns = verdict.seats[seat.seat.index()].turns;
            let record = transcript.and_then(|path| FaultRecord::read(path, &games, seat.seat));
            let record = record.unwrap_or_else(|| FaultRecord::seen(seat, turns, seen));
            let spec = &self.plan.seated(number)[seat.seat.index()];
            let readable = &self.plan.first.readable_files;
            let denied = readable.advice(spec, self.layers, &record.stderr);
            let (more, fix) = advice(fault, seen, denied.as_deref(), &record, &games);
            let is_shown = stderr_explains(seat, fault) || fix.contains("read its stderr");
            if let Some(line) = failure_line(&record.stderr).filter(|_| is_shown) {
                writeln!(text, "last stderr of {}: {}", sanitize(&seat.name), line).ok();
            }
            if let Some(more) = more {
                writeln!(text, "cause{}: {more}", of(seat)).ok();
            }
            writeln!(text, "fix{}: {}", of(seat), after_building(spec, &fix)).ok();
        }
        text.push_str(&bad_ends(&finished.header, verdict, &finished.seen));
        if let Some(transcript) = transcript {
            writeln!(text, "transcript: {transcript}").ok();
            for (seat, fault) in &faults {
                let command = debug_command(seat, fault, transcript);
                writeln!(text, "debug{}: {command}", of(seat)).ok();
            }
        }
        writeln!(text, "again: {}", self.options.reproduce(self.plan, number, self.pondering)).ok();
        print(&text)
    }

    /// Returns the results of the series after its last game.
    fn series(&self, number: u64) -> Option<SeriesReport> {
        let is_last = number + 1 == self.plan.games.end && !self.plan.is_single();
        let reproduce = || self.options.reproduce_series(self.plan);
        is_last
            .then(|| SeriesReport::new(&self.plan.contest, &self.records, self.void, reproduce()))
    }

    fn summarize(&self) -> Result<(), Failure> {
        if self.plan.is_single() || self.options.output.json {
            return Ok(());
        }
        let mut text =
            super::contest::report::series(&self.plan.contest, &self.records).series(layout());
        let played = self.records.len() as u64 + self.void;
        let void = if self.void > 0 { format!(", {} void", self.void) } else { String::new() };
        writeln!(text, "{}{void}", count(played, "game")).ok();
        self.faults.iter().take(FAULTS_SHOWN).for_each(|fault| text.push_str(fault));
        if let Some(more) = self.faults.len().checked_sub(FAULTS_SHOWN).filter(|&more| more > 0) {
            writeln!(text, "and {}", count(more as u64, "more fault")).ok();
        }
        writeln!(text, "again: {}", self.options.reproduce_series(self.plan)).ok();
        print(&text)
    }

    fn code(self) -> Result<ExitCode, Failure> {
        if let Some(failure) = self.failed {
            return Err(failure);
        }
        if self.void > 0 {
            return Ok(ExitCode::from(exit::MACHINE));
        }
        if self.has_fault && self.options.output.fail_on_fault {
            return Ok(ExitCode::from(exit::AGENT));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether boards that go to stderr are above stdout's text on the terminal.
fn boards_are_on_screen() -> bool {
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}
