//! Commands as somebody would type them.

use referee_runner::folder::Folder;

/// Words as a shell takes them.
pub(super) fn join(words: &[impl AsRef<str>]) -> String {
    let words = || words.iter().map(AsRef::as_ref);
    // Only what no path and no command holds can't be quoted.
    shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// A command about a contest that was begun; `where_to` says where its games are played.
pub(super) fn contest_command(name: &str, folder: &Folder, where_to: &[String]) -> String {
    let root = folder.root().to_string_lossy();
    let words = ["referee", "contest", name, &root].into_iter();
    join(&words.chain(where_to.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// The words of an option with its value; none where it has none.
pub(super) fn option(name: &str, value: Option<impl ToString>) -> impl Iterator<Item = String> {
    value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten()
}
