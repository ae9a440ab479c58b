//! Tests of valid files and of the error of every mistake.

mod mistakes;
mod meaning;
mod hostile;

use super::{ContestFile, FileError, FoundAgent, OtherFiles};
use crate::{Contest, PlayerInfo};
use referee_games::Games;

/// The contest of a file, between the agents that it names, by the names that it gives them.
fn contest(text: &str) -> Result<Contest, FileError> {
    contest_of(text, &[]).map(|(contest, _)| contest)
}

/// The same with more who come from elsewhere.
fn contest_of(text: &str, others: &[&str]) -> Result<(Contest, Vec<usize>), FileError> {
    let file = ContestFile::read(text, "contest.toml", "contest", &Games::default())?;
    let mut agents = found_agents(&file);
    agents.extend(others.iter().map(|name| found(None, name, 0..0)));
    file.contest(&agents, &OtherFiles::default())
}

/// The agents that a file names, by the names that it gives them.
fn found_agents(file: &ContestFile) -> Vec<FoundAgent> {
    let named = file.agents.iter();
    named.map(|agent| found(agent.name.as_deref(), &agent.run, agent.span.clone())).collect()
}

fn found(name: Option<&str>, run: &str, span: std::ops::Range<usize>) -> FoundAgent {
    let name = name.unwrap_or(run).to_owned();
    let player = PlayerInfo { name, run: run.to_owned(), digest: String::new() };
    FoundAgent { player, span }
}
