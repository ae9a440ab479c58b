//! Valid but unusual JSON: each language's sample must answer with an action that is equal to the one
//! that it received; one with a kit that knows the rules must skip it.

use crate::samples::builds::{Sample, samples, starter_of};
use crate::samples::kits::knows_rules;
use crate::support::small_referee::{RunningAgent, hello};
use referee_protocol::FromAgent;
use serde_json::{Value, json};

/// Integers of 64 bits, which don't fit in a double.
const LARGE: &str = r#"{"type":"x","n":[9223372036854775807,-9223372036854775808]}"#;
/// The languages whose JSON has only doubles.
const DOUBLES: [&str; 1] = ["shell"];

/// Returns the actions, as text.
fn hard() -> Vec<String> {
    let mut actions: Vec<String> = [
        r#"{"type":"x","t":"\"\\\/\b\f\n\r\t"}"#,
        r#"{"type":"x","t":"\u0000\u001f\u007f\u00e9\u20AC\uFEFF\u2028\u2029A\u0041"}"#,
        r#"{"type":"x","t":"\ud83d\ude00 \uD83D\uDE00\u0020x\ud83d\ude00\ud83d\ude01 \\ud83d"}"#,
        "{\"type\":\"x\",\"t\":\"é€😀 李小龍 \u{2028}\u{2029}\u{7f}\u{feff}\"}",
        r#"{"\u0074ype":"x","\u00e9\n\"":{"":[],"李":{}}}"#,
        r#"{"type":"x","n":[0,-0,-1,9007199254740991,-9007199254740991]}"#,
        r#"{"type":"x","n":[1e5,1E+5,-2.5e-3,0.1,-123.456,1.5e300,1e-7,3.0]}"#,
        r#"{"type":"x","w":[true,false,null,{},[],[[]],[{}],"",{"a":{"b":[1,[2,[3]]]}}]}"#,
        "\t{ \"type\" :\t\"x\" , \"w\" : [ 1 , { } , [ ] , [ null ] ] } ",
        r#"{"type":"x","t":["12","1e5","-0","null","true","[]","{}"," x ",":,"]}"#,
        r#"{"type":"x","t":"$(exit 1) `exit 1` $HOME 'y' %s %% \\n * <&>"}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    let deep = |open: &str, close: &str, depth| open.repeat(depth) + "1" + &close.repeat(depth);
    actions.push(format!(r#"{{"type":"x","a":{}}}"#, deep("[", "]", 28)));
    actions.push(format!(r#"{{"type":"x","o":{}}}"#, deep(r#"{"o":"#, "}", 28)));
    actions.push(format!(r#"{{"type":"x","t":"{}"}}"#, "\\u00e9 ab".repeat(5000)));
    actions
}

/// Returns whether JSON values are equal; 1e5 equals 100000.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns the starters and the samples on the bare protocol, with their languages.
fn starters() -> impl Iterator<Item = (&'static Sample, &'static str)> {
    let plain = |sample: &&Sample| sample.path.ends_with("/random") || starter_of(sample).is_some();
    samples().iter().filter(plain).map(|it| (it, it.path.split('/').next().unwrap()))
}

fn started(sample: &Sample) -> RunningAgent {
    let mut hello = hello("hex", &json!({"size": 3}), 0, 2, 9_007_199_254_740_991);
    hello["seats"][1]["name"] = json!("Zoë \u{2028}\"李\" 😀\\");
    RunningAgent::start(&sample.participant, &hello)
}

/// Returns the answer to a turn in which this action is the only one.
fn answer(
    sample: &Sample,
    agent: &mut RunningAgent,
    turn: u64,
    action: &str,
    position: &str,
) -> Value {
    agent.write(&format!(
        "{{\"type\":\"turn\",\"turn\":{turn},\"left_ms\":null,\"news\":{action},\
         \"position\":{position},\"actions\":[{action}]}}\r\n"
    ));
    let FromAgent::Action(answer) = agent.receive() else { panic!("{}: no action", sample.path) };
    assert_eq!(answer.turn, Some(turn), "{}", sample.path);
    answer.action
}

#[test]
fn an_action_is_answered_unchanged() {
    let actions = hard();
    for (sample, language) in starters() {
        let mut agent = started(sample);
        let large = (!DOUBLES.contains(&language)).then_some(LARGE);
        let actions = actions.iter().map(String::as_str).chain(large);
        for (turn, action) in (0..).zip(actions) {
            let given: Value = serde_json::from_str(action).unwrap();
            let answered = answer(sample, &mut agent, turn, action, "{}");
            let is_good = if knows_rules(&sample.path) {
                answered["type"] == "place"
            } else {
                same(&answered, &given)
            };
            assert!(is_good, "{}: {given} became {answered}", sample.path);
            // This is as unusual, and needs no answer.
            let kind = if knows_rules(&sample.path) { "news" } else { "played" };
            agent.write(&format!(
                "{{\"type\":\"{kind}\",\"turn\":{turn},\"seat\":0,\"action\":{action}}}\n"
            ));
        }
        agent.leave();
    }
}

#[test]
fn the_longest_line_is_read() {
    let line_bytes = 1 << 20;
    let cell = "[-12,34],";
    let cells = cell.repeat((line_bytes - 500) / cell.len()) + "[0,0]";
    let position = format!("{{\"cells\":[{cells}],\"deep\":{}{}}}", "[".repeat(60), "]".repeat(60));
    for (sample, _) in starters() {
        let mut agent = started(sample);
        let action = r#"{"type":"place","at":[1,1]}"#;
        let answered = answer(sample, &mut agent, 7, action, &position);
        let is_own = knows_rules(&sample.path) && answered["type"] == "place";
        let is_given = answered == json!({"type": "place", "at": [1, 1]});
        assert!(is_own || is_given, "{}: {answered}", sample.path);
        agent.leave();
    }
}
