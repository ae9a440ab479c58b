//! Lists the served folder: transcripts and contests. Names are listed without opening files; the
//! start and the end of transcripts are read once, and again when they change.

use super::errors::ApiResult;
use super::rows::{Row, begins, unreadable};
use super::served_folder::{ServedFolder, Shown, open};
use nix::unistd::geteuid;
use referee_games::Games;
use referee_play::destination::{DEFAULT_FOLDER, is_transcript};
use referee_play::liveness::may_be_written;
use referee_process::lock::lock;
use referee_runner::folder::{Folder, GAMES_FOLDER, STORE_FILE};
use referee_runner::inbox::Inbox;
use referee_runner::parallel;
use referee_runner::store::Store;
use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// How many levels of folders are listed.
const DEPTH_MAX: usize = 6;
/// The most names that are listed. If there are more, each folder has a share of them.
const NAMES_MAX: usize = 200_000;
/// How long a listing is reused.
const LISTING_AGE_MAX: Duration = Duration::from_secs(1);
/// Folders with many files and no transcripts.
const SKIPPED_FOLDERS: [&str; 3] = ["target", "node_modules", "__pycache__"];
/// The most rows that are cached.
const ROWS_MAX: usize = 40_000;
/// The most transcripts in a list, the newest; older ones are in the lists of their contest or folder.
const LISTED_MAX: usize = 20_000;
/// How many of the newest transcripts are checked for live matches.
const LIVE_CHECKED: usize = 400;
/// How long that takes at most.
const LIVE_READING_MAX: Duration = Duration::from_millis(500);
/// The most live matches in the list.
const LIVE_MAX: usize = 50;

/// The contents of the served folder.
#[derive(Debug, Default)]
pub(super) struct FolderContents {
    /// The transcripts, the newest first.
    pub(super) transcripts: Vec<Entry>,
    /// The folders of contests, by name.
    pub(super) contests: Vec<String>,
}

impl FolderContents {
    /// Returns the transcripts below a folder, the newest first. Those of a contest are included only if
    /// the folder is the contest's or in it.
    pub(super) fn listed<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Entry> + Clone {
        let wanted = move |contest: usize| {
            let contest = &self.contests[contest];
            !folder.is_empty() && (folder == contest || is_below(folder, contest))
        };
        let inside = self.transcripts.iter().filter(move |entry| {
            entry.begins && is_below(&entry.name, folder) && entry.contest.is_none_or(wanted)
        });
        inside.take(LISTED_MAX)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Relative to the served folder.
    pub(super) name: String,
    /// The time of the last write.
    pub(super) changed: SystemTime,
    pub(super) bytes: u64,
    /// The index of its contest, if it belongs to one.
    contest: Option<usize>,
    /// Whether it begins like a transcript; other files are not listed.
    begins: bool,
}

/// A row with the time and size of the file when it was read.
#[derive(Clone, Debug)]
struct CachedRow {
    changed: SystemTime,
    bytes: u64,
    /// `None` if the header was not written yet.
    row: Option<Arc<Row>>,
}

/// Lists the folder and caches the rows.
#[derive(Debug, Default)]
pub(super) struct Listing {
    inboxes: Mutex<Inboxes>,
    found: Mutex<Option<(Instant, Arc<FolderContents>)>>,
    rows: Mutex<BTreeMap<String, CachedRow>>,
}

impl Listing {
    /// Returns the contents, at most a second old.
    pub(super) fn contents(&self, served: &ServedFolder) -> Arc<FolderContents> {
        // Other requests wait for the same listing.
        let mut last = lock(&self.found);
        if let Some((at, found)) = &*last
            && at.elapsed() < LISTING_AGE_MAX
        {
            return found.clone();
        }
        let before = last.as_ref().map(|(_, found)| found.transcripts.as_slice());
        let found = Arc::new(walk(served, before.unwrap_or_default(), &mut lock(&self.inboxes)));
        *last = Some((Instant::now(), found.clone()));
        found
    }

    /// Forces a new listing at the next call.
    pub(super) fn forget(&self) {
        *lock(&self.found) = None;
    }

    /// Returns the row of a transcript; `None` before its header is written.
    pub(super) fn row(&self, served: &ServedFolder, entry: &Entry) -> Option<Arc<Row>> {
        let cached = |rows: &BTreeMap<String, CachedRow>| {
            let cached = rows.get(&entry.name)?;
            let same = (cached.changed, cached.bytes) == (entry.changed, entry.bytes);
            // A live match stops being live without a change of its file.
            let is_live = cached.row.as_ref().is_some_and(|row| row.live);
            (same && !is_live).then(|| cached.row.clone())
        };
        if let Some(row) = cached(&lock(&self.rows)) {
            return row;
        }
        let read = read(served, entry);
        let row = read.unwrap_or_else(|error| Some(unreadable(&entry.name, &error))).map(Arc::new);
        let mut rows = lock(&self.rows);
        if rows.len() >= ROWS_MAX {
            rows.clear();
        }
        let Entry { changed, bytes, .. } = *entry;
        rows.insert(entry.name.clone(), CachedRow { changed, bytes, row: row.clone() });
        row
    }

    /// Returns the transcripts beside this one, itself included: those of the same contest, or all that
    /// belong to none. The newest first, with the contest's folder.
    pub(super) fn beside<'a>(
        found: &'a FolderContents,
        file: &str,
    ) -> (Option<&'a str>, impl Iterator<Item = &'a Entry> + use<'a>) {
        let contest = found.transcripts.iter().find(|entry| entry.name == file);
        let contest = contest.and_then(|entry| entry.contest);
        let beside = found.transcripts.iter().filter(move |entry| entry.contest == contest);
        let folder = contest.map(|index| found.contests[index].as_str());
        (folder, beside.take(LISTED_MAX))
    }

    /// Returns the live matches below a folder, judged by their files.
    pub(super) fn live(
        &self,
        served: &ServedFolder,
        found: &FolderContents,
        folder: &str,
    ) -> Vec<Row> {
        // Those from the future come first.
        let is_ahead = |changed| changed > SystemTime::now() && !may_be_written(changed);
        let past = found.transcripts.iter().skip_while(|entry| is_ahead(entry.changed));
        let young = past.take_while(|entry| may_be_written(entry.changed));
        let inside = young.filter(|entry| is_below(&entry.name, folder));
        // The next look has the others: what was read is kept.
        let until = Instant::now() + LIVE_READING_MAX;
        let inside = inside.take_while(|_| Instant::now() < until);
        let rows = inside.take(LIVE_CHECKED).filter_map(|entry| self.row(served, entry));
        rows.filter(|row| row.live).take(LIVE_MAX).map(|row| Row::clone(&row)).collect()
    }
}

/// Returns the transcripts below a folder, the newest first, as the page lists them. Those without a
/// header are left out.
pub fn transcripts(folder: &Path, games: &Games) -> io::Result<impl Iterator<Item = Row> + use<>> {
    let served = ServedFolder::new(folder, games)?;
    let entries = walk(&served, &[], &mut Inboxes::default()).transcripts.into_iter();
    Ok(entries.filter_map(move |entry| {
        read(&served, &entry).unwrap_or_else(|error| Some(unreadable(&entry.name, &error)))
    }))
}

/// Returns whether a name is below a folder; everything is below the empty one.
pub(super) fn is_below(name: &str, folder: &str) -> bool {
    let rest = name.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
}

fn read(served: &ServedFolder, entry: &Entry) -> ApiResult<Option<Row>> {
    let path = served.transcript(&entry.name)?;
    let file = open(&path)
        .map_err(|error| super::errors::ApiError::unfit(format!("{}: {error}", entry.name)))?;
    Row::read(&entry.name, file, entry.changed)
}

/// How long all contests may take to say where agents for them are handed in: those of this user, which come first, and
/// with those of others.
const INBOXES_WAIT: [Duration; 2] = [Duration::from_secs(4), Duration::from_secs(6)];

/// The folders of submissions of each contest, by the path and inode of its store, whose contest file never changes,
/// and by when folders were last named for it.
type Inboxes = HashMap<(PathBuf, u64, Option<SystemTime>), Vec<PathBuf>>;

/// Returns the folders in which agents for a contest are handed in; canonical.
fn inboxes_of(contest: &Path) -> Vec<PathBuf> {
    let found = || {
        let folder = Folder::open(contest).ok()?;
        let (text, base) = Store::open_foreign(&folder).ok()?.contest_file().ok()?;
        Some(Inbox::all(&folder, &text, &base))
    };
    let found = found().unwrap_or_default();
    found.iter().filter(|it| is_same_for_all(it)).filter_map(|it| it.canonicalize().ok()).collect()
}

/// Whether a path leads to the same folder in every process. Others are of somebody who doesn't know where the served
/// folder is, and no contest has them.
fn is_same_for_all(path: &Path) -> bool {
    let is_of_process = |it: &Path| it.canonicalize().is_ok_and(|it| it.starts_with("/proc"));
    path.is_absolute() && !path.ancestors().any(is_of_process)
}

impl FolderContents {
    /// Removes what is in the folders of submissions of the contests here, and tells the served folder of these.
    fn hide_submissions(&mut self, served: &ServedFolder, inboxes: &mut Inboxes) {
        let path = |name: &str| served.root().join(name);
        // A contest that was handed in could hide another: it is asked last, only if no other hides it, and hides nothing of
        // those before it.
        let rank = |name: &String| {
            let about = path(name).join(STORE_FILE).symlink_metadata().ok();
            let is_own = about.as_ref().is_some_and(|about| about.uid() == geteuid().as_raw());
            let inode = about.map_or(0, |about| about.ino());
            (!is_own, name.matches('/').count(), inode)
        };
        let mut contests: Vec<_> = self.contests.iter().map(|name| (rank(name), name)).collect();
        contests.sort();
        let own_matches = path(DEFAULT_FOLDER);
        let began = Instant::now();
        let mut hidden = BTreeSet::new();
        let mut before: Vec<PathBuf> = Vec::new();
        for ((is_others, _, inode), name) in contests {
            let path = path(name);
            if path.ancestors().any(|outer| hidden.contains(outer)) {
                continue;
            }
            let named = Inbox::named_file(&path).symlink_metadata().and_then(|it| it.modified());
            let known = inboxes.entry((path.clone(), inode, named.ok()));
            let is_late = began.elapsed() >= INBOXES_WAIT[usize::from(is_others)];
            if is_late && matches!(known, MapEntry::Vacant(_)) {
                // The next look asks it.
                hidden.insert(path);
                continue;
            }
            let found = known.or_insert_with(|| inboxes_of(&path));
            let is_of_another = |inbox: &Path| {
                before.iter().any(|other| other.starts_with(inbox) || inbox.starts_with(other))
            };
            let inside = found.iter().filter(|inbox| {
                inbox.starts_with(served.root())
                    && !own_matches.starts_with(inbox)
                    && !path.starts_with(inbox)
                    && !is_of_another(inbox)
            });
            hidden.extend(inside.cloned());
            before.push(path);
        }
        let is_hidden = |name: &str| path(name).ancestors().any(|outer| hidden.contains(outer));
        self.contests.retain(|name| !is_hidden(name));
        self.transcripts.retain(|entry| !is_hidden(&entry.name));
        served.hide(hidden);
    }
}

/// Lists a folder. Files that are as they were `before` are not opened again.
fn walk(served: &ServedFolder, before: &[Entry], inboxes: &mut Inboxes) -> FolderContents {
    let root = served.root();
    let mut found = names(served, NAMES_MAX);
    found.hide_submissions(served, inboxes);
    found.transcripts.sort_by(|a, b| (b.changed, &b.name).cmp(&(a.changed, &a.name)));
    found.contests.sort();
    let games: Vec<String> = found.contests.iter().map(|contest| games_of(contest)).collect();
    let before: HashMap<&str, &Entry> =
        before.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let games: BTreeMap<&str, usize> = games.iter().map(String::as_str).zip(0..).collect();
    let mut new = Vec::new();
    for (index, entry) in found.transcripts.iter_mut().enumerate() {
        let mut above = entry.name.match_indices('/').map(|(end, _)| &entry.name[..end]);
        entry.contest = above.find_map(|folder| games.get(folder).copied());
        let known = before.get(entry.name.as_str());
        match known.filter(|it| (it.changed, it.bytes) == (entry.changed, entry.bytes)) {
            Some(known) => entry.begins = known.begins,
            None if entry.contest.is_none() => new.push(index),
            None => {}
        }
    }
    let path = |index: usize| root.join(&found.transcripts[index].name);
    let opened = parallel::map(&new, None, &|_, _| {}, |&index| begins(&path(index)));
    for (index, begins) in new.into_iter().zip(opened) {
        found.transcripts[index].begins = begins;
    }
    found
}

/// Lists at most so many names. If there are more, no folder hides those beside it.
fn names(served: &ServedFolder, names_max: usize) -> FolderContents {
    let all = |is_shared: bool| {
        let found = FolderContents::default();
        let mut walk = Walk { served, found, is_shared, cut: None };
        walk.folder(served.root(), "", 0, names_max);
        walk
    };
    let walk = all(false);
    if walk.cut.is_none() {
        return walk.found;
    }
    let Walk { found, cut, .. } = all(true);
    if let Some(cut) = cut {
        let cut = cut.display();
        tracing::warn!("{cut}: not all files are listed: there are more than {names_max} in all");
    }
    found
}

struct Walk<'a> {
    served: &'a ServedFolder,
    found: FolderContents,
    /// Each folder may have as many names as those after it. Otherwise the first may have all.
    is_shared: bool,
    /// The first folder with more names than it may have.
    cut: Option<PathBuf>,
}

impl Walk<'_> {
    /// Lists a folder, at most so many names, and returns how many it has listed. Links are not followed, and what
    /// can't be read is skipped.
    fn folder(&mut self, folder: &Path, name: &str, depth: usize, names_max: usize) -> usize {
        let shown = self.served.shown(folder);
        if shown == Shown::Nothing {
            return 0;
        }
        let Ok(entries) = folder.read_dir() else { return 0 };
        let mut below = Vec::new();
        let mut listed = 0;
        for entry in entries.flatten() {
            if listed == names_max {
                self.cut.get_or_insert_with(|| folder.to_owned());
                break;
            }
            listed += 1;
            let Ok(own) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if own.starts_with('.') {
                continue;
            }
            let whole = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
            if kind.is_dir() {
                let is_shown = shown == Shown::All || own == GAMES_FOLDER;
                if is_shown && depth < DEPTH_MAX && !SKIPPED_FOLDERS.contains(&own.as_str()) {
                    below.push((entry.path(), whole));
                }
            } else if !kind.is_file() {
            } else if own == STORE_FILE {
                self.found.contests.push(name.to_owned());
            } else if shown == Shown::All
                && is_transcript(Path::new(&own))
                && let Ok(about) = entry.metadata()
                && let Ok(changed) = about.modified()
            {
                let (name, bytes) = (whole, about.len());
                self.found.transcripts.push(Entry {
                    name,
                    changed,
                    bytes,
                    contest: None,
                    begins: true,
                });
            }
        }
        below.sort();
        for (index, (path, whole)) in below.iter().enumerate() {
            let left = names_max - listed;
            let share = if self.is_shared { left / (below.len() - index) } else { left };
            listed += self.folder(path, whole, depth + 1, share);
        }
        listed
    }
}

/// Returns the folder with a contest's transcripts.
pub(super) fn games_of(contest: &str) -> String {
    if contest.is_empty() { GAMES_FOLDER.to_owned() } else { format!("{contest}/{GAMES_FOLDER}") }
}

#[cfg(test)]
mod tests {
    use super::{Listing, is_below, names, walk};
    use crate::served_folder::ServedFolder;
    use referee_games::Games;
    use std::collections::HashMap;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    const GOLDEN: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts/hex-fault.jsonl");

    #[test]
    fn contents_are_found_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for deep in ["a/b", ".git", "target", "cup/games/0000", "1/2/3/4/5/6/7"] {
            fs::create_dir_all(path(deep)).unwrap();
        }
        let names = ["a/b/x.jsonl", "y.jsonl.gz", "cup/games/0000/0000001.jsonl"];
        for (age, name) in (1..).zip(names) {
            let file = File::create(path(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age * 100)).unwrap();
        }
        for name in [
            "a/x.json",
            ".git/x.jsonl",
            ".x.jsonl",
            "target/x.jsonl",
            "cup/contest.db",
            "1/2/3/4/5/6/7/x.jsonl",
        ] {
            File::create(path(name)).unwrap();
        }
        std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
        let served = ServedFolder::new(folder.path(), &Games::default()).unwrap();
        let found = walk(&served, &[], &mut HashMap::new());
        let listed: Vec<&str> = found.transcripts.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(listed, names);
        assert_eq!(found.contests, ["cup"]);
    }

    #[test]
    fn a_folder_with_many_files_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut honest = vec!["cup/games/0/1.jsonl", "matches/1.jsonl", "in/zoe/1.jsonl"];
        honest.sort_unstable();
        for name in &honest {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            File::create(path(name)).unwrap();
        }
        for inner in 0..10 {
            fs::create_dir_all(path(&format!("in/mallory/{inner}"))).unwrap();
            for file in 0..20 {
                File::create(path(&format!("in/mallory/{inner}/{file}.jsonl"))).unwrap();
                File::create(path(&format!("in/mallory/{file}{inner}.jsonl"))).unwrap();
            }
        }
        let served = ServedFolder::new(folder.path(), &Games::default()).unwrap();
        for names_max in [60, 100, 300] {
            let found = names(&served, names_max).transcripts;
            let listed = found.iter().map(|it| it.name.as_str());
            let mut listed: Vec<_> = listed.filter(|it| !it.contains("mallory")).collect();
            listed.sort_unstable();
            assert_eq!(listed, honest, "{names_max}");
            assert!(found.len() <= names_max);
        }
        assert_eq!(names(&served, 1000).transcripts.len(), 403);
    }

    #[test]
    fn a_match_without_an_end_is_live_while_its_file_is_young() {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(GOLDEN).unwrap();
        let served = ServedFolder::new(folder.path(), &Games::default()).unwrap();
        let whole = text.lines().count();
        for (name, lines, age, live) in [
            ("whole.jsonl", whole, 0, false),
            ("young.jsonl", 3, 0, true),
            ("old.jsonl", 3, 3600, false),
            ("closing.jsonl", whole - 1, 5, true),
            ("ahead.jsonl", 3, -30, true),
            // Any time can be given to a copied file.
            ("future.jsonl", 3, -86_400, false),
        ] {
            let part: Vec<&str> = text.lines().take(lines).collect();
            fs::write(folder.path().join(name), part.join("\n") + "\n").unwrap();
            let file = File::options().append(true).open(folder.path().join(name)).unwrap();
            let seconds = Duration::from_secs(i64::unsigned_abs(age));
            let now = SystemTime::now();
            file.set_modified(if age < 0 { now + seconds } else { now - seconds }).unwrap();
            let listing = Listing::default();
            let found = listing.contents(&served);
            let entry = found.transcripts.iter().find(|entry| entry.name == name).unwrap();
            let row = listing.row(&served, entry).unwrap();
            assert_eq!(row.live, live, "{name}: {row:?}");
            assert_eq!(row.result.is_some(), lines >= whole - 1, "{name}: {row:?}");
        }
    }

    #[test]
    fn a_folder_contains_what_is_below_it() {
        assert!(is_below("a/b", "a") && is_below("a", ""));
        assert!(!is_below("ab/c", "a") && !is_below("a", "a"));
    }
}
