//! What an agent asks for in `[sandbox]` of its agent.toml.

use referee_process::Failure;
use referee_process::sandbox::reach::is_wide;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// `[sandbox]` of agent.toml.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSandboxSettings {
    /// Files and folders that it reads beside its own; relative to its folder.
    #[serde(default)]
    read: Vec<PathBuf>,
}

impl AgentSandboxSettings {
    /// The paths, canonical. Each must be there, and must not be a home folder or hold one. `file`
    /// is the agent.toml, `folder` its own folder.
    pub(crate) fn paths(&self, file: &Path, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let one = |path: &PathBuf| {
            let named = |what: &dyn std::fmt::Display| {
                let (file, path) = (file.display(), path.display());
                Failure::usage(format!("{file}: `read` of [sandbox] names {path}: {what}"))
            };
            let found = folder.join(path).canonicalize().map_err(|error| {
                named(&error).help(format!(
                    "a path there is relative to {}, and `~` is no home folder",
                    folder.display()
                ))
            })?;
            if is_wide(&found) {
                return Err(named(&"that is a home folder, or holds what isn't meant for agents")
                    .help("name the folder in it that the agent needs"));
            }
            Ok(found)
        };
        self.read.iter().map(one).collect()
    }
}
