//! The viewer on a real terminal: it shows what [`screen`](crate::screen) draws, and gives it keys
//! and time.

mod source;
mod replaying;
mod desk;

pub(super) use desk::Desk;
pub(super) use replaying::{is_wanted, replay};

use crate::cli::runtime::machine;
use crate::console::Console;
use crate::screen::{Model, Pane, Scene, Wish, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use referee_process::Failure;
use source::Source;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// How often the transcript is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How often a match that goes by itself is drawn.
const FRAME: Duration = Duration::from_millis(33);
/// Bytes of a drawing that are written at once.
const BUFFER_BYTES: usize = 64 * 1024;

type Output = BufWriter<Box<dyn Write + Send>>;

/// A match on the whole screen.
struct Viewer {
    terminal: Terminal<CrosstermBackend<Output>>,
    model: Model,
    source: Source,
    /// What is looked at, in a word.
    name: String,
    /// The match is known to be under way.
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
            .map_err(machine("the terminal can't be drawn on"))?;
        console.fill_screen(true);
        Ok(Self { terminal, model, source, name, live: false, seen: Instant::now() })
    }

    /// Shows another match.
    fn turn_to(&mut self, source: Source, name: String) {
        (self.source, self.name) = (source, name);
        self.model.begin();
        self.look();
    }

    /// Takes in a key.
    fn press(&mut self, key: KeyEvent) -> Wish {
        let wish = self.model.press(key, self.source.playback());
        if wish == Wish::Redraw {
            self.redraw();
        }
        wish
    }

    /// Reads what was appended, and lets time pass.
    fn look(&mut self) {
        self.source.read_on();
        let elapsed = std::mem::replace(&mut self.seen, Instant::now()).elapsed();
        if let Some(playback) = self.source.playback() {
            let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            self.model.grow(playback);
            self.model.advance(elapsed, playback);
        }
    }

    /// Has everything drawn anew the next time. Clearing the terminal would do as well, but for that
    /// it is asked where its cursor is, and what it answers would be read as keys.
    fn redraw(&mut self) {
        if let Ok(size) = self.terminal.size() {
            self.terminal.resize(Rect::from((Position::ORIGIN, size))).ok();
        }
    }

    /// How long until it is to be looked at again.
    fn period(&self) -> Duration {
        if self.model.plays { FRAME } else { LOOK }
    }

    /// Draws what has changed.
    fn show(&mut self, console: &Console) {
        if !console.is_ours() {
            return;
        }
        if console.was_lost() {
            self.redraw();
        }
        if self.model.pane == Pane::Lines {
            self.source.make_said();
        }
        let problem = self.source.problem();
        let scene = Scene {
            playback: self.source.playback(),
            progress: self.source.progress(self.live),
            name: &self.name,
            problem: problem.as_deref(),
            said: self.source.said(self.model.at),
            waiting_ms: self.source.waiting_ms(),
        };
        let model = &mut self.model;
        // A terminal that is gone shows itself by a signal.
        self.terminal.draw(|frame| draw(model, &scene, frame.area(), frame.buffer_mut())).ok();
    }
}
