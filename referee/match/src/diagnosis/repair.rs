//! What the author of a line that is no message means, if the usual repairs make it one: keys in another case, a bare
//! action, a move as text, a prompt before the message, numbers in quotes, a printed dict of Python, quotes that a shell
//! took, JSON inside JSON, messages in a list.

use super::{Evidence, Stage};
use referee_games::{AnyGame, nearest};
use referee_protocol::{FromAgent, ParseErrorKind, parse_from_agent, parse_strict};
use serde_json::{Map, Value};

/// Fields that are no parts of an action.
const OTHER_FIELDS: [&str; 2] = ["type", "turn"];

/// Returns the line as it should be, if that is clear.
pub(super) fn repair(line: &[u8], known: &Evidence<'_>) -> Option<String> {
    let is_ambiguous = parse_strict(line).is_err_and(|broken| {
        matches!(
            broken.kind,
            ParseErrorKind::Duplicate | ParseErrorKind::Depth | ParseErrorKind::Number
        )
    });
    if known.foreign || is_ambiguous {
        return None;
    }
    // What the bytes mean in another encoding isn't known.
    let text = std::str::from_utf8(line).ok()?;
    // Each of several messages may be right.
    if text.contains("}{") {
        return None;
    }
    let text = text.trim_start_matches('\u{FEFF}').trim();
    let inner = match serde_json::from_str(text) {
        Ok(Value::Array(items)) if items.iter().all(is_labelled) => return several(&items, known),
        Ok(Value::String(inner)) => inner,
        _ => text.to_owned(),
    };
    let inner = inner.trim();
    // A shell takes the braces away, too.
    let braced = format!("{{{inner}}}");
    let inner = if inner.starts_with("type:") { braced.as_str() } else { inner };
    let meant = match inner.find('{').or_else(|| inner.find('[').filter(|&at| at == 0)) {
        Some(start) => from_value(&lower_keys(&json_or_nearly(&inner[start..])?), known),
        None => from_text(inner, known),
    };
    meant.filter(|meant| meant != text && is_message(meant, known))
}

/// Whether a value has the type of a message.
fn is_labelled(value: &Value) -> bool {
    matches!(value["type"].as_str(), Some("ready" | "info" | "action" | "resign"))
}

/// Returns the lines for several messages that were written as one list.
fn several(messages: &[Value], known: &Evidence<'_>) -> Option<String> {
    let line = |message| from_value(message, known).filter(|line| is_message(line, known));
    let lines: Vec<String> = messages.iter().map(line).collect::<Option<_>>()?;
    (!lines.is_empty()).then(|| lines.join(" and, on a line of its own, "))
}

/// Whether the agent could send this line.
fn is_message(line: &str, known: &Evidence<'_>) -> bool {
    match (parse_from_agent(line.as_bytes()), known.game) {
        (Ok(FromAgent::Action(it)), Some(game)) => game.malformed(&it.action).is_none(),
        (Ok(FromAgent::Ready(_)), _) => known.stage == Stage::Start,
        (Ok(FromAgent::Action(_)), None) | (Err(_), _) => false,
        (Ok(_), _) => true,
    }
}

/// A word or a move as text.
fn from_text(text: &str, known: &Evidence<'_>) -> Option<String> {
    let word = text.trim_matches(['"', '\'']).trim();
    match (known.stage, known.game) {
        (Stage::Start, _) => {
            word.eq_ignore_ascii_case("ready").then(|| "{\"type\":\"ready\"}".to_owned())
        }
        (_, Some(game)) => {
            let legal = game.actions();
            let named = legal.iter().find(|action| {
                game.format_action(action).eq_ignore_ascii_case(word)
                    || action["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case(word))
                        && leaves(action).is_empty()
            });
            let read = || game.parse_action(word).ok();
            let by_parts = || like(&Loose(word).value(0)?, &legal);
            named.cloned().or_else(read).or_else(by_parts).map(|action| message(&action))
        }
        _ => None,
    }
}

fn from_value(value: &Value, known: &Evidence<'_>) -> Option<String> {
    let kind = value["type"].as_str().map(str::to_lowercase);
    match kind.as_deref() {
        Some("ready" | "resign" | "info") => {
            let mut fields = value.as_object()?.clone();
            fields["type"] = Value::String(kind?);
            if let Some(want) = fields.get_mut("want") {
                *want = wanted(want)?;
            }
            Some(Value::Object(fields).to_string())
        }
        _ if known.stage == Stage::Start => None,
        _ => {
            let game = known.game?;
            let given = ["action", "move"].iter().find_map(|key| value.get(key)).unwrap_or(value);
            if let Some(text) = given.as_str().map(str::trim) {
                let inner = text.starts_with('{').then(|| json_or_nearly(text)).flatten();
                return match inner {
                    Some(inner) => from_value(&lower_keys(&inner), known),
                    None => from_text(text, known),
                };
            }
            // The place of an action in the list of all.
            if let Some(place) = value.get("action").and_then(Value::as_u64) {
                return game.actions().get(usize::try_from(place).ok()?).map(message);
            }
            // Without an action, it has probably none to choose from.
            if value["type"] == "action" && leaves(value).is_empty() {
                let legal = game.actions();
                return legal.first().filter(|_| legal.len() == 1).map(message);
            }
            let action = like(given, &game.actions()).or_else(|| usual_form(given, game));
            action.map(|action| message(&action)).or_else(|| match leaves(given).as_slice() {
                [cell] => from_text(cell, known),
                _ => None,
            })
        }
    }
}

/// Returns the list of the fields that `ready` asks for, where they have nearly their names.
fn wanted(want: &Value) -> Option<Value> {
    let intended = |name: &Value| {
        let name = name.as_str()?;
        nearest(name, ["position", "actions"]).map(Value::from)
    };
    match want {
        Value::Array(names) => names.iter().map(intended).collect(),
        name => intended(name).map(|name| Value::Array(vec![name])),
    }
}

/// Returns the action as a message.
fn message(action: &Value) -> String {
    format!("{{\"type\":\"action\",\"action\":{action}}}")
}

/// Returns the only legal action with these parts.
fn like(given: &Value, legal: &[Value]) -> Option<Value> {
    let kind = given["type"].as_str().filter(|kind| *kind != "action" && *kind != "move");
    let parts = leaves(given);
    let is_kind = |action: &&Value| {
        kind.is_none_or(|kind| {
            action["type"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(kind))
        })
    };
    if parts.is_empty() && kind.is_none() {
        return None;
    }
    // One part may have any name; the order of several is known by their names only.
    let is_named = |action: &&Value| {
        let fields = given.as_object().into_iter().flat_map(Map::keys);
        let fields: Vec<&String> =
            fields.filter(|key| !OTHER_FIELDS.contains(&key.as_str())).collect();
        fields.len() <= 1 || fields.iter().all(|key| action.get(key.as_str()).is_some())
    };
    let like = legal.iter().filter(is_kind).filter(is_named);
    let mut like = like.filter(|action| leaves(action) == parts);
    like.next().filter(|_| like.next().is_none()).cloned()
}

/// Returns an action that isn't legal, in its usual form, if only the form of its numbers and of its kind is wrong.
fn usual_form(given: &Value, game: &dyn AnyGame) -> Option<Value> {
    fn numbers(value: &Value) -> Value {
        match value {
            Value::String(text) => text.trim().parse::<i64>().map_or(value.clone(), Value::from),
            Value::Array(items) => items.iter().map(numbers).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.clone(), numbers(value))).collect()
            }
            _ => value.clone(),
        }
    }
    let mut action = numbers(given);
    if let Some(kind) = given["type"].as_str() {
        action["type"] = Value::String(kind.to_lowercase());
    }
    game.malformed(&action).is_none().then_some(action)
}

/// Returns the parts of an action but for its kind, each as text.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let parts = fields.iter().filter(|(key, _)| !OTHER_FIELDS.contains(&key.as_str()));
            parts.flat_map(|(_, value)| leaves(value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.trim().to_lowercase()],
        Value::Number(number) => match number.as_f64().filter(|it| it.fract() == 0.0) {
            Some(whole) => vec![format!("{whole:.0}")],
            None => vec![number.to_string()],
        },
        Value::Bool(_) => vec![value.to_string()],
    }
}

/// Writes the keys of all objects in lower case.
fn lower_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.trim().to_lowercase(), lower_keys(value)))
            .collect(),
        Value::Array(items) => items.iter().map(lower_keys).collect(),
        _ => value.clone(),
    }
}

fn json_or_nearly(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| Loose(text).value(0))
}

/// The rest of a text that is nearly JSON: quotes of both kinds or none, commas at the end, the constants and tuples of
/// Python, brackets that aren't closed.
struct Loose<'a>(&'a str);

/// How deep values may nest.
const DEPTH_MAX: usize = 16;

impl Loose<'_> {
    /// Reads the value that comes next.
    fn value(&mut self, depth: usize) -> Option<Value> {
        let close = match self.next()? {
            _ if depth > DEPTH_MAX => return None,
            '{' => return self.fields(depth).map(Value::Object),
            '[' => ']',
            '(' => ')',
            quote @ ('"' | '\'') => return self.quoted(quote).map(Value::String),
            letter => return self.word(letter, depth),
        };
        let mut items = Vec::new();
        while !self.closes(close) {
            items.push(self.value(depth + 1)?);
        }
        Some(Value::Array(items))
    }

    fn fields(&mut self, depth: usize) -> Option<Map<String, Value>> {
        let mut fields = Map::new();
        while !self.closes('}') {
            let key = match self.next()? {
                quote @ ('"' | '\'') => self.quoted(quote)?,
                letter => self.bare(letter),
            };
            // Ruby writes `=>`.
            self.0 = self.0.trim_start();
            self.0 = self.0.strip_prefix("=>").or_else(|| self.0.strip_prefix(':'))?;
            fields.insert(key, self.value(depth + 1)?);
        }
        Some(fields)
    }

    /// Returns the next character that isn't a space.
    fn next(&mut self) -> Option<char> {
        self.0 = self.0.trim_start();
        let next = self.0.chars().next()?;
        self.0 = &self.0[next.len_utf8()..];
        Some(next)
    }

    /// Reads a comma, and the end of a list, if they come next. The end of the text ends every list.
    fn closes(&mut self, close: char) -> bool {
        self.0 = self.0.trim_start().trim_start_matches(',').trim_start();
        let rest = self.0.strip_prefix(close);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some() || self.0.is_empty()
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        let (text, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        (!text.contains('\\')).then(|| text.to_owned())
    }

    /// Reads what has no quotes.
    fn bare(&mut self, first: char) -> String {
        let is_end = |letter: char| letter.is_whitespace() || ":,]})".contains(letter);
        let (text, rest) = self.0.split_at(self.0.find(is_end).unwrap_or(self.0.len()));
        self.0 = rest;
        format!("{first}{text}")
    }

    fn word(&mut self, first: char, depth: usize) -> Option<Value> {
        let word = self.bare(first);
        Some(match word.as_str() {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" | "nil" => Value::Null,
            _ => match word.parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => match word.parse::<f64>() {
                    Ok(number) => Value::from(Some(number).filter(|it| it.is_finite())?),
                    // A shell takes quotes away.
                    Err(_) => {
                        (depth > 0 && first.is_ascii_alphabetic()).then_some(Value::String(word))?
                    }
                },
            },
        })
    }
}
