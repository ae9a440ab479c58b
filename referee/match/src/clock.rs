//! The clocks of a match: what a seat has left, and when a turn is late.

use referee_protocol::{ClockKind, ClockSettings, LateBy, Nanos};

/// What the shell read of the machine's state at the moment of an input. CPU and waiting time are
/// cumulative, over the process tree of the seat whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// CPU time used so far; `None` where it can't be read.
    pub cpu: Option<Nanos>,
    /// Time spent so far ready to run without a core; `None` where it wasn't read.
    pub wait: Option<Nanos>,
    /// The longest lag of the referee itself since the turn began.
    pub lag: Nanos,
}

/// One seat's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    left: Option<Nanos>,
    /// Where there is no bank to pay for it: what of the next turn is already used.
    owed: Nanos,
}

/// What a turn has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) wall: Nanos,
    pub(super) cpu: Option<Nanos>,
    pub(super) wait: Option<Nanos>,
    pub(super) lag: Nanos,
}

impl Spent {
    /// From the moment of the request to now.
    pub(super) fn between(asked: (Nanos, Reading), now: (Nanos, Reading)) -> Self {
        let span = |from: Option<Nanos>, to: Option<Nanos>| Some(to?.since(from?));
        Self {
            wall: now.0.since(asked.0),
            cpu: span(asked.1.cpu, now.1.cpu),
            wait: span(asked.1.wait, now.1.wait),
            lag: now.1.lag,
        }
    }

    /// What the clock counts. Where CPU time can't be read, the wall stands in for it.
    pub(super) fn charged(&self, kind: ClockKind) -> Nanos {
        match kind {
            ClockKind::Wall => self.wall,
            ClockKind::Cpu => self.cpu.unwrap_or(self.wall),
        }
    }
}

/// What a clock says of a turn that isn't finished, or just is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Punctuality {
    /// Within the allowance and the margin.
    InTime,
    /// Too late, but by no more than the referee itself lagged.
    Blurred,
    /// Too late.
    Late(LateBy),
}

impl Clock {
    pub(super) fn new(settings: &ClockSettings) -> Self {
        Self { left: settings.bank_ms.map(Nanos::from_ms), owed: Nanos(0) }
    }

    /// Sets what the bank holds, unless it is that already.
    pub(super) fn set_left_ms(&mut self, left_ms: Option<u64>) {
        if self.left_ms() != left_ms {
            self.left = left_ms.map(Nanos::from_ms);
        }
    }

    /// What the bank holds, rounded down.
    pub(super) fn left_ms(&self) -> Option<u64> {
        self.left.map(Nanos::ms_down)
    }

    /// What the next turn may use, without the margin.
    fn allowance(&self, settings: &ClockSettings) -> Nanos {
        let cap = settings.move_ms.map(Nanos::from_ms);
        match (self.left, cap) {
            (Some(left), Some(cap)) => left.min(cap),
            (Some(left), None) => left,
            (None, Some(cap)) => cap.since(self.owed),
            (None, None) => Nanos(u64::MAX),
        }
    }

    /// What the clock may count of a turn before it is late.
    fn charged_limit(&self, settings: &ClockSettings) -> Nanos {
        self.allowance(settings).plus(Nanos::from_ms(settings.margin_ms))
    }

    /// The wall time after which a turn is late, whatever the agent's CPU time.
    fn wall_limit(&self, settings: &ClockSettings) -> Nanos {
        match settings.kind {
            ClockKind::Wall => self.charged_limit(settings),
            ClockKind::Cpu => settings.backstop_ms.map_or_else(
                || Nanos(self.allowance(settings).0.saturating_mul(4)).max(Nanos::from_ms(2000)),
                Nanos::from_ms,
            ),
        }
    }

    /// Whether a turn that has taken this much is in time.
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
            Punctuality::Blurred
        } else {
            Punctuality::Late(LateBy::Wall)
        }
    }

    /// When to look again at a turn that began at `asked` and has taken `spent` by now.
    pub(super) fn look_again(
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
        // CPU time can run several times as fast as the wall's, so it is looked at often towards
        // its end.
        let rest = self.charged_limit(settings).since(spent.cpu.unwrap_or_default()).0;
        let pause = Nanos((rest / 8).clamp(1_000_000, 50_000_000));
        asked.plus(spent.wall).plus(pause).min(end)
    }

    /// Takes a finished turn off the bank and adds the increment.
    pub(super) fn charge(&mut self, charged: Nanos, settings: &ClockSettings) {
        let increment = Nanos::from_ms(settings.increment_ms);
        self.left = self.left.map(|left| left.since(charged).plus(increment));
        self.owed = Nanos(0);
    }

    /// Takes what was used between two turns off the bank, or, where there is none, off the turn
    /// that now begins.
    pub(super) fn charge_pondering(&mut self, pondered: Nanos) {
        match &mut self.left {
            Some(left) => *left = left.since(pondered),
            None => self.owed = pondered,
        }
    }

    /// What the turn was allowed, for messages.
    pub(super) fn allowance_ms(&self, settings: &ClockSettings) -> u64 {
        self.allowance(settings).ms_down()
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
        use Punctuality::{Blurred, InTime, Late};
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
            (None, Some(50), 0, 53_000_000, 3_000_000, Blurred),
            (None, Some(50), 0, 53_000_001, 3_000_000, late),
        ] {
            let settings =
                ClockSettings { margin_ms: margin, ..settings(ClockKind::Wall, bank, per_move) };
            let told = Clock::new(&settings).punctuality(&wall(ns, lag), &settings);
            assert_eq!(told, wanted, "{bank:?} {per_move:?} {margin} {ns} {lag}");
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
        assert_eq!((clock.left_ms(), clock.allowance_ms(&banked)), (Some(30), 30));
        clock.charge_pondering(Nanos::from_ms(70));
        assert_eq!(clock.left_ms(), Some(0));
        let capped = settings(ClockKind::Wall, None, Some(50));
        let mut clock = Clock::new(&capped);
        clock.charge_pondering(Nanos::from_ms(20));
        assert_eq!((clock.left_ms(), clock.allowance_ms(&capped)), (None, 30));
        clock.charge(Nanos(1), &capped);
        assert_eq!(clock.allowance_ms(&capped), 50, "only the next turn pays");
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
        let again = clock.look_again(Nanos(7), &wall(0, 0), &settings);
        assert_eq!(again, Nanos(50_000_008));
        let spent = wall(again.since(Nanos(7)).0, 0);
        assert_eq!(clock.punctuality(&spent, &settings), Punctuality::Late(LateBy::Wall));
    }
}
