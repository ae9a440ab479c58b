//! Fast perft: counts whole sets of hexes by shifting them, and most of the last two plies without
//! playing them.

use super::hexes::{self, ALL, Hexes, WAYS};
use super::{Chexers, SEATS, go};
use crate::Game;
use crate::bits::{add, singles};
use crate::game::sum_over;

/// As [`Game::perft`].
pub(super) fn perft(game: &Chexers, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if game.outcome.is_some() {
        return 0;
    }
    if depth == 1 {
        return count_actions(game.pieces, game.mover());
    }
    if may_repeat(game, depth) {
        // The slow way: compares every position with the earlier ones.
        return sum_over(game, &game.actions(), |next| perft(next, depth - 1));
    }
    let counter = Counter {
        exits_max: game.setup.exits,
        turns_max: game.setup.turns_max(),
        retired: game.retired,
    };
    counter.count(&Node { pieces: game.pieces, exits: game.exits, turn: game.turn }, depth, None)
}

/// Returns whether a position could occur often enough for a draw before the last of `depth`
/// actions. With `left` seats, a position can recur at most every `left` actions.
fn may_repeat(game: &Chexers, depth: u32) -> bool {
    let left = game.retired.iter().filter(|&&retired| !retired).count();
    let on_the_way = (depth as usize - 1).div_ceil(left.max(1));
    game.history.most() + on_the_way >= game.setup.repetitions as usize
}

/// Returns whether the seat has an action other than a pass.
pub(super) fn has_action(pieces: [Hexes; SEATS], seat: usize) -> bool {
    let [own, occupied, empty] = split(pieces, seat);
    if own & hexes::EXITS[seat] != 0 || hexes::around(own) & empty != 0 {
        return true;
    }
    WAYS.iter().any(|&way| jumpers(own, occupied, empty, way) != 0)
}

/// Returns the seat's pieces, all pieces, and the empty hexes.
fn split(pieces: [Hexes; SEATS], seat: usize) -> [Hexes; 3] {
    let occupied = pieces[0] | pieces[1] | pieces[2];
    [pieces[seat], occupied, ALL & !occupied]
}

/// Returns the pieces of a set that can step that way.
fn movers(own: Hexes, empty: Hexes, way: u32) -> Hexes {
    own & empty.rotate_right(way)
}

/// Returns the pieces of a set that can jump that way.
fn jumpers(own: Hexes, occupied: Hexes, empty: Hexes, way: u32) -> Hexes {
    own & (occupied & empty.rotate_right(way)).rotate_right(way)
}

/// Counts the seat's actions; a pass is one.
fn count_actions(pieces: [Hexes; SEATS], seat: usize) -> u64 {
    let [own, occupied, empty] = split(pieces, seat);
    let moves = WAYS.map(|way| movers(own, empty, way));
    let jumps = WAYS.map(|way| jumpers(own, occupied, empty, way));
    // Thirteen sets, added bit by bit into ones, twos, fours and eights, so that only four words
    // are counted: not every baseline processor has an instruction for it.
    let (ones, twos_a) = add(moves[0], moves[1], moves[2]);
    let (ones, twos_b) = add(ones, moves[3], moves[4]);
    let (ones, twos_c) = add(ones, moves[5], own & hexes::EXITS[seat]);
    let (ones, twos_d) = add(ones, jumps[0], jumps[1]);
    let (ones, twos_e) = add(ones, jumps[2], jumps[3]);
    let (ones, twos_f) = add(ones, jumps[4], jumps[5]);
    let (twos, fours_a) = add(twos_a, twos_b, twos_c);
    let (twos, fours_b) = add(twos, twos_d, twos_e);
    let (twos, fours_c) = (twos ^ twos_f, twos & twos_f);
    let (fours, eights) = add(fours_a, fours_b, fours_c);
    let count = ones.count_ones()
        + 2 * twos.count_ones()
        + 4 * fours.count_ones()
        + 8 * eights.count_ones();
    u64::from(count.max(1))
}

/// Returns the hexes on which the seat's actions depend: those next to its pieces and those two
/// away along a line.
fn dependencies(own: Hexes) -> Hexes {
    WAYS.iter().fold(0, |all, &way| {
        let near = own.rotate_left(way) & ALL;
        all | near | near.rotate_left(way)
    })
}

/// A seat's number of actions, valid as long as nothing changes on the hexes they depend on.
#[derive(Clone, Copy)]
struct CachedCount {
    actions: u64,
    dependencies: Hexes,
}

impl CachedCount {
    fn of(pieces: [Hexes; SEATS], seat: usize) -> Self {
        Self { actions: count_actions(pieces, seat), dependencies: dependencies(pieces[seat]) }
    }
}

/// A position without history.
#[derive(Clone, Copy)]
struct Node {
    pieces: [Hexes; SEATS],
    exits: [u32; SEATS],
    turn: u32,
}

/// Counts sequences in which no position can occur too often.
struct Counter {
    exits_max: u32,
    turns_max: u32,
    retired: [bool; SEATS],
}

impl Counter {
    /// Counts the sequences of `depth` actions, at least one, from a node whose game isn't over. At
    /// depth 2, `known` may be the cached count of the seat that moves last.
    fn count(&self, node: &Node, depth: u32, known: Option<CachedCount>) -> u64 {
        let mover = node.turn as usize % SEATS;
        if depth == 1 {
            return count_actions(node.pieces, mover);
        }
        let turn = self.next_turn(node.turn);
        let exiting = node.pieces[mover] & hexes::EXITS[mover];
        let mut sum = self.count_exits(node, turn, exiting, depth);
        if turn >= self.turns_max {
            return sum;
        }
        let mut passes = exiting == 0;
        if depth == 2 {
            let other = turn as usize % SEATS;
            let cached = known.unwrap_or_else(|| CachedCount::of(node.pieces, other));
            return sum + last_two(node.pieces, mover, other, cached, passes);
        }
        let known = if depth == 3 { self.cached_for_last(node, turn) } else { None };
        let mut next = Node { turn, ..*node };
        each_step(node.pieces, mover, |from, Ends { over, to }| {
            passes = false;
            next.pieces = node.pieces;
            go(&mut next.pieces, mover, from, over, to);
            let known = known.filter(|cached| (from | to) & cached.dependencies == 0);
            sum += self.count(&next, depth - 1, known);
        });
        if passes {
            next.pieces = node.pieces;
            sum += self.count(&next, depth - 1, known);
        }
        sum
    }

    /// Counts the sequences that begin with an exit.
    fn count_exits(&self, node: &Node, turn: u32, exiting: Hexes, depth: u32) -> u64 {
        let mover = node.turn as usize % SEATS;
        if exiting == 0 || node.exits[mover] + 1 >= self.exits_max || turn >= self.turns_max {
            return 0;
        }
        let mut next = Node { turn, ..*node };
        next.exits[mover] += 1;
        let count = |from: Hexes| {
            next.pieces[mover] = node.pieces[mover] & !from;
            self.count(&next, depth - 1, None)
        };
        singles(exiting).map(count).sum()
    }

    /// Returns the cached count of the seat that moves third from here, if it is neither the mover
    /// nor the second; `turn` is the second's.
    fn cached_for_last(&self, node: &Node, turn: u32) -> Option<CachedCount> {
        let [first, second, third] =
            [node.turn, turn, self.next_turn(turn)].map(|turn| turn as usize % SEATS);
        (third != first && third != second).then(|| CachedCount::of(node.pieces, third))
    }

    fn next_turn(&self, turn: u32) -> u32 {
        let mut next = turn + 1;
        while next < self.turns_max && self.retired[next as usize % SEATS] {
            next += 1;
        }
        next
    }
}

/// Counts the sequences of a move, jump or pass of `mover` and any action of `other`. The pass is
/// counted only if `passes` and there is nothing else.
///
/// An action of `mover` away from the hexes that `other` depends on doesn't change the number of
/// `other`'s actions. Such actions are counted together; only the rest are played.
fn last_two(
    pieces: [Hexes; SEATS],
    mover: usize,
    other: usize,
    cached: CachedCount,
    passes: bool,
) -> u64 {
    let [own, occupied, empty] = split(pieces, mover);
    let unchanged = cached.actions;
    // With one seat left, that seat's own actions change with each of its actions.
    let near = if mover == other { ALL } else { cached.dependencies };
    let (mut far_count, mut near_sum, mut any) = (0, 0, false);
    let mut tally = |froms: Hexes, near_froms: Hexes, ends: fn(Hexes, u32) -> Ends, way: u32| {
        any |= froms != 0;
        far_count += u64::from((froms & !near_froms).count_ones());
        for from in singles(froms & near_froms) {
            let mut next = pieces;
            let Ends { over, to } = ends(from, way);
            go(&mut next, mover, from, over, to);
            near_sum += count_actions(next, other);
        }
    };
    for way in WAYS {
        let step = near.rotate_right(way);
        tally(movers(own, empty, way), near | step, move_ends, way);
        tally(jumpers(own, occupied, empty, way), near | step.rotate_right(way), jump_ends, way);
    }
    if !any && passes {
        return unchanged;
    }
    far_count * unchanged + near_sum
}

/// Returns the end of a move, which jumps over nothing.
fn move_ends(from: Hexes, way: u32) -> Ends {
    Ends { over: 0, to: from.rotate_left(way) }
}

/// Returns what a jump goes over and where it lands.
fn jump_ends(from: Hexes, way: u32) -> Ends {
    let over = from.rotate_left(way);
    Ends { over, to: over.rotate_left(way) }
}

/// Calls `visit` with every move and jump of the seat.
fn each_step(pieces: [Hexes; SEATS], mover: usize, mut visit: impl FnMut(Hexes, Ends)) {
    let [own, occupied, empty] = split(pieces, mover);
    for way in WAYS {
        for from in singles(movers(own, empty, way)) {
            visit(from, move_ends(from, way));
        }
        for from in singles(jumpers(own, occupied, empty, way)) {
            visit(from, jump_ends(from, way));
        }
    }
}

/// The end of a move or jump, and what it jumps over.
#[derive(Clone, Copy)]
struct Ends {
    over: Hexes,
    to: Hexes,
}
