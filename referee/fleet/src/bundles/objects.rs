//! Objects of a contest's bucket, each named by its SHA-256.
//!
//! They are read message by message, not as the library reads them, which makes a consumer: whoever
//! may make one may have any message sent to any subject, past all permissions. So workers need not
//! be allowed to.

use crate::BundleRef;
use crate::link::{CALL, is_stream_missing, within};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectStore};
use referee_protocol::plain::tame;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};

/// How often a request is tried before the object is given up.
const TRIES: usize = 6;
/// How long to wait between tries: a connection that was lost may be there again.
const PAUSE: Duration = Duration::from_secs(2);
/// No piece of an object but its last has less bytes: each costs a request.
const PIECE_BYTES_MIN: u64 = 1 << 10;

/// How long one byte more of an object may take to be sent.
const A_BYTE: Duration = Duration::from_micros(5);

/// Why an object wasn't read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// There is none of this name.
    #[error("the server doesn't have it")]
    Missing,
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// Gets a bundle into a new file, or says why it can't. Nothing of it is checked but its length.
pub type Fetch = Box<
    dyn Fn(BundleRef, PathBuf) -> Pin<Box<dyn Future<Output = Result<(), ObjectError>> + Send>>
        + Send
        + Sync,
>;

/// Gets bundles from a contest's bucket of this name.
pub fn fetching(jetstream: Context, bucket: String) -> Fetch {
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

/// The bytes of an object of a bucket, unless they are more than `most`.
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

/// Whether this can name an object's pieces; workers may write what the bucket says of an object.
pub fn names_pieces(nuid: &str) -> bool {
    !nuid.is_empty() && nuid.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Reads an object piece by piece; how many bytes it has.
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
    if !names_pieces(&object.nuid) {
        let text = "what the bucket says of it is garbled";
        return Err(ObjectError::Other(text.to_owned()));
    }
    let stream = retry(|| jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        let text = format!("it has {size} bytes, and {most} at most were expected");
        return Err(ObjectError::Other(text));
    }
    while bytes < size {
        let message = retry(|| stream.get_first_raw_message_by_subject(&subject, next)).await?;
        let piece = message.payload.len() as u64;
        bytes += piece;
        if bytes > size || (bytes < size && piece < PIECE_BYTES_MIN) {
            return Err(incomplete(size));
        }
        take(&message.payload)?;
        next = message.sequence + 1;
    }
    Ok(bytes)
}

/// Its pieces aren't what the bucket says of it.
fn incomplete(bytes: u64) -> ObjectError {
    ObjectError::Other(format!("it hasn't the {bytes} bytes that it is said to have"))
}

/// What a request comes to, tried again where it fails though there is such a bucket.
async fn retry<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    request: impl Fn() -> F,
) -> Result<T, ObjectError> {
    let mut tries = 0;
    loop {
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_stream_missing(&error) => {
                return Err(ObjectError::Other("the server doesn't have its bucket".to_owned()));
            }
            Err(error) => {
                tries += 1;
                if tries == TRIES {
                    return Err(ObjectError::Other(tame(&error.to_string())));
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether an object of this name and length is there.
pub async fn is_there(bucket: &ObjectStore, name: &str, bytes: u64) -> bool {
    let known = within(CALL, bucket.info(name)).await;
    known.is_ok_and(|it| !it.deleted && it.size as u64 == bytes)
}

/// Puts an object of so many bytes into the bucket, in the place of what has its name.
pub async fn put(
    bucket: &ObjectStore,
    name: &str,
    mut from: impl AsyncRead + Unpin,
    bytes: u64,
) -> Result<(), String> {
    let limit = CALL + A_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX);
    within(limit, bucket.put(name, &mut from)).await.map(drop)
}

/// A file that was just written and is read again: there is nothing to wait for.
#[derive(Debug)]
pub struct Reading(pub File);

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.read(buffer.initialize_unfilled());
        Poll::Ready(read.map(|length| buffer.advance(length)))
    }
}
