//! Writing a transcript: to a file, packed or not, or to stdout.

use super::growing_file::is_packed;
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_match::transcript::Recorder;
use referee_protocol::{Event, Seal};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// How many bytes are buffered before they are written.
const BUFFER_BYTES: usize = 32 * 1024;

/// A transcript that is being written.
#[derive(Debug)]
pub struct Sink {
    recorder: Recorder,
    buffer: Vec<u8>,
    output: Output,
}

/// A transcript that was written to its end.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// Its last line.
    pub seal: Seal,
    /// SHA-256 of the whole transcript, unpacked, in hex.
    pub sha256: String,
}

#[derive(Debug)]
enum Output {
    Nowhere,
    Plain(File),
    Packed(GzEncoder<File>),
    Stream(io::Stdout),
}

impl Sink {
    /// Discards the transcript.
    pub fn nowhere() -> Self {
        Self::with(Output::Nowhere)
    }

    /// Writes to stdout.
    pub fn stream() -> Self {
        Self::with(Output::Stream(io::stdout()))
    }

    /// Writes to a new file, packed if its name ends with `.gz`.
    pub fn file(file: File, path: &Path) -> Self {
        if is_packed(path) {
            return Self::with(Output::Packed(GzEncoder::new(file, Compression::default())));
        }
        Self::with(Output::Plain(file))
    }

    fn with(output: Output) -> Self {
        Self { recorder: Recorder::new(), buffer: Vec::new(), output }
    }

    /// Records an event. It is written with others, or at the next [`Sink::flush`].
    pub fn record(&mut self, event: &Event) -> io::Result<()> {
        if matches!(self.output, Output::Nowhere) {
            return Ok(());
        }
        self.recorder.record(event);
        if self.recorder.buffered_bytes() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what has been recorded.
    pub fn flush(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.recorder.take_into(&mut self.buffer);
        if self.buffer.is_empty() {
            return Ok(());
        }
        match &mut self.output {
            Output::Nowhere => Ok(()),
            Output::Plain(file) => file.write_all(&self.buffer),
            Output::Packed(encoder) => encoder.write_all(&self.buffer),
            Output::Stream(stdout) => stdout.write_all(&self.buffer),
        }
    }

    /// Seals the transcript; `None` if it is discarded. With `durable`, it is on the disk when this
    /// returns.
    pub fn finish(mut self, durable: bool) -> io::Result<Option<Sealed>> {
        if matches!(self.output, Output::Nowhere) {
            return Ok(None);
        }
        let seal = self.recorder.seal();
        self.flush()?;
        let file = match self.output {
            Output::Nowhere => None,
            Output::Plain(file) => Some(file),
            Output::Packed(encoder) => Some(encoder.finish()?),
            Output::Stream(mut stdout) => {
                stdout.flush()?;
                None
            }
        };
        if let Some(file) = file.filter(|_| durable) {
            file.sync_data()?;
        }
        Ok(Some(Sealed { seal, sha256: self.recorder.sha256() }))
    }
}
