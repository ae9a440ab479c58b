//! Serves a router: the number of connections and the time that a request may take to arrive are limited.

use super::BODY_BYTES_MAX;
use super::visitor::Visitor;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most connections. Further ones wait until one has ended.
    connections: usize,
    /// The time until a request's head is complete, and again until its body is. Single bytes don't extend it.
    request: Duration,
    /// How long a visitor may read nothing of an answer.
    unread: Duration,
}

pub(super) const BOUNDS: Bounds =
    Bounds { connections: 256, request: Duration::from_secs(10), unread: Duration::from_secs(30) };

/// Lets a router's handlers start when the whole request is there, its body within the limit.
pub(super) fn with_whole_requests<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    bounds: Bounds,
) -> Router<S> {
    let whole = from_fn(move |request, next| read_body(request, next, bounds.request));
    router.layer(whole).layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
}

/// Serves a router until the future is dropped.
pub(super) async fn serve(mut listener: TcpListener, router: Router, bounds: Bounds) {
    let slots = Arc::new(Semaphore::new(bounds.connections));
    let mut http = http1::Builder::new();
    // One request per connection: an idle one would occupy a slot.
    http.timer(TokioTimer::new()).header_read_timeout(bounds.request).keep_alive(false);
    loop {
        let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
        let (stream, address) = Listener::accept(&mut listener).await;
        // Live updates are small and must not wait for more.
        stream.set_nodelay(true).ok();
        let from = Extension(Visitor::of(address.ip()));
        let service = TowerToHyperService::new(router.clone().layer(from));
        let mut stream = Box::pin(TimeoutStream::new(stream));
        stream.as_mut().set_write_timeout_pinned(Some(bounds.unread));
        let connection = http.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // A visitor who leaves is no error of the server.
            connection.await.ok();
            drop(slot);
        });
    }
}

async fn read_body(request: Request, next: Next, limit: Duration) -> Response {
    let (parts, body) = request.into_parts();
    let body = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    match timeout(limit, body).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Ok(Err(refused)) => refused.into_response(),
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BOUNDS, Bounds, serve, with_whole_requests};
    use axum::Router;
    use axum::routing::get;
    use std::net::SocketAddr;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::mpsc;

    /// The start of a request without its end.
    const HEAD: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\n";
    /// The same with a complete head.
    const BODY: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nx";

    async fn served(bounds: Bounds) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let route = get(|| async { "here" }).post(|| async { "there" });
        let router = with_whole_requests(Router::new().route("/", route), bounds);
        tokio::spawn(serve(listener, router, bounds));
        address
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test);
    }

    /// Sends these bytes and returns what comes until the connection ends.
    async fn answer(address: SocketAddr, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok();
        text
    }

    #[test]
    fn an_incomplete_request_times_out() {
        for part in [HEAD, BODY] {
            run(async {
                let request = Duration::from_millis(50);
                let address = served(Bounds { request, ..BOUNDS }).await;
                assert!(!answer(address, part).await.contains("200 OK"));
            });
        }
    }

    /// Sends when the work that has it ends.
    struct Left(mpsc::UnboundedSender<&'static str>);

    impl Drop for Left {
        fn drop(&mut self) {
            self.0.send("left").ok();
        }
    }

    #[test]
    fn the_work_of_a_visitor_who_leaves_ends() {
        run(async {
            let (events, mut received) = mpsc::unbounded_channel();
            let route = get(move || async move {
                let _left = Left(events.clone());
                events.send("begun").unwrap();
                std::future::pending::<()>().await;
            });
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = with_whole_requests(Router::new().route("/", route), BOUNDS);
            tokio::spawn(serve(listener, router, BOUNDS));
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            assert_eq!(received.recv().await, Some("begun"));
            drop(stream);
            assert_eq!(received.recv().await, Some("left"));
        });
    }

    #[test]
    fn an_answer_that_nobody_reads_ends() {
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", get(|| async { vec![0_u8; 64 << 20] }));
            let bounds = Bounds { connections: 1, unread: Duration::from_millis(50), ..BOUNDS };
            tokio::spawn(serve(listener, with_whole_requests(router, bounds), bounds));
            let mut idle = TcpStream::connect(address).await.unwrap();
            idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            // The only place comes free.
            answer(address, b"GET /no HTTP/1.1\r\nhost: x\r\n\r\n").await;
        });
    }

    #[test]
    fn a_connection_serves_one_request_and_leaves_its_slot_to_the_next() {
        run(async {
            let address = served(Bounds { connections: 1, ..BOUNDS }).await;
            for _ in 0..3 {
                let text = answer(address, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
                assert!(text.contains("connection: close") && text.ends_with("here"), "{text}");
            }
        });
    }
}
