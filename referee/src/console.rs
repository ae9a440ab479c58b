//! The terminal: single keys without Enter, and the alternate screen. Ctrl-C and Ctrl-Z stay signals. The
//! terminal is restored however the program ends, except by SIGKILL.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};
use nix::unistd::{getpgrp, tcgetpgrp};
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use referee_process::lock::lock;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::mpsc;

/// How often a background process checks whether it is in the foreground.
const BACKGROUND: Duration = Duration::from_millis(500);
/// How often the terminal settings are checked, since shells change them, in milliseconds.
const LOOK_MS: u16 = 500;
/// The number of unread keys to keep; more are dropped.
const KEYS_MAX: usize = 64;
/// Switches to the alternate screen and hides the cursor.
const ENTER_SCREEN: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Switches back.
const LEAVE_SCREEN: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// Where a screen is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    /// On stdout.
    Stdout,
    /// On stderr.
    Stderr,
}

impl Screen {
    fn writer(self) -> Box<dyn Write + Send> {
        match self {
            Self::Stdout => Box::new(stdout()),
            Self::Stderr => Box::new(stderr()),
        }
    }
}

/// The terminal, restored on drop.
#[derive(Debug)]
pub(crate) struct Console {
    shared: Arc<Shared>,
}

/// The keys pressed at a [`Console`].
#[derive(Debug)]
pub(crate) struct KeyStream(mpsc::Receiver<KeyEvent>);

#[derive(Debug)]
struct Shared {
    screen: Screen,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what is wanted and what is, independently")]
struct State {
    /// The terminal's settings before.
    before: Option<Termios>,
    /// Whether the alternate screen is wanted.
    full: bool,
    /// Whether the terminal is set up for keys.
    has_terminal: bool,
    /// Whether it is given back until the process continues.
    paused: bool,
    /// Whether it is given back for good.
    ended: bool,
    /// Whether the screen was cleared.
    cleared: bool,
}

impl Console {
    /// Takes the terminal on stdin; `None` if stdin is not a terminal.
    pub(crate) fn open(screen: Screen) -> Option<(Self, KeyStream)> {
        if !stdin().is_terminal() {
            return None;
        }
        let shared = Arc::new(Shared { screen, state: Mutex::default() });
        shared.take();
        shared.restore_on_panic();
        let (press, pressed) = mpsc::channel(KEYS_MAX);
        let listening = shared.clone();
        // Never joined: it may wait for a key forever.
        let thread = std::thread::Builder::new().name("keys".to_owned());
        thread.spawn(move || listen(&listening, &press)).ok();
        Some((Self { shared }, KeyStream(pressed)))
    }

    /// Switches to the alternate screen, or back.
    pub(crate) fn fill_screen(&self, full: bool) {
        self.shared.fill_screen(full);
    }

    /// Returns a writer to the screen.
    pub(crate) fn writer(&self) -> Box<dyn Write + Send> {
        self.shared.screen.writer()
    }

    /// Whether the screen may be drawn on: the process is in the foreground.
    pub(crate) fn is_foreground(&self) -> bool {
        self.shared.state().has_terminal
    }

    /// Whether the screen was cleared since the last call.
    pub(crate) fn needs_redraw(&self) -> bool {
        std::mem::take(&mut self.shared.state().cleared)
    }

    /// Returns a function that gives the terminal back while the process is stopped.
    pub(crate) fn pausing(&self) -> impl Fn(bool) + Send + 'static {
        let shared = self.shared.clone();
        move |paused| {
            shared.state().paused = paused;
            if paused { shared.give_back() } else { shared.take() }
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl KeyStream {
    /// Waits for a key, forever without a terminal. Cancel safe.
    pub(crate) async fn next(&mut self) -> KeyEvent {
        match self.0.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Sets up the terminal, unless another process is in the foreground.
    fn take(&self) {
        let mut state = self.state();
        if state.paused || state.ended || !owns_terminal(stdin()) {
            return;
        }
        let stdin = stdin();
        let Ok(mut settings) = tcgetattr(stdin.as_fd()) else { return };
        let lines = LocalFlags::ICANON | LocalFlags::ECHO;
        if settings.local_flags.intersects(lines) {
            state.before = Some(settings.clone());
            settings.local_flags.remove(lines);
            settings.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
            settings.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
            tcsetattr(stdin.as_fd(), SetArg::TCSANOW, &settings).ok();
        }
        if !state.has_terminal {
            state.has_terminal = true;
            if state.full {
                self.write(ENTER_SCREEN);
                state.cleared = true;
            }
        }
    }

    /// Restores the terminal.
    fn give_back(&self) {
        let mut state = self.state();
        if state.has_terminal && state.full {
            self.write(LEAVE_SCREEN);
        }
        state.has_terminal = false;
        if let Some(before) = state.before.take().filter(|_| owns_terminal(stdin())) {
            tcsetattr(stdin().as_fd(), SetArg::TCSANOW, &before).ok();
        }
    }

    fn end(&self) {
        self.give_back();
        self.state().ended = true;
    }

    fn fill_screen(&self, full: bool) {
        let mut state = self.state();
        if state.has_terminal && state.full != full {
            self.write(if full { ENTER_SCREEN } else { LEAVE_SCREEN });
        }
        state.full = full;
    }

    fn write(&self, text: &str) {
        // Errors are ignored: the terminal may be gone.
        let mut screen = self.screen.writer();
        screen.write_all(text.as_bytes()).and_then(|()| screen.flush()).ok();
    }

    /// Restores the terminal before a panic message, so that it stays readable. Panics in the threads of
    /// matches don't end the program.
    fn restore_on_panic(self: &Arc<Self>) {
        let (shared, own) = (Arc::downgrade(self), std::thread::current().id());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == own
                && let Some(shared) = shared.upgrade()
            {
                shared.end();
            }
            before(panic);
        }));
    }
}

/// Whether this process is in the foreground of a terminal.
pub(super) fn owns_terminal(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal) == Ok(getpgrp())
}

/// Reads keys while the process is in the foreground; the system stops a background process that reads.
fn listen(shared: &Shared, press: &mpsc::Sender<KeyEvent>) {
    let stdin = stdin();
    loop {
        let mut files = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match poll(&mut files, PollTimeout::from(LOOK_MS)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
        if press.is_closed() || shared.state().ended {
            return;
        }
        if !owns_terminal(&stdin) {
            shared.give_back();
            std::thread::sleep(BACKGROUND);
            continue;
        }
        shared.take();
        let seen = files[0].revents().unwrap_or(PollFlags::empty());
        if seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
            return;
        }
        while seen.contains(PollFlags::POLLIN) && matches!(event::poll(Duration::ZERO), Ok(true)) {
            match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    press.try_send(key).ok();
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
