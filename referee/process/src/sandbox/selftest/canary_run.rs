//! One canary: started as an agent is, listened to, and killed.

use super::super::canary::{Answer, Attack, CANARY_COMMAND, Orders, PROGRAM};
use super::super::reach::system::system;
use super::WORKED;
use super::plan::Run;
use super::targets::Range;
use crate::agent::{
    AgentEvent, AgentProcess, KILL_WAIT, Launch, OutputLimits, Surroundings, Trouble,
};
use crate::launcher::{Bounds, Bytes, Jail, Launcher, Limit, Reach, Step};
use crate::usage::Meters;
use crate::{OWN_PROGRAM, cleaning, work_folder};
use nix::unistd::geteuid;
use referee_protocol::Layer;
use std::fs;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a canary may use: not much, for it takes as much and more.
pub(super) const BOUNDS: Bounds = Bounds { files: 64, memory_mb: 32, processes: 24, work_mb: 1 };
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

/// What a canary found, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// It ran.
    pub(super) started: bool,
    /// What the machine could not do.
    pub(super) trouble: Option<Trouble>,
    answers: Vec<Answer>,
    /// What was seen from outside.
    seen: Vec<Answer>,
    limit: Option<Limit>,
    /// How it ended, or failed to, in words.
    end: Option<String>,
}

impl Found {
    /// What became of an attack: whether it was stopped, and how.
    pub(super) fn of(&self, attack: Attack) -> (bool, String) {
        if let Some(limit) = self.limit {
            // What is found later is not what stopped it.
            return (is_for(limit, attack), format!("killed: {limit}"));
        }
        let answer = self.seen.iter().chain(&self.answers).find(|it| it.attack == attack);
        answer.map_or_else(|| (false, self.end_told()), |it| (it.held, it.told.clone()))
    }

    /// Why there is no answer.
    pub(super) fn end_told(&self) -> String {
        match (self.trouble, &self.end) {
            (Some(trouble), _) => trouble.to_string(),
            (None, Some(end)) => end.clone(),
            (None, None) if self.started => "the canary is gone".to_owned(),
            (None, None) => "the supervisor is gone".to_owned(),
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

/// The answers that only show from outside: what the system says of a canary's process.
fn seen_from_outside(pid: i32) -> [Answer; 2] {
    let read = |path: String| fs::read_to_string(path).ok();
    let user = read(format!("/proc/{pid}/status")).and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    let other = user.filter(|&user| user != 0 && user != geteuid().as_raw());
    let (own, its) = (read("/proc/self/cgroup".into()), read(format!("/proc/{pid}/cgroup")));
    let apart = its.is_some() && own != its;
    let answer = |attack, stopped: Option<String>| Answer {
        attack,
        held: stopped.is_some(),
        told: stopped.unwrap_or_else(|| WORKED.to_owned()),
    };
    [
        answer(Attack::SameUser, other.map(|user| format!("user {user}"))),
        answer(Attack::ShareCgroup, apart.then(|| "another group".to_owned())),
    ]
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
    let targets = range.targets(work.path(), stay);
    let daemons_word = targets.daemon.clone();
    let mut line = serde_json::to_vec(&Orders { targets, attacks: run.attacks.clone() })?;
    line.push(b'\n');
    let mut agent = start(&launcher, range, work.path())?;
    agent.put(&line);
    let mut found = Found::default();
    found.listen(&mut agent, run.attacks.len()).await;
    let attacked = found.answers.iter().any(|it| it.attack == Attack::Daemon && !it.held);
    let daemon = attacked && is_there(&daemons_word);
    end(&mut agent).await?;
    if attacked {
        found.judge_daemon(daemon, is_there(&daemons_word));
    }
    cleaning::remove(work);
    Ok(found)
}

fn start(launcher: &Launcher, range: &Range, work: &Path) -> io::Result<AgentProcess> {
    let folder = range.folder().join(PROGRAM);
    let own = [std::env::current_exe()?, folder.clone(), PROCESSES.into()];
    let launch = Launch {
        file: OWN_PROGRAM.into(),
        command: ["referee", CANARY_COMMAND].map(str::to_owned).to_vec(),
        folder,
    };
    let read = system().iter().chain(&own).map(Bytes::of).collect();
    // Where it may only look around it must not read.
    let reach = Reach { read, list: vec![Bytes::of(range.folder())], work: Bytes::of(work) };
    let environment = Vec::new();
    let surroundings = Surroundings { environment, bounds: BOUNDS, reach, core: None };
    let limits = OutputLimits { line_bytes: LINE_BYTES_MAX, stderr_bytes: 0 };
    AgentProcess::start(launcher, &launch, surroundings, limits)
}

/// Whether a process runs that has this word in its command line. It was given the word itself.
fn is_there(word: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        fs::read_to_string(process.path().join("cmdline")).is_ok_and(|words| words.contains(word))
    })
}

async fn next(agent: &mut AgentProcess, deadline: Instant) -> Option<AgentEvent> {
    let mut scratch = [0; SCRATCH_BYTES];
    let event = poll_fn(|context| agent.poll_event(context, &mut scratch));
    Some(tokio::time::timeout_at(deadline.into(), event).await.ok()?.1)
}

impl Found {
    /// Takes in what a canary reports, until it has answered so many times, or can't any more.
    async fn listen(&mut self, agent: &mut AgentProcess, answers: usize) {
        let deadline = Instant::now() + PATIENCE;
        // One that doesn't read its orders doesn't answer either.
        agent.flush();
        while self.answers.len() < answers && !agent.is_gone() {
            let Some(event) = next(agent, deadline).await else {
                self.end.get_or_insert("the canary doesn't answer".to_owned());
                return;
            };
            match event {
                AgentEvent::Started => {
                    self.started = true;
                    let pid = agent.meters().map(Meters::process_id);
                    self.seen.extend(pid.into_iter().flat_map(seen_from_outside));
                }
                AgentEvent::Failed(errno) => {
                    self.end = Some(format!("the canary can't be started: {}", errno.desc()));
                }
                AgentEvent::Broken(trouble) => self.trouble = self.trouble.or(Some(trouble)),
                AgentEvent::Limit(limit) => self.limit = Some(limit),
                AgentEvent::Exited(status) => {
                    self.end = Some(format!("the canary ended with {status}"));
                }
                AgentEvent::Line(line) => self.answers.extend(serde_json::from_slice(&line.bytes)),
                AgentEvent::Continued
                | AgentEvent::Gone
                | AgentEvent::StdoutClosed
                | AgentEvent::Stderr
                | AgentEvent::StdinClosed => {}
            }
        }
    }
}

/// Kills it, and waits until nothing of it is left.
async fn end(agent: &mut AgentProcess) -> io::Result<()> {
    agent.kill();
    let deadline = Instant::now() + KILL_WAIT;
    while !agent.is_gone() {
        if next(agent, deadline).await.is_none() {
            let text = "processes of the self-test could not be killed";
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
    }
    Ok(())
}
