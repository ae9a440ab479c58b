//! What an agent was written, made again from the transcript: the same bytes that its stdin got.

use super::walk::Walk;
use crate::{hello, over, request};
use referee_games::{AnyGame, Dialect};
use referee_protocol::{Event, Header, Played, Retired, Seat, ToAgent, Want, line_bytes};

/// What one agent was written, while somebody walks over the match.
///
/// ```text
/// let mut sent = Sent::begin(&walk, seat)?;   // `hello` is there
/// for event in reading {
///     walk.event(&event)?;
///     sent.event(&event, walk.game());
///     stdin.write_all(&sent.take())?;
/// }
/// ```
///
/// A message is made when it was put on its way, which is at the latest with the next request: an
/// agent may have read it a little later, and one that stopped reading never did. A person is
/// written nothing, but would be made the same messages.
#[derive(Debug)]
pub struct Sent {
    /// Whose lines they are.
    pub(super) seat: Seat,
    want: Vec<Want>,
    /// The codec, where the agent speaks another protocol than the referee's own.
    dialect: Option<Box<dyn Dialect>>,
    /// It was killed for a fault, and nothing is written any more.
    killed: bool,
    bytes: Vec<u8>,
    /// The messages since the last time.
    messages: Vec<ToAgent>,
}

/// The bytes that were written to a seat up to the request of `turn`, that included; all of them
/// without one, or where the seat was never asked for that turn. Fails where the transcript isn't
/// one that this referee wrote.
pub fn sent<'a>(
    header: &Header,
    seat: Seat,
    events: impl IntoIterator<Item = &'a Event>,
    turn: Option<u64>,
) -> Result<Vec<u8>, String> {
    let mut walk = Walk::begin(header.clone()).map_err(|error| error.to_string())?;
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
    /// The beginning of a match, as the agent of `seat` is told it.
    pub fn begin(walk: &Walk, seat: Seat) -> Result<Self, String> {
        let header = walk.header();
        let listed = header.seats.get(seat.index());
        let listed = listed.ok_or_else(|| format!("there is no seat {seat}"))?;
        let want = listed.ready.as_ref().map(|ready| ready.want.clone()).unwrap_or_default();
        let dialect = match &listed.protocol {
            None => None,
            Some(spoken) => {
                let dialect = walk.game().kind().dialect(&spoken.name).ok_or_else(|| {
                    format!("the line protocol `{}` is unknown here", spoken.name)
                })?;
                Some(dialect.begin(spoken)?)
            }
        };
        let (bytes, messages) = (Vec::new(), Vec::new());
        let mut begun = Self { seat, want, dialect, killed: false, bytes, messages };
        begun.tell(&ToAgent::Hello(Box::new(hello(header, seat))));
        Ok(begun)
    }

    /// The next event of the match, and the game after it.
    pub fn event(&mut self, event: &Event, game: &dyn AnyGame) {
        match event {
            Event::Turn(event) if event.seat == self.seat => {
                self.tell(&ToAgent::Turn(request(game, &self.want, event.left_ms)));
            }
            Event::Played(event) => {
                let (turn, seat, used_ms) = (event.turn, event.seat, event.used_ms);
                let action = event.action.clone();
                self.tell(&ToAgent::Played(Played { turn, seat, action, used_ms }));
            }
            Event::Retired(event) => {
                let (turn, seat, fault) = (event.turn, event.seat, event.fault.kind);
                self.killed |= seat == self.seat;
                self.tell(&ToAgent::Retired(Retired { turn, seat, fault }));
            }
            Event::Over(event) => {
                let own = event.verdict.seats.get(self.seat.index());
                self.killed |= own.is_some_and(|own| own.fault.is_some());
                let message = over(event.outcome.clone(), event.verdict.clone());
                self.tell(&ToAgent::Over(Box::new(message)));
            }
            // What was heard decides what is said next.
            Event::Line(event) if event.seat == self.seat && !event.cut => {
                if let Some(dialect) = &mut self.dialect {
                    dialect.on_line(&line_bytes(event));
                    dialect.take_output(&mut self.bytes);
                }
            }
            _ => {}
        }
    }

    /// The bytes since the last time: whole lines.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The messages since the last time, whatever line protocol they are put into.
    pub fn take_messages(&mut self) -> Vec<ToAgent> {
        std::mem::take(&mut self.messages)
    }

    fn tell(&mut self, message: &ToAgent) {
        if self.killed {
            return;
        }
        self.messages.push(message.clone());
        if let Some(dialect) = &mut self.dialect {
            dialect.on_message(message);
            return dialect.take_output(&mut self.bytes);
        }
        serde_json::to_writer(&mut self.bytes, message)
            .expect("memory takes all bytes, and messages have string keys only");
        self.bytes.push(b'\n');
    }
}
