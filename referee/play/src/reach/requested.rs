//! What agents' own files ask to read, as sentences.

use crate::agent_spec::AgentSpec;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::{Answer, ReadRequest, requests, restricts_files};
use referee_protocol::sanitize::sanitize;
use std::path::PathBuf;

/// Returns what an agent's files ask to read besides its folder and the system's files, each with the
/// answer. All agents are granted `extra`.
pub fn requested(spec: &AgentSpec, extra: &[PathBuf]) -> Vec<String> {
    of(spec, extra).iter().map(|request| sentence(spec, request)).collect()
}

/// Returns those that are not granted and that this sandbox therefore refuses.
pub fn not_granted(spec: &AgentSpec, sandbox: &Sandbox) -> Vec<String> {
    if !restricts_files(sandbox.launcher.layers) {
        return Vec::new();
    }
    let mut requests = of(spec, &sandbox.read);
    requests.retain(|request| request.answer == Answer::NotGranted);
    requests.iter().map(|request| sentence(spec, request)).collect()
}

fn of(spec: &AgentSpec, extra: &[PathBuf]) -> Vec<ReadRequest> {
    spec.files().map(|files| requests(&files, extra)).unwrap_or_default()
}

fn sentence(spec: &AgentSpec, request: &ReadRequest) -> String {
    let path = sanitize(&request.path.display().to_string());
    format!("{} asks to read {path}: {}", sanitize(&spec.name), request.answer)
}
