//! The rules of Hex, point by point.

use super::board::Board;
use super::{Action, Hex, Side, chain};
use crate::any::start;
use crate::board::{Cell, Shape};
use crate::{Game, Turn};
use referee_protocol::Seat;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn game(setup: &Value) -> Hex {
    start(setup).unwrap_or_else(|error| panic!("{setup}: {error}"))
}

/// Plays actions as people write them, all but the last of which are legal.
fn after(setup: &Value, actions: &str) -> (Hex, Result<Action, String>) {
    let mut game = game(setup);
    let mut last = Err("nothing was played".to_owned());
    for text in actions.split_whitespace() {
        if actions.split_whitespace().next() != Some(text) {
            assert!(last.is_ok(), "{actions}: {last:?}");
        }
        last = game.play(&text.parse().unwrap()).map_err(|illegal| illegal.to_string());
    }
    (game, last)
}

/// The seat that won.
fn winner(game: &Hex) -> Option<usize> {
    match game.turn() {
        Turn::Of(_) | Turn::Chance(_) => None,
        Turn::Over(outcome) => outcome.places.iter().position(|&place| place == 1),
    }
}

#[test]
fn a_swap_takes_over_the_stone_or_the_colour() {
    for (swap, stones, colours) in [
        ("pieces", json!([[], [[1, 0]]]), json!(["black", "red"])),
        ("sides", json!([[[0, 1]], []]), json!(["red", "black"])),
    ] {
        let (game, played) = after(&json!({"size": 3, "swap": swap}), "b1 swap");
        assert_eq!(played, Ok(Action::Swap {}));
        let position = serde_json::to_value(game.position()).unwrap();
        let expected =
            json!({"to_move": 0, "size": 3, "stones": stones, "colours": colours, "turn": 2});
        assert_eq!(position, expected);
        assert_eq!(game.colours(), ["black", "red"], "those of the start");
        assert_eq!(game.actions().len(), 8, "eight empty cells and no second swap");
    }
    // The colours count, not the seats: red has joined its rows, and that is seat 0 after a swap.
    let sides = json!({"size": 3, "swap": "sides"});
    assert_eq!(winner(&after(&sides, "a1 swap b1 a3 b2 c1 b3").0), Some(0));
    let (listed, _) = after(&sides, "b2");
    assert_eq!(listed.actions().last(), Some(&Action::Swap {}), "the swap is listed last");
    assert_eq!(listed.actions().len(), 9);
}

#[test]
fn each_side_joins_its_own_borders() {
    for (first, actions, expected) in [
        ("black", "a2 a1 b2 a3 c2", Some(0)),
        ("black", "b1 a1 b2 a3 b3", None),
        ("red", "b1 a1 b2 a3 b3", Some(0)),
        ("red", "a2 a1 b2 a3 c2", None),
        ("red", "a1 a2 c1 b2 a3 c2", Some(1)),
        // Corners belong to two borders, but a stone alone joins nothing.
        ("black", "a1 b3 b1 a3 c1", Some(0)),
        ("black", "a3 a1 b2 b1 c1", Some(0)),
        ("black", "a1 a3 b2 c1 c3", None),
    ] {
        let (game, _) = after(&json!({"size": 3, "first": first}), actions);
        assert_eq!(winner(&game), expected, "{first} first: {actions}");
        if let Turn::Over(outcome) = game.turn() {
            assert_eq!((outcome.reason.as_str(), outcome.scores), ("connected", None));
        }
        let second = if first == "red" { "black" } else { "red" };
        assert_eq!(game.colours(), [first, second]);
    }
}

#[test]
fn every_size_has_its_cells() {
    assert_eq!(Game::setup(&game(&json!({}))).size, 11);
    for size in 3..=26u8 {
        assert_eq!(game(&json!({"size": size})).actions().len(), usize::from(size).pow(2));
    }
}

fn position(stones: &Value, colours: [&str; 2], turn: i64) -> Value {
    let to_move = turn.rem_euclid(2);
    json!({"to_move": to_move, "size": 4, "stones": stones, "colours": colours, "turn": turn})
}

const USUAL: [&str; 2] = ["black", "red"];
const EXCHANGED: [&str; 2] = ["red", "black"];

#[test]
fn positions_that_can_come_about_are_taken() {
    let one_each = json!([[[1, 1]], [[2, 2]]]);
    for (mut setup, position) in [
        (json!({}), position(&json!([[], []]), USUAL, 0)),
        (json!({}), position(&json!([[[3, 3]], []]), USUAL, 1)),
        (json!({"size": 4}), position(&one_each, USUAL, 2)),
        (json!({"first": "red"}), position(&one_each, EXCHANGED, 2)),
        (json!({"swap": "pieces"}), position(&one_each, USUAL, 2)),
        (json!({"swap": "pieces"}), position(&json!([[], [[2, 2]]]), USUAL, 2)),
        (json!({"swap": "pieces"}), position(&one_each, USUAL, 3)),
        (json!({"swap": "sides"}), position(&json!([[[2, 2]], []]), EXCHANGED, 2)),
        (json!({"swap": "sides"}), position(&one_each, EXCHANGED, 3)),
        (json!({"swap": "sides"}), position(&one_each, USUAL, 2)),
        (json!({"swap": "sides", "first": "red"}), position(&one_each, USUAL, 3)),
    ] {
        setup["position"] = position.clone();
        let game = game(&setup);
        assert_eq!(serde_json::to_value(game.position()).unwrap(), position);
        assert_eq!(game.colours(), game.position().colours.map(Side::name), "{setup}");
    }
    // Its lists are sorted.
    let unsorted = position(&json!([[[3, 3], [0, 0]], [[2, 2]]]), USUAL, 3);
    let sorted = game(&json!({ "position": unsorted })).position().stones;
    assert_eq!(sorted, [vec![[0, 0], [3, 3]], vec![[2, 2]]]);
    // A position may be won already.
    let won =
        position(&json!([[[0, 0], [0, 1], [0, 2], [0, 3]], [[1, 0], [1, 1], [2, 2]]]), USUAL, 7);
    assert_eq!(winner(&game(&json!({ "position": won }))), Some(0));
}

#[test]
fn actions_as_text() {
    for (text, at) in [("c4", [3, 2]), ("a1", [0, 0]), ("z26", [25, 25]), ("-3,7", [-3, 7])] {
        let action: Action = text.parse().unwrap();
        assert_eq!(action, Action::Place { at });
        assert_eq!(action.to_string(), text);
    }
    assert_eq!("C4".parse(), "c4".parse::<Action>());
    assert_eq!(Action::Place { at: [3, 40] }.to_string(), "3,40");
    for text in ["", "c", "c0", "4c", "c+4", "cc4", "c4.5", "pass", "1,2,3", "\u{e9}4"] {
        assert!(text.parse::<Action>().is_err(), "{text}");
    }
}

#[test]
fn the_picture_shows_borders_and_a_shortest_chain() {
    // The chain along row 1 is shorter than the one that winds through row 2.
    let setup = json!({"size": 4});
    let (game, _) = after(&setup, "a2 a1 b2 b1 a3 c1 b3 d4 d2 a4 c2");
    let view = game.view();
    assert_eq!(view.chain, [Cell(1, 0), Cell(1, 1), Cell(1, 2), Cell(1, 3)]);
    assert_eq!(view.last, [Cell(1, 2)]);
    assert_eq!(view.pieces.len(), 11);
    assert_eq!(view.edges.len(), 4);
    for edge in &view.edges {
        // Outside of the border there is no cell, so that a mark there covers nothing.
        let shape = Shape::Diamond(4);
        let taken: Vec<(i32, i32)> = shape.cells().iter().map(|&cell| shape.place(cell)).collect();
        for &cell in &edge.cells {
            let (x, y) = shape.place(cell);
            let outside = (x + i32::from(edge.outward.0), y + i32::from(edge.outward.1));
            assert!(!taken.contains(&outside), "{edge:?}");
            // North-west and south-east are black's.
            let black = edge.outward.0 == edge.outward.1;
            assert_eq!(edge.colour.name(), if black { "black" } else { "red" });
        }
    }
    let (swapped, _) = after(&json!({"size": 4, "swap": "pieces"}), "b1 swap");
    assert_eq!(swapped.view().last, [Cell(1, 0)]);
}

#[test]
fn equal_whatever_the_order_of_the_stones() {
    let setup = json!({"size": 4});
    assert_eq!(after(&setup, "a1 b2 c3 d4").0, after(&setup, "c3 d4 a1 b2").0);
    assert_ne!(after(&setup, "a1 b2 c3 d4").0, after(&setup, "a1 d4 c3 c4").0);
    assert_ne!(after(&setup, "a1").0, after(&json!({"size": 4, "swap": "sides"}), "a1").0);
}

/// Games won by the first and by the second player, in every order of the stones.
fn count_games(game: &Hex, won: &mut [u64; 2]) {
    if let Some(seat) = winner(game) {
        won[seat] += 1;
        return;
    }
    for action in game.actions() {
        let mut next = game.clone();
        next.play_listed(&action);
        count_games(&next, won);
    }
}

#[test]
fn every_game_on_nine_cells() {
    let mut won = [0, 0];
    count_games(&game(&json!({"size": 3})), &mut won);
    assert_eq!(won, [165_600, 92_160]);
    assert_eq!(won.iter().sum::<u64>(), 257_760);
}

/// Whether the seat to move wins with best play. `known` holds the answers by stones.
fn mover_wins(game: &Hex, known: &mut BTreeMap<u32, bool>) -> bool {
    let key = game.board.cells().fold(0, |key, (_, _, at)| {
        3 * key + game.board.stone(at).map_or(0, |side| 1 + side as u32)
    });
    if let Some(&answer) = known.get(&key) {
        return answer;
    }
    let wins = game.actions().iter().any(|action| {
        let mut next = game.clone();
        next.play_listed(action);
        winner(&next).is_some() || !mover_wins(&next, known)
    });
    known.insert(key, wins);
    wins
}

#[test]
fn winning_first_stones_on_small_boards() {
    check_first_stones(3, "black", "b1 c1 b2 a3 b3");
    check_first_stones(3, "red", "c1 a2 b2 c2 a3");
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn winning_first_stones_on_four_rows() {
    check_first_stones(4, "black", "d1 c2 b3 a4");
}

fn check_first_stones(size: u8, first: &str, expected: &str) {
    let begin = game(&json!({"size": size, "first": first}));
    let mut known = BTreeMap::new();
    let mut winning: Vec<String> = Vec::new();
    for action in begin.actions() {
        let mut next = begin.clone();
        next.play_listed(&action);
        if !mover_wins(&next, &mut known) {
            winning.push(action.to_string());
        }
    }
    assert_eq!(winning.join(" "), expected, "size {size}, {first} first");
}

/// Xorshift: the tests draw the same games on every machine.
struct Random(u64);

impl Random {
    fn pick<T>(&mut self, list: &mut Vec<T>) -> T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let index = usize::try_from(self.0 % list.len() as u64).unwrap();
        list.swap_remove(index)
    }
}

#[test]
fn the_forest_of_chains_agrees_with_a_search() {
    let mut random = Random(1);
    for size in (3..=26).chain(3..=8).chain(3..=8) {
        let mut board = Board::new(size);
        let mut empty: Vec<usize> = board.cells().map(|(_, _, at)| at).collect();
        let mut side = Side::Black;
        let mut won = false;
        while !empty.is_empty() && !won {
            let at = random.pick(&mut empty);
            won = board.place(at, side);
            let chain = chain::shortest(&board, side);
            assert_eq!(!chain.is_empty(), won, "{board:?}");
            for pair in chain.windows(2) {
                assert!(Shape::Diamond(size).neighbours(pair[0]).any(|cell| cell == pair[1]));
            }
            side = side.other();
        }
        assert!(won, "a full board without a winner: {board:?}");
    }
}

/// What an action is worth to its player: the estimate or, looking ahead, that after the best
/// answer; where that is less than `enough`, any bound below it.
fn value(game: &Hex, action: &Action, look_ahead: bool, enough: i64) -> i64 {
    let Turn::Of(seat) = game.turn() else { unreachable!("only called for games in progress") };
    let mut next = game.clone();
    next.play_listed(action);
    if winner(&next).is_some() {
        return i64::MAX;
    }
    if !look_ahead {
        return next.estimate(seat);
    }
    let mut least = i64::MAX;
    for answer in next.actions() {
        least = least.min(value(&next, &answer, false, enough).saturating_neg());
        if least < enough {
            break;
        }
    }
    least
}

fn best(game: &Hex, random: &mut Random, look_ahead: bool) -> Action {
    let mut top = i64::MIN;
    let mut found = Vec::new();
    for action in game.actions() {
        let worth = value(game, &action, look_ahead, top);
        if worth > top {
            found.clear();
            top = worth;
        }
        if worth == top {
            found.push(action);
        }
    }
    random.pick(&mut found)
}

/// How many games the first of two players wins, who begins every second one.
fn contest(size: u8, games: usize, play: [fn(&Hex, &mut Random) -> Action; 2]) -> usize {
    let mut random = Random(99);
    let won = |number: usize| {
        let mut game = game(&json!({ "size": size }));
        while let Turn::Of(Seat(seat)) = game.turn() {
            let action = play[(usize::from(seat) + number) % 2](&game, &mut random);
            game.play_listed(&action);
        }
        (winner(&game).unwrap() + number).is_multiple_of(2)
    };
    (0..games).map(won).filter(|&won| won).count()
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn estimates_make_players_stronger() {
    let at_random = |game: &Hex, random: &mut Random| random.pick(&mut game.actions());
    let greedy = |game: &Hex, random: &mut Random| best(game, random, false);
    let ahead = |game: &Hex, random: &mut Random| best(game, random, true);
    let won = contest(11, 40, [greedy, at_random]);
    assert!(won >= 36, "greedy won {won} of 40 against random");
    let won = contest(11, 10, [ahead, greedy]);
    assert!(won >= 8, "looking an answer ahead won {won} of 10 against greedy");
}
