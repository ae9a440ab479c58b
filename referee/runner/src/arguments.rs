//! AGENT arguments that mean the same where a contest's files were copied to another place.

use referee_play::adapted::package_of;
use referee_play::agent_spec::{AgentKind, AgentSpec, Parts};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use std::path::{Component, Path, PathBuf};

/// Returns the AGENT argument with its paths relative to `base`, the contest's folder.
pub fn relative_run(spec: &AgentSpec, parts: &Parts<'_>, base: &Path) -> Result<String, Failure> {
    let mut run = match (parts.kind, &spec.launch) {
        (AgentKind::Folder, Some(launch)) => relative_argument(base, &launch.folder)?,
        (AgentKind::File, Some(launch)) => relative_argument(base, &launch.file)?,
        (AgentKind::Package, _) => package(base, parts.agent)?,
        _ => parts.agent.to_owned(),
    };
    if let Some(protocol) = parts.protocol {
        run = format!("{protocol}:{run}");
    }
    // Otherwise the text before a `=` would be taken for a name.
    Ok(if run.contains('=') { format!("agent={run}") } else { run })
}

/// Returns the argument for a course package: a dotted name or a path.
fn package(base: &Path, agent: &str) -> Result<String, Failure> {
    let Some((adapter, text)) = package_of(agent) else { return Ok(agent.to_owned()) };
    let (path, class) = text.split_at(text.rfind(':').unwrap_or(text.len()));
    match base.join(path).canonicalize() {
        Ok(found) if join(base, Path::new(path)).as_ref() != Some(&found) => {
            Ok(format!("{}:{}{class}", adapter.name, relative_argument(base, &found)?))
        }
        _ => Ok(agent.to_owned()),
    }
}

/// Returns a path relative to the contest's folder in a form that is not searched for in PATH.
fn relative_argument(base: &Path, path: &Path) -> Result<String, Failure> {
    let path = relative(base, path);
    let text = path.to_str().ok_or_else(|| {
        Failure::usage(format!(
            "the path {} is not UTF-8: rename it",
            sanitize(&path.display().to_string())
        ))
    })?;
    Ok(if text.starts_with("..") { text.to_owned() } else { format!("./{text}") })
}

/// Joins a relative path to a canonical folder, as text. `None` if the path is absolute, or has
/// `..` after a name, which could lead anywhere through a link.
pub fn join(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    let mut named = false;
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !named => drop(place.pop()),
            Component::Normal(name) => {
                named = true;
                place.push(name);
            }
            _ => return None,
        }
    }
    Some(place)
}

/// Returns the relative path from one canonical folder to a canonical path: as many `..` as
/// needed, then names.
pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::{join, relative};
    use std::path::Path;

    #[test]
    fn relative_paths_lead_back() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a/b", "/a/b/c", "c"),
            ("/a/b", "/a/c/d", "../c/d"),
            ("/a/b", "/", "../.."),
            ("/", "/x", "x"),
        ] {
            let found = relative(Path::new(from), Path::new(to));
            assert_eq!(found, Path::new(expected), "{from} {to}");
            assert_eq!(join(Path::new(from), &found).as_deref(), Some(Path::new(to)));
        }
        for path in ["a/../b", "/a"] {
            assert_eq!(join(Path::new("/x"), Path::new(path)), None, "{path}");
        }
    }
}
