//! The board while a match is played: redrawn in place on a terminal, or one below the other.

use super::output::{BoardOptions, stderr_has_colour, tell};
use super::position::caption;
use super::report;
use crate::matches::Match;
use crate::plain::tame;
use crate::render::{Style, terminal};
use referee_protocol::{Event, Seat};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A board is not redrawn more often than this: nobody sees more, and it costs time.
const FRAME: Duration = Duration::from_millis(40);

/// Draws the board of one match to stderr.
#[derive(Debug)]
pub(super) struct Live {
    style: Style,
    manner: Manner,
    pace: Duration,
    /// Lines of the last drawing, to be drawn over.
    drawn: usize,
    last: Option<Instant>,
    /// What happened last, in words.
    news: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Over the last one.
    InPlace,
    /// Below the last one, every single one.
    Below,
}

impl Live {
    /// `None` where no board is to be seen while the match runs. A `person` types between the
    /// boards, so that none is drawn over another.
    pub(super) fn new(board: &BoardOptions, pace_ms: Option<u64>, person: bool) -> Option<Self> {
        let style = board.style(stderr_has_colour())?;
        let on_terminal = std::io::stderr().is_terminal();
        let asked_for = board.board != super::output::BoardChoice::Auto;
        if !on_terminal && !asked_for && !person {
            return None;
        }
        let in_place = on_terminal && !person;
        let manner = if in_place { Manner::InPlace } else { Manner::Below };
        let pace = Duration::from_millis(pace_ms.unwrap_or(0));
        Some(Self { style, manner, pace, drawn: 0, last: None, news: String::new() })
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
                let shown = tame(&state.game().show_action(&played.action));
                self.news = format!("turn {}: {} {shown}", played.turn, name(played.seat));
                let due = self.last.is_none_or(|last| last.elapsed() >= FRAME);
                if due || self.manner == Manner::Below || !self.pace.is_zero() {
                    self.draw(state);
                }
                std::thread::sleep(self.pace);
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
        let view = state.game().view();
        let board = terminal(&view, &self.style);
        let text = format!("{board}{}\n{}\n", self.news, caption(state.game()));
        let lines = text.lines().count();
        let fits = terminal_size::terminal_size()
            .is_none_or(|(_, terminal_size::Height(height))| lines < usize::from(height));
        let mut stderr = anstream::stderr().lock();
        if self.manner == Manner::InPlace && self.drawn > 0 {
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
