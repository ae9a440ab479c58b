//! `worker`: plays the games of contests on other machines.

use super::ServerOptions;
use crate::cli::bars::{SPIN, style};
use crate::cli::global::Global;
use crate::cli::output::eprint_line;
use crate::cli::runtime::{machine, runtime};
use crate::console::owns_terminal;
use clap::Args;
use indicatif::ProgressBar;
use referee_contest::wording::count;
use referee_fleet::worker::{Settings, Status, StatusSink, Worker, WorkerExit};
use referee_match::times::read_time;
use referee_play::interrupts::Interrupts;
use referee_process::Failure;
use referee_process::cores;
use referee_process::lock::lock;
use referee_protocol::sanitize::sanitize;
use referee_web::{Metrics, Monitored, monitor};
use std::io::stderr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

/// Play games of the contests on a NATS server
///
/// The worker plays until you stop it, or until --idle, and waits while there is no contest. Its
/// machine runs the agents of these contests and their build commands, at the sandbox level that
/// each contest asks for: connect only to servers that you trust. Press Ctrl-C (or send SIGTERM)
/// once to finish the running games, twice to exit at once; other workers then play them.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee worker nats://localhost\n  \
    referee worker nats://10.0.0.7 --jobs 8 --drain 2m\n  \
    referee worker tls://nats.example.org --creds worker.creds --idle 10m")]
pub(in crate::cli) struct Options {
    /// NATS server: nats://HOST:PORT or tls://HOST:PORT; separate several with commas
    #[arg(value_name = "URL", env = "NATS_URL", hide_env_values = true)]
    url: String,
    /// Number of matches to run at once, 1 to 4096. Defaults to the number of cores
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=4_096))]
    jobs: Option<u16>,
    /// Name of the worker in messages and tables. Defaults to the host name
    #[arg(long)]
    name: Option<String>,
    /// Play only the contest with this name or ID. Defaults to all
    #[arg(long, value_name = "NAME")]
    contest: Option<String>,
    /// Exit after this time without work, such as 10m. Defaults to never
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    idle: Option<u64>,
    /// Exit at most this long after Ctrl-C or SIGTERM, such as 5m. Defaults to the end of the
    /// running games
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    drain: Option<u64>,
    /// Where to create the folder for agents and transcripts. Defaults to the system's temporary folder
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// File or folder of this machine that agents may read if they request it (repeatable)
    #[arg(long, value_name = "PATH")]
    lend: Vec<PathBuf>,
    /// Serve metrics for Prometheus (/metrics) and a health check (/healthz) at this address, such as
    /// 127.0.0.1:9464. Anyone who reaches it can read them. Defaults to none
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Options {
    fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone(),
            slots: self.jobs.map_or_else(cores::count, usize::from),
            contest: self.contest.clone(),
            idle: self.idle.map(Duration::from_millis),
            drain: self.drain.map(Duration::from_millis),
            folder: self.work.clone(),
            readable_paths: self.lend.clone(),
        }
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let end = runtime.block_on(async {
        let mut interrupts =
            Interrupts::listen_for_work().map_err(machine("can't handle signals"))?;
        work(options, &mut interrupts, global).await
    });
    // Calls that still wait for the server must not delay the exit.
    runtime.shutdown_background();
    Ok(match end? {
        WorkerExit::Interrupted(interrupt) => ExitCode::from(interrupt.code()),
        WorkerExit::Idle => ExitCode::SUCCESS,
    })
}

async fn work(
    options: &Options,
    interrupts: &mut Interrupts,
    global: &Global,
) -> Result<WorkerExit, Failure> {
    let server = options.server.server(&options.url);
    let status = Arc::new(Mutex::new(Status::default()));
    let mut printer = StatusPrinter {
        line: status_line(!global.quiet),
        quiet: global.quiet,
        status: status.clone(),
    };
    if let Some(address) = &options.metrics {
        let slots = options.settings().slots as u64;
        let url = monitor(address, MonitoredWorker { status, slots })?;
        printer.message(&format!("metrics: {url}"));
    }
    let mut worker = Worker::new(options.settings())?;
    let (info, shown) = (worker.info.clone(), server.display_url());
    printer.message(&format!("worker {} ({}) on {shown}", info.name, info.id));
    tracing::info!("{} slots, {} cores", info.slots, info.cores);
    let name = format!("referee worker {}", info.name);
    let (send_failed, failed) = oneshot::channel();
    let note = |failure: &Failure| {
        printer.message(&format!("{failure}; retrying"));
        send_failed.send(()).ok();
    };
    let connected = tokio::select! {
        connection = server.connect_patiently(&name, note) => Ok(connection?),
        interrupt = interrupts.interrupted() => Err(WorkerExit::Interrupted(interrupt)),
        () = idle(options.idle, failed) => Err(WorkerExit::Idle),
    };
    let (end, up) = match connected {
        Ok(connection) => {
            let end = worker.work(&connection, interrupts, &mut printer).await;
            (end, connection.is_up())
        }
        Err(end) => (end, false),
    };
    printer.line.finish_and_clear();
    let why = match &end {
        WorkerExit::Idle if up => "exiting: no work for the time of --idle",
        WorkerExit::Idle => {
            "exiting: no work for the time of --idle, and the server can't be reached"
        }
        WorkerExit::Interrupted(_) => "exiting",
    };
    printer.message(&format!("{why}; played {}", count(worker.played(), "game")));
    Ok(end)
}

/// Waits for the idle time, and until connecting has failed once.
async fn idle(time: Option<u64>, failed: oneshot::Receiver<()>) {
    let Some(time) = time else { return std::future::pending().await };
    tokio::time::sleep(Duration::from_millis(time)).await;
    failed.await.ok();
}

/// Prints the status and messages of a worker.
struct StatusPrinter {
    line: ProgressBar,
    quiet: bool,
    /// The last status.
    status: Arc<Mutex<Status>>,
}

/// A worker for [`monitor`].
struct MonitoredWorker {
    status: Arc<Mutex<Status>>,
    slots: u64,
}

impl Monitored for MonitoredWorker {
    fn metrics(&self) -> Result<Metrics, Failure> {
        let status = lock(&self.status).clone();
        let mut metrics = Metrics::default();
        for (name, help, value) in [
            ("referee_worker_connected", "1 if it is connected.", u64::from(status.up)),
            ("referee_worker_slots", "Matches that it plays at once.", self.slots),
            ("referee_worker_orders", "Orders that it holds.", status.orders as u64),
            ("referee_worker_busy", "Matches that it is playing.", status.games as u64),
            ("referee_worker_games_played_total", "Games that it has reported.", status.played),
        ] {
            metrics.add(name, help, [(Vec::new(), value)]);
        }
        let contest = status.contest.iter().map(|name| (vec![("contest", name.as_str())], 1));
        metrics.add("referee_worker_contest", "The contest that it plays.", contest);
        Ok(metrics)
    }

    fn problem(&self) -> Option<String> {
        (!lock(&self.status).up).then(|| "the server can't be reached".to_owned())
    }
}

impl StatusSink for StatusPrinter {
    fn status(&mut self, status: &Status) {
        let mut parts = vec![match &status.contest {
            Some(contest) => sanitize(contest),
            None => "waiting for a contest".to_owned(),
        }];
        if status.contest.is_some() {
            parts.push(format!("playing {} games of {} orders", status.games, status.orders));
        }
        parts.push(format!("{} played", status.played));
        if !status.up {
            parts.push("the server can't be reached".to_owned());
        }
        if status.leaving {
            parts.push("taking no new games".to_owned());
        }
        self.line.set_message(parts.join(", "));
        status.clone_into(&mut lock(&self.status));
    }

    fn message(&mut self, text: &str) {
        if !self.quiet {
            let text = sanitize(text);
            self.line.suspend(|| eprint_line(&text));
        }
    }
}

/// Returns a status line, which is shown only if stderr is a terminal.
fn status_line(wanted: bool) -> ProgressBar {
    // In the background it would overwrite what is typed.
    if !wanted || !owns_terminal(stderr()) {
        return ProgressBar::hidden();
    }
    let line = ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}"));
    line.enable_steady_tick(SPIN);
    line
}
