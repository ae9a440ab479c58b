//! What to do about an engine with a protocol of its own that failed, by the command that it was sent last.

use referee_games::{DialectKind, GameKind};
use referee_protocol::{Fault, FaultKind, LineProtocol};

/// An engine with a protocol of its own.
#[derive(Clone, Copy, Debug)]
pub struct Engine<'a> {
    /// The protocol.
    pub dialect: &'static DialectKind,
    /// What it was sent; the last line is the command that it has not answered.
    pub sent: &'a str,
}

impl<'a> Engine<'a> {
    /// Returns what is known of an agent that speaks this protocol in a game; `None` for the referee's own.
    pub fn of(spoken: Option<&LineProtocol>, kind: GameKind, sent: &'a str) -> Option<Self> {
        Some(Self { dialect: kind.dialect(&spoken?.name)?, sent })
    }

    /// Returns how to fix it; `None` if the command isn't known, or says nothing.
    pub(super) fn fix(self, fault: &Fault) -> Option<String> {
        if fault.kind == FaultKind::Garbled {
            let (command, reply) = fault.text.strip_prefix('`')?.split_once("` was answered `")?;
            return self.dialect.advise(command, Some(reply));
        }
        self.unanswered()
    }

    /// Whether it has not answered a command that it needn't be sent.
    pub(super) fn may_skip(self) -> bool {
        self.sent.lines().last().is_some_and(|command| self.dialect.is_optional(command))
    }

    /// The same if it has not answered.
    pub(super) fn unanswered(self) -> Option<String> {
        self.dialect.advise(self.sent.lines().last()?, None)
    }
}
