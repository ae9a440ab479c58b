//! `htp`: an agent of ours as an engine for a controller.

use super::Global;
use super::clock::ClockOptions;
use super::runtime::{machine, runtime};
use super::sandbox::SandboxOptions;
use super::setup::read_pairs;
use clap::Args;
use referee_games::{LineServer, ServerStep, dialects};
use referee_play::agent_spec::AgentSpec;
use referee_play::match_settings::{MatchSettings, header};
use referee_play::served::ServedAgent;
use referee_process::Failure;
use referee_process::launcher::Launcher;
use std::io::{BufRead, Write};
use tokio::sync::mpsc;

/// The line protocol that is spoken.
const PROTOCOL: &str = "htp";

/// Serves an agent to a Hex controller: HTP (GTP version 2) on stdin and stdout.
///
/// The agent is started with the first `genmove`, and anew after an `undo`. What it writes to its
/// stderr appears here. When it fails, the command is answered with `?` and what happened.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The agent, as `play` takes it
    agent: String,
    /// The setup of the game: KEY=VALUE, as often as needed, or one JSON object
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    setup: Vec<String>,
    /// The seed that the agent is told
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
        .ok_or_else(|| Failure::usage(format!("no game is served by {PROTOCOL}")))?;
    let setup = read_pairs("--setup", &options.setup)?;
    let game = super::setup::start(kind, &setup)?;
    let server = serve(&game.setup()).map_err(|error| Failure::usage(error.to_string()))?;
    let spec = AgentSpec::read(&options.agent)?;
    if spec.launch.is_none() {
        return Err(Failure::usage("a person can't be served: name an agent, such as @greedy"));
    }
    spec.dialect(kind).map_err(Failure::usage)?;
    let enclosure = options.sandbox.enclosure(global)?;
    let conditions =
        MatchSettings { clock: options.clock.settings(None, true)?, ..MatchSettings::default() };
    let seated = vec![&spec; game.seats()];
    let header = header(game.as_ref(), &seated, &conditions, &enclosure.told, options.seed, 0);
    let launcher = Launcher::start(&enclosure.jail).map_err(machine("nothing can start"))?;
    let name = spec.name.clone();
    let serving = async {
        let agent = ServedAgent::new(launcher, enclosure, spec, kind, header);
        converse(server, agent, &name).await
    };
    let ended = runtime()?.block_on(serving);
    ended.map_err(|error| Failure::operation(format!("the controller is gone: {error}")))
}

/// Answers one command after the other, until `quit` or the end of stdin.
async fn converse(
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

/// The lines of stdin, read by a thread of their own, which ends with the program.
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
