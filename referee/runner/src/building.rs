//! Builds agents: runs each `build` command once, several at a time. A build starts like an agent, so that
//! all its processes are killed at its time limit and when the referee ends. It runs in the agents'
//! sandbox, in a copy of the agent's folder; what it made is taken over if it succeeds.

use super::build_folder::BuildFolder;
use super::disk::Disk;
use super::entrants::{build_of, describe};
use crate::parallel::{self, Progress};
use referee_contest::file::BuildSettings;
use referee_play::agent_spec::{AgentSpec, resolve};
use referee_process::agent::{AgentEvent, AgentProcess, Launch, StartConditions};
use referee_process::cores;
use referee_process::launcher::{Bytes, Launcher, Reach, Share};
use referee_process::sandbox::Layer;
use referee_process::sandbox::reach::{ProgramFiles, SharedRules, callers, is_wide, reachable};
use referee_process::sandbox::{Sandbox, readable};
use referee_process::stderr::Stderr;
use referee_process::{Failure, cleaning, work_folder};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Level, Limits};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How much of the output is kept from its start, and as much from its end, in bytes.
const OUTPUT_BYTES: u64 = 16 * 1024;
/// How many of its last lines an error shows.
const LINES_SHOWN: usize = 12;
/// The longest of these lines, in characters.
const LINE_CHARACTERS_MAX: usize = 200;
/// The most open files of a build.
const FILES: u64 = 4096;
/// The most processes and threads of a build.
const PROCESSES: u64 = 512;
/// The largest file that a build may write, and its private temporary folder, in MiB.
const FILE_MB: u64 = 2048;
/// How long the rest of a failed build's output is read at most, and how long a pause ends it.
const DRAIN_TIME: Duration = Duration::from_secs(1);
const DRAIN_PAUSE: Duration = Duration::from_millis(50);
/// The time between two looks at the size of its folder and at the disk.
const LOOK: Duration = Duration::from_secs(2);
/// Variables that compilers use, besides those of agents.
const PASSED: &[&str] =
    &["CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "RUSTFLAGS", "RUSTUP_TOOLCHAIN", "GOFLAGS"];
/// What resolves names, for builds with network.
const NAMES: &[&str] = &["/etc/resolv.conf", "/run/systemd/resolve"];
/// Longer environment variables, except PATH, are not passed to builds: all must fit in one request.
const VARIABLE_BYTES_MAX: usize = 4096;

/// Starts builds in a sandbox.
#[derive(Debug)]
pub struct Builder {
    launcher: Launcher,
    sandbox: Sandbox,
    settings: BuildSettings,
    /// What all builds may read besides the system's files; canonical.
    read: Vec<PathBuf>,
    /// Whether the agents come from another machine.
    is_foreign: bool,
}

impl Builder {
    /// Creates one for agents that run in this sandbox. Paths of the settings are relative to `base`.
    pub fn new(sandbox: Sandbox, settings: BuildSettings, base: &Path) -> Result<Self, Failure> {
        let named = settings.read.iter().map(|path| readable(&base.join(path)));
        let mut read: Vec<PathBuf> = named.collect::<Result<_, _>>()?;
        read.extend(toolchains());
        // A build disturbs no match, but ends in its time also where others keep all cores busy.
        let sandbox = sandbox.sharing(Share::Beside(cores::free_of_matches()));
        let mut config = sandbox.launcher.clone();
        if settings.network {
            config.layers = config.layers.without(Layer::NetNs);
            config.network = true;
            read.extend(NAMES.iter().filter_map(|path| Path::new(path).canonicalize().ok()));
        }
        let launcher = Launcher::start(&config).map_err(|error| machine(&error))?;
        Ok(Self { launcher, sandbox, settings, read, is_foreign: false })
    }

    /// The same for agents from another machine, which get no environment variables that may be secret.
    /// Nothing of this machine is named by them.
    pub fn foreign(sandbox: Sandbox, settings: &BuildSettings) -> Result<Self, Failure> {
        let settings = BuildSettings { read: Vec::new(), ..settings.clone() };
        Ok(Self { is_foreign: true, ..Self::new(sandbox, settings, Path::new("/"))? })
    }

    /// Runs the builds, `jobs` at a time; returns how long each took, or its error, in their order.
    fn build_all(
        &self,
        builds: &[Launch],
        jobs: usize,
        progress: Progress<'_>,
    ) -> Result<Vec<Result<Duration, String>>, Failure> {
        let build = |launch: &Launch| {
            let began = Instant::now();
            self.build(launch).map(|built| built.map(|()| began.elapsed()))
        };
        let results = parallel::map(builds, Some(jobs), progress, build).into_iter().zip(builds);
        let results = results.map(|(result, launch)| match result {
            Ok(Err(why)) if lacked_room(&why) && builds.len() > 1 => build(launch),
            result => result,
        });
        results.collect::<io::Result<_>>().map_err(|error| machine(&error))
    }

    /// The same as [`Builder::build`], again if another build may be why it failed.
    pub fn build_or_again(&self, launch: &Launch) -> io::Result<Result<(), String>> {
        match self.build(launch) {
            Ok(Err(why)) if lacked_room(&why) => self.build(launch),
            built => built,
        }
    }

    /// Runs one build: the outer error is the machine's, the inner one the build's.
    pub fn build(&self, launch: &Launch) -> io::Result<Result<(), String>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        if self.sandbox.level == Level::None {
            let conditions = unconfined(self.environment());
            return Ok(runtime.block_on(self.run(launch, conditions, None)));
        }
        let scratch = work_folder::create()?;
        let built = self.build_in(launch, scratch.path(), &runtime);
        // A build may close its folders, or nest them deep.
        cleaning::remove(scratch);
        built
    }

    /// Runs a build in a copy of its folder below `scratch`.
    fn build_in(
        &self,
        launch: &Launch,
        scratch: &Path,
        runtime: &Runtime,
    ) -> io::Result<Result<(), String>> {
        let home = scratch.join("home");
        std::fs::create_dir(&home)?;
        let folder = launch.folder.canonicalize()?;
        let name = folder.file_name().unwrap_or(OsStr::new("agent"));
        // Other users may pass through, but neither list the folder nor guess the name.
        let passed = Permissions::from_mode(0o711);
        let outer =
            tempfile::Builder::new().rand_bytes(32).permissions(passed).tempdir_in(scratch)?;
        // All is removed with the folder around it.
        let copy = outer.keep().join(name);
        let copied = match BuildFolder::new(&folder, copy) {
            Ok(copied) => copied,
            Err(error) => return Ok(Err(format!("it can't be copied: {error}"))),
        };
        let launch = moved(launch, &folder, &copied.copy);
        let reach = match self.reach(&launch, &home, &copied.copy) {
            Ok(reach) => reach,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let conditions = self.conditions(&home, reach);
        let launch = self.sandbox.wrapped(&launch, &home)?;
        let built = runtime.block_on(self.run(&launch, conditions, Some(&copied)));
        let made = |error: io::Error| format!("of what it made, {error}");
        let taken = built.and_then(|()| copied.take_over().map_err(made));
        Ok(taken)
    }

    /// Returns what a build may read and change.
    fn reach(&self, launch: &Launch, home: &Path, copy: &Path) -> io::Result<Reach> {
        let own = [copy.to_owned()];
        let files = ProgramFiles {
            launch,
            own: &own,
            reads_own: false,
            read: &[],
            granted: &[],
            has_manifest: true,
            is_built_in: false,
            interpreter: None,
        };
        let found =
            reachable(&files, &SharedRules::new(&[], &self.sandbox.forbidden, &[], &self.read));
        found.check(&launch.command[0], self.launcher.layers())?;
        let (write, network) = (Some(Bytes::of(copy)), self.settings.network);
        Ok(Reach { write, network, ..found.reach(home) })
    }

    fn conditions(&self, home: &Path, reach: Reach) -> StartConditions {
        let limits = Limits { memory_mb: self.settings.memory_mb, ..limits() };
        let mut conditions = work_folder::start_conditions(home, &limits, reach, None);
        conditions.environment.extend(tools(home));
        let passed = PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        conditions.environment.extend(passed.map(|(name, value)| Bytes::variable(name, value)));
        conditions
    }

    fn environment(&self) -> Vec<Bytes> {
        let mut environment = environment();
        environment.retain(|variable| {
            let name = variable.0.split(|&byte| byte == b'=').next().unwrap_or_default();
            !self.is_foreign || !is_secret(&String::from_utf8_lossy(name))
        });
        environment
    }

    async fn run(
        &self,
        launch: &Launch,
        conditions: StartConditions,
        folder: Option<&BuildFolder>,
    ) -> Result<(), String> {
        let limits = conditions.limits.clone();
        let agent = AgentProcess::start(&self.launcher, launch, conditions);
        let mut build = Build {
            agent: agent.map_err(|error| error.to_string())?,
            output: Stderr::new(OUTPUT_BYTES),
        };
        build.agent.close();
        let time = self.settings.time();
        let deadline = Instant::now() + time;
        let disk = || folder.and_then(|folder| Disk::of(&folder.copy).ok());
        // Not all that takes room is in its folder.
        let free_min = disk().map_or(0, |disk| disk.free - disk.room());
        let too_much = || {
            let is_full = || disk().is_some_and(|disk| disk.free < free_min);
            let excess = folder.and_then(BuildFolder::excess);
            excess.or_else(|| is_full().then(|| NO_ROOM.to_owned()))
        };
        let mut look = Instant::now() + LOOK;
        let ended = loop {
            let event = build.next(deadline.min(look)).await;
            let is_over = matches!(event, Some(AgentEvent::Exited(_)));
            // Also if it writes all the time.
            let now = Instant::now();
            if now >= look || is_over {
                look = now + LOOK;
                if let Some(why) = too_much() {
                    break why;
                }
            }
            if now >= deadline && !is_over {
                break format!("not finished after {time:?}");
            }
            match event {
                Some(AgentEvent::Failed(errno)) => break errno.desc().to_owned(),
                Some(AgentEvent::Broken(trouble)) => break trouble.to_string(),
                Some(AgentEvent::Limit(limit)) => break limit.describe(&limits),
                Some(AgentEvent::OutOfMemory(_)) => {
                    break "the machine had no memory left, and the system killed it".to_owned();
                }
                Some(AgentEvent::Exited(status)) if status == "exit status 0" => {
                    break String::new();
                }
                Some(AgentEvent::Exited(status)) => break status,
                Some(AgentEvent::Gone) => break "the process was lost".to_owned(),
                Some(_) | None => {}
            }
        };
        if !ended.is_empty() {
            build.drain().await;
        }
        build.output.add(build.agent.unended_line());
        // Nothing is taken over while one of its processes could change it.
        let killed = build.agent.kill_and_wait().await;
        match (ended.is_empty(), killed) {
            (true, Ok(())) => Ok(()),
            (true, Err(error)) => Err(format!("its processes can't be ended: {error}")),
            (false, _) => Err(ended + &build.last_lines()),
        }
    }
}

/// Why a build ends that takes the last room of the disk, or runs beside one that does.
const NO_ROOM: &str = "it left too little room on the disk";

/// Whether a build failed because the disk had no room, which another build beside it may have taken.
fn lacked_room(why: &str) -> bool {
    why.starts_with(NO_ROOM)
}

/// Runs the `build` commands of agents, once per folder, and returns how long each took, if there is one, or why the agent
/// can't be built.
/// `builder` is called only if there is anything to build.
pub fn build_agents(
    agents: &[&AgentSpec],
    builder: impl FnOnce() -> Result<Builder, Failure>,
    jobs: usize,
    progress: Progress<'_>,
) -> Result<Vec<Result<Option<Duration>, String>>, Failure> {
    let mut results = vec![Ok(None); agents.len()];
    let mut builds: Vec<Launch> = Vec::new();
    for (agent, result) in agents.iter().zip(&mut results) {
        let Some((folder, words)) = build_of(agent) else { continue };
        if builds.iter().any(|build| build.folder == folder) {
            continue;
        }
        let command = shlex::split(words).unwrap_or_default();
        let program = command.first().map_or("", String::as_str);
        match resolve(program, &folder) {
            Ok(file) => builds.push(Launch { file, command, folder, ..Launch::default() }),
            Err(failure) => *result = Err(format!("it can't be built: {}", describe(&failure))),
        }
    }
    if builds.is_empty() {
        return Ok(results);
    }
    let built = builder()?.build_all(&builds, jobs, progress)?;
    for (agent, result) in agents.iter().zip(&mut results) {
        let Some((folder, words)) = build_of(agent) else { continue };
        let own = builds.iter().zip(&built).find(|(build, _)| build.folder == folder);
        match own {
            Some((_, Ok(took))) => *result = Ok(Some(*took)),
            Some((_, Err(reason))) => {
                *result = Err(format!("`{}` failed: {reason}", sanitize(words)));
            }
            None => {}
        }
    }
    Ok(results)
}

fn machine(error: &io::Error) -> Failure {
    Failure::machine(format!("can't start builds: {error}"))
}

/// Returns a launch in a copy of its folder.
fn moved(launch: &Launch, folder: &Path, copy: &Path) -> Launch {
    let file = launch.file.strip_prefix(folder).or(launch.file.strip_prefix(&launch.folder));
    let file = file.map_or_else(|_| launch.file.clone(), |inside| copy.join(inside));
    Launch { file, folder: copy.to_owned(), ..launch.clone() }
}

/// Returns what compilers that are installed for the caller alone consist of. Never a folder with
/// credentials.
fn toolchains() -> Vec<PathBuf> {
    let (cargo, rustup) = (of_home("CARGO_HOME", ".cargo"), of_home("RUSTUP_HOME", ".rustup"));
    let cargo = cargo.into_iter().flat_map(|it| ["bin", "registry", "git"].map(|at| it.join(at)));
    let go = of_home("GOMODCACHE", "go/pkg/mod");
    let paths = cargo.chain(rustup).chain(go).filter_map(|path| path.canonicalize().ok());
    paths.chain(callers().iter().cloned()).filter(|path| !is_wide(path)).collect()
}

/// Returns variables by which these compilers find their files, and never ask the network.
fn tools(home: &Path) -> Vec<Bytes> {
    let mut tools = vec![Bytes::of("CARGO_NET_OFFLINE=true"), Bytes::of("GOTOOLCHAIN=local")];
    tools.extend(of_home("RUSTUP_HOME", ".rustup").map(|it| Bytes::variable("RUSTUP_HOME", it)));
    tools.extend(of_home("GOMODCACHE", "go/pkg/mod").map(|it| Bytes::variable("GOMODCACHE", it)));
    // Cargo's own folder has credentials: the build's has the downloaded crates alone.
    let own = home.join(".cargo");
    if let Some(cargo) = of_home("CARGO_HOME", ".cargo")
        && std::fs::create_dir(&own).is_ok()
    {
        for part in ["registry", "git"] {
            symlink(cargo.join(part), own.join(part)).ok();
        }
    }
    tools
}

/// Returns an existing folder that a variable names, or its usual place in the home folder.
fn of_home(variable: &str, usual: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(usual));
    named.or_else(usual).filter(|folder| folder.is_dir())
}

/// Returns whether a variable's name suggests a secret or a path to one.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let begins = ["NATS_", "SSH_", "KUBE", "GPG_"];
    let holds = ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
    begins.iter().any(|begin| name.starts_with(begin)) || holds.iter().any(|it| name.contains(it))
}

/// A running build.
struct Build {
    agent: AgentProcess,
    /// Its stdout; the agent has its stderr.
    output: Stderr,
}

impl Build {
    /// Returns the next event, or `None` at the deadline.
    async fn next(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let event = self.agent.next_event(deadline).await?;
        if let AgentEvent::Line(line) = &event {
            self.output.add(&line.bytes);
            self.output.add(b"\n");
        }
        Some(event)
    }

    /// Reads what it wrote before it ended; for a moment also what its other processes write.
    async fn drain(&mut self) {
        let end = Instant::now() + DRAIN_TIME;
        while Instant::now() < end && self.next(Instant::now() + DRAIN_PAUSE).await.is_some() {}
    }

    /// Returns its last lines, indented: stdout as far as there is room, then stderr.
    fn last_lines(&mut self) -> String {
        let errors = lines(&mut self.agent.stderr, LINES_SHOWN);
        let output = lines(&mut self.output, LINES_SHOWN - errors.len());
        output.into_iter().chain(errors).collect()
    }
}

fn lines(output: &mut Stderr, most: usize) -> Vec<String> {
    let text: String = output.finish().into_iter().map(|piece| piece.text).collect();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = |line: &&str| {
        let line: String = plain(line).chars().take(LINE_CHARACTERS_MAX).collect();
        format!("\n    {}", sanitize(&line))
    };
    lines[lines.len().saturating_sub(most)..].iter().map(shown).collect()
}

/// Returns a line of a compiler without colours, and with spaces for tabs.
fn plain(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(
            part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or(""),
        );
    }
    text.replace('\t', "    ")
}

/// Returns the limits of a build; its memory is set apart.
fn limits() -> Limits {
    Limits {
        line_bytes: OUTPUT_BYTES,
        stderr_bytes: OUTPUT_BYTES,
        processes: PROCESSES,
        files: FILES,
        work_mb: FILE_MB,
        ..Limits::default()
    }
}

/// Returns the start conditions of a build at level `none`: the caller's environment, in which
/// compilers find their caches, and no limits.
fn unconfined(environment: Vec<Bytes>) -> StartConditions {
    let (memory_mb, processes, work_mb) = (u64::MAX, u64::MAX, u64::MAX);
    let limits = Limits { memory_mb, processes, work_mb, ..limits() };
    StartConditions { environment, limits, reach: Reach::default(), core: None, counts_cpu: false }
}

fn environment() -> Vec<Bytes> {
    let fits = |name: &OsStr, value: &OsStr| {
        name == "PATH" || value.as_bytes().len() <= VARIABLE_BYTES_MAX
    };
    let variables = std::env::vars_os().filter(|(name, value)| fits(name, value));
    variables.map(|(name, value)| Bytes::variable(&name.to_string_lossy(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_secret, plain};

    #[test]
    fn lines_of_compilers_have_no_colours_and_tabs() {
        let line = "\x1b[1;31merror:\x1b[0m\x1b[K\tx is \x1b[1mnot\x1b[m there";
        assert_eq!(plain(line), "error:    x is not there");
    }

    #[test]
    fn what_looks_like_a_secret_is_one() {
        for name in ["NATS_URL", "NATS_CREDS", "GITHUB_TOKEN", "aws_secret_access_key", "DB_PASSWD"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "LANG", "JAVA_HOME", "CC"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
