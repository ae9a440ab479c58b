//! Objects in a contest's bucket, each named by its SHA-256.
//!
//! They are read message by message. The library creates a consumer for that, but a client that
//! may create consumers can have any message sent to any subject, past all permissions. This way
//! workers don't need that permission.

use crate::BundleRef;
use crate::link::{CALL_TIMEOUT, is_stream_missing, with_timeout};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectStore};
use referee_protocol::plain::sanitize;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};

/// The maximum number of attempts of a request.
const TRIES: usize = 6;
/// The delay between attempts, in which a lost connection may come back.
const PAUSE: Duration = Duration::from_secs(2);
/// The minimum size of an object's chunks, except the last, since each costs a request.
const CHUNK_BYTES_MIN: u64 = 1 << 10;

/// The additional time allowed for each byte that is sent.
const TIME_PER_BYTE: Duration = Duration::from_micros(5);

/// Why an object can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// There is no object of this name.
    #[error("it is missing on the server")]
    Missing,
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

/// Fetches a bundle into a new file. Only its size is checked.
pub type Fetch = Box<
    dyn Fn(BundleRef, PathBuf) -> Pin<Box<dyn Future<Output = Result<(), ObjectError>> + Send>>
        + Send
        + Sync,
>;

/// Returns a function that fetches bundles from this bucket.
pub fn bundle_fetcher(jetstream: Context, bucket: String) -> Fetch {
    Box::new(move |bundle, file| {
        let (jetstream, bucket) = (jetstream.clone(), bucket.clone());
        Box::pin(async move { fetch(&jetstream, &bucket, &bundle, &file).await })
    })
}

async fn fetch(
    jetstream: &Context,
    bucket: &str,
    bundle: &BundleRef,
    path: &Path,
) -> Result<(), ObjectError> {
    let failed = |error: io::Error| ObjectError::Other(format!("{}: {error}", path.display()));
    let mut file = File::create_new(path).map_err(failed)?;
    let bytes = read(jetstream, bucket, &bundle.sha256, bundle.bytes, |some| {
        file.write_all(some).map_err(failed)
    });
    if bytes.await? == bundle.bytes { Ok(()) } else { Err(incomplete(bundle.bytes)) }
}

/// Reads an object of at most `most` bytes.
pub async fn read_object(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Vec<u8>, ObjectError> {
    let mut bytes = Vec::new();
    let take = |some: &[u8]| {
        bytes.extend_from_slice(some);
        Ok(())
    };
    read(jetstream, bucket, name, most, take).await?;
    Ok(bytes)
}

/// Returns whether this is a valid id of an object's chunks. Workers may write an object's
/// metadata, so it is not trusted.
pub fn is_chunk_id(nuid: &str) -> bool {
    !nuid.is_empty() && nuid.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Reads an object chunk by chunk; returns its size.
async fn read(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), ObjectError>,
) -> Result<u64, ObjectError> {
    let store = retry(|| jetstream.get_object_store(bucket)).await?;
    let object = retry(|| async {
        match store.info(name).await {
            Ok(object) => Ok(Some(object).filter(|object| !object.deleted)),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    });
    let object = object.await?.ok_or(ObjectError::Missing)?;
    if !is_chunk_id(&object.nuid) {
        let text = "its metadata is invalid";
        return Err(ObjectError::Other(text.to_owned()));
    }
    let stream = retry(|| jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        let text = format!("it has {size} bytes, at most {most} were expected");
        return Err(ObjectError::Other(text));
    }
    while bytes < size {
        let message = retry(|| stream.get_first_raw_message_by_subject(&subject, next)).await?;
        let chunk = message.payload.len() as u64;
        bytes += chunk;
        if bytes > size || (bytes < size && chunk < CHUNK_BYTES_MIN) {
            return Err(incomplete(size));
        }
        take(&message.payload)?;
        next = message.sequence + 1;
    }
    Ok(bytes)
}

/// Its chunks don't match its metadata.
fn incomplete(bytes: u64) -> ObjectError {
    ObjectError::Other(format!("its size is not {bytes} bytes"))
}

/// Repeats a request until it succeeds, or has failed too often, or the bucket does not exist.
async fn retry<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    request: impl Fn() -> F,
) -> Result<T, ObjectError> {
    let mut tries = 0;
    loop {
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_stream_missing(&error) => {
                return Err(ObjectError::Other("its bucket is missing on the server".to_owned()));
            }
            Err(error) => {
                tries += 1;
                if tries == TRIES {
                    return Err(ObjectError::Other(sanitize(&error.to_string())));
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns whether an object of this name and size exists.
pub async fn object_exists(bucket: &ObjectStore, name: &str, bytes: u64) -> bool {
    let known = with_timeout(CALL_TIMEOUT, bucket.info(name)).await;
    known.is_ok_and(|it| !it.deleted && it.size as u64 == bytes)
}

/// Writes an object of this size, replacing any of the same name.
pub async fn put(
    bucket: &ObjectStore,
    name: &str,
    mut from: impl AsyncRead + Unpin,
    bytes: u64,
) -> Result<(), String> {
    let limit = CALL_TIMEOUT + TIME_PER_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
    with_timeout(limit, bucket.put(name, &mut from)).await.map(drop)
}

/// A file that was just written and is read without waiting.
#[derive(Debug)]
pub struct BlockingFile(pub File);

impl AsyncRead for BlockingFile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.read(buffer.initialize_unfilled());
        Poll::Ready(read.map(|length| buffer.advance(length)))
    }
}
