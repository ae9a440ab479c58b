//! The list of built-in agents, and parsing of their names.

use crate::AgentError;
use crate::minimax::{DEPTH_DEFAULT, DEPTH_MAX};
use referee_protocol::Want;
use std::fmt;
use std::str::FromStr;

/// The description of a built-in agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The agent, with its default argument if it takes one.
    pub agent: Agent,
    /// The name, as written after `@`.
    pub name: &'static str,
    /// The optional argument after a colon, such as `N`.
    pub argument: Option<&'static str>,
    /// What it does, in one line.
    pub about: &'static str,
    /// Whether it breaks the protocol or the rules on purpose, for tests.
    pub misbehaves: bool,
}

/// Every built-in agent, in display order.
pub static BUILT_INS: &[BuiltIn] = &[
    good(Agent::Random, "random", "plays a random legal action"),
    good(Agent::First, "first", "plays the first legal action in the rules' order"),
    good(
        Agent::Greedy,
        "greedy",
        "plays the action with the best position after it; plans puzzles ahead",
    ),
    BuiltIn {
        argument: Some("N"),
        ..good(
            Agent::Minimax { depth: DEPTH_DEFAULT },
            "minimax",
            "looks N actions ahead (1 to 9, default 2); finds short solutions of puzzles",
        )
    },
    bad(Agent::Slow, "slow", "plays a random legal action after a second"),
    bad(Agent::Crash, "crash", "exits with status 1 and a line on stderr at its first turn"),
    bad(Agent::Illegal, "illegal", "plays an action that is well formed but illegal"),
    bad(Agent::Mute, "mute", "reads its input, but never answers"),
    bad(Agent::Flood, "flood", "writes endless output at its first turn"),
];

const fn good(agent: Agent, name: &'static str, about: &'static str) -> BuiltIn {
    BuiltIn { agent, name, argument: None, about, misbehaves: false }
}

const fn bad(agent: Agent, name: &'static str, about: &'static str) -> BuiltIn {
    BuiltIn { misbehaves: true, ..good(agent, name, about) }
}

/// A built-in agent with its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agent {
    Random,
    First,
    Greedy,
    /// `minimax`, `minimax:N`
    Minimax {
        /// The number of actions it looks ahead, its own included: 1 to 9.
        depth: u32,
    },
    Slow,
    Crash,
    Illegal,
    Mute,
    Flood,
}

impl Agent {
    /// Whether it plays with a board of its own, for which it needs the rules of the game.
    pub fn needs_rules(self) -> bool {
        matches!(self, Self::Greedy | Self::Minimax { .. } | Self::Illegal)
    }

    /// Whether it looks ahead, for which the rules must estimate positions.
    pub fn needs_estimates(self) -> bool {
        matches!(self, Self::Greedy | Self::Minimax { .. })
    }

    /// Whether it plays a listed action, so that the rules must list them.
    pub fn needs_list(self) -> bool {
        self.picks_from_list() || self.needs_estimates()
    }

    fn picks_from_list(self) -> bool {
        matches!(self, Self::Random | Self::First | Self::Slow)
    }

    /// Returns the fields of `turn` that it requests from the referee: `want` in `ready`.
    pub(crate) fn requested_fields(self) -> Vec<Want> {
        self.picks_from_list().then_some(Want::Actions).into_iter().collect()
    }

    /// Whether its process may play another match after `over`: it keeps nothing of the one before.
    pub(crate) fn plays_again(self) -> bool {
        self.built_in().is_some_and(|built_in| !built_in.misbehaves)
    }

    fn built_in(self) -> Option<&'static BuiltIn> {
        let kind = std::mem::discriminant(&self);
        BUILT_INS.iter().find(|it| std::mem::discriminant(&it.agent) == kind)
    }
}

impl FromStr for Agent {
    type Err = AgentError;

    /// Parses a name as written after `@`.
    fn from_str(text: &str) -> Result<Self, AgentError> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let Some(built_in) = BUILT_INS.iter().find(|built_in| built_in.name == name) else {
            let names: Vec<&str> = BUILT_INS.iter().map(|built_in| built_in.name).collect();
            return Err(AgentError::Name(format!(
                "unknown built-in agent `{name}`: choose from {}",
                names.join(", ")
            )));
        };
        match (built_in.agent, argument) {
            (Self::Minimax { .. }, Some(argument)) => Ok(Self::Minimax { depth: depth(argument)? }),
            (agent, None) => Ok(agent),
            (_, Some(argument)) => Err(AgentError::Name(format!(
                "`{name}` takes no argument: use `{name}` instead of `{name}:{argument}`"
            ))),
        }
    }
}

/// Parses the depth in `minimax:N`.
fn depth(argument: &str) -> Result<u32, AgentError> {
    argument.parse().ok().filter(|depth| (1..=DEPTH_MAX).contains(depth)).ok_or_else(|| {
        AgentError::Name(format!(
            "`minimax:{argument}`: the depth must be a whole number from 1 to {DEPTH_MAX}, as in \
             `minimax:{DEPTH_DEFAULT}`"
        ))
    })
}

impl fmt::Display for Agent {
    /// Writes the name that parses as this agent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.built_in().map_or("", |it| it.name))?;
        match self {
            Self::Minimax { depth } => write!(f, ":{depth}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Agent, BUILT_INS};

    #[test]
    fn every_listed_name_is_an_agent() {
        for built_in in BUILT_INS {
            let agent: Agent = built_in.name.parse().unwrap();
            assert!(agent.to_string().starts_with(built_in.name));
            assert_eq!(agent.to_string().parse::<Agent>().unwrap(), agent);
            let with_argument = format!("{}:3", built_in.name).parse::<Agent>();
            assert_eq!(with_argument.is_ok(), built_in.argument.is_some(), "{}", built_in.name);
        }
    }

    #[test]
    fn errors_of_names_say_what_is_allowed() {
        for (name, wanted) in [
            ("human", "choose from random, first, greedy, minimax, slow"),
            ("", "unknown built-in agent ``"),
            ("Random", "unknown built-in agent `Random`"),
            ("greedy:2", "`greedy` takes no argument"),
            ("minimax:", "a whole number from 1 to 9"),
            ("minimax:0", "a whole number from 1 to 9"),
            ("minimax:10", "a whole number from 1 to 9"),
            ("minimax:-1", "a whole number from 1 to 9"),
            ("minimax:two", "a whole number from 1 to 9"),
            ("minimax:3:3", "a whole number from 1 to 9"),
        ] {
            let error = name.parse::<Agent>().expect_err(name).to_string();
            assert!(error.contains(wanted), "{name}: {error:?} lacks {wanted:?}");
        }
        assert_eq!("minimax".parse::<Agent>().unwrap(), Agent::Minimax { depth: 2 });
        assert_eq!("minimax:9".parse::<Agent>().unwrap(), Agent::Minimax { depth: 9 });
    }
}
