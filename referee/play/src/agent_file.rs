//! Finding an agent of the course COMP34111: a class in a file below the folder `agents`, beside which the course's
//! package `src` is. The file `cmd.txt` in the agent's own folder names both.

use super::adapted::{Package, is_identifier};
use referee_process::Failure;
use referee_process::files::{absolute, read_all};
use referee_process::open_folder::OpenFolder;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The syntax of such an AGENT.
const HELP: &str = "write comp34111:FILE.py[:CLASS], the path of a folder with cmd.txt, or the module and class as for \
                    the course's program: 'comp34111:agents.Group1.MyAgent MyAgent'";
/// The folder of all agents.
const AGENTS: &str = "agents";
/// The course's own folders in it.
const OF_COURSE: [&str; 2] = ["DefaultAgents", "TestAgents"];
/// The file that names an agent's module and class.
const COMMAND: &str = "cmd.txt";
const COMMAND_BYTES_MAX: u64 = 4096;
/// The largest file in which an agent's class is looked for.
const SOURCE_BYTES_MAX: u64 = 1 << 20;
/// How many files or folders a message names.
const NAMES_MAX: usize = 5;

/// Reads what follows `comp34111:`. Relative paths are relative to `base`.
pub(super) fn read(text: &str, base: &Path) -> Result<Package, Failure> {
    let (path, class) = match text.rsplit_once([':', ' ']) {
        Some((path, class)) if is_identifier(class) && !base.join(text).exists() => {
            (path, Some(class.to_owned()))
        }
        _ => (text, None),
    };
    let wrong = |what: String| Failure::usage(format!("comp34111:{text}: {what}")).help(HELP);
    let missing = || wrong(format!("no agent {}", base.join(path).display()));
    let place = base.join(path);
    if path.is_empty() {
        Err(missing())
    } else if place.is_dir() {
        let place = absolute(&place)?;
        let found = in_folder(&place).map_err(wrong)?;
        Ok(Package { class: class.or(found.class.clone()), ..found })
    } else if place.is_file() {
        at(&absolute(&place)?, class).ok_or_else(missing)
    } else {
        named(path, class, &absolute(base)?).ok_or_else(missing)
    }
}

/// Returns the agent of a folder: its own, or that of the only folder of an agent in it. Fails with the reason.
fn in_folder(folder: &Path) -> Result<Package, String> {
    if let Some((module, class)) = command(folder) {
        let roots = folder.ancestors();
        let found = roots.into_iter().find_map(|root| named(&module, Some(class.clone()), root));
        return found.ok_or_else(|| {
            format!("its {COMMAND} names {module}, but no {}.py is there", module.replace('.', "/"))
        });
    }
    let agents = entries(&folder.join(AGENTS));
    let (mut groups, mut commands) = (agents.clone(), agents);
    commands.retain(|path| command(path).is_some());
    groups.retain(|path| !OF_COURSE.iter().any(|name| path.ends_with(name)));
    groups.retain(|path| entries(path).iter().any(|file| has_agent(file)));
    let commands = if commands.is_empty() { groups } else { commands };
    let mut files = entries(folder);
    files.retain(|path| has_agent(path));
    match (&commands[..], &files[..]) {
        ([only], _) => in_folder(only),
        ([], [only]) => at(only, None).ok_or_else(|| format!("{} is no module", only.display())),
        ([], []) => {
            Err(format!("{} has no {COMMAND} and no file with make_move()", folder.display()))
        }
        ([], several) | (several, _) => Err(format!("which of {}?", names(several, folder))),
    }
}

/// Returns the module with this dotted name, imported from a folder.
fn named(module: &str, class: Option<String>, root: &Path) -> Option<Package> {
    if !module.split('.').all(is_identifier) {
        return None;
    }
    let place = root.join(module.replace('.', "/")).with_extension("py");
    place.is_file().then(|| package(root, module.to_owned(), class, place))
}

/// Returns the module of a file. It is imported from the folder around `agents`, or with `src`, if there is one.
fn at(place: &Path, class: Option<String>) -> Option<Package> {
    if place.extension() != Some(OsStr::new("py")) {
        return None;
    }
    let around = place.ancestors().skip(1);
    let is_root = |folder: &&Path| {
        place.strip_prefix(folder).is_ok_and(|inner| inner.starts_with(AGENTS))
            || folder.join("src/AgentBase.py").is_file()
    };
    let root = around.into_iter().find(is_root).or(place.parent())?;
    let inner = place.strip_prefix(root).ok()?.with_extension("");
    let parts = inner.iter().map(OsStr::to_str).collect::<Option<Vec<_>>>()?;
    if parts.iter().any(|part| part.contains('.')) {
        return None;
    }
    Some(package(root, parts.join("."), class, place.to_owned()))
}

/// The agent's own folder is what a group hands in, with what its modules read.
fn package(root: &Path, module: String, class: Option<String>, place: PathBuf) -> Package {
    let group = place.parent().unwrap_or(root);
    let shared = [root, &root.join(AGENTS)].contains(&group);
    let mut more = vec![root.join("src"), group.to_owned()];
    more.retain(|path| path.is_dir() && !(shared && path == group));
    Package { folder: root.to_owned(), module, class, place, more }
}

/// Returns the module and the class that a folder's `cmd.txt` names.
fn command(folder: &Path) -> Option<(String, String)> {
    let (file, _) = OpenFolder::open(folder).ok()?.file(OsStr::new(COMMAND)).ok()?;
    let text = String::from_utf8(read_all(file, COMMAND_BYTES_MAX).ok()?).ok()?;
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "\"'".contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_module = |word: &str| word.contains('.') && word.split('.').all(is_identifier);
    let mut pairs = words.windows(2).filter(|pair| is_module(pair[0]) && is_identifier(pair[1]));
    pairs.next().map(|pair| (pair[0].to_owned(), pair[1].to_owned()))
}

/// Whether a file defines how an agent moves.
fn has_agent(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let opened = || OpenFolder::open(folder)?.file(name);
    path.extension() == Some(OsStr::new("py"))
        && opened()
            .and_then(|(file, _)| read_all(file, SOURCE_BYTES_MAX))
            .is_ok_and(|source| String::from_utf8_lossy(&source).contains("def make_move("))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn names(paths: &[PathBuf], folder: &Path) -> String {
    let shown = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let more = if paths.len() > NAMES_MAX { ", .." } else { "" };
    paths.iter().take(NAMES_MAX).map(shown).collect::<Vec<_>>().join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn agents_are_found_by_their_paths() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let agent = "class A:\n    def make_move(self, turn, board, opp_move):\n        pass\n";
        for (file, text) in [
            ("repo/src/AgentBase.py", ""),
            ("alone/agents/Group4/Four.py", agent),
            ("alone/agents/DefaultAgents/Naive.py", agent),
            ("repo/agents/Group1/My.py", agent),
            ("repo/agents/Group1/utils.py", ""),
            ("repo/agents/Group2/Two.py", agent),
            ("repo/agents/Group2/Three.py", agent),
            ("one/agents/Group3/cmd.txt", "agents.Group3.bot HexBot\n"),
            ("one/agents/Group3/bot.py", agent),
            ("one/agents/Default/Naive.py", agent),
            ("wrong/cmd.txt", "agents.Group9.bot HexBot\n"),
            ("loose/bot.py", agent),
        ] {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        for (text, folder, module, class) in [
            ("repo/agents/Group1/My.py:A", "repo", "agents.Group1.My", Some("A")),
            ("repo/agents/Group1", "repo", "agents.Group1.My", None),
            ("repo/agents/Group2/Two.py", "repo", "agents.Group2.Two", None),
            ("alone", "alone", "agents.Group4.Four", None),
            ("one", "one", "agents.Group3.bot", Some("HexBot")),
            ("one/agents/Group3", "one", "agents.Group3.bot", Some("HexBot")),
            ("loose/bot.py", "loose", "bot", None),
            ("loose:A", "loose", "bot", Some("A")),
        ] {
            let package = read(text, &root).unwrap();
            assert_eq!(package.folder, root.join(folder), "{text}");
            assert_eq!(package.module, module, "{text}");
            assert_eq!(package.class.as_deref(), class, "{text}");
        }
        for text in ["agents.Group3.bot HexBot", "agents.Group3.bot:HexBot"] {
            let package = read(text, &root.join("one")).unwrap();
            assert_eq!(package.spec(), "agents.Group3.bot:HexBot", "{text}");
            assert_eq!(package.folder, root.join("one"), "{text}");
        }
        for (text, reason) in [
            ("repo/agents/Group2", "which of Three.py, Two.py?"),
            ("repo", "which of agents/Group1, agents/Group2?"),
            ("wrong", "its cmd.txt names agents.Group9.bot, but no agents/Group9/bot.py is there"),
            ("repo/src", "has no cmd.txt and no file with make_move()"),
            ("missing", "no agent "),
            ("", "no agent "),
        ] {
            let failure = read(text, &root).unwrap_err();
            assert!(failure.to_string().contains(reason), "{text}: {failure}");
            assert!(failure.help_text().unwrap().contains("comp34111:FILE.py"), "{text}");
        }
    }
}
