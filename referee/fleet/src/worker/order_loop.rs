//! Takes orders, plays and reports them.

use super::leases::{Accepted, HeldOrder};
use super::orders::{attempt_of, block_of, read};
use super::phase::{LeaveReason, Phase};
use super::playing::{Outcome, play, seated};
use super::reporting::report;
use super::session::Session;
use crate::link::{
    consumer, fetch, is_announced, send_unacknowledged, wait, wait_connected, wait_until,
};
use crate::names::WORKERS;
use crate::{FaultCause, Order, WorkerFault};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::{AckKind, Message};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long the server holds a request for orders.
const PULL: Duration = Duration::from_secs(5);
/// The interval at which to check that the contest still exists: while no order arrives, and while
/// all slots are busy.
const CHECK_INTERVALS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(20));
/// The time without work after which it looks for another contest.
const IDLE: Duration = Duration::from_secs(10);
/// After which time the server delivers an order again that waits for a build, or that this worker leaves to others. So it
/// asks for the next ones at once.
const LATER: Duration = Duration::from_secs(2);
/// An order needs a slot while it is played, and a place until it is reported. There are more
/// places than slots, so that slots don't wait for the server.
struct Permits {
    slots: Arc<Semaphore>,
    held: Arc<Semaphore>,
    all: u32,
}

type Permit = OwnedSemaphorePermit;

/// Takes orders until the session ends, then waits until all of them are done.
pub(super) async fn run_orders(session: Arc<Session>, slots: usize) {
    let all = slots.saturating_mul(2);
    let permits = Permits {
        slots: Arc::new(Semaphore::new(slots)),
        held: Arc::new(Semaphore::new(all)),
        all: u32::try_from(all).unwrap_or(u32::MAX),
    };
    let mut phases = session.phase.subscribe();
    // An order that arrives after this would wait for the end of its lease. So a worker that is needed
    // elsewhere finishes its request first.
    let ends = |phase: &Phase| phase.why().is_some_and(|why| why != LeaveReason::Elsewhere);
    let over = async { phases.wait_for(ends).await.is_ok() };
    tokio::select! {
        _ = over => {}
        () = take(&session, &permits) => {}
    }
    let mut watch = Watch::new();
    loop {
        tokio::select! {
            // Each order releases its place when it is done.
            _ = permits.held.acquire_many(permits.all) => return,
            () = tokio::time::sleep(CHECK_INTERVALS.0) => watch.check(&session, CHECK_INTERVALS.0).await,
        }
    }
}

/// Takes orders until everything is dropped or there is a reason to leave.
async fn take(session: &Arc<Session>, permits: &Permits) {
    let mut watch = Watch::new();
    let mut known = None;
    loop {
        if !session.connection.is_up() {
            wait_connected(session.connection.up.clone()).await;
            known = None;
        }
        tokio::time::sleep(session.setbacks.pause()).await;
        let acquired = tokio::time::timeout(CHECK_INTERVALS.1, acquire(permits)).await;
        let Some((slot, place)) = acquired.ok().flatten() else {
            watch.check(session, CHECK_INTERVALS.1).await;
            continue;
        };
        if session.phase.borrow().why().is_some() {
            return;
        }
        let count = permits.slots.available_permits().min(permits.held.available_permits()) + 1;
        // A request on a lost connection is not answered any more.
        let pulled = tokio::select! {
            pulled = pull(session, &mut known, count) => pulled,
            () = wait_until(session.connection.up.clone(), false) => continue,
        };
        let messages = pulled.unwrap_or_else(|error| {
            tracing::debug!("can't pull orders: {error}");
            known = None;
            Vec::new()
        });
        if messages.is_empty() {
            if known.is_none() {
                tokio::time::sleep(CHECK_INTERVALS.0 / 4).await;
            }
            watch.check(session, CHECK_INTERVALS.0).await;
            continue;
        }
        watch.idle = Instant::now();
        let mut first = Some((slot, place));
        for message in decline(session, messages).await {
            // The server sends no more than requested; if it did, the rest would wait here.
            let taken = match first.take() {
                None => acquire(permits).await,
                taken => taken,
            };
            let Some((slot, place)) = taken else { return };
            tokio::spawn(order(session.clone(), message, slot, place));
        }
    }
}

async fn acquire(permits: &Permits) -> Option<(Permit, Permit)> {
    let slot = permits.slots.clone().acquire_owned().await.ok()?;
    let place = permits.held.clone().acquire_owned().await.ok()?;
    Some((slot, place))
}

/// Returns orders to the server at which this worker has just failed, so that others try, and keeps the
/// rest.
async fn decline(session: &Session, messages: Vec<Message>) -> Vec<Message> {
    let lease = session.contest.checked.lease;
    let is_left = |message: &Message| {
        let block = block_of(&message.subject);
        block.is_some_and(|block| session.setbacks.has_failed_at(block, lease))
    };
    let (left, own): (Vec<Message>, Vec<Message>) = messages.into_iter().partition(is_left);
    for message in left {
        let (_, acker) = message.split();
        send_unacknowledged(acker.ack_with(AckKind::Nak(Some(LATER)))).await;
    }
    own
}

/// Returns as many orders as there are free slots, or the next one that arrives.
async fn pull(
    session: &Session,
    known: &mut Option<Consumer<pull::Config>>,
    free: usize,
) -> Result<Vec<Message>, String> {
    let consumer = if let Some(consumer) = known {
        consumer
    } else {
        let (jetstream, names) = (&session.connection.jetstream, &session.contest.announced.names);
        known.insert(consumer(jetstream, WORKERS, names.orders_stream()).await?)
    };
    if free > 1 {
        let messages = fetch(consumer, free).await?;
        if !messages.is_empty() {
            return Ok(messages);
        }
    }
    Ok(wait(consumer, PULL).await?.into_iter().collect())
}

/// Checks that are due while no order arrives.
struct Watch {
    /// When it was last checked that the contest exists.
    checked_at: Instant,
    /// Since when there has been no work.
    idle: Instant,
}

impl Watch {
    fn new() -> Self {
        Self { checked_at: Instant::now(), idle: Instant::now() }
    }

    async fn check(&mut self, session: &Session, every: Duration) {
        if !session.leases.list().is_empty() {
            self.idle = Instant::now();
        }
        if self.checked_at.elapsed() < every || !session.connection.is_up() {
            return;
        }
        self.checked_at = Instant::now();
        let (jetstream, names) = (&session.connection.jetstream, &session.contest.announced.names);
        match is_announced(jetstream, names).await {
            Ok(false) => session.advance(Phase::Dropped(LeaveReason::Over)),
            Ok(true) if self.idle.elapsed() > IDLE => {
                self.idle = Instant::now();
                session.leave_for_other(|_| true).await;
            }
            Ok(true) => {}
            Err(error) => tracing::debug!("can't list contests: {error}"),
        }
    }
}

/// Handles an order from its arrival to its end.
async fn order(session: Arc<Session>, message: Message, slot: Permit, place: Permit) {
    let (message, acker) = message.split();
    let acker = Arc::new(acker);
    let Some(block) = block_of(&message.subject) else {
        return send_unacknowledged(acker.ack_with(AckKind::Term)).await;
    };
    let read = read(&message.payload, block, &session.contest.checked);
    let (order, invalid) = match read {
        Ok(order) => (order, None),
        Err(error) => {
            let id = message.headers.as_ref().and_then(|all| all.get("Nats-Msg-Id"));
            let attempt = id.and_then(|id| attempt_of(id.as_str())).unwrap_or(0);
            (Order { block, attempt, fixtures: Vec::new(), void_retries: 0 }, Some(error))
        }
    };
    match (session.leases.take(&order, acker.clone()), invalid) {
        (Accepted::New(held), None) => play_one(&session, &held, &order, slot).await,
        (Accepted::New(held), Some(error)) => {
            let outcome = Err(WorkerFault::new(FaultCause::Order, error));
            deliver(&session, &held, outcome, slot).await;
        }
        // The running order is acknowledged for both.
        (Accepted::Again, _) => {}
        (Accepted::Busy, _) => {
            let lease = session.contest.checked.lease;
            send_unacknowledged(acker.ack_with(AckKind::Nak(Some(lease)))).await;
        }
    }
    drop(place);
}

/// Plays an order and reports it, unless everything is dropped. If one of its agents is to be built, the server delivers it
/// again later: a build may take minutes, and nobody waits for an order that is held meanwhile.
async fn play_one(session: &Session, held: &HeldOrder, order: &Order, slot: Permit) {
    let began = Instant::now();
    let mut players = order.fixtures.iter().flat_map(|fixture| &fixture.players);
    if players.any(|player| session.contest.is_to_be_built(*player)) {
        give_back(session, held, AckKind::Nak(Some(LATER))).await;
        tokio::select! {
            _ = session.drop_for(|_| true) => {}
            // What fails is reported with the next order.
            _ = seated(session, order) => {}
        }
        return;
    }
    let played = tokio::select! {
        biased;
        why = session.drop_for(|_| true) => return answer(session, held, why).await,
        played = async {
            match seated(session, order).await {
                Ok(seated) => Some(play(session, order, &seated?).await),
                Err(fault) => Some(Err(fault)),
            }
        } => played,
    };
    // The failure may be a result of the pause.
    if let Some(why) = session.dropped() {
        return answer(session, held, why).await;
    }
    let Some(played) = played else {
        return give_back(session, held, AckKind::Nak(Some(LATER))).await;
    };
    session.record_order(began.elapsed());
    deliver(session, held, played, slot).await;
}

async fn deliver(session: &Session, held: &HeldOrder, outcome: Outcome, slot: Permit) {
    match &outcome {
        Ok(_) => session.setbacks.played(held.block),
        Err(fault) => {
            tracing::warn!("can't play block {}: {}", held.block, fault.text);
            session.setbacks.failed(held.block, fault);
        }
    }
    drop(slot);
    let why = tokio::select! {
        reported = report(session, held, &outcome) => (!reported).then_some(LeaveReason::Broken),
        // A finished order is still valid if the process is paused after it.
        why = session.drop_for(|why| !matches!(why, LeaveReason::Stalled(_))) => Some(why),
    };
    if why == Some(LeaveReason::Broken) {
        session.setbacks.failed(held.block, &WorkerFault::new(FaultCause::Machine, ""));
    }
    match why {
        None => {
            let matches = outcome.as_deref().unwrap_or_default();
            // Some games were played more than once.
            let games = matches.chunk_by(|one, next| one.number == next.number).count() as u64;
            session.played.fetch_add(games, Ordering::Relaxed);
            session.contest.played.fetch_add(games, Ordering::Relaxed);
        }
        Some(why) => answer(session, held, why).await,
    }
    for packed in outcome.iter().flatten() {
        std::fs::remove_file(&packed.path).ok();
    }
}

/// Returns an order to the server that is not reported.
async fn answer(session: &Session, held: &HeldOrder, why: LeaveReason) {
    let lease = session.contest.checked.lease;
    let kind = match why {
        // It is not needed; a resumed contest orders again.
        LeaveReason::Stopped => AckKind::Term,
        // The server has delivered it to another worker already.
        LeaveReason::Stalled(gap) if gap > lease => return,
        LeaveReason::Over => return,
        _ => AckKind::Nak(None),
    };
    give_back(session, held, kind).await;
}

async fn give_back(session: &Session, held: &HeldOrder, kind: AckKind) {
    let Some(acker) = held.done(held.attempt()) else { return };
    if session.connection.is_up() {
        send_unacknowledged(acker.ack_with(kind)).await;
    }
}
