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
    let mut entrants = entrants(&file);
    entrants.extend(others.iter().map(|name| entrant(None, name, 0..0)));
    file.contest(&entrants, None)
}

/// The agents that a file names, by the names that it gives them.
fn entrants(file: &ContestFile) -> Vec<Entrant> {
    let named = file.agents.iter();
    named.map(|agent| entrant(agent.name.as_deref(), &agent.run, agent.span.clone())).collect()
}

fn entrant(name: Option<&str>, run: &str, span: std::ops::Range<usize>) -> Entrant {
    let name = name.unwrap_or(run).to_owned();
    Entrant { name, run: run.to_owned(), digest: String::new(), span }
}
