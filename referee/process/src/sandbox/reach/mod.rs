//! Which files an agent may read from level `confined` on: its own, its interpreter's, the
//! system's, and what the caller grants; never those of another agent, and never the caller's records.

mod elf;
mod grants;
mod unreachable;
mod interpreter;
mod own;
mod requests;
mod runtimes;
pub(super) mod system;

pub use grants::{Refusal, is_wide};
pub use interpreter::programs_of;
pub use own::files_of_command;
pub use requests::{Answer, ReadRequest, requests};
pub use runtimes::{callers, leads_to_installation};
pub use system::is_system;
pub use unreachable::Unreachable;

use super::{Layer, Layers};
use crate::agent::Launch;
use crate::files::own_program;
use crate::launcher::{Bytes, Reach};
use crate::work_folder::{OWN_TMP, WORK_INSIDE};
use grants::Grants;
use interpreter::Installed;
use requests::named;
use runtimes::INSTALLED_IN;
use std::io;
use std::path::{Component, Path, PathBuf};
use system::system;

/// A user ID that owns nothing, like agents' users if the referee runs as root.
pub const UNPRIVILEGED_UID: u32 = 64_000;

/// One agent's files.
#[derive(Clone, Debug)]
pub struct ProgramFiles<'a> {
    /// What is started.
    pub launch: &'a Launch,
    /// The agent's own files and folders; canonical.
    pub own: &'a [PathBuf],
    /// It reads nothing of its folder but these.
    pub reads_own: bool,
    /// What its agent.toml asks to read in addition; canonical.
    pub read: &'a [PathBuf],
    /// What it is granted if it asks; canonical.
    pub granted: &'a [PathBuf],
    /// Its command is from its agent.toml, and so by its author.
    pub has_manifest: bool,
    /// The agent is built in, and needs nothing of its folder.
    pub is_built_in: bool,
    /// The interpreter that a built-in adapter starts.
    pub interpreter: Option<PathBuf>,
}

/// Rules for all agents that run together.
#[derive(Clone, Debug, Default)]
pub struct SharedRules {
    /// What none of them may read unless it is its own; sorted, so that a search takes no longer with
    /// a thousand agents.
    forbidden: Vec<PathBuf>,
    /// Folders with records that agents are in too.
    beside: Vec<PathBuf>,
    /// How the names of those records end.
    record_endings: &'static [&'static str],
    /// What all of them may read.
    extra: Vec<PathBuf>,
}

impl SharedRules {
    /// No agent may read another's files, nor what is in `records`, which need not exist yet. If
    /// agents are in such a folder, only files with a record's ending are forbidden. All may read
    /// `extra`.
    pub fn new(
        agents: &[ProgramFiles<'_>],
        records: &[PathBuf],
        record_endings: &'static [&'static str],
        extra: &[PathBuf],
    ) -> Self {
        let folders: Vec<PathBuf> = agents.iter().map(|it| resolve(&it.launch.folder)).collect();
        let holds_agents = |path: &PathBuf| folders.iter().any(|folder| folder.starts_with(path));
        let records = records.iter().map(|path| resolve(path));
        let (beside, mut forbidden): (Vec<_>, Vec<_>) = records.partition(holds_agents);
        forbidden.extend(agents.iter().flat_map(own_of));
        forbidden.sort();
        forbidden.dedup();
        let extra = extra.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Self { forbidden, beside, record_endings, extra }
    }

    /// Whether a canonical path is forbidden to agents that don't own it.
    pub fn is_forbidden(&self, path: &Path) -> bool {
        self.forbidden_around(path).is_some()
    }

    /// Whether a canonical folder is, contains or is in something forbidden.
    pub fn is_near(&self, folder: &Path) -> bool {
        self.is_forbidden(folder) || self.forbidden_in(folder).next().is_some()
    }

    /// Returns the nearest forbidden path that a canonical path is in, or that it is itself.
    fn forbidden_around<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let find = |it: &&Path| self.forbidden.binary_search_by(|known| known.as_path().cmp(it));
        path.ancestors().find(|it| find(it).is_ok())
    }

    /// Returns the forbidden paths in a folder, and itself if it is one.
    fn forbidden_in(&self, folder: &Path) -> impl Iterator<Item = &PathBuf> {
        // Paths are ordered by their components, so those in a folder follow it.
        let first = self.forbidden.partition_point(|known| known.as_path() < folder);
        self.forbidden[first..].iter().take_while(move |known| known.starts_with(folder))
    }
}

/// What an agent may read.
#[derive(Clone, Debug, Default)]
pub struct Reachable {
    /// For the launcher, without the private work folder.
    reach: Reach,
    /// What it can't be started without; canonical.
    needed: Vec<PathBuf>,
    /// A program outside of its folder that its own files start, and that nobody granted; canonical.
    pub refused_program: Option<PathBuf>,
    /// Requested paths that are not granted, and why.
    pub refused: Vec<(PathBuf, Refusal)>,
}

impl Reachable {
    /// Adds its private work folder.
    pub fn reach(&self, work: &Path) -> Reach {
        Reach { work: Bytes::of(work), ..self.reach.clone() }
    }

    /// Returns its private work folder if these layers give it a `/tmp` of its own to have it in. It is
    /// the same in each match, so that namespaces can be used again; on the machine it doesn't exist.
    pub fn work_inside(&self, layers: Layers) -> Option<PathBuf> {
        let folder = std::env::temp_dir().join(WORK_INSIDE);
        let is_private = folder.starts_with(OWN_TMP) && Path::new(OWN_TMP).is_dir();
        (layers.has(Layer::Mounts) && is_private && !self.may_read(&folder)).then_some(folder)
    }

    /// Whether it may read a canonical path, as far as the sandbox decides.
    pub fn may_read(&self, path: &Path) -> bool {
        self.reach.read.iter().any(|it| path.starts_with(it.as_path()))
    }

    /// Checks that it can be started with these layers. If not, that is the machine's fault.
    pub fn check(&self, name: &str, layers: Layers) -> io::Result<()> {
        let Some(hidden) = self.closed(layers) else { return Ok(()) };
        let text = format!("{name} can't be started: {hidden} ({})", hidden.help());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }

    /// Returns the folder that prevents its start because others may not enter it, if these layers
    /// give it its own user. With its own mounts it is shown what is in such a folder.
    pub fn closed(&self, layers: Layers) -> Option<Unreachable> {
        let shown = |hidden: &Unreachable| layers.has(Layer::Mounts) && hidden.can_be_shown();
        let needed = self.needed.iter().filter(|_| layers.has(Layer::User));
        let closed = needed.filter_map(|path| Unreachable::of(path, UNPRIVILEGED_UID));
        closed.into_iter().find(|hidden| !shown(hidden))
    }
}

/// Finds what an agent may read. Reads the file system, which takes milliseconds.
pub fn reachable(agent: &ProgramFiles<'_>, shared: &SharedRules) -> Reachable {
    let launch = agent.launch;
    let mut own = own_of(agent);
    own.extend(shared.extra.iter().cloned());
    let mut grants = Grants::new(own, shared);
    grants.own();
    for path in system() {
        grants.grant(path);
    }
    let allowed = [&shared.extra, agent.granted].concat();
    let folder = resolve(&launch.folder);
    let reads_folder = !agent.is_built_in && !agent.reads_own;
    if reads_folder && !grants.asked(&folder) && is_wide(&folder) {
        grants.files_of(&folder);
    }
    let named = named(agent, &allowed);
    for path in &named.granted {
        grants.asked(path);
    }
    for ReadRequest { path, answer } in &named.requests {
        match answer {
            Answer::NotGranted if grants.covers(path) => {}
            Answer::NotGranted => grants.refused.push((path.clone(), Refusal::NotGranted)),
            Answer::Runtime | Answer::Granted => _ = grants.asked(path),
        }
    }
    let refused = std::mem::take(&mut grants.refused);
    // A guessed installation was not requested, so it is not reported.
    let mut installed = installed(agent, &allowed).paths;
    installed.retain(|path| !folder.starts_with(path));
    for path in installed {
        grants.asked(&path);
    }
    let mut read: Vec<Bytes> = grants.read.into_iter().map(Bytes::of).collect();
    if is_own_program(agent) {
        // Under this name too, since its file may have been replaced.
        read.push(Bytes::of(&launch.file));
    }
    let list = grants.list.into_iter().map(Bytes::of).collect();
    let reach = Reach { read, list, ..Reach::default() };
    let needed = needed(agent, &allowed);
    let named = programs(agent, &allowed).refused.into_iter().filter(|path| path.is_file());
    let mut reachable = Reachable { reach, needed, refused, refused_program: None };
    reachable.refused_program = named.into_iter().find(|path| !reachable.may_read(path));
    reachable
}

/// Whether these layers restrict what an agent may read.
pub fn restricts_files(layers: Layers) -> bool {
    layers.has(Layer::Landlock) || layers.has(Layer::User)
}

/// Returns what an agent can't be started without: its own files, its folder, its program and interpreter.
fn needed(agent: &ProgramFiles<'_>, allowed: &[PathBuf]) -> Vec<PathBuf> {
    let mut needed = own_of(agent);
    if !agent.is_built_in {
        needed.push(resolve(&agent.launch.folder));
    }
    needed.extend(programs(agent, allowed).paths);
    needed
}

/// Returns where the program and its interpreter are installed, and other installations named in the
/// environment. `allowed` is granted to the agent.
fn installed(agent: &ProgramFiles<'_>, allowed: &[PathBuf]) -> Installed {
    let mut installed = programs(agent, allowed);
    if !agent.is_built_in {
        for folder in INSTALLED_IN.iter().filter_map(std::env::var_os).map(PathBuf::from) {
            installed.program(&folder.join("bin/python"), &agent.launch.folder);
            installed.program(&folder.join("bin/java"), &agent.launch.folder);
        }
    }
    installed
}

/// Whether the referee itself is started, as a built-in agent or to run a course's package. An agent.toml that names it asks
/// for a file like any other.
fn is_own_program(agent: &ProgramFiles<'_>) -> bool {
    agent.launch.file == own_program() && !agent.has_manifest
}

/// Returns where the program and its interpreter are installed.
fn programs(agent: &ProgramFiles<'_>, allowed: &[PathBuf]) -> Installed {
    let launch = agent.launch;
    let mut installed = Installed::new(own_of(agent), allowed);
    if !is_own_program(agent) {
        let words: Vec<&str> = launch.command.iter().skip(1).map(String::as_str).collect();
        installed.by_author = agent.has_manifest;
        let mut named = programs_of(&launch.command).into_iter().map(|at| &launch.command[at]);
        installed.is_relative =
            !agent.has_manifest && named.any(|it| it.contains('/') && !it.starts_with('/'));
        installed.command(&launch.file, &words, &launch.folder);
        installed.by_author = false;
    } else if let Some(interpreter) = &agent.interpreter {
        installed.program(interpreter, &launch.folder);
    }
    installed
}

/// Returns programs and interpreters that are needed to start an agent and are missing or not
/// executable.
pub fn missing(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    programs(agent, agent.granted).missing
}

/// Returns the agent's own files.
fn own_of(agent: &ProgramFiles<'_>) -> Vec<PathBuf> {
    agent.own.iter().map(|path| resolve(path)).collect()
}

/// Resolves links, also if the end of the path doesn't exist yet.
fn resolve(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in path.ancestors() {
        if let Ok(canonical) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            let mut resolved = canonical;
            for part in rest.components() {
                match part {
                    Component::ParentDir => _ = resolved.pop(),
                    part => resolved.push(part),
                }
            }
            return resolved;
        }
    }
    path
}
