//! Whatever a file holds, it is refused or read, and nothing panics.

use super::contest;
use proptest::prelude::*;

/// A file with everything in it.
const WHOLE: &str = r#"
name = "Autumn ⬢"
seed = 7
format = "gauntlet"
rounds = 3
seat_orders = "rotations"
jobs = 2
pin = true
preset = "comp30024-2025"
submissions = { folder = "bots", run = "comp30024:{}:Agent" }
agents = ["@random", { name = "x", run = "./x" }, "python3 'y z.py'"]

[clock]
kind = "cpu"
bank = "1m 30s"
increment = "5ms"
backstop = 9.5

[limits]
memory_mb = 100

[sandbox]
level = "auto"

[openings]
plies = 2

[policy]
on_fault = "end"
on_lag = "again"

[gauntlet]
challengers = ["x"]

[[games]]
game = "hex"
setup = { size = 4, swap = "none" }

[[games]]
game = "freckers"
name = "frogs"
"#;

#[test]
fn the_whole_file_is_right() {
    let contest = contest(WHOLE).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(contest.players[0].name, "x");
}

/// Reads it, and writes down what is wrong; that is bounded too.
fn read(text: &str) {
    if let Err(error) = contest(text) {
        let text = error.to_string();
        assert!(text.starts_with("contest.toml:"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.len() < 4000, "{} bytes", text.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text(text in "\\PC*|[\\x00-\\x7f]{0,60}") {
        read(&text);
    }

    #[test]
    fn any_bytes_anywhere(
        at in 0..WHOLE.len(),
        length in 0..20usize,
        put in "[\\x00-\\x7f⬢]{0,8}",
    ) {
        let bytes = WHOLE.as_bytes();
        let end = (at + length).min(bytes.len());
        let text = [&bytes[..at], put.as_bytes(), &bytes[end..]].concat();
        read(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn any_value_anywhere(
        line in 0..WHOLE.lines().count(),
        value in "-?[0-9]{1,20}|[0-9]\\.[0-9]e[0-9]{1,3}|\"[ -~]{0,9}\"|nan|\\[[0-9]?\\]|true",
    ) {
        let changed = |(index, text): (usize, &str)| match text.split_once('=') {
            Some((key, _)) if index == line => format!("{key}= {value}\n"),
            _ => format!("{text}\n"),
        };
        read(&WHOLE.lines().enumerate().map(changed).collect::<String>());
    }
}

#[test]
fn deep_and_long() {
    read(&format!("a = {}", "[".repeat(100_000)));
    read(&format!("[[games]]\ngame = \"hex\"\nsetup = {}1{}", "{a=".repeat(70), "}".repeat(70)));
    read(&"a.".repeat(100_000));
    read(&format!("{}formt = 1", " ".repeat(100_000)));
    read(&format!("formt{} = 1", "x".repeat(100_000)));
    read(&format!("game = \"hex\"\nagents = [\"{}\"]", "x".repeat(100_000)));
}
