//! The turn of a match: its request, the slot in which its agent thinks, and when it was asked.

use super::Waiting;
use crate::core_context::{CoreContext, Slot, StartGuard};
use referee_match::Reading;
use referee_protocol::{Nanos, Seat, Turn};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// When a seat was asked.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// When its request was written; at first, when the match began.
    pub(super) at: Instant,
    /// The same in the match's time, which later pauses don't change.
    pub(super) time: Nanos,
    /// The agent's reading at that time.
    pub(super) reading: Reading,
    /// How long its lines were judged since then, as far as others had to wait.
    pub(super) judged_for: Duration,
}

impl Asked {
    pub(super) fn new(at: Instant, time: Nanos, reading: Reading) -> Self {
        Self { at, time, reading, judged_for: Duration::ZERO }
    }
}

/// The current turn, and the one before while no request is written.
pub(super) struct TurnState {
    /// A request that is not written yet, because it waits for a slot or for its seat to be resumed.
    pub(super) request: Option<(Seat, Turn)>,
    pub(super) slot: ThinkingSlot,
    /// The last request.
    pub(super) asked: Asked,
}

impl TurnState {
    pub(super) fn new(began: Instant, starting: Option<StartGuard>) -> Self {
        Self {
            request: None,
            slot: ThinkingSlot { starting, held: None, coming: None },
            asked: Asked::new(began, Nanos(0), Reading::default()),
        }
    }

    /// Whether the request is for this seat.
    pub(super) fn wants(&self, seat: Seat) -> bool {
        self.request.as_ref().is_some_and(|(asked, _)| *asked == seat)
    }

    /// Withdraws the request if it is for this seat.
    pub(super) fn withdraw(&mut self, seat: Seat) {
        if self.wants(seat) {
            self.request = None;
            self.slot.coming = None;
        }
    }
}

/// The slot of a match on its core: one is held while an agent starts or thinks, or one is waited for.
pub(super) struct ThinkingSlot {
    /// The start of the agents, until all are ready or out.
    starting: Option<StartGuard>,
    held: Option<Slot>,
    coming: Option<Waiting<Slot>>,
}

impl ThinkingSlot {
    /// Ends the start of the agents. Its slot serves for the first turn.
    pub(super) fn end_start(&mut self) {
        self.held = self.starting.take().and_then(StartGuard::end);
    }

    /// Takes a slot, the held one if that isn't too old; else waits for one. Returns whether one is held.
    pub(super) fn take(&mut self, core: &CoreContext, now: Instant) -> bool {
        let held = self.held.take().filter(|held| held.may_be_kept(now));
        self.held = held.or_else(|| core.free_slot());
        if self.held.is_none() {
            self.coming = Some(Box::pin(core.slot()));
        }
        self.held.is_some()
    }

    /// Lets others think.
    pub(super) fn release(&mut self) {
        self.held = None;
    }

    /// Whether one is waited for.
    pub(super) fn is_awaited(&self) -> bool {
        self.coming.is_some()
    }

    /// Ready when the slot that is waited for is held.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(coming) = &mut self.coming else { return Poll::Pending };
        coming.as_mut().poll(context).map(|slot| {
            self.coming = None;
            self.held = Some(slot);
        })
    }
}
