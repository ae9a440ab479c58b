//! Making the bytes that were written to an agent's stdin again, from the transcript.

use super::walk::Walk;
use crate::{hello, over, request};
use referee_games::{AnyGame, Dialect};
use referee_protocol::{Event, Header, Played, Retired, Seat, ToAgent, Want, line_bytes};

/// The bytes written to one agent, while you walk over the match.
///
/// ```text
/// let mut sent = Sent::begin(&walk, seat)?;   // with `hello`
/// for event in reading {
///     walk.event(&event)?;
///     sent.event(&event, walk.game());
///     stdin.write_all(&sent.take())?;
/// }
/// ```
///
/// A message is made when it was sent, at the latest with the next request. The agent may have read
/// it later or never. A person gets the same messages here, though none were written.
#[derive(Debug)]
pub struct Sent {
    /// The agent's seat.
    pub(super) seat: Seat,
    want: Vec<Want>,
    /// The codec, if the agent speaks another protocol than the referee's own.
    dialect: Option<Box<dyn Dialect>>,
    /// It was killed for a fault, and gets nothing more.
    killed: bool,
    bytes: Vec<u8>,
    /// The messages since the last call.
    messages: Vec<ToAgent>,
}

/// Returns the bytes written to a seat up to and including the request of `turn`; all of them without
/// a turn, or if the seat was never asked for it. Fails if the transcript breaks the rules.
pub fn sent<'a>(
    header: &Header,
    seat: Seat,
    events: impl IntoIterator<Item = &'a Event>,
    turn: Option<u64>,
) -> Result<Vec<u8>, String> {
    let mut walk = Walk::begin(header.clone())?;
    let mut written = Sent::begin(&walk, seat)?;
    for event in events {
        walk.event(event)?;
        written.event(event, walk.game());
        if matches!(event, Event::Turn(it) if it.seat == seat && Some(it.turn) == turn) {
            break;
        }
    }
    Ok(written.take())
}

impl Sent {
    /// Begins with the `hello` to `seat`.
    pub fn begin(walk: &Walk, seat: Seat) -> Result<Self, String> {
        let header = walk.header();
        let listed = header.seats.get(seat.index());
        let listed = listed.ok_or_else(|| format!("there is no seat {seat}"))?;
        let want = listed.ready.as_ref().map(|ready| ready.want.clone()).unwrap_or_default();
        let dialect = match &listed.protocol {
            None => None,
            Some(spoken) => {
                let dialect = walk
                    .game()
                    .kind()
                    .dialect(&spoken.name)
                    .ok_or_else(|| format!("unknown line protocol `{}`", spoken.name))?;
                Some(dialect.begin(spoken)?)
            }
        };
        let (bytes, messages) = (Vec::new(), Vec::new());
        let mut begun = Self { seat, want, dialect, killed: false, bytes, messages };
        begun.push_message(&ToAgent::Hello(Box::new(hello(header, seat))));
        Ok(begun)
    }

    /// Adds the messages for the next event; `game` is the game after it.
    pub fn event(&mut self, event: &Event, game: &dyn AnyGame) {
        match event {
            Event::Turn(event) if event.seat == self.seat => {
                self.push_message(&ToAgent::Turn(request(game, &self.want, event.left_ms)));
            }
            Event::Played(event) => {
                let (turn, seat, used_ms) = (event.turn, event.seat, event.used_ms);
                let action = event.action.clone();
                self.push_message(&ToAgent::Played(Played { turn, seat, action, used_ms }));
            }
            Event::Retired(event) => {
                let (turn, seat, fault) = (event.turn, event.seat, event.fault.kind);
                self.killed |= seat == self.seat;
                self.push_message(&ToAgent::Retired(Retired { turn, seat, fault }));
            }
            Event::Over(event) => {
                let own = event.verdict.seats.get(self.seat.index());
                self.killed |= own.is_some_and(|own| own.fault.is_some());
                let message = over(event.outcome.clone(), event.verdict.clone());
                self.push_message(&ToAgent::Over(Box::new(message)));
            }
            // A codec's next command depends on the agent's reply.
            Event::Line(event) if event.seat == self.seat && !event.cut => {
                if let Some(dialect) = &mut self.dialect {
                    dialect.on_line(&line_bytes(event));
                    dialect.take_output(&mut self.bytes);
                }
            }
            _ => {}
        }
    }

    /// Takes the bytes since the last call: whole lines.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes the messages since the last call, before any codec.
    pub fn take_messages(&mut self) -> Vec<ToAgent> {
        std::mem::take(&mut self.messages)
    }

    fn push_message(&mut self, message: &ToAgent) {
        if self.killed {
            return;
        }
        self.messages.push(message.clone());
        if let Some(dialect) = &mut self.dialect {
            dialect.on_message(message);
            return dialect.take_output(&mut self.bytes);
        }
        message.write_json(&mut self.bytes);
        self.bytes.push(b'\n');
    }
}
