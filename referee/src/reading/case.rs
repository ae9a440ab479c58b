//! The recorded turn, or start of an agent, that `debug` replays.

use super::unreadable;
use referee_games::AnyGame;
use referee_match::transcript::walk;
use referee_process::Failure;
use referee_protocol::{Event, Header, Seat};

/// No game has more seats.
const SEATS_MAX: u64 = 6;

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
    /// Reads a turn from a transcript. The default seat is the one at fault, or the only one; the default
    /// turn is the seat's last one. For a turn of another seat, takes the seat's turn before it.
    pub fn read(
        bytes: &[u8],
        file: &str,
        seat: Option<usize>,
        turn: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut steps = walk(bytes).map_err(|error| unreadable(file, &error))?;
        let mut events = Vec::new();
        while let Some(event) = steps.step().map_err(|error| unreadable(file, &error))? {
            events.push(event);
        }
        let header = steps.walk().header().clone();
        let seat = chosen(seat, header.seats.len(), &events)?;
        let turn_of = |event: &Event| match event {
            Event::Turn(turn) if turn.seat == seat => Some(turn.turn),
            _ => None,
        };
        let turns: Vec<u64> = events.iter().filter_map(turn_of).collect();
        let turn = match turn {
            None => turns.last().copied(),
            Some(wanted) => Some(turn_before(wanted, seat, &turns)?),
        };
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

/// Returns the seat given, else the one at fault, else the only one.
fn chosen(wanted: Option<usize>, seats: usize, events: &[Event]) -> Result<Seat, Failure> {
    if let Some(wanted) = wanted {
        return Seat::all(seats).nth(wanted).ok_or_else(|| {
            Failure::usage(format!("--seat {wanted}: the seats are 0 to {}", seats - 1))
        });
    }
    let faulty = events.iter().find_map(|event| match event {
        Event::Retired(event) => Some(event.seat),
        Event::Over(event) => {
            event.verdict.seats.iter().find(|seat| seat.fault.is_some()).map(|seat| seat.seat)
        }
        _ => None,
    });
    faulty.or((seats == 1).then_some(Seat(0))).ok_or_else(|| {
        Failure::usage("no agent was at fault in this match, so a seat is needed")
            .help(format!("add --seat N, where N is 0 to {}", seats - 1))
    })
}

/// Returns the wanted turn, or the seat's last turn before it: a fault may happen in another seat's turn.
fn turn_before(wanted: u64, seat: Seat, turns: &[u64]) -> Result<u64, Failure> {
    let (Some(&first), Some(&last)) = (turns.first(), turns.last()) else {
        return Err(Failure::usage(format!("--turn {wanted}: seat {seat} had no turns"))
            .help("remove --turn to replay its start"));
    };
    let found = turns.iter().copied().rfind(|&turn| turn <= wanted);
    found.filter(|_| wanted <= last.saturating_add(SEATS_MAX)).ok_or_else(|| {
        Failure::usage(format!("--turn {wanted}: seat {seat} did not move then"))
            .help(format!("its first turn is {first}, its last turn {last}"))
    })
}
