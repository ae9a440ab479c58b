//! Objects in a contest's bucket, each named by its SHA-256.
//!
//! They are read message by message. The library creates a consumer for that, but a client that
//! may create consumers can have any message sent to any subject, past all permissions. This way
//! workers don't need that permission.

use crate::BundleRef;
use crate::link::{CALL_TIMEOUT, call, is_stream_missing, with_timeout};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectStore};
use referee_protocol::plain::sanitize;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncRead;

/// The maximum number of attempts of a request.
const TRIES: usize = 6;
/// The delay between attempts, in which a lost connection may come back.
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
pub(crate) fn bundle_fetcher(jetstream: Context, bucket: String) -> Fetch {
    Box::new(move |bundle, file| {
        let (jetstream, bucket) = (jetstream.clone(), bucket.clone());
        Box::pin(async move {
            let mut new =
                File::create_new(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let found = read(&jetstream, &bucket, &bundle.sha256, bundle.bytes, &mut new).await?;
            found.then_some(()).ok_or_else(|| "it is missing on the server".to_owned())
        })
    })
}

/// Reads an object of at most `most` bytes; `None` if there is none.
pub async fn read_object(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let found = read(jetstream, bucket, name, most, &mut bytes).await?;
    Ok(found.then_some(bytes))
}

/// Returns whether this is a valid id of an object's chunks. Workers may write an object's
/// metadata, so it is not trusted.
pub(crate) fn is_chunk_id(nuid: &str) -> bool {
    !nuid.is_empty() && nuid.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Reads an object chunk by chunk; returns false if there is none.
async fn read(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
    into: &mut (impl Write + Send),
) -> Result<bool, String> {
    let store = retry(|| jetstream.get_object_store(bucket)).await?;
    let object = retry(|| async {
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
    let stream = retry(|| jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        return Err(format!("it has {size} bytes, at most {most} were expected"));
    }
    while bytes < size {
        let message = retry(|| stream.get_first_raw_message_by_subject(&subject, next)).await?;
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

/// Repeats a request until it succeeds, or has failed too often, or the bucket does not exist.
async fn retry<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    request: impl Fn() -> F,
) -> Result<T, String> {
    let mut tries = 0;
    loop {
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_stream_missing(&error) => {
                return Err("its bucket is missing on the server".to_owned());
            }
            Err(error) => {
                tries += 1;
                if tries == TRIES {
                    return Err(sanitize(&error.to_string()));
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
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
