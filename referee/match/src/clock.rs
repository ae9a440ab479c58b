//! The clocks of a match: the time that a seat has left, and when a turn is late.

use crate::times::show_time;
use referee_protocol::{ClockKind, ClockSettings, LateBy, Nanos};
use std::time::Duration;

/// What the driver measured at the moment of an input. CPU and waiting time are cumulative over the
/// process tree of the seat whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// CPU time used so far; `None` if it can't be measured.
    pub cpu: Option<Nanos>,
    /// Time spent so far waiting for a core; `None` if it wasn't measured.
    pub wait: Option<Nanos>,
    /// The longest lag of the referee itself since the turn began.
    pub lag: Nanos,
}

/// The times after which a turn is late; `None` without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Wall time.
    pub wall: Option<Duration>,
    /// CPU time.
    pub cpu: Option<Duration>,
}

impl TurnLimits {
    /// Returns the limits of a turn with `left_ms` in the bank (`None`: a full one).
    pub fn of(settings: &ClockSettings, left_ms: Option<u64>) -> Self {
        let mut clock = Clock::new(settings);
        if left_ms.is_some() {
            clock.set_left_ms(left_ms);
        }
        let time = |Nanos(limit)| (limit < u64::MAX).then_some(Duration::from_nanos(limit));
        let cpu = (settings.kind == ClockKind::Cpu).then(|| clock.charged_limit(settings));
        Self { wall: time(clock.wall_limit(settings)), cpu: cpu.and_then(time) }
    }
}

/// One seat's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    left: Option<Nanos>,
    /// Without a bank: time of the next turn that is already used.
    owed: Nanos,
}

/// The time that a turn has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) wall: Nanos,
    pub(super) cpu: Option<Nanos>,
    pub(super) wait: Option<Nanos>,
    pub(super) lag: Nanos,
}

impl Spent {
    /// Returns the time from the request to now.
    pub(super) fn between(asked: (Nanos, Reading), now: (Nanos, Reading)) -> Self {
        let span = |from: Option<Nanos>, to: Option<Nanos>| Some(to?.since(from?));
        Self {
            wall: now.0.since(asked.0),
            cpu: span(asked.1.cpu, now.1.cpu),
            wait: span(asked.1.wait, now.1.wait),
            lag: now.1.lag,
        }
    }

    /// Returns what the clock counts: wall time also for a CPU clock that can't be read.
    pub(super) fn charged(&self, kind: ClockKind) -> Nanos {
        match kind {
            ClockKind::Wall => self.wall,
            ClockKind::Cpu => self.cpu.unwrap_or(self.wall),
        }
    }
}

/// Whether a turn is in time, at its end or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Punctuality {
    /// Within the allowance and the margin.
    InTime,
    /// Too late, but by no more than the referee itself lagged.
    WithinLag,
    /// Too late.
    Late(LateBy),
}

impl Clock {
    pub(super) fn new(settings: &ClockSettings) -> Self {
        Self { left: settings.bank_ms.map(Nanos::from_ms), owed: Nanos(0) }
    }

    /// Sets the bank. Keeps the fraction of a millisecond if the rest is the same.
    pub(super) fn set_left_ms(&mut self, left_ms: Option<u64>) {
        if self.left_ms() != left_ms {
            self.left = left_ms.map(Nanos::from_ms);
        }
    }

    /// Returns what is left in the bank, rounded down.
    pub(super) fn left_ms(&self) -> Option<u64> {
        self.left.map(Nanos::ms_down)
    }

    /// Returns the time for the next turn, without the margin.
    fn allowance(&self, settings: &ClockSettings) -> Nanos {
        let cap = settings.move_ms.map(Nanos::from_ms);
        match (self.left, cap) {
            (Some(left), Some(cap)) => left.min(cap),
            (Some(left), None) => left,
            (None, Some(cap)) => cap.since(self.owed),
            (None, None) => Nanos(u64::MAX),
        }
    }

    /// Returns the counted time after which a turn is late.
    pub(super) fn charged_limit(&self, settings: &ClockSettings) -> Nanos {
        self.allowance(settings).plus(Nanos::from_ms(settings.margin_ms))
    }

    /// Returns the wall time after which a turn is late, however little CPU time it used.
    fn wall_limit(&self, settings: &ClockSettings) -> Nanos {
        match settings.kind {
            ClockKind::Wall => self.charged_limit(settings),
            ClockKind::Cpu => settings.backstop_ms.map_or_else(
                || Nanos(self.allowance(settings).0.saturating_mul(4)).max(Nanos::from_ms(2000)),
                Nanos::from_ms,
            ),
        }
    }

    /// Judges a turn that has taken this long.
    pub(super) fn punctuality(&self, spent: &Spent, settings: &ClockSettings) -> Punctuality {
        if settings.kind == ClockKind::Cpu
            && spent.cpu.is_some_and(|cpu| cpu > self.charged_limit(settings))
        {
            return Punctuality::Late(LateBy::Cpu);
        }
        let limit = self.wall_limit(settings);
        if spent.wall <= limit {
            Punctuality::InTime
        } else if spent.wall.since(limit) <= spent.lag {
            Punctuality::WithinLag
        } else {
            Punctuality::Late(LateBy::Wall)
        }
    }

    /// Returns when to check again a turn that began at `asked` and has taken `spent` by now.
    pub(super) fn next_check(
        &self,
        asked: Nanos,
        spent: &Spent,
        settings: &ClockSettings,
    ) -> Nanos {
        // One more nanosecond, because exactly the limit is in time.
        let end = asked.plus(self.wall_limit(settings)).plus(spent.lag).plus(Nanos(1));
        if settings.kind == ClockKind::Wall {
            return end;
        }
        // CPU time can run several times as fast as wall time, so it is checked more often towards
        // the limit.
        let rest = self.charged_limit(settings).since(spent.cpu.unwrap_or_default()).0;
        let pause = Nanos((rest / 8).clamp(1_000_000, 50_000_000));
        asked.plus(spent.wall).plus(pause).min(end)
    }

    /// Subtracts a finished turn from the bank and adds the increment.
    pub(super) fn charge(&mut self, charged: Nanos, settings: &ClockSettings) {
        let increment = Nanos::from_ms(settings.increment_ms);
        self.left = self.left.map(|left| left.since(charged).plus(increment));
        self.owed = Nanos(0);
    }

    /// Subtracts the time used between two turns from the bank or, without one, from the turn that
    /// now begins.
    pub(super) fn charge_pondering(&mut self, pondered: Nanos) {
        match &mut self.left {
            Some(left) => *left = left.since(pondered),
            None => self.owed = pondered,
        }
    }

    /// Says what the turn was allowed, as the second half of a message about a late answer.
    pub(super) fn limit_text(&self, settings: &ClockSettings) -> String {
        let ms = self.allowance(settings).ms_down();
        match (self.left_ms(), settings.bank_ms) {
            (Some(left), Some(bank)) if left == ms && left < bank => {
                format!("only {ms} ms of its {} were left", show_time(bank))
            }
            (Some(left), _) if left == ms => format!("its clock had {ms} ms"),
            _ => format!("the limit is {ms} ms per turn"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Punctuality, Spent};
    use referee_protocol::{ClockKind, ClockSettings, LateBy, Nanos};

    fn settings(kind: ClockKind, bank: Option<u64>, per_move: Option<u64>) -> ClockSettings {
        ClockSettings {
            kind,
            bank_ms: bank,
            increment_ms: if bank.is_some() { 10 } else { 0 },
            move_ms: per_move,
            ..ClockSettings::default()
        }
    }

    fn wall(ns: u64, lag: u64) -> Spent {
        Spent { wall: Nanos(ns), lag: Nanos(lag), ..Spent::default() }
    }

    #[test]
    fn a_wall_clock_is_exact_to_the_nanosecond() {
        use Punctuality::{InTime, Late, WithinLag};
        let late = Late(LateBy::Wall);
        for (bank, per_move, margin, ns, lag, wanted) in [
            (Some(100), None, 0, 100_000_000, 0, InTime),
            (Some(100), None, 0, 100_000_001, 0, late),
            (Some(100), Some(50), 0, 50_000_000, 0, InTime),
            (Some(100), Some(50), 0, 50_000_001, 0, late),
            (Some(100), Some(500), 0, 100_000_001, 0, late),
            (None, Some(50), 0, 50_000_001, 0, late),
            (None, Some(50), 5, 55_000_000, 0, InTime),
            (None, Some(50), 5, 55_000_001, 0, late),
            (None, Some(50), 0, 53_000_000, 3_000_000, WithinLag),
            (None, Some(50), 0, 53_000_001, 3_000_000, late),
        ] {
            let settings =
                ClockSettings { margin_ms: margin, ..settings(ClockKind::Wall, bank, per_move) };
            let found = Clock::new(&settings).punctuality(&wall(ns, lag), &settings);
            assert_eq!(found, wanted, "{bank:?} {per_move:?} {margin} {ns} {lag}");
        }
    }

    #[test]
    fn the_bank_counts_in_nanoseconds() {
        let settings = settings(ClockKind::Wall, Some(100), None);
        let mut clock = Clock::new(&settings);
        for _ in 0..3 {
            clock.charge(Nanos(400_000), &settings);
        }
        // 100 ms less 1.2 ms and three increments of 10 ms: 128.8 ms, shown as 128.
        assert_eq!(clock.left_ms(), Some(128));
        clock.charge(Nanos(500_000_000), &settings);
        assert_eq!(clock.left_ms(), Some(10), "an empty bank gets the increment");
    }

    #[test]
    fn pondering_is_paid_by_the_bank_or_by_the_next_turn() {
        let banked = settings(ClockKind::Wall, Some(100), Some(50));
        let mut clock = Clock::new(&banked);
        clock.charge_pondering(Nanos::from_ms(70));
        assert_eq!((clock.left_ms(), clock.allowance(&banked).ms_down()), (Some(30), 30));
        clock.charge_pondering(Nanos::from_ms(70));
        assert_eq!(clock.left_ms(), Some(0));
        let capped = settings(ClockKind::Wall, None, Some(50));
        let mut clock = Clock::new(&capped);
        clock.charge_pondering(Nanos::from_ms(20));
        assert_eq!((clock.left_ms(), clock.allowance(&capped).ms_down()), (None, 30));
        clock.charge(Nanos(1), &capped);
        assert_eq!(clock.allowance(&capped).ms_down(), 50, "only the next turn pays");
    }

    #[test]
    fn a_cpu_clock_has_a_wall_behind_it() {
        let settings = settings(ClockKind::Cpu, None, Some(100));
        let clock = Clock::new(&settings);
        let spent = |wall_ms, cpu_ms| Spent {
            wall: Nanos::from_ms(wall_ms),
            cpu: Some(Nanos::from_ms(cpu_ms)),
            ..Spent::default()
        };
        assert_eq!(clock.punctuality(&spent(1900, 100), &settings), Punctuality::InTime);
        let late = |by| Punctuality::Late(by);
        assert_eq!(clock.punctuality(&spent(200, 101), &settings), late(LateBy::Cpu));
        assert_eq!(clock.punctuality(&spent(2001, 0), &settings), late(LateBy::Wall));
        let backstop = ClockSettings { backstop_ms: Some(150), ..settings };
        assert_eq!(clock.punctuality(&spent(151, 0), &backstop), late(LateBy::Wall));
    }

    #[test]
    fn looking_again_comes_just_after_the_limit() {
        let settings = settings(ClockKind::Wall, None, Some(50));
        let clock = Clock::new(&settings);
        let again = clock.next_check(Nanos(7), &wall(0, 0), &settings);
        assert_eq!(again, Nanos(50_000_008));
        let spent = wall(again.since(Nanos(7)).0, 0);
        assert_eq!(clock.punctuality(&spent, &settings), Punctuality::Late(LateBy::Wall));
    }
}
