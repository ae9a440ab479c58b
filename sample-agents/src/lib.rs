//! The built-in agents: what `@random`, `@greedy`, `@minimax:3` and the misbehaving ones do.
//!
//! They speak the protocol like anyone's agent and know of a match what they are told. This crate
//! opens nothing, prints nothing, reads no environment and no clock: the streams are given to
//! [`run`]. All that is random comes from `hello.seed`, so that the same match can be played again.
//!
//! ```
//! let from_referee = b"{\"type\":\"over\"}\n";
//! let mut to_referee = Vec::new();
//! sample_agents::run("random", &from_referee[..], &mut to_referee, std::io::sink()).unwrap();
//! assert!(to_referee.is_empty());
//!
//! let refused = "minimax:12".parse::<sample_agents::Agent>().unwrap_err();
//! assert!(refused.to_string().contains("1 to 9"));
//! ```

#![forbid(unsafe_code)]

mod agent;
mod conversation;
mod error;
mod greedy;
mod listed;
mod messages;
mod minimax;
mod misbehaving;
mod on_board;
mod player;
mod puzzle;
mod same;
pub mod starters;
mod worth;

pub use agent::{Agent, BUILT_INS, BuiltIn};
pub use conversation::converse;
pub use error::AgentError;
pub use messages::{Hello, Turn};
pub use on_board::{board_error, retire};
pub use player::{Player, Reply};

use referee_protocol::Ready;
use std::io::{BufRead, Write};

/// Plays one match as the agent of this name (as it is written after `@`: `random`, `minimax:3`):
/// reads the referee's messages from `input` until `over` or its end, and answers on `output`,
/// flushing after each line. `diagnostics` is what a person would read, normally stderr: messages
/// that are ignored are noted there.
///
/// Errors: a name that isn't one, a referee that breaks the protocol, a stream that fails, and the
/// deliberate end of `crash`. The text is fit to follow "error: ", and the exit code is 1 but for
/// [`AgentError::Name`], which is a mistake in the call.
pub fn run(
    name: &str,
    input: impl BufRead,
    output: impl Write,
    diagnostics: impl Write,
) -> Result<(), AgentError> {
    let agent: Agent = name.parse()?;
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    let ready = Ready { name: Some(agent.to_string()), version, want: agent.wants() };
    converse(ready, |hello| player::seat(agent, hello), input, output, diagnostics)
}
