//! `agent`: runs a built-in agent.

use clap::Args;
use referee_process::Failure;

/// Run a built-in agent on stdin and stdout
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee agent list\n  \
    referee agent minimax:3")]
pub(super) struct Options {
    /// Agent without its @, such as random or minimax:3; `list` lists them
    name: String,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    if options.name == "list" {
        let rows: Vec<Vec<String>> = sample_agents::BUILT_INS
            .iter()
            .map(|it| {
                let argument = it.argument.map(|argument| format!("[:{argument}]"));
                vec![format!("@{}{}", it.name, argument.unwrap_or_default()), it.about.to_owned()]
            })
            .collect();
        return super::output::print(&super::output::table(&rows));
    }
    let input = std::io::stdin().lock();
    let output = std::io::stdout().lock();
    let diagnostics = std::io::stderr().lock();
    let ran = sample_agents::run(&options.name, input, output, diagnostics);
    ran.map_err(|error| match error {
        sample_agents::AgentError::Name(..) => {
            Failure::usage(error.to_string()).help("`referee agent list` lists them")
        }
        _ => Failure::operation(error.to_string()),
    })
}
