//! Builds agents: runs the `build` command of each once, some at a time, in the agent's folder. A
//! build is started as agents are, so that it is killed whole when it takes too long, and when the
//! referee ends.

use crate::parallel::{self, Progress};
use referee_process::Failure;
use referee_process::agent::{AgentEvent, AgentProcess, Launch, OutputLimits, Surroundings};
use referee_process::launcher::{Bounds, Bytes, Jail, Launcher, Reach};
use referee_process::stderr::Stderr;
use referee_protocol::plain::tame;
use std::future::poll_fn;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// How long a killed build may take to be gone.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// How much of the output is kept at its head, and as much at its tail.
const OUTPUT_BYTES: u64 = 16 * 1024;
/// How many of its last lines are told when it fails.
const LINES_TOLD: usize = 12;
/// The longest of these lines, in characters.
const LINE_CHARACTERS_MAX: usize = 200;
/// Files that a build may have open.
const FILES: u64 = 4096;
/// How much is read at once.
const SCRATCH_BYTES: usize = 64 * 1024;
/// A longer variable doesn't pass to builds, except PATH: all of them have to fit in one request.
const VARIABLE_BYTES_MAX: usize = 4096;

/// Runs the builds, `jobs` at a time; what went wrong with each, if anything, in their order.
pub(super) fn build_all(
    builds: &[Launch],
    jobs: usize,
    time: Duration,
    progress: Progress<'_>,
) -> Result<Vec<Result<(), String>>, Failure> {
    let machine = |error| Failure::machine(format!("builds can't be started: {error}"));
    let launcher = Launcher::start(&Jail::default()).map_err(machine)?;
    let one = |launch: &Launch| build(&launcher, launch, environment(), time);
    let results = parallel::map(builds, Some(jobs), progress, one);
    results.into_iter().collect::<io::Result<_>>().map_err(machine)
}

/// Runs the build of an agent that came from elsewhere; it doesn't get what in the environment
/// looks like a secret.
pub fn build_foreign(launch: &Launch, time: Duration) -> Result<(), String> {
    let mut environment = environment();
    environment.retain(|variable| {
        let name = variable.0.split(|&byte| byte == b'=').next().unwrap_or_default();
        !is_secret(&String::from_utf8_lossy(name))
    });
    let launcher = Launcher::start(&Jail::default());
    let built = launcher.and_then(|launcher| build(&launcher, launch, environment, time));
    built.unwrap_or_else(|error| Err(format!("builds can't be started: {error}")))
}

/// Whether a variable is called like one that holds a secret, or that leads to one.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let begins = ["NATS_", "SSH_", "KUBE", "GPG_"];
    let holds = ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
    begins.iter().any(|begin| name.starts_with(begin)) || holds.iter().any(|it| name.contains(it))
}

/// One build: what went wrong with it, if anything, or why there is none.
fn build(
    launcher: &Launcher,
    launch: &Launch,
    environment: Vec<Bytes>,
    time: Duration,
) -> io::Result<Result<(), String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(run(launcher, launch, environment, time)))
}

async fn run(
    launcher: &Launcher,
    launch: &Launch,
    environment: Vec<Bytes>,
    time: Duration,
) -> Result<(), String> {
    let limits = OutputLimits { line_bytes: OUTPUT_BYTES, stderr_bytes: OUTPUT_BYTES };
    let agent = AgentProcess::start(launcher, launch, surroundings(environment), limits);
    let mut build = Build {
        agent: agent.map_err(|error| error.to_string())?,
        output: Stderr::new(OUTPUT_BYTES),
        scratch: vec![0; SCRATCH_BYTES],
    };
    build.agent.close();
    let deadline = Instant::now() + time;
    let ended = loop {
        match build.next(deadline).await {
            None => break format!("not done after {time:?}"),
            Some(AgentEvent::Failed(errno)) => break errno.desc().to_owned(),
            Some(AgentEvent::Broken(trouble)) => break trouble.to_string(),
            Some(AgentEvent::Exited(status)) if status == "exit status 0" => break String::new(),
            Some(AgentEvent::Exited(status)) => break status,
            Some(AgentEvent::Gone) => break "lost".to_owned(),
            Some(_) => {}
        }
    };
    build.output.add(build.agent.unended_line());
    build.agent.kill();
    let deadline = Instant::now() + KILL_WAIT;
    while !build.agent.is_gone() && build.next(deadline).await.is_some() {}
    if ended.is_empty() { Ok(()) } else { Err(ended + &build.last_lines()) }
}

/// A build that is under way.
struct Build {
    agent: AgentProcess,
    /// What it wrote to stdout; the agent keeps what it wrote to stderr.
    output: Stderr,
    scratch: Vec<u8>,
}

impl Build {
    /// The next thing that it does, unless it does nothing until the deadline.
    async fn next(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let (agent, scratch) = (&mut self.agent, &mut self.scratch);
        let event = poll_fn(|context| agent.poll_event(context, scratch));
        let (_, event) = tokio::time::timeout_at(deadline.into(), event).await.ok()?;
        if let AgentEvent::Line(line) = &event {
            self.output.add(&line.bytes);
            self.output.add(b"\n");
        }
        Some(event)
    }

    /// What it wrote last, each line indented: to stderr, and before that to stdout as far as there
    /// is room for it.
    fn last_lines(&mut self) -> String {
        let errors = lines(&mut self.agent.stderr, LINES_TOLD);
        let output = lines(&mut self.output, LINES_TOLD - errors.len());
        output.into_iter().chain(errors).collect()
    }
}

fn lines(output: &mut Stderr, most: usize) -> Vec<String> {
    let text: String = output.finish().into_iter().map(|piece| piece.text).collect();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = |line: &&str| {
        let line: String = line.chars().take(LINE_CHARACTERS_MAX).collect();
        format!("\n    {}", tame(&line))
    };
    lines[lines.len().saturating_sub(most)..].iter().map(shown).collect()
}

/// Builds get the caller's environment: compilers have their caches in it. Nothing keeps them in.
fn surroundings(environment: Vec<Bytes>) -> Surroundings {
    let bounds =
        Bounds { files: FILES, memory_mb: u64::MAX, processes: u64::MAX, work_mb: u64::MAX };
    Surroundings { environment, bounds, reach: Reach::default(), core: None }
}

fn environment() -> Vec<Bytes> {
    let fits = |name: &std::ffi::OsStr, value: &std::ffi::OsStr| {
        name == "PATH" || value.as_bytes().len() <= VARIABLE_BYTES_MAX
    };
    let variables = std::env::vars_os().filter(|(name, value)| fits(name, value));
    variables
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            Bytes::of(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::is_secret;

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
