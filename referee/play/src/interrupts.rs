//! Signals to the referee: an end that is orderly, and Ctrl-Z, which stops the agents too and takes
//! the gap off the clocks.

use super::core_context::{Orders, PausedTime};
use nix::sys::signal::{Signal as SystemSignal, raise};
use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long the agents' supervisors get to stop their trees before the referee itself stops.
const STOPPING: Duration = Duration::from_millis(30);
/// A polite kill that comes again so soon is still the first one: batch systems tell both a job's
/// shell and its steps.
const ECHO: Duration = Duration::from_secs(1);

/// A signal that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    Int = SystemSignal::SIGINT as isize,
    /// A polite kill.
    Term = SystemSignal::SIGTERM as isize,
    /// The terminal is gone.
    Hup = SystemSignal::SIGHUP as isize,
}

impl Interrupt {
    /// The exit code.
    pub fn code(self) -> u8 {
        128 + self as u8
    }

    fn name(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Term => "TERM",
            Self::Hup => "HUP",
        }
    }
}

/// What the first signal does that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalPolicy {
    /// It stops every match.
    None,
    /// Ctrl-C stops no match that has begun: no more of them are begun.
    Matches,
    /// Ctrl-C and a polite kill stop nothing: whoever listens knows what is to be played to its end.
    Work,
}

/// What a signal does that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalEffect {
    /// Nothing more than that it was received.
    Note,
    /// No more matches are begun.
    Last,
    /// Every match is stopped.
    Stop,
}

impl SignalPolicy {
    /// What a signal does now, after the first one, if there was one.
    fn meaning(
        self,
        first: Option<(Interrupt, Instant)>,
        interrupt: Interrupt,
        now: Instant,
    ) -> SignalEffect {
        match (self, interrupt, first) {
            (Self::Matches, Interrupt::Int, None) => SignalEffect::Last,
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

/// Listens to signals and passes them on as orders.
#[expect(missing_debug_implementations, reason = "a function has none")]
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
    /// Gives the terminal back while the referee is stopped.
    pausing: Option<Box<dyn Fn(bool) + Send>>,
}

impl Interrupts {
    /// Begins to listen, on the current runtime.
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
        })
    }

    /// The same, but the first Ctrl-C stops no match that has begun: no more of them are begun.
    pub fn listen_patiently() -> io::Result<Self> {
        Ok(Self { policy: SignalPolicy::Matches, ..Self::listen()? })
    }

    /// The same, but the first Ctrl-C or polite kill stops nothing and lets matches begin: who has
    /// work to finish sees to it.
    pub fn listen_for_work() -> io::Result<Self> {
        Ok(Self { policy: SignalPolicy::Work, ..Self::listen()? })
    }

    /// Calls this with `true` when the referee is about to be stopped, and with `false` when it goes on.
    pub fn on_pause(&mut self, pausing: impl Fn(bool) + Send + 'static) {
        self.pausing = Some(Box::new(pausing));
    }

    /// Where the matches read their orders.
    pub fn orders(&self) -> watch::Receiver<Orders> {
        self.orders.subscribe()
    }

    /// The time that was spent stopped.
    pub fn paused_time(&self) -> PausedTime {
        self.paused.clone()
    }

    /// The first signal that ended the run, if one did.
    pub fn received(&self) -> Option<Interrupt> {
        self.received.map(|(interrupt, _)| interrupt)
    }

    /// Stops every match, and says why.
    pub fn stop(&self, why: String) {
        self.orders.send_modify(|orders| orders.stop = Some(why));
    }

    /// Matches that are begun from now on are not told to stop.
    pub fn go_on(&self) {
        self.orders.send_modify(|orders| orders.stop = None);
    }

    /// Whether every match has been told to stop.
    pub fn is_stopped(&self) -> bool {
        self.orders.borrow().stop.is_some()
    }

    /// Waits for a signal and deals with it. Can be dropped and called again at any time.
    pub async fn next(&mut self) {
        let interrupt = tokio::select! {
            _ = self.int.recv() => Interrupt::Int,
            _ = self.term.recv() => Interrupt::Term,
            _ = self.hup.recv() => Interrupt::Hup,
            _ = self.stop.recv() => return self.pause(),
        };
        let now = Instant::now();
        let meaning = self.policy.meaning(self.received, interrupt, now);
        self.received.get_or_insert((interrupt, now));
        match meaning {
            SignalEffect::Note => {}
            SignalEffect::Last => {
                // For whoever begins matches; those that are under way need not be told.
                self.orders.send_if_modified(|orders| {
                    orders.last = true;
                    false
                });
            }
            SignalEffect::Stop => self.stop(format!("interrupted by SIG{}", interrupt.name())),
        }
    }

    /// Waits until somebody wants an end. Can be dropped and called again at any time.
    pub async fn interrupted(&mut self) -> Interrupt {
        loop {
            if let Some(interrupt) = self.received() {
                return interrupt;
            }
            self.next().await;
        }
    }

    /// Stops the agents, then the referee; when it is let go on, so are they, and no clock has run.
    fn pause(&self) {
        let began = Instant::now();
        self.paused.begin();
        self.orders.send_modify(|orders| orders.paused = true);
        if let Some(pausing) = &self.pausing {
            pausing(true);
        }
        std::thread::sleep(STOPPING);
        // Comes back when the referee is continued.
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
    fn a_second_signal_is_meant_but_for_an_echo_of_a_polite_kill() {
        use Interrupt::{Hup, Int, Term};
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
        ] {
            let now = came + Duration::from_millis(after_ms);
            let first = first.map(|first| (first, came));
            let is = policy.meaning(first, interrupt, now);
            assert_eq!(is, meaning, "{policy:?} {first:?} {interrupt:?}");
        }
    }
}
