//! Advice about what the sandbox kept an agent from doing.

use crate::agent_spec::AgentSpec;
use referee_match::diagnosis::{
    Restriction, denied_paths, failure_line, failure_place, may_miss_a_value, restriction,
};
use referee_process::files::open_regular;
use referee_process::sandbox::reach::{
    SharedRules, UNPRIVILEGED_UID, Unreachable, is_wide, reachable,
};
use referee_process::sandbox::{Layer, Layers};
use std::io::Read;
use std::path::{Path, PathBuf};

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
        let reads = || reads_variable(spec, stderr).then_some(Restriction::Environment);
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
fn reads_variable(spec: &AgentSpec, stderr: &str) -> bool {
    let found = || {
        let launch = spec.launch.as_ref()?;
        let place = failure_place(stderr)?;
        let (file, number) = place.rsplit_once(':')?;
        let mut text = String::new();
        let file = open_regular(&launch.folder.join(file), SOURCE_BYTES_MAX).ok()?;
        file.take(SOURCE_BYTES_MAX).read_to_string(&mut text).ok()?;
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

fn file_advice(
    spec: &AgentSpec,
    shared_rules: &SharedRules,
    layers: Layers,
    stderr: &str,
) -> Option<String> {
    let launch = spec.launch.as_ref()?;
    let paths = denied_paths(stderr).into_iter().map(|path| launch.folder.join(path));
    // A file that it wanted to create doesn't exist, but its folder does.
    let (files, new): (Vec<_>, Vec<_>) = paths.partition(|path| path.exists());
    let canonical = |path: &Path| path.canonicalize().ok();
    let program = canonical(&launch.file);
    let (own, files): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|path| canonical(path) == program);
    // The program itself runs, and says that it misses another file.
    let is_of_program = |path: &Path| {
        own.iter().any(|own| path.to_string_lossy().starts_with(&*own.to_string_lossy()))
    };
    let names_others = new.iter().any(|path| !is_of_program(path));
    let own = own.iter().filter(|_| !names_others);
    let files: Vec<PathBuf> = files.iter().chain(own).filter_map(|path| canonical(path)).collect();
    let folders: Vec<PathBuf> = new.iter().filter_map(|path| canonical(path.parent()?)).collect();
    // Finding out what it may read is slow.
    files.first().or(folders.first())?;
    let found = reachable(&spec.files()?, shared_rules);
    let restricts = layers.has(Layer::Landlock);
    let is_system = |path: &Path| {
        SYSTEM.iter().any(|place| path.starts_with(place) && !launch.folder.starts_with(place))
    };
    let hidden =
        |path: &Path| Unreachable::of(path, UNPRIVILEGED_UID).filter(|_| layers.has(Layer::User));
    let closed = files.iter().filter(|path| !is_system(path)).find_map(|path| {
        if restricts && !found.may_read(path) {
            let others = shared_rules.is_forbidden(path) || is_wide(path);
            let folder = path.parent().filter(|folder| {
                path.is_file()
                    && !is_wide(folder)
                    && !shared_rules.is_near(folder)
                    && !launch.folder.starts_with(folder)
            });
            return (!others).then(|| grant(path, folder));
        }
        let hidden = hidden(path)?;
        Some(format!("{hidden}: {}", hidden.help()))
    });
    let writes = || {
        let files = files.iter().filter(|path| hidden(path).is_none());
        let readable = files.chain(&folders).any(|path| found.may_read(path));
        restricts && readable && is_refused(stderr)
    };
    closed.or_else(|| writes().then(|| Restriction::Writing.advice().to_owned()))
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
    let what = if folder.is_some() { "its folder" } else { "that" };
    let (shown, quoted) = (granted.display(), granted.to_string_lossy());
    format!(
        "the sandbox does not let it read {}: copy {what} into the agent's folder, or grant it with \
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
