//! Signals to the referee: orderly ends, and Ctrl-Z, which also stops the agents and is not counted on
//! the clocks.

use super::core_context::{Orders, PausedTime};
use nix::sys::signal::{Signal as SystemSignal, raise};
use std::io;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long the agents' supervisors get to stop their trees before the referee itself stops,
const STOPPING: Duration = Duration::from_millis(30);
/// and at most, before that, the matches to tell them: one may wait for its rules, or for a core of a busy machine.
const TELLING_MAX: Duration = Duration::from_secs(10);
const TELLING_LOOK: Duration = Duration::from_millis(2);
/// A second SIGTERM within this time counts as the first: batch systems signal both a job's shell and
/// its steps.
const ECHO: Duration = Duration::from_secs(1);

/// What ends the run: a signal, or a planned end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    Int,
    /// SIGTERM.
    Term,
    /// The terminal was closed.
    Hup,
    /// The time for the run is over.
    Deadline,
    /// There are new agents, to be taken in before more is played.
    NewAgents,
}

impl Interrupt {
    fn signal(self) -> Option<SystemSignal> {
        match self {
            Self::Int => Some(SystemSignal::SIGINT),
            Self::Term => Some(SystemSignal::SIGTERM),
            Self::Hup => Some(SystemSignal::SIGHUP),
            Self::Deadline | Self::NewAgents => None,
        }
    }

    /// Returns the exit code; 0 for a planned end.
    pub fn code(self) -> u8 {
        self.signal().map_or(0, |signal| 128 + signal as u8)
    }

    /// Whether the end was planned.
    pub fn is_planned(self) -> bool {
        self.signal().is_none()
    }
}

/// How signals that end the run are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalPolicy {
    /// The first one stops every match.
    None,
    /// The first Ctrl-C only begins no more matches.
    Matches,
    /// The first Ctrl-C or SIGTERM is only noted: the caller decides which matches to finish.
    Work,
}

/// What a signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalEffect {
    /// It is only noted.
    Note,
    /// It begins no more matches.
    Last,
    /// It stops every match.
    Stop,
}

impl SignalPolicy {
    /// Returns the effect of a signal after the first one, if there was one.
    fn meaning(
        self,
        first: Option<(Interrupt, Instant)>,
        interrupt: Interrupt,
        now: Instant,
    ) -> SignalEffect {
        match (self, interrupt, first) {
            (Self::Matches, Interrupt::Int, None) => SignalEffect::Last,
            (_, planned, None) if planned.is_planned() => SignalEffect::Last,
            (_, planned, Some(_)) if planned.is_planned() => SignalEffect::Note,
            (Self::Work, Interrupt::Int | Interrupt::Term, None) => SignalEffect::Note,
            (Self::Work, Interrupt::Term, Some((Interrupt::Term, came)))
                if now.saturating_duration_since(came) < ECHO =>
            {
                SignalEffect::Note
            }
            _ => SignalEffect::Stop,
        }
    }
}

/// Converts signals to orders.
#[expect(missing_debug_implementations, reason = "closures have no Debug")]
pub struct Interrupts {
    int: Signal,
    term: Signal,
    hup: Signal,
    stop: Signal,
    orders: watch::Sender<Orders>,
    paused: PausedTime,
    /// The first signal that ended the run, and when it came.
    received: Option<(Interrupt, Instant)>,
    policy: SignalPolicy,
    /// Restores the terminal while the referee is stopped.
    pausing: Option<Box<dyn Fn(bool) + Send>>,
    /// Waits for the planned end.
    planned: Option<PlannedEnd>,
}

/// Waits for a planned end of the run.
pub type PlannedEnd = Pin<Box<dyn Future<Output = Interrupt>>>;

impl Interrupts {
    /// Listens for signals on the current runtime.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(SystemSignal::SIGTSTP as i32))?,
            orders: watch::Sender::new(Orders::default()),
            paused: PausedTime::default(),
            received: None,
            policy: SignalPolicy::None,
            pausing: None,
            planned: None,
        })
    }

    /// The same, but the first Ctrl-C only begins no more matches.
    pub fn listen_patiently() -> io::Result<Self> {
        Ok(Self { policy: SignalPolicy::Matches, ..Self::listen()? })
    }

    /// The same, but the first Ctrl-C or SIGTERM is only noted; the caller decides which matches to
    /// finish.
    pub fn listen_for_work() -> io::Result<Self> {
        Ok(Self { policy: SignalPolicy::Work, ..Self::listen()? })
    }

    /// Begins no more matches when `end` is over. What ended an earlier run, unless it was a signal, is forgotten.
    pub fn plan_end(&mut self, end: Option<PlannedEnd>) {
        self.planned = end;
        if self.received().is_none_or(Interrupt::is_planned) {
            self.received = None;
            self.orders.send_modify(|orders| (orders.last, orders.stop) = (false, None));
        }
    }

    /// Calls this with `true` before the referee is stopped, and with `false` when it resumes.
    pub fn on_pause(&mut self, pausing: impl Fn(bool) + Send + 'static) {
        self.pausing = Some(Box::new(pausing));
    }

    /// Returns the orders for matches.
    pub fn orders(&self) -> watch::Receiver<Orders> {
        self.orders.subscribe()
    }

    /// Returns the time that was spent paused.
    pub fn paused_time(&self) -> PausedTime {
        self.paused.clone()
    }

    /// Returns what ended the run: the first signal, else the planned end.
    pub fn received(&self) -> Option<Interrupt> {
        self.received.map(|(interrupt, _)| interrupt)
    }

    /// Stops every match, for this reason.
    pub fn stop(&self, why: String) {
        self.orders.send_modify(|orders| orders.stop = Some(why));
    }

    /// Lets matches that begin from now on run.
    pub fn clear_stop(&self) {
        self.orders.send_modify(|orders| orders.stop = None);
    }

    /// Whether every match was stopped.
    pub fn is_stopped(&self) -> bool {
        self.orders.borrow().stop.is_some()
    }

    /// Waits for a signal and handles it. Cancel-safe.
    pub async fn next(&mut self) {
        let planned = &mut self.planned;
        let planned_end = async {
            match planned {
                Some(end) => end.await,
                None => std::future::pending().await,
            }
        };
        let interrupt = tokio::select! {
            _ = self.int.recv() => Interrupt::Int,
            _ = self.term.recv() => Interrupt::Term,
            _ = self.hup.recv() => Interrupt::Hup,
            _ = self.stop.recv() => return self.pause(),
            interrupt = planned_end => interrupt,
        };
        let now = Instant::now();
        let meaning = self.policy.meaning(self.received, interrupt, now);
        if interrupt.is_planned() {
            self.planned = None;
        }
        if self.received().is_none_or(|first| first.is_planned() && !interrupt.is_planned()) {
            self.received = Some((interrupt, now));
        }
        match meaning {
            SignalEffect::Note => {}
            SignalEffect::Last => {
                // For the pool only; running matches need no wake-up.
                self.orders.send_if_modified(|orders| {
                    orders.last = true;
                    false
                });
            }
            SignalEffect::Stop => {
                let signal = interrupt.signal().map_or("", SystemSignal::as_str);
                self.stop(format!("interrupted by {signal}"));
            }
        }
    }

    /// Waits until every match was stopped.
    pub async fn stopped(&mut self) {
        while !self.is_stopped() {
            self.next().await;
        }
    }

    /// Waits for a signal that ends the run. Cancel-safe.
    pub async fn interrupted(&mut self) -> Interrupt {
        loop {
            if let Some(interrupt) = self.received() {
                return interrupt;
            }
            self.next().await;
        }
    }

    /// Stops the agents, then the referee. When the referee resumes, so do they, and no clock has run.
    fn pause(&self) {
        let began = Instant::now();
        self.paused.begin();
        self.orders.send_modify(|orders| orders.paused = true);
        if let Some(pausing) = &self.pausing {
            pausing(true);
        }
        while !self.paused.is_everything_stopped() && began.elapsed() < TELLING_MAX {
            std::thread::sleep(TELLING_LOOK);
        }
        std::thread::sleep(STOPPING);
        // Returns when the referee is continued.
        raise(SystemSignal::SIGSTOP).ok();
        let gap = began.elapsed().as_nanos();
        self.paused.end(u64::try_from(gap).unwrap_or(u64::MAX));
        self.orders.send_modify(|orders| orders.paused = false);
        if let Some(pausing) = &self.pausing {
            pausing(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interrupt, SignalEffect, SignalPolicy};
    use std::time::{Duration, Instant};

    #[test]
    fn a_second_signal_stops_except_for_a_quick_sigterm() {
        use Interrupt::{Deadline, Hup, Int, Term};
        let came = Instant::now();
        for (policy, first, interrupt, after_ms, meaning) in [
            (SignalPolicy::Work, None, Term, 0, SignalEffect::Note),
            (SignalPolicy::Work, Some(Term), Term, 900, SignalEffect::Note),
            (SignalPolicy::Work, Some(Term), Term, 1100, SignalEffect::Stop),
            (SignalPolicy::Work, Some(Term), Int, 0, SignalEffect::Stop),
            (SignalPolicy::Work, None, Int, 0, SignalEffect::Note),
            (SignalPolicy::Work, Some(Int), Int, 0, SignalEffect::Stop),
            (SignalPolicy::Work, Some(Int), Term, 0, SignalEffect::Stop),
            (SignalPolicy::Work, None, Hup, 0, SignalEffect::Stop),
            (SignalPolicy::Matches, None, Int, 0, SignalEffect::Last),
            (SignalPolicy::Matches, Some(Int), Int, 0, SignalEffect::Stop),
            (SignalPolicy::Matches, None, Term, 0, SignalEffect::Stop),
            (SignalPolicy::None, None, Int, 0, SignalEffect::Stop),
            (SignalPolicy::Matches, None, Deadline, 0, SignalEffect::Last),
            (SignalPolicy::Matches, Some(Int), Deadline, 0, SignalEffect::Note),
            (SignalPolicy::Matches, Some(Deadline), Int, 0, SignalEffect::Stop),
        ] {
            let now = came + Duration::from_millis(after_ms);
            let first = first.map(|first| (first, came));
            let is = policy.meaning(first, interrupt, now);
            assert_eq!(is, meaning, "{policy:?} {first:?} {interrupt:?}");
        }
    }
}
