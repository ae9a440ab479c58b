//! From what somebody wishes to the enclosure that agents are started in: the strongest that this
//! machine is seen to give, or exactly the one that was named, or none at all and the reason.

use super::{
    Depth, Enclosure, Groups, SelfTest, attack, mend, mend_untested, mishap_from_environment,
};
use crate::Failure;
use crate::files::{absolute, program};
use crate::launcher::{Jail, Step, USERS, landlock_version};
use nix::unistd::Uid;
use referee_protocol::{Layer, Layers, Level, LevelChoice, Sandbox};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The levels that nobody has to name, strongest first.
const TRIED: [Level; 4] = [Level::Metered, Level::Isolated, Level::Confined, Level::Basic];

/// What somebody wishes.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The level.
    pub level: LevelChoice,
    /// Nothing weaker is good enough.
    pub at_least: Option<Level>,
    /// The command that agents are started by, at level `external` and nowhere else.
    pub wrapper: Vec<String>,
    /// The folder that the wrapper's program is relative to, where it has a folder's name in it.
    pub base: PathBuf,
}

/// Why a level can't be had.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unfit {
    level: Level,
    layer: Option<Layer>,
    text: String,
    help: Option<String>,
}

impl Unfit {
    /// `isolated: userns: operation not permitted`.
    fn line(&self) -> String {
        match self.layer {
            Some(layer) => format!("{}: {}: {}", self.level, layer.name(), self.text),
            None => format!("{}: {}", self.level, self.text),
        }
    }
}

/// Finds the enclosure that is wished for, and attacks it before it is trusted.
pub fn choose(wish: &Wish, depth: Depth) -> Result<Enclosure, Failure> {
    let wrapper = wrapper(wish)?;
    let (level, (jail, groups), missing) = match wish.level {
        LevelChoice::Exactly(level) => {
            (level, tried(level, depth).map_err(|unfit| refused(&unfit))?, Vec::new())
        }
        LevelChoice::Auto => strongest(wish.at_least.unwrap_or(Level::Basic), depth)?,
    };
    if let Some(least) = wish.at_least.filter(|&least| !level.is_at_least(least)) {
        return Err(Failure::machine(format!("the sandbox is {level}, and {least} is demanded")));
    }
    let layers = jail.layers.iter().map(|layer| told(layer, groups.as_deref())).collect();
    let told = Sandbox { level: level.name().to_owned(), layers, pondering: None };
    let missing = missing.iter().filter(|unfit| unfit.level != Level::Metered);
    let missing = missing.map(Unfit::line).collect();
    Ok(Enclosure { level, jail, told, wrapper, groups, missing })
}

/// The strongest level that can be had, and why no stronger one can.
fn strongest(least: Level, depth: Depth) -> Result<(Level, Made, Vec<Unfit>), Failure> {
    let least = if least == Level::None { Level::Basic } else { least };
    let mut missing = Vec::new();
    for level in TRIED.into_iter().filter(|level| level.is_at_least(least)) {
        match tried(level, depth) {
            Ok(made) => return Ok((level, made, missing)),
            Err(unfit) => missing.push(unfit),
        }
    }
    // What keeps the machine from the least is what has to be mended.
    Err(missing.last().map_or_else(
        || Failure::usage(format!("{least} is no level that can be demanded")),
        refused,
    ))
}

fn refused(unfit: &Unfit) -> Failure {
    Failure::machine(format!("no sandbox here is {}", unfit.line())).or_help(unfit.help.clone())
}

/// What a launcher does, and the control groups that it does it with, which are there as long as
/// they are held.
pub type Made = (Jail, Option<Arc<Groups>>);

/// What a launcher is to do at a level; not yet tried.
pub fn prepare(level: Level) -> Result<Made, Failure> {
    let mishap = mishap_from_environment()?;
    let groups =
        if level.layers().has(Layer::Cgroup) { Some(Arc::new(Groups::find()?)) } else { None };
    let folders = groups.as_ref().map_or_else(Vec::new, |groups| groups.folders());
    let jail = Jail { layers: layers(level, Uid::effective()), groups: folders, mishap };
    Ok((jail, groups))
}

/// What a launcher does at a level, once it has been seen to hold.
fn tried(level: Level, depth: Depth) -> Result<Made, Unfit> {
    let unfit = |layer, text, help| Unfit { level, layer, text, help };
    let made = prepare(level).map_err(|failure| {
        let layer = level.layers().has(Layer::Cgroup).then_some(Layer::Cgroup);
        unfit(layer, failure.to_string(), failure.help_text().map(str::to_owned))
    })?;
    let attacked = attack(level, &made.0, depth);
    let attacked = attacked.map_err(|error| {
        unfit(None, format!("the self-test can't run: {error}"), Some(mend_untested()))
    })?;
    let Some((layer, text)) = failed(&attacked) else { return Ok(made) };
    let mut failures = attacked.probes.iter().filter(|probe| !probe.held);
    let help = failures.find(|probe| Some(probe.layer) == layer).and_then(mend);
    Err(unfit(layer, text, help))
}

/// What failed first in a self-test, and of which layer, where that is known.
fn failed(attacked: &SelfTest) -> Option<(Option<Layer>, String)> {
    if let Some(trouble) = attacked.trouble {
        return Some(match trouble.step {
            Step::Layer(layer) => (Some(layer), trouble.errno.desc().to_lowercase()),
            Step::Begin => (None, trouble.to_string()),
        });
    }
    let probe = attacked.first_failure()?;
    let text = match probe.attack {
        Some(attack) => format!("an agent could {}: {}", attack.name(), probe.told),
        None => probe.told.clone(),
    };
    Some((Some(probe.layer), text))
}

/// What is to be in force at a level, for agents that this user starts.
fn layers(level: Level, user: Uid) -> Layers {
    let layers = level.layers();
    if user.is_root() && level != Level::None { layers.and(&[Layer::User]) } else { layers }
}

/// A layer with what is worth knowing of it.
fn told(layer: Layer, groups: Option<&Groups>) -> String {
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

/// The wrapper's words, the file of its program in place of the first.
fn wrapper(wish: &Wish) -> Result<Vec<String>, Failure> {
    let external = wish.level == LevelChoice::Exactly(Level::External);
    let Some(word) = wish.wrapper.first().filter(|_| external) else {
        return match (external, wish.wrapper.is_empty()) {
            (true, _) => {
                Err(Failure::usage("level external needs the command that keeps agents in")
                    .help("--wrapper 'bwrap ..', or `wrapper` in a contest file's [sandbox]"))
            }
            (false, false) => Err(Failure::usage("only level external starts agents by a wrapper")
                .help("add --sandbox external")),
            (false, true) => Ok(Vec::new()),
        };
    };
    // A name alone is never a file that lies about: somebody may have handed it in.
    let folder = if word.contains('/') { absolute(&wish.base)? } else { Path::new("/").to_owned() };
    let file = program(word, &folder).map_err(|failure| {
        Failure::new(failure.code(), format!("the wrapper: {failure}"))
            .help("its program is looked for along PATH, or named with its folder")
    })?;
    let file = file.into_os_string().into_string();
    let file = file.map_err(|file| {
        Failure::usage(format!("the wrapper: {}: its name is no UTF-8", file.display()))
    })?;
    Ok(std::iter::once(file).chain(wish.wrapper.iter().skip(1).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::{LevelChoice, Unfit, Wish, choose, layers, refused, wrapper};
    use crate::Failure;
    use crate::agent::Launch;
    use crate::sandbox::{Depth, Enclosure};
    use nix::unistd::Uid;
    use referee_protocol::{Layer, Level};
    use std::path::Path;

    fn external(words: &[&str]) -> Wish {
        let wrapper = words.iter().map(|&word| word.to_owned()).collect();
        Wish { level: LevelChoice::Exactly(Level::External), wrapper, ..Wish::default() }
    }

    #[test]
    fn as_root_agents_have_users_of_their_own() {
        let (root, other) = (Uid::from_raw(0), Uid::from_raw(1000));
        assert!(layers(Level::Basic, root).has(Layer::User));
        assert!(!layers(Level::Isolated, other).has(Layer::User));
        assert_eq!(layers(Level::None, root), Level::None.layers());
    }

    #[test]
    fn a_refusal_names_the_layer_and_how_to_mend_it() {
        let text = "operation not permitted".to_owned();
        let help = Some("user namespaces".to_owned());
        let unfit = Unfit { level: Level::Isolated, layer: Some(Layer::UserNs), text, help };
        let failure = refused(&unfit);
        assert_eq!(failure.code(), Failure::MACHINE);
        assert_eq!(
            failure.to_string(),
            "no sandbox here is isolated: userns: operation not permitted"
        );
        assert!(failure.help_text().unwrap().contains("user namespaces"));
    }

    #[test]
    fn a_wrapper_and_its_level_belong_together() {
        for (wish, told) in [
            (external(&[]), "needs the command"),
            (Wish { level: LevelChoice::Auto, ..external(&["true"]) }, "only level external"),
            (external(&["no-such-program"]), "no program `no-such-program`"),
            (external(&["./no-such-program"]), "no program `./no-such-program`"),
        ] {
            let failure = choose(&wish, Depth::Quick).unwrap_err();
            assert_eq!(failure.code(), Failure::USAGE);
            assert!(failure.to_string().contains(told), "{failure}");
        }
    }

    #[test]
    fn a_wrapper_stands_before_what_it_starts() {
        let words = ["env", "WORK={work}", "{folder}/x"];
        let wrapper = wrapper(&external(&words)).unwrap();
        let enclosure = Enclosure { wrapper, ..Enclosure::none() };
        let launch = Launch {
            file: "/usr/bin/python3".into(),
            command: vec!["python3".to_owned(), "{work}".to_owned()],
            folder: "/agents/a".into(),
        };
        let started = enclosure.wrapped(&launch, Path::new("/tmp/w/0")).unwrap();
        assert!(started.file.is_absolute() && started.file.ends_with("env"));
        let words = ["WORK=/tmp/w/0", "/agents/a/x", "/usr/bin/python3", "{work}"];
        assert_eq!(started.command[1..], words);
        assert_eq!(started.folder, launch.folder);
        let own = Launch { file: "/proc/self/exe".into(), ..launch };
        let started = enclosure.wrapped(&own, Path::new("/tmp/w/0")).unwrap();
        assert_eq!(started.command[3], std::env::current_exe().unwrap().to_str().unwrap());
    }
}
