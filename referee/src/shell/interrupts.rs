//! Signals to the referee: an end that is orderly, and Ctrl-Z, which stops the agents too and takes
//! the gap off the clocks.

use super::console::Pausing;
use super::table::{Orders, PausedTime};
use nix::sys::signal::{Signal as SystemSignal, raise};
use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long the agents' supervisors get to stop their trees before the referee itself stops.
const STOPPING: Duration = Duration::from_millis(30);

/// A signal that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    Int,
    /// A polite kill.
    Term,
    /// The terminal is gone.
    Hup,
}

impl Interrupt {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Int => 130,
            Self::Term => 143,
            Self::Hup => 129,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Term => "TERM",
            Self::Hup => "HUP",
        }
    }
}

/// Listens to signals and passes them on as orders.
#[derive(Debug)]
pub struct Interrupts {
    int: Signal,
    term: Signal,
    hup: Signal,
    stop: Signal,
    orders: watch::Sender<Orders>,
    paused: PausedTime,
    received: Option<Interrupt>,
    /// The first Ctrl-C stops no match.
    patient: bool,
    /// The terminal that is given back while the referee is stopped.
    console: Option<Pausing>,
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
            patient: false,
            console: None,
        })
    }

    /// The same, but the first Ctrl-C stops no match that has begun: no more of them are begun.
    pub fn listen_patiently() -> io::Result<Self> {
        Ok(Self { patient: true, ..Self::listen()? })
    }

    /// Gives this terminal back while the referee is stopped.
    pub fn hold(&mut self, console: Pausing) {
        self.console = Some(console);
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
        self.received
    }

    /// Stops every match, and says why.
    pub fn stop(&self, why: String) {
        self.orders.send_modify(|orders| orders.stop = Some(why));
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
        let first = self.received.is_none();
        self.received.get_or_insert(interrupt);
        if first && self.patient && interrupt == Interrupt::Int {
            // For whoever begins matches; those that are under way need not be told.
            self.orders.send_if_modified(|orders| {
                orders.last = true;
                false
            });
        } else {
            self.stop(format!("interrupted by SIG{}", interrupt.name()));
        }
    }

    /// Stops the agents, then the referee; when it is let go on, so are they, and no clock has run.
    fn pause(&self) {
        let began = Instant::now();
        self.paused.begin();
        self.orders.send_modify(|orders| orders.paused = true);
        if let Some(console) = &self.console {
            console.begin();
        }
        std::thread::sleep(STOPPING);
        // Comes back when the referee is continued.
        raise(SystemSignal::SIGSTOP).ok();
        let gap = began.elapsed().as_nanos();
        self.paused.end(u64::try_from(gap).unwrap_or(u64::MAX));
        self.orders.send_modify(|orders| orders.paused = false);
        if let Some(console) = &self.console {
            console.end();
        }
    }
}
