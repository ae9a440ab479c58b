//! The rules as tables of positions, the fewest moves, and what the estimate is good for.

use super::{Action, CheckerPuzzle};
use crate::{Game, SetupError, Turn, perft};
use referee_protocol::{Outcome, Seat};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn start(setup: &Value) -> Result<CheckerPuzzle, SetupError> {
    crate::any::start(setup)
}

/// What an action is recorded as, or why it is refused.
fn played(game: &CheckerPuzzle, action: &str) -> String {
    let action: Action = action.parse().unwrap();
    match game.clone().play(&action) {
        Ok(recorded) => recorded.to_string(),
        Err(illegal) => illegal.to_string(),
    }
}

#[test]
fn paths_are_completed_and_checked_hop_by_hop() {
    // Two ways lead from (3,3) to (1,3): over (2,3), and around over (3,2), (2,2) and (1,2).
    let pieces = json!([[1, 2], [2, 2], [2, 3], [3, 2], [3, 3], [0, 0]]);
    let position = json!({"size": 4, "depth": 3, "pieces": pieces, "moves": 5});
    let game = start(&json!({"position": position})).unwrap();
    let long = "3,3-1,3-".repeat(32);
    let (at_most, too_long) = (long.trim_end_matches('-'), format!("{long}3,3"));
    for (action, expected) in [
        ("3,3-1,3", "3,3-1,3"),
        ("3,3-3,1-1,3", "3,3-3,1-1,3"),
        ("3,3-1,1", "3,3-1,3-1,1"),
        ("3,3-3,1-1,3-1,1", "3,3-3,1-1,3-1,1"),
        (at_most, at_most),
        (&too_long, "a path has 2 to 64 entries, not 65"),
        ("0,0-0,1", "0,0-0,1"),
        ("3,3-1,3-3,3", "a move must end on another cell than its start"),
        ("3,3-2,3", "[2,3] is occupied"),
        (
            "3,3-1,3-0,3",
            "a step is a whole move: [1,3] to [0,3] can't be part of a longer \
                         path",
        ),
        (
            "3,3-1,3-2,3",
            "a step is a whole move: [1,3] to [2,3] can't be part of a longer \
                         path",
        ),
        ("3,3-1,3-1,0", "a hop goes two cells in a straight line: [1,3] to [1,0] doesn't"),
        ("0,0-2,0-1,1", "a hop from [0,0] to [2,0] needs a piece between them"),
        ("0,0-2,2-2,0", "[2,2] is occupied"),
        ("0,0-3,0", "no step and no sequence of hops leads from [0,0] to [3,0]"),
        ("0,1-0,2", "there is no piece on [0,1]"),
        ("3,3-4,3", "[4,3] is off the board"),
    ] {
        assert_eq!(played(&game, action), expected, "{action}");
    }
    let refused = game.clone().play(&Action::Move { path: vec![] }).unwrap_err().to_string();
    assert_eq!(refused, "a path has 2 to 64 entries, not 0");
}

#[test]
fn a_solution_beats_the_move_limit() {
    // One step before the goal of size 3, depth 2.
    let position = json!({"size": 3, "depth": 2, "pieces": [[0, 0], [0, 1], [1, 1]], "moves": 6});
    let setup = json!({"size": 3, "depth": 2, "max_moves": 7, "position": position});
    for (action, places, reason) in [("1,1-1,0", [1], "solved"), ("1,1-2,1", [2], "move_limit")] {
        let mut game = start(&setup).unwrap();
        game.play(&action.parse().unwrap()).unwrap();
        let Turn::Over(Outcome { places: found, scores, reason: why }) = game.turn() else {
            panic!("{action} doesn't end it")
        };
        assert_eq!((&found[..], scores, &*why), (&places[..], Some(vec![7]), reason), "{action}");
        assert_eq!(played(&game, "0,0-1,0"), "the game is over");
    }
}

#[test]
fn the_estimate_guides_a_search_to_a_solution() {
    for (size, depth) in [(3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4), (6, 3), (8, 4), (26, 8)] {
        let game = start(&json!({"size": size, "depth": depth, "max_moves": 1000})).unwrap();
        let (expanded, moves) = best_first(&game);
        assert!(expanded < 2000, "{size} {depth}: {expanded}");
        println!("size {size} depth {depth}: {moves} moves, {expanded} positions expanded");
    }
}

/// Expands the position with the best estimate first; returns how many were, and the moves of the
/// solution.
fn best_first(game: &CheckerPuzzle) -> (usize, u64) {
    let mut open = BTreeMap::from([((0, 0), game.clone())]);
    let mut seen = BTreeSet::new();
    let mut serial = 0;
    for expanded in 1.. {
        let (_, game) = open.pop_last().expect("every puzzle can be solved");
        for action in game.actions() {
            let mut next = game.clone();
            next.play_listed(&action);
            if let Turn::Over(outcome) = next.turn() {
                assert_eq!(outcome.reason, "solved");
                return (expanded, next.turn_number());
            }
            if seen.insert(next.position().pieces) {
                serial -= 1;
                open.insert((next.estimate(Seat(0)), serial), next);
            }
        }
    }
    unreachable!("the search ends with a solution")
}

#[test]
fn the_fewest_moves_are_as_stated() {
    check_fewest_moves(&[(3, &[5, 4, 2]), (4, &[8, 8, 9]), (5, &[11, 11])]);
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn the_fewest_moves_of_large_puzzles_are_as_stated() {
    check_fewest_moves(&[(5, &[11, 11, 13]), (6, &[14, 15, 16]), (7, &[17, 17]), (8, &[20, 19])]);
}

/// Compares the fewest moves of each size, by depth from 2.
fn check_fewest_moves(stated: &[(usize, &[u32])]) {
    for &(size, fewest) in stated {
        for (depth, &moves) in (2..).zip(fewest) {
            assert_eq!(fewest_moves(size, depth), moves, "size {size} depth {depth}");
        }
    }
}

/// Finds the fewest moves by breadth. Moves can be taken back, and turning the board about
/// exchanges start and goal: so a shortest solution consists of one way from the start and one
/// turned about, and the search goes only half as deep as the solution is long.
fn fewest_moves(size: usize, depth: u64) -> u32 {
    let game = start(&json!({"size": size, "depth": depth})).unwrap();
    let board = Bits::new(size);
    let first = game.pieces.iter().fold(0u64, |set, cell| set | 1 << cell);
    board.check_against(&game, first);
    let turned = |set: u64| set.reverse_bits() >> (64 - size * size);
    let (mut before, mut layer) = (Vec::new(), vec![first]);
    for depth in 0.. {
        let is_known = |set: &u64| layer.binary_search(set).is_ok();
        if layer.iter().any(|&set| is_known(&turned(set))) {
            return 2 * depth;
        }
        let mut next = Vec::new();
        for &set in &layer {
            board.each_next(set, |set| next.push(set));
        }
        if next.iter().any(|&set| is_known(&turned(set))) {
            return 2 * depth + 1;
        }
        next.sort_unstable();
        next.dedup();
        next.retain(|set| layer.binary_search(set).is_err() && before.binary_search(set).is_err());
        before = std::mem::replace(&mut layer, next);
    }
    unreachable!("the search ends with a solution")
}

/// Boards of at most 64 cells in one word, by a generator of their own.
struct Bits {
    /// By cell and direction: the cell beside, and the one behind it.
    ways: Vec<Vec<(u64, u64)>>,
}

impl Bits {
    fn new(size: usize) -> Self {
        let bit = |row: isize, column: isize| {
            let inside = |value: isize| usize::try_from(value).ok().filter(|&value| value < size);
            inside(row).zip(inside(column)).map_or(0, |(row, column)| 1 << (row * size + column))
        };
        let all = (0..size.cast_signed())
            .flat_map(|row| (0..size.cast_signed()).map(move |column| (row, column)));
        let ways = all.map(|(row, column)| {
            let steps = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)];
            let way = |(down, right)| {
                (bit(row + down, column + right), bit(row + 2 * down, column + 2 * right))
            };
            steps.map(way).into_iter().filter(|way| way.0 != 0).collect()
        });
        Self { ways: ways.collect() }
    }

    /// Calls `found` with every position one move away.
    fn each_next(&self, pieces: u64, mut found: impl FnMut(u64)) {
        for piece in bits(pieces) {
            let others = pieces & !(1 << piece);
            let mut ends = 0;
            for &(beside, _) in &self.ways[piece] {
                ends |= beside & !others;
            }
            let (mut reached, mut queue) = (1 << piece, 1u64 << piece);
            while queue != 0 {
                let from = queue.trailing_zeros() as usize;
                queue &= queue - 1;
                for &(over, landing) in &self.ways[from] {
                    let open = landing & !others & !reached;
                    if over & others != 0 && open != 0 {
                        reached |= open;
                        queue |= open;
                    }
                }
            }
            for end in bits((ends | reached) & !(1 << piece)) {
                found(others | 1 << end);
            }
        }
    }

    /// The generator must count what the game counts.
    fn check_against(&self, game: &CheckerPuzzle, first: u64) {
        let mut layer = vec![first];
        for depth in 1..=2 {
            let mut next = Vec::new();
            for &set in &layer {
                self.each_next(set, |set| next.push(set));
            }
            assert_eq!(perft(game, depth), next.len() as u64);
            layer = next;
        }
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}
