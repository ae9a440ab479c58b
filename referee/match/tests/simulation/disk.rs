//! The file that a transcript is written to, on a disk that may fail: what the shell's sink does,
//! without a file.

use referee_match::transcript::Recorder;
use referee_protocol::Event;

/// Bytes that are gathered before they are written. Fewer than in earnest, as matches are shorter.
const BUFFER_BYTES: usize = 4096;

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// There is room for this many bytes.
    Full {
        bytes: usize,
    },
    /// The write of this number, counted from 0, fails after this many bytes.
    Write {
        number: u64,
        bytes: usize,
    },
}

pub(crate) struct Disk {
    flaw: Flaw,
    recorder: Recorder,
    /// What the file holds.
    pub(crate) file: Vec<u8>,
    writes: u64,
    /// A write has failed, for this cause; nothing is written after that.
    pub(crate) broken: Option<&'static str>,
}

impl Disk {
    pub(crate) fn new(flaw: Flaw) -> Self {
        Self { flaw, recorder: Recorder::new(), file: Vec::new(), writes: 0, broken: None }
    }

    /// Takes in an event; an error is the cause of the void match that follows.
    pub(crate) fn record(&mut self, event: &Event) -> Result<(), &'static str> {
        if self.broken.is_some() {
            return Ok(());
        }
        self.recorder.record(event);
        if self.recorder.buffered_bytes() < BUFFER_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Writes what has been taken in.
    pub(crate) fn flush(&mut self) -> Result<(), &'static str> {
        let bytes = self.recorder.take();
        if self.broken.is_some() || bytes.is_empty() {
            return Ok(());
        }
        let (kept, cause) = match self.flaw {
            Flaw::Full { bytes: room } if self.file.len() + bytes.len() > room => {
                (room - self.file.len(), "disk_full")
            }
            Flaw::Write { number, bytes: some } if number == self.writes => {
                (some.min(bytes.len() - 1), "machine")
            }
            _ => (bytes.len(), ""),
        };
        self.writes += 1;
        self.file.extend_from_slice(&bytes[..kept]);
        if kept == bytes.len() {
            return Ok(());
        }
        self.broken = Some(cause);
        Err(cause)
    }

    /// Seals the transcript; what comes of it is in `file` and `broken`.
    pub(crate) fn finish(&mut self) {
        if self.broken.is_none() {
            self.recorder.seal();
            // Nothing follows that could be stopped.
            let _: Result<(), _> = self.flush();
        }
    }
}
