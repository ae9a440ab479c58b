//! What is written, hashed and counted on its way.

use referee_protocol::plain::hex;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Hashes and counts what is written through it.
pub(super) struct Hashing<W> {
    inner: W,
    hash: Sha256,
    bytes: u64,
}

impl<W> Hashing<W> {
    /// In front of this.
    pub(super) fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0 }
    }

    /// SHA-256 of what was written, in hex, and how many bytes it is.
    pub(super) fn told(self) -> (String, u64) {
        (hex(&self.hash.finalize()), self.bytes)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
