//! Agents with their own board: it starts from `hello` and changes only with `played` and `retired`,
//! so it always equals the referee's.

use crate::AgentError;
use crate::board::{Board, ProgramBoard};
use crate::messages::{Hello, Turn};
use crate::player::{Player, Reply};
use crate::position_key::position_key;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::{AnyGame, Game, Games, SetupError, Visitor, visit};
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
    fn choose<B: Board>(
        &mut self,
        game: &B,
        seat: Seat,
        actions: Vec<B::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<B::Action>;

    /// In a game of one seat: returns the actions to play from here; empty if no plan was found.
    fn plan<B: Board>(&mut self, game: &B) -> Vec<B::Action>;
}

/// An action, and details of the search for viewers.
#[derive(Debug)]
pub(crate) struct Choice<A> {
    pub(crate) action: A,
    pub(crate) info: Option<Info>,
}

/// Creates an agent with this strategy.
pub(crate) fn seat<C: Chooser>(
    hello: &Hello,
    games: &Games,
    chooser: C,
) -> Result<Box<dyn Player>, AgentError> {
    if games.find(&hello.game).is_some_and(|kind| kind.program().is_some()) {
        let game = ProgramBoard(start(hello, games)?);
        return Ok(Box::new(BoardPlayer::new(hello, game, chooser)));
    }
    visit(&hello.game, PlayerBuilder { hello, chooser }).ok_or_else(|| unknown_game(&hello.game))?
}

/// Starts the game of a match.
pub(crate) fn start(hello: &Hello, games: &Games) -> Result<Box<dyn AnyGame>, AgentError> {
    let kind = games.find(&hello.game).ok_or_else(|| unknown_game(&hello.game))?;
    kind.start(&hello.setup).map_err(|error| AgentError::referee(error.to_string()))
}

/// Returns the error for a game that is not known.
fn unknown_game(name: &str) -> AgentError {
    AgentError::referee(format!("this agent doesn't know the game {name:?}"))
}

/// Plays an action that the referee sent as `played`.
pub fn apply(game: &mut dyn AnyGame, action: &Value) -> Result<(), AgentError> {
    game.play(action).map(drop).map_err(|refusal| {
        AgentError::referee(format!(
            "the referee sent that {action} was played, but this board refuses it: {refusal}"
        ))
    })
}

/// Plays an outcome that the referee has drawn.
pub(crate) fn draw(game: &mut dyn AnyGame, outcome: usize) -> Result<(), AgentError> {
    game.draw(outcome).map_err(|refusal| {
        AgentError::referee(format!("the referee sent that {outcome} was drawn: {refusal}"))
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
        let game = start(&self.hello.setup);
        let game = game.map_err(|error| AgentError::referee(error.to_string()))?;
        Ok(Box::new(BoardPlayer::new(self.hello, game, self.chooser)))
    }
}

/// An agent with its own board.
struct BoardPlayer<B: Board, C> {
    game: B,
    seat: Seat,
    random: ChaCha8Rng,
    chooser: C,
    /// In a game of one seat, the rest of the plan.
    plan: VecDeque<B::Action>,
    /// In a game of several seats, the latest positions, the oldest first.
    latest: VecDeque<String>,
}

impl<B: Board, C: Chooser> Player for BoardPlayer<B, C> {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        apply(self.game.game(), action)?;
        let is_other = |planned| serde_json::from_value(action.clone()).ok() != Some(planned);
        if self.plan.pop_front().is_some_and(is_other) {
            self.plan.clear();
        }
        if self.game.seats() > 1 {
            if self.latest.len() == REMEMBERED {
                self.latest.pop_front();
            }
            self.latest.push_back(position_key(&self.game));
        }
        Ok(())
    }

    fn drawn(&mut self, outcome: usize) -> Result<(), AgentError> {
        draw(self.game.game(), outcome)
    }

    fn retired(&mut self, seat: Seat) {
        retire(self.game.game(), seat);
    }

    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        let mut game = self.game.clone();
        // Of seats that choose at once: it doesn't know what the others choose.
        game.choose_first(self.seat);
        if game.turn() != referee_games::Turn::Of(self.seat) {
            let text =
                format!("turn {} was requested from seat {} out of turn", turn.turn, self.seat);
            return Err(AgentError::referee(text));
        }
        let Choice { action, info } = self.choose(&game);
        let action = serde_json::to_value(&action).expect("actions have string keys only");
        Ok(Reply::Action(action, info))
    }
}

impl<B: Board, C: Chooser> BoardPlayer<B, C> {
    fn new(hello: &Hello, game: B, chooser: C) -> Self {
        Self {
            game,
            seat: hello.seat,
            random: ChaCha8Rng::seed_from_u64(hello.seed),
            chooser,
            plan: VecDeque::new(),
            latest: VecDeque::new(),
        }
    }

    fn choose(&mut self, game: &B) -> Choice<B::Action> {
        let mut actions = game.actions();
        if actions.len() == 1 {
            let action = actions.pop().expect("there is one");
            return Choice { action, info: None };
        }
        if game.seats() == 1 {
            if self.plan.is_empty() {
                self.plan = self.chooser.plan(game).into();
            }
            if let Some(action) = self.plan.front() {
                let text = format!("{} more actions are planned", self.plan.len());
                let info = Info([("text".to_owned(), Value::from(text))].into_iter().collect());
                return Choice { action: action.clone(), info: Some(info) };
            }
        }
        self.choose_ahead(game, actions)
    }

    /// Chooses an action, and retries without actions that lead back to an earlier position: two agents
    /// that wait for each other would otherwise repeat positions until the turn limit.
    fn choose_ahead(&mut self, game: &B, mut actions: Vec<B::Action>) -> Choice<B::Action> {
        let mut first = None;
        for _ in 0..OTHERS_TRIED {
            let choice = self.chooser.choose(game, self.seat, actions.clone(), &mut self.random);
            if !self.leads_back(game, &choice.action) {
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

    fn leads_back(&self, game: &B, action: &B::Action) -> bool {
        let mut next = game.clone();
        next.play_listed(action);
        !next.is_between_choices() && self.latest.contains(&position_key(&next))
    }
}
