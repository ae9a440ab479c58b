use serde::de::DeserializeOwned;
use serde_json::Value;

/// Starts of errors about a line that isn't JSON, and what they mean.
const SYNTAX: &[(&str, &str)] = &[
    ("EOF while parsing an object", "the line ends inside an object"),
    ("EOF while parsing a list", "the line ends inside a list"),
    ("EOF while parsing a string", "the line ends inside a string"),
    ("EOF while parsing", "the line ends where a value is expected"),
    ("expected ident", "this is not JSON"),
    ("expected value", "this is not JSON"),
    ("expected `:`", "expected a `:` after the key"),
    ("key must be a string", "a key must be a string in double quotes"),
    ("control character", "control character in a string; write it as an escape such as `\\n`"),
    ("invalid escape", "unknown escape in a string"),
    ("lone leading surrogate", "half of a surrogate pair in a `\\u` escape"),
    ("unexpected end of hex escape", "half of a surrogate pair in a `\\u` escape"),
    ("trailing comma", "comma before a closing bracket"),
    ("trailing characters", "more text after the JSON value"),
    ("recursion limit exceeded", "nested too deep"),
];

/// Rewrites the text of a serde error for readers who don't know Rust: "invalid type: string \"b\",
/// expected i64" becomes "expected a whole number, got \"b\"". Drops its position.
pub fn plain_error(text: &str) -> String {
    let text = text.rsplit_once(" at line ").map_or(text, |(text, _)| text);
    let text = text.strip_suffix(", there are no fields").unwrap_or(text);
    if let Some(rest) = text.strip_prefix("unknown variant ") {
        return format!("unknown value {}", rest.replacen("`, expected", "`: expected", 1));
    }
    let mismatch = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = mismatch.iter().find_map(|prefix| text.strip_prefix(prefix));
    if let Some((got, expected)) = rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("expected {}, got {}", expectation(expected), found(got));
    }
    let syntax = SYNTAX.iter().find(|(start, _)| text.starts_with(start));
    syntax.map_or(text, |(_, plain)| plain).to_owned()
}

/// Converts JSON to a type, with an error that names the field.
pub fn read_typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    // Tracking the path takes twice as long, so it is done only for an error.
    if let Ok(read) = T::deserialize(value) {
        return Ok(read);
    }
    serde_path_to_error::deserialize(value).map_err(|error| with_path(&error))
}

/// Reads a line of JSON as a type, without a tree in between; the error names the field.
pub fn read_line<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let error = match serde_json::from_slice(line) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let mut reader = serde_json::Deserializer::from_slice(line);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        // Where a line stops being JSON is no field.
        Err(error) if error.inner().is_data() => Err(with_path(&error)),
        _ => Err(plain_error(&error.to_string())),
    }
}

fn with_path(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let text = plain_error(&error.inner().to_string());
    // The path of an unknown field ends with its name, which is in the text.
    let unknown = text.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let outer = path.strip_suffix(unknown.unwrap_or_default()).unwrap_or(&path);
    match outer.trim_end_matches('.') {
        "" | "?" => text,
        outer => format!("{outer}: {text}"),
    }
}

fn expectation(serde: &str) -> String {
    match serde {
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string"
        | "string or map"
        | "map with a single key"
        | "variant identifier"
        | "field identifier" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" | "map" => "an object".to_owned(),
        "fewer elements in array" => "fewer entries".to_owned(),
        _ if serde.starts_with("an array of length ") || serde.starts_with("a tuple of size ") => {
            let length = serde.rsplit(' ').next().unwrap_or_default();
            format!("a list of {length} entries")
        }
        _ if serde.contains(" elements in ") || serde.contains(" element in ") => {
            let length = serde.split(' ').next().unwrap_or_default();
            format!("{length} entries")
        }
        _ if serde.starts_with("tuple struct ") => "a list of 2 entries".to_owned(),
        _ if serde.starts_with("enum ") => "text".to_owned(),
        _ if serde.contains("tagged enum ") => {
            "an object such as {\"type\":\"place\",\"at\":[2,3]}".to_owned()
        }
        _ if serde.starts_with("struct ") => "an object".to_owned(),
        _ => serde.to_owned(),
    }
}

fn found(serde: &str) -> &str {
    match serde {
        "sequence" => "a list",
        "map" => "an object",
        "unit value" => "null",
        _ => {
            let quoted = serde.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
            quoted.or(serde.strip_prefix("string ")).unwrap_or(serde)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain_error;

    #[test]
    fn serde_errors_become_plain_sentences() {
        for (serde, plain) in [
            ("invalid type: string \"b\", expected i64", "expected a whole number, got \"b\""),
            (
                "invalid type: floating point `1.5`, expected u64",
                "expected a whole number from 0, got 1.5",
            ),
            ("invalid type: sequence, expected a string", "expected text, got a list"),
            ("invalid type: null, expected struct Position", "expected an object, got null"),
            (
                "invalid length 1, expected an array of length 2",
                "expected a list of 2 entries, got 1",
            ),
            (
                "unknown variant `go`, expected `place` or `swap`",
                "unknown value `go`: expected `place` or `swap`",
            ),
            (
                "unknown variant `go, 3`, expected `place`",
                "unknown value `go, 3`: expected `place`",
            ),
            ("unknown field `x`, there are no fields", "unknown field `x`"),
            ("invalid value: map, expected map with a single key", "expected text, got an object"),
            ("expected ident at line 1 column 2", "this is not JSON"),
            ("missing field `at` at line 1 column 9", "missing field `at`"),
            (
                "invalid type: integer `7`, expected internally tagged enum Action",
                "expected an object such as {\"type\":\"place\",\"at\":[2,3]}, got 7",
            ),
        ] {
            assert_eq!(plain_error(serde), plain);
        }
    }
}
