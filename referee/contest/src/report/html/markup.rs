//! Writes HTML such that text can't become markup.

use crate::numbers::short;
use referee_protocol::encode::escape_markup;
use referee_protocol::encode::percent_encode;
use referee_protocol::sanitize::sanitize;
use std::fmt::{self, Write as _};

/// HTML under construction.
#[derive(Debug, Default)]
pub(super) struct Markup(pub(super) String);

impl Markup {
    /// Appends markup; untrusted text goes through [`Text`] or [`Name`].
    pub(super) fn put(&mut self, markup: fmt::Arguments<'_>) {
        self.0.write_fmt(markup).expect("text takes text");
    }

    /// Appends a paragraph of text.
    pub(super) fn paragraph(&mut self, class: &str, text: &str) {
        self.put(format_args!("<p class=\"{class}\">{}</p>\n", Text(text)));
    }

    /// Appends a part that unfolds; `fill` writes its content.
    pub(super) fn details(&mut self, open: bool, summary: &str, fill: impl FnOnce(&mut Self)) {
        let open = if open { " open=\"open\"" } else { "" };
        self.put(format_args!("<details{open}><summary>{}</summary>\n", Text(summary)));
        fill(self);
        self.put(format_args!("</details>\n"));
    }

    /// Appends a list of sentences, if there are any.
    pub(super) fn notes(&mut self, notes: &[String]) {
        if notes.is_empty() {
            return;
        }
        self.put(format_args!("<ul class=\"notes\">\n"));
        for note in notes {
            self.put(format_args!("<li>{}</li>\n", Text(note)));
        }
        self.put(format_args!("</ul>\n"));
    }
}

/// Untrusted text, for the inside of an element or of a quoted attribute.
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = escape_markup(&sanitize(self.0));
        f.write_str(&content.replace('"', "&quot;").replace('\'', "&#39;"))
    }
}

/// A name, isolated from the direction of the text around it, and cut if it is too long.
pub(super) struct Name<'a>(pub(super) &'a str, pub(super) usize);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = short(self.0, self.1);
        if short == sanitize(self.0) {
            write!(f, "<bdi>{}</bdi>", Text(&short))
        } else {
            write!(f, "<bdi title=\"{}\">{}</bdi>", Text(self.0), Text(&short))
        }
    }
}

/// A path as a relative link: it can name no scheme and no host.
pub(super) struct Link<'a> {
    /// The relative path from the page to the contest's folder.
    pub(super) folder: &'a str,
    /// The path in that folder.
    pub(super) path: &'a str,
}

impl fmt::Display for Link<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".")?;
        for part in self.folder.split('/').chain(self.path.split('/')) {
            if part.is_empty() || part == "." {
                continue;
            }
            write!(f, "/{}", percent_encode(part))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Link, Name, Text};

    #[test]
    fn text_stays_text() {
        assert_eq!(
            Text("\"><img src=x onerror='a&b'>\n\u{202E}").to_string(),
            "&quot;&gt;&lt;img src=x onerror=&#39;a&amp;b&#39;&gt;\u{FFFD}\u{FFFD}"
        );
        assert_eq!(Name("a<b", 9).to_string(), "<bdi>a&lt;b</bdi>");
        assert_eq!(Name("<<<<", 3).to_string(), "<bdi title=\"&lt;&lt;&lt;&lt;\">&lt;&lt;…</bdi>");
    }

    #[test]
    fn links_stay_in_the_folder_that_is_meant() {
        for (folder, path, link) in [
            ("", "games/1.jsonl", "./games/1.jsonl"),
            ("../c", "games/a b#?%\".jsonl", "./../c/games/a%20b%23%3F%25%22.jsonl"),
            ("", "//elsewhere/x", "./elsewhere/x"),
            ("", "javascript:alert(1)", "./javascript%3Aalert%281%29"),
            ("", "ä.jsonl", "./%C3%A4.jsonl"),
        ] {
            assert_eq!(Link { folder, path }.to_string(), link);
        }
    }
}
