//! Chooses and tests the sandbox: the strongest that this machine supports, exactly the requested
//! one, or none with the reason.

use super::{
    Depth, Groups, Sandbox, SelfTest, attack, inherited, injected_failure, remedy, remedy_untested,
};
use crate::Failure;
use crate::cores;
use crate::files::{absolute, program};
use crate::launcher::{self, LauncherConfig, Step, USERS, WEAKEST, landlock_version};
use crate::sandbox::{Layer, Layers};
use nix::unistd::Uid;
use referee_protocol::{Level, LevelChoice, SandboxRecord};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The levels that `auto` tries, strongest first.
const TRIED: [Level; 5] =
    [Level::Metered, Level::Isolated, Level::Confined, Level::Basic, Level::None];

/// A requested sandbox.
#[derive(Clone, Debug, Default)]
pub struct SandboxRequest {
    /// The level.
    pub level: LevelChoice,
    /// Fail if the level is weaker than this.
    pub at_least: Option<Level>,
    /// The command that starts agents; at level `external` only.
    pub wrapper: Vec<String>,
    /// Files and folders that all agents may read.
    pub read: Vec<PathBuf>,
    /// The folder that relative paths refer to: those of `read`, and of the wrapper's program.
    pub base: PathBuf,
}

/// Why a level is unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unavailable {
    level: Level,
    /// For example `userns: operation not permitted`.
    reason: String,
    help: Option<String>,
}

/// Finds the requested sandbox, and attacks it before it is trusted.
pub fn choose(request: &SandboxRequest, depth: Depth) -> Result<Sandbox, Failure> {
    inherited::raise()?;
    let wrapper = wrapper(request)?;
    let read = request.read.iter().map(|path| readable(&request.base.join(path)));
    let read = read.collect::<Result<_, _>>()?;
    let (level, (config, groups), missing) = match request.level {
        LevelChoice::Exactly(level) => {
            (level, tried(level, depth).map_err(|unavailable| refused(&unavailable))?, Vec::new())
        }
        LevelChoice::Auto => strongest(request.at_least, depth)?,
    };
    if let Some(least) = request.at_least.filter(|&least| !level.is_at_least(least)) {
        return Err(Failure::machine(format!(
            "sandbox level {level} is weaker than the required level {least}"
        )));
    }
    let layers = config.layers.iter().map(|layer| layer_text(layer, groups.as_deref())).collect();
    let recorded = SandboxRecord {
        level: level.name().to_owned(),
        layers,
        cores: u32::try_from(cores::online()).ok(),
        missing: missing_levels(&missing),
        ..SandboxRecord::default()
    };
    Ok(Sandbox { level, launcher: config, recorded, wrapper, read, forbidden: Vec::new(), groups })
}

/// Returns the levels that are unavailable, each with its reason. A reason that a weaker level has too is
/// listed only there, and `metered` is left out, since few machines support it.
fn missing_levels(missing: &[Unavailable]) -> Vec<String> {
    let is_last = |index: usize, reason: &str| {
        missing[index + 1..].iter().all(|weaker| weaker.reason != reason)
    };
    let listed = missing
        .iter()
        .enumerate()
        .filter(|&(index, it)| it.level != Level::Metered && is_last(index, &it.reason));
    listed.map(|(_, it)| format!("{}: {}", it.level, it.reason)).collect()
}

/// Returns the strongest available level, and why stronger ones are unavailable.
fn strongest(
    least: Option<Level>,
    depth: Depth,
) -> Result<(Level, Prepared, Vec<Unavailable>), Failure> {
    let least = least.filter(|&least| least != Level::None).unwrap_or(WEAKEST);
    let mut missing = Vec::new();
    for level in TRIED.into_iter().filter(|level| level.is_at_least(least)) {
        match tried(level, depth) {
            Ok(made) => return Ok((level, made, missing)),
            Err(unavailable) => missing.push(unavailable),
        }
    }
    // The weakest level that was tried is the one to make available.
    Err(missing.last().map_or_else(
        || Failure::usage(format!("sandbox level {least} can't be required of `auto`")),
        refused,
    ))
}

fn refused(unavailable: &Unavailable) -> Failure {
    let Unavailable { level, reason, help } = unavailable;
    Failure::machine(format!("sandbox level {level} is unavailable: {reason}"))
        .or_help(help.clone())
}

/// The launcher's configuration and its control groups, which exist as long as they are held.
pub type Prepared = (LauncherConfig, Option<Arc<Groups>>);

/// Prepares a level without testing it.
pub fn prepare(level: Level) -> Result<Prepared, Failure> {
    let injected_failure = injected_failure()?;
    let layers = layers(launcher::layers(level)?, Uid::effective());
    let groups = if layers.has(Layer::Cgroup) { Some(Arc::new(Groups::find()?)) } else { None };
    let folders = groups.as_ref().map_or_else(Vec::new, |groups| groups.folders());
    let config =
        LauncherConfig { layers, groups: folders, injected_failure, ..LauncherConfig::default() };
    Ok((config, groups))
}

/// Prepares a level and tests it.
fn tried(level: Level, depth: Depth) -> Result<Prepared, Unavailable> {
    let unavailable = |layer: Option<Layer>, text: String, help| {
        let reason = layer.map(|layer| format!("{}: {text}", layer.name())).unwrap_or(text);
        Unavailable { level, reason, help }
    };
    let made = prepare(level).map_err(|failure| {
        let layer = Layers::of_level(level).has(Layer::Cgroup).then_some(Layer::Cgroup);
        unavailable(layer, failure.to_string(), failure.help_text().map(str::to_owned))
    })?;
    let attacked = attack(level, &made.0, depth);
    let attacked = attacked.map_err(|error| {
        unavailable(None, format!("the self-test can't run: {error}"), Some(remedy_untested()))
    })?;
    let Some((layer, text)) = failed(&attacked) else { return Ok(made) };
    let mut failures = attacked.probes.iter().filter(|probe| !probe.held);
    let help = failures.find(|probe| Some(probe.layer) == layer).and_then(remedy);
    Err(unavailable(layer, text, help))
}

/// Returns what failed first in a self-test, and in which layer, if that is known.
fn failed(attacked: &SelfTest) -> Option<(Option<Layer>, String)> {
    if let Some(failure) = attacked.start_failure {
        return Some(match failure.step {
            Step::Layer(layer) => (Some(layer), failure.reason().to_lowercase()),
            Step::Begin => (None, failure.to_string()),
        });
    }
    let probe = attacked.first_failure()?;
    let text = match probe.attack {
        Some(attack) => format!("an agent could {}: {}", attack.name(), probe.answer),
        None => probe.answer.clone(),
    };
    Some((Some(probe.layer), text))
}

/// Returns the layers of a level for agents that this user starts.
fn layers(layers: Layers, user: Uid) -> Layers {
    let any = layers != Layers::default();
    if user.is_root() && any { layers.with(&[Layer::User]) } else { layers }
}

/// Returns a layer as it is recorded, with its version or details.
fn layer_text(layer: Layer, groups: Option<&Groups>) -> String {
    let name = layer.name();
    match layer {
        Layer::Watchdog => format!("memory {name}"),
        Layer::User => format!("{name} {}+", USERS.start()),
        Layer::Landlock => landlock_version()
            .map_or_else(|| name.to_owned(), |version| format!("{name} abi {version}")),
        Layer::Cgroup => {
            groups.map_or_else(|| name.to_owned(), |groups| format!("{name} v{}", groups.version()))
        }
        _ => name.to_owned(),
    }
}

/// Returns the canonical path of what agents may read.
pub fn readable(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::usage(format!("agents can't be allowed to read {}: {error}", path.display()))
            .help("give the path of a file or folder that exists")
    })
}

/// Returns the wrapper's words; the first is replaced by the program's path.
fn wrapper(request: &SandboxRequest) -> Result<Vec<String>, Failure> {
    let external = request.level == LevelChoice::Exactly(Level::External);
    let word = match request.wrapper.first() {
        Some(word) if external => word,
        Some(_) => {
            return Err(Failure::usage("a wrapper works only at sandbox level external")
                .help("add --sandbox external"));
        }
        None if external => {
            let text = "sandbox level external needs a command that isolates agents";
            return Err(Failure::usage(text).help(
                "add --wrapper 'bwrap ..', or `wrapper` under [sandbox] in the contest file",
            ));
        }
        None => return Ok(Vec::new()),
    };
    // A plain name is only searched in PATH, never in the current folder, where someone else may
    // have put a file.
    let folder =
        if word.contains('/') { absolute(&request.base)? } else { Path::new("/").to_owned() };
    let file = program(word, &folder).map_err(|failure| {
        Failure::new(failure.kind(), format!("the wrapper: {failure}"))
            .help("give the name of a program in PATH, or a path")
    })?;
    let file = file.into_os_string().into_string();
    let file = file.map_err(|file| {
        Failure::usage(format!("the wrapper: {}: its path is not UTF-8", file.display()))
    })?;
    Ok(std::iter::once(file).chain(request.wrapper.iter().skip(1).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::{LevelChoice, SandboxRequest, Unavailable, layers, missing_levels, wrapper};
    use crate::agent::Launch;
    use crate::sandbox::{Layer, Layers, Sandbox};
    use nix::unistd::Uid;
    use referee_protocol::Level;
    use std::path::Path;

    fn external(words: &[&str]) -> SandboxRequest {
        let wrapper = words.iter().map(|&word| word.to_owned()).collect();
        SandboxRequest {
            level: LevelChoice::Exactly(Level::External),
            wrapper,
            ..SandboxRequest::default()
        }
    }

    #[test]
    fn as_root_agents_have_their_own_users() {
        let (root, other) = (Uid::from_raw(0), Uid::from_raw(1000));
        assert!(layers(Layers::of_level(Level::Basic), root).has(Layer::User));
        assert!(!layers(Layers::of_level(Level::Isolated), other).has(Layer::User));
        assert_eq!(layers(Layers::of_level(Level::None), root), Layers::of_level(Level::None));
    }

    #[test]
    fn a_reason_is_listed_at_the_weakest_level_that_has_it() {
        let listed = |reasons: [&str; 3]| {
            let levels = [Level::Metered, Level::Isolated, Level::Confined];
            let missing = levels.into_iter().zip(reasons).map(|(level, reason)| Unavailable {
                level,
                reason: reason.to_owned(),
                help: None,
            });
            missing_levels(&missing.collect::<Vec<_>>())
        };
        assert_eq!(listed(["x", "x", "x"]), ["confined: x"]);
        assert_eq!(listed(["x", "y", "z"]), ["isolated: y", "confined: z"]);
        assert_eq!(listed(["x", "y", "x"]), ["isolated: y", "confined: x"]);
    }

    #[test]
    fn a_wrapper_comes_before_the_program() {
        let words = ["env", "WORK={work}", "{folder}/x"];
        let wrapper = wrapper(&external(&words)).unwrap();
        let sandbox = Sandbox { wrapper, ..Sandbox::none() };
        let launch = Launch {
            file: "/usr/bin/python3".into(),
            command: vec!["python3".to_owned(), "{work}".to_owned()],
            folder: "/agents/a".into(),
            env: vec!["A=1".to_owned()],
        };
        let started = sandbox.wrapped(&launch, Path::new("/tmp/w/0")).unwrap();
        assert!(started.file.is_absolute() && started.file.ends_with("env"));
        let words =
            ["WORK=/tmp/w/0", "/agents/a/x", "/usr/bin/env", "A=1", "/usr/bin/python3", "{work}"];
        assert_eq!(started.command[1..], words);
        assert_eq!(started.folder, launch.folder);
        assert!(started.env.is_empty());
        let own = Launch { file: "/proc/self/exe".into(), env: Vec::new(), ..launch.clone() };
        let started = sandbox.wrapped(&own, Path::new("/tmp/w/0")).unwrap();
        assert_eq!(started.command[3], std::env::current_exe().unwrap().to_str().unwrap());
        // What a submission names there is its own business.
        let named = Launch { file: "/proc/self/root/bin/sh".into(), env: Vec::new(), ..launch };
        let started = sandbox.wrapped(&named, Path::new("/tmp/w/0")).unwrap();
        assert_eq!(started.command[3], "/proc/self/root/bin/sh");
    }
}
