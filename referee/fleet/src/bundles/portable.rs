//! Checks whether an agent can run on another machine as it is, and says what to change if it
//! can't.

use referee_play::agent_spec::{AgentKind, AgentSpec, Parts};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::sandbox::reach::{is_system, is_wide, programs_of};
use referee_protocol::sanitize::sanitize;
use referee_runner::Prepared;
use std::path::{Path, PathBuf};

/// The manifest of an agent's folder.
pub(super) const AGENT_MANIFEST: &str = "agent.toml";

/// Returns whether agents of this kind are sent to workers.
pub(super) fn is_sent(kind: AgentKind) -> bool {
    matches!(kind, AgentKind::BuiltIn | AgentKind::Package | AgentKind::Folder)
}

/// Returns the failure for a command or a program file, with an agent.toml that makes a folder of
/// it. `base` is the contest's canonical folder.
pub(super) fn refusal(spec: &AgentSpec, parts: &Parts<'_>, base: &Path) -> Failure {
    let command = spec.launch.as_ref().map_or(&[][..], |launch| &launch.command);
    let mut files = Vec::new();
    let mut words = Vec::new();
    for (at, word) in command.iter().enumerate() {
        let path = base.join(word).canonicalize().ok();
        match path.filter(|path| spec.own.contains(path) && path.is_file()) {
            Some(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                words.push(if at == 0 { format!("./{file}") } else { file.into_owned() });
                files.push(sanitize(
                    &path.strip_prefix(base).unwrap_or(&path).display().to_string(),
                ));
            }
            None => words.push(word.clone()),
        }
    }
    let mut manifest: Vec<(&str, toml::Value)> =
        vec![("name", spec.name.clone().into()), ("command", words.into())];
    manifest.extend(parts.protocol.map(|protocol| ("protocol", protocol.into())));
    let lines = manifest.iter().map(|(key, value)| format!("\n    {key} = {value}"));
    let lines: String = lines.collect();
    let what = if parts.kind == AgentKind::File { "a program file" } else { "a command" };
    let files = if files.is_empty() { "the program".to_owned() } else { files.join(", ") };
    Failure::usage(format!(
        "it is {what}: only folders with an agent.toml and built-in agents can be sent to workers"
    ))
    .help(format!(
        "create a folder with {files}, the files that it reads, and this agent.toml; then give the \
         folder as the agent:{lines}"
    ))
}

/// Checks that the manifest of an agent's or a game's folder means the same on a worker. The whole folder is
/// sent, besides what the contest shares with all agents: a relative path must lead there. A full
/// path names a file of each worker: it must be a program, or be listed in `read`, which each
/// worker checks before it starts.
pub(super) fn check_folder(
    launch: &Launch,
    manifest: &str,
    is_built: bool,
    prepared: &Prepared,
) -> Result<(), Failure> {
    let (folder, base) = (&launch.folder, &prepared.base);
    let read = read_of(folder, manifest)?;
    let shared = prepared.contest.sandbox.read.iter().map(|path| base.join(path));
    let shared = shared.filter(|_| manifest == AGENT_MANIFEST);
    let mut given: Vec<PathBuf> = shared.filter_map(|path| path.canonicalize().ok()).collect();
    given.push(folder.clone());
    let is_in = |given: &[PathBuf], found: &Path| given.iter().any(|path| found.starts_with(path));
    for path in read.iter().filter(|path| path.is_relative()) {
        if !folder.join(path).canonicalize().is_ok_and(|found| is_in(&given, &found)) {
            let path = sanitize(&path.display().to_string());
            return Err(Failure::usage(format!(
                "`read` of [sandbox] names {path}, which is not sent"
            ))
            .help(
                "copy it into the folder; or, for an agent, list it in `[sandbox]` `read` of the \
                     contest file, which is sent to all workers; or write its full path, if each \
                     worker has the same file",
            ));
        }
    }
    let asked = read.iter().filter_map(|path| path.canonicalize().ok());
    let asked: Vec<PathBuf> = asked.chain(given.clone()).collect();
    let programs = programs_of(&launch.command);
    for (at, word) in launch.command.iter().enumerate() {
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        for path in value.split(':').filter(|part| part.contains('/')).map(Path::new) {
            let Ok(found) = folder.join(path).canonicalize() else { continue };
            if path.is_relative() {
                // The results of a build may be links: each worker builds its own.
                if !is_in(&given, &found) && !is_built {
                    return Err(outside_folder(word));
                }
                continue;
            }
            let is_here =
                [path, &found].iter().any(|it| it.starts_with(folder) || it.starts_with(base));
            let is_known = programs.contains(&at) || is_system(&found) || is_wide(&found);
            if is_here || !(is_known || is_in(&asked, &found)) {
                return Err(absolute_path(word));
            }
        }
    }
    Ok(())
}

/// Returns the paths in `[sandbox]` `read` of a folder's manifest.
fn read_of(folder: &Path, manifest: &str) -> Result<Vec<PathBuf>, Failure> {
    let path = folder.join(manifest);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::operation(format!("{}: {error}", sanitize(&path.display().to_string())))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let settings: toml::Table = toml::from_str(&text).map_err(|error| failed(&error))?;
    let read = settings.get("sandbox").and_then(|it| it.get("read")).and_then(|it| it.as_array());
    Ok(read.into_iter().flatten().filter_map(|path| path.as_str()).map(PathBuf::from).collect())
}

/// A full path in a command that is valid only on this machine.
fn absolute_path(word: &str) -> Failure {
    let word = sanitize(word);
    Failure::usage(format!("{word} is a full path on this machine")).help(
        "write paths of its own files relative to the folder; or list the path in `[sandbox]` `read` \
         too, if each worker has the same file",
    )
}

/// A file outside of its folder that the agent needs.
fn outside_folder(word: &str) -> Failure {
    let word = sanitize(word);
    Failure::usage(format!("{word} is outside of the folder, so it can't be sent")).help(
        "copy the file into the folder; or give the program without a path, so that each worker \
         finds it in its own PATH; or create it on the worker with `build` in agent.toml, such \
         as `python3 -m venv DIR` for a virtual environment",
    )
}
