//! Finding an agent of the course COMP34111: a class in a file below the folder `agents`, beside which the course's
//! package `src` is. The file `cmd.txt` in the agent's own folder names both.

use super::adapted::{FOLDERS_MAX, Package, is_folder, is_identifier, source_has};
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
const EXAMPLES: [&str; 2] = ["DefaultAgents", "TestAgents"];
/// What else the course's template has in it: the folders, and the class that the file `cmd.txt` of each names. A group
/// with the same number has a class of its own there.
const TEMPLATE: [(&str, Option<&str>); 6] = [
    ("Group1", Some("CheatAgent")),
    ("Group2", Some("CrashAgent")),
    ("Group997", Some("NaiveAgent")),
    ("Group998", Some("NaiveAgent")),
    ("Group999", Some("NaiveAgent")),
    ("MCTSAgent", None),
];
/// The course's package, beside the folder of all agents.
const COURSE: &str = "src";
/// How many folders around those of agents are looked through.
const DEPTH_MAX: usize = 3;
/// The length of a SHA-256 in hex.
const DIGEST_LENGTH: usize = 64;
/// The file that names an agent's module and class.
const COMMAND: &str = "cmd.txt";
const COMMAND_BYTES_MAX: u64 = 4096;
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
        let mut found = in_folder(&place).map_err(wrong)?;
        found.class = class.or(found.class);
        found.imports.get_or_insert_default().push(place);
        Ok(found)
    } else if place.is_file() {
        at(&absolute(&place)?, class).ok_or_else(missing)
    } else {
        named(path, class, &absolute(base)?).ok_or_else(missing)
    }
}

/// Returns the agent of a folder: its own, or that of the only folder of an agent in it. Fails with the reason.
fn in_folder(folder: &Path) -> Result<Package, String> {
    if let Some((module, class)) = command(folder) {
        return commanded(folder, &module, class).ok_or_else(|| {
            let file = module.replace('.', "/");
            format!("its {COMMAND} names {module}, but no {file}.py is in this folder")
        });
    }
    let mut files = entries(folder);
    files.retain(|path| has_agent(path));
    let mut groups = groups(folder, DEPTH_MAX);
    for is_likelier in [|path: &Path| !is_of_template(path), |path: &Path| command(path).is_some()]
    {
        if groups.iter().any(|path| is_likelier(path)) {
            groups.retain(|path| is_likelier(path));
        }
    }
    match (&groups[..], &files[..]) {
        ([only], _) => in_folder(only).map(|found| among_examples(folder, found)),
        ([], [only]) => at(only, None).ok_or_else(|| format!("{} is no module", only.display())),
        ([], []) if folder.join(COMMAND).is_file() => Err(format!(
            "its {COMMAND} names no module and class, such as agents.Group1.MyAgent MyAgent, and no file has \
             make_move(): programs that play over a socket are of earlier years"
        )),
        ([], []) => {
            Err(format!("{} has no {COMMAND} and no file with make_move()", folder.display()))
        }
        ([], several) | (several, _) => Err(format!("which of {}?", names(several, folder))),
    }
}

/// Returns an agent as one of `agents`, if this folder is that by another name, as an archive gives it: it has the
/// course's examples, which the agent may import.
fn among_examples(folder: &Path, found: Package) -> Package {
    let is_agents = EXAMPLES.iter().any(|name| folder.join(name).is_dir());
    let inner = found.place.strip_prefix(folder).unwrap_or(Path::new("")).with_extension("");
    let names: Option<Vec<&str>> = inner.iter().map(OsStr::to_str).collect();
    match names.filter(|_| is_agents && !folder.ends_with(AGENTS)) {
        Some(names) => Package {
            folder: folder.to_owned(),
            module: format!("{AGENTS}.{}", names.join(".")),
            more: Vec::new(),
            inside: Some(AGENTS.to_owned()),
            ..found
        },
        None => found,
    }
}

/// Returns the folders of agents in a folder: in its `agents`, or if it has none, in itself, since it may be that, or
/// have the course's repository in it. The course's own don't count.
fn groups(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let agents = folder.join(AGENTS);
    let mut folders = entries(if agents.is_dir() { &agents } else { folder });
    folders.retain(|path| {
        let is_course = path.ends_with(COURSE) && path.join("AgentBase.py").is_file();
        path.is_dir() && !is_course && path.file_name().is_some_and(|name| !is_example(name))
    });
    let holds_agent =
        |path: &Path| command(path).is_some() || entries(path).iter().any(|file| has_agent(file));
    let further = |path: PathBuf| match depth.checked_sub(1) {
        _ if holds_agent(&path) => vec![path],
        Some(depth) if is_folder(&path) => groups(&path, depth),
        _ => Vec::new(),
    };
    folders.into_iter().take(FOLDERS_MAX).flat_map(further).collect()
}

/// Returns the module that the `cmd.txt` of a folder names, which is a file in that folder: what is beside it is
/// others'. The folders in the module's name are those around the agent: if they aren't there, the folder was handed
/// in alone, and plays as if they were.
fn commanded(folder: &Path, module: &str, class: String) -> Option<Package> {
    let parts: Vec<&str> = module.split('.').collect();
    for (above, _) in parts.iter().enumerate() {
        let inner = parts[above..].join(".");
        let place = folder.join(inner.replace('.', "/")).with_extension("py");
        if !place.is_file() {
            continue;
        }
        if let Some(found) = at(&place, Some(class.clone())).filter(|it| it.module == module) {
            return Some(found);
        }
        let found = package(folder, inner, Some(class), place);
        let inside = parts[..above].join(".");
        return Some(if above == 0 { found } else { found.handed_in_alone(&inside) });
    }
    None
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
        let inner = place.strip_prefix(folder).unwrap_or(place);
        // Further in it is another folder with this name, unless the course's package is beside it.
        inner.starts_with(AGENTS) && inner.components().count() <= 3 && !is_copy(inner)
            || folder.join(COURSE).join("AgentBase.py").is_file()
    };
    let root = around.into_iter().find(is_root).or(place.parent())?;
    let inner = place.strip_prefix(root).ok()?.with_extension("");
    let parts = inner.iter().map(OsStr::to_str).collect::<Option<Vec<_>>>()?;
    if parts.iter().any(|part| part.contains('.')) {
        return None;
    }
    Some(package(root, parts.join("."), class, place.to_owned()))
}

/// Whether a path below `agents` is that of a contest's copy, which is named by its digest.
fn is_copy(inner: &Path) -> bool {
    let name = inner.iter().nth(1).unwrap_or_default().as_encoded_bytes();
    name.len() == DIGEST_LENGTH && name.iter().all(u8::is_ascii_hexdigit)
}

/// The agent's own folder is what a group hands in, with what its modules read. What it imports besides is the
/// course's: never another group's, nor what happens to be around.
fn package(root: &Path, module: String, class: Option<String>, place: PathBuf) -> Package {
    let (agents, course) = (root.join(AGENTS), root.join(COURSE));
    let inner = place.strip_prefix(&agents).ok().and_then(|inner| inner.iter().next());
    let group = inner.map(|name| agents.join(name)).filter(|group| group.is_dir());
    let group = group.or_else(|| place.parent().map(Path::to_owned)).unwrap_or_default();
    let shared = [root, &agents].contains(&group.as_path());
    let mut more = vec![course.clone(), group.clone()];
    more.retain(|path| path.is_dir() && !(shared && *path == group));
    let examples = EXAMPLES.iter().map(|name| agents.join(name));
    let imports = [course, group].into_iter().chain(examples).collect();
    let folder = root.to_owned();
    Package { folder, module, class, place, more, imports: Some(imports), inside: None }
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
    path.extension() == Some(OsStr::new("py"))
        && path.file_name() != Some(OsStr::new("AgentBase.py"))
        && source_has(path, &["def make_move("])
}

fn is_example(name: &OsStr) -> bool {
    EXAMPLES.iter().any(|example| name == *example)
}

/// Whether a folder of an agent is as in the course's template.
fn is_of_template(folder: &Path) -> bool {
    let class = command(folder).map(|(_, class)| class);
    TEMPLATE.iter().any(|(name, own)| folder.ends_with(name) && class.as_deref() == *own)
}

/// Returns what is in a folder and not hidden, in order.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let plain = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut paths: Vec<PathBuf> = plain.map(|entry| entry.path()).collect();
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

    const AGENT: &str = "class A:\n    def make_move(self, turn, board, opp_move):\n        pass\n";

    /// Every fork of the course's repository has the template's agents.
    #[test]
    fn the_own_group_is_found_among_the_templates() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let write = |file: String, text: &str| {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let forks = ["own", "uncommanded", "second", "none", "two"];
        for fork in forks {
            for (name, class) in super::TEMPLATE {
                let file = class.unwrap_or(name);
                write(format!("{fork}/agents/{name}/{file}.py"), AGENT);
                if let Some(class) = class {
                    let text = format!("agents.{name}.{class} {class}");
                    write(format!("{fork}/agents/{name}/cmd.txt"), &text);
                }
            }
            write(format!("{fork}/agents/DefaultAgents/NaiveAgent.py"), AGENT);
            write(format!("{fork}/src/AgentBase.py"), AGENT);
        }
        for (folder, has_command) in [
            ("own/agents/Group17", true),
            ("uncommanded/agents/Group17", false),
            ("second/agents/Group2", true),
            ("two/agents/Group9970", true),
            ("two/agents/Group3", true),
            ("sole/agents/Group1", false),
        ] {
            write(format!("{folder}/Own.py"), AGENT);
            if has_command {
                let module = folder.split_once('/').unwrap().1.replace('/', ".");
                write(format!("{folder}/cmd.txt"), &format!("{module}.Own Own"));
            }
        }
        write("template/agents/Group1/CheatAgent.py".to_owned(), AGENT);
        write("template/agents/Group1/cmd.txt".to_owned(), "agents.Group1.CheatAgent CheatAgent");
        for (text, module) in [
            ("own", "agents.Group17.Own"),
            ("own/agents", "agents.Group17.Own"),
            ("own/agents/Group1", "agents.Group1.CheatAgent"),
            ("own/agents/MCTSAgent", "agents.MCTSAgent.MCTSAgent"),
            ("uncommanded", "agents.Group17.Own"),
            ("second", "agents.Group2.Own"),
            ("sole", "agents.Group1.Own"),
            ("template", "agents.Group1.CheatAgent"),
        ] {
            assert_eq!(read(text, &root).unwrap().module, module, "{text}");
        }
        for (text, reason) in [
            ("two", "which of agents/Group3, agents/Group9970?"),
            ("none", "which of agents/Group1, agents/Group2, agents/Group997, "),
        ] {
            let failure = read(text, &root).unwrap_err();
            assert!(failure.to_string().contains(reason), "{text}: {failure}");
        }
    }

    #[test]
    fn agents_are_found_by_their_paths() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let agent = AGENT;
        // A contest's copy.
        let name = "0123456789abcdef".repeat(4);
        let copy = &*format!("contest/agents/{name}/bot.py");
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
            ("organiser/secret.py", agent),
            ("unpacked/Group8/Eight.py", agent),
            ("unpacked/DefaultAgents/Naive.py", agent),
            ("handins/eve/cmd.txt", "organiser.secret A\n"),
            ("handins/mallory/cmd.txt", "handins.mallory.bot HexBot\n"),
            ("handins/mallory/bot.py", agent),
            ("deep/repo/agents/Group6/Six.py", agent),
            ("deep/repo/agents/DefaultAgents/cmd.txt", "agents.DefaultAgents.Naive Naive\n"),
            ("deep/repo/agents/DefaultAgents/Naive.py", agent),
            ("deep/repo/src/AgentBase.py", agent),
            ("Group7/cmd.txt", "agents.Group7.bot HexBot\n"),
            ("Group7/bot.py", agent),
            ("socket/cmd.txt", "python3 agents/Group8/main.py\n"),
            ("socket/main.py", ""),
            (copy, agent),
            ("loose/bot.py", agent),
            ("nested/src/Nine.py", agent),
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
            ("alone/agents", "alone", "agents.Group4.Four", None),
            ("unpacked", "unpacked", "agents.Group8.Eight", None),
            ("handins/mallory", "handins/mallory", "handins.mallory.bot", Some("HexBot")),
            ("deep", "deep/repo", "agents.Group6.Six", None),
            ("Group7", "Group7", "agents.Group7.bot", Some("HexBot")),
            ("nested", "nested/src", "Nine", None),
            (copy, copy.trim_end_matches("/bot.py"), "bot", None),
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
            ("wrong", "its cmd.txt names agents.Group9.bot, but no agents/Group9/bot.py is in"),
            (
                "handins/eve",
                "its cmd.txt names organiser.secret, but no organiser/secret.py is in this",
            ),
            ("socket", "programs that play over a socket are of earlier years"),
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
