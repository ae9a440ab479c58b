//! The stdin of a process: bytes that are put, then written as far as the process reads. What it
//! doesn't take at once waits here.

use std::io::{self, ErrorKind};
use std::task::{Context, Poll};
use tokio::net::unix::pipe;

#[derive(Debug)]
pub(super) struct Stdin {
    /// `None` once nothing more will be written.
    pipe: Option<pipe::Sender>,
    /// Bytes on their way: from `written` on they are still to be written.
    outbox: Vec<u8>,
    written: usize,
    /// A flush has begun that was not taken whole.
    blocked: bool,
    /// The end of the outbox is the end of the stdin.
    last: bool,
}

impl Stdin {
    pub(super) fn new(pipe: pipe::Sender) -> Self {
        Self { pipe: Some(pipe), outbox: Vec::new(), written: 0, blocked: false, last: false }
    }

    /// Puts bytes to be written with the next flush.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.pipe.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Writes as much as is taken without waiting. An error, once, if nobody reads any more.
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

    /// Closes it after what is still to be written.
    pub(super) fn close(&mut self) {
        self.last = true;
        // Who doesn't read any more has nothing to be told.
        self.flush().ok();
    }

    /// [`Stdin::close`] has been called.
    pub(super) fn is_closing(&self) -> bool {
        self.last
    }

    /// Closes it at once.
    pub(super) fn discard(&mut self) {
        self.pipe = None;
        self.blocked = false;
    }

    /// Whether a flush that was not taken whole can go on.
    pub(super) fn poll_blocked(&self, context: &mut Context<'_>) -> Poll<()> {
        match &self.pipe {
            Some(pipe) if self.blocked => pipe.poll_write_ready(context).map(|_| ()),
            _ => Poll::Pending,
        }
    }
}
