//! `agent`: runs a built-in agent.

use super::global::Global;
use super::output::{print, print_json, table};
use clap::Args;
use referee_games::Games;
use referee_play::game_program::load_inside;
use referee_process::{Failure, work_folder};
use sample_agents::BUILT_INS;
use schemars::JsonSchema;
use serde::Serialize;

/// Run a built-in agent on stdin and stdout
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee agent list\n  \
    referee agent minimax:3")]
pub(super) struct Options {
    /// Agent without its @, such as random or minimax:3; `list` lists them
    name: String,
    /// Print the list as one JSON object
    #[arg(long)]
    json: bool,
}

/// The built-in agents, as `agent list --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentsReport {
    /// The agents.
    agents: Vec<AgentReport>,
}

/// An agent in [`AgentsReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct AgentReport {
    /// The agent, as it is given to `play`.
    agent: String,
    /// What may follow after a colon; null if nothing.
    argument: Option<&'static str>,
    /// What it does, in one line.
    about: &'static str,
    /// Whether it breaks the protocol or the rules on purpose, for tests.
    misbehaves: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    if options.name == "list" {
        return list(options.json);
    }
    if options.json {
        return Err(Failure::usage("--json is only for `referee agent list`"));
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
            Failure::usage(error.to_string()).help("`referee agent list` lists them")
        }
        _ => Failure::operation(error.to_string()),
    })
}

fn list(json: bool) -> Result<(), Failure> {
    let agents = BUILT_INS.iter().map(|it| AgentReport {
        agent: format!("@{}", it.name),
        argument: it.argument,
        about: it.about,
        misbehaves: it.misbehaves,
    });
    let agents: Vec<AgentReport> = agents.collect();
    if json {
        return print_json(&AgentsReport { agents });
    }
    let row = |it: &AgentReport| {
        let argument = it.argument.map(|argument| format!("[:{argument}]"));
        vec![format!("{}{}", it.agent, argument.unwrap_or_default()), it.about.to_owned()]
    };
    print(&table(&agents.iter().map(row).collect::<Vec<_>>()))
}
