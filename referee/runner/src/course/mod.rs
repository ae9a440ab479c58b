//! A course that hands in on the web: its teams, what each has handed in, and what becomes of it. The server and the
//! open ladder are threads of one process and share this.

mod ending;
mod freeze;
mod instructor;
mod overview;
mod receiving;
mod report;
mod teams;
mod times;
mod uploads;

pub use ending::{collect, grades_by, prepare_final};
pub use instructor::{Act, CourseTimes, Done, Entry, Order, Outcome, Phase, act, times_of};
pub use overview::{CourseReport, TeamLine, Waiting};
pub use receiving::Upload;
pub use report::{
    LimitsReport, NextGame, StepName, StepReport, StepState, TeamReport, VersionReport,
};
pub use teams::{NewTeam, Secret, Team, Teams, read_list};
pub use times::moment;
pub use uploads::{Refusal, RefusalKind, VersionId};

use super::changing::GamesOf;
use super::folder::{Folder, TEAMS_FOLDER};
use super::inbox::{Inbox, copied};
use super::results::Progress;
use super::store::Store;
use super::writer::disk_failure;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use referee_contest::WebSettings;
use referee_contest::file::ContestFile;
use referee_play::archives::Most;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_process::open_folder::OpenFolder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uploads::Uploads;

/// The folder with what teams hand in, in that of the teams.
const UPLOADS_FOLDER: &str = "uploads";

/// A course.
#[derive(Debug)]
pub struct Course {
    folder: Folder,
    settings: WebSettings,
    /// The times of the contest file.
    times: WebTimes,
    /// One copy of the results is made at a time.
    freezing: Mutex<()>,
    /// Whether the contest says how submissions are started, so that they need no `agent.toml`.
    has_command: bool,
    /// The teams as they were last read, and the state of their file then.
    teams: Mutex<Option<(teams::FileState, Arc<Teams>)>>,
    uploads: Mutex<Uploads>,
    /// One archive is unpacked at a time, so that uploads don't take the cores from games.
    unpacking: Mutex<()>,
}

/// What a course asks of the contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// A version is to be built, checked and added.
    Take {
        /// The version.
        version: VersionId,
        /// Its team's name.
        team: String,
        /// Its files: a folder whose name is the same for all versions of the team.
        place: PathBuf,
        /// The folder for what comes of it.
        folder: PathBuf,
    },
    /// A player is to leave, because its team takes it back or is disqualified.
    Withdraw {
        /// Its version.
        version: VersionId,
        /// The player's name.
        player: String,
        /// Why.
        reason: String,
    },
    /// A player is to come back, because its team hands it in again or is no longer disqualified.
    ComeBack {
        /// Its version.
        version: VersionId,
        /// The player's name.
        player: String,
        /// Why.
        reason: String,
    },
    /// Games are to be played again.
    Rerun {
        /// The number of the order.
        order: u64,
        /// The games.
        games: GamesOf,
        /// Why.
        reason: String,
    },
}

impl Course {
    /// Opens the course of a contest, with the table `[web]` of its file. `has_command`: whether the contest says how
    /// submissions are started.
    pub fn open(
        folder: &Folder,
        settings: WebSettings,
        has_command: bool,
    ) -> Result<Self, Failure> {
        let times = WebTimes::of(&settings)?;
        let root = teams_folder(folder)?;
        let uploads = root.join(UPLOADS_FOLDER);
        let failed = |error: io::Error| disk_failure(&uploads, &error);
        make_private(&uploads).map_err(failed)?;
        Ok(Self {
            folder: folder.clone(),
            times,
            freezing: Mutex::default(),
            settings,
            has_command,
            teams: Mutex::default(),
            uploads: Mutex::new(Uploads::open(&uploads).map_err(failed)?),
            unpacking: Mutex::default(),
        })
    }

    /// The teams now: a command may have added some.
    pub fn teams(&self) -> Result<Arc<Teams>, Failure> {
        let mut known = lock(&self.teams);
        let state = teams::state(&self.folder)?;
        if let Some((of, teams)) = &*known
            && *of == state
        {
            return Ok(teams.clone());
        }
        let teams = Arc::new(Teams::read(&self.folder)?);
        *known = Some((state, teams.clone()));
        Ok(teams)
    }

    /// Returns the team with this secret.
    pub fn team_of(&self, secret: &str) -> Result<Option<Team>, Failure> {
        Ok(self.teams()?.with_secret(secret).cloned())
    }

    /// When the team may hand in its last version, with grace; `None` for ever.
    pub fn closes(&self, team: &Team) -> Option<Timestamp> {
        self.times().closes(team)
    }

    /// The most bytes of an upload.
    pub fn upload_bytes_max(&self) -> u64 {
        self.settings.upload_mb << 20
    }

    /// The most files of an upload.
    pub fn files_max(&self) -> usize {
        self.settings.files as usize
    }

    /// How much an upload may have in it.
    fn most(&self) -> Most {
        Most { bytes: self.settings.unpacked_mb << 20, files: self.files_max() }
    }

    /// Returns why a team may not hand in at this time. Ask before its upload is read.
    pub fn may_hand_in(&self, team: &Team, now: Timestamp) -> Result<(), Refusal> {
        lock(&self.uploads).check(self, team, now)
    }

    /// Begins an upload. Until it is accepted, it leaves nothing.
    pub fn begin(&self) -> io::Result<Upload> {
        let root = lock(&self.uploads).root().to_owned();
        Upload::new(&root, self.upload_bytes_max(), self.files_max())
    }

    /// Returns the team as it is now, if its link is the one with which it came here.
    fn current(&self, team: &Team) -> Result<Team, Refusal> {
        let teams = self.teams().map_err(|failure| Refusal::failure(&failure))?;
        let same = teams.teams.iter().find(|known| known.has_link_of(team));
        same.cloned().ok_or_else(Refusal::old_link)
    }

    /// Makes an upload the next version of its team. When it returns, the version is on the disk, whatever happens to
    /// this process or the machine.
    pub fn accept(
        &self,
        team: &Team,
        upload: Upload,
        command: Option<Vec<String>>,
        now: Timestamp,
    ) -> Result<VersionId, Refusal> {
        let synced = upload.finish(command, now)?;
        let mut uploads = lock(&self.uploads);
        let team = self.current(team)?;
        uploads.check(self, &team, now)?;
        uploads.keep(&team, synced)
    }

    /// Unpacks a version, unless that was done; what is wrong with it is noted. Returns whether it can be taken in.
    pub fn unpack(&self, version: VersionId) -> Result<bool, Failure> {
        let _one = lock(&self.unpacking);
        let sent = lock(&self.uploads).to_unpack(version);
        if let Some(sent) = sent {
            let list = sent.list().map_err(|error| Failure::machine(error.to_string()))?;
            let unpacked = sent.unpack(&list, self.most(), self.has_command);
            let mut uploads = lock(&self.uploads);
            let noted = uploads.unpacked(version, unpacked);
            noted.map_err(|error| disk_failure(uploads.root(), &error))?;
        }
        Ok(lock(&self.uploads).is_open(version))
    }

    /// Looks at an upload as it would be unpacked, and returns how its agent is started.
    pub fn look(&self, upload: &Upload) -> Result<receiving::Looked, String> {
        let _one = lock(&self.unpacking);
        upload.look(self.most(), self.has_command)
    }

    /// Returns what is to be done, the oldest first, at most one version of each team. `is_held` says which teams have
    /// to wait.
    pub fn tasks(&self, is_held: impl Fn(u32) -> bool) -> Result<Vec<Task>, Failure> {
        let teams = self.teams()?;
        let mut tasks = lock(&self.uploads).tasks(&teams, is_held);
        tasks.extend(instructor::reruns(&teams));
        Ok(tasks)
    }

    /// Notes that the next version of a team waits so long, for its page: `is_held` of [`Self::tasks`] makes it wait.
    pub fn hold(&self, team: u32, time: Duration) {
        lock(&self.uploads).hold(team, time);
    }

    /// Notes what became of a version.
    pub fn note(&self, version: VersionId, step: Noted<'_>) -> Result<(), Failure> {
        let mut uploads = lock(&self.uploads);
        let kept = self.settings.versions_kept as usize;
        uploads.note(version, step, kept).map_err(|error| disk_failure(uploads.root(), &error))
    }

    /// Notes why a player no longer plays, at all versions that are this player.
    pub fn refuse_player(&self, player: &str, why: &str) -> Result<(), Failure> {
        let mut uploads = lock(&self.uploads);
        let kept = self.settings.versions_kept as usize;
        let noted = uploads.refuse_player(player, why, kept);
        noted.map_err(|error| disk_failure(uploads.root(), &error))
    }

    /// Counts what the build of a version made, and returns why it has no room.
    pub fn count_built(&self, version: VersionId) -> Result<(), Refusal> {
        lock(&self.uploads).count_built(self, version)
    }

    /// Whether a player left because its team took it back or was disqualified, so that it comes back when the team hands
    /// it in again.
    pub fn has_left(&self, team: u32, player: &str) -> bool {
        lock(&self.uploads).has_left(team, player)
    }

    /// Takes back all of a team's versions after this one; 0 is before the first. Returns how many. Which version counts
    /// is settled by the deadline.
    pub fn take_back(&self, team: &Team, to: u32, now: Timestamp) -> Result<usize, Refusal> {
        let mut uploads = lock(&self.uploads);
        let team = self.current(team)?;
        self.is_before_deadline(&team, now)?;
        uploads.take_back(team.number, to).map_err(|error| Refusal::machine(&error))
    }

    fn is_before_deadline(&self, team: &Team, now: Timestamp) -> Result<(), Refusal> {
        if let Some(why) = &team.disqualified {
            return Err(Refusal::disqualified(why));
        }
        match self.closes(team).filter(|closes| now > *closes) {
            Some(closes) => Err(Refusal::closed(closes)),
            None => Ok(()),
        }
    }

    /// Returns the folder for what comes of a team's version, if there is one.
    pub fn version_folder(&self, team: &Team, version: u32) -> Option<PathBuf> {
        let uploads = lock(&self.uploads);
        let id = VersionId { team: team.number, version };
        uploads.has(id).then(|| uploads.folder(id))
    }

    /// Returns what a team's page shows.
    pub fn report(&self, team: &Team, now: Timestamp) -> TeamReport {
        report::of_team(self, &lock(&self.uploads), team, now)
    }

    /// Whether a player of the contest is a version of this team.
    pub fn is_of_team(&self, team: &Team, player: &str) -> bool {
        lock(&self.uploads).players(team.number).any(|own| own == player)
    }
}

/// Whether teams hand in to the contest of this folder on a web site.
pub fn is_course(folder: &Folder) -> bool {
    folder.path(TEAMS_FOLDER).is_dir()
}

/// Whether the contest of this text and folder has teams that may still hand in, or is a course without teams yet: when
/// all games are played, it waits. For a reader who can't see the teams it doesn't.
pub fn is_awaiting_teams(folder: &Folder, text: &str) -> bool {
    let Ok(teams) = Teams::read(folder) else { return false };
    if teams.teams.is_empty() && !is_course(folder) {
        return false;
    }
    let times = teams.times.clone().map(CourseTimes::read);
    let times = times.or_else(|| WebTimes::of(&ContestFile::web_of(text).ok()?).ok());
    let Some(times) = times else { return false };
    let is_open = |closes: Option<Timestamp>| closes.is_none_or(|it| Timestamp::now() <= it);
    if teams.teams.is_empty() {
        return is_open(times.usually_closes());
    }
    let mut active = teams.teams.iter().filter(|team| team.disqualified.is_none());
    active.any(|team| is_open(times.closes(team)))
}

/// Whether new agents may come to the contest of this text and folder: its teams may hand in, or a referee watches a
/// folder of submissions.
pub fn is_awaiting_agents(folder: &Folder, text: &str) -> bool {
    is_awaiting_teams(folder, text) || Inbox::is_opened_in(folder) && folder.is_locked()
}

/// Returns the progress of a contest, which isn't over while new agents may come.
pub fn progress(folder: &Folder, store: &Store) -> Result<Progress, Failure> {
    let mut progress = crate::results::progress(folder, store)?;
    progress.over &= !is_awaiting_agents(folder, &store.contest_file()?.0);
    Ok(progress)
}

/// A version with the folder of its files.
pub type VersionFiles = (u32, PathBuf);

/// Returns each team of a contest with its last version that plays and was not taken back, if there is one.
/// The contest may be open.
pub fn last_versions(folder: &Folder) -> Result<Vec<(Team, Option<VersionFiles>)>, Failure> {
    let teams = Teams::read(folder)?.teams;
    let root = folder.path(TEAMS_FOLDER).join(UPLOADS_FOLDER);
    if !root.exists() {
        return Ok(teams.into_iter().map(|team| (team, None)).collect());
    }
    let uploads = Uploads::read(&root).map_err(|error| disk_failure(&root, &error))?;
    let last = |team: Team| {
        let version = uploads.last_valid(&team);
        (team, version)
    };
    Ok(teams.into_iter().map(last).collect())
}

/// Copies the files of a version to a new folder.
pub fn copy_version(files: &Path, to: &Path) -> Result<(), Failure> {
    let copy = || {
        let parent = files.parent().unwrap_or(Path::new("/"));
        let name = files.file_name().unwrap_or_default();
        let above = to.parent().unwrap_or(Path::new("."));
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
        let (from, into) = (OpenFolder::open(parent)?, OpenFolder::open(new.path())?);
        copied(&from, parent, name, &into)?;
        fs::rename(new.path().join(name), to)
    };
    copy().map_err(|error: io::Error| disk_failure(to, &error))
}

/// A step of a version.
#[derive(Clone, Copy, Debug)]
pub enum Noted<'a> {
    /// It is being built.
    Building,
    /// It was built, and is being checked.
    Checking,
    /// The check ended: a sentence that counts the probes.
    Checked(&'a str),
    /// It plays under this name.
    Plays(&'a str),
    /// It doesn't play, for this reason.
    Refused(&'a str),
    /// Its player has left, because its team took it back or is disqualified.
    Withdrawn,
    /// Its player has come back.
    CameBack,
}

/// The times in the table `[web]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebTimes {
    /// When the last version may be handed in.
    pub deadline: Option<Timestamp>,
    /// From when on the public sees no newer results.
    pub freeze_at: Option<Timestamp>,
    /// How long after the deadline versions are taken, in milliseconds.
    pub grace_ms: u64,
}

impl WebTimes {
    /// Reads them.
    pub fn of(settings: &WebSettings) -> Result<Self, Failure> {
        let read = |name: &str, text: &Option<String>| {
            let read = |text: &String| {
                moment(text, &TimeZone::system())
                    .map_err(|error| Failure::usage(format!("[web] {name} = {text:?}: {error}")))
            };
            text.as_ref().map(read).transpose()
        };
        Ok(Self {
            deadline: read("deadline", &settings.deadline)?,
            freeze_at: read("freeze_at", &settings.freeze_at)?,
            grace_ms: settings.grace_ms(),
        })
    }

    /// The deadline with grace; `None` for ever.
    fn usually_closes(self) -> Option<Timestamp> {
        let grace = i64::try_from(self.grace_ms).unwrap_or(i64::MAX);
        let closes = self.deadline?.checked_add(SignedDuration::from_millis(grace));
        Some(closes.unwrap_or(Timestamp::MAX))
    }

    fn closes(self, team: &Team) -> Option<Timestamp> {
        let extended = team.until.as_deref().and_then(|until| until.parse().ok());
        Some(self.usually_closes()?.max(extended.unwrap_or(Timestamp::MIN)))
    }
}

/// Creates the folder of the teams, which nobody else may read.
fn teams_folder(folder: &Folder) -> Result<PathBuf, Failure> {
    folder.check_teams()?;
    let root = referee_process::files::absolute(folder.root())?.join(TEAMS_FOLDER);
    make_private(&root).map_err(|error| disk_failure(&root, &error))?;
    Ok(root)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let parent = OpenFolder::open(folder.parent().unwrap_or(Path::new("/")))?;
    match parent.create_folder(folder.file_name().unwrap_or_default()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(new) => {
            new.set_mode(0o700)?;
            // Its name is on the disk before anything in it is.
            parent.sync()
        }
    }
}

/// Gives a folder that root has created with all that is in it to the user whose course it is.
fn give(folder: &Path) -> io::Result<()> {
    let parent = OpenFolder::open(folder.parent().unwrap_or(Path::new("/")))?;
    parent.give_all(folder.file_name().unwrap_or_default())
}
