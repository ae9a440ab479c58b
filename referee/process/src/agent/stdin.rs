//! A process's stdin: buffers bytes and writes them as fast as the process reads.

use std::io::{self, ErrorKind};
use std::task::{Context, Poll};
use tokio::net::unix::pipe;

#[derive(Debug)]
pub(super) struct Stdin {
    /// `None` once nothing more will be written.
    pipe: Option<pipe::Sender>,
    /// Buffered bytes; those from `written` on are still to be written.
    outbox: Vec<u8>,
    written: usize,
    /// A flush was not accepted whole.
    blocked: bool,
    /// Close stdin when the outbox is empty.
    last: bool,
}

impl Stdin {
    pub(super) fn new(pipe: pipe::Sender) -> Self {
        Self { pipe: Some(pipe), outbox: Vec::new(), written: 0, blocked: false, last: false }
    }

    /// Appends bytes for the next flush.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.pipe.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Writes as much as is accepted without waiting. Fails, once, if the other end is closed.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        while self.written < self.outbox.len() {
            match pipe.try_write(&self.outbox[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(error) => {
                    self.discard();
                    return Err(error);
                }
            }
        }
        self.outbox.clear();
        (self.written, self.blocked) = (0, false);
        if self.last {
            self.pipe = None;
        }
        Ok(())
    }

    /// Closes it after everything buffered has been written.
    pub(super) fn close(&mut self) {
        self.last = true;
        // If the other end is closed, there is no one to write to.
        self.flush().ok();
    }

    /// Closes it at once.
    pub(super) fn discard(&mut self) {
        self.pipe = None;
        self.blocked = false;
    }

    /// Ready when a flush that was not accepted whole can continue.
    pub(super) fn poll_blocked(&self, context: &mut Context<'_>) -> Poll<()> {
        match &self.pipe {
            Some(pipe) if self.blocked => pipe.poll_write_ready(context).map(|_| ()),
            _ => Poll::Pending,
        }
    }
}
