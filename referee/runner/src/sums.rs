//! `SHA256SUMS`: the digests of the files in a contest's folder, as `sha256sum` writes and checks them. While a
//! contest is played, a file is listed only as long as nothing writes to it, so the list fits whenever a run is
//! killed. When a run ends, the list is whole: it has every file, also the store, and what it doesn't have was added.

use super::folder::{
    AGENTS_FOLDER, CHANGES_FILE, CONTEST_FILE, Folder, GAMES_FOLDER, LOCK_FILE, STORE_FILE,
    SUBMISSIONS_FOLDER, SUMS_FILE, TEAMS_FOLDER, WORKERS_FILE,
};
use super::results::report_failure;
use super::store::Store;
use super::writer::disk_failure;
use crate::parallel;
use referee_contest::Change;
use referee_contest::wording::{count, games};
use referee_play::digest::{BYTECODE_FOLDER, digest_file, digest_file_in};
use referee_play::replace_file::replace_by;
use referee_process::Failure;
use referee_process::files::{open_regular, read_regular};
use referee_process::open_folder::OpenFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Larger lists are not read: more than ten million games.
const BYTES_MAX: u64 = 1 << 30;
/// The largest list of changes that is read, in bytes.
const CHANGES_BYTES_MAX: u64 = 64 << 20;
/// The most added files that are named.
const ADDED_SHOWN_MAX: usize = 20;
/// How many files are hashed before their lines are written, or their digests compared.
const BATCH_FILES: usize = 2000;

/// What a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// What doesn't change while the contest is played: the contest, its changes, the agents' copies, and the
    /// transcripts of all results.
    Fixed,
    /// Everything.
    Whole,
}

/// Writes the list anew, for a contest that is going to be played or changed.
pub fn write(folder: &Folder, store: &Store) -> Result<(), Failure> {
    write_to(folder, store, Extent::Fixed)
}

/// Writes the list of all files, when nothing is going to write to them, and returns its own SHA-256. Whoever has
/// published that can show that nothing was changed since.
pub fn write_whole(folder: &Folder, store: &Store) -> Result<String, Failure> {
    store.settle()?;
    write_to(folder, store, Extent::Whole)?;
    digest(folder)
}

/// Returns the SHA-256 of the list.
pub fn digest(folder: &Folder) -> Result<String, Failure> {
    let file = folder.path(SUMS_FILE);
    digest_file(&file).map_err(|error| disk_failure(&file, &error))
}

fn write_to(folder: &Folder, store: &Store, extent: Extent) -> Result<(), Failure> {
    let write_changes = |changes: &[Change]| {
        let file = folder.path(CHANGES_FILE);
        let written = replace_by(&file, |out| {
            serde_json::to_writer_pretty(&mut *out, changes)?;
            out.write_all(b"\n")?;
            out.get_ref().sync_data()
        });
        written.map_err(|error| disk_failure(&file, &error))
    };
    let changes = store.changes()?;
    if !changes.is_empty() {
        write_changes(&changes)?;
    }
    let copies = store.contest()?.copies;
    let copies: BTreeSet<&str> = copies.values().map(|copy| copy.sha256.as_str()).collect();
    let file = folder.path(SUMS_FILE);
    let written = replace_by(&file, |out| {
        let mut listing = Listing { folder, out: &mut *out, batch: Vec::new() };
        listing.add(PathBuf::from(CONTEST_FILE), None)?;
        if !changes.is_empty() {
            listing.add(PathBuf::from(CHANGES_FILE), None)?;
        }
        let mut known = known_copies(&file);
        for copy in copies {
            let inside = Path::new(AGENTS_FOLDER).join(copy);
            let lines = known.remove(&inside).map(|lines| {
                lines.into_iter().map(|(name, sha256)| (name, Some(sha256))).collect::<Vec<_>>()
            });
            let lines = lines.map_or_else(|| files_of_copy(folder, &inside), Ok)?;
            lines.into_iter().try_for_each(|(name, sha256)| listing.add(name, sha256))?;
        }
        store.each_transcript(|name, sha256| listing.add(PathBuf::from(name), sha256))?;
        for void in store.voids()? {
            void.transcript.map_or(Ok(()), |name| listing.add(PathBuf::from(name), None))?;
        }
        if extent == Extent::Whole {
            // The others are listed above.
            let is_other = |name: &Path| !OWN_LISTS.iter().any(|own| name.starts_with(own));
            let mut others = files(folder, &is_other)?;
            others.retain(|name| !FIXED_FILES.iter().any(|fixed| name == Path::new(fixed)));
            others.into_iter().try_for_each(|name| listing.add(name, None))?;
        }
        listing.flush()?;
        out.flush()?;
        out.get_ref().sync_data()
    });
    written.map_err(|error| report_failure(error, &file))?;
    folder.close_to_others().map_err(|error| disk_failure(folder.root(), &error))
}

/// The folders of which only what the contest has put there is listed.
const OWN_LISTS: [&str; 2] = [AGENTS_FOLDER, GAMES_FOLDER];
/// The files that are listed in any case.
const FIXED_FILES: [&str; 2] = [CONTEST_FILE, CHANGES_FILE];

/// Whether a file is never listed: the list, what is added to sign it, and what comes and goes without a change of
/// the contest.
fn is_never_listed(name: &Path) -> bool {
    let name = name.to_string_lossy();
    let of_store = name.strip_prefix(STORE_FILE).is_some_and(|rest| !rest.is_empty());
    // A file until it takes the place of the one before: `replace_by`.
    let is_new = name.starts_with('.') && name.ends_with(".new");
    let others = [LOCK_FILE, WORKERS_FILE, TEAMS_FOLDER];
    of_store || is_new || name.starts_with(SUMS_FILE) || others.contains(&&*name)
}

/// Whether a file in an agent's copy is Python's bytecode, which an agent without a sandbox leaves there. It is removed
/// before the agent plays again.
fn is_left_behind(name: &Path) -> bool {
    name.starts_with(AGENTS_FOLDER) && name.file_name() == Some(OsStr::new(BYTECODE_FOLDER))
}

/// Returns all files, and links, in the folder whose names are `wanted`, sorted. Links are not followed.
fn files(folder: &Folder, wanted: &dyn Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(outer) = folders.pop() {
        for entry in folder.path(&outer).read_dir()? {
            let entry = entry?;
            let name = outer.join(entry.file_name());
            if !wanted(&name) || is_never_listed(&name) || is_left_behind(&name) {
                continue;
            }
            let list = if entry.file_type()?.is_dir() { &mut folders } else { &mut found };
            list.push(name);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the files of a copy, whose digests are not known.
fn files_of_copy(folder: &Folder, copy: &Path) -> io::Result<Vec<(PathBuf, Option<String>)>> {
    let found = files(folder, &|name| copy.starts_with(name) || name.starts_with(copy))?;
    Ok(found.into_iter().map(|name| (name, None)).collect())
}

/// Writes lines, in the order of the files.
struct Listing<'a, W> {
    folder: &'a Folder,
    out: W,
    /// Files whose lines are not written yet, with their digests if those are known.
    batch: Vec<(PathBuf, Option<String>)>,
}

impl<W: Write> Listing<'_, W> {
    fn add(&mut self, name: PathBuf, sha256: Option<String>) -> io::Result<()> {
        self.batch.push((name, sha256));
        if self.batch.len() < BATCH_FILES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is missing, and what is no file, can't be listed: `verify` names it.
        let is_listed = |(name, known): &(PathBuf, Option<String>)| {
            let about = self.folder.path(name).symlink_metadata();
            known.is_some() || about.is_ok_and(|about| about.is_file())
        };
        self.batch.retain(is_listed);
        let root = OpenFolder::open(self.folder.root())?;
        let digest = |(name, known): &(PathBuf, Option<String>)| match known {
            Some(sha256) => Ok(sha256.clone()),
            None => digest_file_in(&root, name),
        };
        let digests = parallel::map(&self.batch, None, &|_, _| {}, digest);
        for ((name, _), digest) in self.batch.drain(..).zip(digests) {
            let failed = |error| disk_failure(&self.folder.path(&name), &error);
            self.out.write_all(&line(&digest.map_err(failed)?, &name))?;
        }
        Ok(())
    }
}

/// Returns a line of `sha256sum`, which escapes two characters.
fn line(sha256: &str, name: &Path) -> Vec<u8> {
    let (mut escaped, mut start) = (Vec::new(), "");
    for &byte in name.as_os_str().as_bytes() {
        match byte {
            b'\\' => escaped.extend(b"\\\\"),
            b'\n' => escaped.extend(b"\\n"),
            _ => {
                escaped.push(byte);
                continue;
            }
        }
        start = "\\";
    }
    [start.as_bytes(), sha256.as_bytes(), b"  ", &escaped, b"\n"].concat()
}

/// Returns digest and name of a line; `None` if it is not in the form of `sha256sum`.
fn read_line(line: &[u8]) -> Option<(String, PathBuf)> {
    let (is_escaped, line) = line.strip_prefix(b"\\").map_or((false, line), |line| (true, line));
    let (sha256, name) = (line.get(..64)?, line.get(64..)?);
    let sha256 =
        sha256.iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')).then_some(sha256)?;
    let name = name.strip_prefix(b"  ").or_else(|| name.strip_prefix(b" *"))?;
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' if is_escaped => match bytes.next()? {
                b'n' => b'\n',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => byte,
        });
    }
    let name = PathBuf::from(OsStr::from_bytes(&plain));
    Some((String::from_utf8(sha256.to_vec()).ok()?, name))
}

/// Returns the lines of the agents' copies in an earlier list, by copy. They are not hashed again: an agent without
/// a sandbox may have written other files beside its own.
fn known_copies(file: &Path) -> BTreeMap<PathBuf, Vec<(PathBuf, String)>> {
    let mut known: BTreeMap<PathBuf, Vec<_>> = BTreeMap::new();
    let Ok(list) = open_regular(file, BYTES_MAX) else { return known };
    for line in BufReader::new(list).split(b'\n').map_while(Result::ok) {
        let Some((sha256, name)) = read_line(&line) else { continue };
        if name.starts_with(AGENTS_FOLDER) {
            let copy = name.components().take(2).collect();
            known.entry(copy).or_default().push((name, sha256));
        }
    }
    known
}

/// What is found when the list is checked.
#[derive(Debug, Default)]
pub(super) struct CheckedSums {
    /// The number of files in it, which are as it says unless there are differences.
    pub(super) files: Option<u64>,
    pub(super) differences: Vec<String>,
    pub(super) notes: Vec<String>,
    /// The games, and the transcripts of void attempts, that it lists.
    games: BTreeSet<u64>,
    voids: BTreeSet<PathBuf>,
    /// The other files.
    others: BTreeSet<PathBuf>,
}

/// Checks that all files are as the list says, and that the store has every result that is listed. The store says
/// whether it had changes in a log beside it when it was opened.
pub(super) fn check(
    folder: &Folder,
    (store, has_log): (&Store, bool),
    jobs: Option<usize>,
) -> Result<CheckedSums, Failure> {
    let mut found = CheckedSums::default();
    let list = match open_regular(&folder.path(SUMS_FILE), BYTES_MAX) {
        Ok(list) => BufReader::new(list),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            found.notes.push(format!(
                "there is no {SUMS_FILE}: it was removed, or an earlier version wrote the folder"
            ));
            return Ok(found);
        }
        Err(error) => {
            found.differences.push(format!("{SUMS_FILE}: {error}"));
            return Ok(found);
        }
    };
    let (mut batch, mut number) = (Vec::new(), 0);
    for line in list.split(b'\n') {
        number += 1;
        let line = line.map_err(|error| disk_failure(&folder.path(SUMS_FILE), &error))?;
        let is_inside =
            |name: &Path| name.components().all(|it| matches!(it, Component::Normal(_)));
        match read_line(&line).filter(|(_, name)| is_inside(name)) {
            Some(entry) => batch.push(entry),
            None => found.differences.push(format!(
                "{SUMS_FILE}, line {number}: it must have a digest and a file in the folder"
            )),
        }
        if batch.len() >= BATCH_FILES {
            found.compare(folder, jobs, &mut batch)?;
        }
    }
    found.compare(folder, jobs, &mut batch)?;
    if has_log && found.is_whole() {
        found.differences.push(format!(
            "{STORE_FILE} has changes in a log beside it, which {SUMS_FILE} doesn't know: a run that has ended leaves none"
        ));
    }
    found.find_added(folder, store)?;
    found.compare_store(folder, store)?;
    found.files = Some(number);
    found.notes.push(format!("SHA-256 of {SUMS_FILE}: {}", digest(folder)?));
    Ok(found)
}

impl CheckedSums {
    /// Compares these files with their digests.
    fn compare(
        &mut self,
        folder: &Folder,
        jobs: Option<usize>,
        batch: &mut Vec<(String, PathBuf)>,
    ) -> Result<(), Failure> {
        let root = OpenFolder::open(folder.root());
        let root = root.map_err(|error| disk_failure(folder.root(), &error))?;
        let is_link = |name: &Path| folder.path(name).is_symlink();
        let digest = |(_, name): &(String, PathBuf)| {
            digest_file_in(&root, name).map_err(|error| {
                let link = name.ancestors().find(|it| *it != Path::new("") && is_link(it));
                link.map_or(error, |link| {
                    let it = if link == name { "it".into() } else { link.to_string_lossy() };
                    io::Error::other(format!("{it} is a link"))
                })
            })
        };
        let digests = parallel::map(batch, jobs, &|_, _| {}, digest);
        for ((wanted, name), digest) in batch.drain(..).zip(digests) {
            let what = match digest {
                Ok(sha256) if sha256 == wanted => None,
                Ok(_) => Some("was changed".to_owned()),
                Err(error) if error.kind() == ErrorKind::NotFound => Some("is missing".to_owned()),
                Err(error) => Some(format!("can't be read: {error}")),
            };
            let shown = name.display();
            self.differences.extend(what.map(|what| format!("{SUMS_FILE}: {shown} {what}")));
            match Folder::number_of(&name) {
                Some(number) => drop(self.games.insert(number)),
                None if name.starts_with(GAMES_FOLDER) => drop(self.voids.insert(name)),
                None => drop(self.others.insert(name)),
            }
        }
        Ok(())
    }

    /// Whether the list is that of a run that has ended.
    fn is_whole(&self) -> bool {
        self.others.contains(Path::new(STORE_FILE))
    }

    /// Finds files that are not listed. Of a list that isn't whole, only the agents' copies are. A copy that no agent
    /// has is left over from a command that was killed.
    fn find_added(&mut self, folder: &Folder, store: &Store) -> Result<(), Failure> {
        let is_whole = self.is_whole();
        let copies = store.contest()?.copies;
        let copies: Vec<PathBuf> =
            copies.values().map(|copy| Path::new(AGENTS_FOLDER).join(&copy.sha256)).collect();
        let is_wanted = |name: &Path| {
            if name.starts_with(AGENTS_FOLDER) {
                copies.iter().any(|copy| copy.starts_with(name) || name.starts_with(copy))
            } else {
                is_whole && !name.starts_with(GAMES_FOLDER)
            }
        };
        let found = files(folder, &is_wanted);
        let mut added = found.map_err(|error| disk_failure(folder.root(), &error))?;
        // Links have no lines. Those in a copy are part of its name, and nothing plays from what was handed in.
        let is_link = |name: &Path| folder.path(name).is_symlink();
        let may_be_link =
            |name: &Path| name.starts_with(AGENTS_FOLDER) || name.starts_with(SUBMISSIONS_FOLDER);
        let is_left_out = |name: &Path| may_be_link(name) && is_link(name);
        added.retain(|name| !self.others.contains(name) && !is_left_out(name));
        let shown = added
            .iter()
            .take(ADDED_SHOWN_MAX)
            .map(|name| format!("{} is not in {SUMS_FILE}: it was added later", name.display()));
        self.differences.extend(shown);
        if let Some(more) = added.len().checked_sub(ADDED_SHOWN_MAX).filter(|more| *more > 0) {
            self.differences.push(format!("and {more} more files that are not in {SUMS_FILE}"));
        }
        if !is_whole {
            self.notes.push(format!(
                "{SUMS_FILE} has only what doesn't change while the contest is played: the last run did \
                 not end, and `contest resume` completes the list"
            ));
        }
        Ok(())
    }

    /// Compares the results that are listed with those in the store.
    fn compare_store(&mut self, folder: &Folder, store: &Store) -> Result<(), Failure> {
        let mut behind = 0;
        store.each_result(|number, _| behind += u64::from(!self.games.remove(&number)))?;
        if behind > 0 && self.is_whole() {
            let results = count(behind, "result");
            self.differences.push(format!("{results} of the store not in {SUMS_FILE}"));
            behind = 0;
        }
        for name in store.voids()?.into_iter().filter_map(|void| void.transcript) {
            if self.voids.remove(Path::new(&name)) {
                continue;
            }
            if self.is_whole() {
                self.notes.push(format!(
                    "{name} of a void attempt is not in {SUMS_FILE}: it could not be written, or was added later"
                ));
            } else {
                behind += 1;
            }
        }
        if !self.games.is_empty() {
            let lost: Vec<u64> = self.games.iter().copied().collect();
            self.differences
                .push(format!("{SUMS_FILE} lists {}, but the store lacks it", games(&lost)));
        }
        for name in &self.voids {
            let name = name.display();
            self.differences
                .push(format!("{SUMS_FILE} lists {name}, but the store has no such attempt"));
        }
        let changes = store.changes()?;
        let lists_changes = self.others.contains(Path::new(CHANGES_FILE));
        let listed = if lists_changes { listed_changes(folder) } else { Some(Vec::new()) };
        match listed {
            Some(listed) if changes.starts_with(&listed) && !self.is_whole() => {
                behind += (changes.len() - listed.len()) as u64;
            }
            Some(listed) if changes == listed => {}
            _ => self
                .differences
                .push(format!("the changes in the store are not those in {CHANGES_FILE}")),
        }
        if behind > 0 {
            let results = count(behind, "result");
            self.notes.push(format!(
                "{results} of the store not in {SUMS_FILE} yet: the referee is at work or was killed, and \
                 `contest resume` adds them"
            ));
        }
        Ok(())
    }
}

/// Returns the changes in the folder's list of them.
fn listed_changes(folder: &Folder) -> Option<Vec<Change>> {
    let bytes = read_regular(&folder.path(CHANGES_FILE), CHANGES_BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{line, read_line};
    use std::path::Path;

    #[test]
    fn names_are_escaped_as_sha256sum_does() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for (name, written) in [
            ("games/0000/0000001.jsonl", format!("{digest}  games/0000/0000001.jsonl\n")),
            ("a b", format!("{digest}  a b\n")),
            ("a\nb", format!("\\{digest}  a\\nb\n")),
            ("a\\n", format!("\\{digest}  a\\\\n\n")),
        ] {
            assert_eq!(String::from_utf8(line(digest, Path::new(name))).unwrap(), written);
            let (sha256, read) = read_line(written.trim_end_matches('\n').as_bytes()).unwrap();
            assert_eq!((sha256.as_str(), read.as_path()), (digest, Path::new(name)));
        }
        let star = format!("{digest} *a");
        assert_eq!(read_line(star.as_bytes()).unwrap().1, Path::new("a"));
        let upper = digest.to_uppercase();
        for wrong in [
            "",
            digest,
            &format!("{digest} a"),
            &format!("{upper}  a"),
            &format!("\\{digest}  a\\x"),
        ] {
            assert_eq!(read_line(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
