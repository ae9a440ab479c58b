//! Agents of every kind, from a contest's folder to a worker's.

use super::super::pack::pack_with_bounds;
use super::super::{Fetch, KeptAgents, Packed, WorkerAgents, pack};
use super::BOUNDS;
use crate::{Brief, FaultCause, WorkerFault};
use referee_contest::Player;
use referee_play::agent_spec::AgentSpec;
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_runner::{Broken, Builds, Prepared, prepare};
use std::cell::RefCell;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A machine with a contest's folder `cup/home` and a worker's folder.
pub(super) struct Machines {
    pub(super) place: TempDir,
    /// How many bundles were fetched.
    pub(super) fetched: Arc<AtomicUsize>,
    /// The agents of the worker on which a contest has arrived last.
    kept: RefCell<Option<KeptAgents>>,
}

impl Machines {
    /// With these files, relative to the contest's folder. Files that begin with `#!` are
    /// executable.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let machines = Self { place, fetched: Arc::default(), kept: RefCell::default() };
        std::fs::create_dir_all(machines.home()).unwrap();
        std::fs::create_dir_all(machines.worker()).unwrap();
        for (name, text) in files {
            machines.write(name, text);
        }
        machines
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn home(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("cup/home")
    }

    pub(super) fn worker(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("worker")
    }

    /// Where a worker has the files of a player of its first contest.
    fn of_player(&self, player: usize) -> PathBuf {
        self.worker().join((player + 1).to_string())
    }

    pub(super) fn prepared(&self, text: &str) -> Prepared {
        self.write("contest.toml", text);
        prepare(&self.home().join("contest.toml"), Builds::Now(&|_, _| {}), Broken::AsWritten)
            .unwrap()
    }

    /// A contest of this file, and its packed agents.
    pub(super) fn packed(&self, text: &str) -> (Prepared, Packed) {
        let prepared = self.prepared(text);
        let packed = pack(&prepared).unwrap().unwrap();
        (prepared, packed)
    }

    pub(super) fn fetch(&self, packed: &Packed) -> Fetch {
        let (bundles, fetched) = (packed.bundles.clone(), self.fetched.clone());
        Box::new(move |bundle, file| {
            let found = bundles.iter().find(|(it, _)| *it == bundle).cloned();
            fetched.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                let (_, from) = found.ok_or("it is missing")?;
                std::fs::copy(from, &file).map(drop).map_err(|error| error.to_string())
            })
        })
    }

    /// Installs all players of a contest on a new worker, with the contest's folder out of the way.
    pub(super) fn arrive(
        &self,
        prepared: &Prepared,
        packed: &Packed,
        lent: &[PathBuf],
    ) -> Vec<Arrived> {
        let brief = packed.brief(prepared, Duration::ZERO);
        self.arrive_as(brief, self.fetch(packed), lent)
    }

    fn arrive_as(&self, brief: Brief, fetch: Fetch, lent: &[PathBuf]) -> Vec<Arrived> {
        let away = self.place.path().join("away");
        std::fs::rename(self.place.path().join("cup"), &away).unwrap();
        let brief = Arc::new(brief);
        self.kept.take();
        let mut kept = KeptAgents::new(self.worker(), 8);
        let shared = self.worker().join("shared");
        let arrivals = WorkerAgents::new(shared, &mut kept, brief.clone(), fetch, lent.to_vec());
        self.kept.replace(Some(kept));
        let arrived = runtime().block_on(async {
            let mut arrived = Vec::new();
            for player in Player::all(brief.agents.len()) {
                let spec = arrivals.spec(player, &Sandbox::none()).await;
                arrived.push(spec.map(|spec| spec.expect("nobody else installs it")));
            }
            arrived
        });
        std::fs::rename(away, self.place.path().join("cup")).unwrap();
        arrived
    }
}

pub(super) type Arrived = Result<Arc<AgentSpec>, WorkerFault>;

/// Returns the output of an agent that is started like in a match.
pub(super) fn started(arrived: &Arrived) -> String {
    let launch = arrived.as_ref().unwrap().launch.as_ref().unwrap();
    let mut command = std::process::Command::new(&launch.file);
    command.args(&launch.command[1..]).current_dir(&launch.folder);
    let output = loop {
        match command.output() {
            // Another test has just forked, and its child still has the file open for writing.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that all of its files are the worker's, and that it is the contest's agent.
fn checked(machines: &Machines, prepared: &Prepared, arrived: &Arrived, player: usize) {
    let spec = arrived.as_ref().unwrap();
    let info = &prepared.contest.players[player];
    assert_eq!(spec.name, info.name);
    assert_eq!(spec.written, info.run);
    assert_eq!(spec.digest, info.digest);
    let own = machines.of_player(player);
    for path in spec.own.iter().chain(&spec.granted) {
        assert!(path.starts_with(&own), "{path:?}");
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A contest of one agent.
pub(super) const ONE: &str = "game = \"hex\"\nagents = [\"bot\", \"@random\"]";
/// The agent.
pub(super) const BOT: &[(&str, &str)] =
    &[("bot/agent.toml", "command = [\"./run\"]"), ("bot/run", ECHO)];
const ECHO: &str = "#!/bin/sh\ncat \"$(dirname \"$0\")/words\"\n";

#[test]
fn agents_are_installed_unchanged() {
    let machines = Machines::with(&[
        ("bots/folder/agent.toml", "name = \"own\"\ncommand = [\"./run\"]"),
        ("bots/folder/run", ECHO),
        ("bots/folder/words", "in the folder\n"),
        ("bots/folder/.hidden", "too\n"),
        ("bots/shared/agent.toml", "command = [\"sh\", \"bot.sh\", \"--book=../../data/book\"]"),
        ("bots/shared/bot.sh", "cat ../../data/book\n"),
        ("data/book", "opening\n"),
        ("../engine/agent.toml", "command = [\"./run\"]"),
        ("../engine/run", "#!/bin/sh\ncat net\n"),
        ("../engine/net", "weights\n"),
    ]);
    let engine = machines.home().join("../engine").canonicalize().unwrap();
    let text = format!(
        "game = \"hex\"\nagents = [\"@random\", \"bots/folder\", \"bots/shared\", \
         \"far=htp:{}\"]\n[sandbox]\nread = [\"data\"]",
        engine.display()
    );
    let (prepared, packed) = machines.packed(&text);
    let around = packed.bundles[0].1.parent().unwrap().metadata().unwrap();
    assert_eq!(around.permissions().mode() & 0o777, 0o700, "other users read no agent");
    let arrived = machines.arrive(&prepared, &packed, &[]);
    for (player, arrived) in arrived.iter().enumerate().skip(1) {
        checked(&machines, &prepared, arrived, player);
    }
    assert_eq!(arrived[0].as_ref().unwrap().digest, prepared.contest.players[0].digest);
    let says: Vec<String> = arrived[1..].iter().map(started).collect();
    assert_eq!(says, ["in the folder\n", "opening\n", "weights\n"]);
    // Each has its own folder, and no files of others.
    let has = |player: usize, path: &str| {
        let own = machines.of_player(player);
        own.join(&packed.folder).join(path).exists()
    };
    assert!(has(1, "bots/folder/.hidden"));
    for (player, path) in [(1, "bots/shared"), (1, "contest.toml"), (2, "bots/folder"), (3, "bots")]
    {
        assert!(!has(player, path), "{player} {path}");
    }
    // The shared file, once; `@random` has none.
    assert_eq!(machines.fetched.load(Ordering::SeqCst), 4);
}

#[test]
fn course_packages_are_installed() {
    let machines = Machines::with(&[
        ("team/agent/__init__.py", ""),
        ("team/agent/program.py", "class Agent: pass"),
        ("team/weights.txt", "1 2 3"),
        ("teams/bob/agent/__init__.py", "class Agent: pass"),
        ("teams/bob/notes.txt", ""),
        ("teams/eve/agent/__init__.py", "class Agent: pass"),
        ("loose.py", "class Agent: pass"),
        ("../elsewhere/agent/__init__.py", "class Player: pass"),
    ]);
    if referee_play::adapted::python().is_err() {
        assert!(std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_none(), "no python3");
        eprintln!("skipped: no python3");
        return;
    }
    let (prepared, packed) = machines.packed(
        "game = \"freckers\"\nagents = [\"comp30024:team\", \"comp30024:teams.bob.agent:Agent\", \
         \"eve=comp30024:teams/eve/agent\", \"comp30024:loose\", \
         \"comp30024:../elsewhere/agent:Player\"]",
    );
    let arrived = machines.arrive(&prepared, &packed, &[]);
    for (player, arrived) in arrived.iter().enumerate() {
        checked(&machines, &prepared, arrived, player);
    }
    let folder = |player: usize| arrived[player].as_ref().unwrap().launch.clone().unwrap().folder;
    assert!(folder(0).join("weights.txt").is_file());
    assert!(folder(1).join("teams/bob/notes.txt").is_file());
    assert!(!folder(1).join("teams/eve").exists());
}

/// Returns why the only agent can't be packed.
fn not_packed(machines: &Machines, agent: &str) -> Failure {
    let agents = toml::Value::from(vec![agent, "@random"]);
    let prepared = machines.prepared(&format!("game = \"hex\"\nagents = {agents}"));
    let mut unsent = pack_with_bounds(&prepared, BOUNDS).unwrap().unwrap_err();
    assert_eq!(unsent.len(), 1, "{unsent:?}");
    unsent.remove(0).1
}

#[test]
fn a_bare_command_is_refused_with_the_lines_that_make_a_folder_of_it() {
    let machines = Machines::with(&[
        ("bots/slow.py", "#!/usr/bin/env python3\n"),
        ("bots/\"odd\" name", "#!/bin/sh\n"),
        ("pkg/__init__.py", ""),
        ("weights", ""),
    ]);
    let home = machines.home();
    let home = home.display();
    for (agent, put, lines) in [
        ("bots/slow.py", "bots/slow.py", "name = \"slow\"\n    command = [\"./slow.py\"]"),
        (
            "sh bots/slow.py --net=weights --depth 3",
            "bots/slow.py",
            "name = \"slow\"\n    command = [\"sh\", \"slow.py\", \"--net=weights\", \"--depth\", \"3\"]",
        ),
        (
            "a b=htp:bots/slow.py weights",
            "bots/slow.py, weights",
            "name = \"a b\"\n    command = [\"./slow.py\", \"weights\"]\n    protocol = \"htp\"",
        ),
        (
            &format!("sh {home}/bots/slow.py"),
            "bots/slow.py",
            "name = \"slow\"\n    command = [\"sh\", \"slow.py\"]",
        ),
        ("m=sh -m pkg", "the program", "name = \"m\"\n    command = [\"sh\", \"-m\", \"pkg\"]"),
        ("q=bots/\"odd\" name", "bots/\"odd\" name", "command = ['./\"odd\" name']"),
    ] {
        let failure = not_packed(&machines, agent);
        assert!(failure.to_string().contains("only folders with an agent.toml"), "{failure}");
        assert_eq!(failure.kind(), referee_process::FailureKind::Usage);
        let help = failure.help_text().unwrap();
        assert!(
            help.contains(&format!("create a folder with {put}, the files that it reads")),
            "{help}"
        );
        assert!(help.ends_with(lines), "{agent}: {help}");
    }
}

#[test]
fn the_suggested_lines_make_an_agent() {
    let machines = Machines::with(&[("bots/slow.sh", "cat words\n"), ("bots/words", "hi\n")]);
    let help = not_packed(&machines, "sh bots/slow.sh").help_text().unwrap().to_owned();
    let (_, lines) = help.split_once(":\n").unwrap();
    machines.write("slow/agent.toml", lines);
    machines.write("slow/slow.sh", "cat words\n");
    machines.write("slow/words", "hi\n");
    let (prepared, packed) = machines.packed("game = \"hex\"\nagents = [\"slow\", \"@random\"]");
    let arrived = machines.arrive(&prepared, &packed, &[]);
    checked(&machines, &prepared, &arrived[0], 0);
    assert_eq!(started(&arrived[0]), "hi\n");
}

#[test]
fn agents_that_can_not_be_sent_are_errors_before_anything_starts() {
    let machines = Machines::with(&[
        ("venv/agent.toml", "command = [\"bin/python\", \"bot.py\"]"),
        ("venv/bot.py", ""),
        ("lib/bot.py", ""),
        ("big/agent.toml", "command = [\"true\"]"),
        ("bot/main.py", ""),
        ("../../nets/net", "weights"),
    ]);
    let home = machines.home();
    std::fs::write(home.join("big/data"), vec![0; 2 << 20]).unwrap();
    std::fs::create_dir(home.join("venv/bin")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", home.join("venv/bin/python")).unwrap();
    let nets = home.join("../../nets").canonicalize().unwrap();
    let (nets, shown) = (nets.display(), home.display());
    for (agent, expected, help) in [
        ("venv", "bin/python is outside of the folder", "`build` in agent.toml"),
        ("big", "more than 1 MiB", "folder of its own"),
    ] {
        let failure = not_packed(&machines, agent);
        assert!(failure.to_string().contains(expected), "{agent}: {failure}");
        let helped = failure.help_text().unwrap_or_default();
        assert!(helped.contains(help), "{agent}: {helped}");
    }
    for (manifest, expected) in [
        ("command = [\"sh\", \"../lib/bot.py\"]".to_owned(), "is outside of the folder"),
        (format!("command = [\"{shown}/venv/bin/python\", \"main.py\"]"), "is a full path"),
        (format!("command = [\"python3\", \"{shown}/bot/main.py\"]"), "is a full path"),
        (format!("command = [\"sh\", \"--net={nets}/net\"]"), "is a full path"),
        (
            "command = [\"sh\"]\n[sandbox]\nread = [\"../../../nets\"]".to_owned(),
            "names ../../../nets, which is not sent",
        ),
    ] {
        machines.write("bot/agent.toml", &manifest);
        let failure = not_packed(&machines, "bot");
        assert!(failure.to_string().contains(expected), "{manifest}: {failure}");
    }
    let manifest = format!("command = [\"sh\", \"{nets}/net\"]\n[sandbox]\nread = [\"{nets}\"]");
    machines.write("bot/agent.toml", &manifest);
    let (prepared, packed) = machines.packed(ONE);
    assert_fault(&machines.arrive(&prepared, &packed, &[])[0], "which this worker does not allow");
    std::fs::remove_dir_all(home.join("../../nets")).unwrap();
    assert_fault(&machines.arrive(&prepared, &packed, &[])[0], "nets");
}

fn assert_fault(arrived: &Arrived, expected: &str) {
    let fault = arrived.as_ref().unwrap_err();
    assert!(
        fault.cause == FaultCause::Agent && fault.text.contains(expected),
        "{expected}: {fault:?}"
    );
}

#[test]
fn interpreters_are_not_sent() {
    let machines = Machines::with(&[
        ("slow/slow.sh", "echo hi\n"),
        ("along/agent.toml", "command = [\"./bot\"]"),
        ("along/bot", "#!/usr/bin/env no-machine-has-this\n"),
        ("made/agent.toml", "command = [\"bin/python\"]"),
        ("made/bin/python", "#!/bin/sh\n"),
        ("made/pyvenv.cfg", "home = /no/machine/has/this\n"),
        ("made/lib/x", ""),
        ("plain/agent.toml", "command = [\"./bot\"]"),
        ("plain/bot", "not to be executed"),
    ]);
    // Outside of the system's folders and the contest's.
    let tools = machines.home().join("../../tools");
    std::fs::create_dir_all(tools.join("bin")).unwrap();
    std::fs::create_dir_all(tools.join("lib")).unwrap();
    let tools = tools.canonicalize().unwrap();
    let program = tools.join("bin/interpreter");
    std::fs::write(&program, "#!/bin/sh\nexec sh \"$@\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shown = program.display();
    machines.write("slow/agent.toml", &format!("command = [\"{shown}\", \"slow.sh\"]"));
    let text = "game = \"hex\"\nagents = [\"slow\", \"along\", \"made\", \"plain\"]";
    let (prepared, packed) = machines.packed(text);
    assert_eq!(packed.folder, "", "nothing outside of the contest's folder");
    let lent = std::slice::from_ref(&tools);
    let arrived = machines.arrive(&prepared, &packed, lent);
    assert_eq!(started(&arrived[0]), "hi\n");
    assert_fault(&arrived[1], "no-machine-has-this");
    assert_fault(&arrived[2], "/no/machine/has/this");
    // It can't be started anywhere: that is the agent's fault.
    arrived[3].as_ref().unwrap();
    assert_fault(&machines.arrive(&prepared, &packed, &[])[0], "which this worker does not allow");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
    let expected = format!("can't be started: {shown}");
    assert_fault(&machines.arrive(&prepared, &packed, lent)[0], &expected);
}

#[test]
fn links_are_not_followed_out_of_the_folder() {
    let machines = Machines::with(&[
        ("bot/agent.toml", "command = [\"./run\"]"),
        ("bot/run", "#!/bin/sh\ncat words\n"),
        ("bot/one", "one\n"),
        ("secret", "secret\n"),
    ]);
    let bot = machines.home().join("bot");
    std::os::unix::fs::symlink("one", bot.join("words")).unwrap();
    std::os::unix::fs::symlink("../secret", bot.join("stolen")).unwrap();
    std::os::unix::fs::symlink("..", bot.join("above")).unwrap();
    let (prepared, packed) = machines.packed(ONE);
    assert_eq!(packed.notes, ["bot: 2 links left out (links are not sent)"]);
    let arrived = machines.arrive(&prepared, &packed, &[]);
    checked(&machines, &prepared, &arrived[0], 0);
    assert_eq!(started(&arrived[0]), "one\n");
    let there = arrived[0].as_ref().unwrap().own[0].read_dir().unwrap().count();
    assert_eq!(there, 4, "agent.toml, run, one, words");
}

/// Installs an agent that a hostile coordinator or author has written like this.
fn refused(run: &str, lent: &[PathBuf]) -> Result<(), WorkerFault> {
    let machines = Machines::with(BOT);
    let (prepared, packed) = machines.packed(ONE);
    std::fs::write(machines.worker().join("neighbour"), "secret").unwrap();
    let mut brief = packed.brief(&prepared, Duration::ZERO);
    run.clone_into(&mut brief.agents[0].run);
    run.clone_into(&mut brief.contest.players[0].run);
    let arrived = machines.arrive_as(brief, machines.fetch(&packed), lent);
    arrived.into_iter().next().unwrap().map(|_| ())
}

#[test]
fn an_agent_can_not_name_the_worker_s_files() {
    let mine = tempfile::tempdir().unwrap();
    let secret = mine.path().canonicalize().unwrap().join("id_rsa");
    std::fs::write(&secret, "secret").unwrap();
    std::fs::write(mine.path().join("agent.toml"), "command = [\"sh\"]").unwrap();
    let (secret, folder) = (secret.display(), mine.path().display());
    for run in [
        format!("sh {secret}"),
        format!("sh -c true --key={secret}"),
        format!("sh -c true a:{secret}"),
        format!("{secret}"),
        format!("{folder}"),
        "sh ../neighbour".to_owned(),
        "bot/run".to_owned(),
        "@human".to_owned(),
    ] {
        let fault = refused(&run, &[]).unwrap_err();
        assert_eq!(fault.cause, FaultCause::Agent, "{run}: {fault:?}");
    }
}

#[test]
fn packed_agents_are_those_of_the_contest() {
    let machines = Machines::with(BOT);
    let prepared = machines.prepared(ONE);
    // A file added later does not change the agent.
    machines.write("bot/log", "");
    pack(&prepared).unwrap().unwrap();
    machines.write("bot/run", "#!/bin/sh\necho changed since\n");
    let unsent = pack(&prepared).unwrap().unwrap_err();
    assert_eq!(unsent.len(), 1, "{unsent:?}");
    assert_eq!(
        (&*unsent[0].0, &*unsent[0].1.to_string()),
        ("bot", "it changed while it was packed")
    );
}

#[test]
fn a_failed_fetch_is_retried() {
    let machines = Machines::with(BOT);
    let (prepared, packed) = machines.packed(ONE);
    let brief = Arc::new(packed.brief(&prepared, Duration::ZERO));
    let file = packed.bundles[0].1.clone();
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let fetch: Fetch = Box::new(move |_, to| {
        let (from, number) = (file.clone(), counted.fetch_add(1, Ordering::SeqCst));
        Box::pin(async move {
            match number {
                0 => return Err("no network".to_owned()),
                1 => std::fs::write(&to, "other bytes"),
                _ => std::fs::copy(from, &to).map(drop),
            }
            .map_err(|error| error.to_string())
        })
    });
    let mut kept = KeptAgents::new(machines.worker(), 8);
    let shared = machines.worker().join("shared");
    let arrivals = WorkerAgents::new(shared, &mut kept, brief, fetch, Vec::new());
    let runtime = runtime();
    for expected in ["no network", "bytes, not"] {
        let fault = runtime.block_on(arrivals.spec(Player(0), &Sandbox::none())).unwrap_err();
        assert!(fault.cause == FaultCause::Bundle && fault.text.contains(expected), "{fault:?}");
    }
    let first = runtime.block_on(arrivals.spec(Player(0), &Sandbox::none())).unwrap().unwrap();
    let second = runtime.block_on(arrivals.spec(Player(0), &Sandbox::none())).unwrap().unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(tries.load(Ordering::SeqCst), 3);
    assert_eq!(
        runtime.block_on(arrivals.spec(Player(9), &Sandbox::none())).unwrap_err().cause,
        FaultCause::Bundle
    );
}

#[test]
fn the_contest_folder_of_a_brief_is_within_a_bundle() {
    let machines = Machines::with(BOT);
    let (prepared, packed) = machines.packed(ONE);
    for folder in ["../x", "/tmp", "a/../../b"] {
        let mut brief = packed.brief(&prepared, Duration::ZERO);
        folder.clone_into(&mut brief.folder);
        let arrived = machines.arrive_as(brief, machines.fetch(&packed), &[]);
        assert_eq!(arrived[0].as_ref().unwrap_err().cause, FaultCause::Bundle, "{folder}");
    }
    assert!(!Path::new(&machines.worker().join("x")).exists());
}
