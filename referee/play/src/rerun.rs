//! A turn of a recorded match once more. A fresh process of the agent is written the lines that it
//! had been written up to then; from the turn on, a match judges what it does, whose other seats
//! answer as they had.

use super::agent_spec::AgentSpec;
use super::connection::{AgentConnection, Exchange};
use super::core_context::CoreContext;
use super::drive::{PartialMatch, PartialMatchRules};
use super::participant::Participant;
use referee_games::{AnyGame, Decoded};
use referee_match::diagnosis::Usage;
use referee_match::transcript::{Sent, Walk};
use referee_match::{Match, parse_line};
use referee_process::agent::AgentEvent;
use referee_process::cleaning;
use referee_protocol::{
    Action, Event, Fault, FaultKind, FromAgent, Garbled, Header, Resign, Seat, ToAgent, line_bytes,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How much longer than the record is waited for what it has more.
const AFTER: Duration = Duration::from_secs(1);
/// How much longer than the clock allows an answer is waited for: so late can be told from never.
pub const LATE_ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How long is waited where there is no limit.
const LONG: Duration = Duration::from_secs(365 * 24 * 3600);

/// What is to be seen once more.
#[derive(Debug)]
pub struct RerunRequest<'a> {
    /// What the match was played under.
    pub header: &'a Header,
    /// Its events.
    pub events: &'a [Event],
    /// Whose turn.
    pub seat: Seat,
    /// The turn; the agent's start where it is `None`.
    pub turn: Option<u64>,
    /// How long the answers to earlier turns are waited for; `None`: for ever, and so is the last.
    pub patience: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct RerunReport {
    /// The lines that were written at last: what had come since the turn before, and the request.
    pub sent: String,
    /// The lines that came in that turn.
    pub got: Vec<Vec<u8>>,
    /// Whether what decided of the turn is what had.
    pub same: bool,
    /// The lines that had come in it when the match was played.
    pub recorded: Vec<Vec<u8>>,
    /// Earlier turns in which it answered otherwise than it had.
    pub strayed: Vec<u64>,
    /// What the match found it at fault with, in the turn or after it.
    pub fault: Option<Fault>,
    /// The end of the process, in words.
    pub status: Option<String>,
    /// It closed its stdout or its stdin, though its process may still run; in words.
    pub closed: Option<&'static str>,
    /// The beginning of a line whose end has not come.
    pub unended: Vec<u8>,
    /// What it used from the request to the answer or the end.
    pub used: Usage,
    /// What it wrote to stderr.
    pub stderr: String,
}

/// Why a turn can't be seen once more.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// The transcript can't be played.
    #[error("{0}")]
    Transcript(String),
    /// The machine failed.
    #[error("{0}")]
    Machine(#[from] io::Error),
}

/// Starts the agent on a table of its own and goes through the match up to the turn. `pause` is
/// called when all but the last lines have been answered, with the number of the agent's process.
pub async fn rerun(
    rerun: &RerunRequest<'_>,
    spec: &AgentSpec,
    table: &CoreContext,
    pause: impl AsyncFnOnce(i32) -> io::Result<()>,
) -> Result<RerunReport, RerunError> {
    let header = rerun.header;
    let begun = Walk::begin(header.clone());
    let walk = begun.map_err(|error| RerunError::Transcript(error.to_string()))?;
    let (launcher, enclosure) = (&table.launcher, &table.enclosure);
    let kind = walk.game().kind();
    let started = AgentConnection::start_alone(launcher, enclosure, spec, kind, &header.limits);
    let (agent, work) = started?;
    let mut lead = Lead { rerun, agent, strayed: Vec::new(), stderr: String::new() };
    let game = walk.game().clone_box();
    lead.go(walk).await?;
    lead.pause(pause).await?;
    let told = lead.judge(table, game).await?;
    cleaning::remove(work);
    Ok(told)
}

/// The way to the turn: the agent is written what it had been written, and nothing is judged.
struct Lead<'a> {
    rerun: &'a RerunRequest<'a>,
    agent: AgentConnection,
    strayed: Vec<u64>,
    stderr: String,
}

impl Lead<'_> {
    /// Up to the request, which is not written; where the start is wanted, nothing is.
    async fn go(&mut self, mut walk: Walk) -> Result<(), RerunError> {
        let RerunRequest { events, seat, turn, .. } = *self.rerun;
        let Some(last) = turn else { return Ok(()) };
        let mut sent = Sent::begin(&walk, seat).map_err(RerunError::Transcript)?;
        let recorded = Recorded::of(events, seat);
        let mut goes_on = self.exchange(&sent.take_messages()).await.is_some();
        for event in events {
            walk.event(event).map_err(RerunError::Transcript)?;
            sent.event(event, walk.game());
            let Event::Turn(asked) = event else { continue };
            if asked.seat != seat {
                continue;
            }
            let mut messages = sent.take_messages();
            if asked.turn == last {
                messages.pop();
                self.agent.exchange = Some(Exchange::default());
                self.send(&messages);
                return Ok(());
            }
            if goes_on {
                let said = self.exchange(&messages).await;
                goes_on = said.is_some();
                if said != recorded.get(&Some(asked.turn)).and_then(Recorded::answer) {
                    self.strayed.push(asked.turn);
                }
            }
        }
        Err(RerunError::Transcript(format!("seat {seat} is not asked for turn {last}")))
    }

    fn send(&mut self, messages: &[ToAgent]) {
        for message in messages {
            self.agent.send(message);
        }
    }

    /// Sends messages and waits until there is an answer: a message other than `info`, or what is
    /// none at all. `None` where none comes in time, or ever.
    async fn exchange(&mut self, messages: &[ToAgent]) -> Option<Result<FromAgent, Garbled>> {
        self.send(messages);
        let until = Instant::now() + self.rerun.patience.unwrap_or(LONG);
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

    /// The next thing that the agent does; `None` also where it ends, which is left to be judged.
    async fn next(&mut self, until: Instant) -> Option<AgentEvent> {
        let event = self.agent.next(until).await?;
        match event {
            AgentEvent::Stderr => {
                let piece = self.agent.process.stderr.take();
                let text = piece.map(|piece| piece.text).unwrap_or_default();
                echo(&text);
                self.stderr.push_str(&text);
                Some(event)
            }
            AgentEvent::Line(_) | AgentEvent::Started | AgentEvent::Continued => Some(event),
            end => {
                self.agent.process.unread(end);
                None
            }
        }
    }

    async fn pause(&mut self, pause: impl AsyncFnOnce(i32) -> io::Result<()>) -> io::Result<()> {
        let until = Instant::now() + LONG;
        while self.agent.process.meters().is_none() && self.next(until).await.is_some() {}
        match self.agent.process.meters() {
            Some(meters) => pause(meters.process_id()).await,
            None => Ok(()),
        }
    }

    /// The turn itself, or the start.
    async fn judge(
        mut self,
        table: &CoreContext,
        game: Box<dyn AnyGame>,
    ) -> Result<RerunReport, RerunError> {
        let RerunRequest { header, events, seat, turn, patience } = *self.rerun;
        let begun = if let Some(turn) = turn {
            Match::resume(header.clone(), events, (seat, turn)).map_err(RerunError::Transcript)?
        } else {
            self.agent.exchange = Some(Exchange::default());
            let mut header = header.clone();
            header.seats.iter_mut().for_each(|seat| seat.ready = None);
            Match::begin(game, header)
        };
        let rules = PartialMatchRules {
            seat,
            turns_max: u64::from(turn.is_some()),
            time_max: None,
            is_patient: patience.is_none(),
        };
        let mut played = None;
        let mut watcher = |event: &Event, _: &Match| {
            if let Event::Played(event) = event
                && event.seat == seat
            {
                played = Some(event.action.clone());
            }
        };
        let participants = participants(self.rerun, self.agent);
        let mut part = PartialMatch::begin(table, begun, participants, rules, &mut watcher);
        let echoed = self.stderr.len();
        part.stderr = self.stderr;
        let recorded = Recorded::of(events, seat).remove(&turn).unwrap_or_default();
        let mut last = Last { part, echoed, recorded: recorded.lines.len(), used: None };
        last.play(recorded.fault_after(turn.is_none())).await?;
        let exchange = last.part.connection().exchange.clone().unwrap_or_default();
        let mut told = RerunReport {
            sent: String::from_utf8_lossy(&exchange.sent).into_owned(),
            got: exchange.got,
            same: false,
            recorded: Vec::new(),
            strayed: self.strayed,
            fault: last.part.fault().cloned(),
            status: last.part.status.clone(),
            closed: last.part.closed,
            unended: last.part.connection().process.unended_line().to_vec(),
            used: last.used.unwrap_or_else(|| last.part.used()),
            stderr: last.part.end().await?,
        };
        let now = Recorded { lines: told.got.clone(), played, ..Recorded::default() };
        told.same = match now.answer().filter(|_| turn.is_some()) {
            Some(said) => Some(said) == recorded.answer(),
            None => told.got == recorded.lines,
        };
        told.recorded = recorded.lines;
        Ok(told)
    }
}

/// The turn while it is judged.
struct Last<'a> {
    part: PartialMatch<'a>,
    /// How much of its stderr has been shown.
    echoed: usize,
    /// How many lines had come when the match was played.
    recorded: usize,
    /// What the agent used until its answer.
    used: Option<Usage>,
}

impl Last<'_> {
    /// Until it is judged. An answer is followed by so much time for a fault that had followed it.
    async fn play(&mut self, after: Option<Duration>) -> io::Result<()> {
        let mut until = None;
        while !self.part.is_over() && until.is_none_or(|until| Instant::now() < until) {
            self.part.next(Instant::now() + AFTER).await?;
            self.echo();
            if self.used.is_none() && !self.part.is_waited_for() {
                self.used = Some(self.part.used());
                until = Some(Instant::now() + after.map_or(Duration::ZERO, |after| after + AFTER));
            }
        }
        if let Some((_, text)) = self.part.void() {
            return Err(io::Error::other(text.to_owned()));
        }
        let late = self.part.fault().is_some_and(|fault| fault.kind == FaultKind::Late);
        if late && !self.part.has_answered {
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

    /// What still comes of it, until there is enough of that, or for so long.
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

    /// Shows what has come of its stderr, as it comes.
    fn echo(&mut self) {
        echo(&self.part.stderr[self.echoed..]);
        self.echoed = self.part.stderr.len();
    }
}

fn echo(text: &str) {
    if !text.is_empty() {
        // Where stderr is gone there is nobody to tell.
        io::stderr().write_all(text.as_bytes()).ok();
    }
}

/// What the record has of one seat's turn, or of its start.
#[derive(Debug, Default)]
struct Recorded {
    /// The lines that came until the seat was asked again.
    lines: Vec<Vec<u8>>,
    /// The action that became real.
    played: Option<Value>,
    /// When that was.
    at_ns: u64,
    /// When it was found at fault after that.
    fault_at_ns: Option<u64>,
}

impl Recorded {
    /// All turns of a seat, and its start without a number.
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
                    (recorded.played, recorded.at_ns) = (Some(event.action.clone()), event.at_ns);
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

    /// What decided of the turn: the action that became real, or else the first line that isn't
    /// `info`.
    fn answer(&self) -> Option<Result<FromAgent, Garbled>> {
        let action = self.played.clone().map(|action| Action { turn: None, action });
        let said = || self.lines.iter().find_map(|line| message(line, None));
        action.map(FromAgent::Action).map(Ok).or_else(said)
    }

    /// The same as a line; in another protocol than the referee's own only the action is known.
    fn line(self, is_foreign: bool) -> Option<Vec<u8>> {
        if let Some(action) = &self.played {
            return Some(json!({"type": "action", "action": action}).to_string().into_bytes());
        }
        let mut lines = self.lines.into_iter().filter(|_| !is_foreign);
        lines.find(|line| message(line, None).is_some())
    }

    /// How long after its answer, if it gave one, the seat was found at fault before it was asked
    /// again.
    fn fault_after(&self, is_start: bool) -> Option<Duration> {
        let fault_at_ns = self.fault_at_ns.filter(|_| is_start || self.played.is_some())?;
        Some(Duration::from_nanos(fault_at_ns.saturating_sub(self.at_ns)))
    }
}

/// The agent at its seat, and at the others who answers as the record has it, and where it has
/// nothing, not at all.
fn participants(rerun: &RerunRequest<'_>, agent: AgentConnection) -> Vec<Participant> {
    let seats = &rerun.header.seats;
    Participant::among_stand_ins(seats.len(), (rerun.seat, agent), Duration::ZERO, |at| {
        let is_foreign = seats[at.index()].is_foreign();
        let mut turns = Recorded::of(rerun.events, at);
        Box::new(move |game| turns.remove(&Some(game.turn_number()))?.line(is_foreign))
    })
}

/// What a line says, without the number of its turn, unless that is nothing, or `info`.
fn message(line: &[u8], meaning: Option<Decoded>) -> Option<Result<FromAgent, Garbled>> {
    match parse_line(line, meaning)? {
        Ok(FromAgent::Info(_)) => None,
        // The number of its turn may be left out.
        Ok(FromAgent::Action(it)) => Some(Ok(FromAgent::Action(Action { turn: None, ..it }))),
        Ok(FromAgent::Resign(_)) => Some(Ok(FromAgent::Resign(Resign { turn: None }))),
        other => Some(other),
    }
}
