use crate::board::Layout;
use crate::wire::Chance;
use crate::{About, ActionFields, DialectKind, NotationKind, view::View};
use crate::{ActionKey, Numbering};
use referee_protocol::{Outcome, Seat};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// A game in progress.
///
/// Two values are equal if they have the same setup, the same position and, where the rules need
/// it, the same history.
pub trait Game: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// The name on the wire and on the command line.
    const NAME: &'static str;
    /// The revision of the rules, recorded in every transcript. Incremented when a recorded game
    /// could be read differently.
    const RULES: u32;
    /// The game's description: the text of an [`About`].
    const ABOUT: &str;
    /// The line protocols that agents may use instead of the referee's own.
    const DIALECTS: &'static [DialectKind] = &[];
    /// The file notations of other programs for whole games.
    const NOTATIONS: &'static [NotationKind] = &[];

    /// The kinds of action, each with the number of cells, 0 to 2, by which a position's legal actions of the kind
    /// differ: where one begins and ends, say. Numbers of actions depend on the order.
    const KINDS: &'static [(&'static str, usize)];

    /// Board size, variants and limits. Rejects unknown fields; every field has a default.
    type Setup: Clone + Debug + Serialize + DeserializeOwned;
    /// An action: a JSON object with a `type` on the wire, and a short text that parses back.
    /// Coordinates are wide integers, so that an action off the board is illegal, not malformed.
    type Action: Clone
        + Debug
        + PartialEq
        + Display
        + FromStr<Err = String>
        + Serialize
        + DeserializeOwned
        + Send
        + Sync;
    /// The position as in `turn.position` and `setup.position`: complete except for the history of
    /// repetitions, with sorted lists.
    type Position: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Returns the game's description.
    fn about() -> &'static About {
        About::read(Self::ABOUT)
    }

    /// Starts a game. Fails if a field of the setup is out of range.
    fn start(setup: Self::Setup) -> Result<Self, Illegal>;

    /// Returns the setup with its defaults filled in.
    fn setup(&self) -> Self::Setup;

    /// Returns the number of seats.
    fn seats(&self) -> usize {
        self.colours().len()
    }

    /// Returns each seat's colour at the start.
    fn colours(&self) -> Vec<&'static str>;

    /// Returns each seat's colour now; seats may exchange colours during a game.
    fn current_colours(&self) -> Vec<&'static str> {
        self.colours()
    }

    /// Returns whose turn it is, or the outcome.
    fn turn(&self) -> Turn;

    /// Returns the number of the turn, counted over all seats, skipped turns included.
    fn turn_number(&self) -> u64;

    /// Returns every legal action once, in a fixed order; empty when the game is over.
    fn actions(&self) -> Vec<Self::Action>;

    /// Plays an action of the seat to move and returns its recorded, complete form. An illegal
    /// action leaves the game unchanged.
    fn play(&mut self, action: &Self::Action) -> Result<Self::Action, Illegal>;

    /// Reads an action from its fields without serde, to speed up replays. `None` falls back to
    /// serde; both must agree.
    fn read_fields(_fields: &ActionFields<'_>) -> Option<Self::Action> {
        None
    }

    /// Returns what tells an action from the others of a position; `None` if an action that isn't complete
    /// lacks it.
    fn key(&self, action: &Self::Action) -> Option<ActionKey>;

    /// Returns the action with this key, which may be illegal and need not be complete. The cells are on the board.
    fn action(&self, key: ActionKey) -> Self::Action;

    /// Returns the numbers of [`Game::actions`], in their order.
    fn legal_numbers(&self, numbering: &Numbering) -> Vec<usize> {
        let number = |action| self.key(action).and_then(|key| numbering.of_key(key));
        let number = |action| number(action).expect("listed actions are complete");
        self.actions().iter().map(number).collect()
    }

    /// Plays an action returned by [`Game::actions`] of this same game, without checking again that
    /// it is legal. For searches.
    fn play_listed(&mut self, action: &Self::Action) {
        let played = self.play(action);
        debug_assert!(played.is_ok(), "a listed action was refused: {action}: {played:?}");
    }

    /// Plays actions of [`Game::actions`], each equally likely, to the end of the game, but at most `plies_max`.
    /// `below` draws a number below the one that it gets.
    fn play_at_random(&mut self, below: &mut dyn FnMut(u64) -> u64, plies_max: u64) {
        for _ in 0..plies_max {
            let actions = self.actions();
            if actions.is_empty() {
                break;
            }
            let chosen = below(actions.len() as u64);
            self.play_listed(&actions[usize::try_from(chosen).unwrap_or_default()]);
        }
    }

    /// Retires a seat: its pieces stay on the board, its turns are skipped but counted. Only called
    /// for three or more seats, while the game is not over.
    fn retire(&mut self, seat: Seat) {
        unreachable!("{} has no third seat, so {seat} can't be retired", Self::NAME)
    }

    /// Returns the position.
    fn position(&self) -> Self::Position;

    /// Returns the board as a picture.
    fn view(&self) -> View;

    /// Returns the cells of the board, which stay the same.
    fn layout(&self) -> Layout {
        self.view().shape
    }

    /// Estimates how good the position is for `seat`, for simple agents: larger is better, without a
    /// unit. Must not be called when the game is over.
    fn estimate(&self, seat: Seat) -> i64;

    /// Returns notes for people about this position, such as that a puzzle can't be solved.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Returns the seat with this index.
pub(crate) fn seat_of(index: usize) -> Seat {
    Seat(u8::try_from(index).expect("at most six seats"))
}

/// A value for display only, which is ignored when games are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IgnoredInEq<T>(pub(crate) T);

impl<T> PartialEq for IgnoredInEq<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// This seat is to move.
    Of(Seat),
    /// The game has ended by its rules.
    Over(Outcome),
    /// The referee draws; only in games whose rules are a program.
    Chance(Chance),
}

/// The rule that an action or a setup breaks: a sentence without a full stop that can follow
/// "illegal: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Illegal(String);

impl Illegal {
    /// Creates a refusal with the broken rule.
    pub fn new(rule: impl Into<String>) -> Self {
        Self(rule.into())
    }

    /// Returns the refusal of any action after the game has ended.
    pub fn game_over() -> Self {
        Self::new("the game is over")
    }
}

/// Counts the sequences of `depth` actions from here by listing and playing each one; 1 for depth 0.
pub fn perft<G: Game>(game: &G, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let actions = game.actions();
    if depth == 1 {
        return actions.len() as u64;
    }
    let after = |action| {
        let mut next = game.clone();
        next.play_listed(action);
        perft(&next, depth - 1)
    };
    actions.iter().map(after).sum()
}
