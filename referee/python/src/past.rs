//! How a game came about, so that it can be pickled: a position alone has no earlier ones, which count as repetitions.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::{Bound, PyAny, PyResult, Python};
use serde_json::Value;
use std::sync::Arc;

use crate::json::to_python;

/// The moves of a game since its start, which copies share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past(Option<Arc<Step>>);

#[derive(Debug)]
struct Step {
    made: Made,
    before: Past,
}

/// A move, as the method of a game that makes it.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Play(Value),
    PlayNumber(usize),
    Draw(usize),
    Retire(usize),
}

impl Past {
    pub(crate) fn add(&mut self, made: Made) {
        *self = Self(Some(Arc::new(Step { made, before: self.clone() })));
    }

    /// The methods and their arguments, in order.
    pub(crate) fn moves<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
        let mut moves = Vec::new();
        let mut past = self;
        while let Some(step) = &past.0 {
            moves.push(step.made.method(py)?);
            past = &step.before;
        }
        moves.reverse();
        Ok(moves)
    }
}

impl Drop for Past {
    /// One step after the other: a chain of many would need a deep stack.
    fn drop(&mut self) {
        let mut last = self.0.take();
        while let Some(mut step) = last.and_then(Arc::into_inner) {
            last = step.before.0.take();
        }
    }
}

impl Made {
    fn method<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        Ok(match self {
            Self::Play(action) => ("play", to_python(py, action)?),
            Self::PlayNumber(number) => ("play_number", number.into_bound_py_any(py)?),
            Self::Draw(outcome) => ("draw", outcome.into_bound_py_any(py)?),
            Self::Retire(seat) => ("retire", seat.into_bound_py_any(py)?),
        })
    }
}
