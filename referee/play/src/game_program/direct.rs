//! A process of a game program that is asked directly: a failure is told, and nothing is repeated.

use super::GameProgram;
use super::host::{Host, HostRules, Said};
use referee_games::program::{Program, RulesFailure};
use referee_process::Failure;
use referee_process::sandbox::{Depth, SandboxRequest, choose};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// The bits of a request's id: an integer in every language.
const ID_BITS: u64 = (1 << 40) - 1;

/// A process of a game program, in the sandbox as in a match.
#[derive(Debug)]
pub struct Direct {
    program: GameProgram,
    rules: HostRules,
    /// `None` once it ends.
    host: Option<Host>,
}

impl Direct {
    /// Prepares the game in a folder, whose process has these variables besides. The process is started when it is
    /// asked something.
    pub fn prepare(folder: &Path, variables: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut program = GameProgram::read(folder)?;
        if let Some(launch) = &mut program.spec.launch {
            launch.env.extend(variables.iter().map(|(name, value)| format!("{name}={value}")));
        }
        let sandbox = || choose(&SandboxRequest::default(), Depth::Quick);
        let (host, rules) = Host::start(program.clone(), sandbox)?;
        Ok(Self { program, rules, host: Some(host) })
    }

    /// The name in its game.toml.
    pub fn name(&self) -> &str {
        &self.program.spec.name
    }

    /// The revision of the rules in its game.toml.
    pub fn revision(&self) -> u32 {
        self.program.revision
    }

    /// The digest of its files.
    pub fn digest(&self) -> &str {
        &self.program.spec.digest
    }

    /// Asks the process what the game is.
    pub fn describe(&self) -> Result<Program, RulesFailure> {
        let folder = self.program.spec.own[0].clone();
        let named = (self.name(), self.revision());
        Program::describe(Box::new(self.rules.clone()), named, folder, self.digest().to_owned())
    }

    /// Sends a request without id, and waits for the answer. Equal requests have equal ids.
    pub fn ask(&self, request: Value) -> Result<Said, RulesFailure> {
        let mut hasher = DefaultHasher::new();
        request.to_string().hash(&mut hasher);
        let moves = request["moves"].as_array().map_or(0, Vec::len);
        self.rules.say(request, hasher.finish() & ID_BITS, moves)
    }

    /// Ends the process; the next request starts a new one.
    pub fn restart(&self) {
        self.rules.restart();
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            host.end();
        }
    }
}
