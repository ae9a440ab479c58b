//! A match with real agents: one task, one loop. Events of the agents and of the clock go into the
//! [`Match`], and its effects are carried out. Nothing is decided here.

mod effects;
mod pondering;
mod events;
mod close;
mod part;

pub use part::{PartialMatch, PartialMatchRules};

use self::part::PartState;
use self::pondering::Freezer;
use super::core_context::{CoreContext, Orders};
use super::participant::Participant;
use super::sink::Sink;
use referee_games::{AnyGame, view::View};
use referee_match::{Effect, Ending, Input, Match, Reading};
use referee_process::agent::AgentEvent;
use referee_protocol::{ClockKind, Event, Header, Nanos, Seal, Seat, Turn};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Sleep;

/// How long an agent may take to exit after `over`.
pub const GRACE: Duration = Duration::from_secs(1);
/// For turns shorter than this, the time waiting for a core is not measured: it can't matter, and
/// measuring takes as long as such a turn.
const LONG_TURN: Nanos = Nanos(1_000_000);
/// How often recorded events are written, for viewers of the file.
const FLUSH_PERIOD: Duration = Duration::from_millis(200);

/// A finished match.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// The header.
    pub header: Header,
    /// The number of turns played, with those of retired seats.
    pub turns: u64,
    /// The board at the end.
    pub view: View,
    /// The last line of each seat's stderr.
    pub last_words: Vec<Option<String>>,
    /// The transcript's seal, if there is a transcript.
    pub seal: Option<Seal>,
}

/// Plays a match. Calls `watcher` with every recorded event and the match after it. With `durable` the
/// transcript is on the disk when this returns. An error means that the machine failed after the match
/// had ended, so that the transcript is incomplete or a process is left; the result doesn't count.
pub async fn drive(
    table: &CoreContext,
    game: Box<dyn AnyGame>,
    header: Header,
    participants: Vec<Participant>,
    sink: Sink,
    durable: bool,
    watcher: &mut dyn FnMut(&Event, &Match),
) -> io::Result<Finished> {
    let begun = Match::begin(game, header);
    let mut drive = Drive::begin(table, begun, participants, sink, watcher, None);
    drive.apply();
    while drive.ending.is_none() {
        let event = drive.next().await;
        drive.take(event);
    }
    drive.close().await?;
    drive.finish(durable)
}

/// An event for the loop.
enum DriveEvent {
    Event(Seat, Instant, AgentEvent),
    Slot(OwnedSemaphorePermit),
    Orders(Orders),
    Timer,
}

type Waiting<T> = Pin<Box<dyn Future<Output = T>>>;

struct Drive<'a> {
    table: &'a CoreContext,
    state: Match,
    participants: Vec<Participant>,
    /// The seats whose exit has been recorded.
    exited: Vec<bool>,
    sink: Sink,
    watcher: &'a mut dyn FnMut(&Event, &Match),
    began: Instant,
    /// The paused time when the match began.
    paused_before: u64,
    effects: VecDeque<Effect>,
    message: Vec<u8>,
    /// A request that waits for a slot.
    request: Option<(Seat, Turn)>,
    /// The seat whose lines are being judged. They were all written before any request that the first
    /// of them causes.
    judged: Option<Seat>,
    permit: Option<OwnedSemaphorePermit>,
    slot: Option<Waiting<OwnedSemaphorePermit>>,
    orders: Waiting<watch::Receiver<Orders>>,
    timer: Pin<Box<Sleep>>,
    /// When the timer fires; it may fire too early, never too late.
    timer_set: Option<Instant>,
    /// When to write recorded events.
    flush_at: Instant,
    freezer: Freezer,
    asked: Instant,
    ending: Option<Ending>,
    last_words: Vec<Option<String>>,
    /// Why the transcript can't be written any more.
    broken: Option<io::Error>,
    /// The state of a partial match, if it is one.
    part: Option<PartState>,
}

impl<'a> Drive<'a> {
    fn begin(
        table: &'a CoreContext,
        (state, effects): (Match, Vec<Effect>),
        participants: Vec<Participant>,
        sink: Sink,
        watcher: &'a mut dyn FnMut(&Event, &Match),
        part: Option<PartialMatchRules>,
    ) -> Self {
        let seats = participants.len();
        let freezer = Freezer::new(state.header().sandbox.pondering, seats);
        let began = Instant::now();
        let failed = participants.iter().find_map(|participant| match participant {
            Participant::Absent(text) => Some(text.clone()),
            _ => None,
        });
        let mut drive = Self {
            table,
            state,
            participants,
            exited: vec![false; seats],
            sink,
            watcher,
            began,
            paused_before: table.paused.past_ns(),
            effects: effects.into(),
            message: Vec::new(),
            request: None,
            judged: None,
            permit: None,
            slot: None,
            orders: next_orders(table.orders.clone()),
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            timer_set: None,
            flush_at: began + FLUSH_PERIOD,
            freezer,
            asked: began,
            ending: None,
            last_words: vec![None; seats],
            broken: None,
            part: part.map(PartState::new),
        };
        if let Some(text) = failed {
            drive.input(Input::Stop { cause: "machine", text });
        }
        let stop = table.orders.borrow().stop.clone();
        if let Some(text) = stop {
            drive.input(Input::Stop { cause: "interrupted", text });
        }
        drive
    }

    /// Returns the time of the match, without pauses. While the length of a pause isn't known, returns
    /// zero: the match's time never runs backwards, so it stops.
    fn time_of(&self, moment: Instant) -> Nanos {
        let Some(paused) = self.table.paused.settled_ns() else { return Nanos(0) };
        Nanos(span(self.began, moment).0.saturating_sub(paused - self.paused_before))
    }

    fn now(&self) -> Nanos {
        self.time_of(Instant::now())
    }

    fn input(&mut self, input: Input<'_>) {
        self.input_at(Instant::now(), input);
    }

    fn input_at(&mut self, moment: Instant, input: Input<'_>) {
        let at = self.time_of(moment);
        self.state.step(at, input, &mut self.effects);
    }

    /// Measures what belongs to an event of the thinking seat.
    fn reading(&mut self, now: Instant) -> Reading {
        let thinking = self.state.thinking();
        let (lag, whole) = (self.lag(now), self.counts_whole_tree());
        let agent = thinking.and_then(|seat| self.participants[seat.index()].connection_mut());
        let Some(agent) = agent else { return Reading { lag, ..Reading::default() } };
        let long = span(self.asked, now) >= LONG_TURN;
        Reading { cpu: agent.cpu(whole), wait: agent.wait(false, long), lag }
    }

    /// The same without what only the end of a turn needs.
    fn brief_reading(&self, now: Instant) -> Reading {
        let agent =
            self.state.thinking().and_then(|seat| self.participants[seat.index()].connection());
        let cpu = agent.and_then(|agent| agent.cpu(self.counts_whole_tree()));
        Reading { cpu, wait: None, lag: self.lag(now) }
    }

    /// Returns the longest lag since the turn began or, between turns, since the match began.
    fn lag(&self, now: Instant) -> Nanos {
        let since = if self.state.thinking().is_some() { self.asked } else { self.began };
        Nanos::from(self.table.lag_probe.lag_since(since, now))
    }

    /// Whether CPU time is that of the agent's process tree, which is slow to measure.
    fn counts_whole_tree(&self) -> bool {
        self.state.header().clock.kind == ClockKind::Cpu || self.state.measures_pondering()
    }

    /// Returns when the match must be stepped, on the machine's clock.
    fn wake_at(&self) -> Option<Instant> {
        let at = match &self.part {
            Some(part) if part.rules.is_patient => self.state.closed_due()?,
            _ => self.state.wake_at()?,
        };
        let paused = self.table.paused.settled_ns()? - self.paused_before;
        self.began.checked_add(Duration::from_nanos(at.0.saturating_add(paused)))
    }

    async fn next(&mut self) -> DriveEvent {
        let others = self.wake_at().into_iter().chain(self.freezer.wake_at());
        let wanted = others.fold(self.flush_at, Instant::min);
        if self.timer_set.is_none_or(|set| wanted < set) {
            self.timer_set = Some(wanted);
            self.timer.as_mut().reset(wanted.into());
        }
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Events of agents come before the timer: an answer that has arrived is not late because the timer
    /// was polled first.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<DriveEvent> {
        if let Poll::Ready(orders) = self.orders.as_mut().poll(context) {
            let new = orders.borrow().clone();
            self.orders = next_orders(orders);
            return Poll::Ready(DriveEvent::Orders(new));
        }
        let mut scratch = self.table.scratch.borrow_mut();
        for (seat, participant) in Seat::all(self.participants.len()).zip(&mut self.participants) {
            if let Poll::Ready((at, event)) = participant.poll_event(context, &mut scratch) {
                return Poll::Ready(DriveEvent::Event(seat, at, event));
            }
        }
        if let Some(slot) = &mut self.slot
            && let Poll::Ready(permit) = slot.as_mut().poll(context)
        {
            self.slot = None;
            return Poll::Ready(DriveEvent::Slot(permit));
        }
        match self.timer.as_mut().poll(context) {
            Poll::Ready(()) => {
                self.timer_set = None;
                Poll::Ready(DriveEvent::Timer)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// The exit status of a process that the referee has killed.
const KILLED: &str = "killed by the referee";

fn span(from: Instant, to: Instant) -> Nanos {
    to.saturating_duration_since(from).into()
}

fn next_orders(mut orders: watch::Receiver<Orders>) -> Waiting<watch::Receiver<Orders>> {
    orders.mark_unchanged();
    Box::pin(async move {
        if orders.changed().await.is_err() {
            // No more orders can come.
            std::future::pending::<()>().await;
        }
        orders
    })
}
