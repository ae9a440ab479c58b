//! The recorded turn, or start of an agent, that `debug` replays.

use super::unreadable;
use referee_games::AnyGame;
use referee_match::transcript::walk;
use referee_process::Failure;
use referee_protocol::plain::sanitize;
use referee_protocol::{Event, Header, Seat};

/// A turn of a recorded match.
#[derive(Debug)]
pub struct Case {
    /// The header of the transcript.
    pub header: Header,
    /// All events of the transcript.
    pub events: Vec<Event>,
    /// The seat to move.
    pub seat: Seat,
    /// The turn; `None` for the agent's start.
    pub turn: Option<u64>,
    /// The game at that turn.
    pub game: Box<dyn AnyGame>,
}

impl Case {
    /// Reads a turn from a transcript. `seat` is a number or an agent's name; the default is the seat that
    /// moved in the given turn, else the one at fault, else the only one. The default turn is the seat's
    /// last one. For a turn of another seat, takes the seat's turn before it, or its start.
    pub fn read(
        bytes: &[u8],
        file: &str,
        seat: Option<&str>,
        turn: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut steps = walk(bytes).map_err(|error| unreadable(file, &error))?;
        let mut events = Vec::new();
        while let Some(event) = steps.step().map_err(|error| unreadable(file, &error))? {
            events.push(event);
        }
        let header = steps.walk().header().clone();
        let asked = events.iter().filter_map(|event| match event {
            Event::Turn(turn) => Some((turn.turn, turn.seat)),
            _ => None,
        });
        let asked: Vec<(u64, Seat)> = asked.collect();
        let moved = turn.and_then(|wanted| asked.iter().find(|(turn, _)| *turn == wanted));
        let seat = match (seat, moved) {
            (Some(wanted), _) => named_seat(wanted, &header)?,
            (None, Some((_, seat))) => *seat,
            (None, None) => default_seat(&header, &events)?,
        };
        let turn = last_turn(turn, seat, &asked)?;
        let mut again = walk(bytes).map_err(|error| unreadable(file, &error))?;
        while let Some(event) = again.step().map_err(|error| unreadable(file, &error))? {
            if let Event::Turn(asked) = event
                && Some(asked.turn) == turn
            {
                break;
            }
        }
        let game = again.walk().game().clone_box();
        Ok(Self { header, events, seat, turn, game })
    }
}

/// Returns the seat with this number, or of the agent with this name.
fn named_seat(wanted: &str, header: &Header) -> Result<Seat, Failure> {
    let mut seats = header.seats.iter();
    let number = wanted.parse::<usize>().ok();
    let found = match number {
        Some(number) => seats.nth(number),
        None => seats.find(|seat| seat.name == wanted),
    };
    found.map(|seat| seat.seat).ok_or_else(|| {
        let all =
            header.seats.iter().map(|seat| format!("{} ({})", seat.seat, sanitize(&seat.name)));
        let all: Vec<String> = all.collect();
        Failure::usage(format!("--seat {wanted}: the seats are {}", all.join(", ")))
    })
}

/// Returns the seat at fault, else the only one.
fn default_seat(header: &Header, events: &[Event]) -> Result<Seat, Failure> {
    let faulty = events.iter().find_map(|event| match event {
        Event::Retired(event) => Some(event.seat),
        Event::Over(event) => {
            event.verdict.seats.iter().find(|seat| seat.fault.is_some()).map(|seat| seat.seat)
        }
        _ => None,
    });
    let seats = header.seats.len();
    faulty.or((seats == 1).then_some(Seat(0))).ok_or_else(|| {
        Failure::usage("no agent was at fault in this match, so a seat or a turn is needed")
            .help(format!("add --turn N, or --seat N where N is 0 to {}", seats - 1))
    })
}

/// Returns the wanted turn, or the seat's last turn before it: a fault may happen in another seat's turn.
/// `None` is the seat's start.
fn last_turn(
    wanted: Option<u64>,
    seat: Seat,
    asked: &[(u64, Seat)],
) -> Result<Option<u64>, Failure> {
    let last = asked.last().map_or(0, |&(turn, _)| turn);
    // A fault after the last turn is recorded with the number of the next one.
    if let Some(wanted) = wanted.filter(|&wanted| wanted > last + 1) {
        return Err(Failure::usage(format!(
            "--turn {wanted}: the last turn of the match is {last}"
        )));
    }
    let wanted = wanted.unwrap_or(last);
    Ok(asked.iter().rfind(|&&(turn, mover)| mover == seat && turn <= wanted).map(|&(turn, _)| turn))
}
