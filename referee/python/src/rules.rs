//! Rules in Python, called in this process with the messages that a game program gets on its stdin.

use pyo3::exceptions::PyException;
use pyo3::prelude::{Py, PyAny, PyErr, PyResult, Python};
use pyo3::types::PyBytes;
use referee_games::GameKind;
use referee_games::program::{Pending, Program, Rules, RulesFailure};
use referee_games::wire::{self, Answer, Numbered, Request};
use std::cell::RefCell;
use std::path::PathBuf;

thread_local! {
    /// What ended a call and is no failure of the rules, such as `KeyboardInterrupt`, until it is raised.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception that has to be raised instead of the failure that is returned.
fn interrupted(error: PyErr) -> RulesFailure {
    let failure = RulesFailure(error.to_string());
    INTERRUPT.set(Some(error));
    failure
}

/// Takes the exception that has to be raised, if any.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.take()
}

/// A callable that takes a request's line and returns the answer's.
#[derive(Debug)]
struct PythonRules {
    answers: Py<PyAny>,
}

impl PythonRules {
    fn answer(&self, request: &Request) -> Result<Answer, RulesFailure> {
        if self.are_interrupted() {
            return Err(RulesFailure("interrupted".to_owned()));
        }
        let line = serde_json::to_vec(&Numbered { id: Some(0), message: request })
            .map_err(|error| RulesFailure(error.to_string()))?;
        let answer = Python::attach(|py| -> PyResult<Vec<u8>> {
            let answer = self.answers.call1(py, (PyBytes::new(py, &line),))?;
            Ok(answer.extract::<&[u8]>(py)?.to_owned())
        });
        // The kit answers what the rules raise, except for what isn't for them.
        let is_mistake =
            |error: &PyErr| Python::attach(|py| error.is_instance_of::<PyException>(py));
        let answer = answer.map_err(|error| {
            if is_mistake(&error) { RulesFailure(error.to_string()) } else { interrupted(error) }
        })?;
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

    fn are_interrupted(&self) -> bool {
        INTERRUPT.with_borrow(Option::is_some)
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
