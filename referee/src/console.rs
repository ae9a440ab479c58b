//! The terminal that somebody sits at: keys as they are pressed, without Enter, and the whole screen
//! for what is shown there. Ctrl-C and Ctrl-Z stay signals. However the program ends, but for a
//! SIGKILL, the terminal is as it was.

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

/// How long a run in the background waits before it looks again whether it is in the foreground.
const BACKGROUND: Duration = Duration::from_millis(500);
/// How often it is seen to that the terminal is as it should be: shells change it.
const LOOK_MS: u16 = 500;
/// Keys that nobody has read yet; more are dropped.
const KEYS_MAX: usize = 64;
/// To the other screen of the terminal, without a cursor.
const ENTER_SCREEN: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Back from there.
const LEAVE_SCREEN: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// Where a screen is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    /// Where results go.
    Stdout,
    /// Where progress goes.
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

/// The terminal, as long as it is held.
#[derive(Debug)]
pub(crate) struct Console {
    shared: Arc<Shared>,
}

/// The keys that are pressed at a [`Console`].
#[derive(Debug)]
pub(crate) struct Keys(mpsc::Receiver<KeyEvent>);

#[derive(Debug)]
struct Shared {
    screen: Screen,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what is wanted and what is, independently")]
struct State {
    /// What the terminal was set to before.
    before: Option<Termios>,
    /// The whole screen is wanted.
    full: bool,
    /// The terminal is as it is wanted.
    ours: bool,
    /// It isn't wanted just now, or never again.
    paused: bool,
    ended: bool,
    /// What was on the screen is gone.
    lost: bool,
}

impl Console {
    /// Takes the terminal that stdin is; `None` where stdin is none.
    pub(crate) fn open(screen: Screen) -> Option<(Self, Keys)> {
        if !stdin().is_terminal() {
            return None;
        }
        let shared = Arc::new(Shared { screen, state: Mutex::default() });
        shared.take();
        shared.restore_on_panic();
        let (press, pressed) = mpsc::channel(KEYS_MAX);
        let listening = shared.clone();
        // Not joined: it waits for a key that may never come, and holds nothing.
        let thread = std::thread::Builder::new().name("keys".to_owned());
        thread.spawn(move || listen(&listening, &press)).ok();
        Some((Self { shared }, Keys(pressed)))
    }

    /// Takes the whole screen, or gives it back as it was.
    pub(crate) fn fill_screen(&self, full: bool) {
        self.shared.fill_screen(full);
    }

    /// What is written here is drawn.
    pub(crate) fn writer(&self) -> Box<dyn Write + Send> {
        self.shared.screen.writer()
    }

    /// Whether the screen may be drawn on.
    pub(crate) fn is_ours(&self) -> bool {
        self.shared.state().ours
    }

    /// Whether all that was drawn is gone since this was asked last.
    pub(crate) fn was_lost(&self) -> bool {
        std::mem::take(&mut self.shared.state().lost)
    }

    /// Gives the terminal away while the program is stopped, and takes it back.
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

impl Keys {
    /// Waits for a key. Can be dropped and called again. Without a terminal it never ends.
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

    /// Sets the terminal as it is wanted, unless somebody else has it now.
    fn take(&self) {
        let mut state = self.state();
        if state.paused || state.ended || !is_in_front(stdin()) {
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
        if !state.ours {
            state.ours = true;
            if state.full {
                self.write(ENTER_SCREEN);
                state.lost = true;
            }
        }
    }

    /// Sets the terminal as it was.
    fn give_back(&self) {
        let mut state = self.state();
        if state.ours && state.full {
            self.write(LEAVE_SCREEN);
        }
        state.ours = false;
        if let Some(before) = state.before.take().filter(|_| is_in_front(stdin())) {
            tcsetattr(stdin().as_fd(), SetArg::TCSANOW, &before).ok();
        }
    }

    fn end(&self) {
        self.give_back();
        self.state().ended = true;
    }

    fn fill_screen(&self, full: bool) {
        let mut state = self.state();
        if state.ours && state.full != full {
            self.write(if full { ENTER_SCREEN } else { LEAVE_SCREEN });
        }
        state.full = full;
    }

    fn write(&self, text: &str) {
        // A terminal that is gone takes nothing.
        let mut screen = self.screen.writer();
        screen.write_all(text.as_bytes()).and_then(|()| screen.flush()).ok();
    }

    /// What is said of a panic is to be read on the screen that stays. Matches have threads of
    /// their own, whose panics end no more than a match.
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

/// Whether this is the program that a terminal belongs to at the moment; what runs behind it keeps
/// its hands off.
pub(super) fn is_in_front(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal) == Ok(getpgrp())
}

/// Reads only while the run is in the foreground: the system stops whoever reads from behind.
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
        if !is_in_front(&stdin) {
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
