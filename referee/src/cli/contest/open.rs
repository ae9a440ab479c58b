//! `contest open`: a ladder that takes in new versions of agents as they appear.

use super::deadline::planned_end;
use super::generated::prepare_built;
use super::run::{SharedRunOptions, created, reopened};
use super::running::{ContestRun, listen};
use crate::cli::bars::{advance, count_bar};
use crate::cli::check::{ContestCheck, write_feedback};
use crate::cli::global::Global;
use crate::cli::output::eprint_line;
use crate::cli::runtime::runtime;
use clap::Args;
use referee_contest::Contest;
use referee_play::agent_spec::AgentSpec;
use referee_play::interrupts::{Interrupt, PlannedEnd};
use referee_process::files::absolute;
use referee_process::{Failure, FailureKind};
use referee_protocol::sanitize::sanitize;
use referee_runner::changing::{Changing, version_of};
use referee_runner::folder::{Folder, Lock};
use referee_runner::inbox::{Inbox, KeptVersion};
use referee_runner::store::Store;
use referee_runner::{Broken, disk_failure, read_contest_file, sums};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How often the folder of submissions is searched.
const LOOK: Duration = Duration::from_secs(3);
/// Run an open ladder: take in new and changed submissions as they appear
///
/// Watches the folder of submissions. A new or changed submission that is complete is built and
/// checked, and joins the contest; earlier versions stay in it. A version that fails the check
/// doesn't play. Runs until Ctrl-C or the deadline, and continues when you run it again. The
/// contest's format must be a ladder, or another that takes late players.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest open ladder.toml --out ladder\n  \
    referee contest open ladder --for 6h")]
pub(super) struct Options {
    /// Contest file to begin with, or the folder of a contest
    #[arg(value_name = "FILE|DIR")]
    contest: PathBuf,
    /// Folder of submissions. Defaults to `submissions` in the contest file
    #[arg(long, value_name = "DIR")]
    submissions: Option<PathBuf>,
    /// Let submissions join without a check
    #[arg(long)]
    no_check: bool,
    /// Folder to create for a new contest. Defaults to ./contests/NAME
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedRunOptions,
}

/// A contest that agents join while it runs.
struct OpenContest<'a> {
    folder: Folder,
    inbox: Rc<RefCell<Inbox>>,
    options: &'a Options,
    global: &'a Global,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    if options.shared.metrics.is_some() {
        return Err(Failure::usage("`contest open` has no --metrics")
            .help("`referee serve` has metrics of all contests in a folder"));
    }
    let deadline = options.shared.deadline.at();
    let runtime = runtime()?;
    let (folder, _lock, mut begun) = begin(options, &runtime, global)?;
    let stored = Store::open_to_read(&folder)?.contest()?;
    let inbox = Inbox::open(&stored, &folder, options.submissions.as_deref())?;
    if begun.is_some() {
        inbox.keep_players(&stored.contest)?;
    }
    let inbox = Rc::new(RefCell::new(inbox));
    let open = OpenContest { folder, inbox, options, global };
    let mut interrupts = listen(&runtime)?;
    loop {
        let run = begun
            .take()
            .map_or_else(|| reopened(open.folder.clone(), &options.shared, &runtime, global), Ok)?;
        let deadline_end = planned_end(deadline);
        interrupts.plan_end(Some(Box::pin(first(deadline_end, open.new_agents()))));
        let ended = run.play(&runtime, &mut interrupts, global)?;
        if ended.result.failure.is_none() && interrupts.received().is_none() {
            if !global.quiet {
                eprint_line(&format!("waiting for agents in {}", open.place()));
            }
            runtime.block_on(interrupts.interrupted());
        }
        if interrupts.received() != Some(Interrupt::NewAgents) {
            runtime.shutdown_background();
            return ended.print(options.shared.json, !global.quiet);
        }
        ended.check()?;
        if let Some(code) = open.take_in()? {
            return Ok(code);
        }
    }
}

/// Opens the contest's folder, or creates it.
fn begin(
    options: &Options,
    runtime: &Runtime,
    global: &Global,
) -> Result<(Folder, Lock, Option<ContestRun>), Failure> {
    let check =
        |contest: &Contest| contest.refuses_late().map_or(Ok(()), |why| Err(Failure::usage(why)));
    if Folder::has_contest(&options.contest) {
        let folder = Folder::open(&options.contest)?;
        let lock = folder.lock()?;
        check(&Store::open_to_read(&folder)?.contest()?.contest)?;
        return Ok((folder, lock, None));
    }
    options.make_inbox(global)?;
    let prepared = prepare_built(&options.contest, Broken::LeaveOut, global)?;
    check(&prepared.contest)?;
    for player in &prepared.contest.players {
        if let Some(team) = version_of(&player.name) {
            let (name, team) = (sanitize(&player.name), sanitize(team));
            return Err(Failure::usage(format!(
                "{name} has the name of a version of {team}, which may still come"
            ))
            .help("rename it"));
        }
    }
    Inbox::find(&prepared.text, &prepared.base, options.submissions.as_deref())?;
    let (run, lock) = created(prepared, options.out.as_deref(), &options.shared, runtime, global)?;
    Ok((run.folder.clone(), lock, Some(run)))
}

impl Options {
    /// Creates the folder of submissions: before the first one is handed in, there may be none.
    fn make_inbox(&self, global: &Global) -> Result<(), Failure> {
        let text = read_contest_file(&self.contest)?;
        let base = absolute(self.contest.parent().unwrap_or(Path::new("")))?;
        // Mistakes in the file are reported when it is read as a whole.
        let Ok((inbox, _)) = Inbox::place(&text, &base, self.submissions.as_deref()) else {
            return Ok(());
        };
        if inbox.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&inbox).map_err(|error| disk_failure(&inbox, &error))?;
        global.note([format!("created {} for submissions", inbox.display())]);
        Ok(())
    }
}

/// Returns what comes first.
async fn first(deadline: Option<PlannedEnd>, other: impl Future<Output = Interrupt>) -> Interrupt {
    let Some(deadline) = deadline else { return other.await };
    tokio::select! {
        interrupt = deadline => interrupt,
        interrupt = other => interrupt,
    }
}

impl OpenContest<'_> {
    /// The folder of submissions.
    fn place(&self) -> String {
        self.inbox.borrow().folder().display().to_string()
    }

    /// Waits for new agents.
    fn new_agents(&self) -> impl Future<Output = Interrupt> + use<> {
        let inbox = self.inbox.clone();
        async move {
            let games_for = inbox.borrow().games_for();
            tokio::time::sleep(games_for).await;
            loop {
                tokio::time::sleep(LOOK).await;
                let found = inbox.borrow_mut().look();
                for warning in inbox.borrow_mut().warnings() {
                    tracing::warn!("{warning}");
                }
                match found {
                    Ok(true) => return Interrupt::NewAgents,
                    Ok(false) => {}
                    Err(error) => tracing::warn!(%error, "cannot list the submissions"),
                }
            }
        }
    }

    /// Takes in the agents that were found. Returns the exit code of an interrupt, if one came.
    fn take_in(&self) -> Result<Option<ExitCode>, Failure> {
        // The list at the end of the run has all files, of which some change now.
        sums::write(&self.folder, &Store::open(&self.folder)?)?;
        let (versions, notes) = self.inbox.borrow_mut().keep()?;
        self.global.note(notes);
        for version in versions {
            let began = Instant::now();
            let interrupted = self.take(&version)?;
            if interrupted.is_some() {
                return Ok(interrupted);
            }
            self.inbox.borrow_mut().took(&version, began);
        }
        Ok(None)
    }

    /// Builds, checks and adds a version of an agent.
    fn take(&self, version: &KeptVersion) -> Result<Option<ExitCode>, Failure> {
        let contest = Changing::open(&self.folder, "submitted")?;
        let bar = count_bar("building", !self.global.quiet);
        let progress = |done, of| advance(&bar, done, of);
        let mut interrupted = None;
        let added = contest.add_version(&version.path, &version.team, &progress, |name, spec| {
            if self.options.no_check {
                return Ok(());
            }
            interrupted = self.check(version, name, spec)?;
            // What was not checked does not join.
            interrupted.map_or(Ok(()), |_| Err(Failure::operation("interrupted")))
        });
        bar.finish_and_clear();
        if interrupted.is_some() {
            return Ok(interrupted);
        }
        let team = sanitize(&version.team);
        let text = match added {
            Ok((name, text)) => {
                version.close(Ok(&name))?;
                text.unwrap_or_else(|| format!("{team} plays already, as {}", sanitize(&name)))
            }
            Err(failure) if failure.kind() == FailureKind::Machine => return Err(failure),
            Err(failure) => {
                let why = sanitize(&failure.to_string());
                version.close(Err(&why))?;
                format!("{team} does not play: {why}")
            }
        };
        if !self.global.quiet {
            eprint_line(&text);
        }
        Ok(None)
    }

    /// Checks an agent and writes its feedback. Fails if it does not pass.
    fn check(
        &self,
        version: &KeptVersion,
        name: &str,
        spec: &AgentSpec,
    ) -> Result<Option<ExitCode>, Failure> {
        let stored = Store::open_to_read(&self.folder)?.contest()?;
        let check = ContestCheck::new(&stored.contest, &stored.base, &[]);
        let checked = check.check(&spec.written, &Ok(spec.clone()), self.global)?;
        let (mut report, interrupted) = checked;
        report.name = Some(name.to_owned());
        write_feedback(&report, &version.folder, "feedback")?;
        if interrupted.is_some() || report.ok {
            return Ok(interrupted);
        }
        let feedback = version.folder.join("feedback.md");
        Err(Failure::usage(format!("{}; see {}", report.line(), feedback.display())))
    }
}
