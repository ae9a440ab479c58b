//! Times and clocks as people write them.

use jiff::SignedDuration;
use referee_protocol::{ClockKind, ClockSettings};

/// Reads a time as milliseconds: `500ms`, `1.5s`, `1m 30s`; a bare number is in seconds.
pub fn read_time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let bare = text.parse::<f64>().is_ok();
    let text = if bare { format!("{text}s") } else { text.to_owned() };
    let duration: SignedDuration = text
        .parse()
        .map_err(|_| "expected a time such as `500ms`, `1.5s` or `1m 30s`".to_owned())?;
    u64::try_from(duration.as_millis()).map_err(|_| "a time must not be negative".to_owned())
}

/// Reads a bank and an increment per turn, in milliseconds: `60s+0.5s`, or `5m` alone.
pub fn read_clock(text: &str) -> Result<(u64, u64), String> {
    let (bank, increment) = match text.split_once('+') {
        Some((bank, increment)) => (bank, read_time(increment)?),
        None => (text, 0),
    };
    Ok((read_time(bank)?, increment))
}

/// Formats a clock.
pub fn show_clock(clock: &ClockSettings) -> String {
    if clock.bank_ms == Some(ClockSettings::MS_MAX) && clock.move_ms.is_none() {
        return "none".to_owned();
    }
    let mut parts = Vec::new();
    if let Some(bank) = clock.bank_ms {
        let increment = clock.increment_ms;
        let plus = if increment > 0 { format!("+{}", show_time(increment)) } else { String::new() };
        parts.push(format!("{}{plus}", show_time(bank)));
    }
    if let Some(per_move) = clock.move_ms {
        parts.push(format!("{} per turn", show_time(per_move)));
    }
    if clock.kind == ClockKind::Cpu {
        parts.push("CPU time".to_owned());
    }
    parts.join(", ")
}

/// Formats milliseconds as `500ms` or `1.5s`.
#[expect(clippy::cast_precision_loss, reason = "a time needs no more than 15 digits")]
pub fn show_time(ms: u64) -> String {
    if ms < 1000 { format!("{ms}ms") } else { format!("{}s", ms as f64 / 1000.0) }
}

/// Formats memory in KiB as MB, as limits are given.
pub fn show_memory(kb: u64) -> String {
    format!("{} MB", kb.div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use super::{read_clock, read_time};

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("1.5s", 1500),
            ("0.5", 500),
            ("60", 60_000),
            ("1m 30s", 90_000),
            ("5m", 300_000),
        ] {
            assert_eq!(read_time(text), Ok(ms), "{text}");
        }
        for text in ["", "soon", "-1s", "5 parsecs", "nan", "inf"] {
            assert!(read_time(text).is_err(), "{text}");
        }
        assert_eq!(read_clock("60s+0.5s"), Ok((60_000, 500)));
        assert_eq!(read_clock("5m"), Ok((300_000, 0)));
        assert!(read_clock("60s+").is_err());
    }
}
