//! A fake worker: it sends the same messages as a real one, and plays by the rules alone.

use crate::Outcome;
use crate::fake_workers::FakeWorkers;
use crate::play::play;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::{AckKind, PublishMessage};
use async_nats::jetstream::{Context, Message};
use futures_util::{StreamExt, TryStreamExt};
use referee_fleet::messages::{HEARTBEAT_MS, with_bytes};
use referee_fleet::{BUILD, Heartbeat, Order, Payload, PlayedMatch, Report, WorkerInfo, names};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long the server holds a request for orders.
const PULL: Duration = Duration::from_secs(5);
/// The delay after an error.
const PAUSE: Duration = Duration::from_millis(500);

/// Plays until the contest is over.
pub(crate) async fn work(shared: Arc<FakeWorkers>, number: usize) -> Outcome<()> {
    let client = async_nats::connect(shared.url.as_str()).await?;
    let context = async_nats::jetstream::new(client.clone());
    let stream = shared.names.orders_stream();
    let consumer = context.get_consumer_from_stream(names::WORKERS, stream).await?;
    let worker = Rc::new(Worker {
        info: info(number, shared.slots),
        slots: Arc::new(Semaphore::new(shared.slots)),
        shared,
        context,
        consumer,
        orders: RefCell::default(),
    });
    let taking = worker.clone();
    let taking = tokio::task::spawn_local(async move { taking.take().await });
    let mut beats = tokio::time::interval(Duration::from_millis(HEARTBEAT_MS));
    while !taking.is_finished() {
        beats.tick().await;
        let beat = serde_json::to_vec(&worker.beat())?;
        client.publish(worker.shared.names.beats(), beat.into()).await?;
    }
    Ok(())
}

fn info(number: usize, slots: usize) -> WorkerInfo {
    let slots = u32::try_from(slots).unwrap_or(u32::MAX);
    WorkerInfo {
        id: format!("{number:016x}"),
        name: format!("fake-{number}"),
        referee: BUILD.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        slots,
        cores: slots,
        memory_mb: 16_384,
        speed: 1000.0,
        noise: 1.0,
        ..WorkerInfo::default()
    }
}

struct Worker {
    shared: Arc<FakeWorkers>,
    info: WorkerInfo,
    slots: Arc<Semaphore>,
    context: Context,
    consumer: PullConsumer,
    /// The orders being played, with the first game of each.
    orders: RefCell<BTreeMap<(u64, u32), u64>>,
}

impl Worker {
    fn beat(&self) -> Heartbeat {
        let orders = self.orders.borrow();
        Heartbeat {
            worker: self.info.clone(),
            orders: orders.keys().copied().collect(),
            games: orders.values().copied().collect(),
            ..Heartbeat::default()
        }
    }

    /// Takes as many orders as there are free slots, as long as the contest exists.
    async fn take(self: Rc<Self>) {
        let mut slot = None;
        loop {
            if slot.is_none() {
                slot = self.slots.clone().acquire_owned().await.ok();
            }
            match self.pull(self.slots.available_permits() + 1).await {
                Ok(messages) if !messages.is_empty() => {
                    for message in messages {
                        let own = match slot.take() {
                            Some(own) => Some(own),
                            None => self.slots.clone().acquire_owned().await.ok(),
                        };
                        tokio::task::spawn_local(self.clone().order(message, own));
                    }
                }
                Ok(_) if self.is_announced().await => {}
                Err(error) if self.is_announced().await => {
                    self.shared.record_error(&error.to_string());
                    tokio::time::sleep(PAUSE).await;
                }
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Returns all waiting orders up to `most`, or the next one that arrives.
    async fn pull(&self, most: usize) -> Outcome<Vec<Message>> {
        let mut messages = Vec::new();
        if most > 1 {
            let mut batch = self.consumer.fetch().max_messages(most).messages().await?;
            while let Some(message) = batch.next().await {
                messages.push(message?);
            }
        }
        if messages.is_empty() {
            let mut batch = self.consumer.batch().max_messages(1).expires(PULL).messages().await?;
            messages.extend(batch.try_next().await?);
        }
        Ok(messages)
    }

    /// Returns whether the contest is still announced.
    async fn is_announced(&self) -> bool {
        let Ok(bucket) = self.context.get_key_value(names::CONTESTS).await else { return false };
        bucket.get(&self.shared.names.id).await.is_ok_and(|announcement| announcement.is_some())
    }

    /// Plays an order, reports it and acknowledges it last.
    async fn order(self: Rc<Self>, message: Message, slot: Option<OwnedSemaphorePermit>) {
        if let Err(error) = self.serve(&message, slot).await {
            self.shared.record_error(&error.to_string());
        }
    }

    async fn serve(&self, message: &Message, slot: Option<OwnedSemaphorePermit>) -> Outcome<()> {
        let order: Order = serde_json::from_slice(&message.payload)?;
        let key = (order.block, order.attempt);
        let first = order.fixtures.first().map_or(0, |fixture| fixture.number);
        self.orders.borrow_mut().insert(key, first);
        let done = self.play(&order, message, slot).await;
        self.orders.borrow_mut().remove(&key);
        done
    }

    /// Plays the games of an order, and reports them.
    async fn play(
        &self,
        order: &Order,
        message: &Message,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Outcome<()> {
        let mut played = Vec::with_capacity(order.fixtures.len());
        for fixture in &order.fixtures {
            self.think(message).await?;
            played.push((fixture.number, play(&self.shared.contest, fixture)?));
        }
        drop(slot);
        self.report(order, message, &played).await
    }

    /// Waits for the duration of a game, and renews the lease meanwhile.
    async fn think(&self, message: &Message) -> Outcome<()> {
        let mut left = self.shared.game_time;
        let third = self.shared.lease / 3;
        while !left.is_zero() {
            let some = left.min(third);
            tokio::time::sleep(some).await;
            left = left.saturating_sub(some);
            message.ack_with(AckKind::Progress).await?;
        }
        Ok(())
    }

    async fn report(
        &self,
        order: &Order,
        message: &Message,
        played: &[(u64, Vec<u8>)],
    ) -> Outcome<()> {
        let tries = played.iter().map(|(number, bytes)| {
            let transcript = Payload::Message { bytes: bytes.len() as u64 };
            PlayedMatch { number: *number, transcript, signature: None }
        });
        let report = Report {
            block: order.block,
            attempt: order.attempt,
            worker: self.info.id.clone(),
            tries: tries.collect(),
            fault: None,
        };
        let parcels: Vec<&[u8]> = played.iter().map(|(_, bytes)| &bytes[..]).collect();
        let id = format!("{}-{}-{}", order.block, order.attempt, self.info.id);
        let publish = PublishMessage::build().message_id(id);
        let publish = publish.payload(with_bytes(&report, &parcels).into());
        let subject = self.shared.names.report(order.block);
        self.context.send_publish(subject, publish).await?.await?;
        self.shared.reported.fetch_add(played.len() as u64, Ordering::Relaxed);
        message.double_ack().await?;
        Ok(())
    }
}
