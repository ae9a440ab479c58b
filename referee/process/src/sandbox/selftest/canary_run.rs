//! One canary: started as an agent is, listened to, and killed.

use super::super::canary::{Answer, Attack, CANARY_COMMAND, Orders};
use super::super::reach::system::system;
use super::WORKED;
use super::plan::Run;
use super::targets::Range;
use crate::agent::{AgentEvent, AgentProcess, Launch, OutputLimits, Surroundings, Trouble};
use crate::launcher::{Bounds, Jail, Launcher, Limit, Reach, Step};
use crate::usage::Meters;
use crate::{OWN_PROGRAM, cleaning, work_folder};
use nix::errno::Errno;
use nix::unistd::geteuid;
use referee_protocol::Layer;
use std::fs;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a canary may use: not much, for it takes as much and more.
const BOUNDS: Bounds = Bounds { files: 64, memory_mb: 32, processes: 24, work_mb: 1 };
/// How long one stays over a limit that somebody has to measure, on however busy a machine. It is
/// killed for it before.
const STAY: Duration = Duration::from_secs(3);
/// What the system tells of all processes: to see that it is not this folder that is closed.
const PROCESSES: &str = "/proc";
/// The longest answer, in bytes.
const LINE_BYTES_MAX: u64 = 1024;
/// How much is read at once.
const SCRATCH_BYTES: usize = 4096;
/// How long a canary may take, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a killed one may take to be gone.
const KILL_WAIT: Duration = Duration::from_secs(10);

/// What a canary found, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// It ran.
    pub(super) started: bool,
    /// What the machine could not do.
    pub(super) trouble: Option<Trouble>,
    answers: Vec<Answer>,
    failed: Option<Errno>,
    limit: Option<Limit>,
    exited: Option<String>,
    seen: Option<Seen>,
    timed_out: bool,
}

impl Found {
    /// What became of an attack: whether it was stopped, and how.
    pub(super) fn of(&self, attack: Attack) -> (bool, String) {
        if let Some(limit) = self.limit {
            // What is found later is not what stopped it.
            return (is_for(limit, attack), format!("killed: {limit}"));
        }
        if let Some(told) = self.seen.as_ref().and_then(|seen| seen.of_attack(attack)) {
            return told;
        }
        let answer = self.answers.iter().find(|answer| answer.attack == attack);
        answer.map_or_else(|| (false, self.end_told()), |it| (it.held, it.told.clone()))
    }

    /// Why there is no answer.
    pub(super) fn end_told(&self) -> String {
        match (self.trouble, self.failed, &self.exited) {
            (Some(trouble), ..) => trouble.to_string(),
            (_, Some(errno), _) => format!("the canary can't be started: {}", errno.desc()),
            (.., Some(status)) => format!("the canary ended with {status}"),
            _ if self.timed_out => "the canary doesn't answer".to_owned(),
            _ if self.started => "the canary is gone".to_owned(),
            _ => "the supervisor is gone".to_owned(),
        }
    }

    /// A daemon was seen to run, or not, before and after its canary was killed.
    fn judge_daemon(&mut self, before: bool, after: bool) {
        for answer in self.answers.iter_mut().filter(|it| it.attack == Attack::Daemon) {
            let told = match (before, after) {
                (_, true) => WORKED,
                (true, false) => "killed with all the rest",
                (false, false) => "no daemon is there",
            };
            (answer.held, answer.told) = (!after, told.to_owned());
        }
    }

    /// The layer that could not be put up.
    pub(super) fn layer(&self) -> Option<Layer> {
        match self.trouble?.step {
            Step::Layer(layer) => Some(layer),
            Step::Begin => None,
        }
    }
}

/// What the system says of a canary's process, seen from outside.
#[derive(Debug)]
struct Seen {
    /// The user whose rights it has; `None` where the system doesn't tell.
    user: Option<u32>,
    /// It is in other control groups than the referee.
    own_groups: bool,
}

impl Seen {
    fn of(pid: i32) -> Self {
        let read = |path: String| fs::read_to_string(path).ok();
        let user = read(format!("/proc/{pid}/status")).and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        });
        let (own, its) = (read("/proc/self/cgroup".into()), read(format!("/proc/{pid}/cgroup")));
        Self { user, own_groups: its.is_some() && own != its }
    }

    /// What became of an attack that only shows from outside.
    fn of_attack(&self, attack: Attack) -> Option<(bool, String)> {
        let (held, told) = match attack {
            Attack::SameUser => {
                let other = |user: u32| user != 0 && user != geteuid().as_raw();
                (self.user.is_some_and(other), self.user.map(|it| format!("user {it}")))
            }
            Attack::ShareCgroup => (self.own_groups, Some("another group".to_owned())),
            _ => return None,
        };
        let told = if held { told } else { None };
        Some((held, told.unwrap_or_else(|| WORKED.to_owned())))
    }
}

fn is_for(limit: Limit, attack: Attack) -> bool {
    match limit {
        Limit::Memory(_) => matches!(attack, Attack::PrivateMemory | Attack::SharedMemory),
        Limit::Processes(_) => attack == Attack::ManyTasks,
    }
}

/// Runs one. An error is the machine's.
pub(super) async fn run(range: &Range, jail: &Jail, run: &Run) -> io::Result<Found> {
    let launcher = Launcher::start(jail)?;
    let work = work_folder::create()?;
    // Where nobody measures there is nothing to wait for.
    let stay = if run.control { Duration::ZERO } else { STAY };
    let targets = range.targets(work.path(), BOUNDS, stay)?;
    let daemons_word = targets.daemon.clone();
    let mut line = serde_json::to_vec(&Orders { targets, attacks: run.attacks.clone() })?;
    line.push(b'\n');
    let agent = start(&launcher, range, work.path())?;
    let scratch = vec![0; SCRATCH_BYTES];
    let mut canary = Canary { agent, scratch, left: run.attacks.len(), found: Found::default() };
    canary.agent.put(&line);
    canary.listen().await;
    let attacked = canary.found.answers.iter().any(|it| it.attack == Attack::Daemon && !it.held);
    let daemon = attacked && is_there(&daemons_word);
    canary.end().await?;
    let mut found = canary.found;
    if attacked {
        found.judge_daemon(daemon, is_there(&daemons_word));
    }
    cleaning::remove(work);
    Ok(found)
}

fn start(launcher: &Launcher, range: &Range, work: &Path) -> io::Result<AgentProcess> {
    let launch = Launch {
        file: OWN_PROGRAM.into(),
        command: ["referee", CANARY_COMMAND].map(str::to_owned).to_vec(),
        folder: range.program(),
    };
    let own = [std::env::current_exe()?, range.program(), PROCESSES.into()];
    let read = system().iter().cloned().chain(own).map(Into::into).collect();
    // Where it may only look around it must not read.
    let reach =
        Reach { read, list: vec![range.folder().to_owned().into()], work: work.to_owned().into() };
    let environment = Vec::new();
    let surroundings = Surroundings { environment, bounds: BOUNDS, reach, core: None };
    let limits = OutputLimits { line_bytes: LINE_BYTES_MAX, stderr_bytes: 0 };
    AgentProcess::start(launcher, &launch, surroundings, limits)
}

/// Whether a process runs that has this word in its command line. It was told the word itself.
fn is_there(word: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        fs::read_to_string(process.path().join("cmdline")).is_ok_and(|words| words.contains(word))
    })
}

struct Canary {
    agent: AgentProcess,
    scratch: Vec<u8>,
    /// How many answers are still to come.
    left: usize,
    found: Found,
}

impl Canary {
    /// Until it has told all, or can't any more.
    async fn listen(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        // One that doesn't read its orders doesn't answer either.
        self.agent.flush();
        while self.left > 0 && !self.agent.is_gone() {
            let Some(event) = self.next(deadline).await else {
                self.found.timed_out = true;
                return;
            };
            self.take(event);
        }
    }

    async fn next(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let (agent, scratch) = (&mut self.agent, &mut self.scratch);
        let event = poll_fn(|context| agent.poll_event(context, scratch));
        Some(tokio::time::timeout_at(deadline.into(), event).await.ok()?.1)
    }

    fn take(&mut self, event: AgentEvent) {
        let found = &mut self.found;
        match event {
            AgentEvent::Started => {
                found.started = true;
                found.seen = self.agent.meters().map(Meters::process_id).map(Seen::of);
            }
            AgentEvent::Failed(errno) => found.failed = Some(errno),
            AgentEvent::Broken(trouble) => found.trouble = found.trouble.or(Some(trouble)),
            AgentEvent::Limit(limit) => found.limit = Some(limit),
            AgentEvent::Exited(status) => found.exited = Some(status),
            AgentEvent::Line(line) => {
                if let Ok(answer) = serde_json::from_slice(&line.bytes) {
                    found.answers.push(answer);
                    self.left = self.left.saturating_sub(1);
                }
            }
            AgentEvent::Continued
            | AgentEvent::Gone
            | AgentEvent::StdoutClosed
            | AgentEvent::Stderr
            | AgentEvent::StdinClosed => {}
        }
    }

    /// Kills it, and waits until nothing of it is left.
    async fn end(&mut self) -> io::Result<()> {
        self.agent.kill();
        let deadline = Instant::now() + KILL_WAIT;
        while !self.agent.is_gone() {
            if self.next(deadline).await.is_none() {
                let text = "processes of the self-test could not be killed";
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        Ok(())
    }
}
