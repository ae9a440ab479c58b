//! Fast perft: counts whole sets of cells by shifting them, and most of the last two plies without
//! playing them.

use super::cells::{Cells, OPPOSITE, WAYS, shift};
use super::{Board, Freckers, Landing};
use crate::bits::{add, singles};

/// As [`Game::perft`](crate::Game::perft).
pub(super) fn perft(game: &Freckers, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    // The turn limit ends every longer sequence.
    if game.is_over() || depth > game.setup.turn_limit - game.turn {
        return 0;
    }
    count(&game.board, depth)
}

/// Counts the sequences of `depth` actions, at least one, from a board whose game isn't over.
fn count(board: &Board, depth: u32) -> u64 {
    if depth == 1 {
        return count_actions(board);
    }
    let mut grown = *board;
    grown.grow();
    if depth == 2 {
        return last_two(board) + count_actions(&grown);
    }
    let mut sum = count(&grown, depth - 1);
    for from in singles(board.frogs[board.mover]) {
        for to in singles(ends(board, from)) {
            if let Some(next) = after(board, from, to) {
                sum += count(&next, depth - 1);
            }
        }
    }
    sum
}

/// Counts the sequences of a move and any action of the other player.
///
/// A move between cells that the other player's actions don't depend on leaves their number
/// unchanged. Such moves are counted together; only the rest are played.
fn last_two(board: &Board) -> u64 {
    let own = board.frogs[board.mover];
    let goal = OPPOSITE[board.mover];
    let other = Board { mover: board.mover ^ 1, ..*board };
    let unchanged = count_actions(&other);
    let dependencies = dependencies(&other);
    // Only a move of the last frog outside the goal can win and end the game.
    let may_win = (own & !goal).count_ones() <= 1;
    let mut sum = 0;
    for from in singles(own) {
        let ends = ends(board, from);
        let near = if may_win || from & dependencies != 0 { ends } else { ends & dependencies };
        sum += u64::from((ends & !near).count_ones()) * unchanged;
        for to in singles(near) {
            sum += after(board, from, to).map_or(0, |next| count_actions(&next));
        }
    }
    sum
}

/// Returns the board after a move; `None` if the move wins.
fn after(board: &Board, from: Cells, to: Cells) -> Option<Board> {
    let mut next = *board;
    next.go(from, to);
    (next.frogs[board.mover] & !OPPOSITE[board.mover] != 0).then_some(next)
}

/// Counts the mover's actions: the distinct pairs of a frog and an end, and growth.
fn count_actions(board: &Board) -> u64 {
    let own = board.frogs[board.mover];
    let ways = WAYS[board.mover];
    let steps = ways.map(|way| shift(own, way) & board.pads);
    // Added bit by bit into ones, twos and fours, so that only three words are counted: not
    // every baseline processor has an instruction for it.
    let (ones, twos_a) = add(steps[0], steps[1], steps[2]);
    let (ones, twos_b) = add(ones, steps[3], steps[4]);
    let (twos, fours) = (twos_a ^ twos_b, twos_a & twos_b);
    let mut count = ones.count_ones() + 2 * twos.count_ones() + 4 * fours.count_ones();
    for from in singles(jumpers(board)) {
        count += (landings(board, from) & board.pads).count_ones();
    }
    u64::from(count + 1)
}

/// Returns the cells on which a move of this frog of the mover may end.
pub(super) fn ends(board: &Board, from: Cells) -> Cells {
    let steps = WAYS[board.mover].iter().fold(0, |all, &way| all | shift(from, way));
    (steps | landings(board, from)) & board.pads
}

/// Returns the mover's frogs that can jump.
fn jumpers(board: &Board) -> Cells {
    let frogs = board.frogs[0] | board.frogs[1];
    let open = open(board);
    let own = board.frogs[board.mover];
    let mut found = 0;
    for way in WAYS[board.mover] {
        let back = way.back();
        found |= shift(shift(open, back) & frogs, back);
    }
    found & own
}

/// Returns the cells that a frog can reach by jumps.
fn landings(board: &Board, from: Cells) -> Cells {
    let frogs = board.frogs[0] | board.frogs[1];
    let mut open = open(board);
    let (mut reached, mut latest) = (0, from);
    while latest != 0 {
        let behind = |all, &way| all | shift(shift(latest, way) & frogs, way);
        latest = WAYS[board.mover].iter().fold(0, behind) & open;
        open &= !latest;
        reached |= latest;
    }
    reached
}

/// Returns the cells on which a jump may land.
fn open(board: &Board) -> Cells {
    match board.landing {
        Landing::Last => !(board.frogs[0] | board.frogs[1]),
        Landing::Every => board.pads,
    }
}

/// Returns the cells on which the mover's actions depend: those next to where its frogs are or can
/// land, and behind the frogs there.
fn dependencies(board: &Board) -> Cells {
    let frogs = board.frogs[0] | board.frogs[1];
    let own = board.frogs[board.mover];
    // All frogs at once: which frog lands where doesn't matter here.
    let stops = own | landings(board, own);
    WAYS[board.mover].iter().fold(0, |all, &way| {
        let next = shift(stops, way);
        all | next | shift(next & frogs, way)
    })
}
