//! The board while a match is played: redrawn in place on a terminal, or one below the other.

use super::output::{BoardOptions, stderr_has_colour, tell};
use crate::reading::{caption, report};
use referee_match::Match;
use referee_process::lock::lock;
use referee_protocol::plain::tame;
use referee_protocol::{Event, Seat};
use referee_render::{Style, terminal};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A board is not redrawn more often than this: nobody sees more, and it costs time.
const FRAME: Duration = Duration::from_millis(40);

/// What lies over the board, and hides it.
#[derive(Debug, Default)]
pub(super) struct Cover(Mutex<Covered>);

#[derive(Debug, Default)]
struct Covered {
    now: bool,
    /// Something was to be drawn meanwhile.
    missed: bool,
}

impl Cover {
    /// Nothing is drawn from now on.
    pub(super) fn put(&self) {
        self.state().now = true;
    }

    /// Boards can be seen again.
    pub(super) fn lift(&self) {
        self.state().now = false;
    }

    /// Whether the last board was not seen.
    pub(super) fn has_missed(&self) -> bool {
        self.state().missed
    }

    fn state(&self) -> MutexGuard<'_, Covered> {
        lock(&self.0)
    }
}

/// Draws the board of one match to stderr.
#[derive(Debug)]
pub(super) struct Live {
    style: Style,
    /// Over the last board, not below it, every single one.
    in_place: bool,
    pace: Duration,
    /// Lines of the last drawing, to be drawn over.
    drawn: usize,
    last: Option<Instant>,
    /// What happened last, in words.
    news: String,
    /// Drawn below each board.
    hint: &'static str,
    cover: Arc<Cover>,
}

impl Live {
    /// `None` where no board is to be seen while the match runs. A `person` types between the
    /// boards, so that none is drawn over another; `hint` stands below those that are.
    pub(super) fn new(
        board: &BoardOptions,
        pace_ms: Option<u64>,
        person: bool,
        hint: &'static str,
        cover: Arc<Cover>,
    ) -> Option<Self> {
        let style = board.style(stderr_has_colour())?;
        let on_terminal = std::io::stderr().is_terminal();
        let asked_for = board.board != super::output::BoardChoice::Auto;
        if !on_terminal && !asked_for && !person {
            return None;
        }
        let in_place = on_terminal && !person;
        let pace = Duration::from_millis(pace_ms.unwrap_or(0));
        let (drawn, last, news) = (0, None, String::new());
        Some(Self { style, in_place, pace, drawn, last, news, hint, cover })
    }

    /// Looks at an event.
    pub(super) fn see(&mut self, event: &Event, state: &Match) {
        let name = |seat: Seat| state.header().seats[seat.index()].name.as_str();
        match event {
            Event::Header(header) => {
                tell(&report::title(header));
                self.draw(state);
            }
            Event::Played(played) => {
                let shown = tame(&state.game().format_action(&played.action));
                self.news = format!("turn {}: {} {shown}", played.turn, name(played.seat));
                let due = self.last.is_none_or(|last| last.elapsed() >= FRAME);
                if due || !self.in_place || !self.pace.is_zero() {
                    self.draw(state);
                }
            }
            Event::Retired(retired) => {
                let (kind, text) = (retired.fault.kind, &retired.fault.text);
                let text = tame(text);
                self.news = format!("{} is out: {kind}, {text}", name(retired.seat));
                self.draw(state);
            }
            Event::Over(_) => self.draw(state),
            _ => {}
        }
    }

    fn draw(&mut self, state: &Match) {
        // Held until all is drawn: nobody covers half a board.
        let cover = self.cover.clone();
        let mut covered = cover.state();
        covered.missed = covered.now;
        if covered.now {
            return;
        }
        let view = state.game().view();
        let board = terminal(&view, &self.style);
        let size = terminal_size::terminal_size();
        let room = size.map_or(usize::MAX, |(_, terminal_size::Height(height))| height.into());
        let mut text = format!("{board}{}\n{}\n", self.news, caption(state.game()));
        // The hint stands where there is room left for it.
        if text.lines().count() + self.hint.lines().count() < room {
            text.push_str(self.hint);
        }
        let lines = text.lines().count();
        let fits = lines < room;
        let mut stderr = anstream::stderr().lock();
        if self.in_place && self.drawn > 0 {
            // Up to where the last drawing began, and away with it; one that doesn't fit into the
            // terminal begins at its top.
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
