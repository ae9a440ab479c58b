//! What teams hand in, kept so that nothing is lost: an upload is written to a folder of its own, which gets the
//! version's name when everything in it is on the disk. What becomes of a version is in a file beside it, and is found
//! out again if that is lost.

use super::receiving::{List, PARTIAL, Received, SENT_FOLDER, Sent, Synced, Unpacked};
use super::teams::{Team, Teams};
use super::{Course, Noted, Task, give, make_private};
use crate::disk::Disk;
use jiff::{SignedDuration, Timestamp};
use referee_play::replace_file::replace;
use referee_process::Failure;
use referee_process::files::{is_disk_full, read_regular, size_of_files};
use referee_protocol::sanitize::sanitize;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file with what became of it.
const STATE_FILE: &str = "state.json";
/// The folder with the agent's folder.
pub(super) const FILES_FOLDER: &str = "files";
/// The largest file with the state of a version that is read, in bytes.
const STATE_BYTES_MAX: u64 = 1 << 20;

/// A version of a team's agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionId {
    /// The team's number.
    pub team: u32,
    /// The version's number, from 1.
    pub version: u32,
}

/// Why an upload is refused, with the limit and when to try again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of limit it is.
    pub kind: RefusalKind,
    /// The limit, in words.
    pub text: String,
    /// When the same upload may be taken.
    pub again: Option<Timestamp>,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Its team has a newer link.
    OldLink,
    /// The deadline has passed.
    Closed,
    /// There were too many uploads.
    TooMany,
    /// The upload is too large.
    TooLarge,
    /// It can't be used.
    Invalid,
    /// The course has no room.
    Full,
    /// The machine failed.
    Machine,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), again: None }
    }

    pub(super) fn old_link() -> Self {
        let text = "the link of your team was replaced: open the newer one";
        Self::new(RefusalKind::OldLink, text)
    }

    pub(super) fn closed(closes: Timestamp) -> Self {
        let text = format!("the deadline has passed: nothing is taken after {closes}");
        Self::new(RefusalKind::Closed, text)
    }

    pub(super) fn disqualified(why: &str) -> Self {
        Self::new(RefusalKind::Closed, format!("your team is disqualified: {why}"))
    }

    pub(super) fn failure(failure: &Failure) -> Self {
        Self::new(RefusalKind::Machine, failure.to_string())
    }

    pub(super) fn machine(error: &io::Error) -> Self {
        if is_disk_full(error) {
            return Self::new(RefusalKind::Full, "the server's disk is full: tell the instructor");
        }
        Self::new(RefusalKind::Machine, format!("the upload can't be stored: {error}"))
    }
}

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) at: Timestamp,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
    /// What is to be known about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

impl Ended {
    fn now(result: Result<Option<String>, String>) -> Self {
        let (text, failed) = match result {
            Ok(text) => (text, None),
            Err(why) => (None, Some(why)),
        };
        Self { at: Timestamp::now(), failed, text }
    }
}

/// What became of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub(super) unpacked: Option<Ended>,
    /// How it is started, for people, and the language if it was found.
    pub(super) command: Option<String>,
    pub(super) language: Option<String>,
    /// The size of its files, with what its build made.
    unpacked_bytes: u64,
    pub(super) built: Option<Ended>,
    pub(super) checked: Option<Ended>,
    /// Whether it plays; failed if it doesn't.
    pub(super) result: Option<Ended>,
    /// The name of its player.
    pub(super) player: Option<String>,
    /// When its team took it back.
    pub(super) taken_back: Option<Timestamp>,
    /// When its player left; the same in all versions that are this player.
    pub(super) withdrawn: Option<Timestamp>,
    /// Whether its files were removed to make room.
    removed: bool,
}

impl State {
    /// Whether it plays, or would if its team weren't disqualified.
    fn plays(&self) -> bool {
        let has_failed = self.result.as_ref().is_some_and(|result| result.failed.is_some());
        self.player.is_some() && self.taken_back.is_none() && !has_failed
    }
}

/// A version.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) number: u32,
    pub(super) received: Received,
    pub(super) state: State,
    /// Whether it is built or checked at this moment.
    pub(super) working: bool,
}

impl Version {
    pub(super) fn bytes(&self) -> u64 {
        self.received.bytes
    }

    pub(super) fn files(&self) -> usize {
        self.received.files
    }

    fn kept_bytes(&self) -> u64 {
        let State { removed, unpacked_bytes, result, player, .. } = &self.state;
        let files = if *removed { 0 } else { self.bytes() + unpacked_bytes };
        // The contest plays a copy.
        let is_copied = player.is_some() || result.is_none();
        let copy = if is_copied { *unpacked_bytes } else { 0 };
        // The list of its files stays.
        self.received.list_bytes + files + copy
    }
}

/// The versions of all teams.
#[derive(Debug)]
pub(super) struct Uploads {
    root: PathBuf,
    teams: BTreeMap<u32, Vec<Version>>,
    /// Until when the next versions of teams wait.
    held: BTreeMap<u32, Timestamp>,
}

/// Returns the entries of a folder whose names are numbers.
fn numbered(folder: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

impl Uploads {
    /// Reads what was handed in before. Uploads that were not complete are removed.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Self::tidy(root)?;
        Self::read(root)
    }

    fn tidy(root: &Path) -> io::Result<()> {
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Reads what was handed in, while another process may take more.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let mut teams = BTreeMap::new();
        for team in numbered(root)? {
            let folder = root.join(team.to_string());
            let versions = numbered(&folder)?.into_iter().map(|number| {
                let own = folder.join(number.to_string());
                let state =
                    read_regular(&own.join(STATE_FILE), STATE_BYTES_MAX).unwrap_or_default();
                Ok(Version {
                    number,
                    received: List::read(&own)?.1,
                    state: serde_json::from_slice(&state).unwrap_or_default(),
                    working: false,
                })
            });
            teams.insert(team, versions.collect::<io::Result<Vec<_>>>()?);
        }
        Ok(Self { root: root.to_owned(), teams, held: BTreeMap::new() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of a version.
    pub(super) fn folder(&self, id: VersionId) -> PathBuf {
        self.root.join(id.team.to_string()).join(id.version.to_string())
    }

    pub(super) fn versions(&self, team: u32) -> &[Version] {
        self.teams.get(&team).map_or(&[], Vec::as_slice)
    }

    pub(super) fn hold(&mut self, team: u32, time: Duration) {
        if let Ok(until) = Timestamp::now().checked_add(time) {
            self.held.insert(team, until);
        }
    }

    /// Returns until when the next version of a team waits, or waited.
    pub(super) fn held(&self, team: u32) -> Option<Timestamp> {
        self.held.get(&team).copied()
    }

    /// Returns a team's last version that plays and was not taken back, with the folder of its files.
    pub(super) fn last_valid(&self, team: &Team) -> Option<(u32, PathBuf)> {
        if team.disqualified.is_some() {
            return None;
        }
        let version =
            self.last_played(team.number).filter(|version| !version.state.removed)?.number;
        let folder = self.folder(VersionId { team: team.number, version });
        Some((version, folder.join(FILES_FOLDER).join(team.folder_name())))
    }

    /// The last version that plays, or would if its team weren't disqualified.
    fn last_played(&self, team: u32) -> Option<&Version> {
        self.versions(team).iter().rfind(|version| version.state.plays())
    }

    pub(super) fn has(&self, id: VersionId) -> bool {
        self.versions(id.team).iter().any(|version| version.number == id.version)
    }

    /// Whether it is unpacked, and nothing has become of it.
    pub(super) fn is_open(&self, id: VersionId) -> bool {
        let version = self.versions(id.team).iter().find(|it| it.number == id.version);
        version.is_some_and(|it| it.state.unpacked.is_some() && it.state.result.is_none())
    }

    /// Returns the players that are versions of a team.
    pub(super) fn players(&self, team: u32) -> impl Iterator<Item = &str> {
        self.versions(team).iter().filter_map(|version| version.state.player.as_deref())
    }

    /// Returns why a team may not hand in at this time.
    pub(super) fn check(
        &self,
        course: &Course,
        team: &Team,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        course.is_before_deadline(team, now)?;
        let settings = &course.settings;
        for (hours, most, key, period) in [
            (1, settings.uploads_an_hour, "uploads_an_hour", "an hour"),
            (24, settings.uploads_a_day, "uploads_a_day", "a day"),
        ] {
            let length = SignedDuration::from_hours(hours);
            let recent: Vec<Timestamp> = self
                .versions(team.number)
                .iter()
                .map(|version| version.received.at)
                .filter(|at| now.duration_since(*at) < length)
                .collect();
            if recent.len() >= most as usize {
                // The oldest that must be out of the period before another one fits.
                let first = recent[recent.len() - most as usize];
                let again = first.checked_add(length).ok();
                let text = format!("a team may hand in {most} times in {period} ({key})");
                return Err(Refusal { again, ..Refusal::new(RefusalKind::TooMany, text) });
            }
        }
        let kept = self.check_share(course, team.number)?;
        let (most, one) = (settings.disk_mb << 20, course.upload_bytes_max() + course.most().bytes);
        let why = if kept + one > most {
            format!("{} MiB are set aside (disk_mb)", settings.disk_mb)
        } else if Disk::of(&self.root).is_ok_and(|disk| disk.is_nearly_full() || disk.room() < one)
        {
            "its disk is nearly full".to_owned()
        } else {
            return Ok(());
        };
        let text = format!("the course has no room for more uploads: {why}; tell the instructor");
        Err(Refusal::new(RefusalKind::Full, text))
    }

    /// Returns the bytes of all that is kept, unless a team has more than its share.
    fn check_share(&self, course: &Course, team: u32) -> Result<u64, Refusal> {
        let kept_of = |versions: &[Version]| versions.iter().map(Version::kept_bytes).sum::<u64>();
        let kept: u64 = self.teams.values().map(|versions| kept_of(versions)).sum();
        let disk_mb = course.settings.disk_mb;
        let most = disk_mb << 20;
        let teams = course.teams().map_err(|failure| Refusal::failure(&failure))?.teams.len();
        // Of the second half each team has an equal share, so that none can take the room of the others.
        let share = most / 2 / teams.max(1) as u64;
        if kept > most / 2 && kept_of(self.versions(team)) > share {
            let text = format!(
                "your team has used its share of the disk, {} MiB of {disk_mb} (disk_mb): tell the instructor",
                share >> 20
            );
            return Err(Refusal::new(RefusalKind::Full, text));
        }
        Ok(kept)
    }

    /// Counts what the build of a version made. What its team has no room for is removed.
    pub(super) fn count_built(&mut self, course: &Course, id: VersionId) -> Result<(), Refusal> {
        let files = self.folder(id).join(FILES_FOLDER);
        let failed = |error: io::Error| Refusal::machine(&error);
        let bytes = if files.exists() { size_of_files(&files).map_err(failed)? } else { 0 };
        self.change(id, |version| version.state.unpacked_bytes = bytes).map_err(failed)?;
        let Err(full) = self.check_share(course, id.team) else { return Ok(()) };
        self.remove_files(id).map_err(failed)?;
        Err(full)
    }

    /// Keeps a complete upload as the next version of its team.
    pub(super) fn keep(&mut self, team: &Team, synced: Synced) -> Result<VersionId, Refusal> {
        let versions = self.teams.entry(team.number).or_default();
        let number = versions.last().map_or(1, |last| last.number + 1);
        let folder = self.root.join(team.number.to_string());
        let kept = make_private(&folder).and_then(|()| {
            give(synced.folder.path())?;
            fs::rename(synced.folder.path(), folder.join(number.to_string()))?;
            File::open(&folder)?.sync_all()
        });
        kept.map_err(|error| Refusal::machine(&error))?;
        let received = synced.received;
        versions.push(Version { number, received, state: State::default(), working: false });
        Ok(VersionId { team: team.number, version: number })
    }

    /// Returns what is needed to unpack a version, if that is to be done.
    pub(super) fn to_unpack(&self, id: VersionId) -> Option<Sent> {
        let version = self.versions(id.team).iter().find(|it| it.number == id.version)?;
        let is_open = version.state.unpacked.is_none() && version.state.result.is_none();
        is_open.then(|| Sent { folder: self.folder(id), name: format!("team-{}", id.team) })
    }

    /// Changes what is known of a version, and writes it.
    fn change(&mut self, id: VersionId, change: impl FnOnce(&mut Version)) -> io::Result<()> {
        let path = self.folder(id).join(STATE_FILE);
        let versions = self.teams.get_mut(&id.team);
        let found = versions.and_then(|all| all.iter_mut().find(|it| it.number == id.version));
        let Some(version) = found else { return Ok(()) };
        change(version);
        replace(&path, &serde_json::to_vec(&version.state)?)
    }

    pub(super) fn unpacked(
        &mut self,
        id: VersionId,
        unpacked: io::Result<Unpacked>,
    ) -> io::Result<()> {
        // Where the disk had no room, what was written is removed, and games go on.
        let full = "the disk had no room for its files: tell the instructor, and hand it in again";
        let why = |error: io::Error| {
            if is_disk_full(&error) { full.to_owned() } else { sanitize(&error.to_string()) }
        };
        let unpacked = unpacked.map_err(why);
        self.change(id, |version| {
            let state = &mut version.state;
            match unpacked {
                Ok(found) => {
                    state.unpacked = Some(Ended::now(Ok(None)));
                    state.command = found.looked.command.map(|words| join(&words));
                    state.language = found.looked.language;
                    state.unpacked_bytes = found.bytes;
                }
                Err(why) => {
                    state.unpacked = Some(Ended::now(Err(why.clone())));
                    state.result = Some(Ended::now(Err(why)));
                }
            }
        })
    }

    pub(super) fn tasks(&self, teams: &Teams, is_held: impl Fn(u32) -> bool) -> Vec<Task> {
        let mut tasks = Vec::new();
        for team in &teams.teams {
            let versions = self.versions(team.number);
            let id = |version: &Version| VersionId { team: team.number, version: version.number };
            tasks.extend(self.moves(team));
            let next = versions.iter().find(|version| version.state.result.is_none());
            let may_play = team.disqualified.is_none() && !is_held(team.number);
            if let Some(version) = next.filter(|_| may_play) {
                let folder = self.folder(id(version));
                let place = folder.join(FILES_FOLDER).join(team.folder_name());
                let (version, at) = (id(version), version.received.at);
                tasks.push((at, Task::Take { version, team: team.name.clone(), place, folder }));
            }
        }
        tasks.sort_by_key(|(at, _)| *at);
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    /// Returns which players of a team leave or come back, since when. One plays while a version with its files is kept.
    fn moves(&self, team: &Team) -> Vec<(Timestamp, Task)> {
        let mut players: BTreeMap<&str, Vec<&Version>> = BTreeMap::new();
        for version in self.versions(team.number) {
            if let Some(player) = &version.state.player {
                players.entry(player).or_default().push(version);
            }
        }
        let task = |(player, own): (&str, Vec<&Version>)| {
            let last = *own.last()?;
            let (player, version) =
                (player.to_owned(), VersionId { team: team.number, version: last.number });
            let is_kept = own.iter().any(|it| it.state.plays());
            let left = own.iter().filter_map(|it| it.state.withdrawn).max();
            match (&team.disqualified, left) {
                (_, None) if !is_kept => {
                    let reason = "taken back by its team".to_owned();
                    let at = own.iter().filter_map(|it| it.state.taken_back).max()?;
                    Some((at, Task::Withdraw { version, player, reason }))
                }
                (Some(why), None) => {
                    let reason = format!("disqualified: {why}");
                    Some((Timestamp::MIN, Task::Withdraw { version, player, reason }))
                }
                (None, Some(at)) if is_kept => {
                    // When it left, all of its versions were noted as withdrawn.
                    let is_new = last.state.withdrawn.is_none();
                    let reason = if is_new { "handed in again" } else { "no longer disqualified" };
                    Some((at, Task::ComeBack { version, player, reason: reason.to_owned() }))
                }
                _ => None,
            }
        };
        players.into_iter().filter_map(task).collect()
    }

    /// Whether a player of a team left because its team took it back or was disqualified.
    pub(super) fn has_left(&self, team: u32, player: &str) -> bool {
        let own = |it: &&Version| it.state.player.as_deref() == Some(player);
        self.versions(team).iter().filter(own).any(|it| it.state.withdrawn.is_some())
    }

    /// Notes when the player of a version left, with all versions that are this player.
    fn set_left(&mut self, id: VersionId, left: Option<Timestamp>) -> io::Result<()> {
        let versions = self.versions(id.team);
        let player = versions.iter().find(|it| it.number == id.version);
        let player = player.and_then(|it| it.state.player.clone());
        let is_same = |it: &&Version| it.state.player == player;
        let same: Vec<u32> = versions.iter().filter(is_same).map(|it| it.number).collect();
        for version in same {
            self.change(VersionId { version, ..id }, |it| it.state.withdrawn = left)?;
        }
        Ok(())
    }

    /// Notes at all versions that are this player why it has left.
    pub(super) fn refuse_player(&mut self, player: &str, why: &str, kept: usize) -> io::Result<()> {
        let is_same = |version: &Version| version.state.player.as_deref() == Some(player);
        let of_team = |(&team, versions): (&u32, &Vec<Version>)| {
            let same = versions.iter().filter(|it| is_same(it));
            same.map(|it| VersionId { team, version: it.number }).collect::<Vec<_>>()
        };
        for id in self.teams.iter().flat_map(of_team).collect::<Vec<_>>() {
            self.note(id, Noted::Refused(why), kept)?;
            self.note(id, Noted::Withdrawn, kept)?;
        }
        Ok(())
    }

    pub(super) fn note(&mut self, id: VersionId, step: Noted<'_>, kept: usize) -> io::Result<()> {
        self.change(id, |version| {
            version.working = matches!(step, Noted::Building | Noted::Checking | Noted::Checked(_));
            let state = &mut version.state;
            match step {
                Noted::Building => (state.built, state.checked) = (None, None),
                Noted::Checking => state.built = Some(Ended::now(Ok(None))),
                Noted::Checked(text) => {
                    state.checked = Some(Ended::now(Ok(Some(text.to_owned()))));
                }
                Noted::Plays(player) => {
                    state.built.get_or_insert_with(|| Ended::now(Ok(None)));
                    state.player = Some(player.to_owned());
                    state.result = Some(Ended::now(Ok(None)));
                }
                Noted::Refused(why) => {
                    let failed = Ended::now(Err(why.to_owned()));
                    // Whatever was to be done next has failed.
                    let step = [&mut state.built, &mut state.checked];
                    if let Some(next) = step.into_iter().find(|step| step.is_none()) {
                        *next = Some(failed.clone());
                    }
                    state.result = Some(failed);
                }
                Noted::Withdrawn | Noted::CameBack => {}
            }
        })?;
        match step {
            Noted::Withdrawn => self.set_left(id, Some(Timestamp::now()))?,
            Noted::CameBack => self.set_left(id, None)?,
            _ => {}
        }
        self.make_room(id.team, kept)
    }

    /// Removes the files of a team's oldest versions that don't play, except so many.
    fn make_room(&mut self, team: u32, kept: usize) -> io::Result<()> {
        // A team that is disqualified may come back.
        let last = self.last_played(team).map(|version| version.number);
        let is_idle = |version: &&Version| {
            let State { result, player, taken_back, withdrawn, .. } = &version.state;
            result.is_some()
                && (player.is_none() || taken_back.is_some() || withdrawn.is_some())
                && Some(version.number) != last
        };
        let idle: Vec<u32> =
            self.versions(team).iter().filter(is_idle).map(|version| version.number).collect();
        let most = idle.len().saturating_sub(kept);
        for &version in &idle[..most] {
            self.remove_files(VersionId { team, version })?;
        }
        Ok(())
    }

    fn remove_files(&mut self, id: VersionId) -> io::Result<()> {
        for name in [SENT_FOLDER, FILES_FOLDER] {
            match fs::remove_dir_all(self.folder(id).join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.change(id, |version| version.state.removed = true)
    }

    /// Takes back the versions after this one.
    pub(super) fn take_back(&mut self, team: u32, to: u32) -> io::Result<usize> {
        let later = self.versions(team).iter().filter(|version| {
            version.number > to
                && version.state.taken_back.is_none()
                && version.state.result.as_ref().is_none_or(|result| result.failed.is_none())
        });
        let later: Vec<u32> = later.map(|version| version.number).collect();
        for &version in &later {
            self.change(VersionId { team, version }, |version| {
                version.state.taken_back = Some(Timestamp::now());
                // What is being taken in now leaves after that.
                if version.state.result.is_none() && !version.working {
                    version.state.result =
                        Some(Ended::now(Err("its team took it back".to_owned())));
                }
            })?;
        }
        Ok(later.len())
    }
}

/// Returns the words of a command as one text.
fn join(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let again = refusal.again.map(|again| format!("try again at {again}"));
        Self::usage(refusal.text).or_help(again)
    }
}
