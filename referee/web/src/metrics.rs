//! `/metrics` in the text format of Prometheus, and `/healthz`, for those who monitor a server, a
//! coordinator or a worker.

use super::App;
use super::connections::{self, BOUNDS, with_whole_requests};
use super::contests::progress_of;
use super::errors::{ApiResult, run_blocking};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use referee_process::Failure;
use referee_runner::folder::Folder;
use referee_runner::results::{Progress, progress};
use referee_runner::store::Store;
use referee_runner::workers::KnownWorker;
use std::fmt::{self, Write};
use std::net::TcpListener;
use std::sync::Arc;

/// The media type of the text format, version 0.0.4.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

type ContestMetric = (&'static str, &'static str, fn(&Progress) -> u64);
type WorkerMetric = (&'static str, &'static str, fn(&KnownWorker) -> u64);

const CONTEST_METRICS: [ContestMetric; 6] = [
    ("referee_contest_games", "Games of the contest; the least if results decide.", |it| it.games),
    ("referee_contest_games_played", "Games that count.", |it| it.played),
    ("referee_contest_games_void", "Void attempts.", |it| it.void),
    ("referee_contest_faults", "Faults of all agents.", |it| it.faults),
    ("referee_contest_running", "1 if it is being played.", |it| u64::from(it.running)),
    ("referee_contest_over", "1 if all games are played.", |it| u64::from(it.over)),
];

const WORKER_METRICS: [WorkerMetric; 6] = [
    ("referee_contest_worker_slots", "Matches that the worker plays at once.", |it| {
        it.slots.into()
    }),
    ("referee_contest_worker_busy", "Matches that it is playing.", |it| it.games.len() as u64),
    ("referee_contest_worker_games_played", "Games that it has played.", |it| it.played),
    ("referee_contest_worker_faults", "Orders that it could not play.", |it| it.faults),
    ("referee_contest_worker_lost", "1 if it is silent.", |it| u64::from(it.lost)),
    ("referee_contest_worker_away", "1 if it plays another contest.", |it| {
        u64::from(it.elsewhere.is_some())
    }),
];

/// Metrics in the text format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics(String);

/// Names and values of labels.
type Labels<'a> = Vec<(&'a str, &'a str)>;

impl Metrics {
    /// Adds a metric and its samples. One whose name ends with `_total` is a counter, any other a gauge.
    pub fn add<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, u64)>,
    ) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in samples {
            let label = |(label, value): &(&str, &str)| format!("{label}=\"{}\"", escape(value));
            let labels: Vec<String> = labels.iter().map(label).collect();
            let labels = match labels.as_slice() {
                [] => String::new(),
                _ => format!("{{{}}}", labels.join(",")),
            };
            // Writing to a String can't fail.
            writeln!(text, "{name}{labels} {value}").ok();
        }
        self.0.push_str(&text);
    }

    /// Adds the metrics of contests, each with the name of its folder.
    pub fn add_contests(&mut self, contests: &[(String, Progress)]) {
        for (name, help, value) in CONTEST_METRICS {
            self.add(name, help, contests.iter().map(|it| (labels(it), value(&it.1))));
        }
        for (name, help, value) in WORKER_METRICS {
            let samples = contests.iter().flat_map(|contest| {
                contest.1.workers.iter().map(move |worker| {
                    let own = [("worker", worker.name.as_str()), ("id", worker.id.as_str())];
                    (labels(contest).into_iter().chain(own).collect(), value(worker))
                })
            });
            self.add(name, help, samples);
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn labels((folder, contest): &(String, Progress)) -> Labels<'_> {
    vec![("folder", folder.as_str()), ("contest", contest.name.as_str())]
}

/// Escapes the value of a label.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the metrics of a contest, read from its folder.
pub fn contest_metrics(folder: &Folder) -> Result<Metrics, Failure> {
    let progress = progress(folder, &Store::open_to_read(folder)?)?;
    let mut metrics = Metrics::default();
    metrics.add_contests(&[(folder.root().display().to_string(), progress)]);
    Ok(metrics)
}

/// What a program has to say about itself.
pub trait Monitored: Send + Sync + 'static {
    /// Returns its metrics; may read files.
    fn metrics(&self) -> Result<Metrics, Failure>;

    /// Returns why it can't work now, or `None` if it can.
    fn problem(&self) -> Option<String>;
}

/// Serves `/metrics` and `/healthz` at this address, `HOST:PORT`, until the process ends. Returns the
/// address.
pub fn monitor(address: &str, monitored: impl Monitored) -> Result<String, Failure> {
    let failed = |error| {
        Failure::machine(format!("--metrics {address}: {error}"))
            .help("give a free address of this machine, such as 127.0.0.1:9464")
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .map_err(failed)?;
    let routes = Router::new()
        .route("/metrics", get(metrics_of))
        .route("/healthz", get(health_of))
        .with_state(Arc::new(monitored) as Arc<dyn Monitored>);
    let routes = with_whole_requests(routes, BOUNDS);
    let serve = async move {
        connections::serve(tokio::net::TcpListener::from_std(listener)?, routes, BOUNDS).await;
        Ok::<_, std::io::Error>(())
    };
    std::thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            if let Err(error) = runtime.block_on(serve) {
                tracing::error!("the metrics can't be served: {error}");
            }
        })
        .map_err(failed)?;
    Ok(format!("http://{local}/metrics"))
}

async fn metrics_of(State(monitored): State<Arc<dyn Monitored>>) -> Response {
    let metrics = tokio::task::spawn_blocking(move || {
        monitored.metrics().map_err(|failure| failure.to_string())
    });
    match metrics.await {
        Ok(Ok(metrics)) => shown(&metrics),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error + "\n").into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn shown(metrics: &Metrics) -> Response {
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], metrics.to_string()).into_response()
}

async fn health_of(State(monitored): State<Arc<dyn Monitored>>) -> Response {
    match monitored.problem() {
        None => healthy().await.into_response(),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem + "\n").into_response(),
    }
}

/// The answer of a program that works.
pub(super) async fn healthy() -> &'static str {
    "ok\n"
}

/// The metrics of the contests in the served folder.
pub(super) async fn served_metrics(State(app): State<Arc<App>>) -> ApiResult<Response> {
    run_blocking(move || {
        let found = app.listing.contents(&app.served);
        let known = |name: &String| Some((name.clone(), progress_of(&app, name).ok()?));
        let contests: Vec<_> = found.contests.iter().filter_map(known).collect();
        let mut metrics = Metrics::default();
        metrics.add(
            "referee_transcripts",
            "Transcripts in the folder.",
            [(Vec::new(), found.transcripts.len() as u64)],
        );
        metrics.add_contests(&contests);
        Ok(shown(&metrics))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::Metrics;
    use referee_runner::results::Progress;
    use referee_runner::workers::KnownWorker;

    #[test]
    fn names_are_escaped_and_empty_metrics_left_out() {
        let mut metrics = Metrics::default();
        metrics.add("referee_nothing", "None.", []);
        assert_eq!(metrics, Metrics::default());
        metrics.add("referee_played_total", "Games.", [(vec![("name", "a\"\\\nb")], 3)]);
        let expected = "# HELP referee_played_total Games.\n# TYPE referee_played_total counter\n\
                        referee_played_total{name=\"a\\\"\\\\\\nb\"} 3\n";
        assert_eq!(metrics.to_string(), expected);
    }

    #[test]
    fn contests_and_workers_are_labelled() {
        let worker = KnownWorker { name: "ada".to_owned(), played: 5, ..KnownWorker::default() };
        let progress = Progress {
            name: "autumn".to_owned(),
            format: String::new(),
            players: 2,
            games: 10,
            games_most: 10,
            played: 7,
            void: 0,
            void_caused: Vec::new(),
            faults: 0,
            sandbox: None,
            over: false,
            running: true,
            workers: vec![worker],
        };
        let mut metrics = Metrics::default();
        metrics.add_contests(&[("d".to_owned(), progress)]);
        let text = metrics.to_string();
        for line in [
            "referee_contest_games_played{folder=\"d\",contest=\"autumn\"} 7\n",
            "referee_contest_worker_games_played{folder=\"d\",contest=\"autumn\",worker=\"ada\",id=\"\"} 5\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
