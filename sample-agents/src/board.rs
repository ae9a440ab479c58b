//! What an agent needs of its board: a built-in game, or one whose rules are a program.

use crate::evaluation::ESTIMATE_MAX;
use referee_games::{AnyGame, Game, Turn};
use referee_protocol::Seat;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A game in progress on which an agent searches.
pub(crate) trait Board: Clone + 'static {
    /// As [`Game::Action`].
    type Action: Clone + PartialEq + Serialize + DeserializeOwned;

    /// How many positions of a built-in game take as long as one of this. Searches count positions, so that they
    /// depend on nothing else.
    const COST: usize;

    /// Whose turn it is.
    fn turn(&self) -> Turn;
    /// The number of seats.
    fn seats(&self) -> usize;
    /// As [`Game::actions`].
    fn actions(&self) -> Vec<Self::Action>;
    /// As [`Game::play_listed`].
    fn play_listed(&mut self, action: &Self::Action);
    /// As [`Game::estimate`].
    fn estimate(&self, seat: Seat) -> i64;
    /// Whether lower scores are better.
    fn fewer_is_better(&self) -> bool;
    /// Returns the position as JSON text.
    fn position(&self) -> String;
    /// As [`AnyGame::choose_first`].
    fn choose_first(&mut self, _seat: Seat) {}
    /// Whether some of the seats that choose at once have chosen, and others have still to choose.
    fn is_between_choices(&self) -> bool {
        false
    }
    /// Returns the game, to play what the referee sends.
    fn game(&mut self) -> &mut dyn AnyGame;
}

impl<G: Game> Board for G {
    type Action = G::Action;

    const COST: usize = 1;

    fn turn(&self) -> Turn {
        Game::turn(self)
    }

    fn seats(&self) -> usize {
        Game::seats(self)
    }

    fn actions(&self) -> Vec<G::Action> {
        Game::actions(self)
    }

    fn play_listed(&mut self, action: &G::Action) {
        Game::play_listed(self, action);
    }

    fn estimate(&self, seat: Seat) -> i64 {
        Game::estimate(self, seat)
    }

    fn fewer_is_better(&self) -> bool {
        G::about().score.as_ref().is_some_and(|score| score.fewer_is_better)
    }

    fn position(&self) -> String {
        serde_json::to_string(&Game::position(self)).expect("positions have string keys only")
    }

    fn game(&mut self) -> &mut dyn AnyGame {
        self
    }
}

/// A game whose rules are a program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramBoard(pub(crate) Box<dyn AnyGame>);

impl Board for ProgramBoard {
    type Action = Value;

    /// About 200 us are needed to play an action and to estimate the position.
    const COST: usize = 50;

    fn turn(&self) -> Turn {
        self.0.turn()
    }

    fn seats(&self) -> usize {
        self.0.seats()
    }

    fn actions(&self) -> Vec<Value> {
        self.0.actions()
    }

    /// If the rules fail, the position after the action is the worst for everybody: see `estimate`.
    fn play_listed(&mut self, action: &Value) {
        self.0.play(action).ok();
    }

    fn estimate(&self, seat: Seat) -> i64 {
        self.0.estimated(seat).unwrap_or(-ESTIMATE_MAX)
    }

    fn fewer_is_better(&self) -> bool {
        self.0.kind().about().score.as_ref().is_some_and(|score| score.fewer_is_better)
    }

    fn position(&self) -> String {
        self.0.position().to_string()
    }

    fn choose_first(&mut self, seat: Seat) {
        self.0.choose_first(seat);
    }

    fn is_between_choices(&self) -> bool {
        self.0.is_between_choices()
    }

    fn game(&mut self) -> &mut dyn AnyGame {
        self.0.as_mut()
    }
}
