//! Writing a transcript: events become lines in a buffer, which the caller takes and stores.

use referee_protocol::plain::hex;
use referee_protocol::{Event, Seal};
use sha2::{Digest as _, Sha256};

/// How many bytes are hashed at once: enough that the hash's start-up doesn't count, few enough to
/// still lie in the cache.
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
    /// The bytes at the buffer's beginning that `hash` has seen.
    hashed_bytes: usize,
    hash: Sha256,
    lines: u64,
}

impl Recorder {
    /// A transcript without a line.
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
            "`seal` writes the seal, and what is unknown can't be written"
        );
        self.append(event);
        if self.buffer.len() - self.hashed_bytes >= HASH_BLOCK_BYTES {
            self.hash_buffer();
        }
    }

    /// The lines recorded so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes wait to be taken.
    pub fn buffered_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Hands over what was recorded since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        self.hash_buffer();
        self.hashed_bytes = 0;
        std::mem::take(&mut self.buffer)
    }

    /// Appends to `bytes` what was recorded since the last time. Unlike [`Recorder::take`] it keeps
    /// its own buffer, so that in the long run nothing is allocated.
    pub fn take_into(&mut self, bytes: &mut Vec<u8>) {
        self.hash_buffer();
        self.hashed_bytes = 0;
        bytes.extend_from_slice(&self.buffer);
        self.buffer.clear();
    }

    /// Appends the seal, which is the last line, and returns it for those who keep seals apart from
    /// transcripts.
    pub fn seal(&mut self) -> Seal {
        self.hash_buffer();
        let seal = Seal { lines: self.lines, sha256: hex(&self.hash.clone().finalize()) };
        self.append(&Event::Seal(seal.clone()));
        seal
    }

    fn append(&mut self, event: &Event) {
        serde_json::to_writer(&mut self.buffer, event)
            .expect("memory takes all bytes, and events have string keys only");
        self.buffer.push(b'\n');
        self.lines += 1;
    }

    fn hash_buffer(&mut self) {
        self.hash.update(&self.buffer[self.hashed_bytes..]);
        self.hashed_bytes = self.buffer.len();
    }
}
