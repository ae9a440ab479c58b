//! A turn of a recorded match, or the start of an agent: what `debug` looks at.

use super::unreadable;
use referee_games::AnyGame;
use referee_match::transcript::walk;
use referee_process::Failure;
use referee_protocol::{Event, Header, Seat};

/// More seats than any game has.
const SEATS_MAX: u64 = 6;

/// A transcript, and the turn in it.
#[derive(Debug)]
pub struct Case {
    /// What the match was played under.
    pub header: Header,
    /// Its events.
    pub events: Vec<Event>,
    /// Whose turn.
    pub seat: Seat,
    /// The turn; the agent's start where it is `None`.
    pub turn: Option<u64>,
    /// The game when the seat was asked.
    pub game: Box<dyn AnyGame>,
    /// What the seat had left then, in milliseconds, if it had a bank.
    pub left_ms: Option<u64>,
}

impl Case {
    /// Reads a transcript. Without a seat it is the one that was at fault, or the only one; without
    /// a turn the seat's last one, and with one of another seat the one before it.
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
        let mut left_ms = None;
        while let Some(event) = again.step().map_err(|error| unreadable(file, &error))? {
            if let Event::Turn(asked) = event
                && Some(asked.turn) == turn
            {
                left_ms = asked.left_ms;
                break;
            }
        }
        let game = again.walk().game().clone_box();
        Ok(Self { header, events, seat, turn, game, left_ms })
    }
}

/// The seat that is named, else the one that was at fault, else the only one.
fn chosen(wanted: Option<usize>, seats: usize, events: &[Event]) -> Result<Seat, Failure> {
    if let Some(wanted) = wanted {
        return Seat::all(seats).nth(wanted).ok_or_else(|| {
            Failure::usage(format!("--seat {wanted}: there are the seats 0 to {}", seats - 1))
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
        Failure::usage("no seat was at fault in this match: say which one is meant")
            .help("--seat 0")
    })
}

/// The turn of the seat that is wanted, or its last one before that: a fault may happen in the
/// turn of another.
fn turn_before(wanted: u64, seat: Seat, turns: &[u64]) -> Result<u64, Failure> {
    // The other seats may have been asked up to as many times between two turns.
    let (Some(&first), Some(&last)) = (turns.first(), turns.last()) else {
        return Err(Failure::usage(format!("--turn {wanted}: seat {seat} was never asked"))
            .help("without --turn its start is shown"));
    };
    let found = turns.iter().copied().rfind(|&turn| turn <= wanted);
    found.filter(|_| wanted <= last.saturating_add(SEATS_MAX)).ok_or_else(|| {
        Failure::usage(format!("--turn {wanted}: seat {seat} was not asked then"))
            .help(format!("its first turn is {first}, its last {last}"))
    })
}
