//! `play`: a match or a series.

use super::Global;
use super::faults::{Record, advice, debug_command};
use super::live::{LiveBoard, ScreenOverlay};
use super::output::{print, print_json, stderr_has_colour, stdout_has_colour};
use super::play_open::Page;
use super::play_options::Options;
use super::viewer::ViewerHost;
use crate::cli::bars::progress_bar;
use crate::cli::runtime::{machine, runtime};
use crate::reading::report;
use crate::screen::Setting;
use indicatif::ProgressBar;
use referee_play::agent_spec::unique_names;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Played, Pool, PoolSize, Watching, reserve_slot};
use referee_play::running_matches::RunningMatches;
use referee_play::series::Plan;
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_protocol::plain::sanitize;
use referee_protocol::{
    Event, FaultKind, HeaderSeat, Layers, Outcome, Pondering, Result as Ended, SandboxRecord, Seat,
    Verdict,
};
use referee_render::{Style, terminal};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{ErrorKind, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

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
    seats: Vec<SeatReport>,
    /// The outcome by the rules; null unless they ended the game.
    outcome: Option<Outcome>,
    /// The verdict of the match.
    verdict: Verdict,
    /// The turns, passed-over ones included.
    turns: u64,
    /// The file of the transcript; null if there is none.
    transcript: Option<String>,
    /// The sandbox of the agents.
    sandbox: SandboxRecord,
    /// The command that repeats the match.
    reproduce: String,
}

/// One seat in [`PlayReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct SeatReport {
    /// The seat.
    seat: Seat,
    /// The agent's name.
    name: String,
    /// The colour at the start.
    colour: String,
    /// The command that was started.
    command: Vec<String>,
    /// SHA-256 of the agent, in hex.
    digest: String,
}

impl SeatReport {
    fn of(seat: &HeaderSeat) -> Self {
        let HeaderSeat { seat, name, colour, command, digest, .. } = seat.clone();
        Self { seat, name, colour, command, digest }
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let mut plan = options.plan()?;
    global.note(super::setup::start(plan.first.kind, &plan.first.setup)?.notes());
    let sandbox = options.conditions.choose(plan.agents(), global)?;
    let runtime = runtime()?;
    plan.first.readable_files.check(sandbox.launcher.layers, &plan.first.seated)?;
    let mut page = None;
    if options.open {
        page = Some(Page::prepare(&mut plan, &sandbox)?);
    }
    let mut series = SeriesResults::new(options, &plan, &sandbox, global);
    let played = play_all(options, &plan, sandbox, global, &mut series, page.as_mut());
    let mut interrupts = runtime.block_on(played)?;
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
async fn play_all(
    options: &Options,
    plan: &Plan,
    sandbox: Sandbox,
    global: &Global,
    series: &mut SeriesResults<'_>,
    page: Option<&mut Page>,
) -> Result<Interrupts, Failure> {
    let machine = machine("cannot start matches");
    let mut interrupts = Interrupts::listen().map_err(&machine)?;
    let single = plan.count() == 1;
    let person = plan.has_person() && page.is_none();
    if let Some(page) = page {
        page.serve(&interrupts)?;
    }
    let bar = progress_bar(plan.count(), !global.quiet);
    let playing = RunningMatches::default();
    let colour = stderr_has_colour();
    let style = options.board.style(colour).unwrap_or(Style { colour, ..Style::default() });
    let setting = if single { Setting::Live } else { Setting::LiveMany };
    let mut host =
        ViewerHost::new(playing.clone(), style, setting, &bar, &mut interrupts, !person)?;
    if host.has_terminal() {
        bar.set_message("b: watch");
    }
    series.overlay = host.overlay();
    let hint = if host.has_terminal() { "b: open the viewer\n" } else { "" };
    let watching = board_observer(options, single && !global.quiet, person, hint, host.overlay());
    let jobs = plan.jobs.clamp(1, plan.count());
    let room = PoolSize { matches: jobs, pin: options.pin };
    let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
    let pool = Pool::start(room, sandbox, orders, paused, watching, playing).map_err(machine)?;
    run_pool(pool, plan, &bar, &mut host, series, &mut interrupts).await?;
    Ok(interrupts)
}

/// Gives games to the pool as it has room, until all games are over, or after an interrupt those that
/// are running.
async fn run_pool(
    pool: Pool,
    plan: &Plan,
    bar: &ProgressBar,
    host: &mut ViewerHost,
    series: &mut SeriesResults<'_>,
    interrupts: &mut Interrupts,
) -> Result<(), Failure> {
    let single = plan.count() == 1;
    let Pool { jobs, mut results, threads } = pool;
    let (mut jobs, mut asked) = (Some(jobs), plan.games.clone());
    let mut early = BTreeMap::new();
    let mut next = plan.games.start;
    let mut over = false;
    loop {
        if asked.is_empty() || interrupts.received().is_some() {
            jobs = None;
        }
        tokio::select! {
            Some(place) = reserve_slot(jobs.as_ref()) => {
                if let Some(number) = asked.next() {
                    place.send(plan.job(number));
                }
            }
            played = results.recv(), if !over => match played {
                Some(played) => {
                    bar.inc(1);
                    early.insert(played.number, played);
                }
                None => over = true,
            },
            key = host.next() => drop(host.handle(key)),
            () = interrupts.next() => {}
        }
        // The viewer stays open on a single match that is over.
        if interrupts.received().is_some() || (over && !single) {
            host.close();
        }
        if host.is_open() {
            continue;
        }
        while let Some(played) = early.remove(&next) {
            bar.suspend(|| series.take(played))?;
            next += 1;
        }
        if over {
            break;
        }
    }
    threads.join();
    bar.finish_and_clear();
    for played in early.into_values() {
        series.take(played)?;
    }
    Ok(())
}

/// Returns what the pool calls with each event: it draws the board and keeps the pace.
fn board_observer(
    options: &Options,
    wanted: bool,
    person: bool,
    hint: &'static str,
    overlay: Arc<ScreenOverlay>,
) -> Box<Watching> {
    // Waiting blocks a core, so only a single match has a pace.
    let (board, pace) = (options.board.clone(), options.pace.filter(|_| options.games == 1));
    Box::new(move |_| {
        let live = || LiveBoard::new(&board, pace, person, hint, overlay.clone());
        let mut live = if wanted { live() } else { None };
        Box::new(move |event, state| {
            if let Some(live) = &mut live {
                live.add_event(event, state);
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
    /// One per agent, in the order of the command line.
    standings: Vec<Standing>,
    played: u64,
    faults: u64,
    void: u64,
    /// The command that debugs the first fault.
    debug: Option<String>,
    /// The first game that could not be played or recorded because of the machine.
    failed: Option<Failure>,
    /// Whether the viewer covers the board.
    overlay: Arc<ScreenOverlay>,
}

#[derive(Clone, Default)]
struct Standing {
    name: String,
    /// The number of games by place.
    places: BTreeMap<u32, u64>,
    /// The number of games in which all shared the first place.
    draws: u64,
    faults: BTreeMap<&'static str, u64>,
}

impl<'a> SeriesResults<'a> {
    fn new(options: &'a Options, plan: &'a Plan, sandbox: &Sandbox, global: &Global) -> Self {
        let agents: Vec<_> = plan.first.seated.iter().map(AsRef::as_ref).collect();
        let standing = |name| Standing { name, ..Standing::default() };
        Self {
            options,
            plan,
            layers: sandbox.launcher.layers,
            pondering: sandbox.recorded.pondering.filter(|_| options.games > 1),
            quiet: global.quiet,
            standings: unique_names(&agents).into_iter().map(standing).collect(),
            played: 0,
            faults: 0,
            void: 0,
            debug: None,
            failed: None,
            overlay: Arc::default(),
        }
    }

    fn take(&mut self, played: Played) -> Result<(), Failure> {
        let number = played.number;
        let finished = match played.result {
            Ok(finished) => finished,
            Err(error) => {
                let again = self.options.reproduce(self.plan, number, self.pondering);
                let failure = Failure::machine(format!("game {number} is void: {error}"));
                let full = error.kind() == ErrorKind::StorageFull;
                let first = match played.transcript.filter(|_| full) {
                    Some(path) => format!("free disk space for {}, then ", path.display()),
                    None => String::new(),
                };
                self.failed.get_or_insert(failure.help(format!("{first}repeat it: {again}")));
                return Ok(());
            }
        };
        let verdict = &finished.ending.verdict;
        self.count(number, verdict);
        let transcript = played.transcript.map(|path| path.display().to_string());
        if self.debug.is_none()
            && let Some(transcript) = &transcript
        {
            self.debug = debug_command(&finished.header, verdict, transcript);
        }
        if self.options.json {
            return print_json(&PlayReport {
                game: finished.header.game.clone(),
                setup: finished.header.setup.clone(),
                seed: finished.header.seed,
                game_number: number,
                match_id: finished.header.match_id.clone(),
                seats: finished.header.seats.iter().map(SeatReport::of).collect(),
                outcome: finished.ending.outcome.clone(),
                verdict: verdict.clone(),
                turns: finished.turns,
                transcript,
                sandbox: finished.header.sandbox.clone(),
                reproduce: self.options.reproduce(self.plan, number, self.pondering),
            });
        }
        if self.plan.count() == 1 && self.options.out.as_deref() != Some("-") {
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
        if let Some(style) = style.filter(|_| !board_is_on_screen() || self.overlay.missed_frame())
        {
            let header = &finished.header;
            text.push_str(&report::title(header));
            let start = super::setup::start(self.plan.first.kind, &header.setup)?;
            text.push_str(&terminal(&start.view(), &style));
            text.push('\n');
            text.push_str(&terminal(&finished.view, &style));
        }
        let ending = &finished.ending;
        let verdict = &ending.verdict;
        text.push_str(&report::verdict(&finished.header, ending.outcome.as_ref(), &ending.verdict));
        for (seat, words) in finished.header.seats.iter().zip(&finished.last_words) {
            let Some(fault) = &ending.verdict.seats[seat.seat.index()].fault else { continue };
            // Before other faults, stderr says nothing about them, but that of an adapter does.
            let explains = match fault.kind {
                FaultKind::Gone | FaultKind::Start => true,
                FaultKind::Garbled => seat.is_foreign() && seat.protocol.is_none(),
                _ => false,
            };
            if let Some(words) = words.as_ref().filter(|_| explains) {
                writeln!(text, "last stderr of {}: {}", seat.name, sanitize(words)).ok();
            }
            let record = transcript.and_then(|path| Record::read(path, seat.seat));
            let denied = words.as_ref().and_then(|words| {
                let spec = &self.plan.seated(number)[seat.seat.index()];
                self.plan.first.readable_files.advice(spec, self.layers, words)
            });
            let words = words.as_deref();
            text.push_str(&advice(fault, words, denied.as_deref(), record.as_ref()));
        }
        if let Some(transcript) = transcript {
            writeln!(text, "transcript: {transcript}").ok();
            if let Some(command) = debug_command(&finished.header, verdict, transcript) {
                writeln!(text, "debug: {command}").ok();
            }
        }
        writeln!(text, "again: {}", self.options.reproduce(self.plan, number, self.pondering)).ok();
        print(&text)
    }

    fn count(&mut self, number: u64, verdict: &Verdict) {
        self.played += 1;
        if verdict.result == Ended::Void {
            self.void += 1;
        }
        let (count, shift) = (self.standings.len(), self.plan.shift(number));
        let drawn = verdict
            .places
            .as_ref()
            .is_some_and(|places| places.len() > 1 && places.iter().all(|&place| place == 1));
        for (index, seat) in verdict.seats.iter().enumerate() {
            let standing = &mut self.standings[(index + shift) % count];
            if let Some(places) = &verdict.places {
                if drawn {
                    standing.draws += 1;
                } else {
                    *standing.places.entry(places[index]).or_default() += 1;
                }
            }
            if let Some(fault) = &seat.fault {
                self.faults += 1;
                *standing.faults.entry(fault.kind.name()).or_default() += 1;
            }
        }
    }

    fn summarize(&self) -> Result<(), Failure> {
        if self.plan.count() == 1 || self.options.json {
            return Ok(());
        }
        let seats = self.standings.len();
        let mut rows = vec![vec!["agent".to_owned()]];
        rows[0].extend((1..=seats.max(2)).map(|place| format!("place {place}")));
        rows[0].extend(["draws", "faults"].map(str::to_owned));
        for standing in &self.standings {
            let mut row = vec![standing.name.clone()];
            let places = 1..=u32::try_from(seats.max(2)).unwrap_or(u32::MAX);
            let count = |place| standing.places.get(&place).copied().unwrap_or(0);
            row.extend(places.map(|place| count(place).to_string()));
            row.push(standing.draws.to_string());
            let faults: Vec<String> =
                standing.faults.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            row.push(if faults.is_empty() { "-".to_owned() } else { faults.join(", ") });
            rows.push(row);
        }
        let mut text = super::output::table(&rows);
        let void = if self.void > 0 { format!(", {} void", self.void) } else { String::new() };
        writeln!(text, "{} games{void}", self.played).ok();
        if let Some(command) = &self.debug {
            writeln!(text, "debug: {command}").ok();
        }
        writeln!(text, "again: {}", self.options.reproduce_series(self.plan)).ok();
        print(&text)
    }

    fn code(self) -> Result<ExitCode, Failure> {
        if let Some(failure) = self.failed {
            return Err(failure);
        }
        if self.void > 0 {
            return Ok(ExitCode::from(Failure::MACHINE));
        }
        if self.faults > 0 && self.options.fail_on_fault {
            return Ok(ExitCode::from(Failure::AGENT));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the live board was drawn on the terminal that stdout is.
fn board_is_on_screen() -> bool {
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}
