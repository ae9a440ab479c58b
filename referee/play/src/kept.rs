//! Agents whose processes wait for their next match. Each core has its own.

use super::agent_spec::AgentSpec;
use super::connection::AgentConnection;
use super::drive::GRACE;
use referee_games::GameKind;
use referee_games::program::Program;
use referee_process::agent::AgentEvent;
use referee_process::launcher::Command;
use referee_process::timers::Alarm;
use referee_process::work_folder::{WorkFolder, WorkFolders};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many processes of agents wait on a core. Beyond that, the one that has waited longest is ended.
pub(crate) const KEPT_MAX: usize = 8;

/// An agent that waits for its next match.
#[derive(Debug)]
pub(super) struct KeptAgent {
    /// Whose process it is.
    pub(super) spec: Arc<AgentSpec>,
    /// The rules that it has started for itself.
    pub(super) program: Option<*const Program>,
    /// The process.
    pub(super) connection: Box<AgentConnection>,
    /// Its private folder.
    pub(super) work: WorkFolder,
    /// How many matches it has played.
    pub(super) games: u64,
    /// When it is stopped; `None` once it is.
    pub(super) stop_at: Option<Instant>,
}

/// The agents that wait on a core, those that have waited longest first.
#[derive(Clone, Debug)]
pub(super) struct KeptAgents {
    waiting: Rc<RefCell<VecDeque<KeptAgent>>>,
    /// Whether a task stops those that wait.
    is_stopping: Rc<Cell<bool>>,
    /// The folders of agents that have ended.
    pub(super) works: WorkFolders,
}

impl KeptAgents {
    pub(super) fn new(works: WorkFolders) -> Self {
        Self { waiting: Rc::default(), is_stopping: Rc::default(), works }
    }

    /// Returns a process of this agent, resumed, for another match of this game. One that has done anything while it
    /// waited, such as writing or exiting, is ended.
    pub(super) async fn take(&self, spec: &Arc<AgentSpec>, kind: GameKind) -> Option<KeptAgent> {
        loop {
            let mut agent = self.remove(spec, kind)?;
            // Without them a new one isn't started either.
            if agent.resume().await && agent.connection.process.has_limits() {
                agent.connection.begin_again();
                return Some(agent);
            }
            self.end(vec![agent], Duration::ZERO).await;
        }
    }

    fn remove(&self, spec: &Arc<AgentSpec>, kind: GameKind) -> Option<KeptAgent> {
        let program = spec.program_inside(kind).map(std::ptr::from_ref);
        let is_it = |agent: &KeptAgent| Arc::ptr_eq(&agent.spec, spec) && agent.program == program;
        let mut waiting = self.waiting.borrow_mut();
        let last = waiting.iter().rposition(is_it)?;
        waiting.remove(last)
    }

    /// Adds an agent, which is stopped as between two turns: when it has waited for a moment, so that
    /// matches that follow each other at once cost nothing.
    pub(super) async fn put(&self, agent: KeptAgent) {
        self.waiting.borrow_mut().push_back(agent);
        if !self.is_stopping.replace(true) {
            tokio::task::spawn_local(self.clone().stop_waiting());
        }
        let excess = self.waiting.borrow().len().saturating_sub(KEPT_MAX);
        let oldest: Vec<KeptAgent> = self.waiting.borrow_mut().drain(..excess).collect();
        self.end(oldest, GRACE).await;
    }

    /// Stops those that wait when it is time, until all are stopped.
    async fn stop_waiting(self) {
        let mut alarm = Alarm::new();
        while let Some(next) = self.stop_due() {
            match &mut alarm {
                Ok(alarm) => {
                    alarm.set(next);
                    poll_fn(|context| alarm.poll_expired(context)).await;
                }
                Err(_) => tokio::time::sleep_until(next.into()).await,
            }
        }
        self.is_stopping.set(false);
    }

    /// Stops those that are due; returns when the next one is.
    fn stop_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut waiting = self.waiting.borrow_mut();
        for agent in waiting.iter_mut().filter(|agent| agent.stop_at.is_some_and(|at| at <= now)) {
            agent.connection.process.command(Command::Stop);
            agent.stop_at = None;
        }
        waiting.iter().filter_map(|agent| agent.stop_at).min()
    }

    /// Ends all of them, as after a match, with so much time to exit.
    pub(super) async fn end_all(&self, grace: Duration) {
        let all = std::mem::take(&mut *self.waiting.borrow_mut());
        self.end(all.into(), grace).await;
    }

    async fn end(&self, mut agents: Vec<KeptAgent>, grace: Duration) {
        for agent in &mut agents {
            agent.connection.process.command(Command::Continue);
            agent.connection.process.close();
        }
        let deadline = Instant::now() + grace;
        for KeptAgent { connection, work, .. } in agents {
            let mut process = connection.process;
            // It may always have another event.
            while process.is_running()
                && Instant::now() < deadline
                && process.next_event(deadline).await.is_some()
            {}
            if let Err(error) = process.kill_and_wait().await {
                tracing::warn!("{error}");
                self.works.remove(work).await;
            } else {
                self.works.put(work).await;
            }
        }
    }
}

impl KeptAgent {
    /// Resumes it. Returns whether it has been silent since its match; false also if that isn't known soon.
    async fn resume(&mut self) -> bool {
        let process = &mut self.connection.process;
        if self.stop_at.is_none() {
            process.command(Command::Continue);
            let deadline = Instant::now() + GRACE;
            loop {
                match process.next_event(deadline).await {
                    Some(AgentEvent::Continued(_)) => break,
                    // What it wrote when it had read `over`.
                    Some(AgentEvent::Stderr) if Instant::now() < deadline => {}
                    _ => return false,
                }
            }
        }
        process.is_silent()
    }
}
