//! The board after each turn, one below the other: for people who play at the terminal, and in pipes.

use super::output::{BoardChoice, BoardOptions, eprint_line, stderr_has_colour};
use crate::reading::{caption, report};
use referee_games::Turn;
use referee_games::view::View;
use referee_match::Match;
use referee_match::summary::fault_in_turn;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Event, Seat};
use referee_render::{Style, terminal};
use std::io::Write;

/// Prints the boards of one match to stderr.
#[derive(Debug)]
pub(super) struct BoardPrinter {
    style: Style,
    /// The last event as text, and the draws that followed it.
    last_event: String,
    /// How many draws were told.
    draws: u64,
    person: bool,
}

impl BoardPrinter {
    /// Returns `None` if no boards are printed: a `person` needs them, others ask for them.
    pub(super) fn new(board: &BoardOptions, person: bool) -> Option<Self> {
        let style = board.style(stderr_has_colour())?;
        let requested = board.board != BoardChoice::Auto;
        (person || requested).then(|| Self { style, last_event: String::new(), draws: 0, person })
    }

    /// Prints the board after an event.
    pub(super) fn add_event(&mut self, event: &Event, state: &Match) {
        let is_over = matches!(state.game().turn(), Turn::Over(_));
        if self.person && state.game().is_hidden() && !is_over {
            return self.add_hidden_event(event, state);
        }
        let name = |seat: Seat| state.header().seats[seat.index()].name.as_str();
        match event {
            Event::Header(header) => eprint_line(&report::title(header)),
            Event::Played(played) => {
                let shown = sanitize(&state.game().format_action(&played.action.value()));
                self.last_event = format!("turn {}: {} {shown}", played.turn, name(played.seat));
            }
            Event::Retired(retired) => {
                let what = sanitize(&fault_in_turn(&retired.fault));
                self.last_event = format!("{} {what}, and is out", name(retired.seat));
            }
            Event::Drawn(drawn) => {
                let drawn = format!("drawn: {}", sanitize(&drawn.label));
                let before = std::mem::take(&mut self.last_event);
                self.last_event =
                    if before.is_empty() { drawn } else { format!("{before}\n{drawn}") };
                self.draws += 1;
            }
            // Now the match's places are known. Without an end by the rules the last board has been shown.
            Event::Over(over) => {
                if is_over {
                    self.print(state, over.verdict.places.as_deref());
                }
                return;
            }
            _ => return,
        }
        // The referee draws in the step that leads to it: the board is already that after the draws.
        if !is_over && self.draws == state.game().draws() {
            self.print(state, None);
        }
    }

    /// Prints what the person who is to move may see.
    fn add_hidden_event(&mut self, event: &Event, state: &Match) {
        match event {
            Event::Header(header) => eprint_line(&report::title(header)),
            Event::Drawn(_) => self.draws += 1,
            Event::Played(_) | Event::Retired(_) => {}
            _ => return,
        }
        if let Turn::Of(seat) = state.game().turn()
            && state.header().seats[seat.index()].is_human()
            && self.draws == state.game().draws()
        {
            self.show(state.game().view_of(seat), state, None);
        }
    }

    fn print(&self, state: &Match, places: Option<&[u32]>) {
        self.show(state.game().view(), state, places);
    }

    fn show(&self, mut view: View, state: &Match, places: Option<&[u32]>) {
        let size = terminal_size::terminal_size();
        let room = size.map_or(usize::MAX, |(_, terminal_size::Height(height))| height.into());
        let compose = |view: &View| {
            let board = terminal(view, &self.style);
            // One of two seats that is out stays the one to move, until the other has chosen, too.
            let out =
                matches!(state.game().turn(), Turn::Of(seat) if state.fault_of(seat).is_some());
            let caption = if out { String::new() } else { caption(state.game(), places) + "\n" };
            format!("{board}{}\n{caption}", self.last_event)
        };
        let mut text = compose(&view);
        // In a low terminal the board matters most.
        if text.lines().count() >= room {
            view.figures.clear();
            let lines = compose(&view);
            let lines = lines.lines().filter(|line| !line.trim().is_empty());
            text = lines.flat_map(|line| [line, "\n"]).collect();
        }
        let mut stderr = anstream::stderr().lock();
        write!(stderr, "{text}").ok();
        stderr.flush().ok();
    }
}
