//! The parts of an upload's body. What is between their contents is bounded: it is kept in memory, and searched again
//! whenever more has come.

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{FromRequest, Multipart, Request};
use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, ready};

/// The most bytes before the first part, and of the head of each.
pub(super) const HEAD_BYTES: u64 = 8 << 10;

/// The parts that are left.
pub(super) struct Parts {
    form: Multipart,
    unread: Unread,
    /// Whether what comes is of no use any more.
    is_over: Arc<AtomicBool>,
}

/// How many bytes have come since something was found in them.
type Unread = Arc<AtomicU64>;

/// A part whose head has been read.
pub(super) struct Part<'a> {
    field: Field<'a>,
    unread: &'a AtomicU64,
}

impl Parts {
    pub(super) async fn of(request: Request) -> Result<Self, MultipartRejection> {
        let (unread, is_over) = (Unread::default(), Arc::new(AtomicBool::new(false)));
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, bounded(body, unread.clone(), is_over.clone()));
        let form = Multipart::from_request(request, &()).await?;
        Ok(Self { form, unread, is_over })
    }

    /// Lets the rest come and looks for no more parts in it, which takes long if they are small: it ends with an error
    /// soon, or with the last part.
    pub(super) fn forget_rest(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns the next part; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Part<'_>>, MultipartError> {
        self.unread.store(0, Ordering::Relaxed);
        let field = self.form.next_field().await?;
        Ok(field.map(|field| Part { field, unread: &self.unread }))
    }

    /// Whether an error means that too much came before a part's content.
    pub(super) fn has_long_head(&self) -> bool {
        self.unread.load(Ordering::Relaxed) > HEAD_BYTES
    }
}

impl Part<'_> {
    pub(super) fn name(&self) -> Option<&str> {
        self.field.name()
    }

    pub(super) fn file_name(&self) -> Option<&str> {
        self.field.file_name()
    }

    /// Returns more of its content; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, MultipartError> {
        self.unread.store(0, Ordering::Relaxed);
        self.field.chunk().await
    }

    /// Reads the rest of its content.
    pub(super) async fn skip(&mut self) {
        while let Ok(Some(_)) = self.chunk().await {}
    }
}

/// Passes a body on, one piece at a time, until too much is unread.
fn bounded(body: Body, unread: Unread, is_over: Arc<AtomicBool>) -> Body {
    let mut pieces = body.into_data_stream();
    let mut is_passed = false;
    Body::from_stream(poll_fn(move |context| {
        // The reader takes all that is there, and searches it only then.
        if std::mem::take(&mut is_passed) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if unread.load(Ordering::Relaxed) > HEAD_BYTES {
            return Poll::Ready(Some(Err(io::Error::other("too much before a part's content"))));
        }
        let mut piece = ready!(pieces.poll_next_unpin(context));
        while is_over.load(Ordering::Relaxed) && matches!(piece, Some(Ok(_))) {
            piece = ready!(pieces.poll_next_unpin(context));
        }
        if let Some(Ok(bytes)) = &piece {
            is_passed = true;
            unread.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Poll::Ready(piece.map(|piece| piece.map_err(io::Error::other)))
    }))
}

#[cfg(test)]
mod tests {
    use super::{Body, Bytes, Parts, Request};
    use futures_util::stream::iter;
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const HEAD: &str = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n";

    /// Returns a body that comes in pieces of so many bytes, and how many pieces were asked for.
    fn form(body: &str, piece: usize) -> (Request, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let pieces: Vec<Bytes> =
            body.as_bytes().chunks(piece).map(Bytes::copy_from_slice).collect();
        let body = Body::from_stream(iter(pieces.into_iter().map(move |piece| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, io::Error>(piece)
        })));
        let request = Request::builder()
            .header("content-type", "multipart/form-data; boundary=x")
            .body(body)
            .unwrap();
        (request, asked)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    /// Reads a body in such pieces. Returns the lengths of its parts, or whether a head was too long, and how many pieces
    /// were asked for.
    fn read(body: &str, piece: usize) -> (Result<Vec<usize>, bool>, usize) {
        let (request, asked) = form(body, piece);
        let read = run(async {
            let mut parts = Parts::of(request).await.unwrap();
            let mut lengths = Vec::new();
            loop {
                match parts.next().await {
                    Ok(Some(mut part)) => {
                        assert_eq!((part.name(), part.file_name()), (Some("file"), Some("a")));
                        let mut length = 0;
                        while let Ok(Some(bytes)) = part.chunk().await {
                            length += bytes.len();
                        }
                        lengths.push(length);
                    }
                    Ok(None) => return Ok(lengths),
                    Err(_) => return Err(parts.has_long_head()),
                }
            }
        });
        (read, asked.load(Ordering::Relaxed))
    }

    #[test]
    fn after_a_mistake_no_parts_are_looked_for() {
        let body = format!("{HEAD}\r\n\r\n").repeat(10_000) + "--x--\r\n";
        let (request, asked) = form(&body, 1000);
        let found = run(async {
            let (mut parts, mut found) = (Parts::of(request).await.unwrap(), 0);
            while let Ok(Some(_)) = parts.next().await {
                parts.forget_rest();
                found += 1;
            }
            found
        });
        // All of it came, so that the answer is read.
        assert_eq!(asked.load(Ordering::Relaxed), body.len().div_ceil(1000));
        assert!((1..=1000 / HEAD.len()).contains(&found), "{found}");
    }

    #[test]
    fn contents_may_be_long_however_they_come() {
        let long = "c".repeat(100_000);
        let body = format!("{HEAD}\r\n{long}\r\n{HEAD}\r\n\r\n{HEAD}\r\n{long}\r\n--x--\r\n");
        for piece in [1, 100, 5000, 70_000, 1 << 20] {
            assert_eq!(read(&body, piece).0, Ok(vec![100_000, 0, 100_000]), "{piece}");
        }
        assert_eq!(read(&body[..500], 100).0, Err(false));
    }

    /// It would be searched for its end again with each piece.
    #[test]
    fn what_is_before_a_content_is_bounded() {
        let endless = "a".repeat(1 << 20);
        for body in [format!("{HEAD}x: {endless}"), endless.clone()] {
            let (read, asked) = read(&body, 1000);
            assert_eq!(read, Err(true));
            assert!(asked <= 12, "{asked}");
        }
    }
}
