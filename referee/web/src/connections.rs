//! Limits connections: their number, the time until a request is complete, and the time without traffic.

use axum::serve::Listener;
use referee_process::lock::lock;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep};

/// The limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most connections. A further one replaces the oldest that has no complete request yet, or
    /// waits.
    connections: usize,
    /// The time until the head of the request is complete.
    head: Duration,
    /// The time without traffic. Followers get something more often, and a long animation takes less.
    silence: Duration,
}

pub(super) const BOUNDS: Bounds =
    Bounds { connections: 256, head: Duration::from_secs(10), silence: Duration::from_secs(180) };

/// A listener that limits its connections.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    listener: TcpListener,
    bounds: Bounds,
    slots: Arc<Semaphore>,
    waiting: Arc<Waiting>,
    number: u64,
}

/// The connections without a complete request, the oldest first. Sending to one closes it.
type Waiting = Mutex<BTreeMap<u64, oneshot::Sender<()>>>;

impl ConnectionLimit {
    pub(super) fn new(listener: TcpListener, bounds: Bounds) -> Self {
        let slots = Arc::new(Semaphore::new(bounds.connections));
        Self { listener, bounds, slots, waiting: Arc::default(), number: 0 }
    }

    async fn acquire_slot(&self) -> OwnedSemaphorePermit {
        let slots = self.slots.clone();
        if let Ok(slot) = slots.clone().try_acquire_owned() {
            return slot;
        }
        let oldest = lock(&self.waiting).pop_first();
        if let Some((_, end)) = oldest {
            end.send(()).ok();
        }
        slots.acquire_owned().await.expect("the semaphore is never closed")
    }
}

impl Listener for ConnectionLimit {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let slot = self.acquire_slot().await;
        // Live updates are small and must not wait for more.
        stream.set_nodelay(true).ok();
        self.number += 1;
        let (end, ended) = oneshot::channel();
        lock(&self.waiting).insert(self.number, end);
        let connection = Connection {
            stream,
            bounds: self.bounds,
            deadline: Box::pin(sleep(self.bounds.head)),
            head: Some(Head { ended, line_is_empty: false }),
            number: self.number,
            waiting: self.waiting.clone(),
            _slot: slot,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with time limits. It serves one request: the response says `connection: close`.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    bounds: Bounds,
    deadline: Pin<Box<Sleep>>,
    /// Until the head of the request is complete.
    head: Option<Head>,
    number: u64,
    waiting: Arc<Waiting>,
    _slot: OwnedSemaphorePermit,
}

/// The incomplete head of a request.
#[derive(Debug)]
struct Head {
    /// Another connection needs the slot.
    ended: oneshot::Receiver<()>,
    /// Whether the current line is empty so far.
    line_is_empty: bool,
}

impl Head {
    /// Returns whether these bytes complete the head: with an empty line, LF or CRLF.
    fn ends_in(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                b'\n' if self.line_is_empty => return true,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
        }
        false
    }
}

impl Connection {
    /// Extends the deadline after traffic; without traffic, fails at the deadline.
    fn apply_deadline<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            if self.head.is_none() {
                self.deadline.as_mut().reset(Instant::now() + self.bounds.silence);
            }
            return result;
        }
        let over = || io::Error::new(io::ErrorKind::TimedOut, "no traffic");
        self.deadline.as_mut().poll(context).map(|()| Err(over()))
    }

    /// Reads more of the head; an error if the connection may not wait for the rest.
    fn read_head(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> io::Result<()> {
        let Some(head) = &mut self.head else { return Ok(()) };
        if head.ends_in(bytes) {
            self.head = None;
            lock(&self.waiting).remove(&self.number);
            return Ok(());
        }
        let over = |why| Err(io::Error::new(io::ErrorKind::TimedOut, why));
        if Pin::new(&mut head.ended).poll(context).is_ready() {
            return over("another connection needed the slot");
        }
        // Single bytes don't extend this deadline.
        if self.deadline.as_mut().poll(context).is_ready() {
            return over("the request is incomplete");
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.number);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let known = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.read_head(context, &buffer.filled()[known..])?;
        self.apply_deadline(context, result)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.apply_deadline(context, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{BOUNDS, Bounds, ConnectionLimit, Head};
    use axum::Router;
    use axum::routing::get;
    use std::net::SocketAddr;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;

    async fn serve(bounds: Bounds) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(axum::serve(ConnectionLimit::new(listener, bounds), router).into_future());
        address
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test);
    }

    async fn rest(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok();
        text
    }

    #[test]
    fn silent_connections_are_replaced() {
        run(async {
            let long = Duration::from_secs(3600);
            let address = serve(Bounds { connections: 2, head: long, silence: long }).await;
            let mut silent = Vec::new();
            for _ in 0..5 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
                silent.push(stream);
            }
            let mut asking = TcpStream::connect(address).await.unwrap();
            let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            asking.write_all(request).await.unwrap();
            assert!(rest(asking).await.ends_with("here"));
            assert_eq!(rest(silent.remove(0)).await, "");
        });
    }

    #[test]
    fn an_incomplete_head_times_out() {
        run(async {
            let head = Duration::from_millis(50);
            let address = serve(Bounds { head, ..BOUNDS }).await;
            let mut slow = TcpStream::connect(address).await.unwrap();
            slow.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
            assert_eq!(rest(slow).await, "");
        });
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        for (text, whole) in [
            ("GET / HTTP/1.1\r\nhost: x\r\n\r\n", true),
            ("GET / HTTP/1.1\n\n", true),
            ("GET / HTTP/1.1\r\nhost: x\r\n", false),
        ] {
            let (_end, ended) = oneshot::channel();
            let mut head = Head { ended, line_is_empty: false };
            let ends = text.as_bytes().chunks(1).any(|piece| head.ends_in(piece));
            assert_eq!(ends, whole, "{text:?}");
        }
    }
}
