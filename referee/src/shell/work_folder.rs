//! The private folders in which agents may write, and the environment that leads them there.

use super::launcher::Bytes;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// Variables that an agent gets from the referee's own environment; nothing else passes.
const PASSED_VARIABLES: &[&str] = &["PATH", "LANG", "TZ", "VIRTUAL_ENV", "JAVA_HOME"];

/// A new folder that nobody else may look into.
pub(super) fn create() -> io::Result<TempDir> {
    let only_ours = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("referee-").permissions(only_ours).tempdir()
}

/// Removes a folder. An agent may have made that hard, which is no reason to lose what it did.
pub(super) fn remove(folder: TempDir) {
    if let Err(error) = folder.close() {
        tracing::warn!("a work folder was left behind: {error}");
    }
}

/// An agent's whole environment: what passes, and its private folder for all that it writes.
pub(super) fn environment(folder: &Path) -> Vec<Bytes> {
    let mut variables = Vec::new();
    for &name in PASSED_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            let mut variable = std::ffi::OsString::from(format!("{name}="));
            variable.push(value);
            variables.push(variable.into());
        }
    }
    for name in ["HOME", "TMPDIR"] {
        let mut variable = std::ffi::OsString::from(format!("{name}="));
        variable.push(folder);
        variables.push(variable.into());
    }
    variables
}
