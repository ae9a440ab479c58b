//! The setup, the position, and their checks.

use super::action::name_of;
use super::board::Board;
use crate::Illegal;
use crate::setup_fields::{check_range, deserialize_some};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use strum::{Display, IntoStaticStr};

/// The possible numbers of rows.
const SIZES: RangeInclusive<i64> = 3..=26;
/// The default board size.
const SIZE_DEFAULT: i64 = 11;

/// One of the two sides, by the colour of its stones. Black connects column 0 with the last column,
/// red row 0 with the last row (Board Games on Hexagonal Grids, section 4.1, as drawn).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Side {
    /// Owns the north-western and the south-eastern border.
    #[default]
    Black,
    /// Owns the north-eastern and the south-western border.
    Red,
}

impl Side {
    /// Returns the other side.
    pub fn other(self) -> Self {
        match self {
            Self::Black => Self::Red,
            Self::Red => Self::Black,
        }
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The second player's possible answer to a strong first stone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Swap {
    /// Nothing.
    #[default]
    None,
    /// Take the stone over: the stone at (r,c) becomes one of the second player's colour at (c,r).
    Pieces,
    /// Exchange colours with the first player; the stone stays.
    Sides,
}

/// A setup. Integers are wide, so that a value out of range has a clear error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawSetup")]
pub struct Setup {
    /// The rows and columns, 3 to 26. Defaults to the position's, or else 11.
    pub size: i64,
    /// The colour of seat 0, which moves first. Defaults to the position's, or else black.
    pub first: Side,
    /// Whether and how the second player may swap.
    pub swap: Swap,
    /// The position to start from instead of the empty board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A setup as written: every field is optional.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawSetup {
    #[serde(deserialize_with = "deserialize_some")]
    size: Option<i64>,
    #[serde(deserialize_with = "deserialize_some")]
    first: Option<Side>,
    swap: Swap,
    #[serde(deserialize_with = "deserialize_some")]
    position: Option<Position>,
}

impl From<RawSetup> for Setup {
    fn from(raw: RawSetup) -> Self {
        let of_position = raw.position.as_ref().map(|position| position.size);
        let size = raw.size.or(of_position).unwrap_or(SIZE_DEFAULT);
        // If sides may have been exchanged, the position doesn't show who began with which.
        let begun = raw.position.as_ref().filter(|_| raw.swap != Swap::Sides);
        let begun = begun.map(|position| position.colours[0]);
        let first = raw.first.or(begun).unwrap_or_default();
        Self { size, first, swap: raw.swap, position: raw.position }
    }
}

impl Setup {
    /// Returns the colours of seats 0 and 1 at the start.
    pub(super) fn colours(&self) -> [Side; 2] {
        let usual = [self.first, self.first.other()];
        self.position.as_ref().map_or(usual, |position| position.colours)
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::from(RawSetup::default())
    }
}

/// The position as in `turn.position` and `setup.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The seat to move: `turn` mod 2.
    pub to_move: u8,
    /// The rows and columns.
    pub size: i64,
    /// The cells of the black and of the red stones, each list sorted.
    pub stones: [Vec<[i64; 2]>; 2],
    /// The colours of seats 0 and 1.
    pub colours: [Side; 2],
    /// Turns so far; a swap is one.
    pub turn: u64,
}

/// Returns the number of rows, if it is in range.
pub(super) fn size_of(setup: &Setup) -> Result<u8, Illegal> {
    check_range("size", setup.size, SIZES)?;
    Ok(u8::try_from(setup.size).expect("at most 26"))
}

/// Puts the position's stones on a board. Fails if no game under this setup can reach it.
pub(super) fn board_of(
    position: &Position,
    setup: &Setup,
    size: u8,
) -> Result<(Board, Option<Side>), Illegal> {
    let refused = |text: String| Illegal::new(format!("position: {text}"));
    if position.size != setup.size {
        let (own, other) = (position.size, setup.size);
        return Err(refused(format!("its size is {own}, but the setup has {other}")));
    }
    let [black, red] = &position.stones;
    check_consistent(position, setup).map_err(refused)?;
    let mut board = Board::new(size);
    let mut winner = None;
    for (side, stones) in [(Side::Black, black), (Side::Red, red)] {
        for &at in stones {
            let Some(index) = board.find(at) else {
                return Err(refused(format!("{} is off the board", name_of(at))));
            };
            if !board.is_empty(index) {
                return Err(refused(format!("{} is named twice", name_of(at))));
            }
            if board.place(index, side) {
                winner = Some(side);
            }
        }
    }
    Ok((board, winner))
}

/// Checks that turns, colours and numbers of stones are consistent.
fn check_consistent(position: &Position, setup: &Setup) -> Result<(), String> {
    let turn = position.turn;
    if u64::from(position.to_move) != turn % 2 {
        return Err(format!("in turn {turn} seat {} is to move", turn % 2));
    }
    let first = setup.first;
    let exchanged = match position.colours {
        [a, b] if a == b => return Err(format!("both seats have the colour {a}")),
        [a, _] => a != first,
    };
    if exchanged && setup.swap != Swap::Sides {
        return Err(format!("seat 0 has the colour {first}: no swap of sides is allowed"));
    }
    let [black, red] = position.stones.each_ref().map(|stones| stones.len() as u64);
    let [zeroth, other] = match position.colours[0] {
        Side::Black => [black, red],
        Side::Red => [red, black],
    };
    let placed = turn.div_ceil(2);
    let plain = zeroth == placed && !exchanged;
    // After a swap the first stone counts for seat 1, which used its first turn for that.
    let may_be_swapped = turn >= 2 && (exchanged || setup.swap == Swap::Pieces);
    let swapped = may_be_swapped && zeroth + 1 == placed;
    if other == turn / 2 && (plain || swapped) {
        return Ok(());
    }
    Err(format!("{black} black and {red} red stones can't be after {turn} turns"))
}
