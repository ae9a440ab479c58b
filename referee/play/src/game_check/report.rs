//! The result of a check of a game program.

use super::{Found, Problem, Reach, Row};
use schemars::JsonSchema;
use serde::Serialize;

/// A check of a game program, as `game check --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GameCheckReport {
    /// The folder, as given.
    pub folder: String,
    /// The game's name.
    pub name: String,
    /// SHA-256 of the folder, in hex.
    pub digest: String,
    /// The seed of the random games.
    pub seed: u64,
    /// Whether all rows were run, and none failed.
    pub ok: bool,
    /// The rows, in order.
    pub rows: Vec<RowReport>,
}

/// A row in [`GameCheckReport`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct RowReport {
    /// Its number, from 1.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// What it proves.
    pub title: &'static str,
    /// What it found.
    pub status: RowStatus,
    /// What it measured, or why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The random game in which it found a failure, if that game alone shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<u64>,
    /// The failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// The command that runs it again.
    pub again: String,
}

/// What a row found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// No failure.
    Passed,
    /// A failure.
    Failed,
    /// The game has nothing of this kind.
    NotApplicable,
    /// The time limit of the check was reached before.
    NotRun,
    /// The rules fail at it as they do at an earlier row.
    NotTested,
}

impl RowReport {
    /// Makes the report of a row; `again` is the command that runs it.
    pub fn new(number: usize, row: &Row, found: Found, again: String) -> Self {
        let (status, note, case, problem) = match found {
            Found::Nothing(note) => {
                (RowStatus::Passed, note.filter(|it| !it.is_empty()), None, None)
            }
            Found::NotApplicable(why) => {
                (RowStatus::NotApplicable, Some(why.to_owned()), None, None)
            }
            Found::NoTime => (RowStatus::NotRun, None, None, None),
            Found::Untested(row) => {
                let why = format!("not tested: the rules fail as at `{row}`");
                (RowStatus::NotTested, Some(why), None, None)
            }
            Found::Problem(reach, problem) => {
                let case = match reach {
                    Reach::Case(case) => Some(case),
                    _ => None,
                };
                (RowStatus::Failed, None, case, Some(*problem))
            }
        };
        Self { number, name: row.name, title: row.title, status, note, case, problem, again }
    }
}
