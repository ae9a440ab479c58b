//! Every point of the rules that could be read in two ways, as positions and actions.

use super::{Action, Chexers};
use crate::{Game, Turn};
use referee_protocol::Seat;
use serde_json::{Value, json};

fn start(setup: &Value) -> Chexers {
    crate::any::start::<Chexers>(setup).unwrap_or_else(|error| panic!("{setup}: {error}"))
}

/// A game with these pieces, exits and turn, in the usual limits.
fn position(pieces: &Value, exits: [u32; 3], turn: u32) -> Value {
    let (to_move, retired) = (turn % 3, json!([]));
    json!({"to_move": to_move, "pieces": pieces, "exits": exits, "turn": turn, "retired": retired})
}

fn from_position(pieces: &Value, exits: [u32; 3], turn: u32) -> Chexers {
    start(&json!({"position": position(pieces, exits, turn)}))
}

fn play(game: &mut Chexers, actions: &str) {
    for text in actions.split("; ").filter(|text| !text.is_empty()) {
        let action: Action = text.parse().unwrap();
        assert_eq!(game.play(&action), Ok(action), "{text}");
    }
}

fn texts(game: &Chexers) -> Vec<String> {
    game.actions().iter().map(ToString::to_string).collect()
}

/// The reason, places and scores of the end, or nothing.
fn end(game: &Chexers) -> Option<(String, Vec<u32>, Vec<i64>)> {
    match game.turn() {
        Turn::Over(outcome) => Some((outcome.reason, outcome.places, outcome.scores.unwrap())),
        Turn::Of(_) | Turn::Chance(_) => None,
    }
}

fn ended(game: &Chexers, reason: &str, places: [u32; 3]) {
    let (ended_by, ranks, _) = end(game).unwrap_or_else(|| panic!("not over: {reason}"));
    assert_eq!((ended_by.as_str(), ranks), (reason, places.to_vec()));
    assert_eq!(game.actions(), []);
}

#[test]
fn actions_are_exits_then_moves_then_jumps_each_by_from_and_to() {
    let game = from_position(&json!([[[3, -1], [2, -1]], [[2, 0]], [[3, -2]]]), [0; 3], 0);
    let listed = [
        "exit 3,-1",
        "move 2,-1 1,-1",
        "move 2,-1 1,0",
        "move 2,-1 2,-2",
        "move 3,-1 3,0",
        "jump 2,-1 2,1",
        "jump 3,-1 1,-1",
        "jump 3,-1 1,1",
        "jump 3,-1 3,-3",
    ];
    assert_eq!(texts(&game), listed);
}

#[test]
fn a_piece_jumped_over_becomes_the_jumpers() {
    for (over, pieces) in [
        (json!([[[0, 0], [1, 0]], [], []]), json!([[[1, 0], [2, 0]], [], []])),
        (json!([[[0, 0]], [[1, 0]], []]), json!([[[1, 0], [2, 0]], [], []])),
        (json!([[[0, 0]], [], [[1, 0]]]), json!([[[1, 0], [2, 0]], [], []])),
    ] {
        let mut game = from_position(&over, [0; 3], 0);
        play(&mut game, "jump 0,0 2,0");
        assert_eq!(json!(game.position().pieces), pieces);
    }
}

#[test]
fn a_pass_is_legal_exactly_when_nothing_else_is() {
    // Red's piece in a corner: its three neighbours and the hexes behind them are taken.
    let walled = json!([[[-3, 0]], [[-2, -1], [-2, 0], [-3, 1]], [[-1, -2], [-1, 0], [-3, 2]]]);
    let mut game = from_position(&walled, [0; 3], 0);
    assert_eq!(texts(&game), ["pass"]);
    play(&mut game, "pass");
    assert_eq!(game.turn(), Turn::Of(Seat(1)));
    // A way out by a jump alone: passing is refused.
    let jump_only = json!([[[-3, 0]], [[-2, -1], [-2, 0], [-3, 1]], [[-1, -2], [-3, 2]]]);
    let mut game = from_position(&jump_only, [0; 3], 0);
    assert_eq!(texts(&game), ["jump -3,0 -1,0"]);
    assert!(game.play(&Action::Pass {}).is_err());
    // The same piece of blue's can exit.
    let exit_only = json!([[[-2, -1], [-2, 0], [-3, 1]], [[-1, -2], [-1, 0], [-3, 2]], [[-3, 0]]]);
    assert_eq!(texts(&from_position(&exit_only, [0; 3], 2)), ["exit -3,0"]);
    // No piece at all.
    let game = from_position(&json!([[], [[0, 0]], [[1, 1]]]), [1, 0, 0], 3);
    assert_eq!(texts(&game), ["pass"]);
}

#[test]
fn the_fourth_exit_wins_even_on_the_very_last_turn() {
    let pieces = json!([[[0, 0]], [[1, -3]], [[-3, 0], [1, 2]]]);
    for (turn, before, reason, places) in [
        (2, [1, 2, 3], "four_exits", [2, 2, 1]),
        (767, [1, 2, 3], "four_exits", [2, 2, 1]),
        (767, [1, 2, 2], "turn_limit", [1, 1, 1]),
        (767, [3, 2, 0], "turn_limit", [1, 1, 1]),
    ] {
        let mut game = from_position(&pieces, before, turn);
        play(&mut game, "exit -3,0");
        ended(&game, reason, places);
        let (_, _, scores) = end(&game).unwrap();
        assert_eq!(scores, [before[0], before[1], before[2] + 1].map(i64::from));
    }
    let mut game = start(&json!({"exits": 1, "position": position(&pieces, [0; 3], 2)}));
    play(&mut game, "exit -3,0");
    ended(&game, "four_exits", [2, 2, 1]);
}

/// Six actions that lead back to the same position with the same seat to move.
const THERE_AND_BACK: &str = "move -3,0 -2,0; move 0,-3 0,-2; move 0,3 0,2; \
                              move -2,0 -3,0; move 0,-2 0,-3; move 0,2 0,3";

#[test]
fn the_fourth_occurrence_of_a_position_is_a_draw_and_the_start_counts() {
    let mut game = start(&json!({}));
    for _ in 0..2 {
        play(&mut game, THERE_AND_BACK);
    }
    let (but_one, _) = THERE_AND_BACK.rsplit_once("; ").unwrap();
    play(&mut game, but_one);
    assert_eq!(end(&game), None);
    // A position starts with an empty history.
    let mut again = start(&json!({"position": game.position()}));
    play(&mut game, "move 0,2 0,3");
    ended(&game, "repetition", [1, 1, 1]);
    assert_eq!(game.turn_number(), 18);
    play(&mut again, "move 0,2 0,3");
    assert_eq!(end(&again), None);
}

#[test]
fn the_number_of_repetitions_is_set_up() {
    for repetitions in [1, 2, 3, 6] {
        let mut game = start(&json!({"repetitions": repetitions}));
        for _ in 1..repetitions {
            assert_eq!(end(&game), None);
            play(&mut game, THERE_AND_BACK);
        }
        ended(&game, "repetition", [1, 1, 1]);
    }
}

#[test]
fn repetition_comes_before_the_turn_limit() {
    let mut game = start(&json!({"turns_per_seat": 2, "repetitions": 2}));
    play(&mut game, THERE_AND_BACK);
    ended(&game, "repetition", [1, 1, 1]);
    let mut game = start(&json!({"turns_per_seat": 2, "repetitions": 3}));
    play(&mut game, THERE_AND_BACK);
    ended(&game, "turn_limit", [1, 1, 1]);
}

#[test]
fn pieces_of_one_colour_are_interchangeable() {
    // Red's two pieces change places; green and blue go there and back.
    let pieces = json!([[[0, 0], [0, 1]], [[-3, 0]], [[3, 0]]]);
    let mut game = start(&json!({"repetitions": 2, "position": position(&pieces, [0; 3], 0)}));
    let round = "move 0,0 1,0; move -3,0 -2,0; move 3,0 2,0; \
                 move 0,1 0,0; move -2,0 -3,0; move 2,0 3,0; \
                 move 1,0 0,1; move -3,0 -2,0; move 3,0 2,0";
    play(&mut game, round);
    assert_eq!(end(&game), None, "green and blue are elsewhere");
    play(&mut game, "move 0,1 1,0");
    ended(&game, "repetition", [1, 1, 1]);
}

#[test]
fn turns_of_retired_seats_are_passed_over_but_counted() {
    let mut game = start(&json!({"turns_per_seat": 2}));
    game.retire(Seat(1));
    assert_eq!(game.turn(), Turn::Of(Seat(0)), "it wasn't its turn");
    play(&mut game, "move -3,0 -2,0");
    assert_eq!((game.turn(), game.turn_number()), (Turn::Of(Seat(2)), 2));
    play(&mut game, "move 0,3 0,2");
    assert_eq!((game.turn(), game.turn_number()), (Turn::Of(Seat(0)), 3));
    // The seat to move: its turn is used up, and the one after it belongs to a retired seat.
    game.retire(Seat(0));
    assert_eq!((game.turn(), game.turn_number()), (Turn::Of(Seat(2)), 5));
    assert_eq!(game.position().retired, [0, 1]);
    assert_eq!(game.position().pieces[0].len(), 4, "its pieces stay");
    play(&mut game, "move 0,2 0,3");
    ended(&game, "turn_limit", [1, 1, 1]);
    assert_eq!(game.turn_number(), 6);
}

#[test]
fn the_limit_is_reached_by_turns_passed_over() {
    let mut game = start(&json!({"turns_per_seat": 1}));
    game.retire(Seat(2));
    play(&mut game, "move -3,0 -2,0; move 0,-3 0,-2");
    ended(&game, "turn_limit", [1, 1, 1]);
    let mut game = start(&json!({"turns_per_seat": 1}));
    play(&mut game, "move -3,0 -2,0; move 0,-3 0,-2");
    game.retire(Seat(2));
    ended(&game, "turn_limit", [1, 1, 1]);
}

#[test]
fn a_position_may_leave_out_retired_and_be_unsorted() {
    let pieces = json!([[[1, 0], [0, 0]], [], []]);
    let given = json!({"to_move": 0, "pieces": pieces, "exits": [0, 0, 0], "turn": 0});
    let game = start(&json!({"position": given}));
    assert_eq!(json!(game.position().pieces[0]), json!([[0, 0], [1, 0]]));
    assert_eq!(game.setup().position, Some(game.position()));
}

#[test]
fn the_view_shows_the_last_action_and_the_exits() {
    let mut game = from_position(&json!([[[3, 0]], [[0, 0]], [[0, 1]]]), [0; 3], 0);
    assert_eq!(game.view().last, []);
    play(&mut game, "exit 3,0");
    assert_eq!(json!(game.view().last), json!([[3, 0]]));
    assert_eq!(game.view().figures[0].value, "1/4");
    play(&mut game, "jump 0,0 0,2");
    assert_eq!(json!(game.view().last), json!([[0, 0], [0, 2]]));
    play(&mut game, "pass");
    assert_eq!(game.view().last, []);
}
