//! The position's estimate for simple agents: how far each player's frogs are, and how far they
//! could get with one more move.

use super::cells::{self, Cells, OPPOSITE, WAYS, shift};
use super::{Board, Landing};
use crate::board::Cell;

/// The value of one step forward.
const STEP: i64 = 20;
/// The additional value of each frog across.
const ACROSS: i64 = 30;
/// The value of each step of the move that gets furthest.
const BEST_MOVE: i64 = 25;
/// The value of each step of every frog's furthest move; makes growth worth it where pads are
/// missing.
const EACH_MOVE: i64 = 16;

/// As [`Game::estimate`](crate::Game::estimate): the player's score minus the other's.
pub(super) fn estimate(board: &Board, seat: usize) -> i64 {
    score(board, seat) - score(board, seat ^ 1)
}

fn score(board: &Board, seat: usize) -> i64 {
    let goals = OPPOSITE[seat] & !board.frogs[seat];
    let board = &Board { mover: seat, ..*board };
    let mut sum = ACROSS * i64::from(board.across(seat));
    let mut best = 0;
    for frog in cells::members(board.frogs[seat] & !OPPOSITE[seat]) {
        let away = distance(frog, goals, seat);
        // The square makes stragglers count most: the game isn't won without them.
        sum -= STEP * away + away * away;
        let ends = cells::members(ends(board, cells::only(frog)));
        let nearest = ends.map(|end| distance(end, goals, seat)).min();
        let gained = nearest.map_or(0, |nearest| (away - nearest).max(0));
        sum += EACH_MOVE * gained;
        best = best.max(gained);
    }
    sum + BEST_MOVE * best
}

/// Returns the steps from a cell to the nearest of a player's free goal cells, as if pads were
/// everywhere.
fn distance(cell: Cell, goals: Cells, seat: usize) -> i64 {
    let rows = if seat == 0 { 7 - cell.0 } else { cell.0 };
    let to_goal = |goal: Cell| i64::from(rows.max((goal.1 - cell.1).abs()));
    cells::members(goals).map(to_goal).min().unwrap_or(8)
}

/// Returns the cells on which a move of this frog of the mover may end: those of
/// [`Routes`](super::routes::Routes), without the paths.
fn ends(board: &Board, from: Cells) -> Cells {
    let frogs = board.all_frogs();
    let around = |set: Cells| WAYS[board.mover].map(|way| (shift(set, way), way));
    let steps = around(from).iter().fold(0, |all, &(next, _)| all | next);
    let mut open = match board.landing {
        Landing::Last => !frogs,
        Landing::Every => board.pads,
    };
    let (mut reached, mut latest) = (0, from);
    while latest != 0 {
        let behind = |all, (next, way)| all | shift(next & frogs, way);
        latest = around(latest).into_iter().fold(0, behind) & open;
        open &= !latest;
        reached |= latest;
    }
    (steps | reached) & board.pads
}
