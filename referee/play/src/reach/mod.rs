//! Which files of the machine each agent of a match may read.

mod denied;
mod requested;
#[cfg(test)]
mod tests;

pub use denied::{advice, refused_program};
pub use requested::{not_granted, requested};

use crate::agent_spec::AgentSpec;
use crate::destination::TRANSCRIPT_ENDINGS;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_process::sandbox::Layers;
use referee_process::sandbox::reach::{
    ProgramFiles, Reachable, Refusal, SharedRules, reachable, restricts_files,
};
use referee_protocol::sanitize::sanitize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Returns the rules for these agents: none may read another's files, nor `records` (transcripts, the
/// contest's folder and file, which need not exist yet). All may read `extra`.
pub fn shared_rules(
    specs: &[Arc<AgentSpec>],
    records: &[PathBuf],
    extra: &[PathBuf],
) -> SharedRules {
    let agents: Vec<ProgramFiles<'_>> = specs.iter().filter_map(|it| it.files()).collect();
    SharedRules::new(&agents, records, TRANSCRIPT_ENDINGS, extra)
}

/// The files that each agent may read, computed once per agent.
#[derive(Debug, Default)]
pub struct ReadableFiles {
    shared_rules: SharedRules,
    known: Mutex<Vec<(Arc<AgentSpec>, Arc<Reachable>)>>,
}

impl ReadableFiles {
    /// Creates one with these rules.
    pub fn new(shared_rules: SharedRules) -> Self {
        Self { shared_rules, known: Mutex::default() }
    }

    /// Returns what to do about an agent's stderr, if these layers were the reason.
    pub fn advice(&self, spec: &AgentSpec, layers: Layers, stderr: &str) -> Option<String> {
        advice(spec, &self.shared_rules, layers, stderr)
    }

    /// Returns what this agent may read in these layers. Logs what it asked for but doesn't get.
    pub fn of(&self, layers: Layers, spec: &Arc<AgentSpec>) -> Arc<Reachable> {
        if !restricts_files(layers) {
            return Arc::default();
        }
        let mut known = lock(&self.known);
        if let Some((_, reachable)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, spec)) {
            return reachable.clone();
        }
        let files = spec.files();
        let found = files.map(|files| reachable(&files, &self.shared_rules)).unwrap_or_default();
        let found = Arc::new(found);
        for (path, refusal) in &found.refused {
            if *refusal != Refusal::NotGranted {
                let (name, path) = (&spec.name, sanitize(&path.display().to_string()));
                tracing::warn!("{name} may not read all of {path}: {refusal}");
            }
        }
        known.push((spec.clone(), found.clone()));
        found
    }

    /// Checks that all of them can be started in these layers.
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
