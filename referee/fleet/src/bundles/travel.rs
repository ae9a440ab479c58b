//! Bundles in the contest's bucket of objects, each named by its SHA-256.
//!
//! Objects are read message by message, not as the library reads them, which makes a consumer:
//! whoever may make one may have any message sent to any subject, past all permissions. So workers need not
//! be allowed to.

use crate::BundleRef;
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::InfoErrorKind;
use referee_protocol::plain::tame;
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

/// How often a request is tried before the bundle is given up.
const TRIES: usize = 6;
/// How long to wait between tries: a connection that was lost may be there again.
const PAUSE: Duration = Duration::from_secs(2);
/// No piece of an object but its last has less bytes: each costs a request.
const PIECE_BYTES_MIN: u64 = 1 << 10;

/// What is said where there is no object.
const MISSING: &str = "the server doesn't have it";

/// Gets a bundle into a new file, or says why it can't. Nothing of it is checked but its length.
pub type Fetch = Box<
    dyn Fn(BundleRef, PathBuf) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>>
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
    file: &Path,
) -> Result<(), String> {
    let mut file = File::create_new(file).map_err(|it| format!("{}: {it}", file.display()))?;
    let bytes = read(jetstream, bucket, &bundle.sha256, bundle.bytes, |some| {
        file.write_all(some).map_err(|error| error.to_string())
    });
    let bytes = bytes.await?.ok_or(MISSING)?;
    if bytes == bundle.bytes { Ok(()) } else { Err(format!("only {bytes} bytes came")) }
}

/// The bytes of an object of a bucket, unless they are more than so many.
pub async fn read_object(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Vec<u8>, String> {
    find_object(jetstream, bucket, name, most).await?.ok_or_else(|| MISSING.to_owned())
}

/// The same; `None` where the bucket has no such object.
pub async fn find_object(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let take = |some: &[u8]| {
        bytes.extend_from_slice(some);
        Ok(())
    };
    let read = read(jetstream, bucket, name, most, take).await?;
    Ok(read.map(|_| bytes))
}

/// Whether this can name an object's pieces; workers may write what the bucket says of an object.
pub fn names_pieces(nuid: &str) -> bool {
    !nuid.is_empty() && nuid.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Reads an object piece by piece; how many bytes it has, if it is there.
async fn read(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<Option<u64>, String> {
    let store = tried(|| jetstream.get_object_store(bucket)).await?;
    let object = tried(|| async {
        match store.info(name).await {
            Ok(object) => Ok(Some(object).filter(|object| !object.deleted)),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    });
    let Some(object) = object.await? else { return Ok(None) };
    if !names_pieces(&object.nuid) {
        return Err("what the bucket says of it is garbled".to_owned());
    }
    let stream = tried(|| jetstream.get_stream(format!("OBJ_{bucket}"))).await?;
    let subject = format!("$O.{bucket}.C.{}", object.nuid);
    let (size, mut bytes, mut next) = (object.size as u64, 0, 1);
    if size > most {
        return Err(format!("it has {size} bytes, and {most} at most were expected"));
    }
    while bytes < size {
        let message = tried(|| stream.get_first_raw_message_by_subject(&subject, next)).await?;
        let piece = message.payload.len() as u64;
        bytes += piece;
        if bytes > size || (bytes < size && piece < PIECE_BYTES_MIN) {
            return Err(format!("it hasn't the {size} bytes that it is said to have"));
        }
        take(&message.payload)?;
        next = message.sequence + 1;
    }
    Ok(Some(bytes))
}

/// What a request comes to, tried again where it fails.
async fn tried<T, E: Display, F: Future<Output = Result<T, E>>>(
    request: impl Fn() -> F,
) -> Result<T, String> {
    let mut said = String::new();
    for again in 0..TRIES {
        if again > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(error) => said = tame(&error.to_string()),
        }
        if said.contains("not found") {
            break;
        }
    }
    Err(said)
}
