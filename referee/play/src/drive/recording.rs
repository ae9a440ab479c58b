//! What is recorded of a match: its transcript, and the events for its watcher.

use crate::sink::{Sealed, Sink};
use nix::errno::Errno;
use referee_match::{Input, Match, MatchTally};
use referee_protocol::Event;
use std::io;
use std::time::{Duration, Instant};

/// How often recorded events are written, for viewers of the file.
const FLUSH_PERIOD: Duration = Duration::from_millis(200);

/// The recording of a match. After a write that failed nothing more is written.
pub(super) struct Recording<'a> {
    sink: Sink,
    watcher: &'a mut dyn FnMut(&Event, &Match),
    tally: Box<MatchTally>,
    /// When to write recorded events.
    flush_at: Instant,
    /// Whether the header has been recorded, which is the first event.
    has_begun: bool,
    /// Whether nothing is shown before the end.
    hides: bool,
    /// Events that may not be shown before the last of several seats has chosen.
    hidden: Vec<Event>,
    /// Why the transcript can't be written any more.
    broken: Option<io::Error>,
}

/// The input of a match whose transcript can't be written.
type Failed = Option<Input<'static>>;

impl<'a> Recording<'a> {
    pub(super) fn new(sink: Sink, watcher: &'a mut dyn FnMut(&Event, &Match), hides: bool) -> Self {
        let flush_at = Instant::now() + FLUSH_PERIOD;
        Self {
            sink,
            watcher,
            tally: Box::default(),
            flush_at,
            has_begun: false,
            hides,
            hidden: Vec::new(),
            broken: None,
        }
    }

    /// Whether anything has been recorded.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns when to write recorded events.
    pub(super) fn flush_at(&self) -> Instant {
        self.flush_at
    }

    /// Records an event, as soon as it may be shown. `now` is about now.
    #[must_use]
    pub(super) fn record(&mut self, event: &Event, state: &Match, now: Instant) -> Failed {
        self.has_begun = true;
        let is_early = self.hides && !state.is_over() && !shows_nothing(event);
        if is_early || state.hides(event) {
            self.hidden.push(event.clone());
            return None;
        }
        let mut failed = None;
        for hidden in std::mem::take(&mut self.hidden) {
            failed = failed.or(self.show(&hidden, state, now));
        }
        failed.or(self.show(event, state, now))
    }

    fn show(&mut self, event: &Event, state: &Match, now: Instant) -> Failed {
        let mut failed = self.write(|sink| sink.record(event));
        // The watcher may be slow, and others read the file meanwhile.
        if matches!(event, Event::Played(_)) && self.flush_at <= now {
            failed = failed.or(self.flush());
        }
        self.tally.add_event(event);
        (self.watcher)(event, state);
        failed
    }

    /// Writes recorded events, for viewers of the file.
    #[must_use]
    pub(super) fn flush(&mut self) -> Failed {
        self.flush_at = Instant::now() + FLUSH_PERIOD;
        self.write(Sink::flush)
    }

    fn write(&mut self, write: impl FnOnce(&mut Sink) -> io::Result<()>) -> Failed {
        if self.broken.is_some() {
            return None;
        }
        let error = write(&mut self.sink).err()?;
        let full = error.raw_os_error() == Some(Errno::ENOSPC as i32);
        let cause = if full { "disk_full" } else { "machine" };
        let text = format!("the transcript could not be written: {error}");
        self.broken = Some(error);
        Some(Input::Stop { cause, text, seat: None })
    }

    /// Seals the transcript, unless it could not be written. Returns the tally, too.
    pub(super) fn finish(self, durable: bool) -> io::Result<(Option<Sealed>, Box<MatchTally>)> {
        match self.broken {
            Some(error) => Err(error),
            None => Ok((self.sink.finish(durable)?, self.tally)),
        }
    }
}

/// Whether an event shows nothing that a game hides: a header whose setup has no position.
fn shows_nothing(event: &Event) -> bool {
    matches!(event, Event::Header(header) if header.setup.get("position").is_none())
}
