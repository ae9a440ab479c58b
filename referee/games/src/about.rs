use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What people and programs may want to know of a game before it starts: its `about.json`, which
/// `games --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The game's name in a title: `Chinese Checkers`.
    pub title: &'static str,
    /// What it is, in a sentence or two.
    pub summary: &'static str,
    /// How many seats there can be.
    pub seats: Vec<u8>,
    /// The rule document and its sections.
    pub source: &'static str,
    /// The fields of the setup, `position` aside, which every game has.
    pub setup: Vec<SetupField>,
    /// The kinds of action.
    pub actions: Vec<ActionSyntax>,
    /// The reasons that an outcome can have.
    pub reasons: Vec<Reason>,
    /// What the outcome's scores count, where there are scores.
    pub score: Option<Score>,
    /// Setups beside the default one that are worth a test and a look: every switch in every
    /// value, and the smallest and largest sizes.
    pub variants: Vec<Value>,
}

/// One field of a setup.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupField {
    /// The field.
    pub name: &'static str,
    /// Its values, for people: `3..26`, `"none" | "pieces" | "sides"`.
    pub values: String,
    /// The default, filled in where the field is left out.
    pub default: Value,
    /// What it means.
    pub meaning: &'static str,
}

/// One kind of action.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionSyntax {
    /// An example as on the wire.
    pub example: Value,
    /// The same as people write it.
    pub text: &'static str,
    /// What it does and when it is legal.
    pub meaning: &'static str,
}

/// One reason for an end.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The code in `outcome.reason`.
    pub name: &'static str,
    /// Completes "NAME wins: ...", "draw: ..." or "not solved: ...".
    pub text: &'static str,
    /// The rule behind it.
    pub meaning: &'static str,
}

/// What scores count.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The unit: `moves`, `pegs left`.
    pub unit: &'static str,
    /// Fewer is better.
    pub fewer_is_better: bool,
}

impl About {
    /// Reads a game's `about.json`.
    pub(crate) fn read(json: &'static str) -> Self {
        serde_json::from_str(json)
            .expect("an `about.json` is well formed: a test reads all of them")
    }
}
