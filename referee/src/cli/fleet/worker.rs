//! `worker`: plays games of contests that are coordinated elsewhere.

use super::ServerOptions;
use crate::cli::Global;
use crate::cli::bars::{SPIN, style};
use crate::cli::output::tell;
use crate::cli::runtime::{machine, runtime};
use crate::console::is_in_front;
use clap::Args;
use indicatif::ProgressBar;
use referee_fleet::worker::{Audience, End, Settings, Status, Worker};
use referee_match::times::read_time;
use referee_play::interrupts::Interrupts;
use referee_process::Failure;
use referee_process::cores;
use referee_protocol::plain::{count, tame};
use std::io::stderr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::oneshot;

/// Plays games of contests on many machines: of those that are coordinated at this server.
///
/// It takes orders as long as there are any, and waits for more. Its machine has to be trusted with
/// the agents of these contests, and they with it; they get no more of it than agents of a contest
/// here. The first Ctrl-C or SIGTERM takes nothing new and plays what is under way to its end, the
/// second leaves at once: others play it then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee worker nats://localhost\n  \
    referee worker nats://10.0.0.7 --slots 8 --class lab --drain 2m\n  \
    referee worker tls://nats.example.org --creds worker.creds --idle 10m")]
pub(in crate::cli) struct Options {
    /// The server: nats://HOST:PORT or tls://HOST:PORT, several with commas between them
    #[arg(value_name = "URL", env = "NATS_URL", hide_env_values = true)]
    url: String,
    /// How many matches it plays at once; as many as there are cores unless it is given
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=4_096))]
    slots: Option<u16>,
    /// What it is called; the machine's name unless it is given
    #[arg(long)]
    name: Option<String>,
    /// What it is, for contests that ask for a class of machines
    #[arg(long, default_value = "", hide_default_value = true)]
    class: String,
    /// Plays only in the contest of this name or id
    #[arg(long, value_name = "NAME")]
    contest: Option<String>,
    /// Ends when there was nothing to do for so long; it waits for ever unless it is given
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    idle: Option<u64>,
    /// How long it may take to end after the first Ctrl-C or SIGTERM; as long as its matches take
    /// unless it is given
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    drain: Option<u64>,
    /// Where it makes a folder of its own for agents and transcripts; where temporary files are
    /// unless it is given
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// A file or folder of this machine that agents may read if they ask for it; as often as needed
    #[arg(long, value_name = "PATH")]
    lend: Vec<PathBuf>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Options {
    fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone(),
            class: self.class.clone(),
            slots: self.slots.map_or_else(cores::count, usize::from),
            contest: self.contest.clone(),
            idle: self.idle.map(Duration::from_millis),
            drain: self.drain.map(Duration::from_millis),
            folder: self.work.clone(),
            lent: self.lend.clone(),
        }
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let end = runtime.block_on(async {
        let mut interrupts =
            Interrupts::listen_for_work().map_err(machine("signals can't be heard"))?;
        work(options, &mut interrupts, global).await
    });
    // Whatever still waits for the server must not hold up the end.
    runtime.shutdown_background();
    Ok(match end? {
        End::Interrupted(interrupt) => ExitCode::from(interrupt.code()),
        End::Idle => ExitCode::SUCCESS,
    })
}

async fn work(
    options: &Options,
    interrupts: &mut Interrupts,
    global: &Global,
) -> Result<End, Failure> {
    let server = options.server.server(&options.url);
    let mut worker = Worker::new(options.settings())?;
    let (info, shown) = (worker.info().clone(), server.shown());
    let mut watcher = Watcher { line: status_line(!global.quiet), quiet: global.quiet };
    watcher.tell(&format!("worker {} ({}) at {shown}", info.name, info.id));
    tracing::info!("{} slots, {} cores, speed {}", info.slots, info.cores, info.speed);
    let name = format!("referee worker {}", info.name);
    let (tell_failed, failed) = oneshot::channel();
    let note = |failure: &Failure| {
        watcher.tell(&format!("{failure}; trying on"));
        tell_failed.send(()).ok();
    };
    let connected = tokio::select! {
        connection = server.connect_patiently(&name, note) => Ok(connection?),
        interrupt = interrupts.interrupted() => Err(End::Interrupted(interrupt)),
        () = idle(options.idle, failed) => Err(End::Idle),
    };
    let (end, up) = match connected {
        Ok(connection) => {
            let end = worker.work(&connection, interrupts, &mut watcher).await;
            (end, connection.is_up())
        }
        Err(end) => (end, false),
    };
    watcher.line.finish_and_clear();
    let why = match end {
        End::Idle if up => "there was nothing to do; left",
        End::Idle => "there was nothing to do, and the server can't be reached; left",
        End::Interrupted(_) => "left",
    };
    watcher.tell(&format!("{why}; {} played", count(worker.played(), "game")));
    Ok(end)
}

/// Waits for as long as there may be nothing to do, and until the server has been tried once.
async fn idle(time: Option<u64>, failed: oneshot::Receiver<()>) {
    let Some(time) = time else { return std::future::pending().await };
    tokio::time::sleep(Duration::from_millis(time)).await;
    failed.await.ok();
}

/// Somebody at a terminal, or a log.
struct Watcher {
    line: ProgressBar,
    quiet: bool,
}

impl Audience for Watcher {
    fn see(&mut self, status: &Status) {
        let mut parts = vec![match &status.contest {
            Some(contest) => tame(contest),
            None => "waits for a contest".to_owned(),
        }];
        if status.contest.is_some() {
            parts.push(format!("{} games under way in {} orders", status.games, status.orders));
        }
        parts.push(format!("{} played", status.played));
        if !status.up {
            parts.push("the server can't be reached".to_owned());
        }
        if status.leaving {
            parts.push("takes nothing new".to_owned());
        }
        self.line.set_message(parts.join(", "));
    }

    fn tell(&mut self, text: &str) {
        if !self.quiet {
            let text = tame(text);
            self.line.suspend(|| tell(&text));
        }
    }
}

/// For work that has no end of its own: one line that says what goes on, where stderr is a terminal.
fn status_line(wanted: bool) -> ProgressBar {
    // Behind a shell's prompt it would write over what is typed there.
    if !wanted || !is_in_front(stderr()) {
        return ProgressBar::hidden();
    }
    let line = ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}"));
    line.enable_steady_tick(SPIN);
    line
}
