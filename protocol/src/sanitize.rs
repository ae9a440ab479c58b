//! Makes untrusted text safe to show: without what a terminal would interpret and what nobody sees.

/// The longest name of an agent, in characters.
pub const NAME_CHARACTERS_MAX: usize = 60;
/// The longest line of untrusted text, in characters.
pub const LINE_CHARACTERS_MAX: usize = 300;

/// Replaces characters that a terminal would interpret or that are invisible: control characters,
/// line separators, marks of text direction, spaces and joiners without width, tags, and what is no character.
pub fn sanitize(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Sanitizes a line of a program's stderr, in which stacks are indented by tabs.
pub fn sanitize_stderr(line: &str) -> String {
    sanitize(&line.replace('\t', "    "))
}

/// Sanitizes untrusted text of several lines: like [`sanitize`], but keeps line feeds and tabs.
pub fn sanitize_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { visible(c) }).collect()
}

/// Returns lines none of which a service that runs builds takes for a command: GitHub Actions takes every line for one
/// that begins with `::`, also after spaces, or has `##[` anywhere.
pub fn without_commands(text: &str) -> String {
    let plain = |line: &str| {
        let (spaces, rest) = line.split_at(line.len() - line.trim_start().len());
        let rest = rest.strip_prefix("::").map_or_else(|| rest.to_owned(), |it| format!(": :{it}"));
        spaces.to_owned() + &rest.replace("##[", "## [")
    };
    text.split_inclusive('\n').map(plain).collect()
}

fn visible(c: char) -> char {
    let hidden = c.is_control()
        || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}')
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{17B4}' | '\u{17B5}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}')
        || matches!(c, '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}')
        || matches!(c, '\u{E0000}'..='\u{E0FFF}')
        // No characters, which XML doesn't allow.
        || matches!(c, '\u{FDD0}'..='\u{FDEF}')
        || u32::from(c) & 0xFFFE == 0xFFFE;
    if hidden { char::REPLACEMENT_CHARACTER } else { c }
}

/// Sanitizes and shortens the name of an agent or a player. Names are compared after this: none differs from another
/// by spaces around it alone.
pub fn sanitize_name(name: &str) -> String {
    let short: String = sanitize(name.trim()).chars().take(NAME_CHARACTERS_MAX).collect();
    short.trim_end().to_owned()
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

#[cfg(test)]
mod tests {
    use super::{sanitize_line, sanitize_lines, sanitize_name, sanitize_stderr, without_commands};

    #[test]
    fn names_are_sanitized_and_short() {
        assert_eq!(sanitize_name("a\u{1b}[31mb"), "a\u{FFFD}[31mb");
        assert_eq!(sanitize_stderr("\tbot.go:3 \u{1b}"), "    bot.go:3 \u{FFFD}");
        assert_eq!(sanitize_name(&"x".repeat(99)).len(), 60);
        for spaced in ["a ", "\u{a0}a", "\u{3000}a\u{2003}\t"] {
            assert_eq!(sanitize_name(spaced), "a");
        }
        let cut = sanitize_name(&("x".repeat(59) + " y"));
        assert_eq!((cut.len(), sanitize_name(&cut)), (59, cut));
    }

    #[test]
    fn nothing_invisible_is_shown() {
        let hidden = "\u{1b}\u{9b}\u{ad}\u{200b}\u{200d}\u{2028}\u{202e}\u{2060}\u{2069}\u{feff}\u{e0041}\
             \u{fff0}\u{fffe}\u{ffff}\u{fdd0}\u{1fffe}";
        for c in hidden.chars() {
            assert_eq!(sanitize_name(&format!("a{c}b")), "a\u{FFFD}b", "{c:?}");
        }
        assert_eq!(sanitize_name("Jürgen 王 ♞"), "Jürgen 王 ♞");
        let text = "a\tb\r\nc\u{1b}]52;c;x\u{7}\u{2028}d\r";
        assert_eq!(sanitize_lines(text), "a\tb\nc\u{FFFD}]52;c;x\u{FFFD}\u{FFFD}d\u{FFFD}");
    }

    #[test]
    fn no_line_is_a_command_of_a_service() {
        let text = "a::b\n::error::x\n \u{a0}::stop-commands::y\nz ##[debug] :: ##\n##[group]\n\n:";
        let shown =
            "a::b\n: :error::x\n \u{a0}: :stop-commands::y\nz ## [debug] :: ##\n## [group]\n\n:";
        assert_eq!(without_commands(text), shown);
    }

    #[test]
    fn what_is_shown_on_a_line_is_one_and_short() {
        assert_eq!(sanitize_line("cc: no\n\r\n  line 2 \u{1b}[2J\n"), "cc: no; line 2 \u{FFFD}[2J");
        assert_eq!(sanitize_line(&"x".repeat(300)), "x".repeat(300));
        let cut = sanitize_line(&"x\n".repeat(1 << 20));
        assert!(cut.chars().count() == 300 && cut.ends_with('…'), "{cut}");
    }
}
