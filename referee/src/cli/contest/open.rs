//! `contest open`: a ladder that takes in new versions of agents as they appear.

use super::deadline::planned_end;
use super::ends_soon::EndsSoon;
use super::generated::prepare_built;
use super::last::OrderedFinal;
use super::run::{SharedRunOptions, created, reopened};
use super::running::{ContestRun, EndedRun, listen};
use super::sources::{Sources, held_as};
use crate::cli::bars::{advance, count_bar};
use crate::cli::check::{ContestCheck, write_feedback};
use crate::cli::fleet::FleetVenue;
use crate::cli::global::Global;
use crate::cli::output::eprint_line;
use crate::cli::runtime::runtime;
use clap::Args;
use jiff::Timestamp;
use referee_contest::file::{ContestFile, Submissions};
use referee_contest::{Contest, Player, PlayerInfo};
use referee_play::agent_spec::AgentSpec;
use referee_play::archives::OnlyNow;
use referee_play::check::CheckReport;
use referee_play::interrupts::{Interrupt, Interrupts, PlannedEnd};
use referee_process::files::absolute;
use referee_process::{Cause, Failure, FailureKind};
use referee_protocol::Level;
use referee_protocol::sanitize::sanitize;
use referee_runner::changing::{Changing, Earlier, find_player};
use referee_runner::course::{Course, Noted, Phase, Task, Teams, VersionId, WebTimes};
use referee_runner::folder::{Folder, Lock};
use referee_runner::inbox::{Inbox, KeptVersion};
use referee_runner::pace::{AT_ONCE, Author};
use referee_runner::results::first_line;
use referee_runner::runner::RunResult;
use referee_runner::store::{Store, StoredContest};
use referee_runner::team_names::{unfit, version_of};
use referee_runner::writers::heavy_writers;
use referee_runner::{
    Broken, MadeCopies, disk_failure, hidden_files, programs, read_contest_file, sums,
};
use referee_web::{ProxiedAddress, Server, Settings, Visitors};
use std::cell::{Cell, RefCell};
use std::env::temp_dir;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How often the folder of submissions is searched.
const LOOK: Duration = Duration::from_secs(3);
/// How often a version is tried to take in, if something fails that isn't known to be its own fault.
const TRIES: usize = 2;

/// Run an open ladder: take in new and changed submissions as they appear
///
/// Watches the folder of submissions. A new or changed submission that is complete is built and
/// checked, and joins the contest; earlier versions stay in it. A version that fails the check
/// doesn't play. Runs until Ctrl-C or the deadline, and continues when you run it again. The
/// contest's format must be a ladder, or another that takes late players.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest open ladder.toml --out ladder\n  \
    referee contest open ladder --for 6h\n  \
    referee contest open ladder --web --url https://course.example.org")]
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
    /// Let teams hand in on a web site at this address, 127.0.0.1:8017 if none is given
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "127.0.0.1:8017")]
    web: Option<String>,
    #[arg(
        help = "Address of the site at a reverse proxy on this machine, such as https://course.example.org. \
                Defaults to the one given before"
    )]
    #[arg(long, value_name = "URL", requires = "web", value_parser = ProxiedAddress::read)]
    url: Option<ProxiedAddress>,
    /// Folder to create for a new contest. Defaults to ./contests/NAME
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedRunOptions,
}

/// A contest that agents join while it runs.
struct OpenContest<'a> {
    folder: Folder,
    sources: Rc<Sources>,
    options: &'a Options,
    global: &'a Global,
}

/// A version that is to be taken in.
struct Version<'a> {
    team: &'a str,
    /// Whether a player of this name is the team's.
    earlier: Earlier<'a>,
    /// Its files.
    path: &'a Path,
    /// The folder for what comes of it.
    folder: &'a Path,
    /// Its version on the web, if it was handed in there.
    id: Option<VersionId>,
}

/// Begins a time at whose end what is unpacked is removed; `None` if there is no room for that now.
fn only_now() -> Option<OnlyNow> {
    let begun = OnlyNow::begin();
    begun.inspect_err(|error| tracing::warn!("{}: {error}", temp_dir().display())).ok()
}

/// What became of a version.
enum Taken {
    /// It plays under this name; the sentence about it, unless it did before.
    Plays(String, Option<String>),
    /// It doesn't play, for this reason.
    Refused(String),
    /// There is no room for it now, for this reason.
    Later(String),
    /// A signal came first.
    Interrupted(ExitCode),
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
    let sources = options.sources(&stored, &folder)?;
    if let Some((inbox, begun)) = sources.inbox.as_ref().zip(begun.as_ref()) {
        inbox.borrow().keep_players(&begun.prepared)?;
    }
    let open = OpenContest { folder, sources: Rc::new(sources), options, global };
    let mut interrupts = listen(&runtime)?;
    open.serve(&interrupts)?;
    loop {
        let phase = open.sources.phase()?;
        let planned = first(planned_end(deadline), open.new_agents(phase.clone()));
        let ended = match &phase {
            Phase::Ladder => {
                let again = || reopened(open.folder.clone(), &options.shared, &runtime, global);
                let run = begun.take().map_or_else(again, Ok)?;
                interrupts.plan_end(Some(Box::pin(planned)));
                let ended = run.play(&runtime, &mut interrupts, global)?;
                let goes_on = open.after_builds(&ended.result)?;
                open.sources.has_given_up(!ended.result.given_up.is_empty());
                let is_done = ended.result.failure.is_none() && !goes_on;
                if is_done && interrupts.received().is_none() {
                    open.wait(&format!("for agents {}", open.place()), &runtime, &mut interrupts);
                }
                Some(ended)
            }
            Phase::Paused => {
                interrupts.plan_end(Some(Box::pin(planned)));
                open.wait("until the instructor ends the pause", &runtime, &mut interrupts);
                None
            }
            Phase::Final { .. } => open.play_final(&phase, deadline, &runtime, &mut interrupts)?,
        };
        if let Some(interrupt) = interrupts.received().filter(|it| *it != Interrupt::NewAgents) {
            runtime.shutdown_background();
            let code = || Ok(ExitCode::from(interrupt.code()));
            return ended.map_or_else(code, |it| it.print(options.shared.json, !global.quiet));
        }
        ended.map_or(Ok(()), EndedRun::check)?;
        open.relieve_disk()?;
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
    if options.web.is_some() {
        check_times(&prepared.text)?;
    }
    if options.has_inbox(&prepared.text)? {
        Inbox::find(&prepared.text, &prepared.base, options.submissions.as_deref())?;
    }
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

    /// Whether a folder of submissions is watched: with the web, none need be.
    fn has_inbox(&self, text: &str) -> Result<bool, Failure> {
        let named = self.submissions.is_some() || submissions_of(text)?.is_some();
        Ok(named || self.web.is_none())
    }

    /// Opens what new agents come from.
    fn sources(&self, stored: &StoredContest, folder: &Folder) -> Result<Sources, Failure> {
        let inbox = self.has_inbox(&stored.text)?;
        let inbox = inbox.then(|| Inbox::open(stored, folder, self.submissions.as_deref()));
        let course = self.web.as_ref().map(|_| {
            let has_command = submissions_of(&stored.text)?.is_some_and(|it| it.run.is_some());
            let web = ContestFile::web_of(&stored.text);
            let web = web.map_err(|error| Failure::usage(error.to_string()))?;
            Course::open(folder, web, has_command).map(Arc::new)
        });
        Ok(Sources {
            contest: folder.clone(),
            inbox: inbox.transpose()?.map(RefCell::new),
            course: course.transpose()?,
            pace: RefCell::default(),
            is_full: Cell::default(),
            relieved: Cell::default(),
            again: Cell::default(),
            wait: Cell::default(),
        })
    }
}

/// Fails before anything is created if a time can't be read.
fn check_times(text: &str) -> Result<(), Failure> {
    let web = ContestFile::web_of(text).map_err(|error| Failure::usage(error.to_string()))?;
    WebTimes::of(&web).map(|_| ())
}

fn submissions_of(text: &str) -> Result<Option<Submissions>, Failure> {
    ContestFile::submissions_of(text).map_err(|error| Failure::usage(error.to_string()))
}

/// Returns what comes first.
pub(super) async fn first(
    deadline: Option<PlannedEnd>,
    other: impl Future<Output = Interrupt>,
) -> Interrupt {
    let Some(deadline) = deadline else { return other.await };
    tokio::select! {
        interrupt = deadline => interrupt,
        interrupt = other => interrupt,
    }
}

impl OpenContest<'_> {
    /// Where agents come from, for people.
    fn place(&self) -> String {
        let inbox = self.sources.inbox.as_ref();
        let inbox = inbox.map(|inbox| inbox.borrow().folder().display().to_string());
        let web = self.sources.course.as_ref().map(|_| "on the web".to_owned());
        let inbox = inbox.map(|inbox| format!("in {inbox}"));
        inbox.into_iter().chain(web).collect::<Vec<_>>().join(" and ")
    }

    /// Starts the site, if there is one.
    fn serve(&self, interrupts: &Interrupts) -> Result<(), Failure> {
        let (Some(web), Some(course)) = (&self.options.web, &self.sources.course) else {
            return Ok(());
        };
        let parts = web.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts.ok_or_else(|| {
            Failure::usage(format!("--web={web}: expected an address and a port"))
                .help("such as --web=127.0.0.1:8017, or --web=0.0.0.0:8017 for other machines")
        })?;
        let known = || ProxiedAddress::read(&Teams::read(&self.folder).ok()?.proxied?).ok();
        let proxied = self.options.url.clone().or_else(known);
        let settings = Settings {
            folder: self.folder.root().to_owned(),
            games: self.global.games(&self.folder.store())?,
            host: host.to_owned(),
            port: Some(port),
            visitors: Visitors::Everyone,
            play: None,
            course: Some(course.clone()),
            proxied: proxied.clone(),
        };
        let server = Server::start(settings, interrupts.orders(), interrupts.paused_time())?;
        let proxied = proxied.as_ref().map(ProxiedAddress::origin);
        let own = || server.url().trim_end_matches('/').to_owned();
        let address = proxied.clone().unwrap_or_else(own);
        Teams::change(&self.folder, |teams| {
            (teams.address, teams.proxied) = (Some(address.clone()), proxied);
            Ok(())
        })?;
        eprint_line(&format!("site: {address}"));
        let begun = Store::open_to_read(&self.folder)?.contest()?.sandbox;
        let level = begun.and_then(|sandbox| sandbox.level.parse::<Level>().ok());
        if level.is_some_and(|level| !level.is_at_least(Level::Confined)) {
            eprint_line(
                "warning: at this sandbox level, agents can read what other teams handed in; \
                 `referee doctor` says how to get `confined`",
            );
        }
        if course.teams()?.teams.is_empty() {
            let folder = self.folder.root().display();
            self.global.note([format!(
                "there are no teams yet: add them with `referee contest teams {folder} --from teams.csv`"
            )]);
        }
        Ok(())
    }

    /// Waits for new agents, or until something else is to be done.
    fn new_agents(&self, phase: Phase) -> impl Future<Output = Interrupt> + use<> {
        let sources = self.sources.clone();
        async move {
            let games_for = match phase {
                Phase::Ladder => sources.pace.borrow().games_for(Instant::now()),
                Phase::Paused => Duration::ZERO,
                Phase::Final { .. } => Duration::MAX,
            };
            let began = Instant::now();
            loop {
                tokio::time::sleep(LOOK).await;
                if sources.has_other_phase(&phase) || began.elapsed() >= games_for && sources.look()
                {
                    return Interrupt::NewAgents;
                }
            }
        }
    }

    /// Waits for a signal, or for what is planned.
    fn wait(&self, what: &str, runtime: &Runtime, interrupts: &mut Interrupts) {
        if !self.global.quiet {
            eprint_line(&format!("waiting {what}"));
        }
        runtime.block_on(interrupts.interrupted());
    }

    /// Plays a final that the instructor has started. If it can't be played, the ladder goes on.
    fn play_final(
        &self,
        phase: &Phase,
        deadline: Option<Timestamp>,
        runtime: &Runtime,
        interrupts: &mut Interrupts,
    ) -> Result<Option<EndedRun>, Failure> {
        let (Phase::Final { order, rounds, folder: name }, Some(course)) =
            (phase, &self.sources.course)
        else {
            return Ok(None);
        };
        let of = OrderedFinal { course, folder: &self.folder, rounds: *rounds, name };
        let other = self.new_agents(phase.clone());
        let options = (&self.options.shared, deadline);
        let ended = match of.play(options, runtime, interrupts, other, self.global) {
            Ok(ended) => ended,
            Err(failure) => {
                tracing::error!("the final can't be played: {failure}");
                course.settle(*order, Err(failure.to_string()))?;
                return Ok(None);
            }
        };
        if ended.result.over {
            course.settle(*order, Ok(format!("played, in {name}")))?;
        } else if let Some((game, why)) = ended.result.given_up.first() {
            course.settle(*order, Err(format!("game {game} could not be played: {why}")))?;
        }
        Ok(Some(ended))
    }

    /// Takes in the agents that were found. Returns the exit code of an interrupt, if one came.
    fn take_in(&self) -> Result<Option<ExitCode>, Failure> {
        let _ends = EndsSoon::begin()?;
        // The list at the end of the run has all files, of which some change now.
        sums::write(&self.folder, &Store::open(&self.folder)?)?;
        let interrupted = match &self.sources.inbox {
            Some(inbox) => self.take_submissions(inbox)?,
            None => None,
        };
        match &self.sources.course {
            Some(course) if interrupted.is_none() => self.take_uploads(course),
            _ => Ok(interrupted),
        }
    }

    fn take_submissions(&self, inbox: &RefCell<Inbox>) -> Result<Option<ExitCode>, Failure> {
        let until = Instant::now() + AT_ONCE;
        loop {
            let began = Instant::now();
            let Some(_unpacked) = only_now() else { return Ok(None) };
            let (kept, notes) =
                inbox.borrow_mut().keep(&mut self.sources.pace.borrow_mut(), until)?;
            self.global.note(notes);
            let Some(version) = kept else { return Ok(None) };
            let &KeptVersion { ref team, is_teams, ref path, ref folder, user, .. } = &version;
            let submission = inbox.borrow().submission(&version);
            let earlier = is_teams.map_or(Earlier::At(&submission), Earlier::Known);
            let taken = self.take(&Version { team, earlier, path, folder, id: None })?;
            self.joined(&taken, &submission, Author::User(user));
            match taken {
                Taken::Interrupted(code) => return Ok(Some(code)),
                Taken::Plays(name, text) => {
                    version.close(Ok(&name))?;
                    self.tell(&Taken::Plays(name, text), team);
                }
                later @ Taken::Later(_) => {
                    // It is looked at again when its turn comes.
                    version.forget()?;
                    self.tell(&later, team);
                }
                Taken::Refused(why) => {
                    let feedback = folder.join("feedback.md");
                    let see = format!("{why}; see {}", feedback.display());
                    let why = if feedback.exists() { see } else { why };
                    version.close(Err(&why))?;
                    self.tell(&Taken::Refused(why), team);
                }
            }
            let mut pace = self.sources.pace.borrow_mut();
            pace.took(submission, began, Instant::now());
            pace.charge(user, began.elapsed());
        }
    }

    fn take_uploads(&self, course: &Course) -> Result<Option<ExitCode>, Failure> {
        let now = Instant::now();
        let tasks = course.tasks(|team| self.sources.pace.borrow().is_held(&held_as(team), now))?;
        for task in tasks {
            if now.elapsed() >= AT_ONCE {
                break;
            }
            let (id, team, path, folder) = match task {
                Task::Take { version, team, place, folder } => (version, team, place, folder),
                Task::Withdraw { version, player, reason } => {
                    self.change(&reason, |contest| contest.withdraw(&player))?.ok();
                    course.note(version, Noted::Withdrawn)?;
                    continue;
                }
                Task::ComeBack { version, player, reason } => {
                    self.change(&reason, |contest| contest.come_back(&player))?.ok();
                    course.note(version, Noted::CameBack)?;
                    continue;
                }
                Task::Rerun { order, games, reason } => {
                    let done = self.change(&reason, |contest| contest.replay(&games))?;
                    course.settle(order, done)?;
                    continue;
                }
            };
            if !course.unpack(id)? {
                continue;
            }
            let Some(_unpacked) = only_now() else { return Ok(None) };
            let began = Instant::now();
            course.note(id, Noted::Building)?;
            let version = Version {
                team: &team,
                earlier: Earlier::OfTheSameName,
                path: &path,
                folder: &folder,
                id: Some(id),
            };
            let taken = self.take(&version)?;
            // A build that fails later, or makes the same agent, has taken room too.
            if let Err(full) = course.count_built(id) {
                tracing::warn!("{}: {}", sanitize(&team), full.text);
            }
            self.joined(&taken, &held_as(id.team), Author::Team(id.team));
            match &taken {
                Taken::Interrupted(code) => return Ok(Some(*code)),
                Taken::Plays(name, _) => course.note(id, Noted::Plays(name))?,
                Taken::Refused(why) | Taken::Later(why) => course.note(id, Noted::Refused(why))?,
            }
            self.tell(&taken, &team);
            let held = self.sources.pace.borrow_mut().took(held_as(id.team), began, Instant::now());
            course.hold(id.team, held);
        }
        Ok(None)
    }

    /// Changes the contest for this reason. Returns what that did, or why it can't be done: it may have been done already.
    fn change(
        &self,
        reason: &str,
        change: impl FnOnce(Changing) -> Result<String, Failure>,
    ) -> Result<Result<String, String>, Failure> {
        match change(Changing::open(&self.folder, reason)?) {
            Ok(text) => {
                self.global.note([text.clone()]);
                Ok(Ok(text))
            }
            Err(failure) if failure.kind() == FailureKind::Machine => Err(failure),
            Err(failure) => {
                tracing::warn!("{failure}");
                Ok(Err(failure.to_string()))
            }
        }
    }

    /// Has authors pay for builds where the games are played, since others waited for them, and players leave whose agents
    /// can't be built or started there: the ladder would wait for their games. Returns whether somebody has left.
    fn after_builds(
        &self,
        RunResult { waits, unplayable, .. }: &RunResult,
    ) -> Result<bool, Failure> {
        if waits.is_empty() && unplayable.is_empty() {
            return Ok(false);
        }
        let contest = Store::open_to_read(&self.folder)?.contest()?.contest;
        for (player, time) in waits {
            let Some(PlayerInfo { name, .. }) = contest.players.get(player.index()) else {
                continue;
            };
            let held = self.sources.pace.borrow_mut().waited(name, *time, Instant::now());
            if let (Some((Author::Team(team), held)), Some(course)) = (held, &self.sources.course) {
                course.hold(team, held);
            }
        }
        let mut has_left = false;
        for player in unplayable {
            // Teams see this reason: it names no worker.
            let why = "it can't be built or started on the machines that play the games";
            has_left |= self.withdraw(&contest, *player, why)?;
        }
        Ok(has_left)
    }

    /// Has the player leave who fills the disk most with what its agent writes in games, if one does. The others go on as
    /// long as there is room.
    fn relieve_disk(&self) -> Result<(), Failure> {
        if !self.sources.needs_relief() {
            return Ok(());
        }
        self.sources.relieved.set(Some(Instant::now()));
        let store = Store::open_to_read(&self.folder)?;
        let contest = store.contest()?.contest;
        let heavy = heavy_writers(&self.folder, &store, |player| !contest.has_left(player))?;
        if let Some((player, bytes)) = heavy.into_iter().max_by_key(|(_, bytes)| *bytes) {
            let mib = bytes >> 20;
            let why = format!("the disk is nearly full, and it writes {mib} MiB a game");
            self.withdraw(&contest, player, &why)?;
        }
        Ok(())
    }

    /// Has a player leave for this reason, which its team sees. Returns whether it has left now.
    fn withdraw(&self, contest: &Contest, player: Player, why: &str) -> Result<bool, Failure> {
        let Some(PlayerInfo { name, .. }) = contest.players.get(player.index()) else {
            return Ok(false);
        };
        let has_left = self.change(why, |contest| contest.withdraw(name))?.is_ok();
        if let Some(course) = &self.sources.course {
            course.refuse_player(name, why)?;
        }
        Ok(has_left)
    }

    /// Notes whose version it is that plays now, perhaps again.
    fn joined(&self, taken: &Taken, submission: &Path, author: Author) {
        if let Taken::Plays(name, _) = taken {
            self.sources.pace.borrow_mut().joined(name, submission.to_owned(), author);
        }
    }

    /// Prints what became of a team's version.
    fn tell(&self, taken: &Taken, team: &str) {
        let team = sanitize(team);
        let text = match taken {
            Taken::Plays(_, Some(text)) => text.clone(),
            Taken::Plays(name, None) => format!("{team} plays already, as {}", sanitize(name)),
            Taken::Refused(why) => format!("{team} does not play: {why}"),
            Taken::Later(why) => format!("{team} waits: {why}"),
            Taken::Interrupted(_) => return,
        };
        if !self.global.quiet {
            eprint_line(&text);
        }
    }

    /// Builds, checks and adds a version of an agent. What fails for one version, as whoever wrote it may want, doesn't
    /// end the contest, but what fails in the contest's own files does.
    fn take(&self, version: &Version<'_>) -> Result<Taken, Failure> {
        let mut why = String::new();
        for _ in 0..TRIES {
            let made = MadeCopies::of(&self.folder);
            let taken = self.try_to_take(version);
            if let Err(failure) = made.remove_others(&self.folder) {
                tracing::warn!("{failure}");
            }
            match taken {
                Err(failure) if failure.cause() == Some(Cause::NoTemporaryRoom) => {
                    return Ok(Taken::Later(sanitize(&first_line(&failure.to_string()))));
                }
                Err(failure)
                    if failure.cause() == Some(Cause::DiskFull) && self.folder.has_room() =>
                {
                    // What was copied is removed.
                    return Ok(Taken::Refused("it has too many bytes for the disk".to_owned()));
                }
                Err(failure) if failure.cause() != Some(Cause::DiskFull) => {
                    tracing::error!("{} can't be taken in: {failure}", sanitize(version.team));
                    sums::write(&self.folder, &Store::open(&self.folder)?)?;
                    why = sanitize(&first_line(&failure.to_string()));
                }
                taken => return taken,
            }
        }
        let why = version.for_author(&why);
        Ok(Taken::Refused(format!("the referee failed {TRIES} times to take it in: {why}")))
    }

    /// Returns why a submission in the folder can't have its name beside the teams of the site: one who may write there would
    /// be in a team's place.
    fn name_refusal(&self, name: &str) -> Result<Option<String>, Failure> {
        let teams = Teams::read(&self.folder)?.teams.into_iter().map(|team| team.name);
        let teams: Vec<String> = teams.collect();
        let is_teams = teams.iter().any(|team| team == name);
        let own = is_teams.then(|| "is that of a team that hands in on the site".to_owned());
        let why = own.or_else(|| unfit(name, &teams));
        Ok(why.map(|why| format!("its name {why}; rename the submission")))
    }

    fn try_to_take(&self, version: &Version<'_>) -> Result<Taken, Failure> {
        if version.id.is_none()
            && let Some(why) = self.name_refusal(version.team)?
        {
            return Ok(Taken::Refused(why));
        }
        let contest = Changing::open(&self.folder, "submitted")?;
        let bar = count_bar("building", !self.global.quiet);
        let progress = |done, of| advance(&bar, done, of);
        let (mut interrupted, mut has_feedback) = (None, false);
        let Version { team, earlier, path, .. } = *version;
        let added = contest.add_version(path, team, earlier, &progress, |agent| {
            if let (Some(course), Some(id)) = (&self.sources.course, version.id) {
                course.count_built(id)?;
            }
            FleetVenue::check(&self.options.shared.fleet, agent)?;
            has_feedback = true;
            self.note(version, Noted::Checking)?;
            if self.options.no_check {
                return Ok(());
            }
            let spec = &agent.specs[0];
            interrupted = self.check(version, &spec.name, spec)?;
            // What was not checked does not join.
            interrupted.map_or(Ok(()), |_| Err(Failure::operation("interrupted")))
        });
        bar.finish_and_clear();
        if let Some(code) = interrupted {
            return Ok(Taken::Interrupted(code));
        }
        match added {
            Ok((name, None)) if self.has_left(&name)? && !self.comes_back(version, &name) => {
                let why = format!(
                    "it is the same as {}, which was withdrawn: change one of its files",
                    sanitize(&name)
                );
                Ok(Taken::Refused(why))
            }
            Ok((name, text)) => Ok(Taken::Plays(name, text)),
            Err(failure) if failure.kind() == FailureKind::Machine => Err(failure),
            Err(failure) => {
                let why = sanitize(&first_line(&failure.to_string()));
                if !has_feedback {
                    let agent = version.path.display().to_string();
                    self.feed_back(version, version.team, &agent, &Err(failure))?;
                }
                Ok(Taken::Refused(version.for_author(&why)))
            }
        }
    }

    /// Notes a step of a version that was handed in on the web.
    fn note(&self, version: &Version<'_>, step: Noted<'_>) -> Result<(), Failure> {
        match (&self.sources.course, version.id) {
            (Some(course), Some(id)) => course.note(id, step),
            _ => Ok(()),
        }
    }

    /// Whether a player that has left comes back when this version of it is noted.
    fn comes_back(&self, version: &Version<'_>, name: &str) -> bool {
        let course = self.sources.course.as_ref().zip(version.id);
        course.is_some_and(|(course, id)| course.has_left(id.team, name))
    }

    fn has_left(&self, name: &str) -> Result<bool, Failure> {
        let contest = Store::open_to_read(&self.folder)?.contest()?.contest;
        let player = find_player(&contest.players, name)?;
        Ok(contest.has_left(player))
    }

    /// Checks an agent and writes its feedback. Fails if it does not pass.
    fn check(
        &self,
        version: &Version<'_>,
        name: &str,
        spec: &AgentSpec,
    ) -> Result<Option<ExitCode>, Failure> {
        let read = Ok(spec.clone());
        let (report, interrupted) = self.feed_back(version, name, &spec.written, &read)?;
        if interrupted.is_some() || report.ok {
            self.note(version, Noted::Checked(&report.counts()))?;
            return Ok(interrupted);
        }
        Err(Failure::usage(report.line()))
    }

    /// Writes the feedback on an agent: of its check, or why it can't be read or built.
    fn feed_back(
        &self,
        version: &Version<'_>,
        name: &str,
        agent: &str,
        spec: &Result<AgentSpec, Failure>,
    ) -> Result<(CheckReport, Option<ExitCode>), Failure> {
        let stored = Store::open_to_read(&self.folder)?.contest()?;
        let (games, others) =
            (programs::of_folder(&self.folder)?, hidden_files(&stored, &self.folder));
        let check = ContestCheck::new(&stored.contest, &games, &stored.base, &[], others);
        let (mut report, interrupted) = check.check(agent, spec, self.global)?;
        report.name = Some(name.to_owned());
        let mut hidden = check.programs;
        if version.id.is_some() {
            let own = [agent.to_owned(), version.path.display().to_string()];
            hidden.extend(own.map(|path| (path, ".".to_owned())));
        }
        write_feedback(&report, version.folder, "feedback", &hidden)?;
        Ok((report, interrupted))
    }
}

impl Version<'_> {
    /// Returns a text without the place of the files on this machine, if its reader is elsewhere.
    fn for_author(&self, text: &str) -> String {
        if self.id.is_none() {
            return text.to_owned();
        }
        let places = [self.path, self.folder].map(|place| place.display().to_string());
        let text = places.iter().fold(text.to_owned(), |text, place| text.replace(place, "."));
        text.strip_prefix(".: ").map_or(text.clone(), str::to_owned)
    }
}
