//! A contest while it is played: the bar, the lines beside it, and what is told when it ends.

use super::place::{Place, Run};
use super::report::{self, Form, Results};
use super::run::{GoingOptions, resume_command};
use crate::cli::Global;
use crate::cli::bars::{games_counter, progress_bar, spinner};
use crate::cli::output::{BoardOptions, print, print_json, stderr_has_colour, tell};
use crate::cli::runtime::machine;
use crate::cli::viewer::Desk;
use crate::screen::Setting;
use indicatif::ProgressBar;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use referee_contest::formats::Compare;
use referee_contest::sprt::Summary;
use referee_contest::sprt::render::{live, plan, verdict};
use referee_contest::{Contest, FormatSettings, PlayerInfo, Schedule};
use referee_play::agent_spec::AgentSpec;
use referee_play::interrupts::Interrupts;
use referee_play::pool::PoolSize;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::cores;
use referee_process::sandbox::{Depth, Enclosure, Wish, choose};
use referee_protocol::plain::{games, tame};
use referee_runner::Prepared;
use referee_runner::field::Crew;
use referee_runner::folder::Folder;
use referee_runner::runner::{Ended, Progress, Spectator};
use referee_runner::store::Store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often the bar is drawn anew at least.
const TICK: Duration = Duration::from_millis(500);

/// So many reasons why games could not be played are told at the end.
const REASONS_SHOWN: usize = 5;

/// A contest that is about to go on.
#[derive(Debug)]
pub(crate) struct Going {
    pub(crate) prepared: Prepared,
    pub(crate) folder: Folder,
    pub(crate) store: Store,
    pub(super) place: Place,
    /// When it was begun, RFC 3339.
    pub(crate) begun: String,
    pub(crate) runtime: Runtime,
    pub(crate) options: GoingOptions,
}

/// How many matches are played at once, and where.
pub(super) fn room(prepared: &Prepared, options: &GoingOptions) -> PoolSize {
    let asked = options.jobs.and_then(|jobs| usize::try_from(jobs).ok());
    PoolSize { matches: asked.or(prepared.jobs).unwrap_or_else(cores::count), pin: prepared.pin }
}

/// What the agents of a contest are started in.
pub(super) fn enclosed(
    wish: &Wish,
    prepared: &Prepared,
    options: &GoingOptions,
    global: &Global,
) -> Result<Enclosure, Failure> {
    let agents = room(prepared, options).matches.saturating_mul(prepared.contest.seats());
    let wished = prepared.contest.sandbox.pondering;
    let spinner = spinner("attacking the sandbox", !global.quiet);
    let chosen = choose(wish, Depth::Start);
    spinner.finish_and_clear();
    Ok(chosen?.pondering(wished, agents))
}

/// Plays what is left of a contest, and tells what came of it.
pub(crate) fn go_on(going: Going, global: &Global) -> Result<ExitCode, Failure> {
    let Going { mut prepared, folder, store, place, begun, runtime, options } = going;
    let resume = resume_command(&folder, place.words());
    let (contest, files) = (prepared.contest.clone(), prepared.files());
    let agents_are_here = place.apart().is_some();
    let ended = runtime.block_on(async {
        let mut interrupts =
            Interrupts::listen_patiently().map_err(machine("signals can't be heard"))?;
        let (playing, wanted) = (RunningMatches::default(), !global.quiet);
        let mut watcher =
            Watcher::new(&contest, &folder, playing.clone(), &mut interrupts, wanted)?;
        if let (FormatSettings::Compare(Compare { sprt }), true) = (&contest.format, wanted) {
            let most = u64::from(contest.rounds);
            tell(plan(sprt.as_ref(), most, report::names(&contest)).trim_end());
        }
        let (prepared, folder) = (&mut prepared, &folder);
        let run = Run { prepared, folder, playing, options: &options };
        let ended = Box::pin(place.play(run, &begun, store, &mut interrupts, &mut watcher)).await;
        watcher.desk.close();
        watcher.bar.finish_and_clear();
        ended
    });
    // Its folder is there by now, whatever the server has against it.
    let told_how = |failure| if agents_are_here { failure } else { resumable(&failure, &resume) };
    let ended = ended.map_err(told_how)?;
    // Whatever still waits for the keyboard must not hold up the end.
    runtime.shutdown_background();
    if agents_are_here {
        for name in changed(&contest, &prepared.base, &files) {
            tell(&format!(
                "warning: {name} is no longer what it was when the contest began: some of its games \
                 may be another program's, and a resume is refused"
            ));
        }
    }
    told(&contest, &folder, ended, &resume, options.json, !global.quiet)
}

/// Whose files have changed since the contest began, by name. Nobody reads them again for each game.
fn changed(contest: &Contest, base: &Path, files: &BTreeMap<String, Vec<PathBuf>>) -> Vec<String> {
    let same = |player: &PlayerInfo| {
        let files = files.get(&player.name).map_or(&[][..], Vec::as_slice);
        let now = AgentSpec::read_in(&player.run, base);
        now.is_ok_and(|now| now.has_digest(&player.digest, files))
    };
    contest.players.iter().filter(|player| !same(player)).map(|own| tame(&own.name)).collect()
}

/// A failure after which the contest can go on, with the command for that.
fn resumable(failure: &Failure, resume: &str) -> Failure {
    let first = failure.help_text().map_or_else(String::new, |help| format!("{help}; then: "));
    Failure::new(failure.code(), failure.to_string()).help(format!("{first}{resume}"))
}

/// What is said at the end.
fn told(
    contest: &Contest,
    folder: &Folder,
    ended: Ended,
    resume: &str,
    json: bool,
    wanted: bool,
) -> Result<ExitCode, Failure> {
    let spinner = spinner("making the report", wanted);
    let stopped = |failure: Failure| resumable(&failure, resume);
    let Results { report: results, comparison, .. } = match report::of_folder(folder) {
        Ok(results) => results,
        // What stopped the contest may well be why there is no report, and is what matters.
        Err(error) => return Err(stopped(ended.failure.unwrap_or(error))),
    };
    let page = report::write_all(folder, &results);
    spinner.finish_and_clear();
    match comparison {
        Some(summary) if json => print_json(&summary)?,
        Some(summary) if ended.over => print(&verdict(&summary, report::names(contest)))?,
        Some(summary) => print(&(live(&summary, report::names(contest)) + "\n"))?,
        None if json => print_json(&results)?,
        None => print(&Form::Text.render(&results, "")?)?,
    }
    ended.failure.map_or(Ok(()), |failure| Err(stopped(failure)))?;
    let page = page?;
    if let Some(interrupt) = ended.interrupted {
        tell(&format!("resume: {resume}"));
        return Ok(ExitCode::from(interrupt.code()));
    }
    if !ended.given_up.is_empty() {
        return Err(Failure::machine(not_played(&ended.given_up)).help(format!(
            "the machine spoiled them, not the agents; to try them again: {resume}"
        )));
    }
    if wanted {
        tell(&format!("report: {}", page.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Which games could not be played: every reason once, of many the first.
fn not_played(given_up: &[(u64, String)]) -> String {
    let mut reasons: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (number, why) in given_up {
        reasons.entry(why).or_default().push(*number);
    }
    let mut told: Vec<(Vec<u64>, &str)> = reasons.into_iter().map(|(why, of)| (of, why)).collect();
    told.sort();
    let (shown, more) = told.split_at(told.len().min(REASONS_SHOWN));
    let one = |(numbers, why): &(Vec<u64>, &str)| {
        format!("{} could not be played: {}", games(numbers), tame(why))
    };
    let mut parts: Vec<String> = shown.iter().map(one).collect();
    let more: usize = more.iter().map(|(numbers, _)| numbers.len()).sum();
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    parts.join("; ")
}

/// Somebody at a terminal.
struct Watcher<'a> {
    contest: &'a Contest,
    folder: &'a Folder,
    bar: ProgressBar,
    begun: bool,
    asked: Signal,
    desk: Desk,
}

impl<'a> Watcher<'a> {
    fn new(
        contest: &'a Contest,
        folder: &'a Folder,
        playing: RunningMatches,
        interrupts: &mut Interrupts,
        wanted: bool,
    ) -> Result<Self, Failure> {
        let asked =
            signal(SignalKind::user_defined1()).map_err(machine("signals can't be heard"))?;
        let bar = match &contest.format {
            FormatSettings::Compare(Compare { sprt: Some(_) }) => games_counter(wanted),
            _ => progress_bar(usize::MAX, wanted),
        };
        // The time goes on between games, too.
        bar.enable_steady_tick(TICK);
        let style = BoardOptions::default().style(stderr_has_colour()).unwrap_or_default();
        let desk = Desk::new(playing, style, Setting::LiveMany, &bar, interrupts, true)?;
        Ok(Self { contest, folder, bar, begun: false, asked, desk })
    }

    fn standings(&mut self) {
        let text = match report::of_folder(self.folder) {
            Ok(results) => results.report.brief(),
            Err(failure) => format!("error: {failure}"),
        };
        self.desk.tell(text.trim_end());
    }
}

impl Spectator for Watcher<'_> {
    fn see(&mut self, progress: &Progress, schedule: &Schedule) {
        self.bar.set_length(progress.most);
        self.bar.set_position(progress.played);
        if !self.begun {
            // What was played before says nothing of how fast this run is.
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
        if let FormatSettings::Compare(Compare { sprt }) = &self.contest.format {
            let summary = Summary::of(sprt.as_ref(), schedule.met(), &[]);
            parts.push(live(&summary, report::names(self.contest)));
        } else if let Some((player, won, stake)) = progress.leader {
            let name: String = tame(&self.contest.players[player.index()].name);
            let name: String = name.chars().take(16).collect();
            parts.push(format!("{name} leads: {} %", won * 100 / stake.max(1)));
        }
        if let Some(Crew { workers, slots }) = progress.crew {
            parts.push(format!("{workers} workers, {slots} slots"));
        }
        if self.desk.is_manned() {
            // First, because the end is cut off where there is little room.
            parts.insert(0, "b: watch".to_owned());
        }
        self.bar.set_message(parts.join(", "));
    }

    fn tell(&mut self, text: &str) {
        self.desk.tell(&tame(text));
    }

    /// The standings, or a key at the desk, or time to draw there.
    type Wish = Option<Option<KeyEvent>>;

    async fn wish(&mut self) -> Self::Wish {
        tokio::select! {
            _ = self.asked.recv() => None,
            key = self.desk.next() => Some(key),
        }
    }

    fn fulfil(&mut self, wish: Self::Wish) {
        let key = wish.map_or(Some(KeyCode::Enter), |key| self.desk.take(key));
        if key == Some(KeyCode::Enter) {
            self.standings();
        }
    }
}
