//! Contests that the command line says: the contest file that says the same is written here, so that
//! everything else goes as with any other.

use super::run::{GoingOptions, begin, free_folder};
use crate::cli::Global;
use crate::failure::Failure;
use crate::shell::contest::{Builds, Prepared, prepare_text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What errors call the file that nobody wrote.
const FILE: &str = "(what the command line says)";

/// Prepares the contest of a file that was written here; paths are relative to the working directory.
pub(in crate::cli) fn prepare_written(
    text: &str,
    builds: Builds<'_>,
    global: &Global,
) -> Result<Prepared, Failure> {
    let base = std::env::current_dir()
        .map_err(|error| Failure::machine(format!("there is no working directory: {error}")))?;
    prepare_text(text, Path::new(FILE), &base, builds, !global.quiet)
}

/// Begins it, in a folder of its name unless one is given.
pub(in crate::cli) fn begin_written(
    prepared: Prepared,
    out: Option<PathBuf>,
    options: &GoingOptions,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let out = out.map_or_else(|| free_folder(&prepared.contest.name), Ok)?;
    begin(prepared, Some(&out), options, global)
}

/// JSON as TOML; nulls, which TOML has none of, are left out.
pub(in crate::cli) fn as_toml(value: Value) -> Result<String, Failure> {
    fn without_nulls(value: Value) -> Value {
        match value {
            Value::Object(fields) => fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
            Value::Array(values) => values.into_iter().map(without_nulls).collect(),
            other => other,
        }
    }
    toml::to_string(&without_nulls(value))
        .map_err(|error| Failure::operation(format!("no contest file can say that: {error}")))
}
