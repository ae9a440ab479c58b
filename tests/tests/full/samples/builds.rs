//! The sample agents: each is built and started as its `agent.toml` says, and plays all of its games
//! to the end.

use crate::support::small_referee::{Participant, among, play, small};
use crate::support::{root, scratch};
use referee_games::{GAMES, GameKind};
use sample_agents::starters::{STARTERS, Starter};
use serde::Deserialize;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Agent {
    command: Vec<String>,
    #[serde(default)]
    build: Vec<String>,
    games: Option<Vec<String>>,
}

/// A sample, built if needed.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Its folder, such as `python/random`.
    pub(crate) path: String,
    pub(crate) participant: Participant,
    games: Option<Vec<String>>,
}

/// Returns the samples that can run on this machine. One whose tools are missing is skipped with a
/// message, unless that is forbidden. Each is built once, in a copy of its folder, so that the checkout
/// stays unchanged.
pub(crate) fn samples() -> &'static [Sample] {
    static SAMPLES: LazyLock<Vec<Sample>> =
        LazyLock::new(|| folders().iter().filter_map(|path| sample(path)).collect());
    &SAMPLES
}

/// Returns the folder of the samples.
pub(crate) fn samples_root() -> PathBuf {
    root().join("sample-agents")
}

/// Returns the folders with an `agent.toml` in the languages' folders.
fn folders() -> Vec<String> {
    let root = &samples_root();
    let entries = |folder: &Path| {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let folders = entries(root).into_iter().flat_map(|language| entries(&language));
    let samples = folders.filter(|folder| folder.join("agent.toml").exists());
    let mut paths: Vec<String> = samples
        .map(|folder| folder.strip_prefix(root).unwrap().to_str().unwrap().to_owned())
        .collect();
    paths.sort_unstable();
    paths
}

/// Reads a sample's `agent.toml`.
fn agent(path: &str) -> Agent {
    let folder = samples_root().join(path);
    let text = std::fs::read_to_string(folder.join("agent.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// Returns the games that a sample plays. It need not play games that are added later.
pub(crate) fn games_of(path: &str) -> impl Iterator<Item = &'static GameKind> {
    let games = agent(path).games;
    let plays = move |kind: &&GameKind| {
        games.as_ref().is_none_or(|games| games.iter().any(|game| game == kind.name))
    };
    GAMES.iter().filter(plays)
}

fn sample(path: &str) -> Option<Sample> {
    let folder = samples_root().join(path);
    assert!(folder.join("README.md").exists(), "{path}: no README.md");
    let agent = agent(path);
    let starter = STARTERS.iter().find(|starter| starter.folder == path);
    let needs = starter.iter().flat_map(|it| it.needs.iter().copied());
    let words = [agent.build.first(), agent.command.first()].into_iter().flatten();
    let words = words.map(String::as_str).filter(|word| !word.contains('/'));
    if !is_installed(path, needs.chain(words)) {
        return None;
    }
    let participant = if agent.build.is_empty() {
        Participant::Program(folder, agent.command)
    } else if agent.build[0] == "cargo" {
        built_by_cargo(folder, &agent)
    } else {
        let copy = copied(path, &format!("samples/{path}"));
        run_build(path, &copy, &agent.build);
        Participant::Program(copy, agent.command)
    };
    Some(Sample { path: path.to_owned(), participant, games: agent.games })
}

/// Returns whether these programs, which `what` needs, are installed. If one isn't, it prints a line, or
/// fails if skipping is forbidden.
pub(crate) fn is_installed<'a>(what: &str, programs: impl IntoIterator<Item = &'a str>) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here =
        |program: &&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let Some(program) = programs.into_iter().find(|program| !is_here(program)) else {
        return true;
    };
    let forbidden = std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_some();
    assert!(!forbidden, "there is no {program}, and REFEREE_TESTS_FORBID_SKIP is set");
    println!("skipped: {what}: there is no {program}");
    false
}

/// Returns a sample that Cargo has built for this test; its `build` would put it in `target/release`.
fn built_by_cargo(folder: PathBuf, agent: &Agent) -> Participant {
    assert_eq!(agent.build.last().unwrap(), "strong-agent");
    assert_eq!(agent.command[0], "../../../target/release/strong-agent");
    let mut command = agent.command.clone();
    env!("CARGO_BIN_EXE_strong-agent-under-test").clone_into(&mut command[0]);
    Participant::Program(folder, command)
}

/// Copies a sample's files into a new folder of this name, and returns that folder.
pub(crate) fn copied(path: &str, to: &str) -> PathBuf {
    let folder = samples_root().join(path);
    let copy = scratch(to);
    if copy.exists() {
        std::fs::remove_dir_all(&copy).unwrap();
    }
    std::fs::create_dir_all(&copy).unwrap();
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    copy
}

/// Runs a build command, if it has any words, in a folder. A warning is a failure.
pub(crate) fn run_build(path: &str, folder: &Path, build: &[impl AsRef<OsStr> + Debug]) {
    let Some((program, arguments)) = build.split_first() else { return };
    let ran = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{path}: {build:?}: {said}");
    assert!(!said.contains("warning"), "{path}: {build:?}: {said}");
}

#[test]
fn every_sample_plays_its_games_to_the_end() {
    let samples = samples();
    // On both cores of a small machine.
    std::thread::scope(|scope| {
        for half in samples.chunks(samples.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(play_all_games));
        }
    });
}

/// Plays each game once, from another seat in turn.
fn play_all_games(sample: &Sample) {
    for (index, kind) in GAMES.iter().enumerate() {
        let games = sample.games.as_ref();
        if games.is_some_and(|games| games.iter().all(|game| game != kind.name)) {
            continue;
        }
        let seats = kind.start(&small(kind.name)).unwrap().seats();
        let agents = among("random", seats, index % seats, sample.participant.clone());
        play(kind.name, &small(kind.name), &agents, 1, None);
    }
}

#[test]
fn a_starter_plays_by_its_seed() {
    for sample in samples().iter().filter(|sample| starter_of(sample).is_some()) {
        let played = |seed| {
            let agents = [sample.participant.clone(), "first".into()];
            play("hex", &small("hex"), &agents, seed, None).actions
        };
        let games: Vec<_> = (1..3).map(played).collect();
        assert_eq!(played(1), games[0], "{}: the same seed, another game", sample.path);
        assert!(games.iter().any(|game| *game != games[0]), "{}: always the same", sample.path);
    }
}

pub(crate) fn starter_of(sample: &Sample) -> Option<&'static Starter> {
    STARTERS.iter().find(|starter| starter.folder == sample.path)
}

/// A file that is added to a starter must be added to its list too.
#[test]
fn a_starter_has_all_files_of_its_folder() {
    // Each new agent gets its own README; the rest is left by builds.
    let other = ["README.md", "bot", "classes", "__pycache__"];
    for starter in STARTERS {
        let folder = samples_root().join(starter.folder);
        let entries = folder.read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !other.contains(&name.as_str())).collect();
        names.sort_unstable();
        let mut copied: Vec<&str> = starter.files.iter().map(|file| file.name).collect();
        copied.push("agent.toml");
        copied.sort_unstable();
        assert_eq!(names, copied, "{}", starter.folder);
    }
}
