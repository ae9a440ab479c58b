//! Line protocols that agents may use instead of the referee's own. Each is a codec between the
//! referee's messages and an engine's lines. A codec does no I/O: the caller passes in messages and
//! lines and takes out the bytes to write.

use referee_protocol::{FromAgent, LineProtocol, ParseError, ToAgent};
use std::fmt::Debug;

/// The codec for one agent that uses another line protocol.
///
/// The bytes to write depend only on the messages and lines so far, in that order, so they can be
/// reproduced from a transcript.
pub trait Dialect: Debug + Send {
    /// Handles a message of the referee to the agent.
    fn on_message(&mut self, message: &ToAgent);
    /// Handles a line of the agent, without its line end.
    fn on_line(&mut self, line: &[u8]) -> Decoded;
    /// Moves the bytes to write now, whole lines, to the end of `bytes`.
    fn take_output(&mut self, bytes: &mut Vec<u8>);
}

/// The meaning of a line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// No message yet.
    Nothing,
    /// The line is, or completes, this message.
    Message(FromAgent),
    /// The line breaks the protocol.
    Invalid(ParseError),
}

/// A line protocol of a game.
#[derive(Clone, Copy, Debug)]
pub struct DialectKind {
    /// The name, as in `htp:COMMAND` and in agent.toml.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    pub(crate) begin: fn(&LineProtocol) -> Result<Box<dyn Dialect>, String>,
    pub(crate) advise: fn(&str, Option<&str>) -> Option<String>,
    pub(crate) optional: &'static [&'static str],
}

impl DialectKind {
    /// Creates a codec. Fails if the settings are invalid.
    pub fn begin(&self, settings: &LineProtocol) -> Result<Box<dyn Dialect>, String> {
        (self.begin)(settings)
    }

    /// Whether an engine needn't be sent this command.
    pub fn is_optional(&self, command: &str) -> bool {
        command.split_whitespace().next().is_some_and(|word| self.optional.contains(&word))
    }

    /// Returns what to do about an engine that failed at this command: with this reply, or without one.
    pub fn advise(&self, command: &str, reply: Option<&str>) -> Option<String> {
        (self.advise)(command, reply)
    }
}
