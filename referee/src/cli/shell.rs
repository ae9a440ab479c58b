//! Commands as they are typed in a shell.

/// Joins words into a command, quoted for a shell.
pub(super) fn join(words: &[impl AsRef<str>]) -> String {
    let words = || words.iter().map(AsRef::as_ref);
    // Only a NUL byte can't be quoted, and no argument contains one.
    shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// Returns the two words of an option with a value; none without a value.
pub(super) fn option(name: &str, value: Option<impl ToString>) -> impl Iterator<Item = String> {
    value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten()
}
