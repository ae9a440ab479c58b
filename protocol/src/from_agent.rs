use crate::{ParseError, parse_strict, read_typed};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message from an agent to the referee: one JSON object per line on its stdout, with a `type`.
/// Unknown fields are refused except in `info`, so that a typo can't pass silently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromAgent {
    /// The answer to `hello`.
    Ready(Ready),
    /// The answer to `turn`.
    Action(Action),
    /// Data for viewers, sent in a turn before its action.
    Info(Info),
    /// Resigns, in place of an action.
    Resign(Resign),
}

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Its name; only recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version; only recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The optional fields that it wants in each `turn`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub want: Vec<Want>,
    /// After `over` its process waits for another `hello`. Has an effect only in a contest that keeps
    /// processes between games. Omitted if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// An optional field of `turn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The position, as the game writes it.
    Position,
    /// Every legal action, in the rules' order.
    Actions,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The turn that it answers; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The action, as the game writes it.
    pub action: Value,
}

/// Search data, text and marks, for viewers. Every field is allowed; `depth`, `score`, `nodes`,
/// `text` and `cells` (a list of `{"at":[..],"label":".."}`) are shown if they have that shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Info(pub Map<String, Value>);

impl Info {
    /// Returns the agent's own estimate of its position, if it is a number.
    pub fn score(&self) -> Option<f64> {
        self.0.get("score").and_then(Value::as_f64)
    }
}

/// The agent gives up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The turn that it answers; optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

/// Returns the action in a line of the usual form, `{"type":"action","turn":7,"action":..}`, with its turn,
/// if it has one, and `None` if the line has another form. If the text is one JSON value, and no object in
/// it has a key twice, then [`parse_from_agent`] reads the line as this action.
pub fn action_text(line: &[u8]) -> Option<(Option<u64>, &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let skip = |mut rest, tokens: &[&str]| {
        for token in tokens {
            rest = str::strip_prefix(rest, token)?.trim_start_matches(' ');
        }
        Some(rest)
    };
    let mut rest = skip(line, &["{", "\"type\"", ":", "\"action\"", ","])?;
    let mut turn = None;
    if let Some(number) = skip(rest, &["\"turn\"", ":"]) {
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = number.split_at(digits);
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        turn = Some(digits.parse().ok()?);
        rest = skip(after.trim_start_matches(' '), &[","])?;
    }
    Some((turn, skip(rest, &["\"action\"", ":"])?.strip_suffix('}')?))
}

/// Parses one line of an agent, without its end.
pub fn parse_from_agent(line: &[u8]) -> Result<FromAgent, ParseError> {
    let Value::Object(mut fields) = parse_strict(line)? else {
        return Err(ParseError::new(
            "expected an object such as {\"type\":\"action\",\"action\":...}",
        ));
    };
    let kind = match fields.remove("type") {
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(ParseError::new("`type` must be a string")),
        None => return Err(ParseError::new("missing field `type`")),
    };
    match kind.as_str() {
        "ready" => typed(fields).map(FromAgent::Ready),
        "action" => action(fields).map(FromAgent::Action),
        "info" => Ok(FromAgent::Info(Info(fields))),
        "resign" => typed(fields).map(FromAgent::Resign),
        _ => Err(ParseError::new(format!(
            "unknown type {kind:?}: an agent sends `ready`, `action`, `info` or `resign`"
        ))),
    }
}

/// Reads the message of every turn by hand, which is several times faster. Where something is
/// wrong with it, serde reads it again and finds the place.
fn action(mut fields: Map<String, Value>) -> Result<Action, ParseError> {
    let turn = fields.get("turn").map(Value::as_u64);
    let known = 1 + usize::from(turn.is_some());
    if turn != Some(None)
        && fields.len() == known
        && let Some(action) = fields.remove("action")
    {
        return Ok(Action { turn: turn.flatten(), action });
    }
    typed(fields)
}

fn typed<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ParseError> {
    read_typed(&Value::Object(fields)).map_err(ParseError::new)
}

#[cfg(test)]
mod tests {
    use super::{FromAgent, Want, action_text, parse_from_agent};

    #[test]
    fn good_lines_are_read() {
        let ready = parse_from_agent(br#"{"type":"ready","want":["actions"],"name":"x"}"#).unwrap();
        let FromAgent::Ready(ready) = ready else { panic!("{ready:?}") };
        assert_eq!(ready.want, [Want::Actions]);
        for line in [
            r#"{"type":"ready"}"#,
            r#"{"type":"ready","again":true}"#,
            r#"{"action":{"type":"pass"},"type":"action"}"#,
            r#" {"type":"action","turn":3.0,"action":{"type":"pass"}}  "#,
            r#"{"type":"info","score":0.31,"anything":[{}]}"#,
            r#"{"type":"resign"}"#,
        ] {
            assert!(parse_from_agent(line.as_bytes()).is_ok(), "{line}");
        }
    }

    #[test]
    fn an_action_in_the_usual_form_is_found() {
        for (line, action) in [
            (r#"{"type":"action","action":{"a":[1]}}"#, Some((None, r#"{"a":[1]}"#))),
            (r#"{"type": "action", "action": {"a": 1} }"#, Some((None, r#"{"a": 1} "#))),
            (r#"{"type":"action","turn":10,"action":{}}"#, Some((Some(10), "{}"))),
            (r#"{"type":"action", "turn": 0 , "action":{}}"#, Some((Some(0), "{}"))),
            (r#"{"type":"action","turn":01,"action":{}}"#, None),
            (r#"{"type":"action","turn":-1,"action":{}}"#, None),
            (r#"{"type":"action","turn":1.0,"action":{}}"#, None),
            (r#"{"type":"action","turn":18446744073709551616,"action":{}}"#, None),
            (r#"{"type":"action","turn":1,"turn":1,"action":{}}"#, None),
            (r#"{"action":{},"type":"action"}"#, None),
            (r#"{"type":"action","action":{}"x"#, None),
        ] {
            assert_eq!(action_text(line.as_bytes()), action, "{line}");
            if let Ok(FromAgent::Action(read)) = parse_from_agent(line.as_bytes())
                && let Some((turn, action)) = action
            {
                let action: serde_json::Value = serde_json::from_str(action).unwrap();
                assert_eq!((turn, action), (read.turn, read.action));
            }
        }
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        for (line, wanted) in [
            ("[]", "expected an object such as {\"type\""),
            ("{}", "missing field `type`"),
            (r#"{"type":1}"#, "`type` must be a string"),
            (r#"{"type":"move"}"#, "unknown type \"move\""),
            (r#"{"type":"ready","nmae":"x"}"#, "unknown field `nmae`"),
            (r#"{"type":"ready","want":["moves"]}"#, "want[0]: unknown value `moves`: expected"),
            (r#"{"type":"ready","name":7}"#, "name: expected text, got 7"),
            (r#"{"type":"ready","again":1}"#, "again: expected true or false, got 1"),
            (r#"{"type":"action"}"#, "missing field `action`"),
            (
                r#"{"type":"action","turn":-1,"action":{}}"#,
                "turn: expected a whole number from 0, got -1",
            ),
            (
                r#"{"type":"action","turn":1.5,"action":{}}"#,
                "turn: expected a whole number from 0, got 1.5",
            ),
            (r#"{"type":"resign","why":"x"}"#, "unknown field `why`"),
            ("hello", "this is not JSON (byte 1)"),
        ] {
            let text = parse_from_agent(line.as_bytes()).expect_err(line).to_string();
            assert!(text.contains(wanted), "{line}: {text:?} lacks {wanted:?}");
        }
    }
}
