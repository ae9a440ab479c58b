//! How an agent is started: its command, its environment and its limits.

use crate::adapted;
use crate::agent_spec::AgentSpec;
use crate::digest::BYTECODE_FOLDER;
use crate::game_program::{grant, is_named};
use crate::private_copy;
use referee_games::GameKind;
use referee_games::program::Program;
use referee_process::agent::{Launch, StartConditions};
use referee_process::launcher::{Bytes, Reach};
use referee_process::own_program;
use referee_process::sandbox::{Layer, Layers};
use referee_process::work_folder::start_conditions;
use referee_protocol::Limits;
use std::io;
use std::path::Path;

/// Where Python looks for bytecode instead of beside the sources.
const BYTECODE_VARIABLE: &str = "PYTHONPYCACHEPREFIX";

impl AgentSpec {
    /// Returns how it is started with this private folder, for a game; `None` for a person.
    pub fn start(
        &self,
        work: &Path,
        limits: &Limits,
        mut reach: Reach,
        core: Option<usize>,
        kind: Option<GameKind>,
    ) -> Option<(Launch, StartConditions)> {
        let mut launch = self.launch.clone()?;
        let limits = adapted::process_limits(limits, self.is_adapted());
        let mut added = Vec::new();
        if let Some(kind) = kind.filter(|kind| self.program_inside(*kind).is_some()) {
            grant(kind, &mut reach);
        }
        if self.writes {
            reach.write = self.kept.as_ref().map(Bytes::of);
            added = private_copy::variables(&launch.folder, self);
            if !self.is_adapted() {
                reach.read.push(Bytes::of(own_program()));
                launch = private_copy::wrapped(&launch);
            }
        }
        if self.bytecode.is_some() {
            added.push(Bytes::variable(BYTECODE_VARIABLE, work.join(BYTECODE_FOLDER)));
        }
        let python = self.python.as_deref();
        added
            .extend(python.into_iter().flat_map(|it| adapted::variables(it, self.code.as_deref())));
        let mut conditions = start_conditions(work, &limits, reach, core);
        conditions.environment.extend(added);
        if let Some(program) = kind.and_then(|kind| self.program_inside(kind)) {
            let folder = program.folder().to_string_lossy().into_owned();
            launch.command.extend(["--rules".to_owned(), folder]);
        }
        Some((launch, conditions))
    }

    /// Fails if it would start rules that lie in a contest's folder, and that may come from anyone, where no sandbox
    /// holds malice.
    pub(crate) fn check_rules_inside(&self, kind: GameKind, layers: Layers) -> io::Result<()> {
        let Some(program) = self.program_inside(kind) else { return Ok(()) };
        if is_named(kind) || layers.has(Layer::Landlock) {
            return Ok(());
        }
        let folder = program.folder().display();
        Err(io::Error::other(format!(
            "{} would start the rules in {folder} without a sandbox: name them with --rules if you trust their author",
            self.name
        )))
    }

    /// Returns the program with the rules of this game, if this agent starts that itself: a built-in one with a board.
    pub(crate) fn program_inside(&self, kind: GameKind) -> Option<&'static Program> {
        let built_in = self.built_in_agent()?;
        kind.program().filter(|_| built_in.needs_rules())
    }

    /// Lets its adapter refuse what the course's own program refused.
    pub fn be_strict(&mut self) {
        let is_adapted = self.is_adapted();
        if let Some(launch) = self.launch.as_mut().filter(|_| is_adapted) {
            launch.command.push(adapted::STRICT.to_owned());
        }
    }
}
