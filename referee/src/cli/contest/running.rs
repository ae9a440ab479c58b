//! Runs a contest: the progress bar, messages, and the results at the end.

use super::deadline::planned_end;
use super::report::{self, ComparisonReport, WrittenReport, layout};
use super::run::{SharedRunOptions, resume_command};
use super::venue::{RunContext, Venue};
use crate::cli::bars::{games_counter, progress_bar, spinner};
use crate::cli::global::Global;
use crate::cli::jobs;
use crate::cli::output::{BoardOptions, eprint_line, print, print_json, stderr_has_colour};
use crate::cli::runtime::machine;
use crate::cli::viewer::ViewerHost;
use crate::screen::Setting;
use indicatif::ProgressBar;
use ratatui::crossterm::event::KeyCode;
use referee_contest::formats::Comparison;
use referee_contest::report::Report;
use referee_contest::sprt::Summary;
use referee_contest::sprt::render::{live, plan, verdict};
use referee_contest::wording::games;
use referee_contest::{Contest, Schedule};
use referee_games::Games;
use referee_play::interrupts::Interrupts;
use referee_play::pool::PoolSize;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::sandbox::{Depth, Sandbox, SandboxRequest, choose};
use referee_protocol::sanitize::sanitize;
use referee_runner::Prepared;
use referee_runner::backend::WorkerCount;
use referee_runner::folder::{Folder, SUMS_FILE};
use referee_runner::runner::{Observer, Progress, RunResult};
use referee_runner::store::Store;
use referee_web::{Metrics, Monitored, contest_metrics, monitor};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often the bar is redrawn at least.
const TICK: Duration = Duration::from_millis(500);

/// The number of reasons to print for games that could not be played.
const REASONS_SHOWN: usize = 5;

/// A contest that is about to run.
#[derive(Debug)]
pub(crate) struct ContestRun {
    pub(crate) prepared: Prepared,
    pub(crate) folder: Folder,
    pub(crate) store: Store,
    pub(super) venue: Venue,
    /// When it was started (RFC 3339).
    pub(crate) begun: String,
    pub(crate) options: SharedRunOptions,
}

/// A contest whose run has ended.
pub(super) struct EndedRun {
    pub(super) contest: Arc<Contest>,
    folder: Folder,
    pub(super) result: RunResult,
    /// The command that resumes it.
    resume: String,
}

/// Returns how many matches run at once, and whether they are pinned.
pub(super) fn pool_size(prepared: &Prepared, options: &SharedRunOptions) -> PoolSize {
    let jobs = options.jobs.and_then(|jobs| usize::try_from(jobs).ok());
    PoolSize {
        matches: jobs
            .or(prepared.jobs)
            .unwrap_or_else(|| jobs::usual(prepared.contest.seats(), &prepared.contest.limits)),
        pin: prepared.pin,
        uses_free_cores: true,
    }
}

/// Chooses the sandbox of the agents of a contest.
pub(super) fn choose_sandbox(
    request: &SandboxRequest,
    prepared: &Prepared,
    options: &SharedRunOptions,
    global: &Global,
) -> Result<Sandbox, Failure> {
    let (size, seats) = (pool_size(prepared, options), prepared.contest.seats());
    let (matches, agents) = (size.matches, size.agents(seats));
    jobs::note_memory(matches, seats, &prepared.contest.limits, global);
    let pondering = prepared.contest.sandbox.pondering;
    let spinner = spinner("testing the sandbox", !global.quiet);
    let chosen = choose(request, Depth::Start);
    spinner.finish_and_clear();
    Ok(chosen?.pondering(pondering, agents))
}

/// Plays the remaining games of a contest and prints the results.
pub(crate) fn play_contest(
    run: ContestRun,
    runtime: Runtime,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let json = run.options.json;
    let deadline = run.options.deadline.at();
    let mut interrupts = listen(&runtime)?;
    interrupts.plan_end(planned_end(deadline));
    if let Some(address) = &run.options.metrics {
        let is_connected = run.venue.is_connected();
        let url = monitor(address, MonitoredRun { folder: run.folder.clone(), is_connected })?;
        global.note([format!("metrics: {url}")]);
    }
    let ended = run.play(&runtime, &mut interrupts, global)?;
    // Don't wait for the thread that reads the keyboard.
    runtime.shutdown_background();
    ended.print(json, !global.quiet)
}

/// Listens for the signals that end the run of a contest.
pub(super) fn listen(runtime: &Runtime) -> Result<Interrupts, Failure> {
    let _inside = runtime.enter();
    Interrupts::listen_patiently().map_err(machine("cannot handle signals"))
}

impl ContestRun {
    /// Plays the remaining games, unless something ends the run early.
    pub(super) fn play(
        self,
        runtime: &Runtime,
        interrupts: &mut Interrupts,
        global: &Global,
    ) -> Result<EndedRun, Failure> {
        let Self { mut prepared, folder, store, venue, begun, options } = self;
        let resume = resume_command(&folder, venue.args());
        let (contest, files) = (prepared.contest.clone(), prepared.files());
        let is_local = venue.sandbox().is_some();
        let result = runtime.block_on(async {
            let (playing, wanted) = (RunningMatches::default(), !global.quiet);
            let known = prepared.games.clone();
            let mut watcher =
                Watcher::new(&contest, &folder, (playing.clone(), &known), interrupts, wanted)?;
            if let Some(Comparison { sprt }) = contest.format.comparison().filter(|_| wanted) {
                let most = u64::from(contest.rounds);
                eprint_line(plan(sprt.as_ref(), most, report::names(&contest)).trim_end());
            }
            let (prepared, folder) = (&mut prepared, &folder);
            let run = RunContext { prepared, folder, playing, options: &options };
            let result = Box::pin(venue.play(run, &begun, store, interrupts, &mut watcher)).await;
            watcher.host.close();
            watcher.bar.finish_and_clear();
            result
        });
        // The folder exists by now, so the contest can be resumed.
        let with_resume = |failure| if is_local { failure } else { resumable(&failure, &resume) };
        let result = result.map_err(with_resume)?;
        if is_local {
            for name in prepared.changed(&files) {
                eprint_line(&format!(
                    "warning: {name} was changed during the contest: some of its games may be of the \
                     changed version, and the contest can't be resumed"
                ));
            }
        }
        Ok(EndedRun { contest, folder, result, resume })
    }
}

/// A running contest for [`monitor`].
struct MonitoredRun {
    folder: Folder,
    is_connected: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Monitored for MonitoredRun {
    fn metrics(&self) -> Result<Metrics, Failure> {
        contest_metrics(&self.folder)
    }

    fn problem(&self) -> Option<String> {
        (!(self.is_connected)()).then(|| "the server can't be reached".to_owned())
    }
}

/// Adds the command that resumes the contest to a failure.
fn resumable(failure: &Failure, resume: &str) -> Failure {
    let first = failure.help_text().map_or_else(String::new, |help| format!("{help}; then run: "));
    Failure::new(failure.kind(), failure.to_string()).help(format!("{first}{resume}"))
}

impl EndedRun {
    /// Computes and writes the report. What stopped the contest may also be why there is none.
    fn report(&self) -> Result<(Report, Result<WrittenReport, Failure>), Failure> {
        let results = report::of_folder(&self.folder)?;
        let page = report::write_all(&self.folder, &results);
        Ok((results.report, page))
    }

    /// Writes the report, and returns why the contest can't go on, if so.
    pub(super) fn check(mut self) -> Result<(), Failure> {
        let written = self.report().and_then(|(_, page)| page);
        let failure = self.result.failure.take().or(written.err());
        failure.map_or(Ok(()), |failure| Err(resumable(&failure, &self.resume)))
    }

    /// Writes the report and prints the results.
    pub(super) fn print(mut self, json: bool, wanted: bool) -> Result<ExitCode, Failure> {
        let spinner = spinner("computing the report", wanted);
        let report = self.report();
        spinner.finish_and_clear();
        let failure = self.result.failure.take();
        let Self { contest, result: ended, resume, .. } = self;
        let (results, page) = match report {
            Ok(written) => written,
            Err(error) => return Err(resumable(&failure.unwrap_or(error), &resume)),
        };
        print_standings(&results, &contest, json, ended.over)?;
        failure.map_or(Ok(()), |failure| Err(resumable(&failure, &resume)))?;
        let WrittenReport { page, sums } = page?;
        if wanted {
            eprint_line(&format!("SHA-256 of {SUMS_FILE}: {sums}"));
        }
        if let Some(interrupt) = ended.interrupted {
            eprint_line(&format!("resume: {resume}"));
            return Ok(ExitCode::from(interrupt.code()));
        }
        if !ended.given_up.is_empty() {
            return Err(Failure::machine(not_played(&ended.given_up))
                .help(format!("these games don't count; to play them again: {resume}")));
        }
        if wanted {
            eprint_line(&format!("report: {}", page.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the results of a contest, which is `over` or not.
fn print_standings(
    results: &Report,
    contest: &Contest,
    json: bool,
    over: bool,
) -> Result<(), Failure> {
    match &results.comparison {
        Some(summary) if json => print_json(&ComparisonReport::new(summary.clone(), contest)),
        Some(summary) if over => print(&verdict(summary, report::names(contest))),
        Some(summary) => print(&(live(summary, report::names(contest)) + "\n")),
        None if json => print_json(results),
        None => print(&results.text(layout())),
    }
}

/// Returns which games could not be played and why.
fn not_played(given_up: &[(u64, String)]) -> String {
    let mut reasons: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (number, why) in given_up {
        reasons.entry(why).or_default().push(*number);
    }
    let mut grouped: Vec<(Vec<u64>, &str)> =
        reasons.into_iter().map(|(why, of)| (of, why)).collect();
    grouped.sort();
    let (shown, more) = grouped.split_at(grouped.len().min(REASONS_SHOWN));
    let one = |(numbers, why): &(Vec<u64>, &str)| {
        format!("{} could not be played: {}", games(numbers), sanitize(why))
    };
    let mut parts: Vec<String> = shown.iter().map(one).collect();
    let more: usize = more.iter().map(|(numbers, _)| numbers.len()).sum();
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    parts.join("; ")
}

/// Shows the progress on the terminal.
struct Watcher<'a> {
    contest: &'a Contest,
    folder: &'a Folder,
    bar: ProgressBar,
    begun: bool,
    standings_signal: Signal,
    host: ViewerHost,
}

impl<'a> Watcher<'a> {
    fn new(
        contest: &'a Contest,
        folder: &'a Folder,
        (playing, games): (RunningMatches, &Games),
        interrupts: &mut Interrupts,
        wanted: bool,
    ) -> Result<Self, Failure> {
        let standings_signal =
            signal(SignalKind::user_defined1()).map_err(machine("cannot handle signals"))?;
        let bar = match contest.format.comparison() {
            Some(Comparison { sprt: Some(_) }) => games_counter(wanted),
            _ => progress_bar(usize::MAX, wanted),
        };
        // The bar shows the time, which also passes between games.
        bar.enable_steady_tick(TICK);
        let style = BoardOptions::default().style(stderr_has_colour()).unwrap_or_default();
        let host =
            ViewerHost::new((playing, games), style, Setting::LiveMany, &bar, interrupts, true)?;
        Ok(Self { contest, folder, bar, begun: false, standings_signal, host })
    }

    fn standings(&mut self) {
        let text = match report::of_folder(self.folder) {
            Ok(results) => results.report.brief(),
            Err(failure) => format!("error: {failure}"),
        };
        self.host.print(text.trim_end());
    }
}

impl Observer for Watcher<'_> {
    fn update(&mut self, progress: &Progress, schedule: &Schedule) {
        self.bar.set_length(progress.most);
        self.bar.set_position(progress.played);
        if !self.begun {
            // Games played before this run don't count for the estimate.
            self.bar.reset_eta();
            self.begun = true;
        }
        let mut parts = Vec::new();
        if progress.faults > 0 {
            parts.push(format!("{} faults", progress.faults));
        }
        if progress.void > 0 {
            parts.push(format!("{} void", progress.void));
        }
        if let Some(Comparison { sprt }) = self.contest.format.comparison() {
            let summary = Summary::of(sprt.as_ref(), schedule.results());
            parts.push(live(&summary, report::names(self.contest)));
        } else if let Some((player, won, stake)) = progress.leader {
            let name: String = sanitize(&self.contest.players[player.index()].name);
            let name: String = name.chars().take(16).collect();
            parts.push(format!("{name} leads: {} %", won * 100 / stake.max(1)));
        }
        if let Some(WorkerCount { workers, slots, away }) = progress.workers {
            parts.push(format!("{workers} workers, {slots} slots"));
            if away > 0 {
                parts.push(format!("{away} at other contests"));
            }
        }
        if self.host.has_terminal() {
            // First, because the end of the line may be cut off.
            parts.insert(0, "b: watch".to_owned());
        }
        self.bar.set_message(parts.join(", "));
    }

    fn print(&mut self, text: &str) {
        self.host.print(&sanitize(text));
    }

    async fn attend(&mut self) {
        let key = tokio::select! {
            _ = self.standings_signal.recv() => Some(KeyCode::Enter),
            key = self.host.next() => self.host.handle(key),
        };
        if key == Some(KeyCode::Enter) {
            self.standings();
        }
    }
}
