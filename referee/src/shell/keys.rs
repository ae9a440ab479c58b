//! The Enter key of whoever watches a long run.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{getpgrp, tcgetpgrp};
use std::io::{BufRead, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long a run in the background waits before it looks again whether it is in the foreground.
const BACKGROUND: Duration = Duration::from_millis(500);

/// Tells when Enter is pressed at the terminal that stdin is; never where it is none.
#[derive(Debug)]
pub struct Keys {
    pressed: mpsc::Receiver<()>,
    /// Keeps the channel open where nobody reads.
    _open: mpsc::Sender<()>,
}

impl Keys {
    /// Begins to listen.
    pub fn listen() -> Self {
        let (press, pressed) = mpsc::channel(1);
        let open = press.clone();
        if std::io::stdin().is_terminal() {
            // Not joined: it waits for a key that may never come, and holds nothing.
            std::thread::Builder::new().name("keys".to_owned()).spawn(move || read(&press)).ok();
        }
        Self { pressed, _open: open }
    }

    /// Waits for the key. Can be dropped and called again.
    pub async fn next(&mut self) {
        self.pressed.recv().await;
    }
}

/// Reads only while the run is in the foreground: the system stops whoever reads from behind.
fn read(press: &mpsc::Sender<()>) {
    let stdin = std::io::stdin();
    loop {
        let mut files = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        if poll(&mut files, PollTimeout::NONE).is_err() {
            return;
        }
        if tcgetpgrp(stdin.as_fd()) != Ok(getpgrp()) {
            std::thread::sleep(BACKGROUND);
            continue;
        }
        let mut line = String::new();
        match stdin.lock().read_line(&mut line) {
            // A second wish while the first is still being fulfilled is the same wish.
            Ok(1..) => drop(press.try_send(())),
            _ => return,
        }
    }
}
