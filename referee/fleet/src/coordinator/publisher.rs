//! Adds orders to the queue and removes them. Failed changes are retried as long as they are
//! wanted.

use crate::Names;
use crate::connect::Connection;
use crate::link::{CALL_TIMEOUT, call, publish, wait_connected};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The number of changes at once.
const AT_ONCE: usize = 128;
/// The delay after an error.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// A change of the queue: replaces the order for a block, or removes it.
#[derive(Clone, Debug)]
pub(super) struct QueueChange {
    pub(super) block: u64,
    /// The attempt and the message of a new order; `None` removes the order.
    pub(super) order: Option<(u32, Vec<u8>)>,
}

/// An order that is in the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Published {
    pub(super) block: u64,
    pub(super) attempt: u32,
    /// Its number in the stream.
    pub(super) number: u64,
}

/// Starts a task that applies changes until the sender is dropped. There are no more of them than
/// outstanding orders.
pub(super) fn start(
    connection: Connection,
    names: Names,
) -> (mpsc::UnboundedSender<QueueChange>, mpsc::UnboundedReceiver<Published>) {
    let (changes, requests) = mpsc::unbounded_channel();
    let (sender, published) = mpsc::unbounded_channel();
    let task = OrderPublisher {
        connection,
        names,
        published: sender,
        wanted: BTreeMap::new(),
        busy: BTreeSet::new(),
        running: JoinSet::new(),
    };
    tokio::spawn(task.run(requests));
    (changes, published)
}

/// The result of a change: block, attempt of a new order, and its number in the stream.
type Done = (u64, Option<u32>, Result<u64, String>);

struct OrderPublisher {
    connection: Connection,
    names: Names,
    published: mpsc::UnboundedSender<Published>,
    /// The last change for each block that is not applied yet.
    wanted: BTreeMap<u64, QueueChange>,
    /// Blocks whose change is being applied, or waits after an error.
    busy: BTreeSet<u64>,
    running: JoinSet<Done>,
}

impl OrderPublisher {
    async fn run(mut self, mut requests: mpsc::UnboundedReceiver<QueueChange>) {
        let mut is_open = true;
        while is_open || !self.wanted.is_empty() {
            self.start_due();
            tokio::select! {
                change = requests.recv(), if is_open => match change {
                    Some(change) => drop(self.wanted.insert(change.block, change)),
                    None => is_open = false,
                },
                Some(done) = self.running.join_next(), if !self.running.is_empty() => {
                    if let Ok(done) = done {
                        self.done(done);
                    }
                }
                () = self.published.closed() => return,
            }
        }
    }

    /// Starts to apply changes, as many at once as allowed.
    fn start_due(&mut self) {
        let free = AT_ONCE.saturating_sub(self.running.len());
        let due = self.wanted.values().filter(|change| !self.busy.contains(&change.block));
        for QueueChange { block, order } in due.take(free).cloned().collect::<Vec<_>>() {
            self.busy.insert(block);
            let (connection, names) = (self.connection.clone(), self.names.clone());
            self.running.spawn(async move {
                let attempt = order.as_ref().map(|(attempt, _)| *attempt);
                let result = match order {
                    Some((attempt, message)) => {
                        let (subject, id) = (names.order(block), format!("{block}-{attempt}"));
                        publish(&connection.jetstream, subject, id, message).await
                    }
                    None => remove(&connection, &names, block).await,
                };
                if let Err(error) = &result {
                    tracing::debug!("the order for block {block}: {error}");
                    tokio::time::sleep(RETRY_DELAY).await;
                    wait_connected(connection.up).await;
                }
                (block, attempt, result)
            });
        }
    }

    fn done(&mut self, (block, attempt, result): Done) {
        self.busy.remove(&block);
        let Ok(number) = result else { return };
        let is_it = |change: &QueueChange| change.order.as_ref().map(|it| it.0) == attempt;
        if self.wanted.get(&block).is_some_and(is_it) {
            self.wanted.remove(&block);
        }
        if let Some(attempt) = attempt {
            self.published.send(Published { block, attempt, number }).ok();
        }
    }
}

async fn remove(connection: &Connection, names: &Names, block: u64) -> Result<u64, String> {
    let stream = connection.jetstream.get_stream_no_info(names.orders_stream());
    let stream = call(stream).await?;
    // By its number: servers of version 2.9 lose all waiting orders if a single subject is purged.
    let subject = names.order(block);
    let found =
        tokio::time::timeout(CALL_TIMEOUT, stream.get_last_raw_message_by_subject(&subject));
    match found.await.map_err(|_| "the server did not answer".to_owned())? {
        Ok(message) => {
            call(stream.delete_message(message.sequence)).await?;
        }
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {}
        Err(error) => return Err(error.to_string()),
    }
    Ok(0)
}
