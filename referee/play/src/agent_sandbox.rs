//! `[sandbox]` in agent.toml.

use referee_process::Failure;
use referee_process::sandbox::reach::is_wide;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// `[sandbox]` of agent.toml.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSandboxSettings {
    /// Files and folders that it reads besides its own, relative to its folder.
    #[serde(default)]
    read: Vec<PathBuf>,
    /// Whether it plays in a private copy of its folder, in which it may write.
    #[serde(default)]
    pub(crate) write: bool,
}

impl AgentSandboxSettings {
    /// Returns the canonical paths. Each must exist, and must not be a home folder or contain one. `file`
    /// is the agent.toml, `folder` its folder.
    pub(crate) fn paths(
        &self,
        file: &Path,
        folder: &Path,
    ) -> impl Iterator<Item = Result<PathBuf, Failure>> {
        let one = move |path: &PathBuf| {
            let named = |what: &dyn std::fmt::Display| {
                let (file, path) = (file.display(), path.display());
                Failure::usage(format!("{file}: `read` of [sandbox] names {path}: {what}"))
            };
            let found = folder.join(path).canonicalize().map_err(|error| {
                named(&error).help(format!(
                    "paths there are relative to {}, and `~` is not expanded",
                    folder.display()
                ))
            })?;
            if is_wide(&found) {
                return Err(named(
                    &"this is a home folder, or contains files that agents must not read",
                )
                .help("name the folder in it that the agent needs"));
            }
            Ok(found)
        };
        self.read.iter().map(one)
    }
}
