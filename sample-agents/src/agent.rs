//! The list of the built-in agents, and the way from a name to one of them.

use crate::AgentError;
use crate::minimax::{DEPTH_DEFAULT, DEPTH_MAX};
use referee_protocol::Want;
use std::fmt;
use std::str::FromStr;

/// What lists show of a built-in agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The name, as it is written after `@`.
    pub name: &'static str,
    /// The argument that may follow after a colon, as `N`, where there is one.
    pub argument: Option<&'static str>,
    /// What it does, in one line.
    pub about: &'static str,
    /// It breaks the protocol or the rules on purpose: for tests of referees and contests.
    pub misbehaves: bool,
}

/// Every built-in agent, in the order in which lists show them.
pub static BUILT_INS: &[BuiltIn] = &[
    good("random", "picks any legal action, all equally likely"),
    good("first", "picks the first legal action in the rules' order"),
    good("greedy", "picks the action after which it stands best; plans puzzles ahead"),
    BuiltIn {
        argument: Some("N"),
        ..good("minimax", "looks N actions ahead, 1 to 9 (2 unless given); solves puzzles shortly")
    },
    bad("slow", "sleeps a second before each answer, which is then a random one"),
    bad("crash", "ends with status 1 and a line on stderr at its first turn"),
    bad("illegal", "answers with an action that is well formed but against the rules"),
    bad("mute", "reads on, but never answers a turn"),
    bad("flood", "writes without end or line end at its first turn"),
];

const fn good(name: &'static str, about: &'static str) -> BuiltIn {
    BuiltIn { name, argument: None, about, misbehaves: false }
}

const fn bad(name: &'static str, about: &'static str) -> BuiltIn {
    BuiltIn { name, argument: None, about, misbehaves: true }
}

/// One of the built-in agents with its argument, read from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agent {
    /// `random`
    Random,
    /// `first`
    First,
    /// `greedy`
    Greedy,
    /// `minimax`, `minimax:N`
    Minimax {
        /// How many actions it looks ahead, its own included: 1 to 9.
        depth: u32,
    },
    /// `slow`
    Slow,
    /// `crash`
    Crash,
    /// `illegal`
    Illegal,
    /// `mute`
    Mute,
    /// `flood`
    Flood,
}

impl Agent {
    /// What it asks the referee to put into every `turn`: no more than it needs.
    pub(crate) fn wants(self) -> Vec<Want> {
        match self {
            Self::Random | Self::First | Self::Slow => vec![Want::Actions],
            Self::Greedy
            | Self::Minimax { .. }
            | Self::Crash
            | Self::Illegal
            | Self::Mute
            | Self::Flood => Vec::new(),
        }
    }
}

impl FromStr for Agent {
    type Err = AgentError;

    /// Reads a name as it is written after `@`.
    fn from_str(text: &str) -> Result<Self, AgentError> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let agent = match name {
            "random" => Self::Random,
            "first" => Self::First,
            "greedy" => Self::Greedy,
            "minimax" => return Ok(Self::Minimax { depth: depth(argument)? }),
            "slow" => Self::Slow,
            "crash" => Self::Crash,
            "illegal" => Self::Illegal,
            "mute" => Self::Mute,
            "flood" => Self::Flood,
            _ => {
                let names: Vec<&str> = BUILT_INS.iter().map(|built_in| built_in.name).collect();
                return Err(AgentError::Name(format!(
                    "no built-in agent is called `{name}`: there are {}",
                    names.join(", ")
                )));
            }
        };
        match argument {
            None => Ok(agent),
            Some(argument) => Err(AgentError::Name(format!(
                "`{name}` takes no argument, so `{name}:{argument}` means nothing: write `{name}`"
            ))),
        }
    }
}

/// The depth in `minimax:N`.
fn depth(argument: Option<&str>) -> Result<u32, AgentError> {
    let Some(argument) = argument else { return Ok(DEPTH_DEFAULT) };
    argument.parse().ok().filter(|depth| (1..=DEPTH_MAX).contains(depth)).ok_or_else(|| {
        AgentError::Name(format!(
            "`minimax:{argument}`: the depth is a whole number from 1 to {DEPTH_MAX}, as in \
             `minimax:{DEPTH_DEFAULT}`"
        ))
    })
}

impl fmt::Display for Agent {
    /// The name that reads back as this agent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random",
            Self::First => "first",
            Self::Greedy => "greedy",
            Self::Minimax { depth } => return write!(f, "minimax:{depth}"),
            Self::Slow => "slow",
            Self::Crash => "crash",
            Self::Illegal => "illegal",
            Self::Mute => "mute",
            Self::Flood => "flood",
        })
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
    fn bad_names_are_told_what_is_allowed() {
        for (name, wanted) in [
            ("human", "there are random, first, greedy, minimax, slow"),
            ("", "no built-in agent is called ``"),
            ("Random", "no built-in agent is called `Random`"),
            ("greedy:2", "`greedy` takes no argument"),
            ("minimax:", "a whole number from 1 to 9"),
            ("minimax:0", "a whole number from 1 to 9"),
            ("minimax:10", "a whole number from 1 to 9"),
            ("minimax:-1", "a whole number from 1 to 9"),
            ("minimax:two", "a whole number from 1 to 9"),
            ("minimax:3:3", "a whole number from 1 to 9"),
        ] {
            let told = name.parse::<Agent>().expect_err(name).to_string();
            assert!(told.contains(wanted), "{name}: {told:?} lacks {wanted:?}");
        }
        assert_eq!("minimax".parse::<Agent>().unwrap(), Agent::Minimax { depth: 2 });
        assert_eq!("minimax:9".parse::<Agent>().unwrap(), Agent::Minimax { depth: 9 });
    }
}
