//! The common part of all players: a seat in one game, with the referee's board.

use crate::alpha_beta_player::AlphaBetaPlayer;
use crate::budget::TimePolicy;
use crate::{checker_puzzle, chexers, chinese_checkers, freckers, hex, peg_solitaire};
use referee_games::Game;
use referee_protocol::{ClockSettings, Info, Seat};
use sample_agents::{AgentError, Hello, Reply, apply, retire};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Display;
use std::time::Instant;

/// The start of a turn, the time left in the bank, and the time policy.
#[derive(Debug)]
pub(crate) struct Clock<'a> {
    pub(crate) policy: &'a TimePolicy,
    pub(crate) begun: Instant,
    pub(crate) left_ms: Option<u64>,
}

/// An action and how it was found.
#[derive(Debug)]
pub(crate) struct Choice<A> {
    pub(crate) action: A,
    pub(crate) info: Value,
}

/// A way to play one game.
pub(crate) trait Player: 'static {
    type Game: Game;

    /// Creates the player at the start of a match.
    fn start(game: &Self::Game, seat: usize, seed: u64) -> Self;

    /// Handles a new position after an action.
    fn observe(&mut self, _game: &Self::Game) {}

    /// Picks one of the legal actions, of which there are at least two. `None` plays the first.
    fn choose(
        &mut self,
        game: &Self::Game,
        actions: &[<Self::Game as Game>::Action],
        clock: &Clock<'_>,
    ) -> Option<Choice<<Self::Game as Game>::Action>>;
}

/// Creates the player for the match that `hello` announces.
pub(crate) fn start(
    hello: &Hello,
    nodes: Option<u64>,
) -> Result<Box<dyn sample_agents::Player>, AgentError> {
    match hello.game.as_str() {
        "chinese-checkers" => seat::<AlphaBetaPlayer<chinese_checkers::Star>>(hello, nodes),
        "chexers" => seat::<AlphaBetaPlayer<chexers::Hexagon>>(hello, nodes),
        "freckers" => seat::<AlphaBetaPlayer<freckers::FreckersGame>>(hello, nodes),
        "hex" => seat::<hex::Tree>(hello, nodes),
        "checker-puzzle" => seat::<checker_puzzle::Solver>(hello, nodes),
        "peg-solitaire" => seat::<peg_solitaire::Solver>(hello, nodes),
        other => Err(AgentError::referee(format!("this agent knows no game called `{other}`"))),
    }
}

fn seat<P: Player>(
    hello: &Hello,
    nodes: Option<u64>,
) -> Result<Box<dyn sample_agents::Player>, AgentError> {
    let refused = |error: &dyn Display| AgentError::referee(format!("`hello`: {error}"));
    let setup = serde_json::from_value(hello.setup.clone()).map_err(|error| refused(&error))?;
    let game = P::Game::start(setup).map_err(|illegal| refused(&illegal))?;
    let clock = ClockSettings::deserialize(&hello.clock).map_err(|error| refused(&error))?;
    let player = P::start(&game, hello.seat.index(), hello.seed);
    Ok(Box::new(GamePlayer { game, player, policy: TimePolicy { nodes, clock } }))
}

struct GamePlayer<P: Player> {
    game: P::Game,
    player: P,
    policy: TimePolicy,
}

impl<P: Player> sample_agents::Player for GamePlayer<P> {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        apply(&mut self.game, action)?;
        self.player.observe(&self.game);
        Ok(())
    }

    fn retired(&mut self, seat: Seat) {
        retire(&mut self.game, seat);
    }

    fn answer(&mut self, turn: &sample_agents::Turn) -> Result<Reply, AgentError> {
        let begun = Instant::now();
        let actions = self.game.actions();
        let first = actions.first().ok_or_else(|| AgentError::referee("there is no action"))?;
        let clock = Clock { policy: &self.policy, begun, left_ms: turn.left_ms };
        let choice =
            if actions.len() > 1 { self.player.choose(&self.game, &actions, &clock) } else { None };
        // Only legal actions are sent, even if a search is wrong.
        let choice = choice.filter(|choice| actions.contains(&choice.action));
        let info = choice.as_ref().and_then(|choice| choice.info.as_object().cloned()).map(Info);
        let action = choice.as_ref().map_or(first, |choice| &choice.action);
        Ok(Reply::Action(json!(action), info))
    }
}

/// The fields of `info` that viewers know.
pub(crate) fn figures(depth: usize, score: f64, nodes: u64) -> Value {
    json!({"depth": depth, "score": score, "nodes": nodes})
}
