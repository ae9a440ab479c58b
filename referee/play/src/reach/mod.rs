//! What of the machine's files the agents of a match may read: found out once for each of them.

mod denied;
#[cfg(test)]
mod tests;

pub use denied::advice;

use crate::contender::Contender;
use crate::destination::TRANSCRIPT_ENDINGS;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_process::sandbox::reach::{Ground, ProgramFiles, Reachable, matters, reachable};
use referee_protocol::Layers;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Of these agents none may read what is another's, nor what is in `records`: transcripts, the
/// contest's folder and file; they need not be there yet. All may read what is in `extra`.
pub fn ground(contenders: &[Arc<Contender>], records: &[PathBuf], extra: &[PathBuf]) -> Ground {
    let agents: Vec<ProgramFiles<'_>> = contenders.iter().filter_map(|it| it.files()).collect();
    Ground::new(&agents, records, TRANSCRIPT_ENDINGS, extra)
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
        let mut known = lock(&self.known);
        if let Some((_, reachable)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, contender))
        {
            return reachable.clone();
        }
        let files = contender.files();
        let found = files.map(|files| reachable(&files, &self.ground)).unwrap_or_default();
        let found = Arc::new(found);
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
