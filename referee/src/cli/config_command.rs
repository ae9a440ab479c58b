//! `config`: what the config files set.

use super::config::{Config, ConfigValue, KEYS};
use super::global::Global;
use super::output::{print, print_json, row, table};
use clap::Args;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Show the settings from config files and the environment, and where each comes from
///
/// The files are `referee.toml` in the working directory or a folder above it, then `referee/config.toml` in
/// `$XDG_CONFIG_HOME` or `~/.config`. They set defaults; options and environment variables override them.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee config\n  \
    referee config --no-config")]
pub(super) struct Options {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The settings, as `config --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConfigReport {
    /// The config files, the most important first.
    files: Vec<PathBuf>,
    /// The defaults of options.
    settings: Vec<Setting>,
    /// The agents with short names; `value` is the AGENT.
    agents: Vec<Setting>,
    /// The game programs with short names; `value` is the folder.
    games: Vec<Setting>,
}

/// A value in [`ConfigReport`].
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Setting {
    /// The key, or the agent's short name.
    name: String,
    /// The value; null for the option's own default.
    value: Option<String>,
    /// The config file; null unless it is from one.
    file: Option<PathBuf>,
    /// The line in it, from 1.
    line: Option<usize>,
    /// The environment variable; null unless it is from one.
    variable: Option<&'static str>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let config = if global.no_config { Config::default() } else { Config::load()? };
    let settings = KEYS.iter().map(|(key, _, variable)| setting(&config, key, variable));
    let agents = config.agents.iter().map(|(name, value)| Setting::of_file(name, value));
    let games = config.games.iter().map(|(name, value)| Setting::of_file(name, value));
    let report = ConfigReport {
        games: games.collect(),
        settings: settings.collect(),
        agents: agents.collect(),
        files: config.files.clone(),
    };
    if options.json {
        return print_json(&report);
    }
    let mut rows = vec![row(["setting", "value", "from"])];
    rows.extend(report.settings.iter().map(|it| it.row(&it.name)));
    rows.extend(report.agents.iter().map(|it| it.row(&format!("agent {}", it.name))));
    rows.extend(report.games.iter().map(|it| it.row(&format!("game {}", it.name))));
    print(&table(&rows))
}

fn setting(config: &Config, key: &str, variable: &'static str) -> Setting {
    if let Ok(value) = std::env::var(variable) {
        let (name, value) = (key.to_owned(), Some(value));
        return Setting { name, value, variable: Some(variable), ..Setting::default() };
    }
    match config.settings.get(key) {
        Some(value) => Setting::of_file(key, value),
        None => Setting { name: key.to_owned(), ..Setting::default() },
    }
}

impl Setting {
    fn of_file(name: &str, ConfigValue { value, file, line }: &ConfigValue) -> Self {
        Self {
            name: name.to_owned(),
            value: Some(value.clone()),
            file: Some(file.clone()),
            line: Some(*line),
            variable: None,
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let from = match (&self.file, self.line, self.variable) {
            (Some(file), Some(line), _) => format!("{}:{line}", file.display()),
            (.., Some(variable)) => variable.to_owned(),
            _ => "default".to_owned(),
        };
        let value = self.value.as_deref().unwrap_or("-");
        [name, value, &from].map(sanitize).to_vec()
    }
}
