//! A fake coordinator: it announces a contest, sends the orders of a test and returns the reports. It
//! repeats the messages and names on the wire by hand, independently of the real coordinator.

use super::server::Server;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use referee_contest::audit::verify_and_record;
use referee_contest::file::BuildSettings;
use referee_contest::{Contest, Fixture, Schedule};
use referee_fleet::messages::{FORMAT_VERSION, PRIORITY, split_bytes};
use referee_fleet::{
    AgentPackage, Announcement, BUILD, Brief, Heartbeat, Names, Order, Payload, PlayedMatch,
    Report, names,
};
use referee_protocol::plain::to_hex;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

/// The timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The timeout of the server's responses.
const ANSWER: Duration = Duration::from_secs(60);

/// A contest announced on the server.
pub(crate) struct FakeCoordinator {
    runtime: Runtime,
    client: Client,
    jetstream: Context,
    reports: PullConsumer,
    bucket: ObjectStore,
    beats: Subscriber,
    /// The contest.
    pub(crate) contest: Arc<Contest>,
    /// The names of its streams, subjects and buckets.
    pub(crate) names: Names,
}

async fn begin(jetstream: &Context, names: &Names, brief: &Brief) -> (PullConsumer, ObjectStore) {
    let work = |name: String, subjects: String| stream::Config {
        name,
        subjects: vec![subjects],
        retention: RetentionPolicy::WorkQueue,
        max_messages_per_subject: 1,
        discard: DiscardPolicy::Old,
        ..stream::Config::default()
    };
    let consumer = |name: &str, ack_wait: Duration| pull::Config {
        durable_name: Some(name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        ..pull::Config::default()
    };
    let lease = Duration::from_millis(brief.lease_ms);
    let orders =
        jetstream.create_stream(work(names.orders_stream(), names.orders())).await.unwrap();
    orders.create_consumer(consumer(names::WORKERS, lease)).await.unwrap();
    let config = stream::Config {
        max_messages_per_subject: -1,
        ..work(names.reports_stream(), names.reports())
    };
    let reports = jetstream.create_stream(config).await.unwrap();
    let reports = reports.create_consumer(consumer(names::COORDINATOR, TIMEOUT)).await.unwrap();
    let bucket = object_store::Config { bucket: names.bucket(), ..Default::default() };
    let bucket = jetstream.create_object_store(bucket).await.unwrap();
    let bytes = serde_json::to_vec(brief).unwrap();
    bucket.put(names::BRIEF, &mut bytes.as_slice()).await.unwrap();
    (reports, bucket)
}

impl FakeCoordinator {
    /// Announces a contest of built-in agents with leases of `lease_ms`.
    pub(crate) fn start(server: &Server, contest: &str, lease_ms: u64) -> Self {
        let contest: Contest = serde_json::from_str(contest).unwrap();
        let agent = |run: &String| AgentPackage { run: run.clone(), ..AgentPackage::default() };
        let brief = Brief {
            form: FORMAT_VERSION,
            referee: BUILD.to_owned(),
            agents: contest.players.iter().map(|player| agent(&player.run)).collect(),
            contest: contest.clone(),
            folder: String::new(),
            shared: None,
            build_ms: 10_000,
            build: BuildSettings::default(),
            pin: false,
            lease_ms,
            arch: std::env::consts::ARCH.to_owned(),
        };
        let names = Names::of(&contest, "2026-01-01T00:00:00Z");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (client, jetstream, reports, bucket, beats) = runtime.block_on(async {
            let client = async_nats::connect(server.url()).await.unwrap();
            let mut jetstream = jetstream::new(client.clone());
            jetstream.set_timeout(ANSWER);
            let (reports, bucket) = begin(&jetstream, &names, &brief).await;
            let beats = client.subscribe(names.beats()).await.unwrap();
            (client, jetstream, reports, bucket, beats)
        });
        let contest = Arc::new(contest);
        let coordinator =
            Self { runtime, client, jetstream, reports, bucket, beats, contest, names };
        coordinator.announce(&brief);
        coordinator
    }

    fn announce(&self, brief: &Brief) {
        let announcement = Announcement {
            priority: PRIORITY,
            form: FORMAT_VERSION,
            name: self.contest.name.clone(),
            referee: BUILD.to_owned(),
            since: "2026-01-01T00:00:00Z".to_owned(),
            brief_sha256: to_hex(&Sha256::digest(serde_json::to_vec(brief).unwrap())),
        };
        let bytes = serde_json::to_vec(&announcement).unwrap();
        // The stream of a key-value bucket. The client's own call first queries the account, whose
        // response it can't parse from servers older than 2.10.
        let config = stream::Config {
            name: format!("KV_{}", names::CONTESTS),
            subjects: vec![format!("$KV.{}.>", names::CONTESTS)],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..stream::Config::default()
        };
        self.runtime.block_on(async {
            self.jetstream.create_stream(config).await.unwrap();
            let bucket = self.jetstream.get_key_value(names::CONTESTS).await.unwrap();
            bucket.put(&self.names.id, bytes.into()).await.unwrap();
        });
    }

    /// Ends the contest: removes its announcement.
    pub(crate) fn end_contest(&self) {
        self.runtime.block_on(async {
            let bucket = self.jetstream.get_key_value(names::CONTESTS).await.unwrap();
            let subject = format!("{}{}", bucket.prefix, self.names.id);
            bucket.stream.purge().filter(subject).await.unwrap();
        });
    }

    /// Asks all workers to stop.
    pub(crate) fn stop(&self) {
        self.runtime.block_on(async {
            self.client.publish(self.names.stop(), "".into()).await.unwrap();
            self.client.flush().await.unwrap();
        });
    }

    /// Returns all games of a block.
    pub(crate) fn fixtures(&self, block: u64) -> Vec<Fixture> {
        let schedule = Schedule::new(self.contest.clone());
        let all = (0..schedule.known()).filter_map(|number| schedule.fixture(number));
        all.filter(|fixture| fixture.block == block).collect()
    }

    /// Returns the order for a block.
    pub(crate) fn order(&self, block: u64, attempt: u32) -> Order {
        let (fixtures, avoid) = (self.fixtures(block), Vec::new());
        Order { block, attempt, fixtures, void_retries: 2, avoid }
    }

    /// Sends an order unchanged.
    pub(crate) fn send(&self, order: &Order) {
        self.send_bytes(order.block, order.attempt, &serde_json::to_vec(order).unwrap());
    }

    /// Sends bytes as an order, valid or not.
    pub(crate) fn send_bytes(&self, block: u64, attempt: u32, bytes: &[u8]) {
        let message = PublishMessage::build().payload(bytes.to_vec().into());
        let message = message.message_id(format!("{block}-{attempt}"));
        self.runtime.block_on(async {
            let sent = self.jetstream.send_publish(self.names.order(block), message).await;
            sent.unwrap().await.unwrap();
        });
    }

    /// Receives the next report and its transcripts.
    pub(crate) fn report(&self) -> (Report, Vec<Vec<u8>>) {
        let report = self.report_within(TIMEOUT);
        report.expect("a report arrives")
    }

    /// Receives the next report; `None` if none arrives within this time.
    pub(crate) fn report_within(&self, time: Duration) -> Option<(Report, Vec<Vec<u8>>)> {
        self.runtime.block_on(async {
            let batch = self.reports.batch().max_messages(1).expires(time).messages();
            let message = batch.await.unwrap().next().await?.unwrap();
            let (report, mut rest): (Report, &[u8]) = split_bytes(&message.payload).unwrap();
            let mut transcripts = Vec::new();
            for PlayedMatch { transcript, .. } in &report.tries {
                match transcript {
                    Payload::Message { bytes } => {
                        let (own, after) = rest.split_at(usize::try_from(*bytes).unwrap());
                        transcripts.push(own.to_vec());
                        rest = after;
                    }
                    Payload::Object { sha256, .. } => {
                        let mut bytes = Vec::new();
                        let mut object = self.bucket.get(sha256).await.unwrap();
                        object.read_to_end(&mut bytes).await.unwrap();
                        transcripts.push(bytes);
                    }
                }
            }
            assert!(rest.is_empty(), "bytes that belong to no transcript");
            message.double_ack().await.unwrap();
            Some((report, transcripts))
        })
    }

    /// Waits for a heartbeat that fulfils a condition.
    pub(crate) fn beat(&mut self, wanted: impl Fn(&Heartbeat) -> bool) -> Heartbeat {
        let beats = &mut self.beats;
        let mut last = None;
        let search = async {
            loop {
                let message = beats.next().await.unwrap();
                let beat: Heartbeat = serde_json::from_slice(&message.payload).unwrap();
                if wanted(&beat) {
                    return beat;
                }
                last = Some(beat);
            }
        };
        let found = self.runtime.block_on(async { tokio::time::timeout(TIMEOUT, search).await });
        found.unwrap_or_else(|_| panic!("no such heartbeat; the last was {last:?}"))
    }

    /// Returns the number of orders left on the server.
    pub(crate) fn orders_left(&self) -> u64 {
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(self.names.orders_stream()).await.unwrap();
            stream.cached_info().state.messages
        })
    }

    /// Returns whether the match of a transcript is a valid result of this game.
    pub(crate) fn counts(&self, fixture: &Fixture, transcript: &[u8]) -> bool {
        let recorded = verify_and_record(transcript).unwrap();
        recorded.record(&self.contest, fixture, String::new()).is_ok()
    }

    /// Asserts that every transcript is complete and belongs to its game.
    pub(crate) fn assert_played(&self, report: &Report, transcripts: &[Vec<u8>]) {
        assert_eq!(report.fault, None);
        let fixtures = self.fixtures(report.block);
        for (one, transcript) in report.tries.iter().zip(transcripts) {
            let fixture = fixtures.iter().find(|fixture| fixture.number == one.number).unwrap();
            let recorded = verify_and_record(transcript).unwrap();
            let kind = referee_games::kind(&self.contest.games[fixture.game].game).unwrap();
            let differences =
                referee_contest::audit::differences(&self.contest, kind, fixture, &recorded.header);
            assert_eq!(differences, Vec::<String>::new());
        }
    }
}
