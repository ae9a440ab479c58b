//! Rules in Python, called in this process with the messages that a game program gets on its stdin.

use pyo3::prelude::{Py, PyAny, PyResult, Python};
use pyo3::types::PyBytes;
use referee_games::GameKind;
use referee_games::program::{Pending, Program, Rules, RulesFailure};
use referee_games::wire::{self, Answer, Numbered, Request};
use std::path::PathBuf;

/// A callable that takes a request's line and returns the answer's.
#[derive(Debug)]
struct PythonRules {
    answers: Py<PyAny>,
}

impl PythonRules {
    fn answer(&self, request: &Request) -> Result<Answer, RulesFailure> {
        let line = serde_json::to_vec(&Numbered { id: Some(0), message: request })
            .map_err(|error| RulesFailure(error.to_string()))?;
        let answer = Python::attach(|py| -> PyResult<Vec<u8>> {
            let answer = self.answers.call1(py, (PyBytes::new(py, &line),))?;
            Ok(answer.extract::<&[u8]>(py)?.to_owned())
        });
        let answer = answer.map_err(|error| RulesFailure(error.to_string()))?;
        let answer = wire::read_answer(&answer)
            .map_err(|error| RulesFailure(format!("the answer can't be read: {error}")))?;
        Ok(answer.message)
    }
}

impl Rules for PythonRules {
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        Box::pin(std::future::ready(self.answer(&request)))
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        self.answer(&request)
    }
}

/// Returns the game of these rules. They stay until the process ends.
pub(crate) fn load(
    answers: Py<PyAny>,
    name: &str,
    revision: u32,
) -> Result<GameKind, RulesFailure> {
    let rules = Box::new(PythonRules { answers });
    // No digest: what is played here is no record.
    let program = Program::describe(rules, (name, revision), PathBuf::new(), String::new())?;
    Ok(GameKind::of_program(Box::leak(Box::new(program))))
}
