//! Connections: so many at once, none that is silent for long, and none that takes its time to say what
//! it wants. What comes is bounded before it is read as HTTP.

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

/// What connections are held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// So many at once; who comes then takes the place of the oldest that hasn't asked for anything,
    /// or waits.
    connections: usize,
    /// A connection that hasn't sent the whole head of its request by then is closed.
    head: Duration,
    /// A connection on which nothing moves for so long is closed. Followers are told something more
    /// often, and a long animation takes less.
    silence: Duration,
}

pub(super) const BOUNDS: Bounds =
    Bounds { connections: 256, head: Duration::from_secs(10), silence: Duration::from_secs(180) };

/// Where connections come in.
#[derive(Debug)]
pub(super) struct Doors {
    listener: TcpListener,
    bounds: Bounds,
    places: Arc<Semaphore>,
    waiting: Arc<Waiting>,
    number: u64,
}

/// The connections that haven't asked for anything yet, the oldest first. Whoever takes one out ends
/// it.
type Waiting = Mutex<BTreeMap<u64, oneshot::Sender<()>>>;

impl Doors {
    pub(super) fn new(listener: TcpListener, bounds: Bounds) -> Self {
        let places = Arc::new(Semaphore::new(bounds.connections));
        Self { listener, bounds, places, waiting: Arc::default(), number: 0 }
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        let places = self.places.clone();
        if let Ok(place) = places.clone().try_acquire_owned() {
            return place;
        }
        let oldest = lock(&self.waiting).pop_first();
        if let Some((_, end)) = oldest {
            end.send(()).ok();
        }
        places.acquire_owned().await.expect("the places are never closed")
    }
}

impl Listener for Doors {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let place = self.place().await;
        // Frames are small, and somebody waits for them.
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
            _place: place,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when nothing moves. It is for one request: what is answered says so.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    bounds: Bounds,
    deadline: Pin<Box<Sleep>>,
    /// Until the head of the request is whole.
    head: Option<Head>,
    number: u64,
    waiting: Arc<Waiting>,
    _place: OwnedSemaphorePermit,
}

/// The head of a request that comes.
#[derive(Debug)]
struct Head {
    /// Somebody else needs the place.
    ended: oneshot::Receiver<()>,
    /// Nothing has come of the present line so far.
    line_is_empty: bool,
}

impl Head {
    /// Whether these bytes end it: with an empty line, after whatever end of lines.
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
    /// Puts off the end where something moved, or comes to it.
    fn after<T>(
        &mut self,
        context: &mut Context<'_>,
        moved: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if moved.is_ready() {
            if self.head.is_none() {
                self.deadline.as_mut().reset(Instant::now() + self.bounds.silence);
            }
            return moved;
        }
        let over = || io::Error::new(io::ErrorKind::TimedOut, "nothing moved");
        self.deadline.as_mut().poll(context).map(|()| Err(over()))
    }

    /// Takes in what of the head has come; whether the connection may wait for more of it.
    fn take_in(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> io::Result<()> {
        let Some(head) = &mut self.head else { return Ok(()) };
        if head.ends_in(bytes) {
            self.head = None;
            lock(&self.waiting).remove(&self.number);
            return Ok(());
        }
        let over = |why| Err(io::Error::new(io::ErrorKind::TimedOut, why));
        if Pin::new(&mut head.ended).poll(context).is_ready() {
            return over("the place was needed");
        }
        // Bytes that come one by one don't put it off.
        if self.deadline.as_mut().poll(context).is_ready() {
            return over("no request came");
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
        let moved = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.take_in(context, &buffer.filled()[known..])?;
        self.after(context, moved)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.after(context, moved)
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
    use super::{BOUNDS, Bounds, Doors, Head};
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
        tokio::spawn(axum::serve(Doors::new(listener, bounds), router).into_future());
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
    fn who_asks_for_nothing_gives_way() {
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
    fn a_head_that_never_ends_is_not_waited_for() {
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
