//! What can be set before a game starts, and the position that it can start from.

use super::CellSet;
use super::star::{SIZES, Star};
use crate::Illegal;
use crate::setup_fields::check_range;
use referee_protocol::Seat;
use serde::{Deserialize, Serialize};

/// How far a jump may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jumps {
    /// Over a marble at any distance, as far behind it as it was away (the ACM's rule).
    #[default]
    Long,
    /// Only over a neighbouring marble.
    Adjacent,
}

/// What may happen in a neutral zone: a point that is neither the seat's start nor its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neutral {
    /// A turn may not end there; jumps may land there on the way (the ACM's rule).
    #[default]
    Pass,
    /// Everything that may happen elsewhere.
    Free,
    /// As `Pass`, and no jump may land there; a long jump may cross it.
    Closed,
}

/// When a seat is home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Win {
    /// All its marbles are in its target (the ACM's rule).
    #[default]
    Own,
    /// Its target is full, and at least one marble there is its own: nobody can spoil it by
    /// leaving a marble behind.
    Filled,
}

/// The setup of a game. Source: ACM Chinese Checkers competition rules (1997); the switches are
/// for what other programs play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// How many seats: 2, 3, 4 or 6.
    pub seats: u64,
    /// The rows of one point of the star, 2 to 5.
    pub size: u64,
    /// How far a jump may go.
    pub jumps: Jumps,
    /// What may happen in neutral zones.
    pub neutral: Neutral,
    /// When a seat is home.
    pub win: Win,
    /// Turns over all seats, 1 to 1000000, after which the game is drawn.
    pub max_turns: u64,
    /// Where to start from, if not from the usual start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seats: 2,
            size: 4,
            jumps: Jumps::default(),
            neutral: Neutral::default(),
            win: Win::default(),
            max_turns: 1000,
            position: None,
        }
    }
}

/// A position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Whose turn it is.
    pub to_move: Seat,
    /// The numbers of the positions of each seat's marbles, by seat; each list sorted, and at most
    /// as long as a point has positions.
    pub marbles: Vec<Vec<u64>>,
    /// Turns so far, over all seats, passed-over turns included.
    pub turn: u64,
    /// How many of them were passes in a row, at the end.
    #[serde(default)]
    pub passes: u64,
    /// The seats that are out; only with three seats and more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<Vec<Seat>>,
}

impl Setup {
    /// Says which field is out of its range.
    pub(super) fn check(&self) -> Result<(), Illegal> {
        let Self { seats, size, max_turns, .. } = self;
        if !matches!(seats, 2 | 3 | 4 | 6) {
            return Err(Illegal::new(format!("`seats` must be 2, 3, 4 or 6, not {seats}")));
        }
        check_range("size", *size, SIZES)?;
        check_range("max_turns", *max_turns, 1..=1_000_000)
    }

    /// The points on which the seats start, by seat; a seat's target is the opposite point.
    pub fn starts(&self) -> &'static [usize] {
        match self.seats {
            2 => &[0, 3],
            3 => &[0, 2, 4],
            4 => &[1, 2, 4, 5],
            _ => &[0, 1, 2, 3, 4, 5],
        }
    }
}

/// A position's lists, checked and as sets.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) marbles: [CellSet; 6],
    pub(super) retired: [bool; 6],
}

impl Position {
    /// Checks the position against the setup that it is part of, and sorts its lists.
    pub(super) fn place(&mut self, seats: usize, star: &Star) -> Result<Placed, Illegal> {
        let illegal = |rule: String| Err(Illegal::new(format!("position: {rule}")));
        if self.marbles.len() != seats {
            let lists = self.marbles.len();
            return illegal(format!("`marbles` has {lists} lists, and there are {seats} seats"));
        }
        let marbles = place_marbles(&mut self.marbles, star)?;
        let mut retired = [false; 6];
        for seat in self.retired.iter().flatten() {
            if seat.index() >= seats || seats == 2 {
                return illegal(format!("seat {seat} can't be retired in a game of {seats} seats"));
            }
            if std::mem::replace(&mut retired[seat.index()], true) {
                return illegal(format!("seat {seat} is retired twice"));
            }
        }
        if seats == 2 && self.retired.is_some() {
            return illegal("`retired` belongs to games of three seats and more".to_owned());
        }
        self.retired =
            (seats > 2).then(|| Seat::all(seats).filter(|seat| retired[seat.index()]).collect());
        let to_move = self.to_move;
        if to_move.index() >= seats {
            return illegal(format!("there is no seat {to_move} to move"));
        }
        if retired[to_move.index()] {
            return illegal(format!("seat {to_move} is retired and can't be to move"));
        }
        let left = retired[..seats].iter().filter(|&&retired| !retired).count() as u64;
        if self.passes > left || self.passes > self.turn {
            return illegal(format!(
                "`passes` is {}, and {left} seats had {} turns so far",
                self.passes, self.turn
            ));
        }
        Ok(Placed { marbles, retired })
    }
}

fn place_marbles(lists: &mut [Vec<u64>], star: &Star) -> Result<[CellSet; 6], Illegal> {
    let illegal = |rule: String| Err(Illegal::new(format!("position: {rule}")));
    let camp = star.point(0).len();
    let mut marbles = [CellSet::EMPTY; 6];
    let mut taken = CellSet::EMPTY;
    for (seat, numbers) in lists.iter_mut().enumerate() {
        if numbers.is_empty() || numbers.len() > camp {
            let count = numbers.len();
            return illegal(format!("seat {seat} must have 1 to {camp} marbles, not {count}"));
        }
        for &number in numbers.iter() {
            let Some(cell) = i64::try_from(number).ok().and_then(|number| star.index(number))
            else {
                let last = star.cells.len();
                return illegal(format!("positions are numbered 1 to {last}, so not {number}"));
            };
            if taken.contains(cell) {
                return illegal(format!("two marbles stand on {number}"));
            }
            taken.insert(cell);
            marbles[seat].insert(cell);
        }
        numbers.sort_unstable();
    }
    Ok(marbles)
}
