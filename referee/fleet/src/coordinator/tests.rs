//! Tests with a real server; skipped if there is none.

use super::fetch::queue;
use super::layout::Layout;
use super::publisher::{self, QueueChange};
use super::{ContestRun, Coordinator, CoordinatorSettings, LEASE, first_attempt};
use crate::bundles::pack;
use crate::connect::{Connection, Server};
use crate::messages::PRIORITY;
use crate::names::{BRIEF, CONTESTS, COORDINATOR, WORKERS};
use crate::{Brief, Names};
use referee_contest::Schedule;
use referee_games::Games;
use referee_play::core_context::Orders;
use referee_play::running_matches::RunningMatches;
use referee_runner::backend::Backend;
use referee_runner::folder::Folder;
use referee_runner::{Builds, prepare_text};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const BEGUN: &str = "2026-01-01T00:00:00Z";

/// A server that ends with the test.
pub(crate) struct Running(Child);

impl Running {
    /// Stops the server.
    pub(crate) fn end(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a server and connects to it.
async fn server(place: &Path) -> Option<(Running, Connection)> {
    // It chooses its port itself, so nobody else has it, and writes it into this folder.
    let ports = tempfile::tempdir().unwrap();
    let child = Command::new("nats-server")
        .args(["-js", "-a", "127.0.0.1", "-p", "-1", "-sd"])
        .arg(place)
        .arg("--ports_file_dir")
        .arg(ports.path())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        assert!(std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_none(), "no nats-server");
        eprintln!("skipped: no nats-server");
        return None;
    };
    let running = Running(child);
    let file = ports.path().join(format!("nats-server_{}.ports", running.0.id()));
    for _ in 0..1000 {
        if let Some(url) = url_in(&file) {
            let server = Server { url, ..Server::default() };
            return Some((running, server.connect("test").await.unwrap()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server doesn't start");
}

/// Returns the server's address once it has written it; it listens then.
fn url_in(file: &Path) -> Option<String> {
    let ports: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    ports["nats"][0].as_str().map(str::to_owned)
}

/// Runs a test with a server of its own, if nats-server is installed.
pub(crate) fn at_server(test: impl AsyncFnOnce(&Path, Connection, Running)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let place = tempfile::tempdir().unwrap();
        if let Some((running, connection)) = server(place.path()).await {
            test(place.path(), connection, running).await;
        }
    });
}

/// The settings for a contest file with these extra lines.
fn settings(more: &str, place: &Path) -> CoordinatorSettings {
    let text = format!("game = \"hex\"\nagents = [\"@random\", \"@first\"]\n{more}");
    let file = Path::new("contest.toml");
    let prepared = prepare_text(&text, file, place, Builds::Later).unwrap();
    let packed = pack(&prepared).unwrap().unwrap();
    let (shown, resume_args) = (String::new(), Vec::new());
    let brief = packed.brief(&prepared, LEASE);
    CoordinatorSettings { brief, packed, priority: PRIORITY, shown, resume_args }
}

fn layout(place: &Path) -> Layout {
    let CoordinatorSettings { brief, packed, .. } = settings("", place);
    Layout::of(brief, packed, PRIORITY, BEGUN)
}

/// The brief for a contest file with these extra lines.
pub(crate) fn brief(more: &str) -> Brief {
    let place = tempfile::tempdir().unwrap();
    settings(more, place.path()).brief
}

#[test]
fn the_brief_has_the_settings_of_the_file() {
    for (more, expected) in
        [("", (600_000, false)), ("pin = true\nbuild.time = \"7s\"", (7_000, true))]
    {
        let brief = brief(more);
        assert_eq!((brief.build_ms, brief.pin), expected);
    }
}

#[test]
fn a_new_order_replaces_the_old_one_and_is_found_again() {
    at_server(async |place, connection, _running| {
        let layout = layout(place);
        for begins in [true, true, false] {
            layout.make(&connection, begins).await.unwrap();
        }
        let (changes, mut published) = publisher::start(connection.clone(), layout.names.clone());
        let first = first_attempt();
        let mut numbers = Vec::new();
        for (block, attempt) in [(0, first), (1, first), (2, first), (1, first + 1), (1, first)] {
            changes.send(QueueChange { block, order: Some((attempt, vec![b'x'])) }).unwrap();
            let there = published.recv().await.unwrap();
            assert_eq!((there.block, there.attempt), (block, attempt));
            numbers.push(there.number);
        }
        assert_eq!(numbers, [1, 2, 3, 4, 2], "the same order again is the one that was there");
        changes.send(QueueChange { block: 0, order: None }).unwrap();
        let mut found = Vec::new();
        for _ in 0..200 {
            found = layout.found(&connection).await.unwrap();
            found.sort_unstable();
            if found == [1, 2] {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(found, [1, 2]);
        super::layout::remove(&connection, &layout.names).await.unwrap();
        assert!(layout.found(&connection).await.is_err(), "all is gone");
    });
}

/// What a contest has on the server.
const PARTS: [&str; 8] = [
    "the orders",
    "the orders' consumer",
    "the reports",
    "the reports' consumer",
    "the bucket",
    "the brief",
    "the contests",
    "the announcement",
];

async fn lose(part: &str, connection: &Connection, names: &Names) {
    let jetstream = &connection.jetstream;
    let (orders, reports) = (names.orders_stream(), names.reports_stream());
    match part {
        "the orders" => jetstream.delete_stream(orders).await.map(|_| ()).unwrap(),
        "the orders' consumer" => {
            jetstream.delete_consumer_from_stream(WORKERS, orders).await.unwrap();
        }
        "the reports" => jetstream.delete_stream(reports).await.map(|_| ()).unwrap(),
        "the reports' consumer" => {
            jetstream.delete_consumer_from_stream(COORDINATOR, reports).await.unwrap();
        }
        "the bucket" => jetstream.delete_object_store(names.bucket()).await.unwrap(),
        "the brief" => {
            let bucket = jetstream.get_object_store(names.bucket()).await.unwrap();
            bucket.delete(BRIEF).await.unwrap();
        }
        "the contests" => {
            jetstream.delete_key_value(CONTESTS).await.unwrap();
        }
        _ => super::layout::retract(connection, names).await.unwrap(),
    }
}

#[test]
fn each_lost_part_is_noticed_and_restored() {
    at_server(async |place, connection, _running| {
        let layout = layout(place);
        layout.make(&connection, true).await.unwrap();
        for part in PARTS {
            queue(&connection, &layout.names).await.unwrap();
            lose(part, &connection, &layout.names).await;
            assert!(queue(&connection, &layout.names).await.is_err(), "{part}");
            layout.make(&connection, false).await.unwrap();
        }
        queue(&connection, &layout.names).await.unwrap();
    });
}

#[test]
fn a_coordinator_restores_what_is_lost() {
    at_server(async |place, connection, _running| {
        let settings = settings("", place);
        let schedule = Schedule::new(Arc::new(settings.brief.contest.clone()));
        let (_orders, orders) = watch::channel(Orders::default());
        let folder = Folder::create(&place.join("out")).unwrap();
        let run = ContestRun {
            begun: BEGUN.to_owned(),
            folder,
            games: Games::default(),
            playing: RunningMatches::default(),
        };
        let begun = Coordinator::begin(connection.clone(), settings, run, &schedule, orders);
        let mut coordinator = begun.await.unwrap();
        let names = coordinator.layout.names.clone();
        lose("the reports' consumer", &connection, &names).await;
        lose("the announcement", &connection, &names).await;
        let coordinates = async {
            loop {
                coordinator.next(&schedule, false).await;
            }
        };
        let comes_back = async {
            while queue(&connection, &names).await.is_err() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = coordinates => {}
            come = tokio::time::timeout(Duration::from_secs(120), comes_back) => come.unwrap(),
        }
    });
}
