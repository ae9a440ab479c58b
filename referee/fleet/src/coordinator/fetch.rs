//! Fetches reports from the server, as many as fit in memory, and observes how far workers are in
//! the queue of orders.

use crate::Names;
use crate::connect::Connection;
use crate::link::{call, consumer, is_announced, wait_connected};
use crate::names::{BRIEF, COORDINATOR, WORKERS};
use async_nats::jetstream::Message;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;

/// The number of reports that are requested at once.
const AT_ONCE: usize = 256;
/// The minimum of requested bytes; never less than one message of the server.
const BYTES: usize = 4 << 20;
/// The maximum overhead of a message besides its bytes.
const OVERHEAD_BYTES: usize = 64 << 10;
/// How long the server waits for a report, and how often it says that it still does.
const PULL_TIME: Duration = Duration::from_secs(5);
const HEARTBEAT: Duration = Duration::from_secs(2);
/// The delay after an error.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// The interval at which the queue of orders is checked.
const OBSERVE_INTERVAL: Duration = Duration::from_secs(4);

/// Starts a task that fetches reports until the receiver is dropped.
pub(super) fn start(connection: Connection, names: Names) -> mpsc::Receiver<Message> {
    let (reports, fetched) = mpsc::channel(AT_ONCE);
    tokio::spawn(async move {
        while !reports.is_closed() {
            if let Err(error) = fetch(&connection, &names, &reports).await {
                tracing::debug!("reports: {error}");
                tokio::time::sleep(RETRY_DELAY).await;
                wait_connected(connection.up.clone()).await;
            }
        }
    });
    fetched
}

async fn fetch(
    connection: &Connection,
    names: &Names,
    reports: &mpsc::Sender<Message>,
) -> Result<(), String> {
    let consumer = consumer(&connection.jetstream, COORDINATOR, names.reports_stream()).await?;
    let bytes = BYTES.max(connection.client.max_payload() + OVERHEAD_BYTES);
    let stream = consumer.stream().max_messages_per_batch(AT_ONCE).max_bytes_per_batch(bytes);
    let mut messages = call(stream.expires(PULL_TIME).heartbeat(HEARTBEAT).messages()).await?;
    loop {
        let message = tokio::select! {
            message = messages.next() => message.ok_or("the connection was closed")?,
            () = reports.closed() => return Ok(()),
        };
        reports.send(message.map_err(|error| error.to_string())?).await.ok();
    }
}

/// The state of the queue of orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// Orders with numbers up to this one were delivered to workers.
    pub(super) delivered: u64,
    /// The number of the last order.
    pub(super) last: u64,
}

/// Starts a task that checks the queue of orders regularly. It reports an error if a part of the
/// contest is missing on the server.
pub(super) fn observe(
    connection: Connection,
    names: Names,
) -> mpsc::Receiver<Result<Queue, String>> {
    let (states, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(OBSERVE_INTERVAL).await;
            tokio::select! {
                () = wait_connected(connection.up.clone()) => {}
                () = states.closed() => return,
            }
            if states.send(queue(&connection, &names).await).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Returns the state of the queue if all of the contest is on the server.
pub(super) async fn queue(connection: &Connection, names: &Names) -> Result<Queue, String> {
    let about = |what: &'static str| move |error: String| format!("{what}: {error}");
    let (jetstream, orders) = (&connection.jetstream, names.orders_stream());
    let workers = consumer(jetstream, WORKERS, orders.clone()).await.map_err(about("orders"))?;
    let delivered = workers.cached_info().delivered.stream_sequence;
    let stream = call(jetstream.get_stream(orders)).await.map_err(about("orders"))?;
    // Without these no report arrives.
    let reports = consumer(jetstream, COORDINATOR, names.reports_stream()).await;
    reports.map_err(about("reports"))?;
    // Without these no worker can join.
    brief(connection, names).await.map_err(about("the brief"))?;
    if !is_announced(jetstream, names).await.map_err(about("the announcement"))? {
        return Err("the announcement was removed".to_owned());
    }
    Ok(Queue { delivered, last: stream.cached_info().state.last_sequence })
}

async fn brief(connection: &Connection, names: &Names) -> Result<(), String> {
    let bucket = call(connection.jetstream.get_object_store(names.bucket())).await?;
    let brief = call(bucket.info(BRIEF)).await?;
    if brief.deleted { Err("it was removed".to_owned()) } else { Ok(()) }
}
