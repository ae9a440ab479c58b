//! Control sequences in agents' names and output never reach the terminal.

use crate::support::{TestDir, root, script_agent};

/// A name with escape sequences that set a colour and the terminal's title.
const NAME: &str = r"\u001b[31mEVIL\u001b]0;EVIL\u0007\u009b31m";

/// Asserts that the text has no control characters except newlines, tabs and the referee's colours.
#[track_caller]
fn assert_clean(text: &str) {
    assert!(text.contains("EVIL"), "the name is not shown: {text}");
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
fn agent_names_and_stderr_are_escaped() {
    let dir = TestDir::new();
    let Some(agent) = script_agent("hostile.py", "garish") else { return };
    dir.write("evil/agent.toml", format!("name = \"{NAME}\"\ncommand = '''{agent}'''\n"));
    let words = ["--color", "always", "--board", "ascii", "--setup", "size=3", "--out", "x.jsonl"];
    let agents = root().join("tests/tests/agents").display().to_string();
    let words = [&["play", "hex", "evil", "@first", "--allow-read", &agents], &words[..]].concat();
    let played = dir.run(&words).code(0);
    assert_clean(&played.stdout);
    assert_clean(&played.stderr);
    let words = ["replay", "x.jsonl", "--print", "--color", "always", "--board", "ascii"];
    assert_clean(&dir.run(&words).code(0).stdout);
}

/// A transcript of unknown origin may contain what this program never writes.
#[test]
fn names_in_a_forged_transcript_are_escaped() {
    let dir = TestDir::new();
    dir.short_match(["@first", "@crash"]);
    let text = std::fs::read_to_string(dir.path("x.jsonl")).unwrap();
    let forged = text.replace("\"name\":\"@first\"", &format!("\"name\":\"{NAME}\""));
    let forged = forged.replace("exit status 1", NAME);
    assert_ne!(forged, text);
    dir.write("forged.jsonl", forged);
    let words = ["replay", "forged.jsonl", "--print", "--color", "always", "--board", "ascii"];
    assert_clean(&dir.run(&words).stdout);
}
