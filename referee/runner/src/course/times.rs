//! Times as people write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Reads a date with its time: RFC 3339, or `2026-12-24 18:00` in this time zone.
pub fn moment(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    let local = || text.parse::<DateTime>().ok()?.to_zoned(zone.clone()).ok();
    let named = text.parse::<Timestamp>().ok().or_else(|| local().map(|it| it.timestamp()));
    named.ok_or_else(|| {
        "expected a time such as `2026-12-24 18:00` or `2026-12-24T17:00:00Z`".to_owned()
    })
}
