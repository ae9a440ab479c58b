//! How a game is set up: its switches, the position it starts from, and what is told about them.

use crate::board::Cell;
use crate::{About, ActionForm, Illegal, Reason, Score, SetupField};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The largest turn limit.
const LIMIT_MAX: u32 = 1_000_000;

/// The switches of a game. Source: Rules for the Game of Freckers, "Actions" and "Ending the Game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Which cells of a sequence of jumps must be free pads.
    pub landing: Landing,
    /// After how many actions in all the game ends, 1 to 1000000.
    pub turn_limit: u32,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// Which cells of a sequence of jumps must be free pads. The rule text asks it of the destination,
/// "MOVE", and is silent on the cells between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// Only the last; the others need hold no frog.
    Last,
    /// Every one.
    Every,
}

impl Default for Setup {
    fn default() -> Self {
        Self { landing: Landing::Last, turn_limit: 150, position: None }
    }
}

impl Setup {
    /// Refuses a limit out of its range.
    pub(super) fn check_limits(&self) -> Result<(), Illegal> {
        let limit = self.turn_limit;
        if !(1..=LIMIT_MAX).contains(&limit) {
            let rule = format!("turn_limit: {limit} is not in the range 1 to {LIMIT_MAX}");
            return Err(Illegal::new(rule));
        }
        Ok(())
    }
}

/// The position as in `turn.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The seat to move.
    pub to_move: u8,
    /// The cells of each colour's six frogs, sorted.
    pub frogs: [Vec<Cell>; 2],
    /// The free pads, sorted; the pads that frogs stand on are not among them.
    pub pads: Vec<Cell>,
    /// How many actions there have been.
    pub turn: u32,
}

/// What there is to know of the game before it starts.
pub(super) fn about() -> About {
    About {
        title: "Freckers",
        summary: "Two teams of six frogs cross an 8x8 pond on lily pads that sink behind them and \
                  grow around them; the first team across wins.",
        seats: &[2],
        source: "Rules for the Game of Freckers (COMP30024, University of Melbourne, February \
                 2025, v1.1), all sections",
        setup: vec![
            SetupField {
                name: "landing",
                values: "\"last\" | \"every\"",
                default: json!("last"),
                meaning: "which cells of a sequence of jumps must be free pads",
            },
            SetupField {
                name: "turn_limit",
                values: "1..1000000",
                default: json!(150),
                meaning: "after how many actions in all the frogs across are counted",
            },
        ],
        actions: actions(),
        reasons: vec![
            Reason {
                name: "all_across",
                meaning: "all six frogs of a player are on the opposite row: it wins",
            },
            Reason {
                name: "turn_limit",
                meaning: "`turn_limit` actions have been played: more frogs on the opposite row \
                          win, as many are a draw",
            },
        ],
        score: Some(Score { unit: "frogs across", fewer_is_better: false }),
        variants: vec![
            json!({"landing": "every"}),
            json!({"turn_limit": 1}),
            json!({"turn_limit": 1000, "landing": "last"}),
            json!({"turn_limit": 1000, "landing": "every"}),
        ],
    }
}

fn actions() -> Vec<ActionForm> {
    vec![
        ActionForm {
            example: json!({
                "type": "move", "from": [0, 3], "directions": ["DOWN_LEFT"], "to": [1, 2],
            }),
            text: "0,3 DOWN_LEFT",
            meaning: "a frog goes one step, or one or more jumps over frogs, to a free pad; red \
                      never goes up, blue never down; the pad left behind disappears",
        },
        ActionForm {
            example: json!({"type": "move", "from": [0, 3], "to": [1, 2]}),
            text: "0,3 to 1,2",
            meaning: "the same told by its end: the shortest way there is taken",
        },
        ActionForm {
            example: json!({"type": "grow"}),
            text: "grow",
            meaning: "a pad grows on every cell around the player's frogs that has none",
        },
    ]
}
