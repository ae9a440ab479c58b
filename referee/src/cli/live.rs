//! The board while a match is played: redrawn in place on a terminal, or one below the other.

use super::output::{BoardOptions, eprint_line, stderr_has_colour};
use crate::reading::{caption, report};
use referee_games::view::View;
use referee_match::Match;
use referee_match::summary::fault_text;
use referee_process::lock::lock;
use referee_protocol::plain::sanitize;
use referee_protocol::{Event, Seat};
use referee_render::{Style, terminal};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The shortest time between two drawings of the board.
const FRAME: Duration = Duration::from_millis(40);

/// Whether the viewer covers the board.
#[derive(Debug, Default)]
pub(super) struct ScreenOverlay(Mutex<OverlayState>);

#[derive(Debug, Default)]
struct OverlayState {
    now: bool,
    /// A board was not drawn because of that.
    missed: bool,
}

impl ScreenOverlay {
    /// Stops the drawing of boards.
    pub(super) fn show(&self) {
        self.state().now = true;
    }

    /// Resumes the drawing of boards.
    pub(super) fn hide(&self) {
        self.state().now = false;
    }

    /// Whether the last board was not drawn.
    pub(super) fn missed_frame(&self) -> bool {
        self.state().missed
    }

    fn state(&self) -> MutexGuard<'_, OverlayState> {
        lock(&self.0)
    }
}

/// Draws the board of one match to stderr.
#[derive(Debug)]
pub(super) struct LiveBoard {
    style: Style,
    /// Draw over the last board, not below it.
    in_place: bool,
    pace: Duration,
    /// The number of lines of the last drawing.
    drawn: usize,
    last: Option<Instant>,
    /// The last event as text.
    last_event: String,
    /// Drawn below each board.
    hint: &'static str,
    overlay: Arc<ScreenOverlay>,
}

impl LiveBoard {
    /// Returns `None` if no board is to be drawn. A `person` types between the boards, so they are not
    /// drawn over each other. `hint` is printed below boards that are.
    pub(super) fn new(
        board: &BoardOptions,
        pace_ms: Option<u64>,
        person: bool,
        hint: &'static str,
        overlay: Arc<ScreenOverlay>,
    ) -> Option<Self> {
        let style = board.style(stderr_has_colour())?;
        let on_terminal = std::io::stderr().is_terminal();
        let requested = board.board != super::output::BoardChoice::Auto;
        if !on_terminal && !requested && !person {
            return None;
        }
        let in_place = on_terminal && !person;
        let pace = Duration::from_millis(pace_ms.unwrap_or(0));
        let (drawn, last, last_event) = (0, None, String::new());
        Some(Self { style, in_place, pace, drawn, last, last_event, hint, overlay })
    }

    /// Draws the board after an event.
    pub(super) fn add_event(&mut self, event: &Event, state: &Match) {
        let name = |seat: Seat| state.header().seats[seat.index()].name.as_str();
        match event {
            Event::Header(header) => {
                eprint_line(&report::title(header));
                self.draw(state);
            }
            Event::Played(played) => {
                let shown = sanitize(&state.game().format_action(&played.action));
                self.last_event = format!("turn {}: {} {shown}", played.turn, name(played.seat));
                let due = self.last.is_none_or(|last| last.elapsed() >= FRAME);
                if due || !self.in_place || !self.pace.is_zero() {
                    self.draw(state);
                }
            }
            Event::Retired(retired) => {
                let (kind, text) = (fault_text(retired.fault.kind), &retired.fault.text);
                let text = sanitize(text);
                self.last_event = format!("{} {kind} and is out: {text}", name(retired.seat));
                self.draw(state);
            }
            Event::Over(_) => self.draw(state),
            _ => {}
        }
    }

    fn draw(&mut self, state: &Match) {
        // Locked until all is drawn, so that the viewer covers no half-drawn board.
        let overlay = self.overlay.clone();
        let mut overlay_state = overlay.state();
        overlay_state.missed = overlay_state.now;
        if overlay_state.now {
            return;
        }
        let mut view = state.game().view();
        let size = terminal_size::terminal_size();
        let room = size.map_or(usize::MAX, |(_, terminal_size::Height(height))| height.into());
        let compose = |view: &View| {
            let board = terminal(view, &self.style);
            format!("{board}{}\n{}\n", self.last_event, caption(state.game()))
        };
        let mut text = compose(&view);
        // In a low terminal the board matters most.
        if text.lines().count() >= room {
            view.figures.clear();
            let lines = compose(&view);
            let lines = lines.lines().filter(|line| !line.trim().is_empty());
            text = lines.flat_map(|line| [line, "\n"]).collect();
        }
        // The hint is left out if it doesn't fit.
        if text.lines().count() + self.hint.lines().count() < room {
            text.push_str(self.hint);
        }
        let lines = text.lines().count();
        let fits = lines < room;
        let mut stderr = anstream::stderr().lock();
        if self.in_place && self.drawn > 0 {
            // Erase the last drawing. One that doesn't fit starts at the top of the terminal.
            let back =
                if fits { format!("\x1b[{}A\r\x1b[J", self.drawn) } else { "\x1b[H\x1b[2J".into() };
            write!(stderr, "{back}").ok();
        }
        write!(stderr, "{text}").ok();
        stderr.flush().ok();
        self.drawn = lines;
        self.last = Some(Instant::now());
    }
}
