//! Shows an agent's stderr on the referee's.

use referee_protocol::sanitize::sanitize_lines;
use std::io::{self, Write};

/// Writes text of an agent to stderr, without what a terminal would interpret.
pub(crate) fn echo(text: &str) {
    if !text.is_empty() {
        // A closed stderr can't be reported.
        io::stderr().write_all(sanitize_lines(text).as_bytes()).ok();
    }
}
