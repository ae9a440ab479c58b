//! The built-in agents: what `@random`, `@greedy`, `@minimax:3` and the misbehaving ones do.
//!
//! They use the protocol like any other agent and know only what the referee sends. This crate opens
//! no files, prints nothing, and reads no environment and no clock: [`run`] gets its streams. All
//! randomness comes from `hello.seed`, so that a match can be replayed.
//!
//! ```
//! let from_referee = b"{\"type\":\"over\"}\n";
//! let mut to_referee = Vec::new();
//! sample_agents::run("random", &Default::default(), &from_referee[..], &mut to_referee, std::io::sink()).unwrap();
//! assert!(to_referee.is_empty());
//!
//! let refused = "minimax:12".parse::<sample_agents::Agent>().unwrap_err();
//! assert!(refused.to_string().contains("1 to 9"));
//! ```

#![forbid(unsafe_code)]

mod agent;
mod match_loop;
mod error;
mod greedy;
mod messages;
mod minimax;
mod misbehaving;
mod board;
mod board_player;
mod player;
mod puzzle;
mod position_key;
pub mod game_starters;
pub mod starters;
mod evaluation;

pub use agent::{Agent, BUILT_INS, BuiltIn};
pub use board_player::{apply, retire};
pub use error::AgentError;
pub use match_loop::play_match;
pub use messages::{Hello, Turn};
pub use player::{Player, Reply};

use referee_games::Games;
use referee_protocol::Ready;
use std::io::{BufRead, Write};

/// Plays as the agent with this name, as written after `@`: `random`, `minimax:3`, in any of these games. Reads the referee's
/// messages from `input` until its end, or until `over` if the agent plays one match only, and answers on
/// `output`, flushing after each line. `diagnostics`, normally stderr, gets a note for each ignored message.
///
/// Fails for an unknown name, a referee that breaks the protocol, a failing stream, and the deliberate
/// end of `crash`. The text can follow "error: ". The exit code is 1, except for
/// [`AgentError::Name`], which is a usage error.
pub fn run(
    name: &str,
    games: &Games,
    input: impl BufRead,
    output: impl Write,
    diagnostics: impl Write,
) -> Result<(), AgentError> {
    let agent: Agent = name.parse()?;
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    let (name, want) = (Some(agent.to_string()), agent.requested_fields());
    let ready = Ready { name, version, want, again: agent.plays_again() };
    play_match(ready, |hello| player::seat(agent, hello, games), input, output, diagnostics)
}
