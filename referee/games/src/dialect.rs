//! Line protocols that agents of a game speak instead of the referee's own: each a codec between
//! the referee's messages and an engine's lines. A codec does no input or output; it is told messages,
//! given lines, and asked for the bytes to write.

use crate::SetupError;
use referee_protocol::{FromAgent, Garbled, LineProtocol, ToAgent};
use serde_json::Value;
use std::fmt::Debug;

/// One agent's conversation in another line protocol.
///
/// The bytes to write follow from what was told and heard, in that order, and from nothing else: so
/// they can be made again from a transcript.
pub trait Dialect: Debug + Send {
    /// The referee says something to the agent.
    fn on_message(&mut self, message: &ToAgent);
    /// The agent wrote a line, given without its end.
    fn on_line(&mut self, line: &[u8]) -> Decoded;
    /// Appends the bytes that are to be written now: whole lines.
    fn take_output(&mut self, bytes: &mut Vec<u8>);
}

/// What a line of an agent means to the referee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Nothing by itself.
    Nothing,
    /// It is, or completes, this message.
    Message(FromAgent),
    /// It breaks the protocol.
    Invalid(Garbled),
}

/// A line protocol that a game knows.
#[derive(Clone, Copy, Debug)]
pub struct DialectKind {
    /// The name, as in `htp:COMMAND` and in agent.toml.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    pub(crate) begin: fn(&LineProtocol) -> Result<Box<dyn Dialect>, String>,
    /// The other way round: an agent of ours is shown as an engine that speaks this protocol.
    pub serve: Option<StartServer>,
}

/// Begins to serve a game of a setup.
pub type StartServer = fn(&Value) -> Result<Box<dyn LineServer>, SetupError>;

/// An engine for a controller that speaks another line protocol, as far as it needs no agent: it
/// knows the game, answers what it can, and says what it wants of the agent.
pub trait LineServer: Debug {
    /// A line of the controller, without its end. `name` is the agent's.
    fn command(&mut self, line: &str, name: &str) -> ServerStep;
    /// The agent's answer to the last [`ServerStep::Move`]: its action, `None` if it resigns, or what
    /// went wrong. Gives the bytes to write.
    fn answered(&mut self, answer: Result<Option<Value>, String>) -> String;
}

/// What a line of a controller leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// Nothing.
    Nothing,
    /// These bytes are to be written.
    Reply(String),
    /// These bytes are to be written, and then it is over.
    ReplyAndQuit(String),
    /// The agent is to move.
    Move(MoveRequest),
}

/// What an agent is asked by a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRequest {
    /// The setup of the game.
    pub setup: Value,
    /// All actions so far.
    pub actions: Vec<Value>,
    /// The time that it has left, where the controller tells.
    pub left_ms: Option<u64>,
}

impl DialectKind {
    /// Begins a conversation, or says what is wrong with the settings.
    pub fn begin(&self, settings: &LineProtocol) -> Result<Box<dyn Dialect>, String> {
        (self.begin)(settings)
    }
}
