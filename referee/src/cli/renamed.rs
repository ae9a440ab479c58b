//! Commands and options that earlier builds of this version had: an error says what is used now.

use clap::error::{ContextKind, ContextValue, ErrorKind};
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

/// The command, its option or subcommand that is removed, and what serves instead.
const REMOVED: [(&str, &str, &str); 3] = [
    (
        "verify",
        "--key",
        "check the signature of SHA256SUMS with `ssh-keygen -Y verify`, and then verify the contest",
    ),
    ("serve", "--embed", "pages that `referee contest publish` writes can be framed"),
    ("", "htp", "Hex engines play as agents: referee play hex htp:ENGINE @random"),
];

/// Returns the error for an earlier name; `path` are the commands given.
pub(super) fn since(error: &clap::Error, path: &str) -> Option<Failure> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if path == "new"
        && error.kind() == ErrorKind::MissingRequiredArgument
        && std::env::args().any(|it| it == "list")
    {
        return Some(failure("new --lang list", "languages"));
    }
    let unknown = word(ContextKind::InvalidSubcommand).or(word(ContextKind::InvalidArg))?;
    let find = |list: &[(&'static str, &'static str, &'static str)]| {
        list.iter().copied().find(|&(command, old, _)| {
            old == unknown
                && (command == path
                    || command.is_empty() && (old.starts_with('-') || path.is_empty()))
        })
    };
    if let Some((command, old, new)) = find(&RENAMED) {
        let is_option = old.starts_with('-');
        let full = if is_option { old.to_owned() } else { format!("{command} {old}") };
        return Some(failure(&full, new));
    }
    let (_, old, instead) = find(&REMOVED)?;
    Some(Failure::usage(format!("`{old}` is removed")).help(instead))
}

/// Returns the failure of an old name.
pub(super) fn failure(old: &str, new: &str) -> Failure {
    Failure::usage(format!("`{old}` is now `{new}`"))
}
