//! What of the machine's files an agent may read from level `confined` on: its own, its interpreter's,
//! the system's, and what it asks for; never what is another agent's or the caller's own records.

mod elf;
mod grants;
mod hidden;
mod interpreter;
mod own;
pub(super) mod system;

pub use grants::{Refusal, is_wide};
pub use hidden::Hidden;
pub use interpreter::programs_of;
pub use own::own_of_command;
pub use system::is_system;

use super::{Layer, Layers};
use crate::OWN_PROGRAM;
use crate::agent::Launch;
use crate::launcher::{Bytes, Reach};
use grants::Grants;
use interpreter::Installed;
use std::collections::HashSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use system::system;

/// A user that owns nothing, as agents have where the referee runs as root.
pub const SOMEBODY: u32 = 64_000;
/// Variables that agents get, and that name a folder in which something is installed.
const INSTALLED_IN: &[&str] = &["VIRTUAL_ENV", "JAVA_HOME"];

/// One agent, as far as its files go.
#[derive(Clone, Debug)]
pub struct ProgramFiles<'a> {
    /// What is started.
    pub launch: &'a Launch,
    /// The files and folders that are its own; canonical.
    pub own: &'a [PathBuf],
    /// What it asks to read beside that.
    pub read: &'a [PathBuf],
    /// The caller's own program plays, and needs nothing of its folder.
    pub is_built_in: bool,
    /// The interpreter that the caller's own program starts for it.
    pub interpreter: Option<PathBuf>,
}

/// What holds for all agents that run together.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// What none of them may read, but for what is its own.
    forbidden: Vec<PathBuf>,
    /// Folders in which records lie beside agents.
    beside: Vec<PathBuf>,
    /// How the names of those records end.
    record_endings: &'static [&'static str],
    /// What all of them may read.
    extra: Vec<PathBuf>,
}

impl Ground {
    /// Of these agents none may read what is another's, nor what is in `records`, which need not be
    /// there yet. Where agents lie in such a place, only files whose names end like a record's are kept
    /// from them. All may read what is in `extra`.
    pub fn new(
        agents: &[ProgramFiles<'_>],
        records: &[PathBuf],
        record_endings: &'static [&'static str],
        extra: &[PathBuf],
    ) -> Self {
        let folders: Vec<PathBuf> = agents.iter().map(|it| settle(&it.launch.folder)).collect();
        let holds_agents = |path: &PathBuf| folders.iter().any(|folder| folder.starts_with(path));
        let records = records.iter().map(|path| settle(path));
        let (beside, mut forbidden): (Vec<_>, Vec<_>) = records.partition(holds_agents);
        forbidden.extend(agents.iter().flat_map(own_of));
        forbidden.sort();
        forbidden.dedup();
        let extra = extra.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Self { forbidden, beside, record_endings, extra }
    }

    /// Whether a canonical path is forbidden to those whose own it isn't.
    pub fn is_forbidden(&self, path: &Path) -> bool {
        self.forbidden.iter().any(|it| path.starts_with(it))
    }
}

/// What an agent may read.
#[derive(Clone, Debug, Default)]
pub struct Reachable {
    /// For the launcher, but for the private work folder.
    reach: Reach,
    /// What it can't be started without; canonical.
    needed: Vec<PathBuf>,
    /// What it is not given of what it asks for, and why.
    pub refused: Vec<(PathBuf, Refusal)>,
}

impl Reachable {
    /// With its private work folder.
    pub fn reach(&self, work: &Path) -> Reach {
        Reach { work: Bytes::of(work), ..self.reach.clone() }
    }

    /// Whether it may read a canonical path, as far as the sandbox goes.
    pub fn may_read(&self, path: &Path) -> bool {
        self.reach.read.iter().any(|it| path.starts_with(it.as_path()))
    }

    /// Whether it can be started in these layers. That it can't is nobody's fault but the machine's.
    pub fn check(&self, name: &str, layers: Layers) -> io::Result<()> {
        let Some(hidden) = self.closed(layers) else { return Ok(()) };
        let text = format!("{name} can't be started: {hidden} ({})", hidden.help());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }

    /// What keeps it from being started where these layers give it a user of its own: a folder that
    /// others may not enter. With its own mounts it is shown what lies below such a folder.
    pub fn closed(&self, layers: Layers) -> Option<Hidden> {
        let shown = |hidden: &Hidden| layers.has(Layer::Mounts) && hidden.closed != hidden.path;
        let needed = self.needed.iter().filter(|_| layers.has(Layer::User));
        let closed = needed.filter_map(|path| Hidden::of(path, SOMEBODY));
        closed.into_iter().find(|hidden| !shown(hidden))
    }
}

/// What an agent may read. It looks at the file system and takes milliseconds.
pub fn reachable(agent: &ProgramFiles<'_>, ground: &Ground) -> Reachable {
    let launch = agent.launch;
    let mut own = own_of(agent);
    own.extend(ground.extra.iter().cloned());
    let mut grants =
        Grants::new(own, ground.forbidden.clone(), ground.beside.clone(), ground.record_endings);
    grants.own();
    for path in system() {
        grants.give_or_tell(path);
    }
    let asked = asks_for(agent);
    let folder = settle(&launch.folder);
    for path in &asked {
        if !grants.asked(path) && *path == folder && is_wide(path) {
            grants.files_of(path);
        }
    }
    let refused = std::mem::take(&mut grants.refused);
    // Where something seems to be installed is a guess, and nobody's wish.
    let mut installed = installed(agent).paths;
    installed.retain(|path| !folder.starts_with(path));
    for path in installed {
        grants.asked(&path);
    }
    let mut read: Vec<Bytes> = grants.read.into_iter().map(Bytes::of).collect();
    if launch.file == Path::new(OWN_PROGRAM) {
        // By this name also where its file has been replaced.
        read.push(Bytes::of(&launch.file));
    }
    let list = grants.list.into_iter().map(Bytes::of).collect();
    let reach = Reach { read, list, work: Bytes::default() };
    let needed = needed(agent);
    Reachable { reach, needed, refused }
}

/// Whether these layers keep anything from an agent.
pub fn matters(layers: Layers) -> bool {
    layers.has(Layer::Landlock) || layers.has(Layer::User)
}

/// What an agent may read that plays with nobody, where these layers keep it from the rest.
pub fn alone(layers: Layers, agent: &ProgramFiles<'_>) -> Reachable {
    if matters(layers) { reachable(agent, &Ground::default()) } else { Reachable::default() }
}

/// What an agent asks for by its command and its settings, beyond what is its own; canonical.
fn asks_for(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    let own = own_of(agent);
    let folder = settle(&agent.launch.folder);
    let mut asked = Vec::new();
    if !agent.is_built_in {
        asked.push(folder.clone());
        asked.extend(agent.launch.command.iter().skip(1).flat_map(|word| named_by(word, &folder)));
    }
    asked.extend(agent.read.iter().filter_map(|path| path.canonicalize().ok()));
    asked.retain(|path| !own.iter().any(|own| path.starts_with(own)));
    asked.retain(|path| !is_system(path));
    let mut seen = HashSet::new();
    asked.retain(|path| seen.insert(path.clone()));
    asked
}

/// What an agent asks to read that isn't its own, the system's, or where programs along PATH are
/// installed: what somebody should know who lets others' agents play. Canonical.
pub fn unusual(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    let folder = settle(&agent.launch.folder);
    let mut paths = asks_for(agent);
    paths.retain(|path| *path != folder);
    // Where the interpreters are that whoever reads this has too.
    let variables = ["PATH"].iter().chain(INSTALLED_IN).filter_map(std::env::var_os);
    let known = variables.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    let known = known.filter_map(|path| path.canonicalize().ok());
    let mut known: Vec<PathBuf> =
        known.flat_map(|path| [path.parent().map(Path::to_owned), Some(path)]).flatten().collect();
    known.retain(|path| !is_wide(path));
    known.extend(system().iter().cloned());
    known.push(folder.clone());
    let mut installed = installed(agent).paths;
    installed.retain(|path| !folder.starts_with(path));
    installed.retain(|path| !known.iter().chain(&paths).any(|it| path.starts_with(it)));
    paths.extend(installed);
    paths
}

/// What a word of a command names outside of the agent's folder: a folder, or a file's folder with
/// what lies beside it; `--name=PATH` and `PATH:PATH` too.
fn named_by(word: &str, folder: &Path) -> Vec<PathBuf> {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    let parts = value.split(':').chain([word, value]);
    let found = parts.filter(|part| part.contains('/')).filter_map(|part| {
        let path = folder.join(part).canonicalize().ok()?;
        if path.starts_with(folder) {
            return None;
        }
        let above = path.parent().filter(|above| path.is_file() && !is_wide(above));
        // What holds the agent's folder holds other things too.
        Some(above.filter(|above| !folder.starts_with(above)).unwrap_or(&path).to_owned())
    });
    found.filter(|path| !folder.starts_with(path)).collect()
}

/// What an agent can't be started without: its own, its folder, its program and what runs that.
fn needed(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    let mut needed = own_of(agent);
    if !agent.is_built_in {
        needed.push(settle(&agent.launch.folder));
    }
    needed.extend(programs(agent).paths);
    needed
}

/// Where the program is installed, and what runs it; also where else the environment says that
/// something is.
fn installed(agent: &ProgramFiles<'_>) -> Installed {
    let mut installed = programs(agent);
    if !agent.is_built_in {
        for folder in INSTALLED_IN.iter().filter_map(std::env::var_os).map(PathBuf::from) {
            installed.program(&folder.join("bin/python"), &agent.launch.folder);
            installed.program(&folder.join("bin/java"), &agent.launch.folder);
        }
    }
    installed
}

/// Where the program is installed, and what runs it.
fn programs(agent: &ProgramFiles<'_>) -> Installed {
    let (launch, mut installed) = (agent.launch, Installed::default());
    if launch.file != Path::new(OWN_PROGRAM) {
        let words: Vec<&str> = launch.command.iter().skip(1).map(String::as_str).collect();
        installed.command(&launch.file, &words, &launch.folder);
    } else if let Some(interpreter) = &agent.interpreter {
        installed.program(interpreter, &launch.folder);
    }
    installed
}

/// What has to be there to start an agent, and isn't, or can't be executed here: its program, and what
/// runs that.
pub fn missing(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    programs(agent).missing
}

/// What is an agent's own.
fn own_of(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    agent.own.iter().map(|path| settle(path)).collect()
}

/// A path without links, also where its end isn't there yet.
fn settle(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in path.ancestors() {
        if let Ok(canonical) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            let mut settled = canonical;
            for part in rest.components() {
                match part {
                    Component::ParentDir => _ = settled.pop(),
                    part => settled.push(part),
                }
            }
            return settled;
        }
    }
    path
}
