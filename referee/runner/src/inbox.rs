//! The folder of submissions of an open ladder: finds new and changed submissions, and keeps a copy of each
//! version as it was handed in.

use super::copies::{self, is_never_copied};
use super::disk::Disk;
use super::entrants::{SUBMISSIONS_MAX, Submission, check_count, stem, submissions};
use super::folder::{Folder, SUBMISSIONS_FOLDER};
use super::pace::Pace;
use super::prepare::Prepared;
use super::store::StoredContest;
use super::tree::{self, Entries, Links, NOTHING, State, Tree, copy, copy_one, entries};
use super::writer::disk_failure;
use referee_contest::file::ContestFile;
use referee_play::digest::digest_bytes;
use referee_play::replace_file::replace;
use referee_process::Failure;
use referee_process::files::{absolute, is_disk_full, read_regular};
use referee_process::open_folder::{Kind, OpenFolder};
use referee_protocol::sanitize::sanitize;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file in a version's folder that says what became of it.
const RESULT_FILE: &str = "result.json";

/// The folder in a version's folder with the submission alone, so that no name that a team gives is that of another file
/// there. Earlier versions of Referee kept it beside them.
const FILES_FOLDER: &str = "files";

/// The file in the folder of kept versions with the folders of submissions that were named when the contest was
/// opened, each with a NUL after it. No submission has a hidden name.
const NAMED_FILE: &str = ".named";
/// The largest such file that is read, in bytes.
const NAMED_BYTES_MAX: u64 = 64 << 10;

/// The digest of what a submission consists of: it has not changed as long as that is the same. The entries themselves
/// would take memory for each file that anybody puts there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Seen(String);

impl Seen {
    fn of(entries: &Entries) -> Self {
        let mut bytes = Vec::new();
        for (path, state) in entries {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.extend_from_slice(format!("\0{state:?}\0").as_bytes());
        }
        Self(digest_bytes(&bytes))
    }
}

/// A folder that is searched for new submissions again and again.
#[derive(Debug)]
pub struct Inbox {
    folder: PathBuf,
    /// The AGENT for each submission, with `{}` for its path.
    run: Option<String>,
    base: PathBuf,
    /// Where versions are kept.
    kept: PathBuf,
    /// What was new at the last look. A submission is complete if it is the same at the next one.
    last: BTreeMap<PathBuf, Seen>,
    /// The name with which the next look begins.
    next: OsString,
    /// New submissions that are complete.
    complete: Vec<PathBuf>,
    /// What needs no further look, as it was: submissions of which something became, and files that are not
    /// agents.
    settled: BTreeMap<PathBuf, Seen>,
    /// Why submissions can't be taken in, and warnings that nobody has read.
    unreadable: BTreeMap<PathBuf, String>,
    warnings: Vec<String>,
}

/// A version of a submission, kept in the contest's folder.
#[derive(Debug)]
pub struct KeptVersion {
    /// The name of the submission: that of its earlier versions.
    pub team: String,
    /// Whether earlier versions that play under this name are of the same user; `None` if nothing tells.
    pub is_teams: Option<bool>,
    /// Its copy: the file or folder.
    pub path: PathBuf,
    /// The folder of the version.
    pub folder: PathBuf,
    /// The user whose submission it is.
    pub user: u32,
    /// What the submission consisted of; `None` if it was not kept.
    seen: Option<Seen>,
}

/// How many submissions of one user play.
const USER_SUBMISSIONS_MAX: usize = 8;
/// The folder in which a version is copied.
const PARTIAL: &str = ".partial";

/// What a look at something that is no new version costs its user at least, and how long all such looks last before games
/// are played again.
const LOOK_MIN: Duration = Duration::from_millis(100);
const FRUITLESS_MAX: Duration = Duration::from_secs(5);

/// What became of a submission that was to be kept.
enum Kept {
    Version(KeptVersion),
    /// It changes at this moment.
    Changing,
    /// It can't be kept, for this reason.
    Refused(String),
}

/// What became of a version.
#[derive(Debug, Deserialize, Serialize)]
struct VersionResult {
    /// When, RFC 3339.
    at: String,
    /// The submission's name, and the user whose it is. Earlier versions of Referee didn't note them.
    #[serde(default)]
    team: Option<String>,
    #[serde(default)]
    user: Option<u32>,
    /// How many bytes it takes, with the copy that plays.
    #[serde(default)]
    bytes: u64,
    /// What the submission consisted of. Earlier versions of Referee didn't note it.
    #[serde(default)]
    seen: Option<Seen>,
    /// Its name in the contest; null if it doesn't play.
    player: Option<String>,
    /// Why it doesn't play.
    why: Option<String>,
}

/// The largest such file that is read, in bytes.
const RESULT_BYTES_MAX: u64 = 1 << 20;

/// Returns the folders in [`NAMED_FILE`].
fn named(kept: &Path) -> io::Result<Vec<PathBuf>> {
    let bytes = read_regular(&kept.join(NAMED_FILE), NAMED_BYTES_MAX)?;
    let paths = bytes.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    Ok(paths.map(|path| Path::new(OsStr::from_bytes(path)).to_owned()).collect())
}

/// Adds a folder to [`NAMED_FILE`].
fn note_named(kept: &Path, inbox: &Path) -> io::Result<()> {
    let mut paths = named(kept).unwrap_or_default();
    if paths.iter().all(|path| path != inbox) {
        paths.push(inbox.to_owned());
    }
    let bytes: Vec<u8> =
        paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
    replace(&kept.join(NAMED_FILE), &bytes)
}

impl Inbox {
    /// Opens the folder of submissions of a contest: `other`, else the one in its contest file.
    pub fn open(
        stored: &StoredContest,
        folder: &Folder,
        other: Option<&Path>,
    ) -> Result<Self, Failure> {
        let (inbox, run) = Self::find(&stored.text, &stored.base, other)?;
        let kept = absolute(folder.root())?.join(SUBMISSIONS_FOLDER);
        fs::create_dir_all(&kept).map_err(|error| disk_failure(&kept, &error))?;
        for left in fs::read_dir(&kept).into_iter().flatten().flatten() {
            // A referee that was killed may have left it.
            fs::remove_dir_all(left.path().join(PARTIAL)).ok();
        }
        if other.is_some() {
            note_named(&kept, &inbox).map_err(|error| disk_failure(&kept, &error))?;
        }
        Ok(Self::new(inbox, run, stored.base.clone(), kept))
    }

    /// Whether a contest has, or once had, a folder that is searched for new submissions.
    pub fn is_opened_in(folder: &Folder) -> bool {
        folder.path(SUBMISSIONS_FOLDER).is_dir()
    }

    /// Returns the folders in which agents for a contest are or were handed in.
    pub fn all(folder: &Folder, text: &str, base: &Path) -> Vec<PathBuf> {
        let own = Self::find(text, base, None).map(|(inbox, _)| inbox);
        let named = named(&folder.root().join(SUBMISSIONS_FOLDER)).unwrap_or_default();
        own.into_iter().chain(named).collect()
    }

    /// An inbox of which nothing has been seen yet.
    fn new(folder: PathBuf, run: Option<String>, base: PathBuf, kept: PathBuf) -> Self {
        Self {
            folder,
            run,
            base,
            kept,
            last: BTreeMap::new(),
            next: OsString::new(),
            complete: Vec::new(),
            settled: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the file whose change changes [`Inbox::all`].
    pub fn named_file(contest: &Path) -> PathBuf {
        contest.join(SUBMISSIONS_FOLDER).join(NAMED_FILE)
    }

    /// Returns the folder of submissions and the AGENT for each, from a contest file that has been read
    /// before and the folder that its paths are relative to. `other` is used instead of the file's.
    pub fn find(
        text: &str,
        base: &Path,
        other: Option<&Path>,
    ) -> Result<(PathBuf, Option<String>), Failure> {
        let (inbox, run) = Self::place(text, base, other)?;
        inbox.read_dir().map_err(|error| {
            Failure::usage(format!("can't list the submissions: {}: {error}", inbox.display()))
        })?;
        Ok((inbox, run))
    }

    /// The same, whether or not the folder exists.
    pub fn place(
        text: &str,
        base: &Path,
        other: Option<&Path>,
    ) -> Result<(PathBuf, Option<String>), Failure> {
        let own =
            ContestFile::submissions_of(text).map_err(|error| Failure::usage(error.to_string()))?;
        let inbox = match (other, &own) {
            (Some(other), _) => absolute(other)?,
            (None, Some(own)) => base.join(&own.folder),
            (None, None) => {
                return Err(Failure::usage("the contest file has no `submissions`")
                    .help("name the folder with --submissions DIR"));
            }
        };
        Ok((inbox, own.and_then(|own| own.run.clone())))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Looks for submissions that are new or changed, at some of them if all would take longer than until then; the next
    /// look goes on there. Returns whether some have not changed since they were last looked at, and may be taken in.
    pub fn look(&mut self, pace: &Pace, until: Instant) -> io::Result<bool> {
        let inbox = OpenFolder::open(&self.folder)?;
        let mut names = inbox.names(SUBMISSIONS_MAX + 1)?;
        if let Err(error) = check_count(names.len()) {
            self.warn(self.folder.clone(), &error);
            return Ok(false);
        }
        self.unreadable.remove(&self.folder);
        names.retain(|name| !name.as_bytes().starts_with(b"."));
        names.sort_unstable();
        let before = names.partition_point(|name| *name < self.next);
        names.rotate_left(before);
        let now = Instant::now();
        let (mut new, mut rest) = (BTreeMap::new(), None);
        self.complete.clear();
        for (index, name) in names.into_iter().enumerate() {
            let path = self.folder.join(&name);
            if index > 0 && Instant::now() >= until {
                new.extend(self.last.remove_entry(&path));
                rest.get_or_insert(name);
                continue;
            }
            let state = match state(&inbox, &self.folder, &name) {
                Ok(state) => state,
                Err(error) => {
                    self.warn(path, &error);
                    continue;
                }
            };
            self.unreadable.remove(&path);
            let seen = Seen::of(&state);
            if self.settled.get(&path) == Some(&seen) {
                continue;
            }
            if self.is_kept(&path, &state) {
                self.settled.insert(path, seen);
                continue;
            }
            if self.last.get(&path) == Some(&seen) && !pace.is_held(&path, now) {
                self.complete.push(path.clone());
            }
            new.insert(path, seen);
        }
        (self.last, self.next) = (new, rest.unwrap_or_default());
        Ok(!self.complete.is_empty())
    }

    /// Returns the path of the submission of a version.
    pub fn submission(&self, version: &KeptVersion) -> PathBuf {
        self.folder.join(version.path.file_name().unwrap_or_default())
    }

    /// Keeps the submissions with which a contest has just begun.
    pub fn keep_players(&self, prepared: &Prepared) -> Result<(), Failure> {
        let read = self.submissions(|_| true);
        for Submission { name, entry, .. } in
            read.map_err(|error| disk_failure(&self.folder, &error))?.0
        {
            // A submission may be called like an agent that the contest file names.
            let plays = prepared.entries.contains_key(&name);
            if let Some(path) = entry.filter(|_| plays)
                && let Some(user) = owner(&path)
                && let Kept::Version(version) =
                    self.keep_version((&path, user), &name, None, true)?
            {
                version.close(Ok(&name))?;
            }
        }
        Ok(())
    }

    fn submissions(
        &self,
        wanted: impl Fn(&Path) -> bool,
    ) -> io::Result<(Vec<Submission>, Vec<String>)> {
        submissions(&self.folder, self.run.as_deref(), &self.base, wanted)
    }

    /// Takes the next of what is complete: of the user whose submissions took the least time so far, so that nobody keeps
    /// others waiting by many; first those that are known, then the oldest.
    fn next(&mut self, pace: &Pace) -> Option<(PathBuf, u32)> {
        loop {
            let rank = |path: &PathBuf| {
                let about = path.symlink_metadata().ok();
                let used = about.as_ref().map(|about| pace.used(about.uid()));
                let changed = about.map(|about| (about.ctime(), about.ctime_nsec()));
                (used, !self.versions(path).exists(), changed)
            };
            let ranks = self.complete.iter().map(rank).enumerate();
            let (first, _) = ranks.min_by_key(|(_, rank)| *rank)?;
            let path = self.complete.remove(first);
            // What is gone for a moment is nobody's, and is looked at again.
            if let Some(user) = owner(&path) {
                return Some((path, user));
            }
        }
    }

    /// Copies the next of what is complete to the contest's folder as a new version, unless it is later than this. The
    /// notes name files that are not agents. Such files wait like others until they are looked at again.
    pub fn keep(
        &mut self,
        pace: &mut Pace,
        until: Instant,
    ) -> Result<(Option<KeptVersion>, Vec<String>), Failure> {
        let began = Instant::now();
        let (mut kept, mut other, mut fruitless) = (None, Vec::new(), Vec::new());
        while kept.is_none()
            && Instant::now() < until
            && (fruitless.is_empty() || began.elapsed() < FRUITLESS_MAX)
            && let Some((path, user)) = self.next(pace)
        {
            let looked = Instant::now();
            let read = self.submissions(|it| *it == path);
            let (found, notes) = match read {
                // Whoever hands in so many stops no games.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    self.warn(self.folder.clone(), &error);
                    self.complete.clear();
                    break;
                }
                read => read.map_err(|error| disk_failure(&self.folder, &error))?,
            };
            let is_this = |entry: &Option<PathBuf>| entry.as_ref() == Some(&path);
            if let Some(submission) = found.iter().find(|it| is_this(&it.entry)) {
                let (team, is_teams) = self.team_of(&path, user, &submission.name);
                match self.keep_version((&path, user), &team, is_teams, false)? {
                    Kept::Version(version) => {
                        kept = Some(version);
                        continue;
                    }
                    Kept::Changing => {}
                    Kept::Refused(why) => {
                        other.push(format!("{} does not play: {why}", sanitize(&submission.name)));
                        self.settle(&path);
                    }
                }
            } else {
                self.settle(&path);
                let name = sanitize(&path.file_name().unwrap_or_default().to_string_lossy());
                other.extend(notes.into_iter().filter(|note| note.starts_with(&name)));
            }
            fruitless.push(path);
            pace.charge(user, looked.elapsed().max(LOOK_MIN));
        }
        pace.looked(fruitless, began, Instant::now());
        Ok((kept, other))
    }

    /// Notes once that a submission can't be taken in. What is deleted meanwhile is none.
    fn warn(&mut self, path: PathBuf, error: &io::Error) {
        let text = sanitize(&error.to_string());
        if error.kind() != io::ErrorKind::NotFound && self.unreadable.get(&path) != Some(&text) {
            let name = sanitize(&path.file_name().unwrap_or_default().to_string_lossy());
            self.warnings.push(format!("{name} is not taken in: {text}"));
            self.unreadable.insert(path, text);
        }
    }

    /// Returns new warnings about submissions that can't be taken in.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Looks no more at a submission until it changes.
    fn settle(&mut self, path: &Path) {
        if let Some(state) = self.last.get(path) {
            self.settled.insert(path.to_owned(), state.clone());
        }
    }

    /// Keeps a submission of this user as a new version: of a user who has handed in too much only if it `plays` already.
    fn keep_version(
        &self,
        of: (&Path, u32),
        team: &str,
        is_teams: Option<bool>,
        plays: bool,
    ) -> Result<Kept, Failure> {
        let kept = self.try_to_keep(of, team, is_teams, plays);
        if kept.is_err() {
            // It may fill the disk.
            fs::remove_dir_all(self.versions(of.0).join(PARTIAL)).ok();
        }
        kept
    }

    fn try_to_keep(
        &self,
        (path, user): (&Path, u32),
        team: &str,
        is_teams: Option<bool>,
        plays: bool,
    ) -> Result<Kept, Failure> {
        let versions = self.versions(path);
        let number = newest(&versions).map_or(1, |newest| newest + 1);
        let folder = versions.join(number.to_string());
        let failed = |error: io::Error| disk_failure(&folder, &error);
        let partial = versions.join(PARTIAL);
        let name = path.file_name().unwrap_or_default();
        let place = folder.join(FILES_FOLDER).join(name);
        let is_users = || owner(path) == Some(user);
        let was_users = is_users();
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(failed)?;
        }
        let to = OpenFolder::create_all(&partial.join(FILES_FOLDER)).map_err(failed)?;
        let inbox = OpenFolder::open(&self.folder).map_err(failed)?;
        let before = state(&inbox, &self.folder, name);
        let bytes = before.as_ref().map_or(0, tree::bytes_of);
        let kept = |seen| KeptVersion {
            seen,
            team: team.to_owned(),
            is_teams,
            path: place.clone(),
            folder: folder.clone(),
            user,
        };
        let refused = |why: String| {
            if partial.exists() {
                fs::remove_dir_all(&partial).map_err(failed)?;
            }
            OpenFolder::create_all(&folder).map_err(failed)?;
            kept(None).close(Err(&why))?;
            Ok(Kept::Refused(why))
        };
        let excess = if plays { None } else { self.excess(path, user, bytes).map_err(failed)? };
        if let Some(why) = excess {
            return refused(why);
        }
        let copied = copied(&inbox, &self.folder, name, &to);
        if copied.as_ref().is_err_and(is_disk_full) {
            fs::remove_dir_all(&partial).map_err(failed)?;
            if !Disk::of(&versions).is_ok_and(|disk| disk.room() >= bytes) {
                copied.map_err(failed)?;
            }
            return refused("it has too many bytes for the disk".to_owned());
        } else if let (Ok(copied), Ok(before)) = (&copied, &before)
            && copied == before
            && was_users
            && is_users()
        {
            fs::rename(&partial, &folder).map_err(failed)?;
            return Ok(Kept::Version(kept(Some(Seen::of(before)))));
        } else if let Err(error) = copied
            && before.is_ok_and(|before| {
                state(&inbox, &self.folder, name).is_ok_and(|now| now == before)
            })
        {
            // It stays so: a file that can't be read, for example.
            return refused(sanitize(&error.to_string()));
        }
        fs::remove_dir_all(&partial).map_err(failed)?;
        Ok(Kept::Changing)
    }

    /// Returns why a user can't hand in this with so many bytes: all that they hand in has a part of the disk, and few
    /// players wait for games. Who may change the folder may hand in for all.
    fn excess(&self, path: &Path, user: u32, bytes: u64) -> io::Result<Option<String>> {
        let about = self.folder.metadata()?;
        if hands_in_for_all(&about, user) {
            return Ok(None);
        }
        let (mut others, mut playing) = (0, 0);
        for entry in self.kept.read_dir()?.flatten() {
            let its: Vec<_> = results(&entry.path()).filter(|it| it.user == Some(user)).collect();
            others += its.iter().map(|it| it.bytes).sum::<u64>();
            let is_other = entry.path() != self.versions(path);
            playing += usize::from(is_other && its.iter().any(|it| it.player.is_some()));
        }
        if may_add(&about) && playing >= USER_SUBMISSIONS_MAX {
            return Ok(Some(too_many()));
        }
        let share = Disk::of(&self.kept)?.share();
        // It is copied again to play.
        let is_more = others.saturating_add(bytes.saturating_mul(2)) > share;
        Ok(is_more.then(|| {
            let [bytes, others, share] = [bytes, others, share].map(|it| it / 1_000_000);
            format!(
                "its {bytes} MB, with the {others} MB of all other versions of the same user, are more than the {share} MB that each user may have"
            )
        }))
    }

    /// Returns the name of a user's submission, and whether earlier versions with it are of the same user. It is that of
    /// earlier versions at this path, else that of those at another (a folder instead of an archive) if they are of the
    /// same user: what others hand in changes no names.
    fn team_of(&self, path: &Path, user: u32, name: &str) -> (String, Option<bool>) {
        let inboxs = self.folder.metadata().ok().map(|about| about.uid());
        // Whoever may change everything may hand in for others.
        let is_same = |before: &VersionResult| {
            before.user.is_none_or(|it| it == user || user == 0 || Some(user) == inboxs)
        };
        let is_of = |team: &str| {
            let team = team.to_owned();
            move |before: &VersionResult| before.team.as_deref() == Some(&team)
        };
        let own = playing(&self.versions(path));
        if let Some(team) = own.iter().find(|it| is_same(it)).and_then(|it| it.team.clone()) {
            return (team, Some(true));
        }
        let (stem, names) = (stem(path), self.kept.read_dir().into_iter().flatten().flatten());
        let others: Vec<_> = names
            .map(|entry| entry.file_name())
            .filter(|other| other.as_bytes().starts_with(stem.as_bytes()))
            .flat_map(|other| playing(&self.kept.join(other)))
            .collect();
        if others.iter().filter(|it| is_of(&stem)(it)).any(is_same) {
            return (stem, Some(true));
        }
        let is_known = own.iter().chain(&others).any(is_of(name));
        (name.to_owned(), is_known.then_some(false))
    }

    /// The folder of all versions of a submission.
    fn versions(&self, path: &Path) -> PathBuf {
        self.kept.join(path.file_name().unwrap_or_default())
    }

    /// Whether the newest version is the submission as it is now, and something became of it.
    fn is_kept(&self, path: &Path, now: &Entries) -> bool {
        let versions = self.versions(path);
        newest(&versions).is_some_and(|number| {
            let folder = versions.join(number.to_string());
            // Its build may have changed what is kept.
            if let Some(seen) = result(&folder).and_then(|it| it.seen) {
                return seen == Seen::of(now);
            }
            let name = path.file_name().unwrap_or_default();
            let inside = folder.join(FILES_FOLDER);
            let place = if inside.is_dir() { &inside } else { &folder };
            let kept = OpenFolder::open(place).and_then(|it| state(&it, place, name));
            // The build of an agent adds files.
            let has = |kept: Entries| now.iter().all(|(name, state)| kept.get(name) == Some(state));
            folder.join(RESULT_FILE).exists() && kept.is_ok_and(has)
        })
    }
}

impl KeptVersion {
    fn bytes(&self) -> io::Result<u64> {
        let opened = OpenFolder::open(&self.folder)?;
        let tree = Tree { folder: &opened, path: &self.folder };
        tree::entries_of_copy(tree, NOTHING).map(|entries| tree::bytes_of(&entries))
    }

    /// Removes it, so that the submission is new again.
    pub fn forget(&self) -> Result<(), Failure> {
        fs::remove_dir_all(&self.folder).map_err(|error| disk_failure(&self.folder, &error))
    }

    /// Notes what became of it: the name under which it plays, or why it doesn't.
    pub fn close(&self, result: Result<&str, &str>) -> Result<(), Failure> {
        // `submissions/NAME/VERSION`.
        let contest = self.folder.ancestors().nth(3).and_then(|root| Folder::open(root).ok());
        let copy =
            contest.zip(result.ok()).and_then(|(it, player)| copies::bytes_of(&it, player).ok());
        // With what its build made.
        let bytes = self.bytes().unwrap_or_default() + copy.unwrap_or_default();
        let at = jiff::Timestamp::now().to_string();
        let (team, user) = (Some(self.team.clone()), Some(self.user));
        let [player, why] = [result.ok(), result.err()].map(|it| it.map(str::to_owned));
        let seen = self.seen.clone();
        let result = VersionResult { at, team, user, bytes, seen, player, why };
        let text = serde_json::to_string(&result).unwrap_or_default() + "\n";
        // Whole when it is there: others wait for it, and a version with it is done.
        let written = OpenFolder::open(&self.folder).and_then(|folder| {
            folder.replace_file(OsStr::new(RESULT_FILE), |file| {
                file.write_all(text.as_bytes()).map(|()| 0o644)
            })
        });
        written.map_err(|error| disk_failure(&self.folder.join(RESULT_FILE), &error))
    }
}

/// Returns the user whose file or folder it is.
fn owner(path: &Path) -> Option<u32> {
    Some(path.symlink_metadata().ok()?.uid())
}

/// Whether this user may change everything in a folder of submissions.
fn hands_in_for_all(folder: &Metadata, user: u32) -> bool {
    user == 0 || user == folder.uid()
}

/// Whether others than its owner may add to a folder of submissions.
fn may_add(folder: &Metadata) -> bool {
    folder.mode() & 0o022 != 0
}

fn too_many() -> String {
    format!("the same user has {USER_SUBMISSIONS_MAX} others that play, the most")
}

/// Says of each submission of a user that is one too many when a contest begins, why it doesn't play.
pub(super) fn beyond_users(paths: &[Option<&Path>]) -> Vec<Option<String>> {
    let mut playing = BTreeMap::<u32, usize>::new();
    let mut beyond = |path: &Path| {
        let (user, folder) = (path.symlink_metadata().ok()?.uid(), path.parent()?.metadata().ok()?);
        if hands_in_for_all(&folder, user) || !may_add(&folder) {
            return None;
        }
        let count = playing.entry(user).or_default();
        *count += 1;
        (*count > USER_SUBMISSIONS_MAX).then(too_many)
    };
    paths.iter().map(|path| beyond((*path)?)).collect()
}

/// Returns what became of the versions in a folder of versions that play, the newest first.
fn playing(versions: &Path) -> Vec<VersionResult> {
    results(versions).filter(|result| result.player.is_some()).collect()
}

/// The same for all versions.
fn results(versions: &Path) -> impl Iterator<Item = VersionResult> {
    let numbers = 1..=newest(versions).unwrap_or_default();
    numbers.rev().filter_map(move |number: u64| result(&versions.join(number.to_string())))
}

/// Returns what became of a version, once something did.
fn result(version: &Path) -> Option<VersionResult> {
    let file = version.join(RESULT_FILE);
    serde_json::from_slice(&read_regular(&file, RESULT_BYTES_MAX).ok()?).ok()
}

/// Returns the number of the newest version in a folder of versions.
fn newest(versions: &Path) -> Option<u64> {
    let names = versions.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).max()
}

/// Returns what a submission consists of: a folder's files, or a file or a link by its name. `path` is that of the
/// folder in which it is.
fn state(inbox: &OpenFolder, path: &Path, name: &OsStr) -> io::Result<Entries> {
    let (kind, file) = inbox.kind(name)?;
    let one = |state| Ok(Entries::from([(name.into(), state)]));
    match kind {
        Kind::Folder => {
            let (opened, path) = (inbox.folder(name)?, path.join(name));
            entries(Tree { folder: &opened, path: &path }, &|path, _| is_never_copied(path))
        }
        Kind::File => one(file.into()),
        Kind::Link(target) => one(State::Link(target)),
        Kind::Other => Ok(Entries::new()),
    }
}

/// Copies a submission to a folder, and returns what was copied.
pub(super) fn copied(
    inbox: &OpenFolder,
    path: &Path,
    name: &OsStr,
    to: &OpenFolder,
) -> io::Result<Entries> {
    let one = |state| Ok(Entries::from([(name.into(), state)]));
    match inbox.kind(name)?.0 {
        Kind::Folder => {
            let (opened, path) = (inbox.folder(name)?, path.join(name));
            let tree = Tree { folder: &opened, path: &path };
            copy(tree, &to.create_folder(name)?, Links::Same, &|path, _| is_never_copied(path))
        }
        Kind::File => one(copy_one(inbox, name, to)?),
        Kind::Link(target) => {
            to.create_link(name, &target)?;
            one(State::Link(target))
        }
        Kind::Other => Ok(Entries::new()),
    }
}

#[cfg(test)]
mod tests;
