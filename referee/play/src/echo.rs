//! Shows an agent's stderr on the referee's. A service that runs builds reads all of that, and takes some lines for
//! commands.

use referee_match::diagnosis::without_notices;
use referee_protocol::sanitize::{sanitize_lines, without_commands};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static ARE_EXPECTED: AtomicBool = AtomicBool::new(false);

/// Whether a service may take what is printed for commands: GitHub Actions, which sets this variable.
pub fn may_be_commands() -> bool {
    let is_service = || std::env::var_os("GITHUB_ACTIONS").is_some_and(|it| !it.is_empty());
    ARE_EXPECTED.load(Ordering::Relaxed) || is_service()
}

/// From now on a service may take what is printed for commands.
pub fn expect_commands() {
    ARE_EXPECTED.store(true, Ordering::Relaxed);
}

/// Writes text of an agent to stderr, without what a terminal or a service would interpret.
pub(crate) fn echo(text: &str) {
    let mut shown = sanitize_lines(&without_notices(text));
    if shown.is_empty() {
        return;
    }
    if may_be_commands() {
        // The text may continue a line that was written before.
        let joins = shown.starts_with([':', '#', '[']);
        shown = (if joins { " " } else { "" }).to_owned() + &without_commands(&shown);
    }
    // A closed stderr can't be reported.
    io::stderr().write_all(shown.as_bytes()).ok();
}
