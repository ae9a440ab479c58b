//! Copies of the agents in the contest's folder, made when the contest begins: games are played from them, so
//! nothing that changes elsewhere has an effect. A copy is named by its content, and has the same paths relative
//! to the contest's folder as the original, so that a command means the same.

use super::arguments::relative_run;
use super::folder::{AGENTS_FOLDER, Folder, STORE_FILE};
use super::prepare::Prepared;
use super::store::{Store, is_own};
use super::tree::{self, Entries, Links, NOTHING, State, Tree};
use super::writer::disk_failure;
use crate::parallel::{self, Progress};
use referee_contest::PlayerInfo;
use referee_play::agent_spec::{AgentKind, AgentSpec, Parts};
use referee_play::digest::{BYTECODE_FOLDER, digest_bytes, digest_files};
use referee_process::Failure;
use referee_process::files::{is_disk_full, sync_file_system};
use referee_process::open_folder::{Kind, OpenFolder};
use referee_process::sandbox::reach::{is_wide, leads_to_installation};
use referee_protocol::sanitize::sanitize;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Folders that are never part of an agent: version control and leftovers of runs. Digests don't cover Python's
/// bytecode, and an interpreter that finds it plays it instead of the source.
const NEVER: &[&str] = &[".git", ".hg", ".svn", "matches", BYTECODE_FOLDER];

/// Whether a path's last name is that of such a folder.
pub(super) fn is_never_copied(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| NEVER.contains(&name))
}

/// Returns a text of an agent, such as its stderr, without the places of copies on this machine, which mean nothing to
/// its author.
pub fn without_copies(text: &str) -> String {
    let folder = format!("/{AGENTS_FOLDER}/");
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(&folder) {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        let inner = after.get(64..).and_then(|inner| inner.strip_prefix('/'));
        if let Some(inner) = inner.filter(|_| digits == 64) {
            let begins = |letter: char| letter.is_whitespace() || "\"'`(<[=:".contains(letter);
            kept.push_str(&before[..before.rfind(begins).map_or(0, |at| at + 1)]);
            rest = inner;
        } else {
            kept.extend([before, &folder]);
            rest = after;
        }
    }
    kept + rest
}

/// An agent's copy in the contest's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCopy {
    /// SHA-256 of its files, in hex: the name of its folder in `agents`.
    #[serde(deserialize_with = "name_of_copy")]
    pub sha256: String,
    /// The contest file's folder in the copy; empty if all files are below it.
    #[serde(deserialize_with = "folder_in_copy")]
    pub folder: PathBuf,
    /// The AGENT argument, relative to that.
    pub run: String,
    /// The agent's own files before they were copied, which no agent may read.
    pub own: Vec<PathBuf>,
    /// How long its build took, in milliseconds, if it has one.
    #[serde(default)]
    pub build_ms: Option<u64>,
}

/// Reads the name of a copy. A store from elsewhere may name any folder of this machine.
fn name_of_copy<'de, D: Deserializer<'de>>(read: D) -> Result<String, D::Error> {
    let name = String::deserialize(read)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if name.len() == 64 && name.bytes().all(is_digit) {
        return Ok(name);
    }
    Err(D::Error::custom("the copy of an agent is not called by its digest"))
}

/// The same for a folder in it.
fn folder_in_copy<'de, D: Deserializer<'de>>(read: D) -> Result<PathBuf, D::Error> {
    let folder = PathBuf::deserialize(read)?;
    if folder.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(folder);
    }
    Err(D::Error::custom("the folder of an agent's copy leads out of it"))
}

impl AgentCopy {
    /// Returns the folder of its files. `agents` is the folder of all copies.
    pub fn root(&self, agents: &Path) -> PathBuf {
        agents.join(&self.sha256)
    }

    /// Opens it. A link in a folder from elsewhere is not followed.
    fn open(&self, agents: &Path) -> io::Result<OpenFolder> {
        OpenFolder::open(agents)?.folder(OsStr::new(&self.sha256))
    }

    /// Returns the folder that its argument is relative to.
    pub fn base(&self, agents: &Path) -> PathBuf {
        self.root(agents).join(&self.folder)
    }

    /// Returns the folder that its root is a copy of; `base` is the contest file's folder.
    pub fn original_root(&self, base: &Path) -> PathBuf {
        base.ancestors().nth(self.folder.components().count()).unwrap_or(base).to_owned()
    }
}

/// The copies that are in a contest's folder.
#[derive(Debug)]
pub struct MadeCopies(BTreeSet<OsString>);

impl MadeCopies {
    /// Returns those that are there now.
    pub fn of(folder: &Folder) -> Self {
        let entries = folder.path(AGENTS_FOLDER).read_dir().into_iter().flatten().flatten();
        Self(entries.map(|entry| entry.file_name()).collect())
    }

    /// Removes those that were made since and that no player has: a version that doesn't play leaves none.
    pub fn remove_others(&self, folder: &Folder) -> Result<(), Failure> {
        let new: Vec<OsString> = Self::of(folder).0.difference(&self.0).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let copies = Store::open_to_read(folder)?.contest()?.copies;
        for name in new.iter().filter(|name| copies.values().all(|it| **name != *it.sha256)) {
            let place = folder.path(AGENTS_FOLDER).join(name);
            fs::remove_dir_all(&place).map_err(|error| disk_failure(&place, &error))?;
        }
        Ok(())
    }
}

/// Returns how many bytes the copy of a player has.
pub(super) fn bytes_of(folder: &Folder, name: &str) -> Result<u64, Failure> {
    let stored = Store::open_to_read(folder)?.contest()?;
    let Some(copy) = stored.copies.get(name) else { return Ok(0) };
    let agents = folder.path(AGENTS_FOLDER);
    let place = copy.root(&agents);
    let read = || {
        let opened = copy.open(&agents)?;
        tree::entries_of_copy(Tree { folder: &opened, path: &place }, NOTHING)
    };
    read().map(|entries| tree::bytes_of(&entries)).map_err(|error| disk_failure(&place, &error))
}

/// Returns the agent of a player, from its copy if it has one. Paths of others are relative to `base`.
pub(super) fn read_agent(
    player: &PlayerInfo,
    copy: Option<&AgentCopy>,
    agents: &Path,
    base: &Path,
) -> Result<AgentSpec, Failure> {
    let spec = match copy {
        Some(copy) => AgentSpec::read_in(&copy.run, &copy.base(agents))?,
        None => AgentSpec::read_in(&player.run, base)?,
    };
    Ok(as_player(spec, player))
}

/// Returns a submission that plays, from its copy.
pub(super) fn read_submission(
    player: &PlayerInfo,
    copy: &AgentCopy,
    agents: &Path,
) -> Result<AgentSpec, Failure> {
    AgentSpec::read_kept(&copy.run, &copy.base(agents)).map(|spec| as_player(spec, player))
}

fn as_player(mut spec: AgentSpec, player: &PlayerInfo) -> AgentSpec {
    spec.name.clone_from(&player.name);
    spec.written.clone_from(&player.run);
    spec
}

impl Prepared {
    /// Copies the agents to the contest's folder and reads them there. A note names each agent that can't be
    /// copied: it is played from its own place.
    pub fn copy_agents(&mut self, folder: &Folder, progress: Progress<'_>) -> Result<(), Failure> {
        let agents = folder.path(AGENTS_FOLDER);
        loop {
            if agents.exists() {
                // A run that was killed before its store was made left it.
                fs::remove_dir_all(&agents).map_err(|error| disk_failure(&agents, &error))?;
            }
            let refused = self.add_copies(folder, progress)?;
            if refused.is_empty() {
                return Ok(());
            }
            self.leave_out(refused)?;
        }
    }

    /// Copies those that have no copy yet. Returns the submissions that can't be copied, by name, with the reason: their
    /// authors may change them at any time.
    pub(super) fn add_copies(
        &mut self,
        folder: &Folder,
        progress: Progress<'_>,
    ) -> Result<Vec<(String, String)>, Failure> {
        let mut refused = Vec::new();
        let agents = folder.path(AGENTS_FOLDER);
        let failed = |error: io::Error| disk_failure(&agents, &error);
        OpenFolder::create_all(&agents).map_err(failed)?;
        folder.close_to_others().map_err(failed)?;
        self.agents_folder = agents.canonicalize().map_err(failed)?;
        let contest_folder = folder.root().canonicalize().map_err(failed)?;
        let sources: Vec<Source> =
            (0..self.specs.len()).filter_map(|player| Source::of(self, player)).collect();
        let all = || sources.iter().flat_map(|source| &source.trees);
        let holds_all = |folder: &&Path| all().all(|tree| tree.starts_with(folder));
        let root = self.base.ancestors().find(holds_all).unwrap_or(&self.base).to_owned();
        let copier = Copier { prepared: self, agents: &self.agents_folder, root, contest_folder };
        let results = parallel::map(&sources, None, progress, |source| copier.copy(source));
        for (Source { player, .. }, copied) in sources.into_iter().zip(results) {
            let name = self.specs[player].name.clone();
            match copied.map_err(|error| disk_failure(&agents, &error))? {
                Ok((copy, spec)) => {
                    self.specs[player] = spec;
                    self.copies.insert(name, copy);
                }
                Err(NoCopy::Changed(why) | NoCopy::Needs(why))
                    if self.entries.contains_key(&name) =>
                {
                    refused.push((sanitize(&name), sanitize(&why)));
                }
                Err(NoCopy::Changed(why) | NoCopy::Needs(why)) => self.notes.push(format!(
                    "{} is played from its own place, since {}: don't change it during the contest",
                    sanitize(&name),
                    sanitize(&why)
                )),
            }
        }
        // Names and bytes: a stored contest has its agents.
        sync_file_system(&agents).map_err(failed)?;
        Ok(refused)
    }
}

/// Why an agent has no copy.
#[derive(Debug)]
enum NoCopy {
    /// It needs what is not copied.
    Needs(String),
    /// It was changed meanwhile, or its copy is another agent.
    Changed(String),
}

/// What is copied of an agent.
#[derive(Debug)]
struct Source {
    player: usize,
    /// Whether it is a submission, which others may change.
    is_submission: bool,
    /// Files and folders; canonical when they were found.
    trees: Vec<PathBuf>,
    /// What is left out of them besides [`NEVER`].
    without: Vec<PathBuf>,
    /// Whether hidden files are left out.
    plain: bool,
}

impl Source {
    /// Returns the files of a player's agent; `None` for a built-in agent, and for a command or a program that is
    /// no submission: which files it needs is not known.
    fn of(prepared: &Prepared, player: usize) -> Option<Self> {
        let spec = &prepared.specs[player];
        let info = &prepared.contest.players[player];
        let kind = Parts::of(&info.run, &prepared.base).kind;
        let launch = spec.launch.as_ref()?;
        let course = spec.adapter.map(|adapter| launch.folder.join(adapter.course));
        let course = course.filter(|course| course.is_dir());
        let entry = prepared.entries.get(&info.name).cloned();
        let is_submission = entry.is_some();
        let (mut without, mut plain) = (Vec::new(), false);
        let mut trees = match (kind, entry) {
            (AgentKind::BuiltIn, _) | (AgentKind::File | AgentKind::Command, None) => return None,
            (AgentKind::Folder, None) => vec![launch.folder.clone()],
            (AgentKind::Folder, Some(entry)) => vec![entry],
            (_, Some(entry)) => std::iter::once(entry).chain(spec.own.clone()).collect(),
            (AgentKind::Package, None) if spec.reads_own => {
                plain = true;
                spec.own.clone()
            }
            (AgentKind::Package, None) => {
                // The package and what is beside it: other modules of the course, weights.
                let beside = spec.own.last().and_then(|own| own.parent())?;
                if is_wide(beside) {
                    return None;
                }
                let others = prepared.specs.iter().flat_map(|other| &other.own);
                let is_its_own = |path: &&PathBuf| spec.own.iter().any(|own| own.starts_with(path));
                without.extend(others.filter(|other| !is_its_own(other)).cloned());
                without.extend(prepared.secrets());
                plain = true;
                vec![beside.to_owned()]
            }
        };
        trees.extend(course);
        trees.sort();
        trees.dedup_by(|inner, outer| inner.starts_with(outer));
        Some(Self { player, is_submission, trees, without, plain })
    }
}

/// Returns why a copy of these files and folders would not be the same agent: its command names something else by a
/// path that is relative, or its own files by a full path, or, if it is a submission, what somebody else may change.
pub(super) fn leads_outside(
    spec: &AgentSpec,
    trees: &[PathBuf],
    is_submission: bool,
) -> Option<String> {
    let launch = spec.launch.as_ref().filter(|_| !spec.is_adapted())?;
    for word in &launch.command {
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        for path in [value].into_iter().chain(value.split(':')).map(Path::new) {
            let Ok(found) = launch.folder.join(path).canonicalize() else { continue };
            let is_inside = trees.iter().any(|tree| found.starts_with(tree));
            // Such as the Python of its virtual environment.
            let is_link = || {
                let goes_up = path.components().any(|part| part == Component::ParentDir);
                !path.is_absolute() && !goes_up && leads_to_installation(&found)
            };
            let is_kept = || leads_to_installation(&found) || is_own(&found);
            let is_others = is_submission && path.is_absolute() && !is_inside && !is_kept();
            let is_elsewhere = is_inside == path.is_absolute() && path != launch.file && !is_link();
            if is_elsewhere || is_others {
                let what = if is_inside { "by its full path" } else { "outside of it" };
                return Some(format!("its command names {} {what}", path.display()));
            }
            if is_inside {
                break;
            }
        }
    }
    None
}

/// Makes copies.
struct Copier<'a> {
    prepared: &'a Prepared,
    agents: &'a Path,
    /// The nearest folder with all agents' files and the contest file.
    root: PathBuf,
    contest_folder: PathBuf,
}

impl Copier<'_> {
    /// Copies an agent and reads it. The outer error is the machine's, the inner one says why there is no copy.
    fn copy(&self, source: &Source) -> io::Result<Result<(AgentCopy, AgentSpec), NoCopy>> {
        let (prepared, player) = (self.prepared, source.player);
        let (spec, info) = (&prepared.specs[player], &prepared.contest.players[player]);
        if let Some(why) = leads_outside(spec, &source.trees, source.is_submission) {
            return Ok(Err(NoCopy::Needs(why)));
        }
        // As it was read, perhaps in a private place.
        let run = relative_run(spec, &Parts::of(&spec.written, &prepared.base), &prepared.base);
        let run = match run {
            Ok(run) => run,
            Err(failure) => return Ok(Err(NoCopy::Needs(failure.to_string()))),
        };
        let new = self.agents.join(format!(".new-{player}"));
        if new.exists() {
            // A command that was killed left it.
            fs::remove_dir_all(&new)?;
        }
        let folder = prepared.base.strip_prefix(&self.root).unwrap_or(Path::new("")).to_owned();
        OpenFolder::create_all(&new.join(&folder))?;
        let refused = |error: io::Error| {
            fs::remove_dir_all(&new)?;
            if is_disk_full(&error) || !source.is_submission {
                return Err(error);
            }
            Ok(format!("it can't be copied: {error}"))
        };
        for tree in &source.trees {
            if let Err(error) = self.tree(source, tree, &new) {
                return refused(error).map(|why| Err(NoCopy::Changed(why)));
            }
        }
        let named = || {
            let opened = OpenFolder::open(&new)?;
            let entries = tree::entries_of_copy(Tree { folder: &opened, path: &new }, NOTHING)?;
            if let Some(why) = tree::refused_link(&entries).filter(|_| source.is_submission) {
                return Ok(Err(why));
            }
            tree::open_to_all(&opened, &entries)?;
            content(&new, &entries).map(Ok)
        };
        let sha256 = match named() {
            Ok(Ok(sha256)) => sha256,
            Ok(Err(why)) => {
                fs::remove_dir_all(&new)?;
                return Ok(Err(NoCopy::Changed(why)));
            }
            Err(error) => return refused(error).map(|why| Err(NoCopy::Changed(why))),
        };
        let copy =
            AgentCopy { sha256, folder, run, own: spec.own.clone(), build_ms: spec.build_ms };
        let place = copy.root(self.agents);
        if fs::rename(&new, &place).is_err() {
            // Another agent has the same files.
            fs::remove_dir_all(&new)?;
        }
        let read = read_agent(info, Some(&copy), self.agents, &prepared.base);
        let read = read.map_err(|failure| format!("its copy can't be started: {failure}"));
        let same = read.and_then(|read| {
            // The store has no list of files for it, so more files aren't the same agent.
            if read.digest != info.digest {
                return Err(
                    "it changed while it was copied, or its digest depends on its place".to_owned()
                );
            }
            Ok((copy, read))
        });
        Ok(same.map_err(NoCopy::Changed))
    }

    /// Copies a file or a folder to its place in the copy. No link is followed on the way to it: of a submission
    /// the last folder before it is where submissions are.
    fn tree(&self, source: &Source, from: &Path, new: &Path) -> io::Result<()> {
        let to = new.join(from.strip_prefix(&self.root).unwrap_or(from));
        let above = to.parent().unwrap_or(new);
        OpenFolder::create_all(above)?;
        let (parent, name) = (from.parent().unwrap_or(Path::new("/")), from.file_name());
        let (parent, name) = (OpenFolder::open_canonical(parent)?, name.unwrap_or_default());
        match parent.kind(name)?.0 {
            Kind::Folder => {}
            Kind::Link(_) => return Err(io::Error::other(format!("{} is a link", from.display()))),
            _ => return tree::copy_one(&parent, name, &OpenFolder::open(above)?).map(|_| ()),
        }
        let skips = |path: &Path, within: &OpenFolder| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_never_copied(path)
                || source.plain && name.starts_with('.')
                || source.without.iter().any(|without| path.starts_with(without))
                || path == self.contest_folder
                || within.file_at(&Path::new(&*name).join(STORE_FILE)).is_ok()
        };
        let opened = parent.folder(name)?;
        let tree = Tree { folder: &opened, path: from };
        tree::copy(tree, &OpenFolder::create_all(&to)?, Links::Absolute, &skips).map(|_| ())
    }
}

/// Hashes everything in a copy: also what an agent's digest doesn't cover.
pub(super) fn content(folder: &Path, entries: &Entries) -> io::Result<String> {
    let is_file =
        |(path, state): (&PathBuf, &State)| matches!(state, State::File(..)).then(|| path.clone());
    let files: Vec<PathBuf> = entries.iter().filter_map(is_file).collect();
    let mut lines = vec![digest_files(folder, &files)?];
    lines.extend(entries.iter().filter_map(|(path, state)| match state {
        State::Link(target) => Some(format!("{}\0{}", path.display(), target.display())),
        _ => None,
    }));
    // Without links the name is that of earlier versions.
    Ok(if lines.len() == 1 { lines.remove(0) } else { digest_bytes(lines.join("\0").as_bytes()) })
}

/// Returns whether a copy has what it was made of and nothing else, apart from Python's bytecode.
fn is_same(copy: &AgentCopy, agents: &Path) -> io::Result<bool> {
    let is_bytecode =
        |path: &Path, _: &OpenFolder| path.file_name() == Some(OsStr::new(BYTECODE_FOLDER));
    // Copies of earlier versions have that of the original, too.
    let (opened, root) = (copy.open(agents)?, copy.root(agents));
    let tree = Tree { folder: &opened, path: &root };
    Ok(content(&root, &tree::entries_of_copy(tree, NOTHING)?)? == copy.sha256
        || content(&root, &tree::entries_of_copy(tree, &is_bytecode)?)? == copy.sha256)
}

/// Removes bytecode that an agent without a sandbox may have left in its copy, since it would play instead of the
/// source, and returns whether the rest is what the copy was made of.
pub(super) fn restore(copy: &AgentCopy, agents: &Path) -> io::Result<bool> {
    let (opened, root) = (copy.open(agents)?, copy.root(agents));
    let entries = tree::entries_of_copy(Tree { folder: &opened, path: &root }, NOTHING)?;
    if content(&root, &entries)? == copy.sha256 {
        return Ok(true);
    }
    let is_bytecode = |path: &Path| path.file_name() == Some(OsStr::new(BYTECODE_FOLDER));
    let mut found = entries.into_iter().filter(|(path, state)| {
        let outer = path.parent().into_iter().flat_map(Path::ancestors);
        *state == State::Folder && is_bytecode(path) && !outer.into_iter().any(is_bytecode)
    });
    found.try_for_each(|(path, _)| {
        let parent = opened.folder_at(path.parent().unwrap_or(Path::new("")))?;
        parent.remove(path.file_name().unwrap_or_default())
    })?;
    is_same(copy, agents)
}

/// What is found when the copies of a contest are checked.
#[derive(Debug, Default)]
pub(super) struct CheckedCopies {
    pub(super) differences: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Checks that each copy is still the agent that the contest began with.
pub(super) fn check_copies(
    folder: &Folder,
    players: &[PlayerInfo],
    copies: &BTreeMap<String, AgentCopy>,
    files: &BTreeMap<String, Vec<PathBuf>>,
) -> CheckedCopies {
    let agents = folder.path(AGENTS_FOLDER);
    let mut found = CheckedCopies::default();
    let mut missing = Vec::new();
    // Agents may share a copy.
    let mut same: BTreeMap<&str, io::Result<bool>> = BTreeMap::new();
    for player in players {
        let Some(copy) = copies.get(&player.name) else { continue };
        let (name, place) = (sanitize(&player.name), copy.root(&agents));
        if !place.is_dir() {
            missing.push(name);
            continue;
        }
        match same.entry(&copy.sha256).or_insert_with(|| is_same(copy, &agents)) {
            Ok(true) => {}
            Ok(false) => {
                let text = "its files are not those of the copy that was made";
                found.differences.push(format!("{}, {name}: {text}", place.display()));
                continue;
            }
            Err(error) => {
                found.differences.push(format!("{}, {name}: {error}", place.display()));
                continue;
            }
        }
        let files = files.get(&player.name).map_or(&[][..], Vec::as_slice);
        let changed = format!("{}: {name} was changed after the contest began", place.display());
        match read_agent(player, Some(copy), &agents, Path::new("")) {
            Ok(spec) if spec.has_digest(&player.digest, files) => {}
            Ok(_) => found.differences.push(changed),
            // Such as on a machine without its interpreter.
            Err(failure) => {
                found.notes.push(format!("the copy of {name} can't be checked: {failure}"));
            }
        }
    }
    if !missing.is_empty() {
        let names = missing.join(", ");
        found.notes.push(format!(
            "no copies of {names} in {}: the contest can't be resumed",
            agents.display()
        ));
    }
    found
}
