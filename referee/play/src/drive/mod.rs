//! A match with real agents: one task, one loop. Events of the agents and of the clock go into the
//! [`Match`], and its effects are carried out. Nothing is decided here.

mod effects;
mod pondering;
mod events;
mod readings;
mod start_check;
mod close;
mod stay;
mod part;

pub use part::{PartialMatch, PartialMatchRules};
pub(crate) use pondering::FREEZE_AFTER;

use self::part::PartState;
use self::pondering::Freezer;
use self::readings::{Readings, span};
use self::start_check::{FailedStart, StartCheck};
use super::connection::AgentConnection;
use super::core_context::{CoreContext, Orders, Slot, StartGuard};
use super::participant::Participant;
use super::sink::{Sealed, Sink};
use referee_games::{AnyGame, view::View};
use referee_match::diagnosis::Usage;
use referee_match::{Effect, Ending, Input, Match, MatchTally, Reading};
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::poll_on_wake::PollOnWake;
use referee_process::timers::Alarm;
use referee_protocol::{Event, Header, Nanos, Seat, Turn};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long an agent may take to exit after `over`.
pub const GRACE: Duration = Duration::from_secs(1);
/// How long a match works before the others of its core go on, and the lag probe with them. Shorter
/// than the lag that counts: what an agent writes never makes the referee late.
const STEP: Duration = Duration::from_micros(500);
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
    /// What was seen of each seat at its end.
    pub seen: Vec<LastSeen>,
    /// What its events add up to.
    pub tally: Box<MatchTally>,
    /// The transcript's digests, if there is a transcript.
    pub seal: Option<Sealed>,
}

/// What was seen of an agent at its end.
#[derive(Clone, Debug, Default)]
pub struct LastSeen {
    /// The last line of its stderr.
    pub words: Option<String>,
    /// The beginning of a line without an end, when it was out.
    pub unended: Vec<u8>,
    /// What it used since its last request, or since its start, when it was out.
    pub used: Option<Usage>,
}

/// What a match is played with.
pub(super) struct MatchParts {
    pub(super) game: Box<dyn AnyGame>,
    pub(super) header: Header,
    pub(super) participants: Vec<Participant>,
    pub(super) sink: Sink,
    /// The start of the participants, which ends when all are ready or out.
    pub(super) starting: StartGuard,
}

/// The agents whose processes stay for another match, with their seats. Each has read `over`.
pub type Staying = Vec<(Seat, Box<AgentConnection>)>;

/// Plays a match. Calls `watcher` with every recorded event and the match after it. With `durable` the
/// transcript is on the disk when this returns. An error means that the machine failed after the match
/// had ended, so that the transcript is incomplete or a process is left; the result doesn't count.
pub(super) async fn drive(
    table: &CoreContext,
    MatchParts { game, header, participants, sink, starting }: MatchParts,
    durable: bool,
    watcher: &mut dyn FnMut(&Event, &Match),
) -> io::Result<(Finished, Staying)> {
    let begun = Match::begin(game, header);
    let mut drive = Drive::begin(table, begun, participants, sink, watcher, None)?;
    drive.starting = Some(starting);
    drive.apply();
    while drive.ending.is_none() {
        let event = drive.next().await;
        drive.take(event);
    }
    let staying = drive.close().await?;
    Ok((drive.finish(durable)?, staying))
}

/// An event for the loop.
enum DriveEvent {
    Event(Seat, Instant, AgentEvent),
    Slot(Slot),
    Orders(Orders),
    /// A seat could not be started, and whether a good program can be.
    StartChecked(Seat, FailedStart, bool),
    Timer,
}

type Waiting<T> = Pin<Box<dyn Future<Output = T>>>;
type NewOrders = PollOnWake<Waiting<watch::Receiver<Orders>>>;

struct Drive<'a> {
    table: &'a CoreContext,
    state: Match,
    participants: Vec<Participant>,
    /// The seats whose exit has been recorded.
    exited: Vec<bool>,
    sink: Sink,
    watcher: &'a mut dyn FnMut(&Event, &Match),
    tally: Box<MatchTally>,
    began: Instant,
    /// The paused time when the match began.
    paused_before: u64,
    effects: VecDeque<Effect>,
    message: Vec<u8>,
    /// A request that waits for a slot.
    request: Option<(Seat, Turn)>,
    /// Starts that failed, while it is found out why. The match's clock has no say meanwhile.
    start_checks: Vec<StartCheck>,
    /// The seat whose lines are being judged. They were all written before any request that the first
    /// of them causes.
    judged: Option<Seat>,
    /// How long lines of the seat that thinks were judged in this turn, as far as others had to wait.
    judged_for: Duration,
    /// The next of these lines, and when it was read, if the others of the core go first.
    rest: Option<(Seat, Instant, Line)>,
    /// When the match last let others go on.
    step_began: Instant,
    /// Whether it did so before the last event.
    has_waited: bool,
    readings: Readings,
    /// The start of the agents, until all are ready or out.
    starting: Option<StartGuard>,
    /// The slot of the agent that thinks.
    held: Option<Slot>,
    /// The slot that the request waits for.
    slot: Option<Waiting<Slot>>,
    orders: NewOrders,
    timer: Box<PollOnWake<Alarm>>,
    /// When the timer fires; it may fire too early, never too late.
    timer_set: Option<Instant>,
    /// When to write recorded events.
    flush_at: Instant,
    freezer: Freezer,
    asked: Instant,
    /// The agent's reading at that time.
    reading_asked: Reading,
    ending: Option<Ending>,
    seen: Vec<LastSeen>,
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
    ) -> io::Result<Self> {
        let seats = participants.len();
        let freezer = Freezer::new(state.header().sandbox.pondering, seats);
        let began = Instant::now();
        let mut drive = Self {
            table,
            state,
            participants,
            exited: vec![false; seats],
            sink,
            watcher,
            tally: Box::default(),
            began,
            paused_before: table.paused.past_ns(),
            effects: effects.into(),
            message: Vec::new(),
            request: None,
            start_checks: Vec::new(),
            judged: None,
            judged_for: Duration::ZERO,
            rest: None,
            step_began: began,
            has_waited: false,
            readings: Readings::default(),
            starting: None,
            held: None,
            slot: None,
            orders: next_orders(table.orders.clone()),
            timer: Box::new(PollOnWake::new(Alarm::new()?)),
            timer_set: None,
            flush_at: began + FLUSH_PERIOD,
            freezer,
            asked: began,
            reading_asked: Reading::default(),
            ending: None,
            seen: vec![LastSeen::default(); seats],
            broken: None,
            part: part.map(PartState::new),
        };
        drive.report_absent();
        let stop = table.orders.borrow().stop.clone();
        if let Some(text) = stop {
            drive.input(Input::Stop { cause: "interrupted", text, seat: None });
        }
        Ok(drive)
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

    /// Returns when the match must be stepped, on the machine's clock.
    fn wake_at(&self) -> Option<Instant> {
        if !self.start_checks.is_empty() {
            return None;
        }
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
            self.timer.source.set(wanted);
        }
        self.polled().await
    }

    /// Waits for the next event, after the others of the core if it has worked for long.
    async fn polled(&mut self) -> DriveEvent {
        // After a wait there is at most one event, and the lines that came with it.
        if (!self.has_waited || self.rest.is_some()) && self.is_long_step() {
            tokio::task::yield_now().await;
            self.step_began = Instant::now();
        }
        self.has_waited = false;
        let event = poll_fn(|context| {
            let event = self.poll_next(context);
            self.has_waited |= event.is_pending();
            event
        })
        .await;
        if self.has_waited {
            self.step_began = match event {
                DriveEvent::Event(_, at, _) => at,
                _ => Instant::now(),
            };
        }
        event
    }

    /// Whether it has worked for long without letting others go on.
    fn is_long_step(&self) -> bool {
        self.step_began.elapsed() >= STEP
    }

    /// Events of agents come before the timer: an answer that has arrived is not late because the timer
    /// was polled first. Lines that were read come before everything, as they have the earliest time.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<DriveEvent> {
        if let Some((seat, at, line)) = self.rest.take() {
            return Poll::Ready(DriveEvent::Event(seat, at, AgentEvent::Line(line)));
        }
        let orders = self.orders.poll(context, |orders, context| orders.as_mut().poll(context));
        if let Poll::Ready(orders) = orders {
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
        for (index, check) in self.start_checks.iter_mut().enumerate() {
            if let Poll::Ready((seat, failed, good_starts)) = check.poll(context) {
                self.start_checks.swap_remove(index);
                return Poll::Ready(DriveEvent::StartChecked(seat, failed, good_starts));
            }
        }
        if let Some(slot) = &mut self.slot
            && let Poll::Ready(slot) = slot.as_mut().poll(context)
        {
            self.slot = None;
            return Poll::Ready(DriveEvent::Slot(slot));
        }
        self.timer.poll(context, Alarm::poll_expired).map(|()| {
            self.timer_set = None;
            DriveEvent::Timer
        })
    }
}

/// The exit status of a process that the referee has killed.
const KILLED: &str = "killed by the referee";

fn next_orders(mut orders: watch::Receiver<Orders>) -> NewOrders {
    orders.mark_unchanged();
    PollOnWake::new(Box::pin(async move {
        if orders.changed().await.is_err() {
            // No more orders can come.
            std::future::pending::<()>().await;
        }
        orders
    }))
}
