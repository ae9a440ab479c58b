mod requests;

use super::{advice, shared_rules};
use crate::agent_spec::AgentSpec;
use referee_process::launcher::Reach;
use referee_process::sandbox::reach::{
    Answer, Reachable, Refusal, SharedRules, Unreachable, is_wide, reachable, requests,
};
use referee_process::sandbox::{Layer, Layers};
use referee_protocol::Level;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A made-up machine.
struct Tree {
    _folder: TempDir,
    root: PathBuf,
}

impl Tree {
    /// Creates files with their text, or links: `from -> to`. `ROOT` is the folder of them all.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let tree = Self { _folder: folder, root };
        for (name, text) in files {
            tree.add(name, text);
        }
        tree
    }

    fn add(&self, name: &str, text: &str) {
        let (name, target) = match name.split_once(" -> ") {
            Some((name, target)) => (name, Some(target)),
            None => (name, None),
        };
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(target) = target {
            symlink(self.rooted(target), path).unwrap();
        } else {
            fs::write(&path, self.rooted(text)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
    }

    fn rooted(&self, text: &str) -> String {
        text.replace("ROOT", self.root.to_str().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn agent(&self, written: &str) -> Arc<AgentSpec> {
        Arc::new(AgentSpec::read_in(written, &self.root).unwrap())
    }

    /// What the first of these may read in the presence of the others.
    fn of(&self, agents: &[&Arc<AgentSpec>], records: &[&str]) -> Seen<'_> {
        self.granting(agents, records, &[])
    }

    /// The same, if the first is granted these paths.
    fn granting(&self, agents: &[&Arc<AgentSpec>], records: &[&str], granted: &[&str]) -> Seen<'_> {
        let paths = |names: &[&str]| names.iter().map(|name| self.at(name)).collect::<Vec<_>>();
        let all: Vec<Arc<AgentSpec>> = agents.iter().map(|agent| (*agent).clone()).collect();
        let rules = shared_rules(&all, &paths(records), &[]);
        let first = AgentSpec { granted: paths(granted), ..(*all[0]).clone() };
        Seen { tree: self, reachable: reachable(&first.files().unwrap(), &rules) }
    }
}

struct Seen<'a> {
    tree: &'a Tree,
    reachable: Reachable,
}

impl Seen<'_> {
    fn reach(&self) -> Reach {
        self.reachable.reach(Path::new(""))
    }

    fn may_read(&self, name: &str) -> bool {
        let path = self.tree.at(name);
        let path = path.canonicalize().unwrap_or(path);
        let read = self.reach().read;
        read.iter().any(|it| path.starts_with(OsStr::from_bytes(&it.0)))
    }

    fn may_list(&self, name: &str) -> bool {
        let path = self.tree.at(name);
        let list = self.reach().list;
        self.may_read(name) || list.iter().any(|it| Path::new(OsStr::from_bytes(&it.0)) == path)
    }

    #[track_caller]
    fn check(&self, may: &[&str], may_not: &[&str]) {
        for name in may {
            assert!(self.may_read(name), "{name}: {:?}", self.reach());
        }
        for name in may_not {
            assert!(!self.may_read(name), "{name}: {:?}", self.reach());
        }
    }

    #[track_caller]
    fn is_refused(&self, name: &str, why: Refusal) {
        let refused = (self.tree.at(name), why);
        assert!(self.reachable.refused.contains(&refused), "{:?}", self.reachable.refused);
    }
}

const ECHO: &str = "command = [\"./bot\"]";

#[test]
fn virtual_environments_bring_the_python_that_they_were_made_with() {
    let tree = Tree::new(&[
        ("home/.pyenv/versions/3.11/bin/python3.11", "ELF"),
        ("home/.pyenv/versions/3.11/bin/python3 -> python3.11", ""),
        ("home/.pyenv/versions/3.11/lib/python3.11/os.py", ""),
        ("home/.pyenv/versions/3.12/lib/os.py", ""),
        ("home/venv/bin/python -> python3", ""),
        ("home/venv/bin/python3 -> ROOT/home/.pyenv/versions/3.11/bin/python3", ""),
        ("home/venv/lib/python3.11/site-packages/numpy.py", ""),
        ("home/venv/pyvenv.cfg", "home = ROOT/home/.pyenv/versions/3.11/bin\nversion = 3.11.7\n"),
        ("home/bot/bot.py", ""),
        ("home/bot/agent.toml", "command = [\"../venv/bin/python\", \"bot.py\"]"),
        ("home/bot/weights.bin", ""),
        ("home/.ssh/key", ""),
        ("home/notes.txt", ""),
    ]);
    let (may, may_not) = (
        [
            "home/bot/weights.bin",
            "home/venv/lib/python3.11/site-packages/numpy.py",
            "home/.pyenv/versions/3.11/lib/python3.11/os.py",
        ],
        ["home/.ssh/key", "home/notes.txt", "home/.pyenv/versions/3.12/lib/os.py", "home"],
    );
    let agent = tree.agent("home/bot");
    tree.granting(&[&agent], &[], &["home/venv"]).check(&may, &may_not);
    tree.of(&[&agent], &[]).check(&may[..1], &may[1..]);
    let words = tree.rooted("ROOT/home/venv/bin/python bot.py");
    let caller = Arc::new(AgentSpec::read_in(&words, &tree.at("home/bot")).unwrap());
    tree.of(&[&caller], &[]).check(&may, &may_not);
    // It is often in the folder that the caller is in.
    tree.add("home/bot/own/bin/python -> ROOT/home/.pyenv/versions/3.11/bin/python3", "");
    tree.add("home/bot/own/pyvenv.cfg", "home = ROOT/home/.pyenv/versions/3.11/bin\n");
    let inside = AgentSpec::read_in("own/bin/python bot.py", &tree.at("home/bot")).unwrap();
    tree.of(&[&Arc::new(inside)], &[]).check(&[may[0], may[2]], &may_not);
    // A copy of the interpreter has no link that leads to its home.
    let copy = tree.at("home/venv/bin/python");
    fs::remove_file(&copy).unwrap();
    fs::write(&copy, "ELF").unwrap();
    fs::remove_file(tree.at("home/venv/bin/python3")).unwrap();
    tree.of(&[&caller], &[]).check(&may, &may_not);
}

#[test]
fn shims_and_version_managers_work_from_home_folders() {
    let tree = Tree::new(&[
        ("home/.pyenv/shims/python3", "#!/usr/bin/env bash\nexec ROOT/home/.pyenv/libexec/pyenv"),
        ("home/.pyenv/libexec/pyenv", "#!/usr/bin/env bash\n"),
        ("home/.pyenv/versions/3.11/bin/python3", "ELF"),
        ("home/.nvm/versions/node/v20/bin/node", "ELF"),
        ("home/.nvm/versions/node/v20/lib/node_modules/x.js", ""),
        ("home/.nvm/versions/node/v18/lib/node_modules/x.js", ""),
        ("home/.sdkman/candidates/java/current -> 21", ""),
        ("home/.sdkman/candidates/java/21/bin/java", "ELF"),
        ("home/.sdkman/candidates/java/21/lib/modules", ""),
        ("home/.local/share/uv/python/3.12/bin/python3.12", "ELF"),
        ("home/.local/share/uv/python/3.12/lib/os.py", ""),
        ("home/.local/share/keys", ""),
        ("home/.local/lib/x", ""),
        ("home/.local/bin/python3.12 -> ../share/uv/python/3.12/bin/python3.12", ""),
        ("home/.cargo/bin/engine", "ELF"),
        ("home/.cargo/credentials.toml", ""),
        ("home/.cargo/lib/x", ""),
        ("home/bin/tool", "ELF"),
        ("home/secret", ""),
        ("bots/bot.py", ""),
    ]);
    for (program, may, may_not) in [
        (".pyenv/shims/python3", ".pyenv/versions/3.11/bin/python3", "secret"),
        (
            ".nvm/versions/node/v20/bin/node",
            ".nvm/versions/node/v20/lib/node_modules/x.js",
            ".nvm/versions/node/v18/lib/node_modules/x.js",
        ),
        (
            ".sdkman/candidates/java/current/bin/java",
            ".sdkman/candidates/java/21/lib/modules",
            "secret",
        ),
        (".local/bin/python3.12", ".local/share/uv/python/3.12/lib/os.py", ".local/share/keys"),
        (".cargo/bin/engine", ".cargo/bin/engine", ".cargo/credentials.toml"),
        ("bin/tool", "bin/tool", "secret"),
    ] {
        let (may, may_not) = (format!("home/{may}"), format!("home/{may_not}"));
        let program = tree.at("home").join(program).display().to_string();
        let caller = AgentSpec::read_in(&format!("{program} bot.py"), &tree.at("bots")).unwrap();
        let seen = tree.of(&[&Arc::new(caller)], &[]);
        seen.check(&["bots/bot.py", &may], &[&may_not]);
        // This folder is nobody's home folder, so an author can't open what is in it.
        fs::write(tree.at("bots/agent.toml"), format!("command = [\"{program}\", \"bot.py\"]"))
            .unwrap();
        tree.of(&[&tree.agent("bots")], &[]).check(&["bots/bot.py"], &[&may, &may_not]);
    }
}

#[test]
fn scripts_bring_what_runs_them() {
    let tree = Tree::new(&[
        ("inst/bin/python3", "ELF"),
        ("inst/lib/os.py", ""),
        ("tool/bin/runner", "#! ROOT/inst/bin/python3 -u\n"),
        ("tool/lib/x", ""),
        ("a/bot", "#!ROOT/tool/bin/runner\n"),
        ("a/agent.toml", ECHO),
        ("b/bot", "#!/usr/bin/env -S A=1 ROOT/inst/bin/python3 -u\n"),
        ("b/agent.toml", ECHO),
        ("c/bot", "#!/bin/sh\n'''exec' \"ROOT/inst/bin/python3\" \"$0\" \"$@\"\n' '''\n"),
        ("c/agent.toml", ECHO),
        ("d/agent.toml", "command = \"env -u X A=1 ROOT/inst/bin/python3 bot.py\""),
    ]);
    for agent in ["b", "c", "d"] {
        let agent = tree.agent(agent);
        tree.granting(&[&agent], &[], &["inst"]).check(&["inst/lib/os.py"], &["tool/lib/x"]);
        tree.of(&[&agent], &[]).check(&[], &["inst/lib/os.py", "inst/bin/python3"]);
    }
    let a = tree.agent("a");
    tree.granting(&[&a], &[], &["tool"]).check(&["inst/lib/os.py", "tool/lib/x"], &["b/bot"]);
    tree.of(&[&a], &[]).check(&["a/bot"], &["inst/lib/os.py", "tool/lib/x", "tool/bin/runner"]);
    // One that runs itself, and one without an end.
    tree.add("e/bot", "#!ROOT/e/bot\n");
    tree.add("e/agent.toml", ECHO);
    tree.of(&[&tree.agent("e")], &[]).check(&["e/bot"], &["inst"]);
}

#[test]
fn files_in_one_folder_see_it_but_for_each_other() {
    let tree = Tree::new(&[
        ("bots/alice.py", ""),
        ("bots/bob.py", ""),
        ("bots/book.txt", ""),
        ("bots/lib/search.py", ""),
        ("bots/matches/old.jsonl", ""),
        ("bots/way -> matches", ""),
    ]);
    let (alice, bob) = (tree.agent("bots/alice.py"), tree.agent("bots/bob.py"));
    let seen = tree.of(&[&alice, &bob], &["bots/matches", "bots/new"]);
    seen.check(
        &["bots/alice.py", "bots/book.txt", "bots/lib/search.py"],
        &["bots/bob.py", "bots/matches/old.jsonl", "bots/new", "bots/later.txt", "bots"],
    );
    assert!(seen.may_list("bots"));
    tree.of(&[&alice, &alice], &[]).check(&["bots/alice.py", "bots/bob.py"], &[]);
    // The same as command lines, which are started in the folder above.
    let (alice, bob) = (tree.agent("python3 bots/alice.py"), tree.agent("python3 bots/bob.py"));
    tree.of(&[&alice, &bob], &["bots/matches"]).check(
        &["bots/alice.py", "bots/lib/search.py"],
        &["bots/bob.py", "bots/matches/old.jsonl"],
    );
    let modules = (tree.agent("python3 -m bots.alice"), tree.agent("python3 bots/bob.py"));
    tree.of(&[&modules.0, &modules.1], &[]).check(&["bots/alice.py"], &["bots/bob.py"]);
}

#[test]
fn transcripts_that_lie_beside_agents_are_left_out() {
    let tree = Tree::new(&[("alice.py", ""), ("a.jsonl", ""), ("data.txt", ""), ("x/b.jsonl", "")]);
    let alice = tree.agent("python3 alice.py");
    let seen = tree.of(&[&alice], &[""]);
    seen.check(&["alice.py", "data.txt", "x/b.jsonl"], &["a.jsonl", "later.jsonl"]);
}

#[test]
fn a_folder_in_another_agents_folder_is_its_own() {
    let tree = Tree::new(&[
        ("a/agent.toml", ECHO),
        ("a/bot", ""),
        ("a/data/x", ""),
        (
            "a/b/agent.toml",
            "command = [\"./bot\"]\n[sandbox]\nread = [\"../data\", \"../../shared\"]",
        ),
        ("a/b/bot", ""),
        ("shared/x", ""),
        ("shared/bots/c/agent.toml", ECHO),
        ("shared/bots/c/bot", ""),
    ]);
    let (a, b, c) = (tree.agent("a"), tree.agent("a/b"), tree.agent("shared/bots/c"));
    tree.of(&[&a, &b], &[]).check(&["a/bot", "a/data/x"], &["a/b/bot", "a/b", "shared/x"]);
    let seen = tree.granting(&[&b, &a, &c], &[], &["a/data", "shared"]);
    seen.check(&["a/b/bot", "shared/x"], &["a/bot", "a/data/x", "shared/bots/c/bot"]);
    seen.is_refused("a/data", Refusal::Forbidden);
    let alone = tree.granting(&[&b], &[], &["a/data", "shared"]);
    alone.check(&["a/data/x", "shared/bots/c/bot"], &["a/bot"]);
    assert!(alone.reachable.refused.is_empty());
    let answers = |extra: &[PathBuf]| -> Vec<(PathBuf, Answer)> {
        let found = requests(&b.files().unwrap(), extra);
        found.into_iter().map(|request| (request.path, request.answer)).collect()
    };
    let (data, shared) = (tree.at("a/data"), tree.at("shared"));
    assert_eq!(
        answers(std::slice::from_ref(&shared)),
        [(data, Answer::NotGranted), (shared, Answer::Granted)]
    );
    assert!(requests(&a.files().unwrap(), &[]).is_empty());
    // Without a grant, a request opens nothing.
    let seen = tree.of(&[&b], &[]);
    seen.check(&["a/b/bot"], &["a/data/x", "shared/x"]);
    seen.is_refused("a/data", Refusal::NotGranted);
}

#[test]
fn commands_bring_what_they_name_unless_it_is_others() {
    let tree = Tree::new(&[
        ("bots/bot.py", ""),
        ("bots/data", ""),
        ("nets/w.bin", ""),
        ("jars/x.jar", ""),
        ("classes/Bot.class", ""),
        (
            "a/agent.toml",
            "command = [\"java\", \"-cp\", \"../jars/x.jar:../classes\", \"--net=../nets/w.bin\", \"../bots/bot.py\", \"..\", \"../top\", \"/\"]",
        ),
        ("a/java", ""),
        ("top", ""),
        ("other", ""),
        ("b/agent.toml", ECHO),
        ("b/bot", ""),
    ]);
    let a = tree.agent("a");
    let named = ["bots", "nets", "jars", "classes", "top"];
    tree.granting(&[&a], &[], &named).check(
        &["bots/data", "nets/w.bin", "jars/x.jar", "classes/Bot.class", "top"],
        &["other", "b/bot"],
    );
    tree.of(&[&a], &[]).check(&["a/java"], &["bots/data", "nets/w.bin", "jars/x.jar", "top"]);
    let seen = tree.granting(&[&a], &["bots"], &named);
    seen.check(&["nets/w.bin"], &["bots/data", "bots/bot.py"]);
    seen.is_refused("bots", Refusal::Forbidden);
}

#[test]
fn what_holds_too_much_beside_the_forbidden_is_not_given() {
    let tree = Tree::new(&[("bots/a.py", ""), ("bots/b.py", "")]);
    for number in 0..4200 {
        fs::write(tree.at(&format!("bots/{number}")), "").unwrap();
    }
    let (a, b) = (tree.agent("bots/a.py"), tree.agent("bots/b.py"));
    let seen = tree.of(&[&a, &b], &[]);
    seen.check(&["bots/a.py"], &["bots/b.py", "bots/17"]);
    seen.is_refused("bots", Refusal::TooMuch);
    tree.of(&[&a], &[]).check(&["bots/17"], &[]);
}

#[test]
fn built_in_agents_read_the_system_and_their_own_program() {
    let random = Arc::new(AgentSpec::read("@random").unwrap());
    let reach =
        reachable(&random.files().unwrap(), &shared_rules(std::slice::from_ref(&random), &[], &[]))
            .reach(Path::new("/w"));
    assert!(reach.read.iter().any(|path| path.0 == b"/proc/self/exe"));
    assert!(reach.list.is_empty());
    let read: Vec<&Path> =
        reach.read.iter().map(|it| Path::new(OsStr::from_bytes(&it.0))).collect();
    assert!(read.iter().all(|path| !is_wide(path) && !path.starts_with("/tmp")), "{read:?}");
    assert_eq!(reach.work.0, b"/w");
}

#[test]
fn packages_of_adapters_bring_their_folder_and_python() {
    let tree = Tree::new(&[
        ("team/agent/__init__.py", ""),
        ("team/x", ""),
        ("other/agent/__init__.py", ""),
    ]);
    if let Ok(team) = AgentSpec::read_in("comp30024:team/agent", &tree.root) {
        let other = tree.agent("comp30024:other/agent");
        let seen = tree.of(&[&Arc::new(team), &other], &[]);
        seen.check(&["team/agent/__init__.py", "team/x"], &["other/agent/__init__.py"]);
    }
}

#[test]
fn home_folders_are_too_wide() {
    for path in ["/", "/home", "/home/alice", "/root", "/etc", "/tmp", "/var"] {
        assert!(is_wide(Path::new(path)), "{path}");
    }
    for path in ["/home/alice/bots", "/srv/bots", "/data", "/opt/model"] {
        assert!(!is_wide(Path::new(path)), "{path}");
    }
}

#[test]
fn mistakes_in_agent_toml_are_reported() {
    let tree = Tree::new(&[("a/bot", "")]);
    for (read, words) in [
        ("[\"../nothing\"]", "No such file"),
        ("[\"/\"]", "home folder"),
        ("[\"/home\"]", "home folder"),
        ("\"..\"", "expected a list"),
        ("[]\nwrites = []", "unknown field"),
        ("[]\nwrite = []", "expected true or false"),
    ] {
        tree.add("a/agent.toml", &format!("{ECHO}\n[sandbox]\nread = {read}"));
        let Err(failure) = AgentSpec::read_in("a", &tree.root) else { panic!("{read}") };
        // On a machine without such a folder, that is reported instead.
        let text = failure.to_string();
        assert!(text.contains(words) || text.contains("No such"), "{read}: {failure}");
        assert_eq!(failure.kind(), referee_process::FailureKind::Usage);
    }
    tree.add(
        "a/agent.toml",
        &format!("{ECHO}\nbuild = \"make\"\n[sandbox]\nread = [\"../later\"]"),
    );
    assert!(AgentSpec::read_unbuilt("a", &tree.root).is_ok());
    assert!(AgentSpec::read_in("a", &tree.root).is_err());
}

#[test]
fn closed_folders_hide_what_is_below() {
    let tree = Tree::new(&[("a/agent.toml", ECHO), ("a/bot", ""), ("a/in/x", "")]);
    let (root, mode) = (&tree.root, Permissions::from_mode);
    let agent = tree.agent("a");
    let (confined, isolated) =
        (Layers::of_level(Level::Confined), Layers::of_level(Level::Isolated));
    let closed = |layers: Layers| {
        let found = reachable(&agent.files().unwrap(), &SharedRules::default())
            .closed(layers.with(&[Layer::User]));
        found.map(|hidden| (hidden.closed.clone(), hidden.help()))
    };
    fs::set_permissions(root, mode(0o700)).unwrap();
    let (folder, help) = closed(confined).unwrap();
    assert_eq!(&folder, root);
    assert!(help.contains("move it to a folder that others may enter"), "{help}");
    assert_eq!(closed(isolated), None);
    assert_eq!(reachable(&agent.files().unwrap(), &SharedRules::default()).closed(confined), None);
    fs::set_permissions(root, mode(0o711)).unwrap();
    assert_eq!(closed(confined), None);
    // Of a folder that may not be read itself, mounts show what is in it, if that may be read.
    fs::set_permissions(tree.at("a"), mode(0o711)).unwrap();
    assert_eq!(closed(isolated), None);
    fs::set_permissions(tree.at("a/in"), mode(0o700)).unwrap();
    for layers in [confined, isolated] {
        let (folder, help) = closed(layers).unwrap();
        assert_eq!(folder, tree.at("a"));
        assert!(help.contains("chmod -R o+rX"), "{help}");
    }
    let owner = nix::unistd::geteuid().as_raw();
    assert_eq!(Unreachable::of(&tree.at("a"), owner), None);
}

#[test]
fn a_variable_that_an_agent_does_not_have_is_found_in_its_source() {
    let tree = Tree::new(&[
        ("a/agent.toml", "command = [\"./bot\"]\nenv = { SET = \"1\" }\n"),
        ("a/bot", ""),
        (
            "a/Main.java",
            "x = parse(System.getenv(\"DEPTH\"));\ny = parse(System.getenv(\"SET\"));\nz = parse(y);\n",
        ),
        ("a/bot.py", "depth = os.environ.get('HOME')\nrange(int(depth))\n"),
        (
            "a/bot.go",
            "n, err := strconv.Atoi(os.Getenv(\"DEPTH\"))\nif err != nil { panic(err) }\n",
        ),
        ("a/bot.js", "const depth = process.env.DEPTH;\nplay(depth.length);\n"),
    ]);
    let agent = tree.agent("a");
    let shared_rules = shared_rules(std::slice::from_ref(&agent), &[], &[]);
    let java = |line| {
        format!(
            "Exception in thread \"main\" java.lang.NumberFormatException: For input string\n\tat Main.main(Main.java:{line})\n"
        )
    };
    let python = "Traceback (most recent call last):\n  File \"/a/bot.py\", line 2, in <module>\nTypeError: int() not \
                  'NoneType'\n";
    let node = "/a/bot.js:2\n\nTypeError: Cannot read properties of undefined (reading 'length')\n    at Object.<anonymous> \
                (/a/bot.js:2:12)\n";
    for (stderr, expected) in [
        (&*java(1), true),
        (&java(2), false),
        (&java(3), false),
        (&java(9), false),
        (python, false),
        (
            "panic: strconv.Atoi: parsing \"\": invalid syntax\n\nmain.main()\n\t/a/bot.go:2 +0x1d\n",
            true,
        ),
        (node, true),
    ] {
        let found = advice(&agent, &shared_rules, Layers::default(), stderr).unwrap_or_default();
        assert_eq!(found.contains("small environment"), expected, "{stderr}: {found}");
    }
}

#[test]
fn what_was_denied_is_what_is_there_and_out_of_reach() {
    let tree = Tree::new(&[
        ("a/agent.toml", ECHO),
        ("a/bot", ""),
        ("net.bin", ""),
        ("nets/small/net.bin", ""),
        ("b.py", ""),
        ("games/x.jsonl", ""),
    ]);
    fs::set_permissions(&tree.root, Permissions::from_mode(0o755)).unwrap();
    let (a, b) = (tree.agent("a"), tree.agent("b.py"));
    let shared_rules = shared_rules(&[a.clone(), b.clone()], &[tree.at("games")], &[]);
    let root = tree.root.display().to_string();
    let landlock = Layers::of(&[Layer::Landlock]);
    let said = |agent: &AgentSpec, layers: Layers, text: &str| {
        advice(agent, &shared_rules, layers, &tree.rooted(text)).unwrap_or_default()
    };
    let line = format!("with `--allow-read {root}/net.bin`");
    for text in ["open ROOT/net.bin: permission denied", "No such file or directory: '../net.bin'"]
    {
        let advice = said(&a, landlock, text);
        assert!(advice.contains(&line), "{text}: {advice}");
        assert_eq!(said(&a, Layers::default(), text), "");
    }
    // There may be more in the folder, which is named unless it has agents or games in it, too.
    let advice = said(&a, landlock, "Could not find 'ROOT/nets/small/net.bin'");
    assert!(
        advice.contains(&format!("does not let it read {root}/nets/small/net.bin: ")),
        "{advice}"
    );
    assert!(advice.contains(&format!("`--allow-read {root}/nets/small`")), "{advice}");
    // There is no advice on how to read another's files, or what the agent may read already.
    for text in ["ROOT/b.py", "ROOT/games/x.jsonl", "/root", "/"] {
        assert_eq!(said(&a, landlock, &format!("{text}: Permission denied")), "", "{text}");
    }
    // Nor on how to open what is the machine's own.
    for path in ["/etc/shadow", "/proc/1/environ", "/proc/1", "/sys/kernel"] {
        for layers in [landlock, landlock.with(&[Layer::User]), Layers::of(&[Layer::User])] {
            let advice = said(&a, layers, &format!("{path}: Permission denied"));
            assert!(!advice.contains("chmod") && !advice.contains("--allow"), "{path}: {advice}");
        }
    }
    // What it may read, it wanted to write.
    for text in ["ROOT/a/bot", "'state.json'", "ROOT/a/new"] {
        let advice = said(&a, landlock, &format!("{text}: Permission denied"));
        assert!(advice.contains("HOME and TMPDIR"), "{text}: {advice}");
        assert_eq!(said(&a, landlock, &format!("{text}: No such file or directory")), "", "{text}");
    }
    let ruby = "ROOT/a/bot:4:in `open': Permission denied @ rb_sysopen - ROOT/a/bot.log (Errno::EACCES)\n\tfrom ROOT/a/bot:4:in \
                `<main>'\n";
    assert!(said(&a, landlock, ruby).contains("HOME and TMPDIR"));
    // The shell says so of a command, after the name of the script.
    assert_eq!(said(&a, landlock, "ROOT/a/bot: 3: [[: Permission denied"), "");
    let advice = said(&b, landlock, "ROOT/a/bot: Permission denied; /opt: Permission denied");
    assert!(advice.contains("`--allow-read /opt`"), "{advice}");
    fs::set_permissions(tree.at("a"), Permissions::from_mode(0o700)).unwrap();
    let advice = said(&a, landlock.with(&[Layer::User]), "ROOT/a/bot: Permission denied");
    assert!(
        advice.contains(&format!("is in {root}/a, which only its owner may enter")),
        "{advice}"
    );
    // What runs can be reached: it only says that it misses another file.
    let missing = format!(
        "{root}/a/bot: can't open file '{root}/a/missing.py': [Errno 2] No such file or directory"
    );
    assert_eq!(said(&a, landlock.with(&[Layer::User]), &missing), "");
}

#[test]
fn what_an_agent_writes_shows_nothing_of_the_machine() {
    let tree = Tree::new(&[
        ("a/agent.toml", ECHO),
        ("a/bot", ""),
        ("there.key", "depth = getenv(\"DEPTH\")\n"),
        ("closed/there.key", ""),
    ]);
    fs::set_permissions(&tree.root, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(tree.at("closed"), Permissions::from_mode(0o700)).unwrap();
    symlink(tree.at("there.key"), tree.at("a/there.py")).unwrap();
    symlink(tree.at("closed"), tree.at("a/in")).unwrap();
    let agent = tree.agent("a");
    let shared_rules = shared_rules(std::slice::from_ref(&agent), &[], &[]);
    for layers in [&[Layer::Landlock][..], &[Layer::User], &[Layer::Landlock, Layer::User]] {
        let layers = Layers::of(layers);
        let said = |text: &str| {
            let stderr = tree.rooted(text);
            let advice = advice(&agent, &shared_rules, layers, &stderr).unwrap_or_default();
            advice.replace("there", "lacks")
        };
        for text in [
            "cannot open 'ROOT/there.key': Permission denied",
            "cannot open '../there.key': No such file or directory",
            "cannot open 'ROOT/closed/there.key': No such file or directory",
            "cannot open 'in/there.key': Permission denied",
            "cannot open 'there.py': Permission denied",
            "cannot open '/proc/self/cwd': Permission denied",
            "Error: x\n    at f (ROOT/there.key:1)",
            "Error: x\n    at f (there.py:1)",
        ] {
            let found = said(text);
            assert_eq!(found, said(&text.replace("there", "lacks")), "{text}");
            assert!(!found.contains("DEPTH") && !found.contains("environment"), "{text}: {found}");
        }
    }
    // What a shell would run is not part of a command.
    let landlock = Layers::of(&[Layer::Landlock]);
    let stderr = "cannot open '/srv/$(id)': Permission denied";
    let advice = advice(&agent, &shared_rules, landlock, stderr).unwrap_or_default();
    assert!(!advice.contains("$("), "{advice}");
}
