//! Advice about files that an agent could not read.

use crate::agent_spec::AgentSpec;
use referee_match::diagnosis::denied_paths;
use referee_process::sandbox::reach::{
    SharedRules, UNPRIVILEGED_UID, Unreachable, is_wide, reachable,
};
use referee_protocol::{Layer, Layers};
use std::path::Path;

/// Returns what to do about a path in the agent's stderr that these layers kept it from reading.
pub fn advice(
    spec: &AgentSpec,
    shared_rules: &SharedRules,
    layers: Layers,
    stderr: &str,
) -> Option<String> {
    let launch = spec.launch.as_ref()?;
    let paths = denied_paths(stderr);
    let paths = paths.into_iter().filter_map(|path| launch.folder.join(path).canonicalize().ok());
    let mut paths = paths.peekable();
    // Finding out what it may read is slow.
    paths.peek()?;
    let found = reachable(&spec.files()?, shared_rules);
    paths.find_map(|path| {
        if layers.has(Layer::Landlock) && !found.may_read(&path) {
            let others = shared_rules.is_forbidden(&path) || is_wide(&path);
            return (!others).then(|| ask_for(&path, spec));
        }
        let hidden =
            Unreachable::of(&path, UNPRIVILEGED_UID).filter(|_| layers.has(Layer::User))?;
        Some(format!("{hidden}: {}", hidden.help()))
    })
}

fn ask_for(path: &Path, spec: &AgentSpec) -> String {
    let shown = path.display();
    let line = format!("`read = [{:?}]` under `[sandbox]`", path.to_string_lossy());
    let manifest = spec.launch.as_ref().map(|launch| launch.folder.join("agent.toml"));
    match manifest.filter(|file| spec.own.iter().any(|own| file.starts_with(own))) {
        Some(file) => {
            format!("the sandbox does not let it read {shown}: add {line} to {}", file.display())
        }
        None => format!(
            "the sandbox does not let it read {shown}: move that beside the program, or use a \
             folder with an agent.toml that has {line}"
        ),
    }
}
