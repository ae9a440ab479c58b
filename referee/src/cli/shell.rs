//! Commands as they are typed in a shell.

use referee_runner::folder::Folder;
use std::borrow::Cow;

/// Joins words into a command, quoted for a shell.
pub(super) fn join(words: &[impl AsRef<str>]) -> String {
    let words = words.iter().map(AsRef::as_ref).enumerate();
    let words = words.map(|(index, word)| if index > 0 { argument(word) } else { quoted(word) });
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL byte can't be quoted, and no argument contains one.
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// Quotes a word after the first, in which `=` means nothing unless it comes first.
fn argument(word: &str) -> Cow<'_, str> {
    let others = word.replace('=', "");
    let is_plain = !word.starts_with('=') && !others.is_empty() && quoted(&others) == others;
    if is_plain { Cow::Borrowed(word) } else { quoted(word) }
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

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        let words = ["A=b", "--setup", "size=7", "cat=python3 bot.py", "=ls", "", "a'b"];
        assert_eq!(join(&words), "'A=b' --setup size=7 'cat=python3 bot.py' '=ls' '' \"a'b\"");
    }
}
