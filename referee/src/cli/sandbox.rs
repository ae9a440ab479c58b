//! What agents are kept in, on the command line.

use super::Global;
use super::output::tell;
use super::words::option;
use clap::Args;
use referee_process::Failure;
use referee_process::sandbox::{Depth, Enclosure, Wish, choose};
use referee_protocol::{Level, LevelChoice, Pondering};
use serde_json::{Value, json};

/// How agents are kept apart.
#[derive(Clone, Debug, Args)]
pub(super) struct SandboxOptions {
    /// How strongly agents are kept apart: auto is the strongest that this machine is seen to give;
    /// a named level is exact or refused
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, hide_possible_values = true)]
    #[arg(help_heading = "Sandbox")]
    sandbox: LevelChoice,
    /// With --sandbox external: the command that agents are started by, such as 'bwrap ..';
    /// {folder} is the agent's folder, {work} its private one
    #[arg(long, value_name = "COMMAND", help_heading = "Sandbox")]
    wrapper: Option<String>,
}

/// The same for matches in which agents wait for each other.
#[derive(Clone, Debug, Args)]
pub(super) struct ConditionOptions {
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// What agents may do while it isn't their turn; freeze where agents share cores, else allow,
    /// unless it is given
    #[arg(long, value_enum, help_heading = "Sandbox")]
    pondering: Option<Pondering>,
}

impl SandboxOptions {
    /// Finds what agents are started in, and tells it.
    pub(super) fn enclosure(&self, global: &Global) -> Result<Enclosure, Failure> {
        let wish = Wish { level: self.sandbox, wrapper: self.words()?, ..Wish::default() };
        let enclosure = choose(&wish, Depth::Quick)?;
        tell_of(&enclosure, wish.level, global.verbose > 0, global);
        Ok(enclosure)
    }

    fn words(&self) -> Result<Vec<String>, Failure> {
        let Some(text) = &self.wrapper else { return Ok(Vec::new()) };
        let words = shlex::split(text).ok_or_else(|| {
            Failure::usage(format!("--wrapper {text:?}: its quotes don't pair up"))
        })?;
        if words.is_empty() {
            return Err(Failure::usage("--wrapper: a command needs a program"));
        }
        Ok(words)
    }

    /// The words that give the same again, where it was given.
    pub(super) fn given(&self) -> Vec<String> {
        let level = option("--sandbox", self.sandbox.named().map(Level::name));
        level.chain(option("--wrapper", self.wrapper.as_ref())).collect()
    }
}

impl ConditionOptions {
    /// Finds what agents are started in, so many of them at once, and tells it.
    pub(super) fn enclosure(&self, agents: usize, global: &Global) -> Result<Enclosure, Failure> {
        Ok(self.with_pondering(self.sandbox.enclosure(global)?, agents))
    }

    /// The same enclosure where so many agents are in it at once.
    pub(super) fn with_pondering(&self, enclosure: Enclosure, agents: usize) -> Enclosure {
        enclosure.pondering(self.pondering, agents)
    }

    /// The words that give the same again, where it was given; what agents could do meanwhile also
    /// where it wasn't, but would be another by itself.
    pub(super) fn given(&self, found: Option<Pondering>) -> Vec<String> {
        let mut words = self.sandbox.given();
        words.extend(option("--pondering", self.pondering.or(found).map(Pondering::name)));
        words
    }

    /// The table `[sandbox]` of a contest file that says the same; null where nothing is given.
    pub(super) fn for_contest(&self) -> Result<Value, Failure> {
        let (level, pondering) = (self.sandbox.sandbox.named(), self.pondering);
        let wrapper = Some(self.sandbox.words()?).filter(|words| !words.is_empty());
        if level.is_none() && pondering.is_none() && wrapper.is_none() {
            return Ok(Value::Null);
        }
        Ok(json!({ "level": level, "pondering": pondering, "wrapper": wrapper }))
    }
}

/// Tells what was chosen where nobody named it, with its layers or without, and warns where nothing
/// keeps agents in.
pub(super) fn tell_of(enclosure: &Enclosure, wished: LevelChoice, layers: bool, global: &Global) {
    if enclosure.level == Level::None {
        tell("warning: nothing keeps agents in: --sandbox none is for debugging");
    } else if wished == LevelChoice::Auto && !global.quiet {
        tell(&format!("sandbox: {}", enclosure.line(layers)));
    }
}
