//! `agents`: lists the built-in agents.

use super::output::{print, print_json, table};
use clap::Args;
use referee_process::Failure;
use sample_agents::BUILT_INS;
use schemars::JsonSchema;
use serde::Serialize;

/// List the built-in agents
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee agents\n  \
    referee play hex @random @greedy")]
pub(super) struct Options {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The built-in agents, as `agents --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentsReport {
    /// The agents.
    agents: Vec<AgentReport>,
}

/// An agent in [`AgentsReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct AgentReport {
    /// The agent, as given to `play`.
    agent: String,
    /// The argument that may follow after a colon; null if none.
    argument: Option<&'static str>,
    /// What it does, in one line.
    about: &'static str,
    /// Whether it breaks the protocol or the rules on purpose, for tests.
    misbehaves: bool,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let agents = BUILT_INS.iter().map(|it| AgentReport {
        agent: format!("@{}", it.name),
        argument: it.argument,
        about: it.about,
        misbehaves: it.misbehaves,
    });
    let agents: Vec<AgentReport> = agents.collect();
    if options.json {
        return print_json(&AgentsReport { agents });
    }
    let row = |it: &AgentReport| {
        let argument = it.argument.map(|argument| format!("[:{argument}]"));
        vec![format!("{}{}", it.agent, argument.unwrap_or_default()), it.about.to_owned()]
    };
    print(&table(&agents.iter().map(row).collect::<Vec<_>>()))
}
