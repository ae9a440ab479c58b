//! What is right, and what every mistake is told.

mod mistakes;
mod meaning;
mod hostile;

use super::{ContestFile, Entrant, FileError};
use crate::Contest;

/// The contest of a file, between the agents that it names, by the names that it gives them.
fn contest(text: &str) -> Result<Contest, FileError> {
    contest_of(text, &[]).map(|(contest, _)| contest)
}

/// The same with more who come from elsewhere.
fn contest_of(text: &str, others: &[&str]) -> Result<(Contest, Vec<usize>), FileError> {
    let file = ContestFile::read(text, "contest.toml", "contest")?;
    let named = file.agents.iter().map(|agent| Entrant {
        name: agent.name.clone().unwrap_or_else(|| agent.run.clone()),
        run: agent.run.clone(),
        digest: String::new(),
        span: agent.span.clone(),
    });
    let others = others.iter().map(|name| Entrant {
        name: (*name).to_owned(),
        run: (*name).to_owned(),
        digest: String::new(),
        span: 0..0,
    });
    let entrants: Vec<Entrant> = named.chain(others).collect();
    file.contest(&entrants, None)
}
