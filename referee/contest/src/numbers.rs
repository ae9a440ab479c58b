//! Formats numbers and names for people. A number that isn't finite is shown as unknown.

use referee_protocol::sanitize::sanitize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Shown instead of a missing value.
pub(crate) const NONE: &str = "-";

/// Formats a number with `decimals` decimals; never "-0.0".
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{value:.decimals$}");
    let zero = text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if zero { text[1..].to_owned() } else { text }
}

/// Formats Elo with a plus or minus.
pub(crate) fn elo(value: f64) -> String {
    let text = fixed(value, 1);
    let plus = value.is_finite() && !text.starts_with('-') && text != "0.0";
    if plus { format!("+{text}") } else { text }
}

/// Formats an interval in Elo; nothing if neither of its ends is known.
pub(crate) fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    let known = |end: Option<f64>| end.filter(|end| end.is_finite()).map(elo);
    match (known(low), known(high)) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}")),
        (Some(low), None) => Some(format!("at least {low}")),
        (None, Some(high)) => Some(format!("at most {high}")),
        (None, None) => None,
    }
}

/// Formats a share of 1 in percent, without the percent sign.
pub(crate) fn percent(share: f64) -> String {
    fixed(100.0 * share, 1)
}

/// Formats milliseconds in a readable unit.
pub(crate) fn duration(ms: f64) -> String {
    match ms {
        _ if !ms.is_finite() => NONE.to_owned(),
        _ if ms < 10.0 => format!("{} ms", fixed(ms, 1)),
        _ if ms < 1000.0 => format!("{} ms", fixed(ms, 0)),
        _ if ms < 60_000.0 => format!("{} s", fixed(ms / 1000.0, 1)),
        _ => format!("{} min", fixed(ms / 60_000.0, 1)),
    }
}

/// Formats a number as "1st", "2nd", ..
pub(crate) fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Returns a sanitized name, cut to `columns` columns.
pub(crate) fn short(name: &str, columns: usize) -> String {
    let name = sanitize(name);
    if name.width() <= columns {
        return name;
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(1);
        used <= columns
    };
    name.chars().take_while(fits).chain(['…']).collect()
}
