//! Making the bytes that were written to an agent's stdin again, from the transcript.

use super::walk::Walk;
use referee_games::{Decoded, Dialect, GameKind, Games};
use referee_protocol::{Event, Header, HeaderSeat, Seat, ToAgent};

/// Returns the bytes written to a seat up to and including the request of `turn`; all of them without
/// a turn, or if the seat was never asked for it. Fails if the transcript breaks the rules. A person
/// gets the same messages here, though none were written.
pub fn sent<'a>(
    header: &Header,
    games: &Games,
    seat: Seat,
    events: impl IntoIterator<Item = &'a Event>,
    turn: Option<u64>,
) -> Result<Vec<u8>, String> {
    let mut walk = Walk::begin_keeping(header.clone(), games, |at| at == seat)?;
    if seat.index() >= header.seats.len() {
        return Err(format!("there is no seat {seat}"));
    }
    for event in events {
        walk.event(event)?;
        if matches!(event, Event::Turn(it) if it.seat == seat && Some(it.turn) == turn) {
            break;
        }
    }
    Ok(walk.take_sent(seat))
}

/// The exchange with one agent: what is written to it, and how its lines are read.
#[derive(Debug)]
pub(super) struct Wire {
    speech: Speech,
    /// Keeps what is written.
    keeps: bool,
    /// It was killed for a fault, and gets nothing more.
    pub(super) killed: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) messages: Vec<ToAgent>,
}

#[derive(Debug)]
enum Speech {
    /// The referee's own protocol.
    Own,
    Codec(Box<dyn Dialect>),
    /// A protocol of which there is no codec.
    Unknown,
}

impl Wire {
    pub(super) fn begin(kind: GameKind, seat: &HeaderSeat, keeps: bool) -> Result<Self, String> {
        let speech = match &seat.protocol {
            None => Speech::Own,
            Some(spoken) => match kind.dialect(&spoken.name) {
                Some(dialect) => Speech::Codec(dialect.begin(spoken)?),
                None if keeps => return Err(format!("unknown line protocol `{}`", spoken.name)),
                None => Speech::Unknown,
            },
        };
        Ok(Self { speech, keeps, killed: false, bytes: Vec::new(), messages: Vec::new() })
    }

    /// Whether lines of the agent can be read.
    pub(super) fn is_read(&self) -> bool {
        !matches!(self.speech, Speech::Unknown)
    }

    /// Whether it needs the messages.
    pub(super) fn is_used(&self) -> bool {
        self.keeps || matches!(self.speech, Speech::Codec(_))
    }

    /// Writes a message.
    pub(super) fn say(&mut self, message: &ToAgent) {
        if self.killed || !self.is_used() {
            return;
        }
        if self.keeps {
            self.messages.push(message.clone());
        }
        if let Speech::Codec(dialect) = &mut self.speech {
            dialect.on_message(message);
            return self.take_output();
        }
        message.write_json(&mut self.bytes);
        self.bytes.push(b'\n');
    }

    /// Reads a line of the agent, if its codec must.
    pub(super) fn hear(&mut self, line: &[u8]) -> Option<Decoded> {
        match &mut self.speech {
            Speech::Own => None,
            Speech::Codec(dialect) => {
                let meaning = dialect.on_line(line);
                self.take_output();
                Some(meaning)
            }
            Speech::Unknown => Some(Decoded::Nothing),
        }
    }

    fn take_output(&mut self) {
        if let Speech::Codec(dialect) = &mut self.speech {
            dialect.take_output(&mut self.bytes);
        }
        if !self.keeps {
            self.bytes.clear();
        }
    }
}
