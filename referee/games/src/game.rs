use crate::{About, ActionFields, DialectKind, NotationKind, view::View};
use referee_protocol::{Outcome, Seat};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::{self, Debug, Display};
use std::str::FromStr;

/// A game in progress.
///
/// Two equal values are the same game: the same position, history where the rules ask for it, and
/// setup.
pub trait Game: Clone + Debug + PartialEq + Send + 'static {
    /// The name on the wire and on the command line.
    const NAME: &'static str;
    /// The revision of the rules: raised whenever a legal sequence of actions could read
    /// differently. Recorded in every transcript.
    const RULES: u32;
    /// The line protocols, besides the referee's own, that programs playing this game speak.
    const DIALECTS: &'static [DialectKind] = &[];
    /// The notations in which other programs keep whole games of it.
    const NOTATIONS: &'static [NotationKind] = &[];

    /// Board size, variant switches, limits. Refuses unknown fields; every field has a default.
    type Setup: Clone + Debug + Serialize + DeserializeOwned;
    /// What a seat can do, on the wire a JSON object with a `type`, and for people a short text
    /// that parses back. Coordinates are wide integers, so that an action off the board is
    /// illegal, not malformed.
    type Action: Clone
        + Debug
        + PartialEq
        + Display
        + FromStr<Err = String>
        + Serialize
        + DeserializeOwned
        + Send;
    /// The position as in `turn.position` and `setup.position`. Complete but for the history of
    /// repetitions. Its lists are sorted.
    type Position: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// What people and programs may want to know of the game before it starts.
    fn about() -> About;

    /// Starts a game, or says which field of the setup is out of its range.
    fn start(setup: Self::Setup) -> Result<Self, Illegal>;

    /// The whole setup, defaults filled in.
    fn setup(&self) -> Self::Setup;

    /// How many seats there are.
    fn seats(&self) -> usize;

    /// Each seat's colour at the start.
    fn colours(&self) -> Vec<&'static str>;

    /// Whose turn it is, or how the game ended.
    fn turn(&self) -> Turn;

    /// The number of the turn, over all seats, passed-over turns included.
    fn turn_number(&self) -> u64;

    /// Every legal action once, in the rules' order; none when the game is over.
    fn actions(&self) -> Vec<Self::Action>;

    /// Plays an action of the seat to move and returns it as it is recorded: completed, where it
    /// was abbreviated. An action against the rules leaves the game equal to what it was.
    fn play(&mut self, action: &Self::Action) -> Result<Self::Action, Illegal>;

    /// An action from its fields, where those are all that it has; `None` leaves it to serde, which
    /// must read the same wherever this reads anything. For games whose replays want to be fast.
    fn read_fields(_fields: &ActionFields<'_>) -> Option<Self::Action> {
        None
    }

    /// Plays an action that came from [`Game::actions`] of this very game. For searches, which
    /// need not ask again whether it is legal.
    fn play_listed(&mut self, action: &Self::Action) {
        let played = self.play(action);
        debug_assert!(played.is_ok(), "a listed action was refused: {action}: {played:?}");
    }

    /// The seat is out: its pieces stay, its turns are passed over but counted. Only called in
    /// games of three seats and more, while the game isn't over.
    fn retire(&mut self, seat: Seat) {
        unreachable!("{} has no third seat, so {seat} can't be retired", Self::NAME)
    }

    /// The position.
    fn position(&self) -> Self::Position;

    /// The board as a picture.
    fn view(&self) -> View;

    /// How well `seat` stands, for simple agents: larger is better, without a unit. Must not be
    /// asked of a game that is over.
    fn estimate(&self, seat: Seat) -> i64;

    /// How many sequences of `depth` actions there are from here: 1 for depth 0. A game may count
    /// faster than [`plain_perft`], never differently.
    fn perft(&self, depth: u32) -> u64 {
        plain_perft(self, depth)
    }

    /// What a person should know before playing from here, such as that a puzzle can't be solved.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The seat of this index.
pub(crate) fn seat_of(index: usize) -> Seat {
    Seat(u8::try_from(index).expect("at most six seats"))
}

/// What only a picture shows: games that differ in it are the same.
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
    /// This seat's.
    Of(Seat),
    /// Nobody's: the game has ended by its rules.
    Over(Outcome),
}

/// The rule that an action or a setup breaks, in a sentence without a full stop, fit to follow
/// "illegal: ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal(String);

impl Illegal {
    /// The rule that is broken.
    pub fn new(rule: impl Into<String>) -> Self {
        Self(rule.into())
    }

    /// The refusal of every action once the game has ended.
    pub fn game_over() -> Self {
        Self::new("the game is over")
    }
}

impl Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Illegal {}

/// Counts sequences of actions by listing and playing each one: slow, simple, the same for every
/// game, and so what a faster count is measured and checked against.
pub fn plain_perft<G: Game>(game: &G, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let actions = game.actions();
    if depth == 1 {
        return actions.len() as u64;
    }
    let count = |action| {
        let mut next = game.clone();
        next.play_listed(action);
        plain_perft(&next, depth - 1)
    };
    actions.iter().map(count).sum()
}
