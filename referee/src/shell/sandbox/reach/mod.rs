//! What of the machine's files an agent may read from level `confined` on: its own, its interpreter's,
//! the system's, and what it asks for; never what is another agent's or the contest's.

mod asked;
mod denied;
mod elf;
mod grants;
mod hidden;
mod interpreter;
mod own;
mod system;
#[cfg(test)]
mod tests;

pub use asked::AgentSandboxSettings;
pub use denied::advice;
pub use grants::{Refusal, is_wide};
pub use hidden::Hidden;
#[cfg(feature = "nats")]
pub(in super::super) use interpreter::programs_of;
pub(in super::super) use own::own_of_command;
pub use system::is_system;
pub(super) use system::system;

use super::super::adapted::python;
use super::super::agent::Launch;
use super::super::contender::{Contender, OWN_PROGRAM};
use super::super::launcher::{Bytes, Reach};
use super::{Layer, Layers};
use crate::failure::Failure;
use grants::Grants;
use interpreter::Installed;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A user that owns nothing, as agents have where the referee runs as root.
const SOMEBODY: u32 = 64_000;
/// Variables that agents get, and that name a folder in which something is installed.
const INSTALLED_IN: &[&str] = &["VIRTUAL_ENV", "JAVA_HOME"];

/// What holds for all agents that play together.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// What none of them may read, but for what is its own.
    forbidden: Vec<PathBuf>,
    /// Folders in which transcripts lie beside agents.
    beside: Vec<PathBuf>,
    /// What all of them may read.
    extra: Vec<PathBuf>,
}

impl Ground {
    /// Of these agents none may read what is another's, nor what is in `records`: transcripts, the
    /// contest's folder and file; they need not be there yet. All may read what is in `extra`.
    pub fn new(contenders: &[Arc<Contender>], records: &[PathBuf], extra: &[PathBuf]) -> Self {
        let folders = contenders.iter().filter_map(|contender| contender.launch.as_ref());
        let folders: Vec<PathBuf> = folders.map(|launch| settle(&launch.folder)).collect();
        let holds_agents = |path: &PathBuf| folders.iter().any(|folder| folder.starts_with(path));
        let records = records.iter().map(|path| settle(path));
        let (beside, mut forbidden): (Vec<_>, Vec<_>) = records.partition(holds_agents);
        let own = contenders.iter().flat_map(|contender| &contender.own);
        forbidden.extend(own.map(|path| settle(path)));
        forbidden.sort();
        forbidden.dedup();
        let extra = extra.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Self { forbidden, beside, extra }
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
        Reach { work: work.to_owned().into(), ..self.reach.clone() }
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

/// What an agent may read. It looks at the file system and takes milliseconds: see [`Reaches`].
pub fn reachable(contender: &Contender, ground: &Ground) -> Reachable {
    let Some(launch) = &contender.launch else { return Reachable::default() };
    let mut own: Vec<PathBuf> = contender.own.iter().map(|path| settle(path)).collect();
    own.extend(ground.extra.iter().cloned());
    let mut grants = Grants::new(own, ground.forbidden.clone(), ground.beside.clone());
    grants.own();
    grants.system(system());
    let asked = asks_for(contender, launch);
    for path in &asked {
        if grants.asked(path) {
            continue;
        }
        if *path == settle(&launch.folder) && is_wide(path) {
            grants.files_of(path);
        }
    }
    let refused = std::mem::take(&mut grants.refused);
    // Where something seems to be installed is a guess, and nobody's wish.
    let folder = settle(&launch.folder);
    let mut installed = installed(contender, launch).paths;
    installed.retain(|path| !folder.starts_with(path));
    for path in installed {
        grants.asked(&path);
    }
    let mut read: Vec<Bytes> = grants.read.into_iter().map(Bytes::from).collect();
    if launch.file == Path::new(OWN_PROGRAM) {
        // By this name also where its file has been replaced.
        read.push(launch.file.clone().into());
    }
    let list = grants.list.into_iter().map(Bytes::from).collect();
    let reach = Reach { read, list, work: Bytes::default() };
    let needed = needed(contender, launch);
    Reachable { reach, needed, refused }
}

/// Whether these layers keep anything from an agent.
fn matters(layers: Layers) -> bool {
    layers.has(Layer::Landlock) || layers.has(Layer::User)
}

/// What an agent may read that plays with nobody, where these layers keep it from the rest.
pub fn alone(layers: Layers, contender: &Contender) -> Reachable {
    if !matters(layers) {
        return Reachable::default();
    }
    reachable(contender, &Ground::default())
}

/// What an agent asks for by its command and its settings, beyond what is its own; canonical.
fn asks_for(contender: &Contender, launch: &Launch) -> Vec<PathBuf> {
    let own: Vec<PathBuf> = contender.own.iter().map(|path| settle(path)).collect();
    let folder = settle(&launch.folder);
    let mut asked = Vec::new();
    let is_built_in = launch.file == Path::new(OWN_PROGRAM) && !contender.adapted;
    if !is_built_in {
        asked.push(folder.clone());
        asked.extend(launch.command.iter().skip(1).flat_map(|word| named_by(word, &folder)));
    }
    asked.extend(contender.read.iter().filter_map(|path| path.canonicalize().ok()));
    asked.retain(|path| !own.iter().any(|own| path.starts_with(own)));
    asked.retain(|path| !is_system(path));
    let mut seen = Vec::new();
    asked.retain(|path| {
        !seen.contains(path) && {
            seen.push(path.clone());
            true
        }
    });
    asked
}

/// What an agent asks to read that isn't its own, the system's, or where programs along PATH are
/// installed: what somebody should know who lets others' agents play. Canonical.
pub fn unusual(contender: &Contender) -> Vec<PathBuf> {
    let Some(launch) = &contender.launch else { return Vec::new() };
    let folder = settle(&launch.folder);
    let mut paths = asks_for(contender, launch);
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
    let mut installed = installed(contender, launch).paths;
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
fn needed(contender: &Contender, launch: &Launch) -> Vec<PathBuf> {
    let mut needed: Vec<PathBuf> = contender.own.iter().map(|path| settle(path)).collect();
    if launch.file != Path::new(OWN_PROGRAM) || contender.adapted {
        needed.push(settle(&launch.folder));
    }
    needed.extend(programs(contender, launch).paths);
    needed
}

/// Where the program is installed, and what runs it; also where else the environment says that
/// something is.
fn installed(contender: &Contender, launch: &Launch) -> Installed {
    let mut installed = programs(contender, launch);
    if launch.file != Path::new(OWN_PROGRAM) || contender.adapted {
        for folder in INSTALLED_IN.iter().filter_map(std::env::var_os).map(PathBuf::from) {
            installed.program(&folder.join("bin/python"), &launch.folder);
            installed.program(&folder.join("bin/java"), &launch.folder);
        }
    }
    installed
}

/// Where the program is installed, and what runs it.
fn programs(contender: &Contender, launch: &Launch) -> Installed {
    let mut installed = Installed::default();
    if launch.file != Path::new(OWN_PROGRAM) {
        let words: Vec<&str> = launch.command.iter().skip(1).map(String::as_str).collect();
        installed.command(&launch.file, &words, &launch.folder);
    } else if let Some(python) = python().ok().filter(|_| contender.adapted) {
        installed.program(&python, &launch.folder);
    }
    installed
}

/// What has to be there to start an agent, and isn't, or can't be executed here: its program, and what
/// runs that.
#[cfg(feature = "nats")]
pub(in super::super) fn missing(contender: &Contender) -> Vec<PathBuf> {
    contender.launch.as_ref().map_or_else(Vec::new, |launch| programs(contender, launch).missing)
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

/// What agents that play together may read, each found out once.
#[derive(Debug, Default)]
pub struct Reaches {
    ground: Ground,
    known: Mutex<Vec<(Arc<Contender>, Arc<Reachable>)>>,
}

impl Reaches {
    /// Of those that play on this ground.
    pub fn new(ground: Ground) -> Self {
        Self { ground, known: Mutex::default() }
    }

    /// What to do about what an agent complained of, if these layers were the reason.
    pub fn advice(&self, contender: &Contender, layers: Layers, stderr: &str) -> Option<String> {
        advice(contender, &self.ground, layers, stderr)
    }

    /// What this agent may read, where these layers keep it from the rest. What it isn't given of
    /// what it asks for is told in the log.
    pub fn of(&self, layers: Layers, contender: &Arc<Contender>) -> Arc<Reachable> {
        if !matters(layers) {
            return Arc::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reachable)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, contender))
        {
            return reachable.clone();
        }
        let found = Arc::new(reachable(contender, &self.ground));
        for (path, refusal) in &found.refused {
            let name = &contender.name;
            tracing::warn!("{name} may not read all of {}: {refusal}", path.display());
        }
        known.push((contender.clone(), found.clone()));
        found
    }

    /// Whether all of them can be started in these layers, or who can't and what to do about it.
    pub fn check(&self, layers: Layers, contenders: &[Arc<Contender>]) -> Result<(), Failure> {
        for contender in contenders {
            if let Some(hidden) = self.of(layers, contender).closed(layers) {
                let name = &contender.name;
                let text = format!("{name} can't be started: {hidden}");
                return Err(Failure::machine(text).help(hidden.help()));
            }
        }
        Ok(())
    }
}
