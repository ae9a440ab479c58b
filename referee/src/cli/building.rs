//! Agents before they start: scripts without an interpreter, and the option --build, which runs the `build` commands of agents' folders.

use super::bars::{advance, count_bar};
use super::global::Global;
use referee_contest::file::BuildSettings;
use referee_play::agent_spec::{AgentSpec, with_interpreter};
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_protocol::Level;
use referee_runner::building::{Builder, build_agents};
use std::path::Path;

/// Builds agents, in the sandbox that `sandbox` returns; it isn't called if none has a `build` command.
pub(super) fn build(
    agents: &[String],
    sandbox: impl Fn() -> Result<Sandbox, Failure>,
    jobs: usize,
    global: &Global,
) -> Result<(), Failure> {
    let here = Path::new("");
    let read = |agent: &String| AgentSpec::read_unbuilt(agent, here);
    let specs = agents.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let builder = || {
        let sandbox = sandbox()?;
        if sandbox.level == Level::None {
            global.note(["at sandbox level none, builds run as you, without a sandbox"]);
        }
        Builder::new(sandbox, BuildSettings::default(), here)
    };
    let bar = count_bar("building", !global.quiet);
    let progress = |done, of| advance(&bar, done, of);
    let specs: Vec<&AgentSpec> = specs.iter().collect();
    for (spec, built) in specs.iter().zip(build_agents(&specs, builder, jobs, &progress)?) {
        built.map_err(|reason| Failure::operation(format!("{}: {reason}", spec.written)))?;
    }
    Ok(())
}

/// Returns the error of scripts among `agents` that can't be started without an interpreter.
pub(super) fn not_executable(agents: &[String]) -> Failure {
    let scripts: Vec<(&String, String)> =
        agents.iter().filter_map(|agent| Some((agent, with_interpreter(agent)?))).collect();
    let names: Vec<&str> = scripts.iter().map(|(agent, _)| agent.as_str()).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    let commands: Vec<String> = scripts.iter().map(|(_, agent)| format!("\"{agent}\"")).collect();
    Failure::usage(format!("{} {is} not executable", names.join(" and ")))
        .help(format!("give the interpreter, too: {}", commands.join(" and ")))
}
