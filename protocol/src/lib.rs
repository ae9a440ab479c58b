//! The agent protocol, version 1: the messages between the referee and its agents, and the events
//! of a transcript, as types.
//!
//! This crate never names a game (an action is JSON here: only the rules give it a meaning), does no input or output
//! and reads no clock. `examples/agent.rs` is an agent in 30 lines.
//!
//! Names and meanings on the wire stay within a version of the protocol; the types of this crate may change with
//! each minor version until 1.0.
//!
//! ```
//! use referee_protocol::{FromAgent, parse_from_agent};
//!
//! let message = parse_from_agent(br#"{"type":"resign","turn":17}"#).unwrap();
//! assert!(matches!(message, FromAgent::Resign(resign) if resign.turn == Some(17)));
//!
//! let garbled = parse_from_agent(br#"{"type":"resign","trun":17}"#).unwrap_err();
//! assert!(garbled.to_string().contains("unknown field `trun`"));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action_json;
mod seat;
mod outcome;
mod verdict;
mod settings;
mod adjudication;
mod to_agent;
mod from_agent;
mod strict;
mod plain_error;
mod escape;
mod nanos;
mod level;
mod transcript;
mod write_json;
pub mod encode;
pub mod sanitize;

pub use action_json::ActionJson;
pub use adjudication::{Adjudication, DrawAdjudication, WinAdjudication};
pub use escape::{escape_line, line_bytes, recorded_bytes, unescape_line};
pub use from_agent::{Action, FromAgent, Info, Ready, Resign, Want, action_text, parse_from_agent};
pub use level::{Level, LevelChoice};
pub use nanos::Nanos;
pub use outcome::Outcome;
pub use plain_error::{plain_error, read_line, read_typed};
pub use seat::Seat;
pub use settings::{ClockKind, ClockSettings, Limits};
pub use strict::{ParseError, ParseErrorKind, parse_strict};
pub use to_agent::{Drawn, Hello, Over, Played, Retired, SeatInfo, ToAgent, Told, Turn};
pub use transcript::{
    DrawnEvent, Event, ExitEvent, Freezer, GameProgramRecord, Header, HeaderSeat, LineEvent,
    LineProtocol, OnFault, OverEvent, PlayedEvent, Pondering, RetiredEvent, SandboxRecord, Seal,
    StderrEvent, TRANSCRIPT_VERSION, TurnEvent,
};
pub use verdict::{Fault, FaultKind, LateBy, MatchResult, SeatVerdict, Verdict, VoidNote};

/// The version of the protocol that this crate speaks, as in `hello.protocol`.
pub const PROTOCOL_VERSION: u32 = 1;

/// The longest line that the referee sends, in bytes, without its line end.
pub const REFEREE_LINE_BYTES_MAX: usize = 1 << 20;
