//! A process's stdin: buffers bytes and writes them as fast as the process reads.

use nix::unistd::write;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use tokio::net::unix::pipe;

#[derive(Debug)]
pub(super) struct Stdin {
    /// Doesn't block. `None` once nothing more will be written.
    pipe: Option<OwnedFd>,
    /// Buffered bytes; those from `written` on are still to be written.
    outbox: Vec<u8>,
    written: usize,
    /// A flush was not accepted whole.
    blocked: bool,
    /// Waits for the rest of it. Only then, because the kernel wakes who waits at each read of the agent,
    /// which costs as much as another wait in every turn.
    waiting: Option<pipe::Sender>,
    /// Close stdin when the outbox is empty.
    last: bool,
    /// The other end is closed, which hasn't been told.
    unread: bool,
}

impl Stdin {
    /// Creates it from a pipe that doesn't block.
    pub(super) fn new(pipe: OwnedFd) -> Self {
        let (outbox, waiting) = (Vec::new(), None);
        let pipe = Some(pipe);
        Self { pipe, outbox, written: 0, blocked: false, waiting, last: false, unread: false }
    }

    /// Appends bytes for the next flush.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.pipe.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Writes as much as is accepted without waiting.
    pub(super) fn flush(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        while self.written < self.outbox.len() {
            let rest = &self.outbox[self.written..];
            let write_now = || write(pipe, rest).map_err(io::Error::from);
            match self.waiting.as_ref().map_or_else(write_now, |waiting| waiting.try_write(rest)) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return;
                }
                Err(_) => {
                    self.discard();
                    self.unread = true;
                    return;
                }
            }
        }
        self.outbox.clear();
        (self.written, self.blocked, self.waiting) = (0, false, None);
        if self.last {
            self.pipe = None;
        }
    }

    /// Returns how many bytes the other end has not read; `None` if that isn't known.
    pub(super) fn unread_bytes(&self) -> Option<u64> {
        let waiting = (self.outbox.len() - self.written) as u64;
        Some(rustix::io::ioctl_fionread(self.pipe.as_ref()?).ok()? + waiting)
    }

    /// Tells, once, that the other end is closed.
    pub(super) fn take_unread(&mut self) -> bool {
        std::mem::take(&mut self.unread)
    }

    /// Whether the other end is known to be closed.
    pub(super) fn is_unread(&self) -> bool {
        self.unread
    }

    /// Closes it after everything buffered has been written.
    pub(super) fn close(&mut self) {
        self.last = true;
        self.flush();
        // If the other end is closed, there is no one to write to.
        self.unread = false;
    }

    /// Closes it at once.
    pub(super) fn discard(&mut self) {
        (self.pipe, self.waiting) = (None, None);
        (self.blocked, self.unread) = (false, false);
    }

    /// Ready when a flush that was not accepted whole can continue.
    pub(super) fn poll_blocked(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(pipe) = self.pipe.as_ref().filter(|_| self.blocked) else { return Poll::Pending };
        if self.waiting.is_none() {
            self.waiting = pipe.try_clone().and_then(pipe::Sender::from_owned_fd).ok();
        }
        if let Some(waiting) = &self.waiting {
            return waiting.poll_write_ready(context).map(drop);
        }
        // The system has no descriptor left to wait with: the flush is tried again after everything else.
        context.waker().wake_by_ref();
        Poll::Ready(())
    }

    /// Whether [`Stdin::poll_blocked`] must be called again, to be woken when the flush can continue.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }
}
