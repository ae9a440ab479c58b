//! One attacker: started like an agent, read from, and killed.

use super::super::attacker::{ATTACKER_COMMAND, Attack, AttackRequest, AttackResult, PROGRAM};
use super::super::probes::WORKED;
use super::super::reach::system::system;
use super::plan::Run;
use super::targets::TestTargets;
use crate::agent::{AgentEvent, AgentProcess, Launch, StartConditions, StartFailure};
use crate::files::own_program;
use crate::launcher::{Bytes, Launcher, LauncherConfig, Limit, Reach, Step};
use crate::sandbox::Layer;
use crate::usage::Meters;
use crate::{cleaning, work_folder};
use nix::unistd::geteuid;
use referee_protocol::Limits;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an attacker stays over a limit that must be measured, even on a busy machine. It is
/// killed earlier.
const STAY: Duration = Duration::from_secs(3);
/// Readable for the attacker, so that it is not `/proc` that is closed.
const PROCESSES: &str = "/proc";
/// How long an attacker may take, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the attacker's limits, which are small, since it uses more.
pub(super) fn limits() -> Limits {
    Limits { files: 64, memory_mb: 32, processes: 24, work_mb: 1, ..Limits::default() }
}

/// What an attacker found, and how it ended.
#[derive(Debug, Default)]
pub(super) struct AttackerReport {
    /// It ran.
    pub(super) started: bool,
    /// What the machine failed at.
    pub(super) start_failure: Option<StartFailure>,
    answers: Vec<AttackResult>,
    /// Results observed from outside.
    seen: Vec<AttackResult>,
    limit: Option<Limit>,
    /// How it ended, or why it didn't, as text.
    end: Option<String>,
}

impl AttackerReport {
    /// Whether an attack was stopped, and how.
    pub(super) fn of(&self, attack: Attack) -> (bool, String) {
        if let Some(limit) = self.limit {
            // What was found later is not what stopped it.
            return (is_for(limit, attack), format!("killed: {limit}"));
        }
        let answer = self.seen.iter().chain(&self.answers).find(|it| it.attack == attack);
        answer.map_or_else(|| (false, self.end_text()), |it| (it.held, it.answer.clone()))
    }

    /// Returns why there is no answer.
    pub(super) fn end_text(&self) -> String {
        match (self.start_failure, &self.end) {
            (Some(start_failure), _) => start_failure.to_string(),
            (None, Some(end)) => end.clone(),
            (None, None) if self.started => "the attacker ended".to_owned(),
            (None, None) => "the supervisor ended".to_owned(),
        }
    }

    /// Judges the daemon by whether it ran before and after its attacker was killed.
    fn judge_daemon(&mut self, before: bool, after: bool) {
        for result in self.answers.iter_mut().filter(|it| it.attack == Attack::Daemon) {
            let text = match (before, after) {
                (_, true) => WORKED,
                (true, false) => "killed with its tree",
                (false, false) => "the daemon did not start",
            };
            (result.held, result.answer) = (!after, text.to_owned());
        }
    }

    /// Returns the layer that could not be applied.
    pub(super) fn layer(&self) -> Option<Layer> {
        match self.start_failure?.step {
            Step::Layer(layer) => Some(layer),
            Step::Begin => None,
        }
    }
}

/// Returns results that can only be observed from outside, from the attacker's process.
fn seen_from_outside(pid: i32) -> [AttackResult; 2] {
    let read = |path: String| fs::read_to_string(path).ok();
    let user = read(format!("/proc/{pid}/status")).and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    let other = user.filter(|&user| user != 0 && user != geteuid().as_raw());
    let (own, its) = (read("/proc/self/cgroup".into()), read(format!("/proc/{pid}/cgroup")));
    let apart = its.is_some() && own != its;
    let answer = |attack, stopped: Option<String>| AttackResult {
        attack,
        held: stopped.is_some(),
        answer: stopped.unwrap_or_else(|| WORKED.to_owned()),
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

/// Runs an attacker. An error is the machine's.
pub(super) async fn run(
    targets_ready: &TestTargets,
    config: &LauncherConfig,
    run: &Run,
) -> io::Result<AttackerReport> {
    let launcher = Launcher::start(config)?;
    let work = work_folder::create()?;
    // Without a watchdog there is nothing to wait for.
    let stay = if run.control { Duration::ZERO } else { STAY };
    let targets = targets_ready.targets(work.path(), stay);
    let daemons_word = targets.daemon.clone();
    let mut line = serde_json::to_vec(&AttackRequest { targets, attacks: run.attacks.clone() })?;
    line.push(b'\n');
    let mut agent = start(&launcher, targets_ready, work.path())?;
    agent.put(&line);
    let mut found = AttackerReport::default();
    found.listen(&mut agent, run.attacks.len()).await;
    let attacked = found.answers.iter().any(|it| it.attack == Attack::Daemon && !it.held);
    let daemon = attacked && is_there(&daemons_word);
    agent.kill_and_wait().await?;
    if attacked {
        found.judge_daemon(daemon, is_there(&daemons_word));
    }
    cleaning::remove(work);
    Ok(found)
}

fn start(
    launcher: &Launcher,
    targets_ready: &TestTargets,
    work: &Path,
) -> io::Result<AgentProcess> {
    let folder = targets_ready.folder.path().join(PROGRAM);
    let own = [std::env::current_exe()?, folder.clone(), PROCESSES.into()];
    let launch = Launch {
        file: own_program().into(),
        command: ["referee", ATTACKER_COMMAND].map(str::to_owned).to_vec(),
        folder,
        ..Launch::default()
    };
    let read = system().iter().chain(&own).map(Bytes::of).collect();
    // It may list this folder, but not read the files in it.
    let reach = Reach {
        read,
        list: vec![Bytes::of(targets_ready.folder.path())],
        work: Bytes::of(work),
        ..Reach::default()
    };
    let (environment, limits) = (Vec::new(), limits());
    let conditions = StartConditions { environment, limits, reach, core: None, counts_cpu: false };
    AgentProcess::start(launcher, &launch, conditions)
}

/// Whether a process with this word in its command line runs; true if unknown.
fn is_there(word: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        fs::read_to_string(process.path().join("cmdline")).is_ok_and(|words| words.contains(word))
    })
}

impl AttackerReport {
    /// Collects results until there are `answers` of them, or no more can come.
    async fn listen(&mut self, agent: &mut AgentProcess, answers: usize) {
        let deadline = Instant::now() + PATIENCE;
        // If it doesn't read its request, it doesn't answer either.
        agent.flush();
        while self.answers.len() < answers && !agent.is_gone() {
            let Some(event) = agent.next_event(deadline).await else {
                self.end.get_or_insert("the attacker doesn't answer".to_owned());
                return;
            };
            match event {
                AgentEvent::Started => {
                    self.started = true;
                    let pid = agent.meters().map(Meters::process_id);
                    self.seen.extend(pid.into_iter().flat_map(seen_from_outside));
                }
                AgentEvent::Failed(errno) => {
                    self.end = Some(format!("the attacker can't be started: {}", errno.desc()));
                }
                AgentEvent::Broken(start_failure) => {
                    self.start_failure = self.start_failure.or(Some(start_failure));
                }
                AgentEvent::Limit(limit) => self.limit = Some(limit),
                AgentEvent::Exited(status) => {
                    self.end = Some(format!("the attacker ended with {status}"));
                }
                AgentEvent::Line(line) => self.answers.extend(serde_json::from_slice(&line.bytes)),
                AgentEvent::Continued(_)
                | AgentEvent::OutOfMemory(_)
                | AgentEvent::Gone
                | AgentEvent::StdoutClosed
                | AgentEvent::Stderr
                | AgentEvent::StdinClosed => {}
            }
        }
    }
}
