//! Turns an unpacked bundle into an agent that can be started. An agent may consist of, and read,
//! what came with it, the system's files, and what the worker allows with `--lend`: nothing else
//! of the machine.

use super::archive::Bounds;
use super::portable::is_sent;
use super::unpack::unpack;
use crate::{AgentPackage, Brief, BundleRef, FaultCause, WorkerFault};
use referee_contest::file::BuildSettings;
use referee_contest::{Player, PlayerInfo};
use referee_play::agent_spec::{AgentKind, AgentSpec, Parts, resolve};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::{Answer, is_system, missing, requests};
use referee_protocol::sanitize::sanitize;
use referee_runner::building::Builder;
use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How much longer a build may take on a worker than on the coordinator: so many times as long, and so many
/// milliseconds more.
const SLOWER: u64 = 10;
const SLOWER_MS: u64 = 20_000;

/// The files of a bundle on a worker.
#[derive(Debug)]
pub(super) struct Unpacked {
    /// The canonical folder that contains them.
    root: PathBuf,
    /// Their relative paths, in the order of the bundle.
    files: Vec<PathBuf>,
}

impl Unpacked {
    /// Unpacks a bundle, if there is one, into a new folder.
    pub(super) fn new(
        root: &Path,
        packed: &Path,
        bundle: Option<&BundleRef>,
    ) -> Result<Self, WorkerFault> {
        if root.exists() {
            std::fs::remove_dir_all(root).map_err(|error| disk(root, &error))?;
        }
        create_folder(root)?;
        let root = root.canonicalize().map_err(|error| disk(root, &error))?;
        let Some(bundle) = bundle else { return Ok(Self { root, files: Vec::new() }) };
        let files = unpack(packed, bundle, &root, Bounds::default());
        let files = files.map_err(|fault| match fault.cause {
            FaultCause::Bundle => {
                WorkerFault::new(fault.cause, format!("{}: {}", bundle.sha256, fault.text))
            }
            _ => fault,
        })?;
        Ok(Self { root, files })
    }

    /// Returns the canonical paths that all agents of a contest may read, if this is the shared
    /// bundle, and the contest's folder.
    pub(super) fn read_by_all(
        &self,
        brief: &Brief,
        readable: &[PathBuf],
    ) -> Result<(Vec<PathBuf>, PathBuf), WorkerFault> {
        let base = self.base(brief)?;
        let fault = |text: String| WorkerFault::new(FaultCause::Agent, text);
        let mut paths = Vec::new();
        for path in &brief.contest.sandbox.read {
            let found = base.join(path).canonicalize();
            let found = found.map_err(|error| fault(format!("{path}: {error}")))?;
            self.check_path(&found, readable).map_err(fault)?;
            paths.push(found);
        }
        Ok((paths, base))
    }

    /// Returns the contest's folder.
    fn base(&self, brief: &Brief) -> Result<PathBuf, WorkerFault> {
        let folder = Path::new(&brief.folder);
        if !folder.components().all(|part| matches!(part, Component::Normal(_))) {
            let text = "the contest's folder is not inside the bundle";
            return Err(WorkerFault::new(FaultCause::Bundle, text));
        }
        let base = self.root.join(folder);
        create_folder(&base)?;
        Ok(base)
    }

    /// Checks that an agent may read a canonical path.
    fn check_path(&self, path: &Path, readable: &[PathBuf]) -> Result<(), String> {
        allows(&self.root, path, readable)
    }
}

/// Checks that a program whose bundle is in the folder `root` may read a path: one of its own, of the system, or of
/// those that the worker lends.
pub(super) fn allows(root: &Path, path: &Path, readable: &[PathBuf]) -> Result<(), String> {
    let readable = readable.iter().any(|readable| path.starts_with(readable));
    if path.starts_with(root) || is_system(path) || readable {
        return Ok(());
    }
    let path = sanitize(&path.display().to_string());
    Err(format!(
        "it needs {path}, which this worker does not allow; start the worker with --lend {path}"
    ))
}

/// An agent whose files are unpacked.
#[derive(Debug)]
pub(super) struct Install<'a> {
    player: Player,
    package: &'a AgentPackage,
    info: &'a PlayerInfo,
    brief: &'a Brief,
    unpacked: &'a Unpacked,
    /// The contest's folder.
    base: PathBuf,
    /// Other canonical paths of this machine that agents may read.
    readable: &'a [PathBuf],
    /// Where it is built.
    sandbox: &'a Sandbox,
}

impl<'a> Install<'a> {
    /// Creates the installation of a player.
    pub(super) fn new(
        brief: &'a Brief,
        player: Player,
        unpacked: &'a Unpacked,
        readable: &'a [PathBuf],
        sandbox: &'a Sandbox,
    ) -> Result<Self, WorkerFault> {
        let (package, info) =
            (&brief.agents[player.index()], &brief.contest.players[player.index()]);
        let base = unpacked.base(brief)?;
        Ok(Self { player, package, info, brief, unpacked, base, readable, sandbox })
    }

    /// Links the shared files into the agent's folder, at the same relative paths as on the
    /// coordinator.
    pub(super) fn share(&self, shared: &Unpacked) -> Result<(), WorkerFault> {
        for file in &shared.files {
            let place = self.unpacked.root.join(file);
            create_folder(place.parent().unwrap_or(&place))?;
            match std::fs::hard_link(shared.root.join(file), &place) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(disk(&place, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Builds and loads the agent.
    pub(super) fn spec(&self) -> Result<Arc<AgentSpec>, WorkerFault> {
        let (run, info) = (&self.package.run, self.info);
        // Their help is for the author of the agent, not for the reader of a worker's fault.
        let unread = |failure: Failure| self.fault(FaultCause::Agent, &failure.to_string());
        let mut spec = AgentSpec::read_unbuilt(run, &self.base).map_err(unread)?;
        self.check(&spec)?;
        if spec.build.is_some() {
            self.build(&spec)?;
            spec = AgentSpec::read_in(run, &self.base).map_err(unread)?;
            self.check(&spec)?;
        }
        self.check_programs(&spec)?;
        // Everything in its folder came with it.
        let folder = spec.launch.as_ref().map(|launch| launch.folder.clone());
        spec.own.extend(folder.filter(|folder| folder.starts_with(&self.unpacked.root)));
        spec.granted = self.granted();
        spec.name.clone_from(&info.name);
        spec.written.clone_from(&info.run);
        spec.digest.clone_from(&info.digest);
        if self.brief.contest.policy.strict {
            spec.be_strict();
        }
        Ok(Arc::new(spec))
    }

    /// Returns what it may read if it asks: what the worker allows, and what came with it.
    fn granted(&self) -> Vec<PathBuf> {
        self.readable.iter().chain([&self.unpacked.root]).cloned().collect()
    }

    /// Checks that it is of a kind that is sent, and reads only what it may.
    fn check(&self, spec: &AgentSpec) -> Result<(), WorkerFault> {
        let fault = |text: String| self.fault(FaultCause::Agent, &text);
        let kind = Parts::of(&self.package.run, &self.base).kind;
        let Some(launch) = spec.launch.as_ref().filter(|_| is_sent(kind)) else {
            let text = "neither a folder with an agent.toml nor a built-in agent";
            return Err(fault(text.to_owned()));
        };
        if kind == AgentKind::BuiltIn {
            return Ok(());
        }
        let folder = launch.folder.canonicalize().unwrap_or_else(|_| launch.folder.clone());
        let granted = self.granted();
        let requested = spec.files().map(|files| requests(&files, &granted)).unwrap_or_default();
        let refused = requested.iter().filter(|it| it.answer == Answer::NotGranted);
        let mut paths = spec.own.iter().chain(refused.map(|it| &it.path)).chain([&folder]);
        paths.try_for_each(|path| self.unpacked.check_path(path, self.readable)).map_err(fault)
    }

    /// Checks that this machine has the programs that start it. If a file of its own is not
    /// executable, that is the agent's fault, as on the coordinator.
    fn check_programs(&self, spec: &AgentSpec) -> Result<(), WorkerFault> {
        let is_its_own = |path: &Path| {
            let plain = |file: std::fs::Metadata| file.permissions().mode() & 0o111 == 0;
            path.starts_with(&self.unpacked.root) && path.metadata().is_ok_and(plain)
        };
        let missing = spec.files().map(|files| missing(&files)).unwrap_or_default();
        let missing = missing.into_iter().find(|path| !is_its_own(path));
        missing.map_or(Ok(()), |path| {
            let path = path.display();
            let text =
                format!("can't be started: {path} is missing on this machine or not executable");
            Err(self.fault(FaultCause::Agent, &text))
        })
    }

    /// Runs its build command in its folder.
    fn build(&self, spec: &AgentSpec) -> Result<(), WorkerFault> {
        let (Some(launch), Some(build)) = (&spec.launch, &spec.build) else {
            return Ok(());
        };
        let failed = |text: String| self.fault(FaultCause::Build, &format!("`{build}`: {text}"));
        let command = shlex::split(build).unwrap_or_default();
        let program = command.first().map_or("", String::as_str);
        let file = resolve(program, &launch.folder).map_err(|it| failed(it.to_string()))?;
        let folder = launch.folder.clone();
        let launch = Launch { file, command, folder, ..Launch::default() };
        // Nobody plays on the slots that wait for it: it may not take as long as it likes on workers alone.
        let slow = |ms: u64| ms.saturating_mul(SLOWER).saturating_add(SLOWER_MS);
        let time_ms = self.brief.build_ms.min(self.package.build_ms.map_or(u64::MAX, slow));
        let settings = BuildSettings { time_ms, ..self.brief.build.clone() };
        let builder = Builder::foreign(self.sandbox.clone(), &settings);
        // That says nothing about the agent.
        let machine = |text: String| WorkerFault { player: None, ..failed(text) };
        let builder = builder.map_err(|it| machine(it.to_string()))?;
        let done = builder.build_or_again(&launch);
        done.map_err(|error| machine(error.to_string()))?.map_err(failed)
    }

    fn fault(&self, cause: FaultCause, text: &str) -> WorkerFault {
        let fault = WorkerFault::new(cause, format!("{}: {text}", self.info.name));
        WorkerFault { player: Some(self.player), ..fault }
    }
}

fn disk(path: &Path, error: &io::Error) -> WorkerFault {
    WorkerFault::new(FaultCause::Disk, format!("{}: {error}", path.display()))
}

/// Creates a folder and its parents, which all users can enter whatever the umask.
pub(super) fn create_folder(folder: &Path) -> Result<(), WorkerFault> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        let made = std::fs::create_dir(folder)
            .and_then(|()| std::fs::set_permissions(folder, Permissions::from_mode(0o755)));
        made.map_err(|error| disk(folder, &error))?;
    }
    Ok(())
}
