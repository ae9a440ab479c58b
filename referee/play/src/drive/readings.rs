//! Measuring what belongs to an event: CPU time, time waiting for a core, the referee's own lag.
//!
//! Measuring a whole process tree is slow, and an agent decides how many lines it writes. So the lines
//! that were read together share one measurement, and lines that end no turn share one for a while.

use super::Drive;
use super::turn::Asked;
use referee_games::Decoded;
use referee_match::{Reading, parse_line};
use referee_process::framer::Line;
use referee_protocol::{ClockKind, FromAgent, Nanos, Seat};
use std::time::{Duration, Instant};

/// For turns shorter than this, the time waiting for a core is not measured: it can't matter, and
/// measuring takes as long as such a turn.
const LONG_TURN: Nanos = Nanos(1_000_000);
/// How long the measurement of a process tree serves for what ends no turn.
const TREE_PERIOD: Duration = Duration::from_millis(5);
/// It serves for at least this many times as long as it took.
const TREE_SHARE: u32 = 4;

/// The last measurement of each seat.
#[derive(Debug, Default)]
pub(super) struct Readings(Vec<Option<Measured>>);

#[derive(Debug)]
struct Measured {
    /// When the seat was asked last.
    asked: Instant,
    /// When the event was seen that it belongs to.
    at: Instant,
    /// How long it serves for other events.
    until: Instant,
    cpu: Option<Nanos>,
    wait: Option<Nanos>,
}

impl Readings {
    /// Returns CPU time and waiting time for an event of this turn that was seen at `at`: what was
    /// measured for another event seen at that time, or, if measuring is slow, not long ago for an event
    /// that ends no turn; else measures.
    fn of(
        &mut self,
        (seat, asked): (Seat, Instant),
        at: Instant,
        is_slow: bool,
        ends_no_turn: impl FnOnce() -> bool,
        measure: impl FnOnce() -> (Option<Nanos>, Option<Nanos>),
    ) -> (Option<Nanos>, Option<Nanos>) {
        if self.0.len() <= seat.index() {
            self.0.resize_with(seat.index() + 1, || None);
        }
        let last = &mut self.0[seat.index()];
        if let Some(last) = last.as_ref().filter(|last| last.asked == asked)
            && (last.at == at || (at < last.until && ends_no_turn()))
        {
            return (last.cpu, last.wait);
        }
        let begun = is_slow.then(Instant::now);
        let (cpu, wait) = measure();
        let until = begun.map_or(at, |begun| {
            let end = Instant::now();
            end + TREE_PERIOD.max((end - begun) * TREE_SHARE)
        });
        *last = Some(Measured { asked, at, until, cpu, wait });
        (cpu, wait)
    }
}

impl Drive<'_> {
    /// Measures what belongs to a line.
    pub(super) fn reading_of_line(
        &mut self,
        seat: Seat,
        at: Instant,
        line: &Line,
        meaning: Option<&Decoded>,
    ) -> Reading {
        // Before the first turn, what counts is what the seat itself has used until then.
        let idle = self.state.thinking().is_none() && self.state.measures_pondering();
        let is_own = idle || self.early.has(seat);
        let measured = if is_own { Some(seat) } else { self.state.thinking() };
        self.measure(measured, at, || {
            let message = parse_line(&line.bytes, meaning.cloned());
            !line.cut && matches!(message, None | Some(Ok(FromAgent::Info(_))))
        })
    }

    /// Measures what belongs to a moment at which nothing came from the seat that thinks.
    pub(super) fn reading(&mut self, now: Instant) -> Reading {
        self.measure(self.state.thinking(), now, || true)
    }

    fn measure(
        &mut self,
        seat: Option<Seat>,
        at: Instant,
        ends_no_turn: impl FnOnce() -> bool,
    ) -> Reading {
        let beside = seat.and_then(|seat| self.early.asked(seat));
        let thinks = beside.is_some() || (seat.is_some() && self.state.thinking() == seat);
        let asked = beside.unwrap_or(self.turn.asked);
        let (lag, whole) = (self.lag(at, thinks.then_some(asked)), self.counts_whole_tree());
        let agent = seat.and_then(|seat| self.participants[seat.index()].connection_mut());
        let Some((agent, seat)) = agent.zip(seat) else {
            return Reading { lag, ..Reading::default() };
        };
        let long = span(asked.at, at) >= LONG_TURN;
        let is_tree = agent.counts_whole_tree(whole);
        let measure =
            || (agent.cpu_in_turn(whole, at), thinks.then(|| agent.wait(false, long)).flatten());
        // One process is measured in no time.
        let (cpu, wait) = self.readings.of((seat, asked.at), at, is_tree, ends_no_turn, measure);
        Reading { cpu, wait, lag }
    }

    /// Measures without what only the end of a turn needs.
    pub(super) fn brief_reading(&self, now: Instant) -> Reading {
        let agent =
            self.state.thinking().and_then(|seat| self.participants[seat.index()].connection());
        let cpu = agent.and_then(|agent| agent.cpu(self.counts_whole_tree()));
        let asked = self.state.thinking().map(|_| self.turn.asked);
        Reading { cpu, wait: None, lag: self.lag(now, asked) }
    }

    /// Returns the longest lag since the turn began or, between turns, since the match began. What judging
    /// the agent's own lines took in this turn doesn't count, or it could cause it.
    fn lag(&self, now: Instant, asked: Option<Asked>) -> Nanos {
        let since = asked.map_or(self.time.began, |asked| asked.at);
        let lag = self.core.lag_probe.lag_since(since, now);
        let judged_for = asked.map_or(Duration::ZERO, |asked| asked.judged_for);
        Nanos::from(lag.saturating_sub(judged_for))
    }

    /// Whether CPU time is always that of the agent's process tree.
    pub(super) fn counts_whole_tree(&self) -> bool {
        self.state.header().clock.kind == ClockKind::Cpu || self.state.measures_pondering()
    }
}

pub(super) fn span(from: Instant, to: Instant) -> Nanos {
    to.saturating_duration_since(from).into()
}

#[cfg(test)]
mod tests {
    use super::{Readings, TREE_PERIOD};
    use referee_protocol::{Nanos, Seat};
    use std::time::{Duration, Instant};

    /// Returns how often is measured for events at these times, of turns that began at zero, with what
    /// they are: `i` info, `a` an answer.
    fn measured(events: &[(u64, char)]) -> u64 {
        // In the past, so that what a measurement takes doesn't matter.
        let zero = Instant::now();
        let (mut readings, mut count) = (Readings::default(), 0);
        for &(us, what) in events {
            let at = zero + Duration::from_micros(us);
            let measure = || {
                count += 1;
                (Some(Nanos(count)), None)
            };
            let (cpu, _) = readings.of((Seat(0), zero), at, true, || what == 'i', measure);
            assert!(what == 'i' || cpu == Some(Nanos(count)), "an answer with an old reading");
        }
        count
    }

    #[test]
    fn lines_that_were_read_together_are_measured_once() {
        let mut chunk = vec![(7, 'i'); 2000];
        assert_eq!(measured(&chunk), 1);
        chunk.push((7, 'a'));
        assert_eq!(measured(&chunk), 1);
        chunk.push((8, 'a'));
        assert_eq!(measured(&chunk), 2);
    }

    #[test]
    fn an_answer_is_measured_at_its_own_time() {
        assert_eq!(measured(&[(7, 'i'), (8, 'i'), (8, 'a'), (8, 'i'), (9, 'i')]), 2);
    }

    #[test]
    fn a_tree_is_measured_once_in_a_while_however_often_its_agent_writes() {
        let period = u64::try_from(TREE_PERIOD.as_micros()).unwrap();
        let each: Vec<(u64, char)> = (0..period).map(|us| (us, 'i')).collect();
        assert_eq!(measured(&each), 1);
        // A turn later everything is measured again.
        let zero = Instant::now();
        let mut readings = Readings::default();
        let mut count = 0;
        for (turn, seat) in [(0, 0), (1, 1), (2, 0)] {
            let asked = zero + Duration::from_micros(turn);
            readings.of(
                (Seat(seat), asked),
                asked,
                true,
                || true,
                || {
                    count += 1;
                    (None, None)
                },
            );
        }
        assert_eq!(count, 3);
    }
}
