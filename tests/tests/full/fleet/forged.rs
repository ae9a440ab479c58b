//! A worker that returns what it wasn't asked for, with a worker's permissions on the server of docs/examples/nats.conf.

use super::permissions::{connect, users};
use super::process::start_coordinator;
use super::server::Server;
use crate::support::contest::{assert_whole, query, write};
use crate::support::{Running, TestDir, eventually};
use async_nats::Client;
use async_nats::jetstream;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::TryStreamExt;
use referee_fleet::messages::with_bytes;
use referee_fleet::{
    FaultCause, Heartbeat, LiveChunk, Names, PlayedMatch, Report, WorkerFault, WorkerInfo,
};
use std::fs;
use std::io::Write;

const GAMES: usize = 8;

/// What the forger sends.
struct Forger {
    client: Client,
    names: Names,
    attempt: u32,
}

impl Forger {
    /// Joins the only contest, with a worker's permissions, and reads the first order.
    async fn join(server: &Server) -> Option<Self> {
        let client = connect(server, "worker", "wp").await;
        let jetstream = jetstream::new(client.clone());
        let contests = jetstream.get_key_value("referee-contests").await.ok()?;
        let keys = contests.stream.info_with_subjects("$KV.referee-contests.>").await.ok()?;
        let keys: Vec<(String, usize)> = keys.try_collect().await.ok()?;
        let names = Names::new(keys.first()?.0.rsplit('.').next()?)?;
        let orders = jetstream.get_stream(names.orders_stream()).await.ok()?;
        let order = orders.get_raw_message(orders.cached_info().state.first_sequence).await.ok()?;
        let order: referee_fleet::Order = serde_json::from_slice(&order.payload).ok()?;
        Some(Self { client, names, attempt: order.attempt })
    }

    async fn publish(&self, subject: String, bytes: Vec<u8>) {
        self.client.publish(subject, bytes.into()).await.unwrap();
        self.client.flush().await.unwrap();
    }

    /// Reports these transcripts for a block, each of which claims this length or has its own.
    async fn report(&self, block: u64, tries: &[(u64, Option<u64>, &[u8])]) {
        let one = |&(number, claimed, bytes): &(u64, Option<u64>, &[u8])| PlayedMatch {
            number,
            bytes: claimed.unwrap_or(bytes.len() as u64),
        };
        let report = self.empty(block, tries.iter().map(one).collect());
        let bytes: Vec<&[u8]> = tries.iter().map(|(_, _, bytes)| *bytes).collect();
        self.publish(self.names.report(block), with_bytes(&report, &bytes)).await;
    }

    fn empty(&self, block: u64, tries: Vec<PlayedMatch>) -> Report {
        let worker = "../../mallory".to_owned();
        Report { block, attempt: self.attempt, worker, tries, in_object: false, fault: None }
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The transcripts of a local run with this seed.
fn played(dir: &TestDir, seed: &str) -> Vec<Vec<u8>> {
    let file = fs::read_to_string(dir.path("c.toml")).unwrap();
    dir.write(&format!("{seed}.toml"), file.replace("seed = 7", &format!("seed = {seed}")));
    dir.run(&["-q", "contest", "run", &format!("{seed}.toml"), "--out", seed]).code(0);
    let files = query(dir, seed, "select transcript from games order by number");
    files.iter().map(|file| fs::read(dir.path(seed).join(file)).unwrap()).collect()
}

#[test]
fn forged_results_do_not_count() {
    let Some(server) = Server::start_with(&users()) else { return };
    let dir = TestDir::new();
    write(&dir, &["@random", "@first"], "rounds = 4\n");
    let (own, foreign) = (played(&dir, "7"), played(&dir, "8"));
    let on = format!("nats://coordinator:cp@127.0.0.1:{}", server.port);
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "d"], &on);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut forger = None;
    assert!(eventually(|| {
        forger = runtime.block_on(Forger::join(&server));
        forger.is_some()
    }));
    let forger = forger.unwrap();
    let [first, second] = [&own[0], &own[1]].map(|bytes| packed(bytes));
    // The other result, with the seal of the true one.
    let text = String::from_utf8(own[0].clone()).unwrap();
    let winner = if text.contains("\"places\":[1,2]") { "[1,2]" } else { "[2,1]" };
    let other = if winner == "[1,2]" { "[2,1]" } else { "[1,2]" };
    let changed = packed(text.replace(winner, other).as_bytes());
    let bomb = packed(&vec![b' '; 80 << 20]);
    runtime.block_on(async {
        let names = &forger.names;
        // It says that it holds everything, so that it may send what is played, and that of a game elsewhere.
        let info = WorkerInfo {
            id: "mallory".to_owned(),
            name: "\u{1b}[2J\u{202e}".to_owned(),
            referee: referee_fleet::BUILD.to_owned(),
            slots: u32::MAX,
            ..WorkerInfo::default()
        };
        let orders = (0..4).map(|block| (block, forger.attempt)).collect();
        let beat = Heartbeat { worker: info, orders, leaving: false, ..Heartbeat::default() };
        forger.publish(names.beats(), serde_json::to_vec(&beat).unwrap()).await;
        for number in [0, 5, u64::MAX] {
            let bytes = b"{\"type\":\"header\"}\n";
            let chunk = LiveChunk {
                worker: "mallory".to_owned(),
                number,
                serial: 1,
                offset: 0,
                bytes: bytes.len() as u64,
                over: false,
            };
            forger.publish(names.live(), with_bytes(&chunk, &[bytes])).await;
        }
        for message in [
            &b"no json \x1b[2J"[..],
            b"",
            b"{\"block\":\"\x1b[2J\"}",
            b"{\"block\":18446744073709551616}",
        ] {
            forger.publish(names.report(0), message.to_vec()).await;
        }
        // Nothing, too little, too much, of another block, doubled, swapped, changed, foreign, without an end.
        forger.report(0, &[]).await;
        forger.report(0, &[(0, Some(u64::MAX), &first)]).await;
        forger.report(0, &[(0, None, &first[..first.len() / 2])]).await;
        forger.report(0, &[(u64::MAX, None, &first)]).await;
        forger.report(u64::MAX, &[(0, None, &first)]).await;
        forger.report(1, &[(0, None, &first)]).await;
        forger.report(0, &[(0, None, &first), (0, None, &first)]).await;
        forger.report(0, &[(0, None, &second), (1, None, &first)]).await;
        forger.report(0, &[(0, None, &changed)]).await;
        forger.report(0, &[(0, None, &packed(&foreign[0]))]).await;
        forger.report(0, &[(0, None, &packed(&first))]).await;
        forger.report(0, &[(0, None, &bomb)]).await;
        // An object that is not there, and words for people.
        let report = forger.empty(0, vec![PlayedMatch { number: 0, bytes: 1 }]);
        let report = Report { in_object: true, ..report };
        forger.publish(names.report(0), with_bytes(&report, &[])).await;
        let text = "\u{1b}[2J\n::error::x\u{202e}".repeat(9_999);
        let fault = Some(WorkerFault { cause: FaultCause::Machine, text, player: None });
        forger.publish(names.report(0), with_bytes(&Report { fault, ..report }, &[])).await;
    });
    let gone = Heartbeat { leaving: true, ..Heartbeat::default() };
    let worker = WorkerInfo { id: "mallory".to_owned(), ..WorkerInfo::default() };
    let gone = serde_json::to_vec(&Heartbeat { worker, ..gone }).unwrap();
    runtime.block_on(forger.publish(forger.names.beats(), gone));
    // A block that the forger had, or failed at, is ordered again: an honest worker would play it twice.
    coordinator.wait_for_stderr("has left");
    coordinator.wait_for_stderr("its transcripts are missing on the server");
    let mut worker = dir.command(&["worker", &server.url(), "--jobs", "1"]);
    worker.env("NATS_USER", "worker").env("NATS_PASSWORD", "wp");
    let worker = Running::start(worker, None);
    let ran = coordinator.wait_long().code(0);
    let is_hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ran.stderr.contains(is_hidden), "{}", ran.stderr);
    assert!(ran.stderr.contains("mallory: "), "{}", ran.stderr);
    worker.terminate().code(143).stderr_has(&format!("played {GAMES} games"));
    assert_whole(&dir, "d", GAMES);
}
