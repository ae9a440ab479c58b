//! Whatever agents call themselves and write, the terminal obeys none of it.

use crate::support::{Place, scripted};

/// A name that would colour the terminal, set its title, and write backwards.
const NAME: &str = r"\u001b[31mEVIL\u001b]0;EVIL\u0007\u009b31m";

/// Nothing but text, line ends, tabs and the referee's own colours.
#[track_caller]
fn assert_clean(text: &str) {
    assert!(text.contains("EVIL"), "it isn't shown at all: {text}");
    for (before, _) in text.match_indices("EVIL") {
        let before: String = text[..before].chars().rev().take_while(|&c| c != '\n').collect();
        let escape = before.find('\u{1b}').map(|at| before[..at].chars().rev().collect::<String>());
        let obeyed = escape.is_some_and(|after| after == "[31m" || after == "]0;");
        assert!(!obeyed, "an agent's escape sequence is printed: {text:?}");
    }
    let raw = text.chars().find(|&c| c.is_control() && !"\n\t\u{1b}".contains(c));
    assert_eq!(raw, None, "a control character is printed: {text:?}");
}

#[test]
fn names_and_complaints_of_agents_are_only_text() {
    let place = Place::new();
    let Some(agent) = scripted("hostile.py", "garish") else { return };
    place.write("evil/agent.toml", format!("name = \"{NAME}\"\ncommand = '''{agent}'''\n"));
    let words = ["--color", "always", "--board", "ascii", "--setup", "size=3", "--out", "x.jsonl"];
    let words = [&["play", "hex", "evil", "@first"], &words[..]].concat();
    let played = place.run(&words).code(0);
    assert_clean(&played.stdout);
    assert_clean(&played.stderr);
    let words = ["replay", "x.jsonl", "--print", "--color", "always", "--board", "ascii"];
    assert_clean(&place.run(&words).code(0).stdout);
}

/// A transcript from elsewhere may hold what this program would never have written.
#[test]
fn names_in_a_forged_transcript_are_only_text() {
    let place = Place::new();
    place.short_match(["@first", "@crash"]);
    let text = std::fs::read_to_string(place.path("x.jsonl")).unwrap();
    let forged = text.replace("\"name\":\"@first\"", &format!("\"name\":\"{NAME}\""));
    let forged = forged.replace("exit status 1", NAME);
    assert_ne!(forged, text);
    place.write("forged.jsonl", forged);
    let words = ["replay", "forged.jsonl", "--print", "--color", "always", "--board", "ascii"];
    assert_clean(&place.run(&words).stdout);
}
