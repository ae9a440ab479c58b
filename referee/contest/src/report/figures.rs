//! Figures as people read them. What isn't finite is shown as unknown.

use referee_protocol::plain::tame;
use unicode_width::UnicodeWidthChar;

/// Stands where there is nothing to say.
pub(super) const NONE: &str = "-";

/// With so many decimals; never "-0.0".
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{value:.decimals$}");
    let zero = text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if zero { text[1..].to_owned() } else { text }
}

/// Elo with its sign.
pub(super) fn elo(value: f64) -> String {
    let text = fixed(value, 1);
    let plus = value.is_finite() && !text.starts_with('-') && text != "0.0";
    if plus { format!("+{text}") } else { text }
}

/// A share of 1 in percent, without the sign.
pub(super) fn percent(share: f64) -> String {
    fixed(100.0 * share, 1)
}

/// Milliseconds as people say them.
pub(super) fn duration(ms: f64) -> String {
    match ms {
        _ if !ms.is_finite() => NONE.to_owned(),
        _ if ms < 10.0 => format!("{} ms", fixed(ms, 1)),
        _ if ms < 1000.0 => format!("{} ms", fixed(ms, 0)),
        _ if ms < 60_000.0 => format!("{} s", fixed(ms / 1000.0, 1)),
        _ => format!("{} min", fixed(ms / 60_000.0, 1)),
    }
}

/// What may be absent, shown by `show`.
pub(super) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

/// "1st", "2nd", ..
pub(super) fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// How many columns of a terminal, or halves of a wide glyph, a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Wide glyphs take two columns, marks that combine none.
fn char_width(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// A name without anything hidden in it, cut to so many columns.
pub(super) fn short(name: &str, columns: usize) -> String {
    let name = tame(name);
    if width(&name) <= columns {
        return name;
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += char_width(*c);
        used <= columns
    };
    name.chars().take_while(fits).chain(['…']).collect()
}
