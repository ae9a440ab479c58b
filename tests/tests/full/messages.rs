//! One committed example of every message of docs/protocol.md: messages/KIND.NAME.json, as sent on the
//! wire. Each is valid under the printed JSON Schema, is read by the types and written back unchanged.

use crate::support::{TestDir, root};
use referee_protocol::{Event, FromAgent, ToAgent, parse_from_agent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;

/// An example: the name of its file and the text.
struct Example {
    name: String,
    text: String,
    value: Value,
}

/// Reads the examples of one kind.
fn examples(kind: &str) -> Vec<Example> {
    let mut found = Vec::new();
    for entry in root().join("tests/tests/messages").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with(&format!("{kind}.")) {
            let text = fs::read_to_string(&path).unwrap();
            let value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            found.push(Example { name, text, value });
        }
    }
    assert!(!found.is_empty(), "no example of {kind}");
    found
}

/// Returns the output of `referee schema`.
fn schema(kind: &str) -> Value {
    TestDir::new().run(&["schema", kind]).code(0).json()
}

/// Tests the examples against the schema and the types. Every field of the schema needs an example, so that
/// none is forgotten by what reads and writes it.
fn check<T: Serialize>(kind: &str, read: impl Fn(&str) -> T) {
    let schema = schema(kind);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (mut shown, mut fields) = (BTreeSet::new(), BTreeSet::new());
    for example in examples(kind) {
        let Example { name, text, value } = &example;
        validator.validate(value).unwrap_or_else(|error| panic!("{name}: {error}"));
        let message = read(text.trim_end());
        assert_eq!(
            serde_json::to_value(message).unwrap(),
            *value,
            "{name} isn't written as it is read"
        );
        let kind = value["type"].as_str().unwrap();
        shown.insert(kind.to_owned());
        add_fields_of(value, kind, &mut fields);
    }
    let variants = schema["oneOf"].as_array().unwrap().iter();
    let types = variants.filter_map(|variant| variant["properties"]["type"]["const"].as_str());
    let types: BTreeSet<String> = types.map(str::to_owned).collect();
    let mut wanted = BTreeSet::new();
    for variant in schema["oneOf"].as_array().unwrap() {
        let kind = variant["properties"]["type"]["const"].as_str().unwrap();
        add_fields_in(&schema, variant, kind, &mut wanted);
    }
    // A message has the type of a fault, but never this field.
    wanted.remove("over.verdict.seats.fault.legal");
    let missing: Vec<&String> = wanted.difference(&fields).collect();
    assert!(missing.is_empty(), "{kind}: no example in tests/tests/messages has {missing:?}");
    assert_eq!(
        shown, types,
        "{kind}: an example for each type, tests/tests/messages/{kind}.TYPE.json"
    );
}

/// Adds the fields of a message, with the paths to them: `header.seats.name`.
fn add_fields_of(value: &Value, path: &str, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{path}.{name}");
                add_fields_of(value, &path, fields);
                fields.insert(path);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| add_fields_of(value, path, fields)),
        _ => {}
    }
}

/// Adds the fields that a schema names.
fn add_fields_in(root: &Value, schema: &Value, path: &str, fields: &mut BTreeSet<String>) {
    if let Some(definition) = schema["$ref"].as_str() {
        add_fields_in(root, root.pointer(&definition[1..]).unwrap(), path, fields);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        add_fields_in(root, property, &path, fields);
        fields.insert(path);
    }
    for choice in ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[key].as_array()) {
        for schema in choice {
            add_fields_in(root, schema, path, fields);
        }
    }
    if schema["items"].is_object() {
        add_fields_in(root, &schema["items"], path, fields);
    }
}

fn read_json<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn to_agents() {
    check("to-agent", read_json::<ToAgent>);
}

#[test]
fn from_agents() {
    check("from-agent", |text| {
        parse_from_agent(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
}

#[test]
fn in_transcripts() {
    check("transcript", read_json::<Event>);
}

fn with_unknown_field(value: &Value) -> Value {
    let mut fields: Map<String, Value> = value.as_object().unwrap().clone();
    fields.insert("from_the_future".to_owned(), json!([1]));
    Value::Object(fields)
}

/// Unknown fields in an agent's line are errors, except in `info`.
#[test]
fn unknown_fields_of_agents_are_refused() {
    let validator = jsonschema::validator_for(&schema("from-agent")).unwrap();
    for Example { name, value, .. } in examples("from-agent") {
        let more = with_unknown_field(&value);
        let read = parse_from_agent(more.to_string().as_bytes());
        if value["type"] == "info" {
            assert!(matches!(read, Ok(FromAgent::Info(_))), "{name}");
            assert!(validator.is_valid(&more), "{name}: the schema refuses what is read");
        } else {
            let output = read.expect_err(&name).to_string();
            assert!(output.contains("unknown field `from_the_future`"), "{name}: {output}");
            assert!(!validator.is_valid(&more), "{name}: the schema allows what is refused");
        }
    }
}

/// Agents and readers of transcripts ignore unknown fields, so both formats can be extended.
#[test]
fn unknown_fields_of_the_referee_are_ignored() {
    ignored::<ToAgent>("to-agent");
    ignored::<Event>("transcript");
    let later: Event = read_json(r#"{"type":"from_the_future","at_ns":1}"#);
    assert_eq!(later, Event::Unknown);
}

fn ignored<T: DeserializeOwned + PartialEq + Debug>(kind: &str) {
    let validator = jsonschema::validator_for(&schema(kind)).unwrap();
    for Example { name, value, text } in examples(kind) {
        let more = with_unknown_field(&value);
        assert_eq!(read_json::<T>(&more.to_string()), read_json::<T>(&text), "{name}");
        assert!(validator.is_valid(&more), "{name}");
    }
}

/// The schema and the types refuse a message without a required field.
#[test]
fn required_fields_are_required() {
    for kind in ["to-agent", "from-agent", "transcript"] {
        let validator = jsonschema::validator_for(&schema(kind)).unwrap();
        for Example { name, value, .. } in examples(kind) {
            for field in value.as_object().unwrap().keys() {
                let mut less = value.clone();
                less.as_object_mut().unwrap().remove(field);
                let text = less.to_string();
                let reads = match kind {
                    "to-agent" => serde_json::from_str::<ToAgent>(&text).is_ok(),
                    "from-agent" => parse_from_agent(text.as_bytes()).is_ok(),
                    _ => serde_json::from_str::<Event>(&text).is_ok(),
                };
                let valid = validator.is_valid(&less);
                // The types accept a missing nullable field; the schema may require it.
                let null = value[field].is_null() && reads;
                assert!(
                    reads == valid || null,
                    "{name} without {field}: read {reads}, valid {valid}"
                );
            }
        }
    }
}

/// The complete examples on the page are the same as the committed ones.
#[test]
fn protocol_md_shows_the_same_examples() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let (mut shown, mut joined) = (0, String::new());
    for line in page.lines() {
        // An example begins like this and continues with indented lines.
        if line.starts_with("{\"type\":") || !line.starts_with(' ') {
            joined.clear();
        }
        joined.push_str(line);
        let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(&joined) else { continue };
        joined.clear();
        shown += 1;
        let kind = value["type"].as_str().unwrap();
        let names = ["to-agent", "from-agent", "transcript"];
        let all: Vec<Example> = names.into_iter().flat_map(examples).collect();
        let of_type = |it: &&Example| it.name.ends_with(&format!(".{kind}.json"));
        let same = all.iter().filter(of_type).any(|it| agrees(&value, &it.value));
        assert!(
            same,
            "docs/protocol.md shows {value}, which is not the committed example of {kind}"
        );
    }
    assert!(shown >= 5, "only {shown} examples found");
}

/// Tests that the example contains what the page shows; the page may omit limits.
fn agrees(page: &Value, example: &Value) -> bool {
    match (page, example) {
        (Value::Object(page), Value::Object(example)) => page
            .iter()
            .all(|(key, value)| example.get(key).is_some_and(|other| agrees(value, other))),
        _ => page == example || page.as_str() == Some("<hex>"),
    }
}
