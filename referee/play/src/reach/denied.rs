//! Advice about what the sandbox kept an agent from doing.

use crate::agent_spec::AgentSpec;
use referee_match::diagnosis::{
    Restriction, denied_paths, failure_line, failure_place, may_miss_a_value, restriction,
};
use referee_process::files::read_all;
use referee_process::open_folder::OpenFolder;
use referee_process::sandbox::reach::{
    SharedRules, UNPRIVILEGED_UID, Unreachable, is_wide, reachable,
};
use referee_process::sandbox::{Layer, Layers};
use std::path::{Component, Path, PathBuf};

/// The machine's own folders: nothing in them should be opened to an agent that isn't there itself.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/etc", "/root"];

/// Returns what to do about something in the agent's stderr that these layers kept it from doing.
pub fn advice(
    spec: &AgentSpec,
    shared_rules: &SharedRules,
    layers: Layers,
    stderr: &str,
) -> Option<String> {
    file_advice(spec, shared_rules, layers, stderr).or_else(|| {
        let reads =
            || reads_variable(spec, shared_rules, stderr).then_some(Restriction::Environment);
        let found = restriction(stderr).or_else(reads)?;
        let applies = found == Restriction::Environment || layers.has(Layer::Landlock);
        applies.then(|| found.advice().to_owned())
    })
}

/// How programs read a variable of their environment, before its name.
const READS_VARIABLE: [&str; 8] = [
    "getenv(",
    "Getenv(",
    "process.env.",
    "ENV[",
    "ENV.fetch(",
    "environ[",
    "environ.get(",
    "ENV{",
];

/// The variables that each agent has.
const GIVEN: [&str; 4] = ["HOME", "TMPDIR", "PATH", "LANG"];

/// How much of a source file is read, in bytes.
const SOURCE_BYTES_MAX: u64 = 1 << 20;

/// Whether an agent failed in a line that reads a variable which it doesn't have or, since a value was missing, in a file
/// that reads one.
fn reads_variable(spec: &AgentSpec, shared_rules: &SharedRules, stderr: &str) -> bool {
    let found = || {
        let launch = spec.launch.as_ref()?;
        let place = failure_place(stderr)?;
        let (file, number) = place.rsplit_once(':')?;
        let path = named(&launch.folder, file);
        reachable(&spec.files()?, shared_rules).may_read(&path).then_some(())?;
        // No link of the agent's is followed.
        let folder = OpenFolder::open_canonical(path.parent()?).ok()?;
        let (file, _) = folder.file(path.file_name()?).ok()?;
        let text = String::from_utf8(read_all(file, SOURCE_BYTES_MAX).ok()?).ok()?;
        let has = |name: &str| {
            let set = launch.env.iter().filter_map(|it| Some(it.split_once('=')?.0));
            set.chain(GIVEN).any(|given| given == name)
        };
        let is_read = |line: &str| {
            READS_VARIABLE.iter().filter_map(|it| Some(line.split_once(it)?.1)).any(|rest| {
                let rest = rest.trim_start_matches(['"', '\'']);
                let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let name = &rest[..rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())];
                !name.is_empty() && !has(name)
            })
        };
        let number: usize = number.parse().ok()?;
        let own = text.lines().nth(number.checked_sub(1)?)?;
        Some(is_read(own) || may_miss_a_value(stderr) && text.lines().any(is_read))
    };
    found().unwrap_or_default()
}

/// Returns the path that an agent in a folder means by its words. Nothing is looked at, and no link followed.
fn named(folder: &Path, words: &str) -> PathBuf {
    let mut path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for part in Path::new(words).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// Only what the agent may read is looked at: its words would otherwise show what is on the machine.
fn file_advice(
    spec: &AgentSpec,
    shared_rules: &SharedRules,
    layers: Layers,
    stderr: &str,
) -> Option<String> {
    let launch = spec.launch.as_ref()?;
    let paths = denied_paths(stderr);
    // Finding out what it may read is slow.
    paths.first()?;
    let found = reachable(&spec.files()?, shared_rules);
    let paths = paths.iter().map(|path| named(&launch.folder, path));
    let (inside, outside): (Vec<_>, Vec<_>) = paths.partition(|path| found.may_read(path));
    let is_there = |path: &PathBuf| {
        let folder = path.parent().map(OpenFolder::open_canonical);
        folder
            .zip(path.file_name())
            .is_some_and(|(folder, name)| folder.and_then(|it| it.kind(name)).is_ok())
    };
    let (files, new): (Vec<_>, Vec<_>) = inside.into_iter().partition(is_there);
    let program = launch.file.canonicalize().ok();
    let (own, mut files): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|path| Some(path) == program.as_ref());
    // The program itself runs, and says that it misses another file.
    let is_of_program = |path: &PathBuf| {
        own.iter().any(|own| path.to_string_lossy().starts_with(&*own.to_string_lossy()))
    };
    if new.iter().chain(&outside).all(is_of_program) {
        files.extend(own.iter().cloned());
    }
    let is_system = |path: &Path| {
        SYSTEM.iter().any(|place| path.starts_with(place) && !launch.folder.starts_with(place))
    };
    let hidden =
        |path: &Path| Unreachable::of(path, UNPRIVILEGED_UID).filter(|_| layers.has(Layer::User));
    let closed = files.iter().filter(|path| !is_system(path)).find_map(|path| hidden(path));
    if let Some(hidden) = closed {
        return Some(format!("{hidden}: {}", hidden.help()));
    }
    if !layers.has(Layer::Landlock) {
        return None;
    }
    let is_own_temporary = |path: &Path| {
        let first =
            path.strip_prefix(std::env::temp_dir()).ok().and_then(|rest| rest.iter().next());
        first.is_some_and(|first| !launch.folder.starts_with(std::env::temp_dir().join(first)))
    };
    let grantable = |path: &&PathBuf| {
        let is_others = shared_rules.is_forbidden(path) || is_wide(path);
        !is_system(path) && !is_own_temporary(path) && !is_others && is_plain(path)
    };
    if let Some(path) = outside.iter().find(grantable) {
        let folder = path.parent().filter(|folder| {
            path.extension().is_some()
                && !is_wide(folder)
                && !shared_rules.is_near(folder)
                && !launch.folder.starts_with(folder)
        });
        return Some(grant(path, folder));
    }
    let writes = (!files.is_empty() || !new.is_empty()) && is_refused(stderr);
    writes.then(|| Restriction::Writing.advice().to_owned())
}

/// Whether a path that an agent has written can be shown in a command, of which a shell reads no part otherwise.
fn is_plain(path: &Path) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@=,".contains(letter);
    path.to_str().is_some_and(|path| path.chars().all(is_plain))
}

/// Whether the last error is about permission to a file, not about a missing one or a program that could
/// not be started.
fn is_refused(stderr: &str) -> bool {
    let last = failure_line(stderr).unwrap_or_default().to_lowercase();
    if ["env: ", "/usr/bin/env: "].iter().any(|program| last.starts_with(program)) {
        return false;
    }
    ["permission denied", "eacces", "accessdenied"].iter().any(|text| last.contains(text))
}

/// Says how to grant a path, or the folder in which there may be more that the agent reads.
fn grant(path: &Path, folder: Option<&Path>) -> String {
    let granted = folder.unwrap_or(path);
    let what = if folder.is_some() { "its folder" } else { "it" };
    let (shown, quoted) = (granted.display(), granted.to_string_lossy());
    format!(
        "the sandbox does not let it read {}: if that exists, copy {what} into the agent's folder, or grant it with \
         `--allow-read {shown}`, or in a contest with `read = [{quoted:?}]` under `[sandbox]` of the \
         contest file",
        path.display()
    )
}

/// Returns why an agent's program was not started, if its own files name a program that nobody granted.
pub fn refused_program(path: &Path) -> String {
    let shown = path.display();
    format!(
        "its own files name {shown}, outside of its folder: if you trust that, grant it with \
         `--allow-read {shown}`, or in a contest in `read` under `[sandbox]` of the contest file"
    )
}
