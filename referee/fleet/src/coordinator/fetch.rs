//! Reports on their way from the server, some at once, no more than fit memory; and how far the
//! workers are with the orders.

use crate::Names;
use crate::connect::Connection;
use crate::link::{CALL, consumer, is_announced, next, there, within};
use crate::names::{BRIEF, COORDINATOR, WORKERS};
use async_nats::jetstream::Message;
use std::time::Duration;
use tokio::sync::mpsc;

/// So many reports are asked for at once.
const AT_ONCE: usize = 256;
/// So many bytes of them, at least; never less than the server takes as one message.
const BYTES: usize = 4 << 20;
/// What a message has beside its bytes, at most.
const ROOM_BYTES: usize = 64 << 10;
/// How long the server waits until there is one.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait when something has failed.
const AGAIN: Duration = Duration::from_millis(500);
/// How often the queue of orders is looked at.
const LOOK: Duration = Duration::from_secs(4);

/// Starts a task that fetches reports, until nobody takes them.
pub(super) fn start(connection: Connection, names: Names) -> mpsc::Receiver<Message> {
    // One lot is looked at while the next one comes.
    let (reports, fetched) = mpsc::channel(2 * AT_ONCE);
    tokio::spawn(async move {
        while !reports.is_closed() {
            if let Err(error) = fetch(&connection, &names, &reports).await {
                tracing::debug!("reports: {error}");
                tokio::time::sleep(AGAIN).await;
                there(connection.up.clone()).await;
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
    // Places for all that is asked for: what has come and isn't taken over in time would be handed out
    // again only when its lease is over.
    while let Ok(mut places) = reports.reserve_many(AT_ONCE).await {
        let bytes = BYTES.max(connection.client.max_payload() + ROOM_BYTES);
        let batch = consumer.batch().max_messages(AT_ONCE).max_bytes(bytes).expires(PATIENCE);
        let mut batch = within(CALL, batch.messages()).await?;
        let mut any = false;
        loop {
            let message = tokio::select! {
                next = tokio::time::timeout(PATIENCE + CALL, next(&mut batch)) => next,
                () = reports.closed() => return Ok(()),
            };
            match (message, places.next()) {
                (Ok(Some(Ok(message))), Some(place)) => {
                    any = true;
                    place.send(message);
                }
                // No more than that so many bytes were given.
                (Ok(Some(Err(error))), _) if any => {
                    tracing::debug!("reports: {error}");
                    break;
                }
                // Nobody is there who gives any.
                (Ok(Some(Err(error))), _) => return Err(error.to_string()),
                (Ok(_), _) => break,
                (Err(_), _) => return Err("nothing comes".to_owned()),
            }
        }
    }
    Ok(())
}

/// How far the queue of orders is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// Orders with numbers up to this one have been given to workers.
    pub(super) delivered: u64,
    /// The last number that was given to an order.
    pub(super) last: u64,
}

/// Starts a task that looks at the queue of orders now and then. What of the contest isn't there any
/// more is told as an error.
pub(super) fn look(connection: Connection, names: Names) -> mpsc::Receiver<Result<Queue, String>> {
    let (told, looked) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK).await;
            tokio::select! {
                () = there(connection.up.clone()) => {}
                () = told.closed() => return,
            }
            if told.send(queue(&connection, &names).await).await.is_err() {
                return;
            }
        }
    });
    looked
}

/// How far the queue is, if all of the contest is there.
pub(super) async fn queue(connection: &Connection, names: &Names) -> Result<Queue, String> {
    let about = |what: &'static str| move |error: String| format!("{what}: {error}");
    let (jetstream, orders) = (&connection.jetstream, names.orders_stream());
    let workers = consumer(jetstream, WORKERS, orders.clone()).await.map_err(about("orders"))?;
    let delivered = workers.cached_info().delivered.stream_sequence;
    let stream = within(CALL, jetstream.get_stream(orders)).await.map_err(about("orders"))?;
    // Without these nobody is heard.
    let reports = consumer(jetstream, COORDINATOR, names.reports_stream()).await;
    reports.map_err(about("reports"))?;
    // And without these nobody comes.
    brief(connection, names).await.map_err(about("the brief"))?;
    if !is_announced(jetstream, names).await.map_err(about("the announcement"))? {
        return Err("the announcement: it was taken away".to_owned());
    }
    Ok(Queue { delivered, last: stream.cached_info().state.last_sequence })
}

async fn brief(connection: &Connection, names: &Names) -> Result<(), String> {
    let bucket = within(CALL, connection.jetstream.get_object_store(names.bucket())).await?;
    let brief = within(CALL, bucket.info(BRIEF)).await?;
    if brief.deleted { Err("it was taken away".to_owned()) } else { Ok(()) }
}
