use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a two-seat match ends because the scores in both agents' `info` agree on the result. A
/// higher score is better for the agent that sends it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// When the match is won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win: Option<WinAdjudication>,
    /// When the match is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawAdjudication>,
}

/// When a match is won: one agent's scores are high and the other's low.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WinAdjudication {
    /// The winner's scores are at least this, the loser's at most its negative. More than 0.
    pub score: f64,
    /// For how many of its own turns in a row each agent must report such scores, at least 1.
    pub turns: u32,
}

/// When a match is drawn: both agents' scores are near 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawAdjudication {
    /// All scores are between this and its negative. At least 0.
    pub score: f64,
    /// For how many of its own turns in a row each agent must report such scores, at least 1.
    pub turns: u32,
    /// The earliest turn of the match in which it can end this way.
    #[serde(default)]
    pub from_turn: u64,
}
