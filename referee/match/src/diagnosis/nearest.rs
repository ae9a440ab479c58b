//! Finding the legal action that an agent may have meant.

use serde_json::Value;

/// Returns the legal action that is most like another: most of its parts are equal, and the other
/// numbers are nearest. `None` if nothing is legal.
pub fn nearest_action<'a>(action: &Value, legal: &'a [Value]) -> Option<&'a Value> {
    let nearness = legal.iter().map(|candidate| (likeness(action, candidate), candidate));
    // Of equally near actions, the first in the rules' order.
    let nearest = nearness.min_by(|((equal, distance), _), ((more, farther), _)| {
        more.cmp(equal).then(distance.total_cmp(farther))
    });
    nearest.map(|(_, candidate)| candidate)
}

/// Returns the path, such as `at[1]`, of the first part of an action whose type differs from that in a
/// legal action of the same `type`.
pub(super) fn first_type_mismatch(action: &Value, legal: &[Value]) -> Option<String> {
    let like = legal.iter().find(|candidate| candidate.get("type") == action.get("type"))?;
    other_type(action, like).filter(|path| !path.is_empty())
}

fn other_type(one: &Value, like: &Value) -> Option<String> {
    let within = |step: &str, one: &Value, like: &Value| {
        let rest = other_type(one, like)?;
        let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
        Some(format!("{step}{dot}{rest}"))
    };
    match (one, like) {
        (Value::Object(one), Value::Object(like)) => {
            one.iter().find_map(|(key, value)| within(key, value, like.get(key)?))
        }
        (Value::Array(one), Value::Array(like)) => {
            let like = like.first()?;
            let mut items = one.iter().enumerate();
            items.find_map(|(index, value)| within(&format!("[{index}]"), value, like))
        }
        // A fraction where there are whole numbers.
        (Value::Number(one), Value::Number(like)) => {
            (one.is_f64() && !like.is_f64()).then(String::new)
        }
        _ => (std::mem::discriminant(one) != std::mem::discriminant(like)).then(String::new),
    }
}

/// Returns how many leaves are equal, and how far apart the other numbers are in all.
fn likeness(one: &Value, other: &Value) -> (usize, f64) {
    let add = |sum: (usize, f64), (one, other): (&Value, Option<&Value>)| {
        let (equal, distance) = likeness(one, other.unwrap_or(&Value::Null));
        (sum.0 + equal, sum.1 + distance)
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().map(|(key, value)| (value, other.get(key))).fold((0, 0.0), add)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.iter().enumerate().map(|(at, value)| (value, other.get(at))).fold((0, 0.0), add)
        }
        _ if one == other => (1, 0.0),
        _ => {
            let numbers = one.as_f64().zip(other.as_f64());
            (0, numbers.map_or(1e6, |(one, other)| (one - other).abs().min(1e6)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{first_type_mismatch, nearest_action};
    use serde_json::json;

    #[test]
    fn a_part_of_another_type_is_found() {
        let legal = [json!({"type": "move", "from": [0, 1], "path": [[1, 2], [3, 4]]})];
        for (action, wanted) in [
            (json!({"type": "move", "from": ["0", 1]}), Some("from[0]")),
            (json!({"type": "move", "from": [0, 1.5]}), Some("from[1]")),
            (json!({"type": "move", "from": 7}), Some("from")),
            (json!({"type": "move", "path": [[1, 2], [3, null]]}), Some("path[1][1]")),
            (json!({"type": "move", "from": [7, 7]}), None),
            (json!({"type": "jump", "from": "a"}), None),
        ] {
            assert_eq!(first_type_mismatch(&action, &legal).as_deref(), wanted, "{action}");
        }
    }

    #[test]
    fn the_nearest_has_the_same_type_and_start_and_the_nearest_end() {
        let legal = [
            json!({"type": "move", "from": [0, 1], "to": [0, 2]}),
            json!({"type": "move", "from": [0, 1], "to": [1, 1]}),
            json!({"type": "jump", "from": [0, 1], "to": [4, 1]}),
            json!({"type": "pass"}),
        ];
        for (action, wanted) in [
            (json!({"type": "move", "from": [0, 1], "to": [5, 1]}), 1),
            (json!({"type": "jump", "from": [0, 1], "to": [5, 1]}), 2),
            (json!({"type": "move", "from": [9, 9], "to": [9, 9]}), 0),
            (json!({"type": "pass"}), 3),
        ] {
            assert_eq!(nearest_action(&action, &legal), Some(&legal[wanted]), "{action}");
        }
        assert_eq!(nearest_action(&json!({}), &[]), None);
    }
}
