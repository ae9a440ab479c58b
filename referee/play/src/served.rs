//! An agent that answers one request at a time, for a controller outside that keeps the game: it is
//! started when it is first needed, told what has been played since, and started anew when the
//! controller has taken something back.

use super::agent_spec::AgentSpec;
use super::connection::AgentConnection;
use referee_games::{AnyGame, GameKind, MoveRequest, Turn};
use referee_match::{hello, parse_line, request};
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Enclosure;
use referee_protocol::{FromAgent, Header, Limits, Played, Seat, ToAgent, Want};
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long an exit status is waited for.
const STATUS_WAIT: Duration = Duration::from_millis(200);

/// The agent, started or not.
#[derive(Debug)]
pub struct ServedAgent {
    launcher: Launcher,
    enclosure: Enclosure,
    spec: AgentSpec,
    kind: GameKind,
    /// What the match would be; its setup is that of the last request.
    header: Header,
    running: Option<Running>,
}

/// A process, and what it has been told.
#[derive(Debug)]
struct Running {
    agent: AgentConnection,
    /// Its private folder, which goes with it.
    _work: TempDir,
    seat: Seat,
    game: Box<dyn AnyGame>,
    want: Vec<Want>,
    told: usize,
    /// Its last answer; unless that is what became of its turn, it doesn't know the game any more.
    answer: Option<Value>,
    /// How it ended, or closed what it has to keep open.
    ended: Option<String>,
    /// Its exit status is known, and said in `ended`.
    exited: bool,
}

impl ServedAgent {
    /// An agent for the game of `header`, which tells clock and limits too.
    pub fn new(
        launcher: Launcher,
        enclosure: Enclosure,
        spec: AgentSpec,
        kind: GameKind,
        header: Header,
    ) -> Self {
        Self { launcher, enclosure, spec, kind, header, running: None }
    }

    /// What the agent does in answer to a request: an action, or `None` if it resigns. In the error
    /// is what went wrong, in words; then its process is gone, and the next request starts another.
    pub async fn answer(&mut self, wanted: &MoveRequest) -> Result<Option<Value>, String> {
        let answered = self.try_answer(wanted).await;
        if answered.is_err() {
            self.stop();
        }
        answered
    }

    /// Ends its process, with all that it has started: the end of its session does.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Waits for what the agent does while nothing is asked of it, so that its complaints are seen.
    pub async fn idle(&mut self) {
        match &mut self.running {
            Some(running) if running.ended.is_none() => {
                // What it says now it wasn't asked for.
                running.hear(far()).await;
            }
            _ => std::future::pending().await,
        }
    }

    async fn try_answer(&mut self, wanted: &MoveRequest) -> Result<Option<Value>, String> {
        let mut game = self.kind.start(&wanted.setup).map_err(|error| error.to_string())?;
        let turns = wanted.actions.iter().map(|action| play(game.as_mut(), action));
        let turns = turns.collect::<Result<Vec<_>, _>>()?;
        let Turn::Of(seat) = game.turn() else { return Err("the game is over".to_owned()) };
        let goes_on = self.running.as_ref().is_some_and(|running| {
            let known = &turns[..running.told.min(turns.len())];
            running.seat == seat
                && running.ended.is_none()
                && running.told <= turns.len()
                && running.answer.as_ref().is_none_or(|answer| {
                    turns.get(running.told).is_some_and(|played| played.action == *answer)
                })
                && game_after(self.kind, &wanted.setup, known) == Some(running.game.position())
                && running.game.setup() == game.setup()
        });
        if !goes_on {
            self.stop();
            self.start(wanted, seat).await?;
        }
        let running = self.running.as_mut().expect("it has been started");
        for played in &turns[running.told..] {
            running.game.play(&played.action).map_err(|refusal| refusal.to_string())?;
            running.agent.send(&ToAgent::Played(played.clone()));
        }
        running.told = turns.len();
        let answer = running.ask(&self.header, wanted.left_ms).await?;
        running.answer.clone_from(&answer);
        Ok(answer)
    }

    async fn start(&mut self, wanted: &MoveRequest, seat: Seat) -> Result<(), String> {
        let broken = |error: std::io::Error| format!("the agent can't be started: {error}");
        let game = self.kind.start(&wanted.setup).map_err(|error| error.to_string())?;
        // All that it complains of is shown, and nothing of it kept.
        let limits = Limits { stderr_bytes: u64::MAX, ..self.header.limits.clone() };
        let (launcher, spec) = (&self.launcher, &self.spec);
        let (kind, enclosure) = (self.kind, &self.enclosure);
        let started = AgentConnection::start_alone(launcher, enclosure, spec, kind, &limits);
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
            told: 0,
            answer: None,
            ended: None,
            exited: false,
        };
        running.agent.send(&ToAgent::Hello(Box::new(hello(&self.header, seat))));
        let start_ms = self.header.clock.start_ms;
        let FromAgent::Ready(ready) = running.next(Some(start_ms)).await? else {
            return Err("the agent said something else before `ready`".to_owned());
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
        let allowed = left_ms.into_iter().chain(clock.move_ms).min();
        let allowed = allowed.map(|ms| ms + clock.margin_ms);
        loop {
            match self.next(allowed).await? {
                FromAgent::Info(_) => {}
                FromAgent::Resign(it) if it.turn.is_none_or(|turn| turn == number) => {
                    return Ok(None);
                }
                FromAgent::Action(it) if it.turn.is_none_or(|turn| turn == number) => {
                    return Ok(Some(it.action));
                }
                _ => return Err("the agent said something that wasn't asked for".to_owned()),
            }
        }
    }

    /// The next message, within this time.
    async fn next(&mut self, ms: Option<u64>) -> Result<FromAgent, String> {
        let deadline = ms.map_or_else(far, |ms| Instant::now() + Duration::from_millis(ms));
        loop {
            if self.ended.is_some() {
                return Err(self.how_it_ended().await);
            }
            match self.hear(deadline).await {
                Some(message) => return message,
                None if Instant::now() < deadline => {}
                None => {
                    let ms = ms.unwrap_or_default();
                    return Err(format!("the agent gave no answer within {ms} ms"));
                }
            }
        }
    }

    /// In words; with its exit status, which may follow the end of its output.
    async fn how_it_ended(&mut self) -> String {
        let deadline = Instant::now() + STATUS_WAIT;
        while !self.exited && Instant::now() < deadline {
            self.hear(deadline).await;
        }
        format!("the agent {}", self.ended.as_deref().unwrap_or("ended"))
    }

    /// What comes next of the agent, if that is a message or what should be one.
    async fn hear(&mut self, deadline: Instant) -> Option<Result<FromAgent, String>> {
        match self.agent.next(deadline).await? {
            AgentEvent::Line(line) => return self.line(&line),
            AgentEvent::Stderr => {
                let piece = self.agent.process.stderr.take();
                let text = piece.map(|piece| piece.text).unwrap_or_default();
                std::io::stderr().write_all(text.as_bytes()).ok();
            }
            AgentEvent::Failed(errno) => {
                self.ended = Some(format!("can't be started: {}", errno.desc()));
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
            AgentEvent::Started | AgentEvent::Continued => {}
        }
        None
    }

    fn ends(&mut self, how: &str) {
        self.ended.get_or_insert_with(|| how.to_owned());
    }

    fn line(&mut self, line: &Line) -> Option<Result<FromAgent, String>> {
        if line.cut {
            return Some(Err("the agent wrote a line that is too long".to_owned()));
        }
        let meaning = self.agent.interpret(line);
        self.agent.process.flush();
        let blame = if meaning.is_some() { "" } else { "the agent wrote a garbled line: " };
        let said = parse_line(&line.bytes, meaning)?;
        Some(said.map_err(|garbled| format!("{blame}{garbled}")))
    }
}

/// A moment that doesn't come.
fn far() -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + FAR
}

/// An action becomes real.
fn play(game: &mut dyn AnyGame, action: &Value) -> Result<Played, String> {
    let turn = game.turn_number();
    let Turn::Of(seat) = game.turn() else { return Err("the game is over".to_owned()) };
    let action = game.play(action).map_err(|refusal| refusal.to_string())?;
    Ok(Played { turn, seat, action, used_ms: 0 })
}

/// The position after these turns.
fn game_after(kind: GameKind, setup: &Value, turns: &[Played]) -> Option<Value> {
    let mut game = kind.start(setup).ok()?;
    for played in turns {
        game.play(&played.action).ok()?;
    }
    Some(game.position())
}
