//! Whole numbers as Python passes them.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::{Borrowed, FromPyObject, PyAny, PyAnyMethods, PyErr, PyResult};
use std::fmt;
use std::ops::RangeInclusive;

/// A whole number. pyo3 refuses negative and huge ones without saying what is expected; the functions here do.
#[derive(Debug)]
pub(crate) enum Number {
    In(usize),
    /// Its text: no `usize` holds it.
    Out(String),
}

impl Number {
    /// Returns it as an index: one that nothing has if it is out of range.
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::In(number) => *number,
            Self::Out(_) => usize::MAX,
        }
    }

    /// Fails if it isn't in this range; `what` names it.
    pub(crate) fn within(&self, what: &str, range: RangeInclusive<usize>) -> PyResult<usize> {
        match self {
            Self::In(number) if range.contains(number) => Ok(*number),
            Self::In(_) | Self::Out(_) => Err(PyValueError::new_err(format!(
                "{what} is a whole number from {} to {}, not {self}",
                range.start(),
                range.end()
            ))),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::In(number) => number.fmt(f),
            Self::Out(text) => text.fmt(f),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(number) => Ok(Self::In(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Self::Out(object.str()?.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}
