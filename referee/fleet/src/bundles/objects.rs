//! Objects of a contest's bucket, each named by its SHA-256.
//!
//! They are read message by message, not as the library reads them, which makes a consumer: whoever
//! may make one may have any message sent to any subject, past all permissions. So workers need not
//! be allowed to.

use crate::BundleRef;
use crate::link::is_stream_missing;
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::InfoErrorKind;
use referee_protocol::plain::tame;
use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

/// How often a request is tried before the object is given up.
const TRIES: usize = 6;
/// How long to wait between tries: a connection that was lost may be there again.
const PAUSE: Duration = Duration::from_secs(2);
/// No piece of an object but its last has less bytes: each costs a request.
const PIECE_BYTES_MIN: u64 = 1 << 10;

/// Why an object wasn't read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// There is none of this name.
    #[error("the server doesn't have it")]
    Missing,
    /// There is no such bucket.
    #[error("the server doesn't have its bucket")]
    NoBucket,
    /// It is larger than expected.
    #[error("it has {bytes} bytes, and {most} at most were expected")]
    TooLarge {
        /// How many bytes it has.
        bytes: u64,
        /// How many it may have.
        most: u64,
    },
    /// Its pieces aren't what the bucket says of it.
    #[error("it hasn't the {0} bytes that it is said to have")]
    Incomplete(u64),
    /// What the bucket says of it names no pieces.
    #[error("what the bucket says of it is garbled")]
    Garbled,
    /// The server failed to answer again and again; in its words.
    #[error("{0}")]
    Server(String),
    /// It can't be written here.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
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
    let failed = |error: io::Error| ObjectError::File(path.to_owned(), error);
    let mut file = File::create_new(path).map_err(failed)?;
    let bytes = read(jetstream, bucket, &bundle.sha256, bundle.bytes, |some| {
        file.write_all(some).map_err(failed)
    });
    if bytes.await? == bundle.bytes { Ok(()) } else { Err(ObjectError::Incomplete(bundle.bytes)) }
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

/// The same; `None` where there is no such object.
pub async fn find_object(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, ObjectError> {
    match read_object(jetstream, bucket, name, most).await {
        Err(ObjectError::Missing) => Ok(None),
        read => read.map(Some),
    }
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
        return Err(ObjectError::Garbled);
    }
    let stream = retry(|| jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        return Err(ObjectError::TooLarge { bytes: size, most });
    }
    while bytes < size {
        let message = retry(|| stream.get_first_raw_message_by_subject(&subject, next)).await?;
        let piece = message.payload.len() as u64;
        bytes += piece;
        if bytes > size || (bytes < size && piece < PIECE_BYTES_MIN) {
            return Err(ObjectError::Incomplete(size));
        }
        take(&message.payload)?;
        next = message.sequence + 1;
    }
    Ok(bytes)
}

/// What a request comes to, tried again where it fails though there is such a bucket.
async fn retry<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    request: impl Fn() -> F,
) -> Result<T, ObjectError> {
    let mut tries = 0;
    loop {
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) if is_stream_missing(&error) => return Err(ObjectError::NoBucket),
            Err(error) => {
                tries += 1;
                if tries == TRIES {
                    return Err(ObjectError::Server(tame(&error.to_string())));
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
