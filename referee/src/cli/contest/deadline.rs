//! When a run ends that would take longer: `--until` and `--for`.

use clap::Args;
use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp, Zoned};
use referee_match::times::read_time;
use referee_play::interrupts::{Interrupt, PlannedEnd};
use referee_runner::course::moment;
use std::time::Duration;

/// How often the clock on the wall is read: it may be set, and the machine may sleep.
const LOOK: Duration = Duration::from_secs(20);

/// The options of commands that run a contest.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DeadlineOptions {
    /// Begin no game after this time: `18:00` is the next one, `2026-12-24 18:00` a date. Local time
    #[arg(long, value_name = "TIME", value_parser = read_until, conflicts_with = "lasting")]
    until: Option<Timestamp>,
    /// Begin no game after this long, such as `6h`
    #[arg(long = "for", value_name = "TIME", value_parser = read_time)]
    lasting: Option<u64>,
}

impl DeadlineOptions {
    /// Returns the deadline of a run that begins now.
    pub(super) fn at(&self) -> Option<Timestamp> {
        let lasting = || {
            let lasting = SignedDuration::from_millis(i64::try_from(self.lasting?).ok()?);
            Timestamp::now().checked_add(lasting).ok()
        };
        self.until.or_else(lasting)
    }
}

/// Returns the planned end of a run with this deadline.
pub(super) fn planned_end(deadline: Option<Timestamp>) -> Option<PlannedEnd> {
    deadline.map(|deadline| Box::pin(reached(deadline)) as PlannedEnd)
}

async fn reached(deadline: Timestamp) -> Interrupt {
    while let Ok(left) = Duration::try_from(deadline.duration_since(Timestamp::now()))
        && !left.is_zero()
    {
        tokio::time::sleep(left.min(LOOK)).await;
    }
    Interrupt::Deadline
}

/// Reads the time of a deadline, which must not have passed.
fn read_until(text: &str) -> Result<Timestamp, String> {
    deadline_after(text, &Zoned::now())
}

fn deadline_after(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let next = || {
        let time = text.parse::<Time>().ok()?;
        let today = now.with().time(time).build().ok()?;
        if today > *now {
            Some(today)
        } else {
            today.tomorrow().ok()?.with().time(time).build().ok()
        }
    };
    let named = moment(text, now.time_zone()).ok();
    let at = named.or_else(|| next().map(|next| next.timestamp()));
    let at = at.ok_or("expected a time such as `18:00` or `2026-12-24 18:00`")?;
    if at > now.timestamp() { Ok(at) } else { Err("this time has passed".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::deadline_after;
    use jiff::Zoned;

    #[test]
    fn a_time_is_the_next_one() {
        let now: Zoned = "2026-12-23T17:30:00+01:00[+01:00]".parse().unwrap();
        for (text, at) in [
            ("18:00", "2026-12-23T17:00:00Z"),
            ("17:30", "2026-12-24T16:30:00Z"),
            ("09:15:30", "2026-12-24T08:15:30Z"),
            ("2026-12-24 18:00", "2026-12-24T17:00:00Z"),
            ("2026-12-24T18:00", "2026-12-24T17:00:00Z"),
            ("2026-12-24T18:00Z", "2026-12-24T18:00:00Z"),
        ] {
            assert_eq!(
                deadline_after(text, &now).map(|it| it.to_string()).as_deref(),
                Ok(at),
                "{text}"
            );
        }
        for (text, why) in
            [("25:00", "expected"), ("soon", "expected"), ("2026-12-22 10:00", "passed")]
        {
            assert!(deadline_after(text, &now).unwrap_err().contains(why), "{text}");
        }
    }
}
