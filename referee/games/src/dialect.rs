//! Line protocols that agents may use instead of the referee's own. Each is a codec between the
//! referee's messages and an engine's lines. A codec does no I/O: the caller passes in messages and
//! lines and takes out the bytes to write.

use crate::SetupError;
use referee_protocol::{FromAgent, LineProtocol, ParseError, ToAgent};
use serde_json::Value;
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

/// What a line of an agent decodes to.
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
    /// The reverse direction: presents one of our agents as an engine with this protocol.
    pub serve: Option<StartServer>,
}

/// Starts serving a game with a setup. The text is what a swap does on the controller's board, a value of
/// the setup's `swap`; by default it is that of the setup.
pub type StartServer = fn(&Value, Option<&str>) -> Result<Box<dyn LineServer>, SetupError>;

/// The engine's side of another line protocol: answers a controller's commands and asks the agent
/// for moves.
pub trait LineServer: Debug {
    /// Handles a line of the controller, without its line end. `name` is the agent's name.
    fn command(&mut self, line: &str, name: &str) -> ServerStep;
    /// Handles the agent's answer to the last [`ServerStep::Move`]: its action, `None` if it resigns,
    /// or what went wrong. Returns the bytes to write.
    fn answered(&mut self, answer: Result<Option<Value>, String>) -> String;
}

/// What to do after a controller's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// Nothing.
    Nothing,
    /// Write these bytes.
    Reply(String),
    /// Write these bytes, then exit.
    ReplyAndQuit(String),
    /// Ask the agent for a move.
    Move(MoveRequest),
}

/// A controller's request for a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRequest {
    /// The setup of the game.
    pub setup: Value,
    /// All actions so far.
    pub actions: Vec<Value>,
    /// The agent's remaining time, if the controller sent it.
    pub left_ms: Option<u64>,
}

impl DialectKind {
    /// Creates a codec. Fails if the settings are invalid.
    pub fn begin(&self, settings: &LineProtocol) -> Result<Box<dyn Dialect>, String> {
        (self.begin)(settings)
    }
}
