//! `referee_kit._native`: the rules of the referee's games as a Python module. `referee_kit.games` documents it.
//!
//! No function here may panic or hang on a wrong argument: Python code has no other protection from this module.

#![forbid(unsafe_code)]

mod batch;
mod game;
mod json;
mod number;
mod past;
mod playouts;
mod rules;
mod signals;
mod view;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::{Bound, PyModule, PyModuleMethods, PyResult, pymodule, wrap_pyfunction};

create_exception!(
    referee_kit.games,
    IllegalAction,
    PyValueError,
    "An action was refused. The text is the rule that it breaks, as an agent's fault has it; the game is unchanged."
);
create_exception!(
    referee_kit.games,
    BadSetup,
    PyValueError,
    "There is no such game, or the setup was refused."
);
create_exception!(
    referee_kit.games,
    RulesFailed,
    PyRuntimeError,
    "The rules of a game program failed: the game can't go on."
);

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("IllegalAction", py.get_type::<IllegalAction>())?;
    module.add("BadSetup", py.get_type::<BadSetup>())?;
    module.add("RulesFailed", py.get_type::<RulesFailed>())?;
    module.add_class::<game::Rules>()?;
    module.add_class::<game::Game>()?;
    module.add_class::<batch::Batch>()?;
    module.add_function(wrap_pyfunction!(game::rewards_of, module)?)?;
    module.add_function(wrap_pyfunction!(playouts::playouts, module)?)?;
    Ok(())
}
