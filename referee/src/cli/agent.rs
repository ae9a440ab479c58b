//! `agent`: runs a built-in agent.

use super::global::Global;
use super::renamed;
use clap::Args;
use referee_games::Games;
use referee_play::game_program::load_inside;
use referee_process::{Failure, work_folder};

/// Run a built-in agent on stdin and stdout
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee agent minimax:3")]
pub(super) struct Options {
    /// Agent without its @, such as random or minimax:3; `referee agents` lists them
    name: String,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    if options.name == "list" {
        return Err(renamed::failure("agent list", "agents"));
    }
    let mut works = Vec::new();
    let mut kinds = Vec::new();
    for folder in &global.rules {
        let work = work_folder::create()
            .map_err(|error| Failure::machine(format!("no folder for the kit: {error}")))?;
        kinds.push(load_inside(folder, work.path())?);
        works.push(work);
    }
    let games = Games::of(kinds);
    let input = std::io::stdin().lock();
    let output = std::io::stdout().lock();
    let diagnostics = std::io::stderr().lock();
    let ran = sample_agents::run(&options.name, &games, input, output, diagnostics);
    ran.map_err(|error| match error {
        sample_agents::AgentError::Name(..) => {
            Failure::usage(error.to_string()).help("`referee agents` lists them")
        }
        _ => Failure::operation(error.to_string()),
    })
}
