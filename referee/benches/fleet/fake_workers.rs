//! The fake workers.

use crate::Outcome;
use crate::play::play;
use crate::worker::work;
use async_nats::jetstream;
use futures_util::StreamExt;
use referee_contest::audit::{differences, verify_and_record};
use referee_contest::{Contest, Schedule};
use referee_fleet::{Brief, Names, names};
use referee_games::kind;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// The interval at which a contest is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The timeout for finding it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The state that all fake workers share.
#[derive(Debug)]
pub(crate) struct FakeWorkers {
    pub(crate) url: String,
    pub(crate) names: Names,
    pub(crate) contest: Contest,
    pub(crate) lease: Duration,
    pub(crate) game_time: Duration,
    pub(crate) slots: usize,
    /// Games whose reports the server has stored.
    pub(crate) reported: AtomicU64,
    /// Errors, and how often each occurred.
    errors: Mutex<BTreeMap<String, u64>>,
}

impl FakeWorkers {
    /// Waits for the only contest on a server and reads its brief, as workers do.
    pub(crate) fn find(url: &str, slots: usize, game_ms: u64) -> Outcome<Arc<Self>> {
        let (names, brief) =
            Builder::new_current_thread().enable_all().build()?.block_on(brief(url))?;
        check(&brief.contest)?;
        Ok(Arc::new(Self {
            url: url.to_owned(),
            names,
            contest: brief.contest,
            lease: Duration::from_millis(brief.lease_ms),
            game_time: Duration::from_millis(game_ms),
            slots,
            reported: AtomicU64::new(0),
            errors: Mutex::default(),
        }))
    }

    /// Starts this many workers on this many threads, and returns the threads.
    pub(crate) fn start(
        self: &Arc<Self>,
        workers: usize,
        threads: usize,
    ) -> Vec<JoinHandle<Outcome<()>>> {
        let begin = |thread: usize| {
            let shared = self.clone();
            let own = (thread..workers).step_by(threads);
            std::thread::spawn(move || shared.work(own))
        };
        (0..threads).map(begin).collect()
    }

    fn work(self: Arc<Self>, numbers: impl Iterator<Item = usize>) -> Outcome<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let local = LocalSet::new();
        let tasks: Vec<_> =
            numbers.map(|number| local.spawn_local(work(self.clone(), number))).collect();
        runtime.block_on(local.run_until(async {
            for task in tasks {
                if let Err(error) = task.await? {
                    self.record_error(&error.to_string());
                }
            }
            Ok(())
        }))
    }

    /// Records an error.
    pub(crate) fn record_error(&self, text: &str) {
        if let Ok(mut errors) = self.errors.lock() {
            *errors.entry(text.to_owned()).or_default() += 1;
        }
    }

    /// Returns the errors, and how often each occurred.
    pub(crate) fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().map(|it| it.clone()).unwrap_or_default()
    }
}

/// Checks that a fake transcript passes the coordinator's checks.
fn check(contest: &Contest) -> Outcome<()> {
    let schedule = Schedule::new(Arc::new(contest.clone()));
    let fixture = schedule.fixture(0).ok_or("a contest without games")?;
    let recorded = verify_and_record(&play(contest, &fixture)?)
        .map_err(|(status, text)| format!("{status}: {text}"))?;
    let kind = kind(&contest.games[fixture.game].game).ok_or("no such game")?;
    let found = differences(contest, kind, &fixture, &recorded.header);
    if found.is_empty() { Ok(()) } else { Err(found.join("; ").into()) }
}

async fn brief(url: &str) -> Outcome<(Names, Brief)> {
    let context = jetstream::new(async_nats::connect(url).await?);
    let end = Instant::now() + PATIENCE;
    let id = loop {
        if Instant::now() > end {
            return Err("no contest is announced".into());
        }
        if let Ok(bucket) = context.get_key_value(names::CONTESTS).await
            && let Some(id) = bucket.keys().await?.next().await
        {
            break id?;
        }
        tokio::time::sleep(LOOK).await;
    };
    let names = Names::new(&id).ok_or("no contest's id")?;
    let bucket = context.get_object_store(names.bucket()).await?;
    let mut bytes = Vec::new();
    bucket.get(names::BRIEF).await?.read_to_end(&mut bytes).await?;
    Ok((names, serde_json::from_slice(&bytes)?))
}
