//! JSON values as Python objects and back.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::{
    Bound, IntoPyObject, PyAny, PyAnyMethods, PyBoolMethods, PyDictMethods, PyErr, PyFloatMethods,
    PyResult, PyStringMethods, PyTypeMethods, Python,
};
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// How deep objects may be nested, so that one that contains itself is refused.
const DEPTH_MAX: usize = 32;
/// The most values and bytes of text, since one list may stand in another many times.
const SIZE_MAX: usize = 1 << 22;

/// Returns a value as None, bool, int, float, str, list or dict.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value)) => value.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| to_python(py, item)).collect();
            PyList::new(py, items?)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Reads such an object. A tuple is a list; numbers of numpy are numbers.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    read(object, 0, &mut 0)
}

/// Reads an object at this depth, and adds its values and bytes to `size`.
fn read(object: &Bound<'_, PyAny>, depth: usize, size: &mut usize) -> PyResult<Value> {
    add(size, 1)?;
    if depth > DEPTH_MAX {
        return Err(PyValueError::new_err(format!(
            "lists and dictionaries may be nested {DEPTH_MAX} deep"
        )));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_cow()?;
        add(size, text.len())?;
        return Ok(Value::String(text.into_owned()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut fields = Map::new();
        // A copy, since what is read may change the dictionary.
        for field in dict.items() {
            let (key, value) = field.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Ok(key) = key.cast::<PyString>() else {
                return Err(wrong(&key, "a key must be a str"));
            };
            let key = key.to_cow()?;
            add(size, key.len())?;
            fields.insert(key.into_owned(), read(&value, depth + 1, size)?);
        }
        return Ok(Value::Object(fields));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| read(&item?, depth + 1, size));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        let number = Number::from_f64(value.value());
        return number
            .map(Value::Number)
            .ok_or_else(|| PyValueError::new_err("a number must not be infinite or nan"));
    }
    if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
        let value = object.extract::<i64>().map(Number::from);
        let value = value.or_else(|_| object.extract::<u64>().map(Number::from));
        return value
            .map(Value::Number)
            .map_err(|_| PyValueError::new_err("a whole number must fit into 64 bits"));
    }
    Err(wrong(object, "expected None, bool, int, float, str, list, tuple or dict"))
}

fn add(size: &mut usize, more: usize) -> PyResult<()> {
    *size += more;
    if *size <= SIZE_MAX {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("more than {SIZE_MAX} values and bytes of text")))
}

fn wrong(object: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let name = object.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{expected}, not {name}"))
}
