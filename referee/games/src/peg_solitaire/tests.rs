//! The rules of Peg Solitaire, point by point.

use super::pegs::Pegs;
use super::{Action, PegSolitaire, estimate, parity};
use crate::any::start;
use crate::board::{Cell, Shape};
use crate::{Game, Turn};
use referee_protocol::Seat;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::RangeInclusive;

fn game(setup: &Value) -> PegSolitaire {
    start(setup).unwrap_or_else(|error| panic!("{setup}: {error}"))
}

/// Place, pegs left and reason of a play that is over.
fn end(game: &PegSolitaire) -> Option<(u32, i64, String)> {
    match game.turn() {
        Turn::Of(_) | Turn::Chance(_) => None,
        Turn::Over(outcome) => {
            Some((outcome.places[0], outcome.scores.unwrap()[0], outcome.reason))
        }
    }
}

#[test]
fn a_jump_removes_the_peg_between() {
    let mut game = game(&json!({}));
    assert_eq!(
        game.actions().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["4,1-2,1", "4,3-2,1"]
    );
    game.play(&"4,1-2,1".parse().unwrap()).unwrap();
    let position = serde_json::to_value(game.position()).unwrap();
    let pegs = json!([
        [0, 0],
        [1, 0],
        [1, 1],
        [2, 0],
        [2, 1],
        [2, 2],
        [3, 0],
        [3, 2],
        [3, 3],
        [4, 0],
        [4, 2],
        [4, 3],
        [4, 4]
    ]);
    let expected =
        json!({"shape": "triangle", "size": 5, "pegs": pegs, "open": [[2, 1]], "moves": 1});
    assert_eq!(position, expected);
    let view = game.view();
    assert_eq!(view.last, [Cell(4, 1), Cell(2, 1)]);
    assert_eq!(view.figures[0].value, "13");
    assert_eq!(game.turn_number(), 1);
}

#[test]
fn the_middle_is_open_by_default() {
    for (shape, size, middle) in [
        ("triangle", 4, [2, 1]),
        ("triangle", 5, [2, 1]),
        ("triangle", 6, [3, 1]),
        ("triangle", 7, [4, 2]),
        ("triangle", 8, [4, 2]),
        ("diamond", 3, [1, 1]),
        ("diamond", 4, [1, 1]),
        ("diamond", 5, [2, 2]),
        ("diamond", 6, [2, 2]),
    ] {
        let setup = Game::setup(&game(&json!({"shape": shape, "size": size})));
        assert_eq!(setup.open, [middle], "{shape} {size}");
    }
    assert_eq!(Game::setup(&game(&json!({"shape": "diamond"}))).size, 6);
}

/// A position of the triangle of 5 rows, cell 0,0 open at first.
fn position(pegs: &Value, moves: i64) -> Value {
    json!({"shape": "triangle", "size": 5, "pegs": pegs, "open": [[0, 0]], "moves": moves})
}

#[test]
fn a_position_says_what_was_open_and_is_sorted() {
    let two = json!([[4, 4], [3, 3]]);
    let started = game(&json!({ "position": position(&two, 12) }));
    assert_eq!(started.position().pegs, [[3, 3], [4, 4]], "sorted");
    assert_eq!(Game::setup(&started).open, [[0, 0]]);
    assert_eq!(started.turn_number(), 12);
}

#[test]
fn some_starts_are_over() {
    let almost_all: Vec<[i8; 2]> = Shape::Diamond(3)
        .cells()
        .into_iter()
        .skip(1)
        .map(|Cell(row, column)| [row, column])
        .collect();
    for (setup, expected) in [
        (json!({"open": []}), Some((2, 15, "stuck"))),
        (json!({"shape": "diamond", "size": 3, "open": almost_all}), Some((1, 1, "solved"))),
        (json!({"size": 4}), Some((2, 9, "stuck"))),
        (json!({"shape": "diamond", "size": 3}), Some((2, 8, "stuck"))),
        (json!({}), None),
        (json!({"shape": "diamond"}), None),
    ] {
        let expected = expected.map(|(place, left, reason)| (place, left, reason.to_owned()));
        assert_eq!(end(&game(&setup)), expected, "{setup}");
    }
}

#[test]
fn the_last_peg_may_have_to_stand_where_it_was_open() {
    for (finish, last, solved) in
        [("any", "4,4-2,2", true), ("start", "4,4-2,2", false), ("start", "2,2-0,0", true)]
    {
        let pegs =
            if last == "2,2-0,0" { json!([[2, 2], [1, 1]]) } else { json!([[4, 4], [3, 3]]) };
        let mut game = game(&json!({"finish": finish, "position": position(&pegs, 12)}));
        game.play(&last.parse().unwrap()).unwrap();
        let (place, reason) = if solved { (1, "solved") } else { (2, "stuck") };
        assert_eq!(end(&game), Some((place, 1, reason.to_owned())), "{finish} {last}");
    }
}

#[test]
fn jumps_as_text() {
    for text in ["2,0-0,0", "-1,0-1,-2", "4,-4--3,4"] {
        assert_eq!(text.parse::<Action>().unwrap().to_string(), text);
    }
    for text in ["", "2,0", "2,0-", "-", "2-0", "2,0-0,0-1,1", "2,0,1-0,0", "a,b-c,d"] {
        assert!(text.parse::<Action>().is_err(), "{text}");
    }
}

#[test]
fn starts_without_a_solution_have_a_note() {
    let parity = "the three-colour parity count proves it";
    let tried = "an exhaustive search proves it";
    let same_colour = json!({"position": position(&json!([[0, 0], [3, 0]]), 12)});
    let far_apart = json!({"position": position(&json!([[4, 4], [0, 0]]), 12)});
    for (setup, proof, instead) in [
        (json!({"size": 4}), parity, "the open cell 1,0 instead"),
        (json!({"size": 7}), parity, "the open cell 1,0 instead"),
        (json!({"shape": "diamond", "size": 4}), parity, "the open cell 0,1 instead"),
        (json!({"shape": "diamond", "size": 5}), parity, "the open cell 0,1 instead"),
        (json!({"shape": "diamond", "size": 3}), tried, "no start with one open cell can"),
        (json!({"size": 4, "open": [[1, 0]], "finish": "start"}), parity, "no start with one"),
        (json!({"open": []}), parity, "the open cell 0,0 instead"),
        (same_colour, parity, "this position can't"),
        (far_apart, tried, "this position can't"),
    ] {
        let notes = game(&setup).notes();
        let [note] = notes.as_slice() else { panic!("{setup}: {notes:?}") };
        assert!(note.contains(proof) && note.contains(instead), "{setup}: {note}");
    }
    for setup in [
        json!({}),
        json!({"size": 6}),
        json!({"size": 8}),
        json!({"shape": "diamond"}),
        json!({"size": 4, "open": [[1, 0]]}),
    ] {
        assert!(game(&setup).notes().is_empty(), "{setup}");
    }
}

/// How many plays leave one peg.
fn count_solutions(shape: Shape, board: Pegs, pegs: Pegs, known: &mut BTreeMap<Pegs, u64>) -> u64 {
    if pegs.count() == 1 {
        return 1;
    }
    if let Some(&count) = known.get(&pegs) {
        return count;
    }
    let after = |(from, to)| count_solutions(shape, board, pegs.after(from, to), known);
    let count = pegs.jumps(shape, board).map(after).sum();
    known.insert(pegs, count);
    count
}

/// By the one open cell, in the order of the cells.
fn solutions(shape: Shape) -> Vec<u64> {
    let board = Pegs::all(shape);
    let mut known = BTreeMap::new();
    let mut count = |cell| {
        let mut pegs = board;
        pegs.set(cell, false);
        count_solutions(shape, board, pegs, &mut known)
    };
    shape.cells().into_iter().map(&mut count).collect()
}

#[test]
fn solutions_by_the_open_cell() {
    let (corner, beside, edge, inner) = (29_760, 14_880, 85_258, 1_550);
    assert_eq!(
        solutions(Shape::Triangle(5)),
        [
            corner, beside, beside, edge, inner, edge, beside, inner, inner, beside, corner,
            beside, edge, beside, corner
        ]
    );
    assert_eq!(solutions(Shape::Triangle(4)), [0, 14, 14, 14, 0, 14, 0, 14, 14, 0]);
    assert_eq!(solutions(Shape::Diamond(3)), [0; 9]);
    let none: Vec<Cell> = Shape::Diamond(4)
        .cells()
        .into_iter()
        .zip(solutions(Shape::Diamond(4)))
        .filter_map(|(cell, count)| (count == 0).then_some(cell))
        .collect();
    assert_eq!(none, [Cell(0, 0), Cell(0, 3), Cell(1, 1), Cell(2, 2), Cell(3, 0), Cell(3, 3)]);
}

/// Whether keeping the `width` most promising positions of every number of pegs finds a solution.
fn solved_by_beam(shape: Shape, open: Cell, width: usize) -> bool {
    let board = Pegs::all(shape);
    let mut start = board;
    start.set(open, false);
    let mut layer = vec![start];
    while !layer.is_empty() {
        let after = |pegs: &Pegs| {
            let pegs = *pegs;
            pegs.jumps(shape, board).map(move |(from, to)| pegs.after(from, to))
        };
        let next: BTreeSet<Pegs> = layer.iter().flat_map(after).collect();
        if next.iter().any(|pegs| pegs.count() == 1) {
            return true;
        }
        layer = next.into_iter().collect();
        layer.sort_by_cached_key(|&pegs| -estimate::estimate(shape, board, pegs, None));
        layer.truncate(width);
    }
    false
}

#[test]
fn the_openings_that_notes_name_can_be_solved() {
    check_openings(4..=7);
    assert_eq!(parity::solvable_opening(Shape::Diamond(3)), None);
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn the_openings_of_large_boards_can_be_solved() {
    check_openings(8..=12);
}

fn check_openings(sizes: RangeInclusive<u8>) {
    let triangles = sizes.clone().map(Shape::Triangle);
    for shape in triangles.chain(sizes.map(Shape::Diamond)) {
        let opening = parity::solvable_opening(shape).unwrap();
        let solved = [30, 100, 300].into_iter().any(|width| solved_by_beam(shape, opening, width));
        assert!(solved, "{shape:?} with {opening:?} open");
    }
}

#[test]
fn default_starts_that_can_be_solved() {
    for (shape, middle) in [
        (Shape::Triangle(5), Cell(2, 1)),
        (Shape::Triangle(6), Cell(3, 1)),
        (Shape::Triangle(8), Cell(4, 2)),
        (Shape::Diamond(6), Cell(2, 2)),
    ] {
        assert!(solved_by_beam(shape, middle, 30), "{shape:?}");
    }
}

/// Counts the positions that a best-first search visits.
fn best_first(setup: &Value) -> Option<usize> {
    let mut games = vec![game(setup)];
    let mut seen = BTreeSet::new();
    let mut open = BinaryHeap::from([(0, 0)]);
    let mut looked_at = 0;
    while let Some((_, index)) = open.pop() {
        looked_at += 1;
        for action in games[index].actions() {
            let mut next = games[index].clone();
            next.play_listed(&action);
            match end(&next) {
                Some((1, ..)) => return Some(looked_at),
                None if seen.insert(next.pegs) => {
                    open.push((next.estimate(Seat(0)), games.len()));
                    games.push(next);
                }
                Some(_) | None => {}
            }
        }
    }
    None
}

#[test]
fn estimates_lead_a_search_to_a_solution() {
    for (setup, most) in [
        (json!({"size": 4, "open": [[1, 0]]}), 50),
        (json!({"shape": "diamond", "size": 4, "open": [[0, 1]]}), 100),
        (json!({}), 1000),
        (json!({"shape": "diamond"}), 2000),
    ] {
        let looked_at = best_first(&setup).expect("the start can be solved");
        assert!(looked_at <= most, "{setup}: looked at {looked_at} positions");
    }
}
