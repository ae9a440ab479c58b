//! Objects in a contest's bucket, each named by its SHA-256.
//!
//! They are read message by message. The library creates a consumer for that, but a client that
//! may create consumers can have any message sent to any subject, past all permissions. This way
//! workers don't need that permission.

use crate::BundleRef;
use crate::connect::Connection;
use crate::link::{CALL_TIMEOUT, call, is_stream_missing, wait_connected, with_timeout};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectStore};
use referee_protocol::sanitize::sanitize;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::sync::watch;

/// How often a request is sent while the server is connected.
const TRIES: usize = 6;
/// The delay between attempts.
const PAUSE: Duration = Duration::from_secs(2);
/// The minimum size of an object's chunks, except the last, since each costs a request.
const CHUNK_BYTES_MIN: u64 = 1 << 10;

/// The additional time allowed for each byte that is sent.
const TIME_PER_BYTE: Duration = Duration::from_micros(5);

/// Fetches a bundle into a new file, which is checked when it is unpacked.
pub(crate) type Fetch = Box<
    dyn Fn(BundleRef, PathBuf) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>>
        + Send
        + Sync,
>;

/// Returns a function that fetches bundles from this bucket.
pub(crate) fn bundle_fetcher(connection: &Connection, bucket: String) -> Fetch {
    let (jetstream, up) = (connection.jetstream.clone(), connection.up.clone());
    Box::new(move |bundle, file| {
        let (jetstream, up, bucket) = (jetstream.clone(), up.clone(), bucket.clone());
        Box::pin(async move {
            let mut new =
                File::create_new(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let (name, most) = (&bundle.sha256, bundle.bytes);
            let found = read(&jetstream, &up, &bucket, name, most, &mut new).await?;
            found.then_some(()).ok_or_else(|| "it is missing on the server".to_owned())
        })
    })
}

/// Reads an object of at most `most` bytes; `None` if there is none. Waits while the connection is
/// not `up`.
pub async fn read_object(
    jetstream: &Context,
    up: &watch::Receiver<bool>,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let found = read(jetstream, up, bucket, name, most, &mut bytes).await?;
    Ok(found.then_some(bytes))
}

/// Returns whether this is a valid id of an object's chunks. Workers may write an object's
/// metadata, so it is not trusted.
fn is_chunk_id(nuid: &str) -> bool {
    !nuid.is_empty() && nuid.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Reads an object chunk by chunk; returns false if there is none.
async fn read(
    jetstream: &Context,
    up: &watch::Receiver<bool>,
    bucket: &str,
    name: &str,
    most: u64,
    into: &mut (impl Write + Send),
) -> Result<bool, String> {
    let store = retry(up, PAUSE, || jetstream.get_object_store(bucket)).await?;
    let object = retry(up, PAUSE, || async {
        match store.info(name).await {
            Ok(object) => Ok(Some(object).filter(|object| !object.deleted)),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    });
    let Some(object) = object.await? else { return Ok(false) };
    if !is_chunk_id(&object.nuid) {
        return Err("its metadata is invalid".to_owned());
    }
    let stream = retry(up, PAUSE, || jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        return Err(format!("it has {size} bytes, at most {most} were expected"));
    }
    while bytes < size {
        let chunk = || stream.get_first_raw_message_by_subject(&subject, next);
        let message = retry(up, PAUSE, chunk).await?;
        let chunk = message.payload.len() as u64;
        bytes += chunk;
        if bytes > size || (bytes < size && chunk < CHUNK_BYTES_MIN) {
            return Err(format!("its size is not {size} bytes"));
        }
        into.write_all(&message.payload).map_err(|error| format!("can't write it: {error}"))?;
        next = message.sequence + 1;
    }
    Ok(true)
}

/// Repeats a request until it succeeds, or has failed too often while the connection was `up`, or the
/// bucket does not exist.
async fn retry<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    up: &watch::Receiver<bool>,
    pause: Duration,
    mut request: impl FnMut() -> F,
) -> Result<T, String> {
    let (mut up, mut tries) = (up.clone(), 0);
    loop {
        up.mark_unchanged();
        let error = match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_stream_missing(&error) => {
                return Err("its bucket is missing on the server".to_owned());
            }
            Err(error) => error,
        };
        if *up.borrow() && !up.has_changed().unwrap_or(false) {
            tries += 1;
            if tries == TRIES {
                return Err(sanitize(&error.to_string()));
            }
        }
        tokio::time::sleep(pause).await;
        wait_connected(up.clone()).await;
    }
}

/// Returns whether an object of this name and size exists.
pub(crate) async fn object_exists(bucket: &ObjectStore, name: &str, bytes: u64) -> bool {
    let known = call(bucket.info(name)).await;
    known.is_ok_and(|it| !it.deleted && it.size as u64 == bytes)
}

/// Writes an object of this size, replacing any of the same name.
pub(crate) async fn put(
    bucket: &ObjectStore,
    name: &str,
    mut from: impl AsyncRead + Unpin,
    bytes: u64,
) -> Result<(), String> {
    let limit = CALL_TIMEOUT + TIME_PER_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
    with_timeout(limit, bucket.put(name, &mut from)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::{TRIES, retry};
    use std::io;
    use std::time::Duration;
    use tokio::sync::watch;

    #[tokio::test]
    async fn an_object_that_can_not_be_read_is_given_up() {
        let (set_up, up) = watch::channel(true);
        let (mut asked, mut away) = (0, 0);
        let error = retry(&up, Duration::from_millis(1), || {
            asked += 1;
            // Attempts while the connection is lost don't count.
            if asked % 2 == 0 {
                away += 1;
                set_up.send_replace(false);
                set_up.send_replace(true);
            }
            async { Err::<(), _>(io::Error::other("no pieces")) }
        });
        assert_eq!(error.await.unwrap_err(), "no pieces");
        assert_eq!(asked - away, TRIES);
    }
}
