//! The sandbox options.

use super::global::Global;
use super::output::eprint_line;
use super::values::{levels, pondering};
use clap::Args;
use referee_process::Failure;
use referee_process::sandbox::{Depth, Sandbox, SandboxRequest, choose, readable};
use referee_protocol::{Level, LevelChoice, Pondering};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The sandbox options.
#[derive(Clone, Debug, Args)]
pub(super) struct SandboxOptions {
    /// Sandbox level: auto, none, basic, confined, isolated, metered or external. Defaults to auto, the
    /// strongest level that works on this machine; a named level is used exactly, or refused
    #[arg(long, value_name = "LEVEL", value_parser = levels(), default_value = "auto", hide_possible_values = true)]
    #[arg(help_heading = "Sandbox")]
    sandbox: LevelChoice,
    /// With --sandbox external: command that starts agents, such as 'bwrap ..'; {folder} is the
    /// agent's folder, {work} its private folder
    #[arg(long, value_name = "COMMAND", help_heading = "Sandbox")]
    wrapper: Option<String>,
    /// File or folder that all agents may read (repeatable), even if no agent.toml asks for it
    #[arg(long, value_name = "PATH", help_heading = "Sandbox")]
    allow_read: Vec<PathBuf>,
}

/// The sandbox options of commands that play matches.
#[derive(Clone, Debug, Args)]
pub(super) struct ConditionOptions {
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// What agents may do when it is not their turn. Defaults to freeze if agents share cores, else
    /// allow
    #[arg(long, value_parser = pondering(), help_heading = "Sandbox")]
    pondering: Option<Pondering>,
}

impl SandboxOptions {
    /// Chooses the sandbox, and prints it with --verbose.
    pub(super) fn choose(&self, global: &Global) -> Result<Sandbox, Failure> {
        let sandbox = self.tested()?;
        print_sandbox(&sandbox, self.sandbox, global);
        Ok(sandbox)
    }

    /// Chooses the sandbox without a word about it.
    pub(super) fn tested(&self) -> Result<Sandbox, Failure> {
        let request = SandboxRequest {
            level: self.sandbox,
            wrapper: self.wrapper()?,
            read: self.allow_read.clone(),
            ..SandboxRequest::default()
        };
        choose(&request, Depth::Quick)
    }

    /// Returns the canonical paths that all agents may read.
    pub(super) fn readable(&self) -> Result<Vec<PathBuf>, Failure> {
        self.allow_read.iter().map(|path| readable(path)).collect()
    }

    fn wrapper(&self) -> Result<Vec<String>, Failure> {
        let Some(text) = &self.wrapper else { return Ok(Vec::new()) };
        let words = shlex::split(text)
            .ok_or_else(|| Failure::usage(format!("--wrapper {text:?}: a quote is not closed")))?;
        if words.is_empty() {
            return Err(Failure::usage("--wrapper: the command is empty"));
        }
        Ok(words)
    }

    /// Returns the level that is named, also in a config file.
    pub(super) fn level(&self) -> Option<Level> {
        self.sandbox.named()
    }
}

impl ConditionOptions {
    /// Chooses the sandbox for this number of agents at once, and prints it with --verbose.
    pub(super) fn choose(&self, agents: usize, global: &Global) -> Result<Sandbox, Failure> {
        Ok(self.with_pondering(self.sandbox.choose(global)?, agents))
    }

    /// Chooses the sandbox for builds.
    pub(super) fn tested(&self) -> Result<Sandbox, Failure> {
        self.sandbox.tested()
    }

    /// Returns the sandbox with --pondering set for this number of agents at once.
    pub(super) fn with_pondering(&self, sandbox: Sandbox, agents: usize) -> Sandbox {
        sandbox.pondering(self.pondering, agents)
    }

    /// Returns the canonical paths that all agents may read.
    pub(super) fn readable(&self) -> Result<Vec<PathBuf>, Failure> {
        self.sandbox.readable()
    }

    /// Returns the level that is named, also in a config file.
    pub(super) fn level(&self) -> Option<Level> {
        self.sandbox.level()
    }

    /// Returns the table `[sandbox]` of a contest file; null if no option is given.
    pub(super) fn for_contest(&self) -> Result<Value, Failure> {
        let (level, pondering) = (self.sandbox.sandbox.named(), self.pondering);
        let wrapper = Some(self.sandbox.wrapper()?).filter(|words| !words.is_empty());
        let read = Some(&self.sandbox.allow_read).filter(|paths| !paths.is_empty());
        if level.is_none() && pondering.is_none() && wrapper.is_none() && read.is_none() {
            return Ok(Value::Null);
        }
        Ok(json!({ "level": level, "pondering": pondering, "wrapper": wrapper, "read": read }))
    }
}

/// Prints the sandbox with --verbose. Warns if agents can read the user's files: at level `none`, and
/// if `auto` finds nothing stronger than `basic`.
pub(super) fn print_sandbox(sandbox: &Sandbox, chosen: LevelChoice, global: &Global) {
    let weak = |text: &str| {
        if !global.quiet {
            eprint_line(&format!("warning: {text}: {}", sandbox.summary(false)));
        }
    };
    match (sandbox.level, chosen) {
        // Where the system has none.
        (Level::None, LevelChoice::Auto) => weak("agents run without a sandbox"),
        (Level::None, _) => {
            eprint_line("warning: agents run without a sandbox; use --sandbox none only to debug");
        }
        _ if global.verbose > 0 => eprint_line(&format!("sandbox: {}", sandbox.summary(true))),
        (Level::Basic, LevelChoice::Auto) => weak("weak sandbox"),
        _ => {}
    }
}
