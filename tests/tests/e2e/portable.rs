//! The program as it is built for systems without a sandbox: what users read there, and what other tests
//! skip. `REFEREE_PORTABLE=1` builds it on Linux; otherwise these tests are skipped.

use crate::support::TestDir;
use referee_process::launcher::{LIMITATIONS, WEAKEST};
use referee_protocol::Level;
use serde_json::json;

/// Whether the program under test has a sandbox. Then reports a skipped test.
fn has_sandbox() -> bool {
    let has = WEAKEST != Level::None;
    if has {
        println!("skipped: the program is built for Linux");
    }
    has
}

#[test]
fn a_match_says_why_it_has_no_sandbox() {
    if has_sandbox() {
        return;
    }
    let dir = TestDir::sandboxed();
    let words = ["play", "hex", "@first", "@first", "--setup", "size=3", "--json"];
    let ran = dir.run(&[&words[..], &["--games", "3"]].concat()).code(0);
    let warning = "warning: agents run without a sandbox: none; basic: needs Linux\n";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{}", ran.stderr);
    for output in ran.json_lines() {
        assert_eq!(output["sandbox"]["level"], "none");
        assert_eq!(output["sandbox"]["layers"], json!([]));
        assert_eq!(output["sandbox"]["missing"], json!(["basic: needs Linux"]));
    }
    let refused = dir.run(&[&words[..], &["--sandbox", "basic"]].concat()).code(4);
    refused.stderr_has("level basic is unavailable: needs Linux").stderr_has("WSL 2");
    dir.write(
        "c.toml",
        "game = \"hex\"\nagents = [\"@first\", \"@random\"]\nsandbox.at_least = \"basic\"",
    );
    dir.run(&["contest", "run", "c.toml", "--out", "d"]).code(4).stderr_has("needs Linux");
}

#[test]
fn doctor_lists_what_is_missing() {
    if has_sandbox() {
        return;
    }
    let dir = TestDir::sandboxed();
    let output = dir.run(&["doctor", "--json"]).code(0).json();
    assert_eq!(output["auto"], "none");
    assert_eq!(output["limitations"], json!(LIMITATIONS));
    let text = dir.run(&["doctor"]).code(0).stdout;
    assert!(LIMITATIONS.iter().all(|limitation| text.contains(limitation)), "{text}");
    assert_eq!(text.matches("\thelp\t").count(), 1, "{text}");
    dir.run(&["doctor", "--level", "basic"]).code(4);
}
