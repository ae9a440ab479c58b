//! The end of a program that is busy as a signal comes.

use crate::cli::runtime::{machine, runtime};
use referee_play::interrupts::Interrupt;
use referee_process::Failure;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long what looks for signals itself has to end in order, such as a check.
const GRACE: Duration = Duration::from_secs(3);

/// While it exists, SIGTERM and SIGHUP end the program soon, whatever runs: what copies, reads and builds agents looks
/// for no signal. A contest survives a kill at any time, and what has been started for it ends with the program.
pub(super) struct EndsSoon {
    /// Closed when it is dropped.
    _held: oneshot::Sender<()>,
}

impl EndsSoon {
    pub(super) fn begin() -> Result<Self, Failure> {
        let runtime = runtime()?;
        let listen = |kind| {
            let _inside = runtime.enter();
            signal(kind).map_err(machine("cannot handle signals"))
        };
        let (mut term, mut hup) = (listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
        let (held, mut dropped) = oneshot::channel();
        let wait = async move {
            let interrupt = tokio::select! {
                _ = &mut dropped => return,
                _ = term.recv() => Interrupt::Term,
                _ = hup.recv() => Interrupt::Hup,
            };
            if timeout(GRACE, dropped).await.is_err() {
                std::process::exit(interrupt.code().into());
            }
        };
        let work = move || runtime.block_on(wait);
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(work);
        thread.map(|_| Self { _held: held }).map_err(machine("cannot handle signals"))
    }
}
