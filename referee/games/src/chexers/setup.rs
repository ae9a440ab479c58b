//! How a game is set up: its limits, the position it starts from, and what is told about them.

use crate::board::Cell;
use crate::{About, ActionForm, Illegal, Reason, Score, SetupField};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The largest value of each limit.
const LIMIT_MAX: u32 = 1_000_000;

/// The limits of a game. Source: Rules for the Game of Chexers, "Ending the game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// How many exits win, 1 to 1000000.
    pub exits: u32,
    /// After how many turns of every seat the game is a draw, 1 to 1000000.
    pub turns_per_seat: u32,
    /// At which occurrence of one position the game is a draw, 1 to 1000000.
    pub repetitions: u32,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { exits: 4, turns_per_seat: 256, repetitions: 4, position: None }
    }
}

impl Setup {
    /// Refuses a limit out of its range.
    pub(super) fn check_limits(&self) -> Result<(), Illegal> {
        for (name, value) in [
            ("exits", self.exits),
            ("turns_per_seat", self.turns_per_seat),
            ("repetitions", self.repetitions),
        ] {
            if !(1..=LIMIT_MAX).contains(&value) {
                let rule = format!("{name}: {value} is not in the range 1 to {LIMIT_MAX}");
                return Err(Illegal::new(rule));
            }
        }
        Ok(())
    }

    /// The number of turns, over all seats, after which the game is over.
    pub(super) fn turns_max(&self) -> u32 {
        3 * self.turns_per_seat
    }
}

/// The position as in `turn.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The seat to move: `turn` mod 3.
    pub to_move: u8,
    /// The hexes of each colour's pieces, sorted.
    pub pieces: [Vec<Cell>; 3],
    /// How many exits each seat has made.
    pub exits: [u32; 3],
    /// The number of the turn, passed-over ones included.
    pub turn: u32,
    /// The seats that are out, sorted; their pieces stay.
    #[serde(default)]
    pub retired: Vec<u8>,
}

/// What there is to know of the game before it starts.
pub(super) fn about() -> About {
    About {
        title: "Chexers",
        summary: "A three-player race across a small hexagon: jump over other colours' pieces to \
                  make them yours, and be the first to take four pieces off the far edge.",
        seats: &[3],
        source: "Rules for the Game of Chexers (COMP30024, University of Melbourne, 11 March \
                 2019), all sections",
        setup: limits(),
        actions: actions(),
        reasons: vec![
            Reason { name: "four_exits", meaning: "a seat has made `exits` exits and wins" },
            Reason {
                name: "repetition",
                meaning: "one position, with the same seat to move, has occurred `repetitions` \
                          times: a draw",
            },
            Reason {
                name: "turn_limit",
                meaning: "every seat has had `turns_per_seat` turns: a draw",
            },
        ],
        score: Some(Score { unit: "exits", fewer_is_better: false }),
        variants: vec![
            json!({"exits": 1}),
            json!({"exits": 12}),
            json!({"repetitions": 1}),
            json!({"repetitions": 2}),
            json!({"turns_per_seat": 1}),
            json!({"turns_per_seat": 12, "repetitions": 3}),
        ],
    }
}

fn limits() -> Vec<SetupField> {
    vec![
        SetupField {
            name: "exits",
            values: "1..1000000",
            default: json!(4),
            meaning: "how many exits win",
        },
        SetupField {
            name: "turns_per_seat",
            values: "1..1000000",
            default: json!(256),
            meaning: "after how many turns of every seat, passes and turns passed over included, \
                      the game is a draw",
        },
        SetupField {
            name: "repetitions",
            values: "1..1000000",
            default: json!(4),
            meaning: "at which occurrence of one position, the start included, the game is a draw",
        },
    ]
}

fn actions() -> Vec<ActionForm> {
    vec![
        ActionForm {
            example: json!({"type": "exit", "from": [3, 0]}),
            text: "exit 3,0",
            meaning: "a piece leaves the board from an exit hex of its colour: red q = 3, green \
                      r = 3, blue q + r = -3",
        },
        ActionForm {
            example: json!({"type": "move", "from": [-3, 0], "to": [-2, 0]}),
            text: "move -3,0 -2,0",
            meaning: "a piece goes to an adjacent empty hex",
        },
        ActionForm {
            example: json!({"type": "jump", "from": [-3, 0], "to": [-1, 0]}),
            text: "jump -3,0 -1,0",
            meaning: "a piece goes over an adjacent piece to the empty hex opposite; a piece of \
                      another colour jumped over becomes the jumper's",
        },
        ActionForm {
            example: json!({"type": "pass"}),
            text: "pass",
            meaning: "nothing; legal exactly when nothing else is",
        },
    ]
}
