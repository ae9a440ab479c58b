//! What a viewer may see of a match: everything, or what one seat saw.

use super::walk::Walk;
use referee_games::view::View;
use referee_games::{AnyGame, Games};
use referee_protocol::{DrawnEvent, Seat};
use serde_json::Value;

/// Returns the seat as which a match of this game is shown; `None` to show everything.
pub(super) fn viewer(games: &Games, game: &dyn AnyGame) -> Result<Option<Seat>, String> {
    match games.viewer() {
        Some(seat) if seat.index() >= game.seats() => {
            Err(format!("there is no seat {seat}: the seats are 0 to {}", game.seats() - 1))
        }
        viewer => Ok(viewer.filter(|_| game.is_hidden())),
    }
}

impl Walk {
    /// Returns the board, as far as the viewer may see it.
    pub fn view(&self) -> View {
        self.viewer.map_or_else(|| self.game().view(), |seat| self.game().view_of(seat))
    }

    /// Whether what a seat did and wrote is hidden from the viewer.
    pub fn hides(&self, seat: Seat) -> bool {
        self.viewer.is_some_and(|viewer| viewer != seat)
    }

    /// Returns the text of the action that was just played, or what the viewer was told of it.
    pub fn action_text(&self, seat: Seat, action: &Value) -> String {
        if self.hides(seat) { self.told_text() } else { self.game().format_action(action) }
    }

    /// Returns what was just drawn, or what the viewer was told of it.
    pub fn draw_text(&self, drawn: &DrawnEvent) -> String {
        if self.viewer.is_some() { self.told_text() } else { drawn.label.clone() }
    }

    fn told_text(&self) -> String {
        match self.viewer.map(|seat| self.game().told(seat)) {
            None | Some(Value::Null) => "(not seen)".to_owned(),
            Some(told) => self.game().format_action(&told),
        }
    }
}
