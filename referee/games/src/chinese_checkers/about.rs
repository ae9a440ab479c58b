//! What people and programs may want to know of the game before it starts.

use crate::{About, ActionForm, Reason, SetupField};
use serde_json::json;

pub(super) fn about() -> About {
    About {
        title: "Chinese Checkers",
        summary: "Move all your marbles across a star of 121 positions into the opposite point, \
                  by steps and by sequences of jumps, before the others do.",
        seats: &[2, 3, 4, 6],
        source: "ACM Hong Kong Chapter Chinese Checkers competition rules (1997)",
        setup: setup(),
        actions: vec![
            ActionForm {
                example: json!({"type": "move", "path": [4, 15]}),
                text: "4-15",
                meaning: "moves a marble by one step or by one or more jumps; two positions are \
                          enough, the referee completes the path",
            },
            ActionForm {
                example: json!({"type": "move", "path": [1, 6, 17]}),
                text: "1-6-17",
                meaning: "the same with every landing named, up to 64 positions",
            },
            ActionForm {
                example: json!({"type": "pass"}),
                text: "pass",
                meaning: "legal exactly when no marble can move",
            },
        ],
        reasons: vec![
            Reason { name: "home", meaning: "a seat is home and wins" },
            Reason { name: "turn_limit", meaning: "`max_turns` turns were played: a draw" },
            Reason { name: "no_moves", meaning: "every seat left passed in a row: a draw" },
        ],
        score: None,
        variants: vec![
            json!({"seats": 3, "neutral": "closed"}),
            json!({"seats": 4, "size": 3, "win": "filled"}),
            json!({"seats": 6}),
            json!({"jumps": "adjacent"}),
            json!({"neutral": "free"}),
            json!({"jumps": "adjacent", "neutral": "closed", "win": "filled"}),
            json!({"win": "filled", "max_turns": 300}),
            json!({"size": 2}),
            json!({"size": 2, "seats": 6, "neutral": "free", "win": "filled"}),
            json!({"size": 5}),
        ],
    }
}

fn setup() -> Vec<SetupField> {
    vec![
        SetupField {
            name: "seats",
            values: "2 | 3 | 4 | 6",
            default: json!(2),
            meaning: "how many play: on points 0 and 3, 0 2 4, 1 2 4 5, or all, counted clockwise \
                      from the top",
        },
        SetupField {
            name: "size",
            values: "2..5",
            default: json!(4),
            meaning: "the rows of one point of the star",
        },
        SetupField {
            name: "jumps",
            values: "\"long\" | \"adjacent\"",
            default: json!("long"),
            meaning: "over a marble at any distance, to as far behind it; or only over neighbours",
        },
        SetupField {
            name: "neutral",
            values: "\"pass\" | \"free\" | \"closed\"",
            default: json!("pass"),
            meaning: "points that are neither start nor target: no turn may end there; no \
                      restriction; or no jump may land there either",
        },
        SetupField {
            name: "win",
            values: "\"own\" | \"filled\"",
            default: json!("own"),
            meaning: "home is: all own marbles in the target; or the target full with at least \
                      one own marble",
        },
        SetupField {
            name: "max_turns",
            values: "1..1000000",
            default: json!(1000),
            meaning: "turns over all seats, then the game is drawn",
        },
    ]
}
