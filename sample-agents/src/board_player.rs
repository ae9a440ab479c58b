//! Agents with their own board: it starts from `hello` and changes only with `played` and `retired`,
//! so it always equals the referee's.

use crate::AgentError;
use crate::messages::{Hello, Turn};
use crate::misbehaving::unknown_game;
use crate::player::{Player, Reply};
use crate::position_key::position_key;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::{AnyGame, Game, SetupError, Visitor, visit};
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::collections::VecDeque;

/// The number of latest positions remembered, to avoid cycles.
const REMEMBERED: usize = 200;
/// The number of attempts to replace an action that leads back to an earlier position.
const OTHERS_TRIED: usize = 4;

/// A strategy to choose an action on a board.
pub(crate) trait Chooser: 'static {
    /// Picks one of `actions`, of which there are at least two.
    fn choose<G: Game>(
        &mut self,
        game: &G,
        seat: Seat,
        actions: Vec<G::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<G::Action>;

    /// In a game of one seat: returns the actions to play from here; empty if no plan was found.
    fn plan<G: Game>(&mut self, game: &G) -> Vec<G::Action>;
}

/// An action, and details of the search for viewers.
#[derive(Debug)]
pub(crate) struct Choice<A> {
    pub(crate) action: A,
    pub(crate) info: Option<Info>,
}

/// Creates an agent with this strategy.
pub(crate) fn seat<C: Chooser>(hello: &Hello, chooser: C) -> Result<Box<dyn Player>, AgentError> {
    visit(&hello.game, PlayerBuilder { hello, chooser }).ok_or_else(|| unknown_game(&hello.game))?
}

/// Plays an action that the referee sent as `played`.
pub fn apply(game: &mut dyn AnyGame, action: &Value) -> Result<(), AgentError> {
    game.play(action).map(drop).map_err(|refusal| {
        AgentError::referee(format!(
            "the referee sent that {action} was played, but this board refuses it: {refusal}"
        ))
    })
}

/// Retires a seat, if the game allows it.
pub fn retire(game: &mut dyn AnyGame, seat: Seat) {
    let over = matches!(game.turn(), referee_games::Turn::Over(_));
    if !over && game.seats() > 2 && seat.index() < game.seats() {
        game.retire(seat);
    }
}

struct PlayerBuilder<'a, C> {
    hello: &'a Hello,
    chooser: C,
}

impl<C: Chooser> Visitor for PlayerBuilder<'_, C> {
    type Output = Result<Box<dyn Player>, AgentError>;

    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) -> Self::Output {
        let Hello { setup, seat, seed, .. } = self.hello;
        let game = start(setup).map_err(|error| AgentError::referee(error.to_string()))?;
        Ok(Box::new(BoardPlayer {
            game,
            seat: *seat,
            random: ChaCha8Rng::seed_from_u64(*seed),
            chooser: self.chooser,
            plan: VecDeque::new(),
            latest: VecDeque::new(),
        }))
    }
}

/// An agent with its own board.
struct BoardPlayer<G: Game, C> {
    game: G,
    seat: Seat,
    random: ChaCha8Rng,
    chooser: C,
    /// In a game of one seat, the rest of the plan.
    plan: VecDeque<G::Action>,
    /// In a game of several seats, the latest positions, the oldest first.
    latest: VecDeque<String>,
}

impl<G: Game, C: Chooser> Player for BoardPlayer<G, C> {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        apply(&mut self.game, action)?;
        let is_other = |planned| serde_json::from_value(action.clone()).ok() != Some(planned);
        if self.plan.pop_front().is_some_and(is_other) {
            self.plan.clear();
        }
        if Game::seats(&self.game) > 1 {
            if self.latest.len() == REMEMBERED {
                self.latest.pop_front();
            }
            self.latest.push_back(position_key(&self.game));
        }
        Ok(())
    }

    fn retired(&mut self, seat: Seat) {
        retire(&mut self.game, seat);
    }

    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        if Game::turn(&self.game) != referee_games::Turn::Of(self.seat) {
            let text =
                format!("turn {} was requested from seat {} out of turn", turn.turn, self.seat);
            return Err(AgentError::referee(text));
        }
        let Choice { action, info } = self.choose();
        let action = serde_json::to_value(&action).expect("actions have string keys only");
        Ok(Reply::Action(action, info))
    }
}

impl<G: Game, C: Chooser> BoardPlayer<G, C> {
    fn choose(&mut self) -> Choice<G::Action> {
        let mut actions = Game::actions(&self.game);
        if actions.len() == 1 {
            let action = actions.pop().expect("there is one");
            return Choice { action, info: None };
        }
        if Game::seats(&self.game) == 1 {
            if self.plan.is_empty() {
                self.plan = self.chooser.plan(&self.game).into();
            }
            if let Some(action) = self.plan.front() {
                let text = format!("{} more actions are planned", self.plan.len());
                let info = Info([("text".to_owned(), Value::from(text))].into_iter().collect());
                return Choice { action: action.clone(), info: Some(info) };
            }
        }
        self.choose_ahead(actions)
    }

    /// Chooses an action, and retries without actions that lead back to an earlier position: two agents
    /// that wait for each other would otherwise repeat positions until the turn limit.
    fn choose_ahead(&mut self, mut actions: Vec<G::Action>) -> Choice<G::Action> {
        let mut first = None;
        for _ in 0..OTHERS_TRIED {
            let choice =
                self.chooser.choose(&self.game, self.seat, actions.clone(), &mut self.random);
            if !self.leads_back(&choice.action) {
                return choice;
            }
            actions.retain(|action| *action != choice.action);
            first.get_or_insert(choice);
            if actions.len() < 2 {
                break;
            }
        }
        first.expect("at least one choice was made")
    }

    fn leads_back(&self, action: &G::Action) -> bool {
        let mut next = self.game.clone();
        next.play_listed(action);
        self.latest.contains(&position_key(&next))
    }
}
