//! Limits connections: their number, the time until a request is complete, and the time without traffic.

use super::BODY_BYTES_MAX;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::serve::{IncomingStream, Listener};
use referee_process::lock::lock;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// The limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most connections. A further one replaces another, see [`victim`].
    connections: usize,
    /// The time until the request is complete, head and body. Single bytes don't extend it.
    request: Duration,
    /// The time without traffic after which a further connection may replace this one. Followers get
    /// something more often.
    idle: Duration,
    /// The time without traffic. A long animation takes less.
    silence: Duration,
}

pub(super) const BOUNDS: Bounds = Bounds {
    connections: 256,
    request: Duration::from_secs(10),
    idle: Duration::from_secs(20),
    silence: Duration::from_secs(180),
};

/// How often a new connection looks for one to replace.
const RETRY: Duration = Duration::from_millis(500);

/// A listener that limits its connections.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    listener: TcpListener,
    bounds: Bounds,
    slots: Arc<Semaphore>,
    places: Arc<Places>,
    number: u64,
}

/// The open connections by number.
type Places = Mutex<BTreeMap<u64, Place>>;

/// What is known of a connection.
#[derive(Debug)]
struct Place {
    peer: IpAddr,
    /// The request has been read, head and body.
    complete: bool,
    /// The last traffic of a complete request; before that, the connection's start.
    since: Instant,
    /// Closes the connection; taken once it has been asked to.
    end: Option<oneshot::Sender<()>>,
}

/// Returns the connection that a new one of `peer` replaces: preferably one whose request is incomplete,
/// else an idle one; of the peer that has the most, the oldest. One peer can't fill more than half of the
/// places with busy ones if others need them.
fn victim(places: &BTreeMap<u64, Place>, peer: IpAddr, bounds: Bounds) -> Option<u64> {
    let mut counts = BTreeMap::<IpAddr, usize>::new();
    for place in places.values() {
        *counts.entry(place.peer).or_default() += 1;
    }
    let may_end = |place: &Place| {
        let has_too_many = place.peer != peer && counts[&place.peer] > bounds.connections / 2;
        let idle = place.since.elapsed() >= bounds.idle;
        place.end.is_some() && (!place.complete || idle || has_too_many)
    };
    let places = places.iter().filter(|(_, place)| may_end(place));
    let order = |place: &Place| (place.complete, Reverse(counts[&place.peer]), place.since);
    places.min_by_key(|(_, place)| order(place)).map(|(&number, _)| number)
}

impl ConnectionLimit {
    pub(super) fn new(listener: TcpListener, bounds: Bounds) -> Self {
        let slots = Arc::new(Semaphore::new(bounds.connections));
        Self { listener, bounds, slots, places: Arc::default(), number: 0 }
    }

    async fn acquire_slot(&self, peer: IpAddr) -> OwnedSemaphorePermit {
        loop {
            let slots = self.slots.clone();
            if let Ok(slot) = slots.clone().try_acquire_owned() {
                return slot;
            }
            self.end_one_for(peer);
            // The connection that was ended may be busy for a moment.
            if let Ok(slot) = timeout(RETRY, slots.acquire_owned()).await {
                return slot.expect("the semaphore is never closed");
            }
        }
    }

    fn end_one_for(&self, peer: IpAddr) {
        let mut places = lock(&self.places);
        let place = victim(&places, peer, self.bounds).and_then(|number| places.get_mut(&number));
        if let Some(end) = place.and_then(|place| place.end.take()) {
            end.send(()).ok();
        }
    }
}

impl Listener for ConnectionLimit {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let peer = address.ip();
        let slot = self.acquire_slot(peer).await;
        // Live updates are small and must not wait for more.
        stream.set_nodelay(true).ok();
        self.number += 1;
        let (end, ended) = oneshot::channel();
        let place = Place { peer, complete: false, since: Instant::now(), end: Some(end) };
        lock(&self.places).insert(self.number, place);
        let connection = Connection {
            stream,
            bounds: self.bounds,
            deadline: Box::pin(sleep(self.bounds.request)),
            complete: false,
            ended: Some(ended),
            place: PlaceHandle { number: self.number, places: self.places.clone() },
            _slot: slot,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A request's handle on its connection.
#[derive(Clone, Debug)]
pub(super) struct PlaceHandle {
    number: u64,
    places: Arc<Places>,
}

impl PlaceHandle {
    /// Records that the request has been read.
    fn complete(&self) {
        if let Some(place) = lock(&self.places).get_mut(&self.number) {
            place.complete = true;
            place.since = Instant::now();
        }
    }

    /// Records whether there was traffic; returns whether the request is complete.
    fn observe(&self, traffic: bool) -> bool {
        let mut places = lock(&self.places);
        let Some(place) = places.get_mut(&self.number) else { return false };
        if place.complete && traffic {
            place.since = Instant::now();
        }
        place.complete
    }
}

impl Connected<IncomingStream<'_, ConnectionLimit>> for PlaceHandle {
    fn connect_info(stream: IncomingStream<'_, ConnectionLimit>) -> Self {
        stream.io().place.clone()
    }
}

/// Lets a router's handlers start when the whole request is there, its body within the limit. The router
/// has to be served with [`PlaceHandle`] as its connect info.
pub(super) fn with_whole_requests<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
) -> Router<S> {
    router.layer(from_fn(read_request)).layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
}

async fn read_request(
    ConnectInfo(place): ConnectInfo<PlaceHandle>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(bytes) => {
            place.complete();
            next.run(Request::from_parts(parts, Body::from(bytes))).await
        }
        Err(refused) => refused.into_response(),
    }
}

/// A connection with time limits. It serves one request: the response says `connection: close`.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    bounds: Bounds,
    deadline: Pin<Box<Sleep>>,
    /// The request is complete, and the deadline is that of the silence.
    complete: bool,
    /// Another connection needs the slot; `None` once it, or the deadline, has ended this one.
    ended: Option<oneshot::Receiver<()>>,
    place: PlaceHandle,
    _slot: OwnedSemaphorePermit,
}

impl Connection {
    /// Fails if the time is over or another connection needs the slot. Traffic extends the deadline of
    /// a complete request only.
    fn apply_bounds<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let over = |why| Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)));
        let Some(ended) = &mut self.ended else { return over("it has been closed") };
        if Pin::new(ended).poll(context).is_ready() {
            self.ended = None;
            return over("another connection needed the slot");
        }
        let traffic = result.is_ready();
        let was_complete = std::mem::replace(&mut self.complete, self.place.observe(traffic));
        if self.complete && (traffic || !was_complete) {
            self.deadline.as_mut().reset(Instant::now() + self.bounds.silence);
        }
        if self.deadline.as_mut().poll(context).is_ready() {
            self.ended = None;
            return over(if self.complete { "no traffic" } else { "the request is incomplete" });
        }
        result
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.place.places).remove(&self.place.number);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.apply_bounds(context, result)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.apply_bounds(context, result)
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
    use super::{BOUNDS, Bounds, ConnectionLimit, Place, PlaceHandle, victim, with_whole_requests};
    use axum::Router;
    use axum::routing::get;
    use std::collections::BTreeMap;
    use std::net::{IpAddr, SocketAddr};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    const LONG: Duration = Duration::from_secs(3600);
    /// The start of a request without its end.
    const HEAD: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\n";
    /// The same with a complete head.
    const BODY: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nx";

    async fn serve(bounds: Bounds) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let route = get(|| async { "here" }).post(|| async { "there" });
        let router = with_whole_requests(Router::new().route("/", route));
        let service = router.into_make_service_with_connect_info::<PlaceHandle>();
        tokio::spawn(axum::serve(ConnectionLimit::new(listener, bounds), service).into_future());
        address
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test);
    }

    async fn sent(address: SocketAddr, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    async fn rest(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok();
        text
    }

    #[test]
    fn incomplete_requests_are_replaced() {
        for part in [HEAD, BODY] {
            run(async {
                let bounds = Bounds { connections: 2, request: LONG, idle: LONG, silence: LONG };
                let address = serve(bounds).await;
                let mut silent = Vec::new();
                for _ in 0..5 {
                    silent.push(sent(address, part).await);
                }
                let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
                assert!(rest(sent(address, request).await).await.ends_with("here"));
                // It is closed, at most with an error.
                assert!(!rest(silent.remove(0)).await.contains("200 OK"));
            });
        }
    }

    #[test]
    fn an_incomplete_request_times_out() {
        for part in [HEAD, BODY] {
            run(async {
                let request = Duration::from_millis(50);
                let address = serve(Bounds { request, ..BOUNDS }).await;
                assert!(!rest(sent(address, part).await).await.contains("200 OK"));
            });
        }
    }

    #[test]
    fn a_peer_with_many_connections_loses_them_first() {
        let bounds = Bounds { connections: 4, request: LONG, idle: LONG, silence: LONG };
        let [one, other] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        let chosen = |places: &[(IpAddr, bool)], peer| {
            let place = |(number, &(peer, complete)): (u64, &(IpAddr, bool))| {
                let place = Place { peer, complete, since: Instant::now(), end: None };
                (number, Place { end: Some(oneshot::channel().0), ..place })
            };
            let places: BTreeMap<u64, Place> = (0..).zip(places).map(place).collect();
            victim(&places, peer, bounds)
        };
        for (places, peer, expected) in [
            (vec![(other, false), (one, false), (one, false), (one, true)], other, Some(1)),
            (vec![(other, true), (one, true), (one, true), (one, false)], one, Some(3)),
            (vec![(other, true), (one, true), (one, true), (one, true)], other, Some(1)),
            (vec![(other, true), (one, true), (one, true), (one, true)], one, None),
            (vec![(other, true), (other, true), (one, true), (one, true)], one, None),
        ] {
            assert_eq!(chosen(&places, peer), expected, "{places:?}, {peer}");
        }
    }
}
