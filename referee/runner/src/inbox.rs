//! The folder of submissions of an open ladder: finds new and changed submissions, and keeps a copy of each
//! version as it was handed in.

use super::copies::is_never_copied;
use super::entrants::{Submission, check_count, submissions};
use super::folder::{Folder, SUBMISSIONS_FOLDER};
use super::pace::Pace;
use super::prepare::Prepared;
use super::store::StoredContest;
use super::tree::{Entries, Links, State, Tree, copy, copy_one, entries};
use super::writer::disk_failure;
use referee_contest::file::ContestFile;
use referee_play::replace_file::replace;
use referee_process::Failure;
use referee_process::files::{absolute, is_disk_full, read_regular};
use referee_process::open_folder::{Kind, OpenFolder};
use referee_protocol::sanitize::sanitize;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
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

/// What a submission consists of, as one number: it has not changed as long as that is the same. The entries themselves
/// would take memory for each file that anybody puts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen(u64);

impl Seen {
    fn of(entries: &Entries) -> Self {
        let mut hasher = DefaultHasher::new();
        entries.hash(&mut hasher);
        Self(hasher.finish())
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
    /// The name of the submission.
    pub team: String,
    /// Its copy: the file or folder.
    pub path: PathBuf,
    /// The folder of the version.
    pub folder: PathBuf,
    /// The user whose submission it is.
    pub user: u32,
}

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
#[derive(Debug, Serialize)]
struct VersionResult<'a> {
    /// When, RFC 3339.
    at: String,
    /// Its name in the contest; null if it doesn't play.
    player: Option<&'a str>,
    /// Why it doesn't play.
    why: Option<&'a str>,
}

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
        let mut names = inbox.names()?;
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
                && let Kept::Version(version) = self.keep_version(&path, &name)?
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
        let rank = |path: &PathBuf| {
            let about = path.symlink_metadata().ok();
            let used = about.as_ref().map(|about| pace.used(about.uid()));
            let changed = about.map(|about| (about.ctime(), about.ctime_nsec()));
            (used, !self.versions(path).exists(), changed)
        };
        let ranks = self.complete.iter().map(rank).enumerate();
        let (first, _) = ranks.min_by_key(|(_, rank)| *rank)?;
        let path = self.complete.remove(first);
        let user = path.symlink_metadata().map_or(0, |about| about.uid());
        Some((path, user))
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
                match self.keep_version(&path, &submission.name)? {
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
            self.settled.insert(path.to_owned(), *state);
        }
    }

    /// Keeps a submission as a new version.
    fn keep_version(&self, path: &Path, team: &str) -> Result<Kept, Failure> {
        let versions = self.versions(path);
        let number = newest(&versions).map_or(1, |newest| newest + 1);
        let folder = versions.join(number.to_string());
        let failed = |error: io::Error| disk_failure(&folder, &error);
        let partial = versions.join(".partial");
        let name = path.file_name().unwrap_or_default();
        let place = folder.join(FILES_FOLDER).join(name);
        let user = path.symlink_metadata().map_or(0, |about| about.uid());
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(failed)?;
        }
        let to = OpenFolder::create_all(&partial.join(FILES_FOLDER)).map_err(failed)?;
        let inbox = OpenFolder::open(&self.folder).map_err(failed)?;
        let before = state(&inbox, &self.folder, name);
        let copied = copied(&inbox, &self.folder, name, &to);
        if copied.as_ref().is_err_and(is_disk_full) {
            copied.map_err(failed)?;
        } else if let (Ok(copied), Ok(before)) = (&copied, &before)
            && copied == before
        {
            fs::rename(&partial, &folder).map_err(failed)?;
            let team = team.to_owned();
            return Ok(Kept::Version(KeptVersion { team, path: place, folder, user }));
        } else if let Err(error) = copied
            && before.is_ok_and(|before| {
                state(&inbox, &self.folder, name).is_ok_and(|now| now == before)
            })
        {
            // It stays so: a file that can't be read, for example.
            fs::remove_dir_all(&partial)
                .and_then(|()| OpenFolder::create_all(&folder))
                .map_err(failed)?;
            let version = KeptVersion { team: team.to_owned(), path: place, folder, user };
            let why = sanitize(&error.to_string());
            version.close(Err(&why))?;
            return Ok(Kept::Refused(why));
        }
        fs::remove_dir_all(&partial).map_err(failed)?;
        Ok(Kept::Changing)
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
    /// Notes what became of it: the name under which it plays, or why it doesn't.
    pub fn close(&self, result: Result<&str, &str>) -> Result<(), Failure> {
        let at = jiff::Timestamp::now().to_string();
        let result = VersionResult { at, player: result.ok(), why: result.err() };
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
mod tests {
    use super::{Inbox, KeptVersion, LOOK_MIN, Pace};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    fn look(inbox: &mut Inbox, pace: &Pace) -> std::io::Result<bool> {
        inbox.look(pace, Instant::now() + Duration::from_secs(3600))
    }

    /// Keeps all that is complete.
    fn keep(inbox: &mut Inbox, pace: &mut Pace) -> (Vec<KeptVersion>, Vec<String>) {
        let (mut versions, mut notes) = (Vec::new(), Vec::new());
        loop {
            let until = Instant::now() + Duration::from_secs(3600);
            let (version, more) = inbox.keep(pace, until).unwrap();
            notes.extend(more);
            match version {
                Some(version) => versions.push(version),
                None => return (versions, notes),
            }
        }
    }

    #[test]
    fn nobody_keeps_others_waiting_by_many_submissions() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, base) = (dir.path().join("in"), dir.path().to_owned());
        let mut inbox = Inbox::new(folder.clone(), None, base, dir.path().join("kept"));
        let hand_in = |name: &str| {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("agent.toml"), "command = \"true\"").unwrap();
        };
        // The oldest first.
        for name in ["zoe", "a1", "a2", "a3"] {
            hand_in(name);
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut pace = Pace::default();
        let is_root = nix::unistd::Uid::effective().is_root();
        if is_root {
            std::os::unix::fs::chown(folder.join("a3"), Some(65_534), None).unwrap();
        }
        look(&mut inbox, &pace).unwrap();
        look(&mut inbox, &pace).unwrap();
        let mut taken = Vec::new();
        while let (Some(version), _) =
            inbox.keep(&mut pace, Instant::now() + Duration::from_secs(3600)).unwrap()
        {
            // The other is complete, but waits.
            assert_eq!(inbox.complete.len(), 3 - taken.len());
            pace.charge(version.user, Duration::from_secs(600));
            taken.push(version.team);
        }
        let expected = if is_root { ["zoe", "a3", "a1", "a2"] } else { ["zoe", "a1", "a2", "a3"] };
        assert_eq!(taken, expected);
        // A known one before others, and nothing when the time is over.
        hand_in("a0");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(folder.join("zoe/agent.toml"), "command = [\"true\"]").unwrap();
        look(&mut inbox, &Pace::default()).unwrap();
        look(&mut inbox, &Pace::default()).unwrap();
        assert!(inbox.keep(&mut pace, Instant::now()).unwrap().0.is_none());
        assert_eq!(inbox.next(&Pace::default()).unwrap().0, folder.join("zoe"));
        // What is no agent takes time of its user, too.
        let own = nix::unistd::geteuid().as_raw();
        let before = pace.used(own);
        fs::write(folder.join("junk.txt"), "junk").unwrap();
        let until = Instant::now() + Duration::from_secs(3600);
        inbox.look(&Pace::default(), until).unwrap();
        inbox.look(&Pace::default(), until).unwrap();
        inbox.complete.retain(|path| path.ends_with("junk.txt"));
        inbox.keep(&mut pace, until).unwrap();
        assert!(pace.used(own) >= before + LOOK_MIN);
    }

    #[test]
    fn no_name_of_a_submission_is_that_of_a_file_of_the_contest() {
        let names = ["result.json", "feedback.md", "feedback.xml", "files", ".partial", "1"];
        for is_folder in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join("in");
            fs::create_dir(&folder).unwrap();
            for name in names {
                let path = folder.join(name);
                let file = if is_folder { path.join(name) } else { path };
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "#!/bin/sh\n").unwrap();
                fs::set_permissions(file, Permissions::from_mode(0o755)).unwrap();
            }
            let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
            let open = || Inbox::new(folder.clone(), None, base.clone(), kept.clone());
            let mut inbox = open();
            look(&mut inbox, &Pace::default()).unwrap();
            assert!(look(&mut inbox, &Pace::default()).unwrap());
            let versions = keep(&mut inbox, &mut Pace::default()).0;
            for version in &versions {
                version.close(Err("refused")).unwrap();
                assert!(version.path.exists() && version.folder.join("result.json").is_file());
            }
            // Documents are no agents; hidden names are no submissions.
            assert_eq!(versions.len(), if is_folder { 5 } else { 2 });
            let mut again = open();
            look(&mut again, &Pace::default()).unwrap();
            look(&mut again, &Pace::default()).unwrap();
            assert!(keep(&mut again, &mut Pace::default()).0.is_empty(), "kept already");
        }
    }

    #[test]
    fn versions_that_were_kept_beside_their_results_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, kept) = (dir.path().join("in"), dir.path().join("kept"));
        for place in [folder.join("amy"), kept.join("amy/1/amy")] {
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("x"), "x").unwrap();
            let time = std::time::SystemTime::UNIX_EPOCH;
            fs::File::open(place.join("x")).unwrap().set_modified(time).unwrap();
        }
        fs::write(kept.join("amy/1/result.json"), "{}").unwrap();
        let mut inbox = Inbox::new(folder, None, dir.path().to_owned(), kept);
        look(&mut inbox, &Pace::default()).unwrap();
        assert!(!look(&mut inbox, &Pace::default()).unwrap());
    }

    #[test]
    fn what_is_no_agent_is_looked_at_alone_and_waits() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        fs::create_dir_all(folder.join("amy")).unwrap();
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        let mut inbox = Inbox::new(folder.clone(), None, base, kept);
        let mut pace = Pace::default();
        let mut hand_in = |text: &str| {
            fs::write(folder.join("notes.txt"), text).unwrap();
            look(&mut inbox, &pace).unwrap();
            let is_new = look(&mut inbox, &pace).unwrap();
            inbox.complete.retain(|path| path.ends_with("notes.txt"));
            let kept = keep(&mut inbox, &mut pace);
            (is_new && kept.0.is_empty(), kept.1)
        };
        let ignored = ["notes.txt is ignored: it is not an agent".to_owned()];
        assert_eq!(hand_in("one"), (true, ignored.to_vec()));
        // The other file is new, but this one waits.
        assert_eq!(hand_in("one two"), (true, Vec::new()));
        let now = Instant::now();
        assert!(
            pace.games_for(now) > Duration::ZERO && pace.is_held(&folder.join("notes.txt"), now)
        );
        let read = |wanted| super::submissions(&folder, None, dir.path(), wanted).unwrap();
        assert_eq!(read(|path: &std::path::Path| path.ends_with("notes.txt")).0.len(), 0);
    }

    #[test]
    fn too_many_files_stop_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        fs::create_dir(&folder).unwrap();
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        let mut inbox = Inbox::new(folder.clone(), None, base, kept);
        for number in 0..=10_000 {
            fs::File::create(folder.join(number.to_string())).unwrap();
        }
        assert!(!look(&mut inbox, &Pace::default()).unwrap());
        assert!(keep(&mut inbox, &mut Pace::default()).0.is_empty());
        assert!(!look(&mut inbox, &Pace::default()).unwrap());
        let warnings = inbox.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("more than 10000"), "{warnings:?}");
    }

    #[test]
    fn a_team_waits_while_the_others_hand_in() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        let mut inbox = Inbox::new(folder.clone(), None, base, kept);
        for team in ["one", "two"] {
            fs::create_dir_all(folder.join(team)).unwrap();
            fs::write(folder.join(team).join("x"), "x").unwrap();
        }
        let hour = Duration::from_secs(3600);
        let now = Instant::now();
        let mut pace = Pace::default();
        pace.took(folder.join("one"), now, now + hour);
        assert!(!look(&mut inbox, &pace).unwrap(), "not complete yet");
        assert!(look(&mut inbox, &pace).unwrap());
        assert_eq!(inbox.complete, [folder.join("two")]);
        assert!(look(&mut inbox, &Pace::default()).unwrap());
        assert_eq!(inbox.complete, [folder.join("one"), folder.join("two")]);
    }

    #[test]
    fn a_look_that_takes_too_long_goes_on_at_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        let mut inbox = Inbox::new(folder.clone(), None, base, kept);
        for team in ["a", "b", "c"] {
            fs::create_dir_all(folder.join(team)).unwrap();
        }
        let (pace, over) = (Pace::default(), Instant::now());
        let mut complete = || {
            inbox.look(&pace, over).unwrap();
            inbox.complete.clone()
        };
        (0..3).for_each(|_| assert!(complete().is_empty()));
        let found: Vec<_> = (0..4).flat_map(|_| complete()).collect();
        assert_eq!(found, ["a", "b", "c", "a"].map(|team| folder.join(team)));
    }
}
