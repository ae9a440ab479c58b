//! Contests that the command line says: the contest file that says the same is written here, so that
//! everything else goes as with any other.

use super::run::{GoingOptions, begin, free_folder};
use crate::cli::Global;
use crate::cli::bars::{advance, count_bar};
use crate::cli::clock::ClockOptions;
use crate::cli::play_options::new_seed;
use crate::cli::runtime::machine;
use crate::cli::sandbox::ConditionOptions;
use clap::Args;
use referee_process::Failure;
use referee_runner::{Builds, Prepared, prepare, prepare_text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What errors call the file that nobody wrote.
const FILE: &str = "(what the command line says)";

/// What both commands take that write a contest file.
#[derive(Debug, Args)]
pub(super) struct WrittenOptions {
    /// The seed of everything that is drawn; a new one each time unless it is given
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
    #[command(flatten)]
    pub(super) conditions: ConditionOptions,
    /// The folder; a new one in ./contests unless it is given
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    going: GoingOptions,
}

impl WrittenOptions {
    pub(super) fn seed(&self) -> Result<u64, Failure> {
        self.seed.map_or_else(new_seed, Ok)
    }

    /// Begins the contest, in a folder of its name unless one is given.
    pub(super) fn begin(&self, prepared: Prepared, global: &Global) -> Result<ExitCode, Failure> {
        let out = self.out.clone().map_or_else(|| free_folder(&prepared.contest.name), Ok)?;
        begin(prepared, Some(&out), &self.going, global)
    }
}

/// Prepares the contest of a contest file, and builds its agents.
pub(super) fn prepare_built(file: &Path, global: &Global) -> Result<Prepared, Failure> {
    let bar = count_bar("building", !global.quiet);
    prepare(file, Builds::Now(&|done, of| advance(&bar, done, of)))
}

/// The same of a file that was written here; paths are relative to the working directory.
pub(super) fn prepare_written(text: &str, global: &Global) -> Result<Prepared, Failure> {
    let bar = count_bar("building", !global.quiet);
    prepare_here(text, Builds::Now(&|done, of| advance(&bar, done, of)))
}

/// The same whose agents have been built; these were left out then.
pub(super) fn prepare_rewritten(
    text: &str,
    left_out: &[(String, String)],
) -> Result<Prepared, Failure> {
    prepare_here(text, Builds::Done(left_out))
}

fn prepare_here(text: &str, builds: Builds<'_>) -> Result<Prepared, Failure> {
    let base = std::env::current_dir().map_err(machine("there is no working directory"))?;
    prepare_text(text, Path::new(FILE), &base, builds)
}

/// JSON as TOML; nulls, which TOML has none of, are left out.
pub(super) fn as_toml(value: Value) -> Result<String, Failure> {
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
