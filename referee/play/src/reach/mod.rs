//! What of the machine's files the agents of a match may read: found out once for each of them.

mod asked;
mod denied;
#[cfg(test)]
mod tests;

pub use asked::AgentSandboxSettings;
pub use denied::advice;

use crate::agent_spec::AgentSpec;
use crate::destination::TRANSCRIPT_ENDINGS;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_process::sandbox::reach::{Ground, ProgramFiles, Reachable, matters, reachable};
use referee_protocol::Layers;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Of these agents none may read what is another's, nor what is in `records`: transcripts, the
/// contest's folder and file; they need not be there yet. All may read what is in `extra`.
pub fn ground(specs: &[Arc<AgentSpec>], records: &[PathBuf], extra: &[PathBuf]) -> Ground {
    let agents: Vec<ProgramFiles<'_>> = specs.iter().filter_map(|it| it.files()).collect();
    Ground::new(&agents, records, TRANSCRIPT_ENDINGS, extra)
}

/// What agents that play together may read, each found out once.
#[derive(Debug, Default)]
pub struct ReadableFiles {
    ground: Ground,
    known: Mutex<Vec<(Arc<AgentSpec>, Arc<Reachable>)>>,
}

impl ReadableFiles {
    /// Of those that play on this ground.
    pub fn new(ground: Ground) -> Self {
        Self { ground, known: Mutex::default() }
    }

    /// What to do about what an agent complained of, if these layers were the reason.
    pub fn advice(&self, spec: &AgentSpec, layers: Layers, stderr: &str) -> Option<String> {
        advice(spec, &self.ground, layers, stderr)
    }

    /// What this agent may read, where these layers keep it from the rest. What it isn't given of
    /// what it asks for is told in the log.
    pub fn of(&self, layers: Layers, spec: &Arc<AgentSpec>) -> Arc<Reachable> {
        if !matters(layers) {
            return Arc::default();
        }
        let mut known = lock(&self.known);
        if let Some((_, reachable)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, spec)) {
            return reachable.clone();
        }
        let files = spec.files();
        let found = files.map(|files| reachable(&files, &self.ground)).unwrap_or_default();
        let found = Arc::new(found);
        for (path, refusal) in &found.refused {
            let name = &spec.name;
            tracing::warn!("{name} may not read all of {}: {refusal}", path.display());
        }
        known.push((spec.clone(), found.clone()));
        found
    }

    /// Whether all of them can be started in these layers, or who can't and what to do about it.
    pub fn check(&self, layers: Layers, specs: &[Arc<AgentSpec>]) -> Result<(), Failure> {
        for spec in specs {
            if let Some(hidden) = self.of(layers, spec).closed(layers) {
                let name = &spec.name;
                let text = format!("{name} can't be started: {hidden}");
                return Err(Failure::machine(text).help(hidden.help()));
            }
        }
        Ok(())
    }
}
