//! The viewer on a terminal: shows what [`screen`](crate::screen) draws, and passes keys and time to it.

mod source;
mod replaying;
mod host;

pub(super) use host::ViewerHost;
pub(super) use replaying::{is_wanted, replay};

use crate::cli::runtime::machine;
use crate::console::Console;
use crate::screen::{KeyRequest, Model, Pane, Scene, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use referee_process::Failure;
use source::Source;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// How often the transcript is read.
const LOOK: Duration = Duration::from_millis(200);
/// How often the screen is drawn during playback.
const FRAME: Duration = Duration::from_millis(33);
/// The size of the output buffer in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

type Output = BufWriter<Box<dyn Write + Send>>;

/// A match on the whole screen.
struct Viewer {
    terminal: Terminal<CrosstermBackend<Output>>,
    model: Model,
    source: Source,
    /// The name of the match.
    name: String,
    /// The match is known to be running.
    live: bool,
    seen: Instant,
}

impl Viewer {
    /// Takes the whole screen.
    fn open(
        console: &Console,
        model: Model,
        source: Source,
        name: String,
    ) -> Result<Self, Failure> {
        let output = BufWriter::with_capacity(BUFFER_BYTES, console.writer());
        let terminal = Terminal::new(CrosstermBackend::new(output))
            .map_err(machine("cannot draw on the terminal"))?;
        console.fill_screen(true);
        Ok(Self { terminal, model, source, name, live: false, seen: Instant::now() })
    }

    /// Shows another match.
    fn show_match(&mut self, source: Source, name: String) {
        (self.source, self.name) = (source, name);
        self.model.begin();
        self.update();
    }

    /// Handles a key.
    fn press(&mut self, key: KeyEvent) -> KeyRequest {
        let request = self.model.press(key, self.source.playback());
        if request == KeyRequest::Redraw {
            self.redraw();
        }
        request
    }

    /// Reads what was appended to the transcript, and advances playback.
    fn update(&mut self) {
        self.source.read_on();
        let elapsed = std::mem::replace(&mut self.seen, Instant::now()).elapsed();
        if let Some(playback) = self.source.playback() {
            let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            self.model.grow(playback);
            self.model.advance(elapsed, playback);
        }
    }

    /// Redraws everything the next time. `Terminal::clear` can't be used: it asks for the cursor position,
    /// and the reply would be read as keys.
    fn redraw(&mut self) {
        if let Ok(size) = self.terminal.size() {
            self.terminal.resize(Rect::from((Position::ORIGIN, size))).ok();
        }
    }

    /// Returns the time until the next update.
    fn period(&self) -> Duration {
        if self.model.plays { FRAME } else { LOOK }
    }

    /// Draws the changes.
    fn show(&mut self, console: &Console) {
        if !console.is_foreground() {
            return;
        }
        if console.needs_redraw() {
            self.redraw();
        }
        if self.model.pane == Pane::Lines {
            self.source.load_exchange();
        }
        let problem = self.source.problem();
        let scene = Scene {
            playback: self.source.playback(),
            progress: self.source.progress(self.live),
            name: &self.name,
            problem: problem.as_deref(),
            exchange: self.source.exchange(self.model.at),
            waiting_ms: self.source.waiting_ms(),
        };
        let model = &mut self.model;
        // If the terminal is gone, a signal follows.
        self.terminal.draw(|frame| draw(model, &scene, frame.area(), frame.buffer_mut())).ok();
    }
}
