//! Finds the agents of a contest: those named in its file, and those in its folder of submissions.

use super::again::place;
use super::alone::{alone, private_copy};
use super::arguments::relative;
use super::copies::leads_outside;
use super::team_names::unfit;
use super::tree::{NOTHING, Tree, entries, outside, refused_link};
use crate::parallel;
use referee_contest::file::{ContestFile, NamedAgent, Submissions};
use referee_match::names::unique_name;
use referee_play::adapted::package_of;
use referee_play::agent_spec::AgentSpec;
use referee_play::archives::{archive_stem, unpacked};
use referee_process::Failure;
use referee_process::files::{absolute, open_regular};
use referee_process::open_folder::{Kind, OpenFolder};
use referee_protocol::sanitize::{sanitize, sanitize_name};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Folders that building, running and packing create.
const GENERATED_FOLDERS: &[&str] =
    &["__pycache__", "__MACOSX", "node_modules", "target", "matches"];
/// Endings of archives that are not unpacked.
const ARCHIVE_ENDINGS: &[&str] = &["tar", "gz", "xz", "bz2", "7z", "rar"];
/// Endings of files that are not programs.
const NO_PROGRAM_ENDINGS: &[&str] = &[
    "md", "txt", "csv", "json", "jsonl", "toml", "yaml", "yml", "xml", "html", "pdf", "log", "png",
    "jpg", "svg", "db",
];
/// The most files and folders among which submissions are looked for: as many as can play.
pub(super) const SUBMISSIONS_MAX: usize = 10_000;
/// Names of the files beside each version of a submission of an open ladder.
const CONTEST_FILES: &[&str] = &["feedback.md", "feedback.xml", "result.json"];
/// Names of files that are not programs.
const NO_PROGRAM_NAMES: &[&str] = &["readme", "license", "makefile", "dockerfile"];

/// An agent that may play in a contest.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The name in the contest.
    pub(super) name: String,
    /// The AGENT argument as written.
    pub(super) run: String,
    /// The same with its own path instead of a private one, as people know it.
    pub(super) shown: String,
    /// The place of its name, or of its folder's, in the contest file.
    pub(super) span: Range<usize>,
    pub(super) is_submission: bool,
    /// The file or folder of a submission.
    pub(super) entry: Option<PathBuf>,
    /// The agent, or why it can't play.
    pub(super) spec: Result<AgentSpec, String>,
}

/// An agent in a folder of submissions.
#[derive(Debug)]
pub struct Submission {
    /// The name of its folder, or of its file without the ending.
    pub name: String,
    /// The AGENT as given, or its path if it can't be read.
    pub written: String,
    /// The same with its own path instead of a private one, as people know it.
    pub shown: String,
    /// Its file or folder; `None` for an agent that the contest file names.
    pub entry: Option<PathBuf>,
    /// Where that is read: what was unpacked of an archive, or a copy with nothing beside it.
    pub place: Option<PathBuf>,
    /// The agent, or why it can't play.
    pub spec: Result<AgentSpec, String>,
}

/// Finds all agents: those named in the file, then submissions by name. Programs that have to be built may
/// be missing. The notes name files among the submissions that are not agents. `is_open` is whether later versions may
/// come.
pub(super) fn find(
    file: &ContestFile,
    base: &Path,
    is_open: bool,
) -> Result<(Vec<Candidate>, Vec<String>), Failure> {
    let mut candidates = file.agents.iter().map(|agent| named(file, agent, base)).collect();
    let mut notes = Vec::new();
    if let Some(submissions) = &file.submissions {
        submitted(file, submissions, base, &mut candidates, &mut notes)?;
        name_submissions(&mut candidates, is_open);
    }
    Ok((candidates, notes))
}

/// Gives submissions their names in the contest. One without a name, or with that of another agent, does not play: its
/// author chose the name, and must not stop others by it.
fn name_submissions(candidates: &mut [Candidate], is_open: bool) {
    let mut known: Vec<String> = Vec::new();
    let mut files = BTreeMap::new();
    for named in candidates.iter().filter(|it| !it.is_submission) {
        known.push(sanitize_name(&named.name));
        files.insert(sanitize_name(&named.name), "an agent in the contest file".to_owned());
    }
    let mut submissions: Vec<&mut Candidate> =
        candidates.iter_mut().filter(|it| it.is_submission).collect();
    // Those whose files are called so come first: nobody takes their place by a space.
    submissions.sort_by_key(|it| sanitize_name(&it.name) != it.name);
    for submission in submissions {
        let name = sanitize_name(&submission.name);
        let file = format!("{:?}", submission.name);
        let taken = files.get(&name).map(|other| format!("is that of {other}"));
        let empty = || name.is_empty().then(|| "is empty".to_owned());
        let unfit = || if is_open { unfit(&submission.name, &known) } else { None };
        if let Some(why) = taken.or_else(empty).or_else(unfit) {
            // As its file is called, apart from all names.
            submission.name = file;
            submission.spec = Err(format!("its name {why}: rename it"));
        } else {
            submission.name = unique_name(&known, &name);
            known.push(submission.name.clone());
            files.insert(name, format!("the submission {file}"));
        }
    }
}

/// The failure for an error at a place in a contest file.
pub(super) fn error_at(file: &ContestFile, span: &Range<usize>, text: String) -> Failure {
    Failure::usage(file.source.error(span.clone(), text).to_string())
}

fn named(file: &ContestFile, agent: &NamedAgent, base: &Path) -> Candidate {
    let spec = AgentSpec::read_unbuilt(&agent.run, base).map_err(|failure| describe(&failure));
    let spec = spec.and_then(|spec| check_games(file, spec));
    let own = spec.as_ref().map_or(&agent.run, |spec| &spec.name);
    Candidate {
        name: agent.name.as_ref().unwrap_or(own).clone(),
        run: agent.run.clone(),
        shown: agent.run.clone(),
        span: agent.span.clone(),
        is_submission: false,
        entry: None,
        spec,
    }
}

/// Returns a failure with its help, sanitized; further lines are indented.
pub(super) fn describe(failure: &Failure) -> String {
    let text = match failure.help_text() {
        Some(help) => format!("{} ({help})", failure.to_string().trim_end()),
        None => failure.to_string(),
    };
    text.trim_end().lines().map(sanitize).collect::<Vec<_>>().join("\n    ")
}

/// Checks that an agent plays all games of the contest.
pub(super) fn check_games(file: &ContestFile, spec: AgentSpec) -> Result<AgentSpec, String> {
    if spec.launch.is_none() {
        return Err("a person can't play in a contest; use `referee play`".to_owned());
    }
    for game in &file.settings.games {
        let Ok(kind) = game.kind(&file.known_games) else { continue };
        if !spec.plays(kind) {
            let plays = spec.games.join(", ");
            return Err(sanitize(&format!("doesn't play {}: its games are {plays}", kind.name)));
        }
        spec.check_rules(kind).map_err(|failure| describe(&failure))?;
        spec.dialect(kind).map_err(|error| sanitize(&error))?;
    }
    Ok(spec)
}

fn submitted(
    file: &ContestFile,
    submissions: &Submissions,
    base: &Path,
    candidates: &mut Vec<Candidate>,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let folder = base.join(&submissions.folder);
    let run = submissions.run.as_deref();
    let (found, ignored) = self::submissions(&folder, run, base, |_| true).map_err(|error| {
        let text = format!("can't list the submissions: {}: {error}", folder.display());
        error_at(file, &submissions.span, text)
            .help("`submissions` is a folder; its path is relative to the contest file's folder")
    })?;
    notes.extend(ignored);
    for Submission { name, written: run, shown, place: entry, spec, .. } in found {
        let spec = spec.and_then(|spec| check_games(file, spec));
        let span = submissions.span.clone();
        candidates.push(Candidate { name, run, shown, span, is_submission: true, entry, spec });
    }
    Ok(())
}

/// Finds the agents in a folder, by name, and reads those that are `wanted`. `run` is the AGENT for each, with `{}` for
/// its path. Programs that have to be built may be missing. The notes name files that are not agents.
pub fn submissions(
    folder: &Path,
    run: Option<&str>,
    base: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> io::Result<(Vec<Submission>, Vec<String>)> {
    let paths = folder.read_dir()?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.take(SUBMISSIONS_MAX + 1).collect::<io::Result<Vec<PathBuf>>>()?;
    check_count(paths.len())?;
    paths.retain(|path| !file_name(path).starts_with('.'));
    paths.sort();
    let mut notes = older_archives(&mut paths);
    let stems: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    for stem in &stems {
        *counts.entry(stem).or_default() += 1;
    }
    let looked_at: Vec<(&PathBuf, &String)> =
        paths.iter().zip(&stems).filter(|(path, _)| wanted(path)).collect();
    let read = parallel::map(&looked_at, None, &|_, _| {}, |(path, _)| candidate(run, path, base));
    let mut found = Vec::new();
    for ((path, stem), read) in looked_at.into_iter().zip(read) {
        let name = file_name(path);
        let Some(read) = read.transpose() else {
            let why = if has_ending(&name, ARCHIVE_ENDINGS) {
                "it is an archive: hand in a .zip, a .tar.gz or a folder"
            } else {
                "it is not an agent"
            };
            notes.push(format!("{} is ignored: {why}", sanitize(&name)));
            continue;
        };
        let name = if counts[stem.as_str()] == 1 { stem.clone() } else { name };
        let shown = || path.strip_prefix(base).unwrap_or(path).display().to_string();
        let written = read.as_ref().map_or_else(|_| shown(), |(spec, _)| spec.written.clone());
        let is_private = read.as_ref().is_ok_and(|(_, place)| place != path);
        let shown = run.filter(|_| is_private).and_then(|run| at_its_own_place(run, path, base));
        let shown = shown.unwrap_or_else(|| written.clone());
        let (spec, place) = match read {
            Ok((spec, place)) => (Ok(spec), Some(place)),
            Err(why) => (Err(why), unpacked_or_itself(path).ok()),
        };
        found.push(Submission { name, written, shown, entry: Some(path.clone()), place, spec });
    }
    Ok((found, notes))
}

/// Fails if so many files and folders are too many.
pub(super) fn check_count(count: usize) -> io::Result<()> {
    if count <= SUBMISSIONS_MAX {
        return Ok(());
    }
    let text = format!("it has more than {SUBMISSIONS_MAX} files and folders");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
}

/// Returns the AGENT of a package that is read in a private place at its own one, where it is the same.
pub(super) fn at_its_own_place(template: &str, path: &Path, base: &Path) -> Option<String> {
    if package_of(template).is_none() || template.contains("{}/") {
        return None;
    }
    let below = below(path, base).display().to_string();
    let below = if below.contains('/') { below } else { format!("./{below}") };
    Some(template.replace("{}", &below))
}

/// Removes what was handed in again under the same name, where one of the two is an archive: the newest counts.
/// Returns notes about the others.
fn older_archives(paths: &mut Vec<PathBuf>) -> Vec<String> {
    let mut of_name = BTreeMap::<String, Vec<&PathBuf>>::new();
    for path in &*paths {
        of_name.entry(stem(path)).or_default().push(path);
    }
    let state = |path: &Path| path.symlink_metadata().ok();
    let owner = |path: &Path| state(path).map(|it| it.uid());
    let written = |path: &Path| state(path).and_then(|it| it.modified().ok());
    let mut older = BTreeMap::new();
    for same in of_name.values() {
        let has_archive = same.iter().any(|path| archive_stem(path).is_some());
        // Nobody takes another owner's place by a newer file.
        let is_of_one = same.iter().all(|path| owner(path) == owner(same[0]));
        let newest = same.iter().max_by_key(|path| written(path));
        let Some(&newest) = newest.filter(|_| has_archive && is_of_one) else { continue };
        for &path in same.iter().filter(|&&path| path != newest) {
            let [name, of] = [path, newest].map(|path| sanitize(&file_name(path)));
            let note = format!("{name} is ignored: {of} has the same name and is newer");
            older.insert(path.clone(), note);
        }
    }
    paths.retain(|path| !older.contains_key(path));
    older.into_values().collect()
}

/// Returns a path's last part; invalid UTF-8 in it is replaced.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns a submission's name: its folder, or its file without the ending.
pub(super) fn stem(path: &Path) -> String {
    let is_file = matches!(kind(path), Some(Kind::File));
    if let Some(stem) = archive_stem(path).filter(|_| is_file) {
        return stem;
    }
    let stem = if is_file { path.file_stem() } else { path.file_name() };
    stem.unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns what is at a path of submissions: the folder to which an archive is unpacked, else the path itself.
pub(super) fn unpacked_or_itself(path: &Path) -> io::Result<PathBuf> {
    if archive_stem(path).is_none() || kind(path) != Some(Kind::File) {
        return Ok(path.to_owned());
    }
    unpacked(path)
}

/// Returns the submission at a path and where it is read, `None` if it is not one, or why it can't play.
pub(super) fn candidate(
    template: Option<&str>,
    path: &Path,
    base: &Path,
) -> Result<Option<(AgentSpec, PathBuf)>, String> {
    let path = &unpacked_or_itself(path).map_err(|error| sanitize(&error.to_string()))?;
    let name = file_name(path);
    let found = kind(path);
    let is_folder = found == Some(Kind::Folder);
    let may_be = match &found {
        Some(Kind::Folder) => !GENERATED_FOLDERS.contains(&name.as_str()),
        Some(Kind::File | Kind::Link(_)) => !is_no_program(&name),
        Some(Kind::Other) | None => false,
    };
    if !may_be {
        return Ok(None);
    }
    if let Some(Kind::Link(target)) = found {
        return Err(outside(Path::new(&name), &target));
    }
    if CONTEST_FILES.contains(&name.as_str()) {
        return Err("its name is that of a file of the contest: rename it".to_owned());
    }
    if is_folder {
        check_links(path)?;
    }
    if let Some(template) = template.filter(|template| package_of(template).is_some())
        && let Some(place) = place_alone(template, path, base)?
    {
        if is_folder {
            check_links(&place)?;
        }
        return match read(Some(template), &place, base) {
            Ok(spec) => Ok(spec.map(|spec| (spec, place))),
            // In the words for its own place, if it can't play there either.
            Err(why) => Err(read(Some(template), path, base).err().unwrap_or(why)),
        };
    }
    Ok(read(template, path, base)?.map(|spec| (spec, path.clone())))
}

/// Reads submissions in this folder again from private copies: what is checked is what plays, whatever their authors
/// change meanwhile. `run` and `base` are as for [`submissions`].
pub fn read_apart(found: &mut [Submission], folder: &Path, run: Option<&str>, base: &Path) {
    for submission in found {
        // Others have such a copy already.
        let in_folder = submission.place.as_ref().filter(|place| place.parent() == Some(folder));
        let (Some(place), Ok(_)) = (in_folder, &submission.spec) else { continue };
        let read = || {
            let copy = private_copy(place).map_err(|error| sanitize(&error.to_string()))?;
            if copy.is_dir() {
                check_links(&copy)?;
            }
            let found = read(run, &copy, base)?;
            Ok((
                found.ok_or("it changed while it was read: leave it as it is, and try again")?,
                copy,
            ))
        };
        match read() {
            Ok((spec, copy)) => (submission.spec, submission.place) = (Ok(spec), Some(copy)),
            Err(why) => submission.spec = Err(why),
        }
    }
}

/// Returns the private copy of a package that is imported from the folder of submissions.
fn place_alone(template: &str, path: &Path, base: &Path) -> Result<Option<PathBuf>, String> {
    let base = absolute(base).map_err(|failure| describe(&failure))?;
    let path = place(path).map_err(|failure| describe(&failure))?;
    alone(template, &path, &base).map_err(|error| sanitize(&error.to_string()))
}

/// Reads the agent at a path of submissions; `None` if it is none.
fn read(template: Option<&str>, path: &Path, base: &Path) -> Result<Option<AgentSpec>, String> {
    let is_folder = kind(path) == Some(Kind::Folder);
    let relative = below(path, base);
    let Some(relative) = relative.to_str() else {
        return Err("its name is not UTF-8: rename it".to_owned());
    };
    // A path with a slash is never read as a built-in agent.
    let relative =
        &if relative.contains('/') { relative.to_owned() } else { format!("./{relative}") };
    let run = match template {
        Some(template) if !template_fits(template, path, is_folder) => return Ok(None),
        Some(template) => filled_in(template, relative, path, base)?,
        None if is_folder => {
            if !path.join("agent.toml").is_file() {
                return Err(without(path, "agent.toml"));
            }
            relative.clone()
        }
        None => match program(path) {
            Some(true) => relative.clone(),
            Some(false) => {
                return Err(format!(
                    "the script is not executable: chmod +x {}",
                    sanitize(&path.display().to_string())
                ));
            }
            None => return Ok(None),
        },
    };
    let words = template.unwrap_or_default().split_whitespace().filter(|word| !word.contains("{}"));
    let named: Vec<PathBuf> =
        words.filter_map(|word| base.join(word).canonicalize().ok()).collect();
    let spec = AgentSpec::read_unbuilt(&run, base).map_err(|failure| describe(&failure))?;
    check_inside(&spec, path, &named)?;
    Ok(Some(spec))
}

/// Checks that an agent is what is in its submission, besides what its template names: others may have exchanged
/// the submission for a link while it was read.
pub(super) fn check_inside(spec: &AgentSpec, path: &Path, named: &[PathBuf]) -> Result<(), String> {
    let place = place(path).map_err(|failure| describe(&failure))?;
    let is_inside =
        |own: &PathBuf| own.starts_with(&place) || named.iter().any(|named| own.starts_with(named));
    // What a package of the course imports from beside it is before it: the course's own, nothing else.
    let package = spec.own.len().saturating_sub(1);
    let (beside, own) = spec.own.split_at(if spec.is_adapted() { package } else { 0 });
    let course = spec.adapter.zip(spec.launch.as_ref());
    let course = course.map(|(adapter, launch)| launch.folder.join(adapter.course));
    let is_another = |own: &&PathBuf| !is_inside(own) && course.as_ref() != Some(own);
    if let Some(other) = beside.iter().find(is_another) {
        let name = sanitize(&file_name(other));
        return Err(format!(
            "it imports {name}, which is beside it: put a copy into its own folder"
        ));
    }
    if own.iter().all(is_inside) {
        // It plays from a copy, so that nobody changes it during the contest.
        let trees: Vec<PathBuf> = std::iter::once(place).chain(spec.own.iter().cloned()).collect();
        return leads_outside(spec, &trees, true).map_or(Ok(()), |why| {
            let how = "it plays from a copy of its own files: put what it needs among them, and name it by a relative path";
            Err(sanitize(&format!("{why}, but {how}")))
        });
    }
    Err("it changed while it was read: leave it as it is, and try again".to_owned())
}

/// Returns a submission's path relative to `base`, where it leads there: a full path would not name its copy.
fn below(path: &Path, base: &Path) -> PathBuf {
    let inside = path.strip_prefix(base).map(Path::to_owned);
    let full = || match (absolute(base), place(path)) {
        (Ok(base), Ok(path)) if base.is_absolute() => relative(&base, &path),
        _ => path.to_owned(),
    };
    inside.unwrap_or_else(|_| full())
}

/// Returns what a submission is; `None` if it can't be looked at.
fn kind(path: &Path) -> Option<Kind> {
    let inbox = OpenFolder::open(path.parent()?).ok()?;
    Some(inbox.kind(path.file_name()?).ok()?.0)
}

/// Checks that no link leads out of a submission. Its copy is checked again before it plays.
fn check_links(path: &Path) -> Result<(), String> {
    let entries = || {
        let inbox = OpenFolder::open(path.parent().unwrap_or(Path::new("/")))?;
        let folder = inbox.folder(path.file_name().unwrap_or_default())?;
        // What isn't copied too: another link may lead through it.
        entries(Tree { folder: &folder, path }, NOTHING)
    };
    let entries = entries().map_err(|error| sanitize(&error.to_string()))?;
    refused_link(&entries).map_or(Ok(()), Err)
}

fn is_no_program(name: &str) -> bool {
    let lower = name.to_lowercase();
    let stem = lower.rsplit_once('.').map_or(&*lower, |(stem, _)| stem);
    has_ending(name, NO_PROGRAM_ENDINGS)
        || has_ending(name, ARCHIVE_ENDINGS)
        || NO_PROGRAM_NAMES.contains(&stem)
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
    endings.contains(&&*ending)
}

/// Returns the message about a folder without a needed file, which may be in a folder inside: many
/// archives contain one folder with everything.
fn without(folder: &Path, needed: &str) -> String {
    let mut inside: Vec<PathBuf> =
        folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    inside.retain(|path| path.join(needed).exists());
    let needed = sanitize(needed);
    match &inside[..] {
        [inner] => {
            let inner = sanitize(&file_name(inner));
            format!("the folder has no {needed}, but its folder {inner} does: move the files up")
        }
        _ => format!("the folder has no {needed}"),
    }
}

/// Returns whether a file can be executed; `None` if it doesn't look like a program.
fn program(file: &Path) -> Option<bool> {
    let executable = file.metadata().is_ok_and(|it| it.permissions().mode() & 0o111 != 0);
    if executable {
        return Some(true);
    }
    let mut begin = [0; 2];
    let script = open_regular(file, u64::MAX).and_then(|mut it| it.read_exact(&mut begin));
    (script.is_ok() && begin == *b"#!").then_some(false)
}

/// Returns whether a template applies to a path: `{}/..` applies to folders, the course's packages are
/// folders or Python files.
fn template_fits(template: &str, path: &Path, is_folder: bool) -> bool {
    let python = path.extension().is_some_and(|ending| ending == "py");
    is_folder || !template.contains("{}/") && (python || package_of(template).is_none())
}

/// Fills the path into a template, quoted where it is a word of a command line.
fn filled_in(template: &str, relative: &str, path: &Path, base: &Path) -> Result<String, String> {
    for (index, word) in template.split_whitespace().enumerate() {
        let Some(inner) = word.strip_prefix("{}/") else { continue };
        let inner = inner.split(':').next().unwrap_or_default();
        let Ok(target) = path.join(inner).canonicalize() else {
            return Err(without(path, inner));
        };
        if !target.is_file() && !target.is_dir() {
            return Err(format!("{} is neither a file nor a folder", sanitize(inner)));
        }
        // The file may be read by the agent, so its author must not choose one of another folder by a
        // link. A program may be a link, as in Python's environments: it is started, not read.
        if index > 0 && path.canonicalize().is_ok_and(|folder| !target.starts_with(folder)) {
            let (inner, target) = (sanitize(inner), sanitize(&target.to_string_lossy()));
            return Err(format!(
                "{inner} is a link to {target}, outside of the folder: replace it with a copy"
            ));
        }
    }
    let plain = template.replace("{}", relative);
    if !template.contains(char::is_whitespace) || base.join(&plain).exists() {
        return Ok(plain);
    }
    let quoted = shlex::try_quote(relative).map_err(|error| error.to_string())?;
    Ok(template.replace("{}", &quoted))
}

/// Returns the folder and the build command of an agent that has one.
pub(super) fn build_of(spec: &AgentSpec) -> Option<(PathBuf, &str)> {
    let launch = spec.launch.as_ref()?;
    Some((launch.folder.clone(), spec.build.as_deref()?))
}
