//! Calls to the server. Each has an end: a server that is away answers nothing, for minutes or for
//! ever, and whoever calls has other things to do.

use crate::names::CONTESTS;
use crate::{Announcement, Names};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::Message;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream as Kept};
use async_nats::jetstream::{Context, ErrorCode};
use futures_core::Stream;
use referee_protocol::plain::tame;
use std::error::Error;
use std::fmt::Display;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

/// How long a call may take.
pub(super) const CALL: Duration = Duration::from_secs(10);
/// How long a message may take to be handed to the connection, which doesn't wait for the server.
const HAND: Duration = Duration::from_secs(1);
/// How much longer than asked a pull may take.
const LATE: Duration = Duration::from_secs(2);

/// What a call comes to, or why it came to nothing, in words.
pub(super) async fn within<T, E: Display>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, call).await {
        Ok(result) => result.map_err(|error| tame(&error.to_string())),
        Err(_) => Err(format!("the server doesn't answer within {} s", limit.as_secs())),
    }
}

/// The same for a message that nobody answers.
pub(super) async fn hand<E: Display>(sent: impl Future<Output = Result<(), E>>) {
    if let Err(error) = within(HAND, sent).await {
        tracing::debug!("not sent: {error}");
    }
}

/// The next of a stream; `None` when there are no more.
pub(super) async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

/// A clock that ticks so often, and not to make up for what was missed.
pub(super) fn ticks(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Waits until the connection is lost.
pub(super) async fn lost(up: watch::Receiver<bool>) {
    until(up, false).await;
}

/// Waits until the connection is there.
pub(super) async fn there(up: watch::Receiver<bool>) {
    until(up, true).await;
}

/// Waits until the connection is there, or isn't; for ever where nobody tells any more.
async fn until(mut up: watch::Receiver<bool>, state: bool) {
    if up.wait_for(|up| *up == state).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A consumer that is there already.
pub(super) async fn consumer(
    jetstream: &Context,
    name: &str,
    stream: String,
) -> Result<Consumer<pull::Config>, String> {
    within(CALL, jetstream.get_consumer_from_stream(name, stream)).await
}

/// As many messages as there are, up to so many.
pub(super) async fn fetch(
    consumer: &Consumer<pull::Config>,
    most: usize,
) -> Result<Vec<Message>, String> {
    let mut batch = within(CALL, consumer.fetch().max_messages(most).messages()).await?;
    let mut messages = Vec::new();
    // What has come is leased and has to be dealt with, whatever follows.
    while let Ok(Some(Ok(message))) = tokio::time::timeout(CALL, next(&mut batch)).await {
        messages.push(message);
    }
    Ok(messages)
}

/// The next message, if there is one within this time.
pub(super) async fn wait(
    consumer: &Consumer<pull::Config>,
    time: Duration,
) -> Result<Option<Message>, String> {
    let batch = consumer.batch().max_messages(1).expires(time).messages();
    let mut batch = within(CALL, batch).await?;
    match tokio::time::timeout(time + LATE, next(&mut batch)).await {
        Ok(Some(Ok(message))) => Ok(Some(message)),
        Ok(Some(Err(error))) => Err(tame(&error.to_string())),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// The bucket of contests; none where nobody has made it.
pub(super) async fn contests(jetstream: &Context) -> Result<Option<Store>, String> {
    if_there(jetstream.get_key_value(CONTESTS)).await
}

/// What is said of a contest; nothing where it is over, or it can't be read.
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
    let Some(message) = within(CALL, entry).await? else { return Ok(None) };
    // Whoever may read any message may have the server send it to us, as if it were this answer.
    if message.subject.as_str() != subject {
        return Err("the answer is to another question".to_owned());
    }
    Ok(serde_json::from_slice(&message.payload).ok())
}

/// Whether a contest is still announced.
pub(super) async fn is_announced(jetstream: &Context, names: &Names) -> Result<bool, String> {
    let Some(bucket) = contests(jetstream).await? else { return Ok(false) };
    Ok(announced(&bucket, names).await?.is_some())
}

/// A stream; none where nobody has made it.
pub(super) async fn kept(jetstream: &Context, name: &str) -> Result<Option<Kept>, String> {
    if_there(jetstream.get_stream(name)).await
}

/// Whether a call failed because there is no such stream, which buckets are too.
pub(super) fn is_stream_missing(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| {
        let kind = cause.downcast_ref::<GetStreamError>().map(GetStreamError::kind);
        matches!(kind, Some(GetStreamErrorKind::JetStream(error))
            if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
    })
}

/// What a call comes to; nothing where there is no such stream.
async fn if_there<T, E: Error + 'static>(
    call: impl Future<Output = Result<T, E>>,
) -> Result<Option<T>, String> {
    let found = async {
        match call.await {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_stream_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    within(CALL, found).await
}
