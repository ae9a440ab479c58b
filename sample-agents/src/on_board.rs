//! Agents that keep a board of their own: it starts from `hello` and changes with `played` and
//! `retired` alone, so it is always the referee's.

use crate::AgentError;
use crate::messages::{Hello, Turn};
use crate::misbehaving::unknown_game;
use crate::player::{Player, Reply};
use crate::same::key;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::{AnyGame, Game, SetupError, Visitor, visit};
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::collections::VecDeque;

/// How many of the latest positions are remembered, so as not to walk in circles.
const REMEMBERED: usize = 200;
/// How often another action is looked for in the place of one that leads back.
const OTHERS_TRIED: usize = 4;

/// A way to find an action on a board.
pub(crate) trait Chooser: 'static {
    /// Picks one of `actions`, of which there are at least two.
    fn choose<G: Game>(
        &mut self,
        game: &G,
        seat: Seat,
        actions: Vec<G::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<G::Action>;

    /// In a game of one seat: the actions to take from here, as far ahead as they are worth
    /// following; none where nothing was found.
    fn plan<G: Game>(&mut self, game: &G) -> Vec<G::Action>;
}

/// An action, and what viewers may see of how it was found.
#[derive(Debug)]
pub(crate) struct Choice<A> {
    pub(crate) action: A,
    pub(crate) info: Option<Info>,
}

/// Seats an agent that chooses in this way.
pub(crate) fn seat<C: Chooser>(hello: &Hello, chooser: C) -> Result<Box<dyn Player>, AgentError> {
    visit(&hello.game, Seating { hello, chooser }).ok_or_else(|| unknown_game(&hello.game))?
}

/// The error of an agent whose board and the referee's have come apart.
pub fn board_error(action: &Value, refusal: &str) -> AgentError {
    AgentError::referee(format!("the referee says that {action} was played, but here: {refusal}"))
}

/// Retires a seat, where the rules know of it.
pub fn retire(game: &mut dyn AnyGame, seat: Seat) {
    let over = matches!(game.turn(), referee_games::Turn::Over(_));
    if !over && game.seats() > 2 && seat.index() < game.seats() {
        game.retire(seat);
    }
}

struct Seating<'a, C> {
    hello: &'a Hello,
    chooser: C,
}

impl<C: Chooser> Visitor for Seating<'_, C> {
    type Output = Result<Box<dyn Player>, AgentError>;

    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) -> Self::Output {
        let Hello { setup, seat, seed, .. } = self.hello;
        let game = start(setup).map_err(|error| AgentError::referee(error.to_string()))?;
        Ok(Box::new(OnBoard {
            game,
            seat: *seat,
            random: ChaCha8Rng::seed_from_u64(*seed),
            chooser: self.chooser,
            plan: VecDeque::new(),
            latest: VecDeque::new(),
        }))
    }
}

/// An agent with a board.
struct OnBoard<G: Game, C> {
    game: G,
    seat: Seat,
    random: ChaCha8Rng,
    chooser: C,
    /// In a game of one seat, what is still to be played of the plan.
    plan: VecDeque<G::Action>,
    /// In a game of several seats, the latest positions, the oldest first.
    latest: VecDeque<String>,
}

impl<G: Game, C: Chooser> Player for OnBoard<G, C> {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        let typed: G::Action = serde_json::from_value(action.clone())
            .map_err(|error| board_error(action, &error.to_string()))?;
        Game::play(&mut self.game, &typed)
            .map_err(|illegal| board_error(action, &illegal.to_string()))?;
        if self.plan.pop_front().is_some_and(|planned| planned != typed) {
            self.plan.clear();
        }
        if Game::seats(&self.game) > 1 {
            if self.latest.len() == REMEMBERED {
                self.latest.pop_front();
            }
            self.latest.push_back(key(&self.game));
        }
        Ok(())
    }

    fn retired(&mut self, seat: Seat) {
        retire(&mut self.game, seat);
    }

    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        if Game::turn(&self.game) != referee_games::Turn::Of(self.seat) {
            let text = format!("turn {} is asked of seat {} out of turn", turn.turn, self.seat);
            return Err(AgentError::referee(text));
        }
        let Choice { action, info } = self.choose();
        let action = serde_json::to_value(&action).expect("actions have string keys only");
        Ok(Reply::Action(action, info))
    }
}

impl<G: Game, C: Chooser> OnBoard<G, C> {
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

    /// Lets the chooser choose, and again without what leads back to a position that has been: two
    /// agents that each wait for the other would otherwise play in circles up to the turn limit.
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
        self.latest.contains(&key(&next))
    }
}
