//! What simulated agents say: lines, and what is meant by them.

use super::plan::Random;
use referee_games::{AnyGame, Refusal};
use serde_json::{Value, json};

/// A line that an agent is going to write; which bytes these are is known when it does.
#[derive(Clone, Debug)]
pub(crate) enum Speech {
    Ready {
        want: &'static str,
    },
    /// A legal action, where there is one.
    Legal {
        turn: TurnField,
    },
    /// A well-formed action that isn't legal, where one can be made.
    Illegal,
    /// An action that this game doesn't have.
    Malformed {
        turn: TurnField,
    },
    /// Nothing that the protocol has.
    Garbled,
    Info {
        bytes: usize,
    },
    Blank,
    Resign {
        turn: TurnField,
    },
    /// The beginning of a line that is too long.
    Cut,
}

/// The field `turn` of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnField {
    LeftOut,
    /// The turn that the match is in.
    Right,
    Wrong,
}

/// What a line is, whatever the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Blank,
    Cut,
    Garbled,
    Info,
    Ready,
    /// An answer, for this turn if it says so.
    Resign {
        turn: Option<u64>,
    },
    /// An action that has been tried on the current board.
    Action {
        turn: Option<u64>,
        is_legal: bool,
    },
}

const GARBLED: &[&[u8]] = &[
    b"hello",
    b"[]",
    b"{}",
    b"{\"type\":\"info\",\"a\":1,\"a\":2}",
    b"\xef\xbb\xbf{\"type\":\"info\"}",
    b"{\"type\":\"info\",\"text\":\"\xff\"}",
    b"{\"type\":\"info\",\"text\":\"\0\"}",
    b"{\"type\":\"ready\",\"want\":[\"board\"]}",
    b"{\"type\":\"ready\",\"nmae\":\"x\"}",
    b"{\"type\":\"resign\",\"turn\":\"1\"}",
    b"{\"type\":\"action\"}",
    b"{\"type\":\"move\",\"to\":1}",
    b"{\"type\":\"info\"} {\"type\":\"info\"}",
    b"{\"type\":\"info\",\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
];

impl Speech {
    /// The bytes, and what they are.
    pub(crate) fn say(&self, game: &dyn AnyGame, random: &mut Random) -> (Vec<u8>, Meaning) {
        let text = |text: String, meaning| (text.into_bytes(), meaning);
        match self {
            Self::Ready { want } => {
                text(format!("{{\"type\":\"ready\",\"want\":[{want}]}}"), Meaning::Ready)
            }
            Self::Legal { turn } => {
                let actions = game.actions();
                if actions.is_empty() {
                    // The game was over at its start.
                    return answer(*turn, &json!({}), game);
                }
                let turn = turn.number(game);
                (line(turn, &random.pick(&actions)), Meaning::Action { turn, is_legal: true })
            }
            Self::Illegal => answer(TurnField::Right, &illegal(game, random), game),
            Self::Malformed { turn } => answer(*turn, &json!({"type": "no such action"}), game),
            Self::Garbled => (random.pick(GARBLED).to_vec(), Meaning::Garbled),
            Self::Info { bytes } => {
                let long = "x".repeat(*bytes);
                text(format!("{{\"type\":\"info\",\"text\":\"{long}\"}}"), Meaning::Info)
            }
            Self::Blank => {
                let blanks: [&[u8]; 4] = [b"", b" ", b"\t\t", b"   \r"];
                (random.pick(&blanks).to_vec(), Meaning::Blank)
            }
            Self::Resign { turn } => {
                let turn = turn.number(game);
                let field = turn.map_or(String::new(), |turn| format!(",\"turn\":{turn}"));
                text(format!("{{\"type\":\"resign\"{field}}}"), Meaning::Resign { turn })
            }
            Self::Cut => (vec![b'x'; 2000], Meaning::Cut),
        }
    }
}

impl TurnField {
    fn number(self, game: &dyn AnyGame) -> Option<u64> {
        match self {
            Self::LeftOut => None,
            Self::Right => Some(game.turn_number()),
            Self::Wrong => Some(game.turn_number() + 1),
        }
    }
}

fn answer(turn: TurnField, action: &Value, game: &dyn AnyGame) -> (Vec<u8>, Meaning) {
    let turn = turn.number(game);
    let meaning = match game.clone_box().play(action) {
        Err(Refusal::Malformed(_)) => Meaning::Garbled,
        tried => Meaning::Action { turn, is_legal: tried.is_ok() },
    };
    (line(turn, action), meaning)
}

fn line(turn: Option<u64>, action: &Value) -> Vec<u8> {
    let line = match turn {
        // A whole number may be written as any number.
        Some(turn) if turn % 3 == 0 => {
            format!("{{\"type\":\"action\",\"turn\":{turn}.0,\"action\":{action}}}")
        }
        Some(turn) => format!("{{\"turn\":{turn},\"action\":{action},\"type\":\"action\"}}"),
        None => format!("{{\"type\":\"action\",\"action\":{action}}}"),
    };
    line.into_bytes()
}

/// A legal action with its numbers off every board, or one of the game's own examples.
fn illegal(game: &dyn AnyGame, random: &mut Random) -> Value {
    let mut tries: Vec<Value> = game.actions().into_iter().take(1).collect();
    tries.iter_mut().for_each(enlarge);
    tries.extend(game.kind().about().actions.iter().map(|form| form.example.clone()));
    let start = usize::try_from(random.below(tries.len() as u64)).unwrap();
    tries.rotate_left(start);
    let is_illegal =
        |action: &&Value| matches!(game.clone_box().play(action), Err(Refusal::Illegal(_)));
    tries.iter().find(is_illegal).unwrap_or(&tries[0]).clone()
}

fn enlarge(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_i64().unwrap_or(0) + 1000),
        Value::Array(values) => values.iter_mut().for_each(enlarge),
        Value::Object(fields) => fields.values_mut().for_each(enlarge),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
