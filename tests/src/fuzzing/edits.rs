//! Small changes to JSON: almost valid input gets further than random bytes.

use serde_json::{Value, json};

/// Changes the value; each change has two bytes: where and how.
pub(super) fn edited(mut value: Value, script: &[u8]) -> Value {
    for change in script.chunks_exact(2) {
        let mut at = usize::from(change[0]) % count(&value);
        edit(&mut value, &mut at, change[1]);
    }
    value
}

/// Counts the values in a value, including itself.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum::<usize>(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value with this index, in written order. Returns whether it was found.
fn edit(value: &mut Value, at: &mut usize, how: u8) -> bool {
    if *at == 0 {
        change(value, how);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(values) => values.iter_mut().any(|value| edit(value, at, how)),
        Value::Object(fields) => fields.values_mut().any(|value| edit(value, at, how)),
        _ => false,
    }
}

fn change(value: &mut Value, how: u8) {
    match value {
        Value::Array(values) => match how % 8 {
            0 => drop(values.pop()),
            1 => values.extend_from_within(..values.len().min(1)),
            2 => values.reverse(),
            3 => drop((!values.is_empty()).then(|| values.remove(0))),
            4 => values.clear(),
            5 => values.push(json!([])),
            6 => values.push(json!(0)),
            _ => *value = Value::Null,
        },
        Value::Object(fields) => match how % 4 {
            0 => drop(fields.insert("surplus".to_owned(), json!(1))),
            1 => fields.retain(|name, _| name == "type"),
            2 => *value = Value::Null,
            _ => *value = json!([fields]),
        },
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or(0);
            let far = [0, i64::MAX, i64::MIN, 1 << 32, 1 << 16, 255, 0x8000_0000, -1];
            *value = match how {
                0..=127 => json!(number.wrapping_add(i64::from(how) - 64)),
                128..=191 => json!(far[usize::from(how) % far.len()]),
                192..=223 => json!([number]),
                _ => Value::Null,
            };
        }
        Value::Bool(is_so) => *is_so = !*is_so,
        Value::String(text) => match how % 3 {
            0 => text.push('x'),
            1 => text.clear(),
            _ => *value = Value::Null,
        },
        Value::Null => *value = json!(i64::from(how)),
    }
}
