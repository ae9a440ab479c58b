//! Commands as they are typed in a shell.

use referee_runner::folder::Folder;

/// Joins words into a command, quoted for a shell.
pub(super) fn join(words: &[impl AsRef<str>]) -> String {
    let words = || words.iter().map(AsRef::as_ref);
    // Only a NUL byte can't be quoted, and no argument contains one.
    shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// Returns a `contest` command for this folder. `venue` are the arguments that choose the server.
pub(super) fn contest_command(name: &str, folder: &Folder, venue: &[String]) -> String {
    let root = folder.root().to_string_lossy();
    let words = ["referee", "contest", name, &root].into_iter();
    join(&words.chain(venue.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// Returns the two words of an option with a value; none without a value.
pub(super) fn option(name: &str, value: Option<impl ToString>) -> impl Iterator<Item = String> {
    value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten()
}
