//! How well a player stands, for simple agents: how far its frogs have come against the other's,
//! and how far they could come with one more move.

use super::cells::{self, Cells, OPPOSITE};
use super::{Board, bulk};
use crate::board::Cell;

/// What one step on the way is worth.
const STEP: i64 = 20;
/// What each frog across is worth beyond its way.
const ACROSS: i64 = 30;
/// What each step of the move that brings its frog furthest is worth.
const BEST_MOVE: i64 = 25;
/// What each step of every frog's furthest move is worth; so growth pays where pads are lacking.
const EACH_MOVE: i64 = 16;

/// As [`Game::estimate`](crate::Game::estimate): the player's standing less the other's.
pub(super) fn estimate(board: &Board, seat: usize) -> i64 {
    standing(board, seat) - standing(board, seat ^ 1)
}

fn standing(board: &Board, seat: usize) -> i64 {
    let goals = OPPOSITE[seat] & !board.frogs[seat];
    let board = &Board { mover: seat, ..*board };
    let mut sum = ACROSS * i64::from(board.across(seat));
    let mut best = 0;
    for frog in cells::members(board.frogs[seat] & !OPPOSITE[seat]) {
        let away = distance(frog, goals, seat);
        // The square: stragglers count most, because the game isn't won without them.
        sum -= STEP * away + away * away;
        let ends = cells::members(bulk::ends(board, cells::only(frog)));
        let nearest = ends.map(|end| distance(end, goals, seat)).min();
        let gained = nearest.map_or(0, |nearest| (away - nearest).max(0));
        sum += EACH_MOVE * gained;
        best = best.max(gained);
    }
    sum + BEST_MOVE * best
}

/// The steps from a cell to the nearest of a player's free goal cells, as if pads were everywhere.
fn distance(cell: Cell, goals: Cells, seat: usize) -> i64 {
    let rows = if seat == 0 { 7 - cell.0 } else { cell.0 };
    let to_goal = |goal: Cell| i64::from(rows.max((goal.1 - cell.1).abs()));
    cells::members(goals).map(to_goal).min().unwrap_or(8)
}
