//! What an agent's own files ask to read. A request opens language runtimes only: everything else is for
//! the person who runs the agent to grant, since the agent's author could name that person's keys.

use super::grants::Refusal;
use super::runtimes::is_runtime;
use super::{ProgramFiles, is_system, is_wide, own_of, programs, resolve};
use std::fmt;
use std::path::{Path, PathBuf};

/// A path outside of an agent's folder that the agent's files name: in agent.toml, in the first
/// line of a script, or in `pyvenv.cfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// The path; canonical.
    pub path: PathBuf,
    /// Whether it is granted.
    pub answer: Answer,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is a language runtime, which every agent may read.
    Runtime,
    /// The person who runs the agent grants it.
    Granted,
    /// It is not granted.
    NotGranted,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime => f.write_str("granted, part of a language runtime"),
            Self::Granted => f.write_str("granted"),
            Self::NotGranted => write!(f, "not granted: {}", Refusal::NotGranted),
        }
    }
}

/// What an agent's command and settings name besides its own files and the system's; canonical.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Named by the person who runs the agent.
    pub(super) granted: Vec<PathBuf>,
    /// Named by its author.
    pub(super) requests: Vec<ReadRequest>,
}

/// Finds what an agent names. `allowed` is granted to it.
pub(super) fn named(agent: &ProgramFiles<'_>, allowed: &[PathBuf]) -> Named {
    let folder = resolve(&agent.launch.folder);
    let own = own_of(agent);
    let mut named = Named::default();
    let words = agent.launch.command.iter().skip(1).filter(|_| !agent.is_built_in);
    let words = words.flat_map(|word| named_by(word, &folder));
    let mut requests: Vec<PathBuf> = agent.read.to_vec();
    if agent.has_manifest {
        requests.extend(words);
    } else {
        named.granted.extend(words);
    }
    requests.extend(programs(agent, allowed).refused);
    let is_else = |path: &PathBuf| {
        !own.iter().any(|own| path.starts_with(own)) && *path != folder && !is_system(path)
    };
    named.granted.retain(is_else);
    requests.retain(is_else);
    requests.sort();
    requests.dedup();
    let answered = |path: PathBuf| ReadRequest { answer: answer(&path, allowed), path };
    named.requests = requests.into_iter().map(answered).collect();
    // What a folder's request includes.
    named
        .requests
        .dedup_by(|one, above| one.path.starts_with(&above.path) && one.answer == above.answer);
    named
}

/// Answers a request for a canonical path.
pub(super) fn answer(path: &Path, allowed: &[PathBuf]) -> Answer {
    if allowed.iter().any(|it| path.starts_with(it)) {
        Answer::Granted
    } else if is_runtime(path) {
        Answer::Runtime
    } else {
        Answer::NotGranted
    }
}

/// Returns what an agent's files ask to read besides its folder and the system's files. All agents are
/// granted `extra`.
pub fn requests(agent: &ProgramFiles<'_>, extra: &[PathBuf]) -> Vec<ReadRequest> {
    named(agent, &[extra, agent.granted].concat()).requests
}

/// Returns what a word of a command names outside of the agent's folder: a folder, or a file's whole
/// folder; also in `--name=PATH` and `PATH:PATH`.
fn named_by(word: &str, folder: &Path) -> Vec<PathBuf> {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    let parts = value.split(':').chain([word, value]);
    let found = parts.filter(|part| part.contains('/')).filter_map(|part| {
        let path = folder.join(part).canonicalize().ok()?;
        if path.starts_with(folder) {
            return None;
        }
        let above = path.parent().filter(|above| path.is_file() && !is_wide(above));
        // A folder above the agent's contains other things too.
        Some(above.filter(|above| !folder.starts_with(above)).unwrap_or(&path).to_owned())
    });
    found.filter(|path| !folder.starts_with(path)).collect()
}
