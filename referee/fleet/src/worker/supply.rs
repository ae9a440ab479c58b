//! Orders come, are played, and are reported.

use super::finding::{has_orders, look};
use super::hands::{Held, Taken};
use super::orders::{attempt_of, block_of, read};
use super::phase::{Phase, Why};
use super::playing::{Outcome, Packed, play};
use super::reporting::report;
use super::session::Session;
use crate::link::{consumer, fetch, hand, is_announced, lost, there, wait};
use crate::names::WORKERS;
use crate::{FaultCause, Order, WorkerFault};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::{AckKind, Message};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long the server holds a question for orders.
const PULL: Duration = Duration::from_secs(5);
/// How often it is asked whether the contest is still there while nothing comes, and while all slots
/// are busy.
const ASKED: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(20));
/// How long there is nothing to do before another contest is looked for.
const IDLE: Duration = Duration::from_secs(10);
/// How long a pause is after orders that this worker leaves to others or can't play, at least and at
/// most: it doubles. Meanwhile others take them.
const VAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));
/// How long a pause is after an order that the machine spoiled, at least and at most: it doubles.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// What orders take: a slot while they are played, and a place until they are reported, of which
/// there are more, so that slots don't wait for the server.
struct Places {
    slots: Arc<Semaphore>,
    held: Arc<Semaphore>,
    all: u32,
}

type Permit = OwnedSemaphorePermit;

/// Takes orders as long as the session does, and ends when all of them have come to an end.
pub(super) async fn supply(session: Arc<Session>, slots: usize) {
    let all = slots.saturating_mul(2);
    let places = Places {
        slots: Arc::new(Semaphore::new(slots)),
        held: Arc::new(Semaphore::new(all)),
        all: u32::try_from(all).unwrap_or(u32::MAX),
    };
    let mut phases = session.phase.subscribe();
    let over = async { phases.wait_for(|phase| phase.why().is_some()).await.is_ok() };
    tokio::select! {
        _ = over => {}
        () = take(&session, &places) => {}
    }
    let mut watch = Watch::new();
    loop {
        tokio::select! {
            // Whoever has a place gives it back when it has come to an end.
            _ = places.held.acquire_many(places.all) => return,
            () = tokio::time::sleep(ASKED.0) => watch.look(&session, ASKED.0).await,
        }
    }
}

/// Takes orders, until it is dropped or there is a reason to leave.
async fn take(session: &Arc<Session>, places: &Places) {
    let mut watch = Watch::new();
    let mut known = None;
    loop {
        if !session.connection.is_up() {
            there(session.connection.up.clone()).await;
            known = None;
        }
        pause(session).await;
        let Some((slot, place)) = free(places).await else {
            watch.look(session, ASKED.1).await;
            continue;
        };
        let count = places.slots.available_permits().min(places.held.available_permits()) + 1;
        // What was asked for on a connection that is gone isn't answered any more.
        let pulled = tokio::select! {
            pulled = pull(session, &mut known, count) => pulled,
            () = lost(session.connection.up.clone()) => continue,
        };
        let messages = pulled.unwrap_or_else(|error| {
            tracing::debug!("no orders: {error}");
            known = None;
            Vec::new()
        });
        if messages.is_empty() {
            if known.is_none() {
                tokio::time::sleep(ASKED.0 / 4).await;
            }
            watch.look(session, ASKED.0).await;
            continue;
        }
        watch.idle = Instant::now();
        let mut first = Some((slot, place));
        for message in leave(session, messages).await {
            // There are as many as were asked for at most; were there more, they would wait here.
            let taken = match first.take() {
                None => free_for_ever(places).await,
                taken => taken,
            };
            let Some((slot, place)) = taken else { return };
            tokio::spawn(order(session.clone(), message, slot, place));
        }
    }
}

/// A slot and a place, if they come free before it is time to look after other things.
async fn free(places: &Places) -> Option<(Permit, Permit)> {
    tokio::time::timeout(ASKED.1, free_for_ever(places)).await.ok().flatten()
}

async fn free_for_ever(places: &Places) -> Option<(Permit, Permit)> {
    let slot = places.slots.clone().acquire_owned().await.ok()?;
    let place = places.held.clone().acquire_owned().await.ok()?;
    Some((slot, place))
}

/// Whoever spoils every order should not take them all.
async fn pause(session: &Session) {
    let rest = |row: &AtomicU64, (least, most): (Duration, Duration)| {
        let before = row.load(Ordering::Relaxed).checked_sub(1)?;
        Some((least * (1_u32 << before.min(6))).min(most))
    };
    if let Some(rest) = rest(&session.spoiled, PAUSE).max(rest(&session.vain, VAIN)) {
        tokio::time::sleep(rest).await;
    }
}

/// Gives back at once what others are to play; the rest is this worker's.
async fn leave(session: &Session, messages: Vec<Message>) -> Vec<Message> {
    let is_left = |message: &Message| {
        let order: Result<Order, _> = serde_json::from_slice(&message.payload);
        order.is_ok_and(|order| order.avoid.contains(&session.info.id))
    };
    let (left, own): (Vec<Message>, Vec<Message>) = messages.into_iter().partition(is_left);
    if own.is_empty() {
        session.vain.fetch_add(1, Ordering::Relaxed);
    }
    for message in left {
        let (_, acker) = message.split();
        hand(acker.ack_with(AckKind::Nak(None))).await;
    }
    own
}

/// As many orders as are free to be played, or the next one that comes.
async fn pull(
    session: &Session,
    known: &mut Option<Consumer<pull::Config>>,
    free: usize,
) -> Result<Vec<Message>, String> {
    let consumer = if let Some(consumer) = known {
        consumer
    } else {
        let (jetstream, names) = (&session.connection.jetstream, &session.joined.names);
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

/// What is looked after while nothing comes.
struct Watch {
    /// When it was last asked whether the contest is there.
    asked: Instant,
    /// Since when there was nothing to do.
    idle: Instant,
}

impl Watch {
    fn new() -> Self {
        Self { asked: Instant::now(), idle: Instant::now() }
    }

    async fn look(&mut self, session: &Session, every: Duration) {
        if !session.hands.list().is_empty() {
            self.idle = Instant::now();
        }
        if self.asked.elapsed() < every || !session.connection.is_up() {
            return;
        }
        self.asked = Instant::now();
        let (jetstream, names) = (&session.connection.jetstream, &session.joined.names);
        match is_announced(jetstream, names).await {
            Ok(false) => session.turn(Phase::Dropped(Why::Over)),
            Ok(true) if self.idle.elapsed() > IDLE => {
                self.idle = Instant::now();
                if elsewhere(session).await {
                    session.turn(Phase::Leaving(Why::Elsewhere));
                }
            }
            Ok(true) => {}
            Err(error) => tracing::debug!("contests can't be listed: {error}"),
        }
    }
}

/// Whether orders of another contest wait that this worker plays in.
async fn elsewhere(session: &Session) -> bool {
    let found = look(&session.connection).await.unwrap_or_default();
    for other in found {
        let is_other = other.names != session.joined.names && session.wanted.wants(&other);
        if is_other && has_orders(&session.connection, &other.names).await {
            return true;
        }
    }
    false
}

/// An order from its coming to its end.
async fn order(session: Arc<Session>, message: Message, slot: Permit, place: Permit) {
    let (message, acker) = message.split();
    let acker = Arc::new(acker);
    let Some(block) = block_of(&message.subject) else {
        return hand(acker.ack_with(AckKind::Term)).await;
    };
    let read = read(&message.payload, block, &session.joined.checked);
    let (order, nonsense) = match read {
        Ok(order) => (order, None),
        Err(error) => {
            let id = message.headers.as_ref().and_then(|all| all.get("Nats-Msg-Id"));
            let attempt = id.and_then(|id| attempt_of(id.as_str())).unwrap_or(0);
            let (fixtures, avoid) = (Vec::new(), Vec::new());
            (Order { block, attempt, fixtures, void_retries: 0, avoid }, Some(error))
        }
    };
    match (session.hands.take(&order, acker.clone()), nonsense) {
        (Taken::New(held), None) => play_one(&session, &held, &order, slot).await,
        (Taken::New(held), Some(error)) => {
            let outcome = Err(WorkerFault::new(FaultCause::Order, error));
            deliver(&session, &held, outcome, slot).await;
        }
        // The one that is under way answers for this one too.
        (Taken::Again, _) => {}
        (Taken::Busy, _) => {
            let lease = session.joined.checked.lease;
            hand(acker.ack_with(AckKind::Nak(Some(lease)))).await;
        }
    }
    drop(place);
}

/// Plays an order and reports it, unless everything is dropped.
async fn play_one(session: &Session, held: &Held, order: &Order, slot: Permit) {
    let played = tokio::select! {
        biased;
        why = session.drop_for(|_| true) => return answer(session, held, why).await,
        played = play(session, order) => played,
    };
    // What failed may have failed because this process stood still.
    if let Some(why) = session.dropped() {
        return answer(session, held, why).await;
    }
    deliver(session, held, played, slot).await;
}

async fn deliver(session: &Session, held: &Held, outcome: Outcome, slot: Permit) {
    if let Err(fault) = &outcome {
        tracing::warn!("block {} can't be played here: {}", held.block(), fault.text);
    }
    let (spoiled, vain) = (&session.spoiled, &session.vain);
    match outcome.as_ref().map_err(|fault| fault.cause) {
        // The next order would fare no better.
        Err(FaultCause::Disk | FaultCause::Machine) => {
            spoiled.fetch_add(1, Ordering::Relaxed);
        }
        Err(_) => {
            vain.fetch_add(1, Ordering::Relaxed);
        }
        Ok(_) => [spoiled, vain].into_iter().for_each(|row| row.store(0, Ordering::Relaxed)),
    }
    drop(slot);
    let why = tokio::select! {
        reported = report(session, held, &outcome) => (!reported).then_some(Why::Broken),
        // That this process stood still makes what was played to its end no worse.
        why = session.drop_for(|why| !matches!(why, Why::Stalled(_))) => Some(why),
    };
    if why == Some(Why::Broken) {
        session.spoiled.fetch_add(1, Ordering::Relaxed);
    }
    match why {
        None => {
            let games = outcome.as_ref().map_or(0, |matches| counted(matches));
            session.played.fetch_add(games, Ordering::Relaxed);
        }
        Some(why) => answer(session, held, why).await,
    }
    for packed in outcome.iter().flatten() {
        std::fs::remove_file(&packed.path).ok();
    }
}

/// How many games these matches are, of which some were played more than once.
fn counted(matches: &[Packed]) -> u64 {
    let mut numbers: Vec<u64> = matches.iter().map(|packed| packed.number).collect();
    numbers.dedup();
    numbers.len() as u64
}

/// Gives an order back that isn't reported.
async fn answer(session: &Session, held: &Held, why: Why) {
    let Some(acker) = held.done(held.attempt()) else { return };
    let lease = session.joined.checked.lease;
    let kind = match why {
        // It is wanted no more; who resumes the contest orders anew.
        Why::Stopped => AckKind::Term,
        // The server has given it to somebody else already.
        Why::Stalled(gap) if gap > lease => return,
        Why::Over => return,
        _ => AckKind::Nak(None),
    };
    if session.connection.is_up() {
        hand(acker.ack_with(kind)).await;
    }
}
