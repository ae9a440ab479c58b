//! `htp`: serves an agent as an engine to a GTP controller.

use super::clock::ClockOptions;
use super::global::Global;
use super::runtime::{machine, runtime};
use super::sandbox::SandboxOptions;
use super::setup::read_pairs;
use clap::Args;
use referee_games::{LineServer, ServerStep, dialects};
use referee_play::agent_spec::AgentSpec;
use referee_play::match_settings::{MatchSettings, header};
use referee_play::reach::not_granted;
use referee_play::served::ServedAgent;
use referee_process::Failure;
use referee_process::launcher::Launcher;
use std::io::{BufRead, Write};
use tokio::sync::mpsc;

/// The name of the protocol.
const PROTOCOL: &str = "htp";

const CLOCK_HELP: &str = "Time for the match, and increment per turn, such as 60s+0.5s or 5m. Defaults \
    to REFEREE_CLOCK, else no limit";

/// Serve an agent as a Hex engine (HTP) on stdin and stdout
///
/// HTP is the Go Text Protocol, version 2, for Hex. The agent starts with the first `genmove`, and restarts
/// after an `undo`. Its stderr is shown. If it fails, the reply is `?` with the reason.
#[derive(Debug, Args)]
#[command(mut_arg("clock", |it| it.help(CLOCK_HELP)))]
#[command(after_long_help = "Examples:\n  \
    referee htp ./mybot --setup size=11\n  \
    referee htp @minimax:3 --move-time 5s")]
pub(super) struct Options {
    /// Agent to serve, as in `play`
    agent: String,
    /// Game setup: KEY=VALUE (repeatable) or a JSON object. Defaults to the game's usual setup
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    setup: Vec<String>,
    /// What a swap does on the controller's board: `sides` keeps the stone and exchanges the colours,
    /// `pieces` mirrors the stone. With it, every word for a swap is accepted, and `swap-pieces` is sent.
    /// Defaults to `swap` of the setup
    #[arg(long, value_name = "EFFECT", value_parser = ["sides", "pieces"])]
    swap: Option<String>,
    /// Seed that the agent receives, below 2^53
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let found = dialects().find(|(_, dialect)| dialect.name == PROTOCOL);
    let (kind, serve) = found
        .and_then(|(kind, dialect)| Some((kind, dialect.serve?)))
        .ok_or_else(|| Failure::usage(format!("no game supports {PROTOCOL}")))?;
    let setup = read_pairs("--setup", &options.setup)?;
    let game = super::setup::start(kind, &setup)?;
    let server = serve(&game.setup(), options.swap.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let spec = AgentSpec::read(&options.agent)?;
    if spec.launch.is_none() {
        return Err(Failure::usage("cannot serve a person; give an agent, such as @greedy"));
    }
    spec.dialect(kind).map_err(Failure::usage)?;
    let sandbox = options.sandbox.choose(global)?;
    global.note(not_granted(&spec, &sandbox));
    let conditions =
        MatchSettings { clock: options.clock.settings(None, true)?, ..MatchSettings::default() };
    let seated = vec![&spec; game.seats()];
    let header = header(game.as_ref(), &seated, &conditions, &sandbox.recorded, options.seed, 0);
    let launcher =
        Launcher::start(&sandbox.launcher).map_err(machine("cannot start the launcher"))?;
    let name = spec.name.clone();
    let serving = async {
        let agent = ServedAgent::new(launcher, sandbox, spec, kind, header);
        run_commands(server, agent, &name).await
    };
    let ended = runtime()?.block_on(serving);
    ended.map_err(|error| Failure::operation(format!("cannot write to the controller: {error}")))
}

/// Answers commands until `quit` or the end of stdin.
async fn run_commands(
    mut server: Box<dyn LineServer>,
    mut agent: ServedAgent,
    name: &str,
) -> std::io::Result<()> {
    let mut lines = commands();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = agent.idle() => continue,
        };
        let Some(line) = line else { break };
        let (reply, last) = match server.command(&line, name) {
            ServerStep::Nothing => continue,
            ServerStep::Reply(reply) => (reply, false),
            ServerStep::ReplyAndQuit(reply) => (reply, true),
            ServerStep::Move(request) => {
                let answer = agent.answer(&request).await;
                (server.answered(answer), false)
            }
        };
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(reply.as_bytes())?;
        stdout.flush()?;
        if last {
            break;
        }
    }
    agent.stop();
    Ok(())
}

/// Returns the lines of stdin, read by a thread that ends with the program.
fn commands() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        while matches!(input.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            if sender.blocking_send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}
