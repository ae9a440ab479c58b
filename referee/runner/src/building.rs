//! Builds agents: runs each `build` command once, in the agent's folder, several at a time. A build starts
//! like an agent, so that all its processes are killed at its time limit and when the referee ends.

use crate::parallel::{self, Progress};
use referee_process::Failure;
use referee_process::agent::{AgentEvent, AgentProcess, Launch, StartConditions};
use referee_process::launcher::{Bytes, Launcher, LauncherConfig, Reach};
use referee_process::stderr::Stderr;
use referee_protocol::Limits;
use referee_protocol::plain::sanitize;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// How much of the output is kept from its start, and as much from its end, in bytes.
const OUTPUT_BYTES: u64 = 16 * 1024;
/// How many of its last lines an error shows.
const LINES_SHOWN: usize = 12;
/// The longest of these lines, in characters.
const LINE_CHARACTERS_MAX: usize = 200;
/// The most open files of a build.
const FILES: u64 = 4096;
/// Longer environment variables, except PATH, are not passed to builds: all must fit in one request.
const VARIABLE_BYTES_MAX: usize = 4096;

/// Runs the builds, `jobs` at a time; returns the error of each, in their order.
pub(super) fn build_all(
    builds: &[Launch],
    jobs: usize,
    time: Duration,
    progress: Progress<'_>,
) -> Result<Vec<Result<(), String>>, Failure> {
    let machine = |error| Failure::machine(format!("can't start builds: {error}"));
    let launcher = Launcher::start(&LauncherConfig::default()).map_err(machine)?;
    let one = |launch: &Launch| build(&launcher, launch, environment(), time);
    let results = parallel::map(builds, Some(jobs), progress, one);
    results.into_iter().collect::<io::Result<_>>().map_err(machine)
}

/// Runs the build of an agent from another machine, without environment variables that may be secret.
pub fn build_foreign(launch: &Launch, time: Duration) -> Result<(), String> {
    let mut environment = environment();
    environment.retain(|variable| {
        let name = variable.0.split(|&byte| byte == b'=').next().unwrap_or_default();
        !is_secret(&String::from_utf8_lossy(name))
    });
    let launcher = Launcher::start(&LauncherConfig::default());
    let built = launcher.and_then(|launcher| build(&launcher, launch, environment, time));
    built.unwrap_or_else(|error| Err(format!("can't start builds: {error}")))
}

/// Returns whether a variable's name suggests a secret or a path to one.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let begins = ["NATS_", "SSH_", "KUBE", "GPG_"];
    let holds = ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
    begins.iter().any(|begin| name.starts_with(begin)) || holds.iter().any(|it| name.contains(it))
}

/// Runs one build: the outer error is the machine's, the inner one the build's.
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
    let agent = AgentProcess::start(launcher, launch, start_conditions(environment));
    let mut build = Build {
        agent: agent.map_err(|error| error.to_string())?,
        output: Stderr::new(OUTPUT_BYTES),
    };
    build.agent.close();
    let deadline = Instant::now() + time;
    let ended = loop {
        match build.next(deadline).await {
            None => break format!("not finished after {time:?}"),
            Some(AgentEvent::Failed(errno)) => break errno.desc().to_owned(),
            Some(AgentEvent::Broken(trouble)) => break trouble.to_string(),
            Some(AgentEvent::Exited(status)) if status == "exit status 0" => break String::new(),
            Some(AgentEvent::Exited(status)) => break status,
            Some(AgentEvent::Gone) => break "the process was lost".to_owned(),
            Some(_) => {}
        }
    };
    build.output.add(build.agent.unended_line());
    build.agent.kill_and_wait().await.ok();
    if ended.is_empty() { Ok(()) } else { Err(ended + &build.last_lines()) }
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
        let line: String = line.chars().take(LINE_CHARACTERS_MAX).collect();
        format!("\n    {}", sanitize(&line))
    };
    lines[lines.len().saturating_sub(most)..].iter().map(shown).collect()
}

/// Returns the start conditions of a build: the caller's environment (compilers find their caches
/// through it) and no sandbox.
fn start_conditions(environment: Vec<Bytes>) -> StartConditions {
    let limits = Limits {
        line_bytes: OUTPUT_BYTES,
        stderr_bytes: OUTPUT_BYTES,
        memory_mb: u64::MAX,
        processes: u64::MAX,
        files: FILES,
        work_mb: u64::MAX,
        ..Limits::default()
    };
    StartConditions { environment, limits, reach: Reach::default(), core: None }
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
