//! Agents of every kind, from a contest's folder to a worker's.

use super::super::pack::pack_within;
use super::super::{Arrivals, Fetch, Packed, pack};
use super::BOUNDS;
use crate::{Brief, WorkerFault};
use referee_play::contender::Contender;
use referee_process::Failure;
use referee_runner::{Builds, Prepared, prepare};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A machine with a contest's folder `cup/home` on it, and a worker's folder.
pub(super) struct Machines {
    pub(super) place: TempDir,
    /// How many bundles were fetched.
    fetched: Arc<AtomicUsize>,
}

impl Machines {
    /// With these files, relative to the contest's folder. What begins like a script can be
    /// executed.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let machines = Self { place, fetched: Arc::default() };
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

    fn worker(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("worker")
    }

    pub(super) fn prepared(&self, text: &str) -> Prepared {
        self.write("contest.toml", text);
        prepare(&self.home().join("contest.toml"), Builds::Now(&|_, _| {})).unwrap()
    }

    fn brief(prepared: &Prepared, packed: &Packed) -> Brief {
        Brief {
            form: 0,
            referee: String::new(),
            contest: (*prepared.contest).clone(),
            agents: packed.travellers.clone(),
            folder: packed.folder.clone(),
            shared: packed.shared.clone(),
            build_ms: 60_000,
            pin: false,
            lease_ms: 1,
            arch: String::new(),
        }
    }

    fn fetch(&self, packed: &Packed) -> Fetch {
        let (bundles, fetched) = (packed.bundles.clone(), self.fetched.clone());
        Box::new(move |bundle, file| {
            let found = bundles.iter().find(|(it, _)| *it == bundle).cloned();
            fetched.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                let (_, from) = found.ok_or("gone")?;
                std::fs::copy(from, file).map(|_| ()).map_err(|error| error.to_string())
            })
        })
    }

    /// All players of a contest as they arrive. What was at home is gone by then.
    pub(super) fn arrive(
        &self,
        prepared: &Prepared,
        packed: &Packed,
        lent: &[PathBuf],
    ) -> Vec<Arrived> {
        let brief = Self::brief(prepared, packed);
        self.arrive_as(brief, self.fetch(packed), lent)
    }

    fn arrive_as(&self, brief: Brief, fetch: Fetch, lent: &[PathBuf]) -> Vec<Arrived> {
        let away = self.place.path().join("away");
        std::fs::rename(self.place.path().join("cup"), &away).unwrap();
        let brief = Arc::new(brief);
        let arrivals = Arrivals::new(self.worker(), brief.clone(), fetch, lent.to_vec());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let arrived = runtime.block_on(async {
            let mut arrived = Vec::new();
            for player in 0..brief.agents.len() {
                arrived.push(arrivals.contender(player).await);
            }
            arrived
        });
        std::fs::rename(away, self.place.path().join("cup")).unwrap();
        arrived
    }
}

pub(super) type Arrived = Result<Arc<Contender>, WorkerFault>;

/// What an agent writes when it is started as it will be.
pub(super) fn started(contender: &Contender) -> String {
    let launch = contender.launch.as_ref().unwrap();
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

/// Whether nobody but the worker has anything to do with it, and the contest knows it.
fn checked(machines: &Machines, prepared: &Prepared, arrived: &Arrived, player: usize) {
    let contender = arrived.as_ref().unwrap();
    let info = &prepared.contest.players[player];
    assert_eq!(contender.name, info.name);
    assert_eq!(contender.written, info.run);
    assert_eq!(contender.digest, info.digest);
    let own = machines.worker().join(format!("player-{player}"));
    for path in contender.own.iter().chain(&contender.read) {
        assert!(path.starts_with(&own), "{path:?}");
    }
}

const ECHO: &str = "#!/bin/sh\ncat \"$(dirname \"$0\")/words\"\n";

#[test]
fn agents_of_every_kind_arrive_as_they_were() {
    let machines = Machines::with(&[
        ("bots/file", ECHO),
        ("bots/words", "beside\n"),
        ("bots/folder/agent.toml", "name = \"own\"\ncommand = [\"./run\"]"),
        ("bots/folder/run", ECHO),
        ("bots/folder/words", "in the folder\n"),
        ("bots/folder/.hidden", "too\n"),
        ("bots/words.sh", "cat bots/words data/book \"${1#--book=}\"\n"),
        ("data/book", "opening\n"),
        ("../outside/bot.sh", "cat ../outside/more\n"),
        ("../outside/more", "outside\n"),
        ("../engine/agent.toml", "command = [\"./run\"]\n[sandbox]\nread = [\"../nets\"]"),
        ("../engine/run", "#!/bin/sh\ncat ../nets/net\n"),
        ("../nets/net", "weights\n"),
        ("matches/old.jsonl", "not sent"),
    ]);
    let engine = machines.home().join("../engine").canonicalize().unwrap();
    let script = machines.home().join("../outside/bot.sh").canonicalize().unwrap();
    let text = format!(
        "game = \"hex\"\nagents = [\"@random\", \"file=bots/file\", \"bots/folder\", \
         \"words=sh bots/words.sh --book=data/book\", \
         \"out=sh ../outside/bot.sh\", \"far=htp:{}\", \"abs=sh {}\"]\n[sandbox]\n\
         read = [\"data\"]",
        engine.display(),
        script.display()
    );
    let prepared = machines.prepared(&text);
    let packed = pack(&prepared).unwrap();
    let beside = packed.notes.join(" ");
    assert!(
        beside.contains("file is sent without bots/words.sh, which is words's own"),
        "{beside}"
    );
    let arrived = machines.arrive(&prepared, &packed, &[]);
    for (player, arrived) in arrived.iter().enumerate().skip(1) {
        checked(&machines, &prepared, arrived, player);
    }
    assert_eq!(arrived[0].as_ref().unwrap().digest, prepared.contest.players[0].digest);
    let says: Vec<String> =
        arrived[1..].iter().map(|arrived| started(arrived.as_ref().unwrap())).collect();
    assert_eq!(
        says,
        [
            "beside\n",
            "in the folder\n",
            "beside\nopening\nopening\n",
            "outside\n",
            "weights\n",
            "outside\n"
        ]
    );
    let worker = machines.worker();
    // Each has what is its own, and nothing that is another's.
    let has = |player: usize, path: &str| {
        worker.join(format!("player-{player}")).join(&packed.folder).join(path).exists()
    };
    assert!(has(1, "bots/file") && has(2, "bots/folder/.hidden"));
    for (player, path) in [
        (1, "bots/folder"),
        (1, "bots/words.sh"),
        (1, "contest.toml"),
        (2, "bots/file"),
        (3, "bots/file"),
        (4, "bots"),
        (6, "matches"),
    ] {
        assert!(!has(player, path), "{player} {path}");
    }
    // The shared file, once; `@random` and nobody twice.
    assert_eq!(machines.fetched.load(Ordering::SeqCst), 7);
}

#[test]
fn packages_of_the_course_arrive() {
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
    let prepared = machines.prepared(
        "game = \"freckers\"\nagents = [\"comp30024:team\", \"comp30024:teams.bob.agent:Agent\", \
         \"eve=comp30024:teams/eve/agent\", \"comp30024:loose\", \
         \"comp30024:../elsewhere/agent:Player\"]",
    );
    let packed = pack(&prepared).unwrap();
    let arrived = machines.arrive(&prepared, &packed, &[]);
    for (player, arrived) in arrived.iter().enumerate() {
        checked(&machines, &prepared, arrived, player);
    }
    let folder = |player: usize| arrived[player].as_ref().unwrap().launch.clone().unwrap().folder;
    assert!(folder(0).join("weights.txt").is_file());
    assert!(folder(1).join("teams/bob/notes.txt").is_file());
    assert!(!folder(1).join("teams/eve").exists());
}

/// What is said of the only agent when it is packed.
pub(super) fn not_packed(machines: &Machines, agent: &str) -> Failure {
    let agents = toml::Value::from(vec![agent, "@random"]);
    let prepared = machines.prepared(&format!("game = \"hex\"\nagents = {agents}"));
    pack_within(&prepared, BOUNDS).unwrap_err()
}

#[test]
fn what_is_anothers_stays_and_is_told() {
    let machines = Machines::with(&[
        ("solo", ECHO),
        ("weights.txt", "1 2 3"),
        ("mine.toml", "named by its agent's command"),
        ("autumn.toml", "seed = 7"),
        ("cmd/main.sh", ""),
        ("cmd/helper.txt", "anybody's"),
        ("bots/__init__.py", ""),
        ("bots/pkg/__init__.py", ""),
        ("kept/agent.toml", "command = [\"./run\"]"),
        ("kept/run", "#!/bin/sh\n"),
        ("kept/tool.sh", ""),
        ("kept/secret", ""),
    ]);
    let prepared = machines.prepared(
        "game = \"hex\"\nagents = [\"solo\", \"cmd=sh cmd/main.sh weights.txt mine.toml\", \
         \"a=sh -m bots.pkg\", \"b=sh bots/pkg\", \"kept\", \"thief=sh kept/tool.sh\"]",
    );
    let packed = pack(&prepared).unwrap();
    let told = packed.notes.join("\n");
    for line in
        ["solo is sent without", "weights.txt, which is cmd's own", "bots/pkg, which is b's own"]
    {
        assert!(told.contains(line), "{told}");
    }
    machines.arrive(&prepared, &packed, &[]);
    let has = |player: usize, path: &str| {
        let own = machines.worker().join(format!("player-{player}"));
        own.join(&packed.folder).join(path).exists()
    };
    let arrived =
        [(0, "cmd/helper.txt"), (1, "weights.txt"), (1, "mine.toml"), (2, "bots/__init__.py")];
    for (player, path) in arrived {
        assert!(has(player, path), "{player} {path}");
    }
    for (player, path) in [(0, "autumn.toml"), (0, "mine.toml"), (1, "autumn.toml")] {
        assert!(!has(player, path), "{player} {path}");
    }
    assert!(has(3, "bots/pkg/__init__.py") && has(5, "kept/tool.sh"));
    for (player, path) in
        [(0, "weights.txt"), (0, "cmd/main.sh"), (0, "kept"), (0, "contest.toml"), (2, "bots/pkg")]
    {
        assert!(!has(player, path), "{player} {path}");
    }
    assert!(!has(5, "kept/secret") && !has(5, "kept/agent.toml"));
}

#[test]
fn what_can_not_travel_is_told_before_anything_starts() {
    let machines = Machines::with(&[
        ("venv/agent.toml", "command = [\"bin/python\", \"bot.py\"]"),
        ("venv/bot.py", ""),
        ("turns/a/b", ""),
        ("../big/bot", "#!/bin/sh\n"),
    ]);
    std::fs::write(machines.home().join("../big/data"), vec![0; 2 << 20]).unwrap();
    let home = machines.home();
    std::fs::create_dir(home.join("venv/bin")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", home.join("venv/bin/python")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", home.join("shell")).unwrap();
    for (agent, told, help) in [
        ("venv", "venv: bin/python leads out of its folder", "`build` in agent.toml"),
        ("x=./shell -c true", "x: ./shell leads out", "without a path"),
        ("../big/bot", "bot: more than 1 MiB, or 100 files", "folder of its own"),
        ("x=sh turns/../turns/a/b", "x: turns/../turns/a/b goes up", "without `..`"),
    ] {
        let failure = not_packed(&machines, agent);
        assert!(failure.to_string().contains(told), "{agent}: {failure}");
        let helped = failure.help_text().unwrap_or_default();
        assert!(helped.contains(help), "{agent}: {helped}");
    }
}

#[test]
fn links_lead_nowhere_else() {
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
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    let packed = pack(&prepared).unwrap();
    assert_eq!(packed.notes, ["bot: 2 links not sent, only files are"]);
    let arrived = machines.arrive(&prepared, &packed, &[]);
    checked(&machines, &prepared, &arrived[0], 0);
    let contender = arrived[0].as_ref().unwrap();
    assert_eq!(started(contender), "one\n");
    let there = contender.own[0].read_dir().unwrap().count();
    assert_eq!(there, 4, "agent.toml, run, one, words");
}

/// What a worker says of an agent that a hostile coordinator, or its author, wrote so.
fn refused(run: &str, lent: &[PathBuf]) -> Result<(), WorkerFault> {
    let machines = Machines::with(&[("bot", "#!/bin/sh\n")]);
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    let packed = pack(&prepared).unwrap();
    std::fs::write(machines.worker().join("neighbour"), "secret").unwrap();
    let mut brief = Machines::brief(&prepared, &packed);
    run.clone_into(&mut brief.agents[0].run);
    run.clone_into(&mut brief.contest.players[0].run);
    let arrived = machines.arrive_as(brief, machines.fetch(&packed), lent);
    arrived.into_iter().next().unwrap().map(|_| ())
}

#[test]
fn an_agent_gets_nothing_of_the_worker_by_naming_it() {
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
        "@human".to_owned(),
    ] {
        let fault = refused(&run, &[]).unwrap_err();
        assert_eq!(fault.cause, "agent", "{run}: {fault:?}");
    }
    let fault = refused(&format!("sh -c true {secret}"), &[]).unwrap_err();
    assert!(fault.text.contains("which this worker doesn't lend"), "{fault:?}");
    refused(&format!("sh -c true {secret}"), &[mine.path().to_owned()]).unwrap();
}

#[test]
fn what_arrives_is_what_the_contest_has() {
    let machines =
        Machines::with(&[("bot/agent.toml", "command = [\"./run\"]"), ("bot/run", ECHO)]);
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    machines.write("bot/run", "#!/bin/sh\necho changed since\n");
    let packed = pack(&prepared).unwrap();
    let fault = machines.arrive(&prepared, &packed, &[])[0].clone().unwrap_err();
    assert_eq!(fault.cause, "bundle");
    assert!(fault.text.contains("not what the contest has"), "{fault:?}");
}

#[test]
fn what_did_not_come_is_asked_for_again() {
    let machines = Machines::with(&[("bot", ECHO)]);
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    let packed = pack(&prepared).unwrap();
    let brief = Arc::new(Machines::brief(&prepared, &packed));
    let file = packed.bundles[0].1.clone();
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let fetch: Fetch = Box::new(move |_, to| {
        let (from, number) = (file.clone(), counted.fetch_add(1, Ordering::SeqCst));
        Box::pin(async move {
            match number {
                0 => Err("no network".to_owned()),
                1 => std::fs::write(to, "other bytes").map_err(|error| error.to_string()),
                _ => std::fs::copy(from, to).map(|_| ()).map_err(|error| error.to_string()),
            }
        })
    });
    let arrivals = Arrivals::new(machines.worker(), brief, fetch, Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for told in ["no network", "bytes, not"] {
        let fault = runtime.block_on(arrivals.contender(0)).unwrap_err();
        assert!(fault.cause == "bundle" && fault.text.contains(told), "{fault:?}");
    }
    let first = runtime.block_on(arrivals.contender(0)).unwrap();
    let second = runtime.block_on(arrivals.contender(0)).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(tries.load(Ordering::SeqCst), 3);
    assert_eq!(runtime.block_on(arrivals.contender(9)).unwrap_err().cause, "bundle");
}

#[test]
fn the_contest_folder_of_a_brief_is_within_a_bundle() {
    let machines = Machines::with(&[("bot", ECHO)]);
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    let packed = pack(&prepared).unwrap();
    for folder in ["../x", "/tmp", "a/../../b"] {
        let mut brief = Machines::brief(&prepared, &packed);
        folder.clone_into(&mut brief.folder);
        let arrived = machines.arrive_as(brief, machines.fetch(&packed), &[]);
        assert_eq!(arrived[0].as_ref().unwrap_err().cause, "bundle", "{folder}");
    }
    assert!(!Path::new(&machines.worker().join("x")).exists());
}
