//! Every point of the rules that could be read in two ways, as positions and actions.

use super::{Action, Direction, Freckers};
use crate::{Game, Turn};
use serde_json::{Value, json};

fn start(setup: &Value) -> Freckers {
    crate::any::start::<Freckers>(setup).unwrap_or_else(|error| panic!("{setup}: {error}"))
}

/// A setup whose board is drawn row by row: `R` and `B` frogs, `*` free pads, `.` water.
fn drawn(rows: &str, to_move: u8, turn: u32) -> Value {
    let (mut frogs, mut pads) = ([vec![], vec![]], vec![]);
    for (r, row) in rows.split_whitespace().enumerate() {
        for (c, letter) in row.chars().enumerate() {
            match letter {
                'R' => frogs[0].push(json!([r, c])),
                'B' => frogs[1].push(json!([r, c])),
                '*' => pads.push(json!([r, c])),
                _ => {}
            }
        }
    }
    json!({"position": {"to_move": to_move, "frogs": frogs, "pads": pads, "turn": turn}})
}

fn with(mut setup: Value, field: &str, value: Value) -> Value {
    setup[field] = value;
    setup
}

/// What is recorded for an action, or the rule that refuses it.
fn play(game: &mut Freckers, action: &str) -> Result<Action, String> {
    let action: Action = action.parse().unwrap();
    game.play(&action).map_err(|rule| rule.to_string())
}

fn recorded(game: &Freckers, action: &str) -> Value {
    json!(play(&mut game.clone(), action).unwrap_or_else(|rule| panic!("{action}: {rule}")))
}

fn end(game: &Freckers) -> Option<(String, Vec<u32>, Vec<i64>)> {
    match game.turn() {
        Turn::Over(outcome) => Some((outcome.reason, outcome.places, outcome.scores.unwrap())),
        Turn::Of(_) | Turn::Chance(_) => None,
    }
}

/// Red's frog on 2,0 can jump to 2,2 (water), and from there to 2,4 or 4,2 (pads).
const CHAIN: &str = "
    .RRRR...
    ........
    RB.B*...
    ..R.....
    ..*.....
    ........
    ........
    .BBBB...";

/// Red's frog on 2,1 reaches 4,3 by way of 2,3 or of 4,1, and 4,1 is no pad.
const TWO_WAYS: &str = "
    .RRRR...
    ........
    .RB*....
    .B.R....
    ..B*....
    ........
    ........
    .BBB....";

#[test]
fn landing_last_asks_a_pad_of_the_last_cell_only() {
    let last = start(&drawn(CHAIN, 0, 0));
    let every = start(&with(drawn(CHAIN, 0, 0), "landing", json!("every")));
    for (action, wet) in [("2,0 RIGHT,RIGHT", true), ("2,0 RIGHT,DOWN", true)] {
        assert!(play(&mut last.clone(), action).is_ok(), "{action}");
        let refused = play(&mut every.clone(), action).unwrap_err();
        assert_eq!(refused.contains("each jump lands on a free pad: there is none on 2,2"), wet);
    }
    for game in [&last, &every] {
        let refused = play(&mut game.clone(), "2,0 RIGHT").unwrap_err();
        assert!(refused.contains("a free pad: there is none on 2,2"), "{refused}");
    }
    assert_eq!(last.actions().len(), every.actions().len() + 2);
}

#[test]
fn a_move_by_its_end_takes_the_shortest_way_first_in_the_order_of_directions() {
    let game = start(&drawn(TWO_WAYS, 0, 0));
    let whole = json!({
        "type": "move", "from": [2, 1], "directions": ["RIGHT", "DOWN"], "to": [4, 3],
    });
    assert_eq!(recorded(&game, "2,1 to 4,3"), whole);
    assert!(game.actions().iter().any(|action| json!(action) == whole));
    let other = recorded(&game, "2,1 DOWN,RIGHT");
    assert_eq!(other["directions"], json!(["DOWN", "RIGHT"]), "a list that is sent is kept");
    assert_eq!(other["to"], json!([4, 3]));
    // Up and left, then up and right, or the other way round.
    let board = "
        .RRRR...
        ........
        ....*...
        ...R.R..
        ........
        ...B.B..
        ....B...
        .BBB....";
    let blue = start(&drawn(board, 1, 0));
    assert_eq!(recorded(&blue, "6,4 to 2,4")["directions"], json!(["UP_LEFT", "UP_RIGHT"]));
}

#[test]
fn directions_and_end_must_agree() {
    let game = start(&drawn(TWO_WAYS, 0, 0));
    let both = |to: [i64; 2]| Action::Move {
        from: [2, 1],
        directions: Some(vec![Direction::Right, Direction::Down]),
        to: Some(to),
    };
    assert_eq!(game.clone().play(&both([4, 3])), Ok(both([4, 3])));
    let refused = game.clone().play(&both([2, 3])).unwrap_err().to_string();
    assert!(refused.contains("must agree: the directions lead to 4,3, not to 2,3"), "{refused}");
    let neither = Action::Move { from: [2, 1], directions: None, to: None };
    let refused = game.clone().play(&neither).unwrap_err().to_string();
    assert!(refused.contains("`directions`, `to` or both"), "{refused}");
}

#[test]
fn a_list_may_revisit_cells_and_have_64_directions() {
    let game = start(&drawn(TWO_WAYS, 0, 0));
    let sideways = start(&drawn(
        "
        RRRRR...
        .RB.B*..
        ........
        ........
        ........
        ........
        ........
        BBBB....",
        0,
        0,
    ));
    let rounds = |count: usize| {
        // To 1,3 and 1,5, then back and forth.
        let mut directions = vec!["RIGHT", "RIGHT"];
        while directions.len() + 2 <= count {
            directions.extend(["LEFT", "RIGHT"]);
        }
        format!("1,1 {}", directions.join(","))
    };
    for count in [2, 4, 62, 64] {
        let recorded = recorded(&sideways, &rounds(count));
        assert_eq!(recorded["directions"].as_array().unwrap().len(), count);
        assert_eq!(recorded["to"], json!([1, 5]));
    }
    let refused = play(&mut sideways.clone(), &rounds(66)).unwrap_err();
    assert_eq!(refused, "a move has at most 64 directions");
    let empty = Action::Move { from: [2, 1], directions: Some(Vec::new()), to: Some([4, 3]) };
    let refused = game.clone().play(&empty).unwrap_err().to_string();
    assert_eq!(refused, "a move has at least one direction");
    let mut played = sideways.clone();
    play(&mut played, &rounds(64)).unwrap();
    assert_eq!(played.view().last.len(), 65);
    let mut short = sideways.clone();
    play(&mut short, "1,1 to 1,5").unwrap();
    assert_eq!(played, short, "only the end counts for the position");
}

#[test]
fn a_frogs_own_cell_counts_as_occupied_while_it_moves() {
    let game = start(&drawn(
        "
        RRRRR...
        .RB*....
        ........
        ........
        ........
        ........
        ........
        .BBBBB..",
        0,
        0,
    ));
    let refused = play(&mut game.clone(), "1,1 RIGHT,LEFT").unwrap_err();
    assert!(refused.contains("and not on the move's start: not on 1,1"), "{refused}");
    assert!(play(&mut game.clone(), "1,1 to 1,1").is_err());
    assert!(game.actions().iter().all(|action| !json!(action)["to"].eq(&json!([1, 1]))));
}

#[test]
fn the_pad_left_behind_disappears() {
    let mut game = start(&json!({}));
    play(&mut game, "0,3 DOWN_LEFT").unwrap();
    let position = json!(game.position());
    let pads = position["pads"].as_array().unwrap();
    assert!(!pads.contains(&json!([0, 3])) && !pads.contains(&json!([1, 2])));
    assert_eq!(pads.len(), 15, "one of sixteen free pads is taken, and none is set free");
    assert!(play(&mut game, "7,3 UP").is_ok());
    assert!(play(&mut game, "0,2 RIGHT").unwrap_err().contains("a move ends on a free pad"));
}

#[test]
fn growth_fills_the_cells_around_and_is_always_legal() {
    let mut game = start(&json!({}));
    play(&mut game, "grow").unwrap();
    let unchanged = json!(game.position());
    assert_eq!(unchanged["pads"].as_array().unwrap().len(), 16 + 2, "1,0 and 1,7 are new");
    assert_eq!(unchanged["turn"], 1);
    play(&mut game, "grow").unwrap();
    let before = json!(game.position())["pads"].clone();
    play(&mut game, "grow").unwrap();
    assert_eq!(json!(game.position())["pads"], before, "without effect");
    assert_eq!(game.actions().last(), Some(&Action::Grow {}));
}

/// Red's last frog is on 6,6, one step from the goal; two of blue's are across.
const LAST_STEP: &str = "
    .BB.....
    ........
    ....BBBB
    ........
    ........
    ........
    ......R.
    RRRRR.**";

#[test]
fn all_across_wins_also_with_the_last_action() {
    for turn in [10, 149] {
        let mut game = start(&drawn(LAST_STEP, 0, turn));
        play(&mut game, "6,6 DOWN").unwrap();
        assert_eq!(end(&game), Some(("all_across".to_owned(), vec![1, 2], vec![6, 2])));
        assert_eq!(play(&mut game, "grow").unwrap_err(), "the game is over");
        assert_eq!(game.actions(), []);
    }
}

#[test]
fn at_the_limit_more_frogs_across_win() {
    let equal = LAST_STEP.replace("RRRRR.**", "RR.R....").replace(".BB.....", ".BBB..RR");
    let equal = equal.replace("....BBBB", "....BBB.");
    let blue = LAST_STEP.replace("RRRRR.**", "R..R*...").replace(".BB.....", ".BBB.RRR");
    let blue = blue.replace("....BBBB", "....BBB.");
    for (board, places, across) in
        [(LAST_STEP, [1, 2], [5, 2]), (&equal, [1, 1], [3, 3]), (&blue, [2, 1], [2, 3])]
    {
        let mut game = start(&drawn(board, 1, 148));
        play(&mut game, "grow").unwrap();
        assert_eq!(end(&game), None);
        play(&mut game, "grow").unwrap();
        let (reason, ranks, scores) = end(&game).unwrap();
        assert_eq!((reason.as_str(), ranks), ("turn_limit", places.to_vec()));
        assert_eq!(scores, across);
    }
    let mut game = start(&json!({"turn_limit": 1}));
    play(&mut game, "grow").unwrap();
    assert_eq!(end(&game), Some(("turn_limit".to_owned(), vec![1, 1], vec![0, 0])));
}

#[test]
fn refusals_name_the_rule() {
    let chain = start(&drawn(CHAIN, 0, 0));
    for (action, rule) in [
        ("2,1 RIGHT", "red has no frog on 2,1"),
        ("5,5 RIGHT", "red has no frog on 5,5"),
        ("9,9 RIGHT", "9,9 is off the board"),
        ("2,0 to 8,0", "8,0 is off the board"),
        ("0,1 UP", "red frogs never move UP"),
        ("2,0 LEFT", "LEFT from 2,0 leaves the board"),
        ("0,1 DOWN", "a move ends on a free pad: there is none on 1,1"),
        (
            "0,4 RIGHT,RIGHT",
            "each of several directions is a jump over a frog: there is none on 0,5",
        ),
        ("2,0 RIGHT,RIGHT,RIGHT", "each of several directions is a jump"),
        ("0,2 RIGHT", "a jump lands on a cell without a frog"),
        ("2,0 to 2,2", "no step and no sequence of jumps leads from 2,0 to a free pad on 2,2"),
        ("2,0 to 5,5", "no step and no sequence of jumps leads from 2,0 to a free pad on 5,5"),
    ] {
        let mut game = chain.clone();
        let refused = play(&mut game, action).expect_err(action);
        assert!(refused.contains(rule), "{action}: {refused}");
        assert_eq!(game, chain, "{action}");
    }
    let blue = start(&drawn(CHAIN, 1, 1));
    let refused = play(&mut blue.clone(), "2,1 DOWN_LEFT").unwrap_err();
    assert_eq!(refused, "blue frogs never move DOWN_LEFT");
    let edge = start(&drawn(
        "
        *RRRRR..
        ........
        ........
        ......BR
        ........
        ........
        ........
        .BBBBB..",
        1,
        0,
    ));
    let refused = play(&mut edge.clone(), "3,6 RIGHT").unwrap_err();
    assert_eq!(refused, "a jump over 3,7 leaves the board");
}

#[test]
fn actions_on_the_wire_are_read_strictly() {
    for (json, legal) in [
        (json!({"type": "move", "from": [0, 3], "to": [1, 2]}), true),
        (json!({"type": "move", "from": [0, 3], "directions": ["DOWN_LEFT"]}), true),
        (json!({"type": "move", "from": [0, 3], "directions": ["down_left"]}), false),
        (json!({"type": "move", "from": [0, 3], "directions": null, "to": [1, 2]}), false),
        (json!({"type": "move", "from": [0, 3], "to": null}), false),
        (json!({"type": "move", "directions": ["DOWN"]}), false),
        (json!({"type": "grow", "from": [0, 3]}), false),
        (json!({"type": "grow"}), true),
    ] {
        assert_eq!(serde_json::from_value::<Action>(json.clone()).is_ok(), legal, "{json}");
    }
}

#[test]
fn unreachable_positions_are_refused() {
    let sound = json!(start(&json!({})).position());
    for (field, value, wanted) in [
        ("pads", json!([[0, 1]]), "0,1 is named twice"),
        ("pads", json!([[3, 3], [3, 3]]), "3,3 is named twice"),
        ("pads", json!([[8, 0]]), "8,0 is off the board"),
        ("frogs", json!([[[2, 2]], [[3, 3]]]), "each player has 6"),
        ("to_move", json!(2), "there is no seat 2"),
        ("turn", json!(151), "the game ends after 150 actions"),
    ] {
        let mut broken = sound.clone();
        broken[field] = value;
        let error = crate::any::start::<Freckers>(&json!({"position": broken})).unwrap_err();
        assert!(error.to_string().contains(wanted), "{field}: {error}");
    }
    let both = "RRRRRR..|........|........|........|........|........|........|BBBBBB..";
    let both = both.replace('R', "x").replace('B', "R").replace('x', "B").replace('|', " ");
    let error = crate::any::start::<Freckers>(&drawn(&both, 0, 0)).unwrap_err();
    assert!(error.to_string().contains("only one player can be across"), "{error}");
}

#[test]
fn a_game_may_be_over_at_the_start() {
    let won = LAST_STEP.replace("......R.", "........").replace("RRRRR.**", "RRRRRR**");
    let game = start(&drawn(&won, 1, 12));
    assert_eq!(end(&game), Some(("all_across".to_owned(), vec![1, 2], vec![6, 2])));
    let game = start(&drawn(LAST_STEP, 0, 150));
    assert_eq!(end(&game), Some(("turn_limit".to_owned(), vec![1, 2], vec![5, 2])));
}
