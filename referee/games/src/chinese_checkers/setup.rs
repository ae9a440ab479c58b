//! The setup and the position.

use super::CellSet;
use super::star::{SIZES, Star};
use crate::Illegal;
use crate::setup_fields::{check_limit, check_range};
use referee_protocol::Seat;
use serde::{Deserialize, Serialize};

/// How far a jump may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jumps {
    /// Over a marble at any distance, landing as far behind it (the ACM's rule).
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
    /// Anything that may happen elsewhere.
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
    /// Its target is full, and at least one marble there is its own, so an opponent can't prevent it
    /// by leaving a marble behind.
    Filled,
}

/// The setup of a game. Source: ACM Chinese Checkers competition rules (1997); the switches allow
/// the variants of other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// The number of seats: 2, 3, 4 or 6.
    pub seats: u64,
    /// The rows of one point of the star, 2 to 5.
    pub size: u64,
    /// How far a jump may go.
    pub jumps: Jumps,
    /// What may happen in neutral zones.
    pub neutral: Neutral,
    /// When a seat is home.
    pub win: Win,
    /// The number of turns, over all seats, after which the game is a draw: 1 to 1000000.
    pub max_turns: u64,
    /// The position to start from instead of the usual one.
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
    /// Turns so far, over all seats, skipped turns included.
    pub turn: u64,
    /// The number of passes in a row up to now.
    #[serde(default)]
    pub passes: u64,
    /// The retired seats; only with three or more seats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<Vec<Seat>>,
}

impl Setup {
    /// Returns an error if a field is out of range.
    pub(super) fn check(&self) -> Result<(), Illegal> {
        let Self { seats, size, max_turns, .. } = self;
        if !matches!(seats, 2 | 3 | 4 | 6) {
            return Err(Illegal::new(format!("`seats` must be 2, 3, 4 or 6, not {seats}")));
        }
        check_range("size", *size, SIZES)?;
        check_limit("max_turns", *max_turns)
    }

    /// Returns the points on which the seats start, by seat; a seat's target is the opposite point.
    pub fn starts(&self) -> &'static [usize] {
        match self.seats {
            2 => &[0, 3],
            3 => &[0, 2, 4],
            4 => &[1, 2, 4, 5],
            _ => &[0, 1, 2, 3, 4, 5],
        }
    }
}

/// A position's checked lists as sets.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) marbles: [CellSet; 6],
    pub(super) retired: [bool; 6],
}

impl Position {
    /// Checks the position against its setup, sorts its lists and returns them as sets.
    pub(super) fn place(&mut self, seats: usize, star: &Star) -> Result<Placed, Illegal> {
        let illegal = |rule: String| Err(Illegal::new(format!("position: {rule}")));
        if self.marbles.len() != seats {
            let lists = self.marbles.len();
            return illegal(format!("`marbles` has {lists} lists for {seats} seats"));
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
            return illegal("`retired` is only for games of three or more seats".to_owned());
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
                "`passes` is {}, but {left} seats had {} turns so far",
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
            let cell = match star.find(number) {
                Ok(cell) => cell,
                Err(rule) => return illegal(rule.to_string()),
            };
            if taken.contains(cell) {
                return illegal(format!("two marbles are on {number}"));
            }
            taken.insert(cell);
            marbles[seat].insert(cell);
        }
        numbers.sort_unstable();
    }
    Ok(marbles)
}
