//! Makes bytes and untrusted text safe to show: hex digits, text without control characters, and text
//! in markup and addresses.

use unicode_security::confusable_detection::skeleton;

/// The longest name of an agent, in characters.
pub const NAME_CHARACTERS_MAX: usize = 60;

/// The longest line of untrusted text, in characters.
pub const LINE_CHARACTERS_MAX: usize = 300;
/// The longest name of a file made from a name, in characters.
const FILE_NAME_CHARACTERS_MAX: usize = 40;
/// How many games of a list are shown.
const GAMES_SHOWN: usize = 5;

/// Formats bytes as lower-case hex digits.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Replaces characters that a terminal would interpret or that are invisible: control characters,
/// line separators, marks of text direction, spaces and joiners without width, tags.
pub fn sanitize(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Sanitizes untrusted text of several lines: like [`sanitize`], but keeps line feeds and tabs.
pub fn sanitize_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { visible(c) }).collect()
}

fn visible(c: char) -> char {
    let hidden = c.is_control()
        || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}')
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}')
        || matches!(c, '\u{E0000}'..='\u{E0FFF}');
    if hidden { char::REPLACEMENT_CHARACTER } else { c }
}

/// Sanitizes and shortens the name of an agent or a player.
pub fn sanitize_name(name: &str) -> String {
    sanitize(name).chars().take(NAME_CHARACTERS_MAX).collect()
}

/// Sanitizes, joins and shortens untrusted text to one line.
pub fn sanitize_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // Stops reading after as much as may be shown.
    let parts = lines.enumerate().flat_map(|(index, line)| {
        let before = if index == 0 { "" } else { "; " };
        before.chars().chain(line.chars())
    });
    let mut short: Vec<char> = parts.take(LINE_CHARACTERS_MAX + 1).collect();
    if short.len() > LINE_CHARACTERS_MAX {
        short.truncate(LINE_CHARACTERS_MAX - 1);
        short.push('…');
    }
    sanitize(&short.into_iter().collect::<String>())
}

/// Escapes text for the content of an element of HTML or SVG.
pub fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Percent-encodes a path in an address; `/` stays.
pub fn percent_encode(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let shown = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.bytes().map(shown).collect()
}

/// Formats a count with its noun: "1 game", "2 games".
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats a list of game numbers; of many, the first ones.
pub fn games(numbers: &[u64]) -> String {
    let (shown, more) = numbers.split_at(numbers.len().min(GAMES_SHOWN));
    let mut words: Vec<String> = shown.iter().map(u64::to_string).collect();
    if !more.is_empty() {
        words.push(format!("{} more", more.len()));
    }
    match words.split_last() {
        None => "no games".to_owned(),
        Some((only, [])) => format!("game {only}"),
        Some((last, first)) => format!("games {} and {last}", first.join(", ")),
    }
}

/// Makes names unique by appending ` #2`, ` #3`, also to those that look like an earlier one.
pub fn unique_names(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name} #{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let is_new = |name: &String| unique.iter().all(|other| !look_alike(name, other));
        unique.extend(candidates.find(is_new));
    }
    unique
}

/// Returns a file name for each name, without ending: ASCII letters, digits, `-` and `_`, at most 40, and
/// unique also on disks that ignore case.
pub fn file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut used = std::collections::BTreeSet::new();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let file_name = |name: &str| {
        let own: String = name.chars().take(FILE_NAME_CHARACTERS_MAX).map(plain).collect();
        let own = own.trim_matches('-');
        let own = if own.is_empty() { "agent".to_owned() } else { own.to_owned() };
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let mut candidates = std::iter::once(own.clone()).chain(numbered);
        let free = candidates.find(|name| used.insert(name.to_ascii_lowercase()));
        free.unwrap_or(own)
    };
    names.into_iter().map(file_name).collect()
}

/// Whether two names are the same, or look the same because of letters of other alphabets (Unicode
/// Technical Standard #39, section 4). ASCII has such letters too, `l` and `1`, but they are no disguise.
fn look_alike(one: &str, other: &str) -> bool {
    one == other || !(one.is_ascii() && other.is_ascii()) && skeleton(one).eq(skeleton(other))
}

#[cfg(test)]
mod tests {
    use super::{file_names, games, sanitize_line, sanitize_lines, sanitize_name, unique_names};

    #[test]
    fn names_that_look_alike_are_numbered() {
        let names = |names: [&str; 3]| unique_names(names.map(str::to_owned));
        // The second has a Cyrillic letter, the third a full-width one.
        let alike = names(["mybot", "myb\u{43e}t", "\u{ff4d}ybot"]);
        assert_eq!(alike, ["mybot", "myb\u{43e}t #2", "\u{ff4d}ybot #3"]);
        assert_eq!(names(["a", "a", "a"]), ["a", "a #2", "a #3"]);
        for different in [["bot1", "botl", "bot"], ["Zoë", "Zoe", "zoe"]] {
            assert_eq!(names(different), different);
        }
    }

    #[test]
    fn file_names_are_plain_and_unique() {
        let names = ["a/b", "A-B", "..", "\u{e4}", "x y", "a-b-2", "CON<script>"];
        let files = ["a-b", "A-B-2", "agent", "agent-2", "x-y", "a-b-2-2", "CON-script"];
        assert_eq!(file_names(names), files);
        assert_eq!(file_names([&*"n".repeat(90)])[0].len(), 40);
    }

    #[test]
    fn of_many_games_the_first_are_named() {
        let named = [0, 1, 2, 5, 6, 17].map(|count| games(&(3..3 + count).collect::<Vec<u64>>()));
        let words = [
            "no games",
            "game 3",
            "games 3 and 4",
            "games 3, 4, 5, 6 and 7",
            "games 3, 4, 5, 6, 7 and 1 more",
            "games 3, 4, 5, 6, 7 and 12 more",
        ];
        assert_eq!(named, words);
    }

    #[test]
    fn names_are_sanitized_and_short() {
        assert_eq!(sanitize_name("a\u{1b}[31mb"), "a\u{FFFD}[31mb");
        assert_eq!(sanitize_name(&"x".repeat(99)).len(), 60);
    }

    #[test]
    fn nothing_invisible_is_shown() {
        let hidden =
            "\u{1b}\u{9b}\u{ad}\u{200b}\u{200d}\u{2028}\u{202e}\u{2060}\u{2069}\u{feff}\u{e0041}";
        for c in hidden.chars() {
            assert_eq!(sanitize_name(&format!("a{c}b")), "a\u{FFFD}b", "{c:?}");
        }
        assert_eq!(sanitize_name("Jürgen 王 ♞"), "Jürgen 王 ♞");
        let text = "a\tb\r\nc\u{1b}]52;c;x\u{7}\u{2028}d\r";
        assert_eq!(sanitize_lines(text), "a\tb\nc\u{FFFD}]52;c;x\u{FFFD}\u{FFFD}d\u{FFFD}");
    }

    #[test]
    fn what_is_shown_on_a_line_is_one_and_short() {
        assert_eq!(sanitize_line("cc: no\n\r\n  line 2 \u{1b}[2J\n"), "cc: no; line 2 \u{FFFD}[2J");
        assert_eq!(sanitize_line(&"x".repeat(300)), "x".repeat(300));
        let cut = sanitize_line(&"x\n".repeat(1 << 20));
        assert!(cut.chars().count() == 300 && cut.ends_with('…'), "{cut}");
    }
}
