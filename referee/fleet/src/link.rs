//! Calls to the server. Each has a timeout: a server that is away may not answer for minutes, and
//! callers have other work.

use crate::names::CONTESTS;
use crate::{Announcement, Names};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::{Message, PublishMessage};
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream as StoredStream};
use async_nats::jetstream::{Context, ErrorCode};
use futures_util::StreamExt;
use referee_protocol::sanitize::sanitize;
use std::error::Error;
use std::fmt::Display;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

/// The timeout of a call.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for handing a message to the connection, which does not wait for the server.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);
/// How much longer than requested a pull may take.
const PULL_GRACE: Duration = Duration::from_secs(2);

/// Returns the result of a call within this time, or its error as text.
pub(super) async fn with_timeout<T, E: Display>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, call).await {
        Ok(result) => result.map_err(|error| sanitize(&error.to_string())),
        Err(_) => Err(format!("the server did not answer within {} s", limit.as_secs())),
    }
}

/// Returns the result of a call within the usual time, or its error as text.
pub(super) fn call<T, E: Display>(
    call: impl Future<Output = Result<T, E>>,
) -> impl Future<Output = Result<T, String>> {
    with_timeout(CALL_TIMEOUT, call)
}

/// Sends a message that has no answer.
pub(super) async fn send_unacknowledged<E: Display>(sent: impl Future<Output = Result<(), E>>) {
    if let Err(error) = with_timeout(SEND_TIMEOUT, sent).await {
        tracing::debug!("message not sent: {error}");
    }
}

/// Returns a timer with this period that does not catch up on missed ticks.
pub(super) fn ticks(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Publishes a message with this id in a stream; returns its number there.
pub(super) async fn publish(
    jetstream: &Context,
    subject: String,
    id: String,
    payload: Vec<u8>,
) -> Result<u64, String> {
    let message = PublishMessage::build().payload(payload.into()).message_id(id);
    let sent = call(jetstream.send_publish(subject, message)).await?;
    Ok(call(sent.into_future()).await?.sequence)
}

/// Waits until the connection is up.
pub(super) async fn wait_connected(up: watch::Receiver<bool>) {
    wait_until(up, true).await;
}

/// Waits until the connection is up or down; forever if the connection is dropped.
pub(super) async fn wait_until(mut up: watch::Receiver<bool>, state: bool) {
    if up.wait_for(|up| *up == state).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Returns an existing consumer.
pub(super) async fn consumer(
    jetstream: &Context,
    name: &str,
    stream: String,
) -> Result<Consumer<pull::Config>, String> {
    call(jetstream.get_consumer_from_stream(name, stream)).await
}

/// Returns up to this many messages, as many as are waiting.
pub(super) async fn fetch(
    consumer: &Consumer<pull::Config>,
    most: usize,
) -> Result<Vec<Message>, String> {
    let mut batch = call(consumer.fetch().max_messages(most).messages()).await?;
    let mut messages = Vec::new();
    // Messages that have arrived are leased and must be handled, even if a later one fails.
    while let Ok(Some(Ok(message))) = tokio::time::timeout(CALL_TIMEOUT, batch.next()).await {
        messages.push(message);
    }
    Ok(messages)
}

/// Returns the next message, if one arrives within this time.
pub(super) async fn wait(
    consumer: &Consumer<pull::Config>,
    time: Duration,
) -> Result<Option<Message>, String> {
    let batch = consumer.batch().max_messages(1).expires(time).messages();
    let mut batch = call(batch).await?;
    match tokio::time::timeout(time + PULL_GRACE, batch.next()).await {
        Ok(Some(Ok(message))) => Ok(Some(message)),
        Ok(Some(Err(error))) => Err(sanitize(&error.to_string())),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Returns the bucket of contests, if it exists.
pub(super) async fn contests(jetstream: &Context) -> Result<Option<Store>, String> {
    if_exists(jetstream.get_key_value(CONTESTS)).await
}

/// Returns a contest's announcement; `None` if it is over or the announcement is invalid.
pub(super) async fn announced(
    bucket: &Store,
    names: &Names,
) -> Result<Option<Announcement>, String> {
    let subject = format!("{}{}", bucket.prefix, names.id);
    let entry = async {
        match bucket.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(error),
        }
    };
    let Some(message) = call(entry).await? else { return Ok(None) };
    // A client that may read any message can make the server send it to us as if it were this
    // answer.
    if message.subject.as_str() != subject {
        return Err("the server's answer has the wrong subject".to_owned());
    }
    Ok(serde_json::from_slice(&message.payload).ok())
}

/// Returns whether a contest is still announced.
pub(super) async fn is_announced(jetstream: &Context, names: &Names) -> Result<bool, String> {
    let Some(bucket) = contests(jetstream).await? else { return Ok(false) };
    Ok(announced(&bucket, names).await?.is_some())
}

/// Returns a stream, if it exists.
pub(super) async fn find_stream(
    jetstream: &Context,
    name: &str,
) -> Result<Option<StoredStream>, String> {
    if_exists(jetstream.get_stream(name)).await
}

/// Returns whether a call failed because there is no such stream. Buckets are streams too.
pub(super) fn is_stream_missing(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| {
        let kind = cause.downcast_ref::<GetStreamError>().map(GetStreamError::kind);
        matches!(kind, Some(GetStreamErrorKind::JetStream(error))
            if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
    })
}

/// Returns the result of a call; `None` if there is no such stream.
async fn if_exists<T, E: Error + 'static>(
    found: impl Future<Output = Result<T, E>>,
) -> Result<Option<T>, String> {
    let found = async {
        match found.await {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_stream_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    call(found).await
}
