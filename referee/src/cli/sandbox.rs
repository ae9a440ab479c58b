//! What agents are kept in, on the command line.

use super::Global;
use super::output::tell;
use clap::{Args, ValueEnum};
use referee_process::Failure;
use referee_process::sandbox::{Demand, Depth, Enclosure, Wish, choose};
use referee_protocol::{Level, Pondering};
use serde_json::{Value, json};

/// How agents are kept apart.
#[derive(Clone, Debug, Args)]
pub(super) struct SandboxOptions {
    /// How strongly agents are kept apart: auto is the strongest that this machine is seen to give;
    /// a named level is exact or refused
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, hide_possible_values = true)]
    #[arg(help_heading = "Sandbox")]
    sandbox: Choice,
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
    pondering: Option<PonderingChoice>,
}

/// A level on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The strongest that this machine is seen to give
    #[default]
    Auto,
    /// Nothing, for debugging
    None,
    /// Against accidents
    Basic,
    /// Files, network and other processes are out of reach
    Confined,
    /// The rest of the machine can't be seen
    Isolated,
    /// The kernel counts memory and CPU time
    Metered,
    /// Whatever --wrapper does
    External,
}

/// What agents may do meanwhile, on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PonderingChoice {
    /// Whatever they like
    Allow,
    /// Whatever they like, on their own clock
    Measure,
    /// Nothing: they are stopped
    Freeze,
}

impl Choice {
    fn demand(self) -> Demand {
        match self {
            Self::Auto => Demand::Auto,
            Self::None => Demand::Exactly(Level::None),
            Self::Basic => Demand::Exactly(Level::Basic),
            Self::Confined => Demand::Exactly(Level::Confined),
            Self::Isolated => Demand::Exactly(Level::Isolated),
            Self::Metered => Demand::Exactly(Level::Metered),
            Self::External => Demand::Exactly(Level::External),
        }
    }
}

impl SandboxOptions {
    /// Finds what agents are started in, and tells it.
    pub(super) fn enclosure(&self, global: &Global) -> Result<Enclosure, Failure> {
        let wish = Wish { level: self.sandbox.demand(), wrapper: self.words()?, ..Wish::default() };
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
        let mut words = Vec::new();
        if self.sandbox != Choice::Auto
            && let Some(value) = self.sandbox.to_possible_value()
        {
            words.extend(["--sandbox".to_owned(), value.get_name().to_owned()]);
        }
        if let Some(wrapper) = &self.wrapper {
            words.extend(["--wrapper".to_owned(), wrapper.clone()]);
        }
        words
    }
}

impl ConditionOptions {
    /// Finds what agents are started in, so many of them at once, and tells it.
    pub(super) fn enclosure(&self, agents: usize, global: &Global) -> Result<Enclosure, Failure> {
        Ok(self.with_pondering(self.sandbox.enclosure(global)?, agents))
    }

    /// The same enclosure where so many agents are in it at once.
    pub(super) fn with_pondering(&self, enclosure: Enclosure, agents: usize) -> Enclosure {
        enclosure.pondering(self.pondering(), agents)
    }

    fn pondering(&self) -> Option<Pondering> {
        self.pondering.map(|choice| match choice {
            PonderingChoice::Allow => Pondering::Allow,
            PonderingChoice::Measure => Pondering::Measure,
            PonderingChoice::Freeze => Pondering::Freeze,
        })
    }

    /// The words that give the same again, where it was given; what agents could do meanwhile also
    /// where it wasn't, but would be another by itself.
    pub(super) fn given(&self, found: Option<Pondering>) -> Vec<String> {
        let mut words = self.sandbox.given();
        if let Some(pondering) = self.pondering().or(found) {
            words.extend(["--pondering".to_owned(), pondering.name().to_owned()]);
        }
        words
    }

    /// The table `[sandbox]` of a contest file that says the same; null where nothing is given.
    pub(super) fn for_contest(&self) -> Result<Value, Failure> {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned())
        };
        let given = Some(self.sandbox.sandbox).filter(|choice| *choice != Choice::Auto);
        let level = name(given.and_then(|choice| choice.to_possible_value()));
        let pondering = name(self.pondering.and_then(|choice| choice.to_possible_value()));
        let wrapper = Some(self.sandbox.words()?).filter(|words| !words.is_empty());
        if level.is_none() && pondering.is_none() && wrapper.is_none() {
            return Ok(Value::Null);
        }
        Ok(json!({ "level": level, "pondering": pondering, "wrapper": wrapper }))
    }
}

/// Tells what was chosen where nobody named it, with its layers or without, and warns where nothing
/// keeps agents in.
pub(super) fn tell_of(enclosure: &Enclosure, wished: Demand, layers: bool, global: &Global) {
    if enclosure.level == Level::None {
        tell("warning: nothing keeps agents in: --sandbox none is for debugging");
    } else if wished == Demand::Auto && !global.quiet {
        tell(&format!("sandbox: {}", enclosure.line(layers)));
    }
}
