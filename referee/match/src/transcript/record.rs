//! Writing a transcript: events become lines in a buffer that the caller takes.

use referee_protocol::encode::to_hex;
use referee_protocol::{Event, Seal};
use sha2::{Digest as _, Sha256};

/// How many bytes are hashed at once: enough to make the start-up cost of a call negligible, few
/// enough to be in the cache.
pub(super) const HASH_BLOCK_BYTES: usize = 32 * 1024;

/// Writes a transcript into memory, line by line.
///
/// ```text
/// recorder.record(&Event::Header(..));      // first
/// recorder.record(&event);                  // as they happen
/// recorder.take_into(&mut file_buffer);     // as often as the caller likes
/// let seal = recorder.seal();               // last
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    buffer: Vec<u8>,
    /// How many bytes of the buffer are hashed.
    hashed_bytes: usize,
    hash: Sha256,
    lines: u64,
}

impl Recorder {
    /// Creates an empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one line. The header comes first, and nothing after [`Recorder::seal`].
    pub fn record(&mut self, event: &Event) {
        debug_assert!(
            (self.lines == 0) == matches!(event, Event::Header(_)),
            "the header is the first line and no other"
        );
        debug_assert!(
            !matches!(event, Event::Seal(_) | Event::Unknown),
            "`seal` writes the seal, and unknown events can't be written"
        );
        self.append(event);
        if self.buffer.len() - self.hashed_bytes >= HASH_BLOCK_BYTES {
            self.hash_buffer();
        }
    }

    /// Returns the number of lines recorded so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns how many bytes are in the buffer.
    pub fn buffered_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Takes what was recorded since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.take_into(&mut bytes);
        bytes
    }

    /// Appends what was recorded since the last call to `bytes`. Unlike [`Recorder::take`] it keeps its
    /// buffer, so it allocates nothing in the long run.
    pub fn take_into(&mut self, bytes: &mut Vec<u8>) {
        self.hash_buffer();
        self.hashed_bytes = 0;
        if bytes.is_empty() {
            std::mem::swap(bytes, &mut self.buffer);
        } else {
            bytes.append(&mut self.buffer);
        }
    }

    /// Appends the seal, the last line, and returns it.
    pub fn seal(&mut self) -> Seal {
        let seal = Seal { lines: self.lines, sha256: self.sha256() };
        self.append(&Event::Seal(seal.clone()));
        seal
    }

    /// Returns SHA-256 of all lines so far, in hex: with the seal it is that of the whole transcript.
    pub fn sha256(&mut self) -> String {
        self.hash_buffer();
        to_hex(&self.hash.clone().finalize())
    }

    fn append(&mut self, event: &Event) {
        event.write_json(&mut self.buffer);
        self.buffer.push(b'\n');
        self.lines += 1;
    }

    fn hash_buffer(&mut self) {
        self.hash.update(&self.buffer[self.hashed_bytes..]);
        self.hashed_bytes = self.buffer.len();
    }
}
