//! An agent that answers one request at a time, for an outside controller that keeps the game. It is
//! started when it is first needed, gets what has been played since, and is restarted when the
//! controller takes something back.

use super::agent_spec::AgentSpec;
use super::connection::{AgentConnection, NO_LIMIT};
use super::echo::echo;
use referee_games::{AnyGame, GameKind, MoveRequest, Turn};
use referee_match::{TurnLimits, hello, parse_line, request};
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Sandbox;
use referee_protocol::{FromAgent, Header, Limits, Played, Seat, ToAgent, Want};
use serde_json::Value;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long to wait for an exit status.
const STATUS_WAIT: Duration = Duration::from_millis(200);

/// The agent, running or not.
#[derive(Debug)]
pub struct ServedAgent {
    launcher: Launcher,
    sandbox: Sandbox,
    spec: AgentSpec,
    kind: GameKind,
    /// The header of the match; its setup is that of the last request.
    header: Header,
    running: Option<Running>,
}

/// A process, and what has been sent to it.
#[derive(Debug)]
struct Running {
    agent: AgentConnection,
    /// Its private folder, removed with it.
    _work: TempDir,
    seat: Seat,
    game: Box<dyn AnyGame>,
    want: Vec<Want>,
    /// The turns that have been sent to it.
    sent: Vec<Played>,
    /// Its last answer. If another action was played instead, the agent must be restarted.
    answer: Option<Value>,
    /// How it exited, or which stream it closed.
    ended: Option<String>,
    /// Whether `ended` contains its exit status.
    exited: bool,
}

impl ServedAgent {
    /// Creates an agent for the game, clock and limits of `header`.
    pub fn new(
        launcher: Launcher,
        sandbox: Sandbox,
        spec: AgentSpec,
        kind: GameKind,
        header: Header,
    ) -> Self {
        Self { launcher, sandbox, spec, kind, header, running: None }
    }

    /// Returns the agent's answer to a request: an action, or `None` if it resigns. After an error its
    /// process is gone, and the next request starts another.
    pub async fn answer(&mut self, wanted: &MoveRequest) -> Result<Option<Value>, String> {
        let answered = self.try_answer(wanted).await;
        if answered.is_err() {
            self.stop();
        }
        answered
    }

    /// Kills its process and all that it started.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Passes on the agent's stderr while nothing is asked of it.
    pub async fn idle(&mut self) {
        match &mut self.running {
            Some(running) if running.ended.is_none() => {
                // A message now was not asked for.
                running.next_message(Instant::now() + NO_LIMIT).await;
            }
            _ => std::future::pending().await,
        }
    }

    async fn try_answer(&mut self, wanted: &MoveRequest) -> Result<Option<Value>, String> {
        let mut game = self.kind.start(&wanted.setup).map_err(|error| error.to_string())?;
        let turns = wanted.actions.iter().map(|action| play(game.as_mut(), action));
        let turns = turns.collect::<Result<Vec<_>, _>>()?;
        let Turn::Of(seat) = game.turn() else { return Err("the game is over".to_owned()) };
        let can_continue = self.running.as_ref().is_some_and(|running| {
            running.seat == seat
                && running.ended.is_none()
                && turns.starts_with(&running.sent)
                && running.answer.as_ref().is_none_or(|answer| {
                    turns
                        .get(running.sent.len())
                        .is_some_and(|played| played.action.value() == *answer)
                })
                && running.game.setup() == game.setup()
        });
        if !can_continue {
            self.stop();
            self.start(wanted, seat).await?;
        }
        let running = self.running.as_mut().expect("it has been started");
        for played in &turns[running.sent.len()..] {
            running.game.play(&played.action.value()).map_err(|refusal| refusal.to_string())?;
            running.agent.send(&ToAgent::Played(played.clone()));
        }
        running.sent = turns;
        let answer = running.ask(&self.header, wanted.left_ms).await?;
        running.answer.clone_from(&answer);
        Ok(answer)
    }

    async fn start(&mut self, wanted: &MoveRequest, seat: Seat) -> Result<(), String> {
        let broken = |error: std::io::Error| format!("the agent can't be started: {error}");
        let game = self.kind.start(&wanted.setup).map_err(|error| error.to_string())?;
        // All its stderr is shown, and none of it kept.
        let limits = Limits { stderr_bytes: u64::MAX, ..self.header.limits.clone() };
        let (launcher, spec) = (&self.launcher, &self.spec);
        let (kind, sandbox) = (self.kind, &self.sandbox);
        let started = AgentConnection::start_alone(launcher, sandbox, spec, kind, &limits);
        let (agent, work) = started.map_err(broken)?;
        self.header.setup = game.setup();
        for (header, colour) in self.header.seats.iter_mut().zip(game.colours()) {
            colour.clone_into(&mut header.colour);
        }
        let mut running = Running {
            agent,
            _work: work,
            seat,
            game,
            want: Vec::new(),
            sent: Vec::new(),
            answer: None,
            ended: None,
            exited: false,
        };
        running.agent.send(&ToAgent::Hello(Box::new(hello(&self.header, seat))));
        let start_time = Duration::from_millis(self.header.clock.start_ms);
        let FromAgent::Ready(ready) = running.next(Instant::now(), Some(start_time)).await? else {
            return Err("the agent sent something else before `ready`".to_owned());
        };
        running.want = ready.want;
        self.running = Some(running);
        Ok(())
    }
}

impl Running {
    async fn ask(&mut self, header: &Header, left: Option<u64>) -> Result<Option<Value>, String> {
        let clock = &header.clock;
        let left_ms = left.or(clock.bank_ms);
        let turn = request(self.game.as_ref(), &self.want, left_ms);
        let number = turn.turn;
        self.agent.send(&ToAgent::Turn(turn));
        let (limits, began) = (TurnLimits::of(clock, left_ms), Instant::now());
        let before = self.agent.used(began);
        loop {
            let message = self.next(began, limits.wall).await?;
            let used = self.agent.used(began).since(before).cpu;
            if let Some(limit) = limits.cpu
                && used > limit
            {
                let ms = limit.as_millis();
                return Err(format!("the agent used more than {ms} ms of CPU time"));
            }
            match message {
                FromAgent::Info(_) => {}
                FromAgent::Resign(it) if it.turn.is_none_or(|turn| turn == number) => {
                    return Ok(None);
                }
                FromAgent::Action(it) if it.turn.is_none_or(|turn| turn == number) => {
                    return Ok(Some(it.action));
                }
                _ => return Err("the agent sent a message that was not asked for".to_owned()),
            }
        }
    }

    /// Returns the next message, within this time after `began`.
    async fn next(&mut self, began: Instant, time: Option<Duration>) -> Result<FromAgent, String> {
        let deadline = began + time.unwrap_or(NO_LIMIT).min(NO_LIMIT);
        loop {
            if self.ended.is_some() {
                return Err(self.how_it_ended().await);
            }
            match self.next_message(deadline).await {
                Some(message) => return message,
                None if Instant::now() < deadline => {}
                None => {
                    let ms = time.unwrap_or_default().as_millis();
                    return Err(format!("the agent gave no answer within {ms} ms"));
                }
            }
        }
    }

    /// Describes how it ended, with the exit status, which may follow the end of its output.
    async fn how_it_ended(&mut self) -> String {
        let deadline = Instant::now() + STATUS_WAIT;
        while !self.exited && Instant::now() < deadline {
            self.next_message(deadline).await;
        }
        format!("the agent {}", self.ended.as_deref().unwrap_or("ended"))
    }

    /// Returns the next message, valid or not; `None` for any other event.
    async fn next_message(&mut self, deadline: Instant) -> Option<Result<FromAgent, String>> {
        match self.agent.process.next_event(deadline).await? {
            AgentEvent::Line(line) => return self.line(&line),
            AgentEvent::Stderr => {
                let piece = self.agent.process.stderr.take();
                let text = piece.map(|piece| piece.text).unwrap_or_default();
                echo(&text);
            }
            AgentEvent::Failed(errno) => {
                let reason = self.agent.refused_program(errno).unwrap_or(errno.desc());
                self.ended = Some(format!("can't be started: {reason}"));
            }
            AgentEvent::Broken(trouble) => self.ended = Some(trouble.to_string()),
            AgentEvent::Limit(limit) => self.ended = Some(format!("used too much: {limit}")),
            AgentEvent::Exited(status) => {
                self.ended = Some(format!("ended with {status}"));
                self.exited = true;
            }
            AgentEvent::StdoutClosed => self.ends("closed its stdout"),
            AgentEvent::StdinClosed => self.ends("closed its stdin"),
            AgentEvent::Gone => self.ends("ended"),
            AgentEvent::Started | AgentEvent::Continued(_) => {}
        }
        None
    }

    fn ends(&mut self, how: &str) {
        self.ended.get_or_insert_with(|| how.to_owned());
    }

    fn line(&mut self, line: &Line) -> Option<Result<FromAgent, String>> {
        if line.cut {
            return Some(Err("the agent sent a line that is too long".to_owned()));
        }
        let meaning = self.agent.interpret(line);
        self.agent.process.flush();
        let blame = if meaning.is_some() { "" } else { "the agent sent an invalid message: " };
        let message = parse_line(&line.bytes, meaning)?;
        Some(message.map_err(|garbled| format!("{blame}{garbled}")))
    }
}

/// Plays an action.
fn play(game: &mut dyn AnyGame, action: &Value) -> Result<Played, String> {
    let turn = game.turn_number();
    let Turn::Of(seat) = game.turn() else { return Err("the game is over".to_owned()) };
    let action = game.play(action).map_err(|refusal| refusal.to_string())?;
    Ok(Played { turn, seat, action: action.into(), used_ms: 0 })
}
