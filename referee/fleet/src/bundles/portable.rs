//! Whether an agent can run on another machine as it is written, and what to write where it can't.

use referee_play::contender::{Contender, Parts, Sort};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::sandbox::reach::{is_system, is_wide, programs_of};
use referee_protocol::plain::tame;
use referee_runner::Prepared;
use std::path::{Path, PathBuf};

/// Whether agents that are written so are sent to workers.
pub(super) fn is_sent(sort: Sort) -> bool {
    matches!(sort, Sort::BuiltIn | Sort::Package | Sort::Folder)
}

/// Why a command or a program file isn't sent, with the agent.toml that makes a folder of it.
/// `base` is the contest's folder; canonical.
pub(super) fn refusal(contender: &Contender, parts: &Parts<'_>, base: &Path) -> Failure {
    let name = tame(&contender.name);
    let command = contender.launch.as_ref().map_or(&[][..], |launch| &launch.command);
    let mut files = Vec::new();
    let mut words = Vec::new();
    for (at, word) in command.iter().enumerate() {
        let path = base.join(word).canonicalize().ok();
        match path.filter(|path| contender.own.contains(path) && path.is_file()) {
            Some(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                words.push(if at == 0 { format!("./{file}") } else { file.into_owned() });
                files.push(tame(&path.strip_prefix(base).unwrap_or(&path).display().to_string()));
            }
            None => words.push(word.clone()),
        }
    }
    let mut manifest: Vec<(&str, toml::Value)> =
        vec![("name", contender.name.clone().into()), ("command", words.into())];
    manifest.extend(parts.protocol.map(|protocol| ("protocol", protocol.into())));
    let lines = manifest.iter().map(|(key, value)| format!("\n    {key} = {value}"));
    let lines: String = lines.collect();
    let what = if parts.sort == Sort::File { "a program file" } else { "a command" };
    let files = if files.is_empty() { "the program".to_owned() } else { files.join(", ") };
    Failure::usage(format!(
        "{name} is {what}: only folders with an agent.toml and built-in agents are sent to workers"
    ))
    .help(format!(
        "make a folder, put {files} and what it reads into it, with this agent.toml, and name the \
         folder as the agent:{lines}"
    ))
}

/// Whether the agent.toml of a folder means the same on a worker, or why not. The folder arrives
/// whole, beside what the contest lets all agents read: a relative path has to lead there. A full
/// path is each worker's own: it has to be a program, or be named in `read`, which each worker looks
/// for before anything starts.
pub(super) fn check_folder(
    launch: &Launch,
    is_built: bool,
    prepared: &Prepared,
) -> Result<(), Failure> {
    let (folder, base) = (&launch.folder, &prepared.base);
    let read = read_of(folder)?;
    let shared = prepared.contest.sandbox.read.iter().map(|path| base.join(path));
    let mut given: Vec<PathBuf> = shared.filter_map(|path| path.canonicalize().ok()).collect();
    given.push(folder.clone());
    let is_in = |given: &[PathBuf], found: &Path| given.iter().any(|path| found.starts_with(path));
    for path in read.iter().filter(|path| path.is_relative()) {
        if !folder.join(path).canonicalize().is_ok_and(|found| is_in(&given, &found)) {
            let path = tame(&path.display().to_string());
            return Err(Failure::usage(format!("`read` of [sandbox] names {path}, which isn't sent"))
                .help(
                    "copy it into the agent's folder; or name it in `[sandbox]` `read` of the \
                     contest file, which all workers get; or write its full path, where each worker \
                     has the same",
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
                // What a build makes may lead anywhere: each worker makes its own.
                if !is_in(&given, &found) && !is_built {
                    return Err(leaves(word));
                }
                continue;
            }
            let is_here =
                [path, &found].iter().any(|it| it.starts_with(folder) || it.starts_with(base));
            let is_known = programs.contains(&at) || is_system(&found) || is_wide(&found);
            if is_here || !(is_known || is_in(&asked, &found)) {
                return Err(full(word));
            }
        }
    }
    Ok(())
}

/// The paths in `[sandbox]` `read` of a folder's agent.toml, as they are written.
fn read_of(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = folder.join("agent.toml");
    let failed = |error: &dyn std::fmt::Display| {
        Failure::operation(format!("{}: {error}", tame(&path.display().to_string())))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let settings: toml::Table = toml::from_str(&text).map_err(|error| failed(&error))?;
    let read = settings.get("sandbox").and_then(|it| it.get("read")).and_then(|it| it.as_array());
    Ok(read.into_iter().flatten().filter_map(|path| path.as_str()).map(PathBuf::from).collect())
}

/// A full path in a command that means nothing elsewhere.
fn full(word: &str) -> Failure {
    let word = tame(word);
    Failure::usage(format!("{word} is a full path of this machine")).help(
        "write what belongs to the agent relative to its folder; or name the path in `[sandbox]` \
         `read` of agent.toml too, where each worker has the same file",
    )
}

/// A file that the agent needs and that isn't in its folder.
fn leaves(word: &str) -> Failure {
    let word = tame(word);
    Failure::usage(format!("{word} leads out of its folder, to what can't be sent")).help(
        "copy the file there; or name a program without a path, which each worker then looks for \
         along its own PATH; or let a `build` in agent.toml make it on the worker, as `python3 -m venv \
         DIR` makes a virtual environment",
    )
}
