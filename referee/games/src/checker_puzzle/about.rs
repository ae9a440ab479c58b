//! What people and programs may want to know of the puzzle before it starts.

use crate::{About, ActionForm, Reason, Score, SetupField};
use serde_json::json;

pub(super) fn about() -> About {
    About {
        title: "Checker Puzzle",
        summary: "Chinese Checkers alone: bring all pieces from the bottom of a diamond to its \
                  top, by steps and by sequences of hops, in as few moves as possible.",
        seats: &[1],
        source: "Board Games on Hexagonal Grids (IT-3105), section 4.2",
        setup: vec![
            SetupField {
                name: "size",
                values: "3..26",
                default: json!(4),
                meaning: "the rows and columns of the diamond",
            },
            SetupField {
                name: "depth",
                values: "2..8",
                default: json!(3),
                meaning: "the rows, as drawn, that the pieces fill at the start and must fill at \
                          the end; at most 2 size - 2",
            },
            SetupField {
                name: "max_moves",
                values: "1..1000000",
                default: json!(200),
                meaning: "moves after which the puzzle counts as unsolved",
            },
        ],
        actions: vec![
            ActionForm {
                example: json!({"type": "move", "path": [[3, 1], [2, 1]]}),
                text: "3,1-2,1",
                meaning: "moves a piece by one step or by one or more hops; two cells are enough, \
                          the path is completed",
            },
            ActionForm {
                example: json!({"type": "move", "path": [[3, 3], [3, 1], [1, 1]]}),
                text: "3,3-3,1-1,1",
                meaning: "the same with every landing named, up to 64 cells",
            },
        ],
        reasons: vec![
            Reason { name: "solved", meaning: "the pieces fill the goal" },
            Reason { name: "move_limit", meaning: "`max_moves` moves were made: unsolved" },
        ],
        score: Some(Score { unit: "moves", fewer_is_better: true }),
        variants: vec![
            json!({"size": 3, "depth": 2}),
            json!({"size": 3, "depth": 4}),
            json!({"size": 5, "depth": 8}),
            json!({"size": 8, "depth": 4}),
            json!({"size": 26, "depth": 8, "max_moves": 60}),
        ],
    }
}
