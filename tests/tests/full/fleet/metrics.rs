//! Metrics and health checks of coordinator, worker and web viewer.

use super::process::{start_coordinator, start_worker};
use super::server::{Server, free_port};
use crate::support::contest::{count, write};
use crate::support::{TestDir, eventually};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Returns status line and body of a page, if there is a server.
fn get(port: u16, path: &str) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n")
        .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.lines().next()?.to_owned(), body.to_owned()))
}

/// Waits until the metrics of this port contain a line that begins and ends like this.
fn wait_for(port: u16, begin: &str, end: &str) {
    let has = |line: &str| line.starts_with(begin) && line.ends_with(end);
    let page = || get(port, "/metrics").map(|(_, body)| body).unwrap_or_default();
    assert!(eventually(|| page().lines().any(has)), "{begin} .. {end}: {}", page());
}

fn is_healthy(port: u16) -> bool {
    get(port, "/healthz").is_some_and(|(status, _)| status == "HTTP/1.1 200 OK")
}

#[test]
fn coordinator_worker_and_viewer_have_metrics_and_health() {
    let Some(mut server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    let [of_contest, of_worker, of_viewer] = [(); 3].map(|()| free_port());
    write(&dir, &["@first", "@random"], "rounds = 100000\n");
    let at = |port: u16| format!("127.0.0.1:{port}");
    let words = ["--jobs", "1", "--name", "ada", "--metrics", &at(of_worker)];
    let worker = start_worker(&dir, &url, &words);
    let words = ["run", "c.toml", "--out", "d", "--metrics", &at(of_contest)];
    let coordinator = start_coordinator(&dir, &words, &url);
    wait_for(of_worker, "referee_worker_contest{contest=\"autumn\"}", " 1");
    wait_for(of_contest, "referee_contest_worker_slots{folder=", " 1");
    assert!(eventually(|| count(&dir, "d") > 0));
    let port = of_viewer.to_string();
    let viewer = dir.start(&["serve", ".", "--no-play", "--port", &port]);
    wait_for(of_viewer, "referee_contest_running{folder=\"d\",contest=\"autumn\"}", " 1");
    for port in [of_contest, of_worker, of_viewer] {
        assert!(is_healthy(port), "{port}");
    }
    // Without a server nothing is played.
    server.kill();
    assert!(eventually(|| !is_healthy(of_contest) && !is_healthy(of_worker)));
    let (status, body) = get(of_worker, "/healthz").unwrap();
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert_eq!(body, "the server can't be reached\n");
    assert!(is_healthy(of_viewer));
    server.restart();
    assert!(eventually(|| is_healthy(of_contest) && is_healthy(of_worker)));
    coordinator.kill();
    wait_for(of_viewer, "referee_contest_running{folder=\"d\",contest=\"autumn\"}", " 0");
    viewer.terminate();
    worker.terminate().code(143);
    let taken = ["worker", &url, "--metrics", &at(server.port)];
    dir.run(&taken).code(4).stderr_has("--metrics 127.0.0.1");
}
