//! A match with real agents: one task, one loop. Events of the agents and of the clock go into the
//! [`Match`], and its effects are carried out. Nothing is decided here.

mod effects;
mod pondering;
mod events;
mod examination;
mod readings;
mod cause;
mod time;
mod close;
mod patience;
mod stay;
mod part;
mod recording;
mod early;
mod step;
mod turn;

pub use close::ProcessesLeft;
pub use part::{PartialMatch, PartialMatchRules};
pub(crate) use patience::{LOOK, Patience};
pub(crate) use pondering::FREEZE_AFTER;

use self::cause::CauseCheck;
use self::early::{EarlySeats, KeptEvent};
use self::part::PartState;
use self::pondering::Freezer;
use self::readings::Readings;
use self::recording::Recording;
use self::step::Step;
use self::time::MatchTime;
use self::turn::TurnState;
use super::connection::AgentConnection;
use super::core_context::{CoreContext, Orders, PausedMatch, StartGuard};
use super::participant::Participant;
use super::sink::{Sealed, Sink};
use referee_games::program::Pending;
use referee_games::{AnyGame, view::View};
use referee_match::diagnosis::{Hang, Usage, failure_line};
use referee_match::{Effect, Ending, Input, Match, MatchTally, Reading};
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::poll_on_wake::PollOnWake;
use referee_process::timers::Alarm;
use referee_protocol::{Event, Header, Seat};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long an agent may take to exit after `over`.
pub const GRACE: Duration = Duration::from_secs(1);

/// A finished match.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// The header.
    pub header: Header,
    /// The number of turns played, with those of retired seats.
    pub turns: u64,
    /// The board at the end, if somebody waits for this match alone.
    pub view: Option<View>,
    /// What was seen of each seat at its end.
    pub seen: Vec<LastSeen>,
    /// What its events add up to.
    pub tally: Box<MatchTally>,
    /// The transcript's digests, if there is a transcript.
    pub seal: Option<Sealed>,
    /// Whether processes could not be killed, of an agent that may cause no more void matches.
    pub has_left_processes: bool,
}

/// What was seen of an agent at its end.
#[derive(Clone, Debug, Default)]
pub struct LastSeen {
    /// The end of its stderr.
    pub stderr: String,
    /// The beginning of a line without an end, when it was out.
    pub unended: Vec<u8>,
    /// What it used since its last request, or since its start, when it was out.
    pub used: Option<Usage>,
    /// What it waited for, if it didn't answer and was examined.
    pub hang: Option<Hang>,
    /// How it ended by itself, if it did.
    pub status: Option<String>,
}

impl LastSeen {
    /// Returns the line of its stderr that says why it failed.
    pub fn words(&self) -> Option<String> {
        failure_line(&self.stderr)
    }
}

/// What a match is played with.
pub(super) struct MatchParts {
    pub(super) game: Box<dyn AnyGame>,
    pub(super) header: Header,
    /// The key of the draws, if the header has its hash.
    pub(super) draw_key: Option<String>,
    pub(super) participants: Vec<Participant>,
    pub(super) sink: Sink,
    /// See [`Job::hides`](crate::pool::Job).
    pub(super) hides: bool,
    /// The start of the participants, which ends when all are ready or out.
    pub(super) starting: StartGuard,
}

/// The agents whose processes stay for another match, with their seats. Each has read `over`.
pub type Staying = Vec<(Seat, Box<AgentConnection>)>;

/// Plays a match. Calls `watcher` with every recorded event and the match after it. With `is_single` the
/// transcript is on the disk when this returns, and an agent that doesn't answer is examined. An error means that the machine failed after the match
/// had ended, so that the transcript is incomplete or a process is left; the result doesn't count.
pub(super) async fn drive(
    core: &CoreContext,
    MatchParts { game, header, draw_key, participants, sink, hides, starting }: MatchParts,
    is_single: bool,
    watcher: &mut dyn FnMut(&Event, &Match),
) -> io::Result<(Finished, Staying)> {
    let mut begun = Match::begin(game, header);
    if let Some(key) = draw_key {
        begun.0.draw_by(key);
    }
    let starting = Some(starting);
    let recording = Recording::new(sink, watcher, hides && begun.0.game().is_hidden());
    let mut drive = Drive::begin(core, begun, participants, recording, starting, None)?;
    drive.examines = is_single;
    drive.apply();
    while drive.ending.is_none() {
        let event = drive.next().await;
        drive.take(event);
        drive.examine().await;
        drive.ask_beside();
    }
    let staying = drive.close().await?;
    if is_single && let Some(view) = drive.state.game().prepare_view() {
        view.await;
    }
    Ok((drive.finish(is_single)?, staying))
}

/// An event for the loop.
enum DriveEvent {
    Event(Seat, Instant, AgentEvent),
    /// What was kept of a seat that is judged now.
    Kept(KeptEvent),
    /// The slot that the request waited for is held.
    Slot,
    Orders(Orders),
    /// The rules have answered what the line leads to that waits for them.
    Prepared,
    /// A seat could not be started, and it is known whether a good program can be.
    StartChecked(bool),
    Timer,
}

type Waiting<T> = Pin<Box<dyn Future<Output = T>>>;
type NewOrders = PollOnWake<Waiting<watch::Receiver<Orders>>>;

struct Drive<'a> {
    core: &'a CoreContext,
    state: Match,
    effects: VecDeque<Effect>,
    participants: Vec<Participant>,
    ends: Vec<SeatEnd>,
    time: MatchTime,
    turn: TurnState,
    early: EarlySeats,
    step: Step,
    freezer: Freezer,
    readings: Readings,
    recording: Recording<'a>,
    /// A line of an agent, while the program with the rules says what it leads to.
    waiting_line: Option<Box<WaitingLine>>,
    /// An end or a failed start, while its cause is found out.
    cause_check: Option<Box<CauseCheck>>,
    orders: NewOrders,
    /// Tells the referee when the agents have been stopped in a pause; `None` once the match has ended.
    pausing: Option<PausedMatch>,
    timer: Box<PollOnWake<Alarm>>,
    /// When the timer fires; it may fire too early, never too late.
    timer_set: Option<Instant>,
    /// The line of a message that is being written.
    message: Vec<u8>,
    ending: Option<Ending>,
    /// Whether agents that don't answer are examined before they are killed.
    examines: bool,
    /// The seat that is examined before anything else happens.
    examined: Option<Seat>,
    /// The state of a partial match, if it is one.
    part: Option<PartState>,
}

/// A line of an agent that waits for the program with the rules.
struct WaitingLine {
    seat: Seat,
    at: Instant,
    line: Line,
    reading: Reading,
    rules: Pending<()>,
}

/// What is known of a seat's end.
#[derive(Debug, Default)]
struct SeatEnd {
    seen: LastSeen,
    /// Whether its exit has been recorded.
    is_recorded: bool,
}

impl<'a> Drive<'a> {
    fn begin(
        core: &'a CoreContext,
        (state, effects): (Match, Vec<Effect>),
        participants: Vec<Participant>,
        recording: Recording<'a>,
        starting: Option<StartGuard>,
        part: Option<PartialMatchRules>,
    ) -> io::Result<Self> {
        let seats = participants.len();
        let mut changes = core.orders.clone();
        let orders = changes.borrow_and_update().clone();
        let time = MatchTime::begin(core.paused.clone());
        let began = time.began;
        let mut drive = Self {
            freezer: Freezer::new(state.header().sandbox.pondering, seats, orders.paused),
            core,
            state,
            effects: effects.into(),
            participants,
            ends: std::iter::repeat_with(SeatEnd::default).take(seats).collect(),
            time,
            turn: TurnState::new(began, starting),
            early: EarlySeats::new(core.beside),
            step: Step::new(began),
            readings: Readings::default(),
            recording,
            waiting_line: None,
            cause_check: None,
            orders: next_orders(changes),
            pausing: Some(core.paused.join(orders.paused)),
            timer: Box::new(PollOnWake::new(Alarm::new()?)),
            timer_set: None,
            message: Vec::new(),
            ending: None,
            examines: false,
            examined: None,
            part: part.map(PartState::new),
        };
        drive.report_absent();
        if let Some(text) = orders.stop {
            drive.input(Input::Stop { cause: "interrupted", text, seat: None });
        }
        Ok(drive)
    }

    fn input(&mut self, input: Input<'_>) {
        self.input_at(Instant::now(), input);
    }

    fn input_at(&mut self, moment: Instant, input: Input<'_>) {
        let at = self.time.of(moment);
        // While rules are asked, nobody is heard.
        let holds = self.early.thinks() && self.cause_check.is_none();
        if holds {
            self.time.hold(Instant::now());
        }
        self.state.step(at, input, &mut self.effects);
        if holds {
            self.time.release(Instant::now());
        }
    }

    /// Returns when the match must be stepped, on the machine's clock.
    fn wake_at(&self) -> Option<Instant> {
        let is_patient = self.part.as_ref().is_some_and(|part| part.rules.is_patient);
        self.time.when(self.state.wake_at().filter(|_| !is_patient)?)
    }

    async fn next(&mut self) -> DriveEvent {
        let wake_at = match &self.cause_check {
            Some(check) => check.wake_at(),
            None => self.wake_at().into_iter().chain(self.freezer.wake_at()).min(),
        };
        let flush_at = self.recording.flush_at();
        let wanted = match &self.waiting_line {
            Some(_) => self.freezer.due(),
            None => Some(wake_at.map_or(flush_at, |it| it.min(flush_at))),
        };
        if let Some(wanted) = wanted.filter(|wanted| self.timer_set.is_none_or(|it| *wanted < it)) {
            self.timer_set = Some(wanted);
            self.timer.source.set(wanted);
        }
        self.polled().await
    }

    /// Waits for the next event, after the others of the core if it has worked for long.
    async fn polled(&mut self) -> DriveEvent {
        self.step.before_wait().await;
        let event = poll_fn(|context| {
            let event = self.poll_next(context);
            if event.is_pending() {
                self.step.note_wait();
            }
            event
        })
        .await;
        self.step.after_wait(match event {
            DriveEvent::Event(_, at, _) => Some(at),
            _ => None,
        });
        event
    }

    /// Events of agents come before the timer: an answer that has arrived is not late because the timer
    /// was polled first. Lines that were read come before everything, as they have the earliest time.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<DriveEvent> {
        if let Some(waiting) = &mut self.waiting_line {
            // Nothing that comes later is looked at before this line is judged, unless it is kept.
            if waiting.rules.as_mut().poll(context).is_ready() {
                return Poll::Ready(DriveEvent::Prepared);
            }
            let kept = self.poll_participants(context, |seat, early| early.is_heard(seat));
            return if kept.is_ready() { kept } else { self.poll_timer(context) };
        }
        let has_rest = self.step.rest.is_some() || !self.early.opened.is_empty();
        if has_rest
            && self.early.come_first()
            && let Poll::Ready(event) =
                self.poll_participants(context, |seat, early| early.is_heard(seat))
        {
            return Poll::Ready(event);
        }
        // What others have written before doesn't delay those that think.
        if let Some(thinks) = self.state.thinking()
            && self.step.rest.as_ref().is_some_and(|(seat, ..)| *seat != thinks)
            && self.early.has_room(self.state.header().limits.turn_bytes)
            && let Poll::Ready(event) = self
                .poll_participants(context, |seat, early| seat == thinks || early.is_heard(seat))
        {
            return Poll::Ready(event);
        }
        if let Some((seat, at, line)) = self.step.rest.take() {
            return Poll::Ready(DriveEvent::Event(seat, at, AgentEvent::Line(line)));
        }
        if let Some(kept) = self.early.opened.pop_front() {
            return Poll::Ready(DriveEvent::Kept(kept));
        }
        let orders = self.orders.poll(context, |orders, context| orders.as_mut().poll(context));
        if let Poll::Ready(mut orders) = orders {
            let new = orders.borrow_and_update().clone();
            self.orders = next_orders(orders);
            return Poll::Ready(DriveEvent::Orders(new));
        }
        let checked = self.cause_check.as_ref().map(|check| check.seat);
        let is_read = |seat, early: &EarlySeats| {
            checked.is_none_or(|checked| checked == seat || early.has(seat)) && early.is_read(seat)
        };
        if let Poll::Ready(event) = self.poll_participants(context, is_read) {
            return Poll::Ready(event);
        }
        if let Some(check) = &mut self.cause_check
            && let Poll::Ready(good_starts) = check.poll(context)
        {
            return Poll::Ready(DriveEvent::StartChecked(good_starts));
        }
        if self.turn.slot.poll(context).is_ready() {
            return Poll::Ready(DriveEvent::Slot);
        }
        self.poll_timer(context)
    }

    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<DriveEvent> {
        self.timer.poll(context, Alarm::poll_expired).map(|()| {
            self.timer_set = None;
            DriveEvent::Timer
        })
    }

    /// Looks for an event of some seats.
    fn poll_participants(
        &mut self,
        context: &mut Context<'_>,
        is_read: impl Fn(Seat, &EarlySeats) -> bool,
    ) -> Poll<DriveEvent> {
        let mut scratch = self.core.scratch.borrow_mut();
        for seat in self.early.in_turn(self.participants.len(), self.state.thinking()) {
            let participant = &mut self.participants[seat.index()];
            if is_read(seat, &self.early)
                && let Poll::Ready((at, event)) = participant.poll_event(context, &mut scratch)
            {
                self.early.note_read(seat);
                return Poll::Ready(DriveEvent::Event(seat, at, event));
            }
        }
        Poll::Pending
    }
}

/// The exit status of a process that the referee has killed.
const KILLED: &str = "killed by the referee";

/// Waits for orders that come after those that were last seen: marking the present ones as seen here would lose what came
/// since.
fn next_orders(mut orders: watch::Receiver<Orders>) -> NewOrders {
    PollOnWake::new(Box::pin(async move {
        if orders.changed().await.is_err() {
            // No more orders can come.
            std::future::pending::<()>().await;
        }
        orders
    }))
}

#[cfg(test)]
mod tests {
    use super::next_orders;
    use crate::core_context::Orders;
    use std::task::{Context, Waker};
    use tokio::sync::watch;

    #[test]
    fn orders_that_come_as_a_match_begins_reach_it() {
        let sender = watch::Sender::new(Orders::default());
        let mut changes = sender.subscribe();
        assert_eq!(changes.borrow_and_update().stop, None);
        sender.send_modify(|orders| orders.stop = Some("interrupted".to_owned()));
        let mut orders = next_orders(changes);
        let context = Context::from_waker(Waker::noop());
        let polled = orders.poll(&context, |orders, context| orders.as_mut().poll(context));
        assert!(polled.is_ready());
    }
}
