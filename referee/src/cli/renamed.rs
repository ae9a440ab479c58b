//! Commands and options that had another name in earlier builds of this version: an error names the new one.

use clap::error::{ContextKind, ContextValue};
use referee_process::Failure;

/// The command, its option or subcommand, and what that is called now. The command is empty where the option is
/// the same for all.
const RENAMED: [(&str, &str, &str); 10] = [
    ("contest", "withdraw", "contest purge"),
    ("contest", "withdraw-agent", "contest drop"),
    ("contest", "replay", "contest rerun"),
    ("contest quick", "--format", "--tournament"),
    ("check", "--format", "--annotate"),
    ("compare", "--games-most", "--max-games"),
    ("worker", "--slots", "--jobs"),
    ("worker", "-s", "-j"),
    ("replay export", "--form", "--format"),
    ("", "--output", "--out"),
];

/// Returns the new name of what is unknown; `path` are the commands given.
pub(super) fn since(error: &clap::Error, path: &str) -> Option<Failure> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let unknown = word(ContextKind::InvalidSubcommand).or(word(ContextKind::InvalidArg))?;
    let fits = |(command, old, _): &&(&str, &str, &str)| {
        *old == unknown && (command.is_empty() || *command == path)
    };
    let (command, old, new) = RENAMED.iter().find(fits)?;
    let full = if old.starts_with('-') { (*old).to_owned() } else { format!("{command} {old}") };
    Some(failure(&full, new))
}

/// Returns the failure of an old name.
pub(super) fn failure(old: &str, new: &str) -> Failure {
    Failure::usage(format!("`{old}` is now `{new}`"))
}
