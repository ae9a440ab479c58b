//! Replaying a recorded turn to an agent, for `debug`. A new process gets the lines of the record up to
//! the turn; from there a match judges it, with the recorded answers of the other seats.

use super::agent_spec::AgentSpec;
use super::connection::{AgentConnection, Exchange, NO_LIMIT};
use super::core_context::CoreContext;
use super::drive::{LOOK, PartialMatch, PartialMatchRules, Patience};
use super::echo::echo;
use super::participant::Participant;
use super::reach::advice;
use referee_games::{AnyGame, Decoded, Games};
use referee_match::diagnosis::{Hang, Usage};
use referee_match::transcript::Walk;
use referee_match::{Match, TurnLimits, parse_line};
use referee_process::agent::AgentEvent;
use referee_process::cleaning;
use referee_process::sandbox::reach::SharedRules;
use referee_protocol::{
    Action, Event, Fault, FaultKind, FromAgent, Header, ParseError, Resign, Seat, ToAgent,
    line_bytes,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// How much longer than in the record to wait for further events.
const AFTER: Duration = Duration::from_secs(1);
/// How long to wait for an answer after the clock's limit, to distinguish late from never.
const LATE_ANSWER_WAIT: Duration = Duration::from_secs(5);

/// The turn to replay.
#[derive(Debug)]
pub struct RerunRequest<'a> {
    /// The header of the match.
    pub header: &'a Header,
    /// The games that are known.
    pub games: &'a Games,
    /// Its events.
    pub events: &'a [Event],
    /// The agent's seat.
    pub seat: Seat,
    /// The turn; `None` for the agent's start.
    pub turn: Option<u64>,
    /// Whether to wait for answers without a limit.
    pub is_patient: bool,
}

/// The result of a rerun.
#[derive(Debug, Default)]
pub struct RerunReport {
    /// The last lines to the agent: what came since its turn before, and the request.
    pub sent: String,
    /// The agent's lines in that turn.
    pub got: Vec<Vec<u8>>,
    /// Whether its answer is the recorded one.
    pub same: bool,
    /// The recorded lines of that turn.
    pub recorded: Vec<Vec<u8>>,
    /// Earlier turns in which its answer differs from the record.
    pub strayed: Vec<u64>,
    /// Its fault, in the turn or after it.
    pub fault: Option<Fault>,
    /// The exit status.
    pub status: Option<String>,
    /// Which stream it closed, though its process may still run.
    pub closed: Option<&'static str>,
    /// The beginning of a line without an end.
    pub unended: Vec<u8>,
    /// What it used from the request to the answer or the end.
    pub used: Usage,
    /// What was seen of it if it didn't answer.
    pub hang: Option<Hang>,
    /// Its stderr.
    pub stderr: String,
    /// What to do about what the sandbox denied it.
    pub denied: Option<String>,
}

/// Why a turn can't be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// The transcript is invalid.
    #[error("{0}")]
    Transcript(String),
    /// The machine failed.
    #[error("{0}")]
    Machine(#[from] io::Error),
}

/// Starts the agent and replays the match up to the turn. Calls `pause` with the agent's process id when
/// all but the last lines have been answered.
pub async fn rerun(
    rerun: &RerunRequest<'_>,
    spec: &AgentSpec,
    core: &CoreContext,
    pause: impl AsyncFnOnce(i32) -> io::Result<()>,
) -> Result<RerunReport, RerunError> {
    let header = rerun.header;
    let walk = Walk::begin_keeping(header.clone(), rerun.games, |seat| seat == rerun.seat);
    let walk = walk.map_err(RerunError::Transcript)?;
    let (launcher, sandbox) = (&core.launcher, &core.sandbox);
    let kind = walk.game().kind();
    let started = AgentConnection::start_alone(launcher, sandbox, spec, kind, &header.limits);
    let (agent, work) = started?;
    let mut replay = Replay { rerun, agent, strayed: Vec::new(), stderr: String::new() };
    let game = walk.game().clone_box();
    replay.play(walk).await?;
    replay.pause(pause).await?;
    let mut report = replay.judge(core, game).await?;
    cleaning::remove(work);
    report.denied = advice(spec, &SharedRules::default(), core.launcher.layers(), &report.stderr);
    Ok(report)
}

/// The replay up to the turn: the agent gets the recorded lines, and nothing is judged.
struct Replay<'a> {
    rerun: &'a RerunRequest<'a>,
    agent: AgentConnection,
    strayed: Vec<u64>,
    stderr: String,
}

impl Replay<'_> {
    /// Replays up to the request, without writing it. For the start, writes nothing.
    async fn play(&mut self, mut walk: Walk) -> Result<(), RerunError> {
        let RerunRequest { events, seat, turn, .. } = *self.rerun;
        let Some(last) = turn else { return Ok(()) };
        let recorded = Recorded::of(events, seat);
        let clock = &self.rerun.header.clock;
        let start_time = Duration::from_millis(clock.start_ms);
        let turn_time = TurnLimits::of(clock, None).wall.unwrap_or(NO_LIMIT);
        let mut is_answering = self.exchange(&walk.take_messages(seat), start_time).await.is_some();
        for event in events {
            walk.event(event).map_err(RerunError::Transcript)?;
            let Event::Turn(asked) = event else { continue };
            if asked.seat != seat {
                continue;
            }
            let mut messages = walk.take_messages(seat);
            if asked.turn == last {
                messages.pop();
                self.agent.exchange = Some(Exchange::default());
                // The request is written with them, as in the match.
                self.put(&messages);
                return Ok(());
            }
            if is_answering {
                let recorded = recorded.get(&Some(asked.turn));
                let twice = recorded.map_or(Duration::ZERO, |it| 2 * it.wall);
                let said = self.exchange(&messages, twice.max(turn_time)).await;
                is_answering = said.is_some();
                if said != recorded.and_then(Recorded::answer) {
                    self.strayed.push(asked.turn);
                }
            }
        }
        Err(RerunError::Transcript(format!("seat {seat} is not asked for turn {last}")))
    }

    fn put(&mut self, messages: &[ToAgent]) {
        let mut line = Vec::new();
        for message in messages {
            line.clear();
            message.write_json(&mut line);
            line.push(b'\n');
            self.agent.put(message, &line);
        }
    }

    /// Sends messages and waits for an answer: a message other than `info`, or an invalid line. `None` if
    /// there is none within this time and a little more: the match has judged these turns.
    async fn exchange(
        &mut self,
        messages: &[ToAgent],
        time: Duration,
    ) -> Option<Result<FromAgent, ParseError>> {
        self.put(messages);
        self.agent.process.flush();
        let time = if self.rerun.is_patient { NO_LIMIT } else { time.min(NO_LIMIT) };
        let until = Instant::now() + time + LATE_ANSWER_WAIT;
        let mut said = None;
        while said.is_none() {
            said = match self.next(until).await {
                Some(AgentEvent::Line(line)) => {
                    let meaning = self.agent.interpret(&line);
                    self.agent.process.flush();
                    message(&line.bytes, meaning)
                }
                Some(_) => None,
                None => return None,
            };
        }
        said
    }

    /// Returns the next event. `None` also for its end, which is judged later.
    async fn next(&mut self, until: Instant) -> Option<AgentEvent> {
        let event = self.agent.process.next_event(until).await?;
        match event {
            AgentEvent::Stderr => {
                let piece = self.agent.process.stderr.take();
                let text = piece.map(|piece| piece.text).unwrap_or_default();
                echo(&text);
                self.stderr.push_str(&text);
                Some(event)
            }
            AgentEvent::Line(_) | AgentEvent::Started | AgentEvent::Continued(_) => Some(event),
            end => {
                self.agent.process.unread(end);
                None
            }
        }
    }

    async fn pause(&mut self, pause: impl AsyncFnOnce(i32) -> io::Result<()>) -> io::Result<()> {
        let until = Instant::now() + NO_LIMIT;
        while self.agent.process.meters().is_none() && self.next(until).await.is_some() {}
        match self.agent.process.meters() {
            Some(meters) => pause(meters.process_id()).await,
            None => Ok(()),
        }
    }

    /// Judges the turn itself, or the start.
    async fn judge(
        mut self,
        core: &CoreContext,
        game: Box<dyn AnyGame>,
    ) -> Result<RerunReport, RerunError> {
        let RerunRequest { header, games, events, seat, turn, is_patient } = *self.rerun;
        let mut begun = if let Some(turn) = turn {
            Match::resume(header.clone(), games, events, (seat, turn))
                .map_err(RerunError::Transcript)?
        } else {
            self.agent.exchange = Some(Exchange::default());
            let mut header = header.clone();
            header.seats.iter_mut().for_each(|seat| seat.ready = None);
            Match::begin(game, header)
        };
        // What is drawn after the turn makes no difference to it.
        begun.0.draw_by(header.seed.to_string());
        let recorded = Recorded::of(events, seat).remove(&turn).unwrap_or_default();
        // A fault of the start may follow `ready`, and come after the first request this time.
        let judges_turn = turn.is_some() || recorded.fault_at_ns.is_some();
        let rules = PartialMatchRules {
            seat,
            turns_max: u64::from(judges_turn),
            time_max: None,
            is_patient,
        };
        let mut played = None;
        let mut watcher = |event: &Event, _: &Match| {
            if let Event::Played(event) = event
                && event.seat == seat
            {
                played = Some(event.action.value());
            }
        };
        let participants = participants(self.rerun, self.agent);
        let mut part = PartialMatch::begin(core, begun, participants, rules, &mut watcher)?;
        let echoed = self.stderr.len();
        part.stderr = self.stderr;
        let mut last = JudgedTurn { part, echoed, recorded: recorded.lines.len(), used: None };
        last.play(recorded.fault_after(turn.is_none())).await?;
        let exchange = last.part.connection().exchange.clone().unwrap_or_default();
        let status = last.part.status.clone();
        // Before it is examined, which may end it.
        let unended = last.part.connection().process.unended_line().to_vec();
        let used = last.used.unwrap_or_else(|| last.part.used());
        let is_mute = last.part.fault().is_some_and(|fault| {
            matches!(fault.kind, FaultKind::Late | FaultKind::Start) && exchange.got.is_empty()
        });
        let hang = if is_mute { Some(last.part.examine().await) } else { None };
        let mut report = RerunReport {
            sent: String::from_utf8_lossy(&exchange.sent).into_owned(),
            got: exchange.got,
            same: false,
            recorded: Vec::new(),
            strayed: self.strayed,
            fault: last.part.fault().cloned(),
            status,
            hang,
            closed: last.part.closed,
            unended,
            used,
            stderr: last.part.end().await?,
            denied: None,
        };
        let now = Recorded { lines: report.got.clone(), played, ..Recorded::default() };
        report.same = match now.answer().filter(|_| turn.is_some()) {
            Some(answer) => Some(answer) == recorded.answer(),
            None => report.got == recorded.lines,
        };
        report.recorded = recorded.lines;
        Ok(report)
    }
}

/// The turn that is judged.
struct JudgedTurn<'a> {
    part: PartialMatch<'a>,
    /// How much of its stderr has been shown.
    echoed: usize,
    /// How many lines the record has.
    recorded: usize,
    /// What the agent used until its answer.
    used: Option<Usage>,
}

impl JudgedTurn<'_> {
    /// Plays until it is judged. After an answer, waits for this long for a recorded fault.
    async fn play(&mut self, after: Option<Duration>) -> io::Result<()> {
        let mut patience: Option<Patience> = None;
        while !self.part.is_over()
            && patience
                .as_mut()
                .is_none_or(|it| !it.is_over(self.part.connection(), Instant::now()))
        {
            self.part.next(Instant::now() + LOOK).await?;
            self.echo();
            if self.used.is_none() && !self.part.is_waited_for() {
                self.used = Some(self.part.used());
                let time = after.map_or(Duration::ZERO, |after| after + AFTER);
                patience = Some(Patience::begin(time, Instant::now()));
            }
        }
        if let Some(after) = after.filter(|_| self.part.fault().is_none()) {
            self.part.await_end(after + AFTER).await?;
            self.echo();
        }
        if let Some((_, text)) = self.part.void() {
            return Err(io::Error::other(text.to_owned()));
        }
        let late = self.part.fault().is_some_and(|fault| fault.kind == FaultKind::Late);
        if late && !self.part.has_answered && self.part.may_answer() {
            let before = self.got();
            self.listen(LATE_ANSWER_WAIT, |last| last.got() > before || last.part.status.is_some())
                .await;
            self.used = Some(self.part.used());
        } else if self.part.fault().is_none() {
            self.listen(AFTER, |last| last.got() >= last.recorded).await;
        }
        self.listen(AFTER, |last| last.part.closed.is_none() || last.part.status.is_some()).await;
        Ok(())
    }

    fn got(&self) -> usize {
        self.part.connection().exchange.as_ref().map_or(0, |exchange| exchange.got.len())
    }

    /// Waits for further events until there are enough, or for this long.
    async fn listen(&mut self, time: Duration, enough: impl Fn(&Self) -> bool) {
        let until = Instant::now() + time;
        while !enough(self)
            && let Some(event) = self.part.listen(until).await
        {
            if let AgentEvent::Line(line) = event {
                self.part.connection_mut().interpret(&line);
            }
            self.echo();
        }
    }

    /// Shows new stderr.
    fn echo(&mut self) {
        echo(&self.part.stderr[self.echoed..]);
        self.echoed = self.part.stderr.len();
    }
}

/// The record of one seat's turn, or of its start.
#[derive(Debug, Default)]
struct Recorded {
    /// The lines until the seat was asked again.
    lines: Vec<Vec<u8>>,
    /// The action that was played.
    played: Option<Value>,
    /// When that was.
    at_ns: u64,
    /// The wall time of the turn.
    wall: Duration,
    /// When a fault followed.
    fault_at_ns: Option<u64>,
}

impl Recorded {
    /// Returns all turns of a seat by number, and its start as `None`.
    fn of(events: &[Event], seat: Seat) -> BTreeMap<Option<u64>, Self> {
        let mut turns = BTreeMap::from([(None, Self::default())]);
        let mut turn = None;
        for event in events {
            if let Event::Turn(event) = event
                && event.seat == seat
            {
                turn = Some(event.turn);
            }
            let recorded: &mut Self = turns.entry(turn).or_default();
            match event {
                Event::Line(event) if event.seat == seat => recorded.lines.push(line_bytes(event)),
                Event::Played(event) if event.seat == seat => {
                    (recorded.played, recorded.at_ns) = (Some(event.action.value()), event.at_ns);
                    recorded.wall = Duration::from_nanos(event.wall_ns);
                }
                Event::Retired(event) if event.seat == seat => {
                    recorded.fault_at_ns = Some(event.at_ns);
                }
                Event::Over(event) => {
                    let own = event.verdict.seats.get(seat.index());
                    let fault = own.and_then(|own| own.fault.as_ref());
                    let fault_at = fault.map(|_| event.at_ns);
                    recorded.fault_at_ns = recorded.fault_at_ns.or(fault_at);
                }
                _ => {}
            }
        }
        turns
    }

    /// Returns the answer: the action that was played, or else the first line that isn't `info`.
    fn answer(&self) -> Option<Result<FromAgent, ParseError>> {
        let action = self.played.clone().map(|action| Action { turn: None, action });
        let first = || self.lines.iter().find_map(|line| message(line, None));
        action.map(FromAgent::Action).map(Ok).or_else(first)
    }

    /// Returns the answer as a line; of another protocol only the action is known.
    fn line(self, is_foreign: bool) -> Option<Vec<u8>> {
        if let Some(action) = &self.played {
            return Some(json!({"type": "action", "action": action}).to_string().into_bytes());
        }
        let mut lines = self.lines.into_iter().filter(|_| !is_foreign);
        lines.find(|line| message(line, None).is_some())
    }

    /// Returns how long after its answer a fault followed, before the seat was asked again.
    fn fault_after(&self, is_start: bool) -> Option<Duration> {
        let fault_at_ns = self.fault_at_ns.filter(|_| is_start || self.played.is_some())?;
        Some(Duration::from_nanos(fault_at_ns.saturating_sub(self.at_ns)))
    }
}

/// Returns the agent, and stand-ins that answer as recorded or not at all.
fn participants(rerun: &RerunRequest<'_>, agent: AgentConnection) -> Vec<Participant> {
    let seats = &rerun.header.seats;
    Participant::among_stand_ins(seats.len(), (rerun.seat, agent), Duration::ZERO, |at| {
        let is_foreign = seats[at.index()].is_foreign();
        let mut turns = Recorded::of(rerun.events, at);
        Box::new(move |game| turns.remove(&Some(game.turn_number()))?.line(is_foreign))
    })
}

/// Reads a line without the number of its turn; `None` if it has no answer.
fn message(line: &[u8], meaning: Option<Decoded>) -> Option<Result<FromAgent, ParseError>> {
    match parse_line(line, meaning)? {
        Ok(FromAgent::Info(_)) => None,
        // The number of the turn is optional.
        Ok(FromAgent::Action(it)) => Some(Ok(FromAgent::Action(Action { turn: None, ..it }))),
        Ok(FromAgent::Resign(_)) => Some(Ok(FromAgent::Resign(Resign { turn: None }))),
        other => Some(other),
    }
}
