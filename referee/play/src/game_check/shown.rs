//! Positions and differences as people read them.

use super::bench::Bench;
use super::games::Case;
use referee_games::wire::Move;
use serde_json::Value;

/// The most characters of a value that is shown.
const SHOWN_MAX: usize = 200;

impl Bench<'_> {
    /// Writes a move as text.
    pub(super) fn move_text(&self, step: &Move) -> String {
        match step {
            Move::Action { action, .. } => self.program().format_action(action),
            Move::Draw { draw } => format!("draw {draw}"),
            Move::Retire { retire } => format!("seat {retire} retires"),
        }
    }

    /// Says how a position came about, with moves that `position` reads.
    pub(super) fn describe_case(&self, case: &Case) -> String {
        let mut drawn = case.drawn.iter();
        let text = |step: &Move| match step {
            Move::Draw { .. } => format!("draw {}", drawn.next().map_or("", String::as_str)),
            step => self.move_text(step),
        };
        let moves: Vec<String> = case.moves.iter().map(text).collect();
        let setup = match case.setup.as_object() {
            Some(fields) if fields.is_empty() => String::new(),
            _ => format!("setup {}", case.setup),
        };
        let after = match moves.len() {
            0 => "at the start".to_owned(),
            1 => format!("after 1 move: {}", moves[0]),
            count => format!("after {count} moves: {}", moves.join(", ")),
        };
        [setup, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Writes a value: actions as text, long ones shortened.
    pub(super) fn value_text(&self, value: &Value) -> String {
        let text = match value {
            Value::Array(items) if items.iter().any(|item| item.get("type").is_some()) => {
                let items = items.iter().map(|item| self.program().format_action(item));
                items.collect::<Vec<_>>().join(", ")
            }
            _ => value.to_string(),
        };
        short(&text)
    }

    /// Returns the first part in which two plies or answers differ, and both of its values as text.
    pub(super) fn difference(
        &self,
        one: &Value,
        other: &Value,
    ) -> Option<(String, String, String)> {
        if one == other {
            return None;
        }
        if let (Some(one), Some(other)) = (one["plies"].as_array(), other["plies"].as_array()) {
            let mut pairs = one.iter().zip(other);
            if let Some(found) = pairs.find_map(|(one, other)| self.difference(one, other)) {
                return Some(found);
            }
        }
        let none = &Value::Null;
        let (Some(first), Some(second)) = (one.as_object(), other.as_object()) else {
            return Some(("answer".to_owned(), short(&one.to_string()), short(&other.to_string())));
        };
        // The state last: what follows from it says more.
        let mut keys: Vec<&String> = first.keys().chain(second.keys()).collect();
        keys.sort_by_key(|key| (*key == "state", key.as_str()));
        let key = keys.into_iter().find(|key| first.get(*key) != second.get(*key))?;
        let (one, other) = (first.get(key).unwrap_or(none), second.get(key).unwrap_or(none));
        if one.is_object() && other.is_object() {
            let (part, one, other) = self.difference(one, other)?;
            return Some((format!("{key}.{part}"), one, other));
        }
        let (one, other) = match (one.as_array(), other.as_array()) {
            // From the first entry that differs.
            (Some(first), Some(second)) => {
                let same = first.iter().zip(second).take_while(|(one, other)| one == other);
                let same = same.count();
                let part =
                    |all: &[Value]| Value::Array(all.iter().skip(same).take(4).cloned().collect());
                (part(first), part(second))
            }
            _ => (one.clone(), other.clone()),
        };
        Some((key.clone(), self.value_text(&one), self.value_text(&other)))
    }
}

/// Shortens a text.
pub(super) fn short(text: &str) -> String {
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain("..".chars()).collect()
}
