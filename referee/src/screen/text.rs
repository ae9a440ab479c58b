//! Text for the screen: without control characters, wrapped or cut.

use ratatui::text::Span;
use referee_protocol::sanitize::sanitize;

/// Returns the columns of a character.
fn columns(c: char) -> usize {
    if c.is_ascii() { 1 } else { Span::raw(&*c.encode_utf8(&mut [0; 4])).width() }
}

/// Returns text that is safe to put into cells, without characters of no width, such as combining
/// marks.
pub(super) fn clean(text: &str) -> String {
    let mut clean = sanitize(&text.replace('\t', "    "));
    clean.retain(|c| columns(c) > 0);
    clean
}

/// Returns the columns of clean text.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Returns clean text of at most this width; cut text ends with dots.
pub(super) fn fit(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let dots = most.min(2);
    let mut taken = 0;
    let mut fitting: String = text
        .chars()
        .take_while(|&c| {
            taken += columns(c);
            taken <= most - dots
        })
        .collect();
    fitting.push_str(&".."[..dots]);
    fitting
}

/// Returns text in clean lines of at most this width, broken at nearby spaces.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(&clean(line), most.max(1))).collect()
}

fn wrap_line(line: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut begin, mut taken) = (0, 0);
    // The index after the last space, and the columns up to there.
    let mut blank = None;
    for (index, c) in line.char_indices() {
        let wide = columns(c);
        if taken + wide > most && index > begin {
            let (end, up_to) = blank
                .filter(|&(end, up_to)| end > begin && up_to * 3 > most * 2)
                .unwrap_or((index, taken));
            lines.push(line[begin..end].trim_end().to_owned());
            taken -= up_to;
            (begin, blank) = (end, None);
        }
        taken += wide;
        if c == ' ' {
            blank = Some((index + 1, taken));
        }
    }
    lines.push(line[begin..].to_owned());
    lines
}

/// Returns a time as a clock shows it, in few columns.
pub(super) fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{seconds}.{:02}s", ms % 1000 / 10),
        10..60 => format!("{seconds}.{}s", ms % 1000 / 100),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

/// Returns the time of a turn, in few columns.
pub(super) fn time(ms: u64) -> String {
    if ms < 1000 { format!("{ms}ms") } else { clock(ms) }
}

#[cfg(test)]
mod tests {
    use super::{clean, clock, fit, time, width, wrap};

    #[test]
    fn lines_break_at_blanks_that_are_near() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("a verylongwordwithoutend", 8), ["a verylo", "ngwordwi", "thoutend"]);
        assert_eq!(wrap("first\n\nthird", 8), ["first", "", "third"]);
        assert_eq!(wrap("", 8), Vec::<String>::new());
        assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
        for line in wrap("some words of several lengths, and a loooooooooooooooong one", 11) {
            assert!(width(&line) <= 11, "{line}");
        }
    }

    #[test]
    fn nothing_hostile_is_left() {
        assert_eq!(clean("\x1b[2Ja\u{301}\u{202e}b\tc"), "\u{FFFD}[2Ja\u{FFFD}b    c");
        assert_eq!(fit("abcdef", 4), "ab..");
        assert_eq!(fit("abcd", 4), "abcd");
        assert_eq!(fit("漢字漢", 5), "漢..");
        assert_eq!(fit("abc", 1), ".");
    }

    #[test]
    fn times_take_few_columns() {
        let shown = [9_876, 58_250, 62_000, 3_723_000].map(clock);
        assert_eq!(shown, ["9.87s", "58.2s", "1:02", "1:02:03"]);
        assert_eq!(time(35), "35ms");
    }
}
