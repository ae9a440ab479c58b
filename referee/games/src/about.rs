use crate::forms::Forms;
use crate::wire::Described;
use referee_protocol::sanitize::sanitize;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Describes a game: its `about.json`, which `games --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The display name: `Chinese Checkers`.
    pub title: &'static str,
    /// One or two sentences about the game.
    pub summary: &'static str,
    /// The possible numbers of seats.
    pub seats: Vec<u8>,
    /// The rule document and its sections.
    pub source: &'static str,
    /// The fields of the setup, without `position`, which every game has.
    pub setup: Vec<SetupField>,
    /// The kinds of action.
    pub actions: Vec<ActionSyntax>,
    /// The reasons for an outcome.
    pub reasons: Vec<Reason>,
    /// The unit of the outcome's scores; `None` if there are no scores.
    pub score: Option<Score>,
    /// Setups that the tests run besides the default one: every switch in every value, and the
    /// smallest and largest sizes.
    pub variants: Vec<Value>,
    /// Situations that random games seldom reach, in which `check` also plays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub situations: Vec<Situation>,
}

/// A situation in which `check` also plays.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Situation {
    /// The name of its probes on the command line.
    pub name: &'static str,
    /// What the agent does, after "it": "passes if it has no other action".
    pub expected: &'static str,
    /// The fields of the setup that lead to it.
    pub setup: Value,
    /// The fields of an ordinary setup of the same kind. `check` uses the situation only for agents
    /// that can play from this setup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Value>,
}

/// One field of a setup.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupField {
    /// The field's name.
    pub name: &'static str,
    /// The values, as shown in help: `3..26`, `"none" | "pieces" | "sides"`.
    pub values: String,
    /// The default.
    pub default: Value,
    /// Its meaning.
    pub meaning: &'static str,
}

/// One kind of action.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionSyntax {
    /// An example as on the wire.
    pub example: Value,
    /// The example in text form.
    pub text: &'static str,
    /// What it does and when it is legal.
    pub meaning: &'static str,
}

/// One reason for an outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The code in `outcome.reason`.
    pub name: &'static str,
    /// Completes "NAME wins: ...", "draw: ..." or "not solved: ...". `{FIELD}` is replaced with
    /// that field of the setup.
    pub text: &'static str,
    /// The rule behind it.
    pub meaning: &'static str,
}

/// The unit of the scores.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The unit: `moves`, `pegs left`.
    pub unit: &'static str,
    /// Whether fewer is better.
    pub fewer_is_better: bool,
}

impl About {
    /// Reads a game's `about.json`, once.
    pub(crate) fn read(json: &'static str) -> &'static Self {
        static READ: Mutex<BTreeMap<usize, &About>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(json.as_ptr().addr()).or_insert_with(|| {
            let about = serde_json::from_str(json);
            let about = about.expect("an `about.json` is well formed: a test reads all of them");
            Box::leak(Box::new(about))
        })
    }

    /// Returns the description of a game program in the form of a built-in game's.
    pub(crate) fn of_program(described: &Described, forms: &Forms) -> Self {
        let setup = described.setup.iter().map(|field| SetupField {
            name: intern(&field.name),
            values: field.values.text(),
            default: field.default.clone(),
            meaning: plain(&field.meaning),
        });
        let actions = described.actions.iter().map(|form| ActionSyntax {
            example: form.example.clone(),
            text: intern(&forms.format(&form.example)),
            meaning: plain(&form.meaning),
        });
        let reasons = described.reasons.iter().map(|reason| Reason {
            name: intern(&reason.name),
            text: plain(&reason.text),
            meaning: plain(&reason.meaning),
        });
        Self {
            title: plain(&described.title),
            summary: plain(&described.summary),
            seats: described.seats.clone(),
            source: "",
            setup: setup.collect(),
            actions: actions.collect(),
            reasons: reasons.collect(),
            score: described.score.as_ref().map(|score| Score {
                unit: plain(&score.unit),
                fewer_is_better: score.fewer_is_better,
            }),
            variants: Vec::new(),
            situations: Vec::new(),
        }
    }
}

/// Keeps what a game program says about itself, as one line without what a terminal would obey: commands print it, and
/// write it into files.
fn plain(text: &str) -> &'static str {
    let words: Vec<&str> = text.split_whitespace().collect();
    intern(&sanitize(&words.join(" ")))
}

/// Keeps a text until the process ends, as its game program does.
pub(crate) fn intern(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_program_says_about_itself_is_one_plain_line() {
        let said = "Two sides\n   play.\u{1b}]0;x\u{7}\n::error::\u{202e}";
        assert_eq!(plain(said), "Two sides play.\u{FFFD}]0;x\u{FFFD} ::error::\u{FFFD}");
    }
}
