//! What is made from the list of games in the crate's root.

use crate::any::nearest;
use crate::{DialectKind, GAMES, Game, GameKind, NotationKind, SetupError};
use serde_json::Value;

/// Something that is done with a game whose type is known only at run time, but that wants to work
/// with the type: a search, a count.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it with a game of type `G`; `start` starts one.
    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) -> Self::Output;
}

/// Makes the list of games, and the way from a name to a type.
macro_rules! registry {
    ($($game:ty),* $(,)?) => {
        /// Every game, in the order in which lists show them.
        pub static GAMES: &[GameKind] = &[$(GameKind::of::<$game>()),*];

        /// Calls the visitor with the type of the game of this name; `None` if there is none.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$game as Game>::NAME {
                return Some(visitor.visit(any::start::<$game>));
            })*
            None
        }
    };
}
pub(crate) use registry;

/// The game of this name.
pub fn kind(name: &str) -> Option<GameKind> {
    GAMES.iter().copied().find(|kind| kind.name == name)
}

/// Returns the sentence for a reason code of a game: `connected` of hex is "it connected its two
/// sides". Completes "NAME wins: ...", "draw: ..." or "not solved: ...".
pub fn reason_text(game: &str, code: &str) -> Option<&'static str> {
    let reasons = kind(game)?.about().reasons;
    reasons.iter().find(|reason| reason.name == code).map(|reason| reason.text)
}

/// Every line protocol that agents of a game may speak, with the game.
pub fn dialects() -> impl Iterator<Item = (GameKind, &'static DialectKind)> {
    GAMES.iter().flat_map(|&kind| kind.dialects.iter().map(move |dialect| (kind, dialect)))
}

/// Every notation of whole games, with the game.
pub fn notations() -> impl Iterator<Item = (GameKind, &'static NotationKind)> {
    GAMES.iter().flat_map(|&kind| kind.notations.iter().map(move |notation| (kind, notation)))
}

/// The game whose name is nearest to a mistyped one, if any is near.
pub fn nearest_kind(mistyped: &str) -> Option<GameKind> {
    kind(nearest(mistyped, GAMES.iter().map(|kind| kind.name))?)
}
