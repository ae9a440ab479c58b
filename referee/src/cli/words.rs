//! Commands as somebody would type them.

/// Words as a shell takes them.
pub(super) fn join(words: &[impl AsRef<str>]) -> String {
    let words = || words.iter().map(AsRef::as_ref);
    // Only what no path and no command holds can't be quoted.
    shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// The words of an option with its value; none where it has none.
pub(super) fn option(name: &str, value: Option<impl ToString>) -> impl Iterator<Item = String> {
    value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten()
}
