//! From what an agent complained of to what its author can do about it.

use crate::agent_spec::AgentSpec;
use referee_match::diagnosis::denied_paths;
use referee_process::sandbox::reach::{Ground, Hidden, SOMEBODY, is_wide, reachable};
use referee_protocol::{Layer, Layers};
use std::path::Path;

/// What to do about a path of which the agent says in its stderr that it may not read it, where
/// that was these layers' doing.
pub fn advice(spec: &AgentSpec, ground: &Ground, layers: Layers, stderr: &str) -> Option<String> {
    let launch = spec.launch.as_ref()?;
    let paths = denied_paths(stderr);
    let paths = paths.into_iter().filter_map(|path| launch.folder.join(path).canonicalize().ok());
    let mut paths = paths.peekable();
    // To find out what it may read takes its time.
    paths.peek()?;
    let found = reachable(&spec.files()?, ground);
    paths.find_map(|path| {
        if layers.has(Layer::Landlock) && !found.may_read(&path) {
            let others = ground.is_forbidden(&path) || is_wide(&path);
            return (!others).then(|| ask_for(&path, spec));
        }
        let hidden = Hidden::of(&path, SOMEBODY).filter(|_| layers.has(Layer::User))?;
        Some(format!("{hidden}: {}", hidden.help()))
    })
}

fn ask_for(path: &Path, spec: &AgentSpec) -> String {
    let shown = path.display();
    let line = format!("`read = [{:?}]` under `[sandbox]`", path.to_string_lossy());
    let manifest = spec.launch.as_ref().map(|launch| launch.folder.join("agent.toml"));
    match manifest.filter(|file| spec.own.iter().any(|own| file.starts_with(own))) {
        Some(file) => {
            format!("the sandbox keeps {shown} from it: add {line} to {}", file.display())
        }
        None => format!(
            "the sandbox keeps {shown} from it: move that beside the program, or make it a folder \
             with an agent.toml that has {line}"
        ),
    }
}
