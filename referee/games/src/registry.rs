//! Lookups over the list of games in the crate root.

use crate::any::nearest;
use crate::{DialectKind, GAMES, Game, GameKind, NotationKind, SetupError, SetupField};
use serde_json::Value;

/// A generic operation on a game whose type is only known at run time, such as a search.
pub trait Visitor {
    /// The result of the operation.
    type Output;
    /// Runs the operation with game type `G`; `start` starts a game.
    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) -> Self::Output;
}

/// Generates the list of games and the lookup from a name to a type.
macro_rules! registry {
    ($($game:ty),* $(,)?) => {
        /// Every game, in display order.
        pub static GAMES: &[GameKind] = &[$(GameKind::of::<$game>()),*];

        /// Calls the visitor with the type of the named game; `None` if there is no such game.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$game as Game>::NAME {
                return Some(visitor.visit(any::start::<$game>));
            })*
            None
        }
    };
}
pub(crate) use registry;

/// Returns the game with this name.
pub fn kind(name: &str) -> Option<GameKind> {
    GAMES.iter().copied().find(|kind| kind.name == name)
}

/// Returns the sentence for a reason code of a game with this setup: `connected` of hex is "it
/// connected its two sides". Completes "NAME wins: ...", "draw: ..." or "not solved: ...".
pub fn reason_text(game: &str, setup: &Value, code: &str) -> Option<String> {
    let about = kind(game)?.about();
    let reason = about.reasons.iter().find(|reason| reason.name == code)?;
    let fill_in = |text: String, field: &SetupField| {
        let value = setup.get(field.name).unwrap_or(&field.default);
        text.replace(&format!("{{{}}}", field.name), &value.to_string())
    };
    Some(about.setup.iter().fold(reason.text.to_owned(), fill_in))
}

/// Returns every line protocol other than the referee's own, with its game.
pub fn dialects() -> impl Iterator<Item = (GameKind, &'static DialectKind)> {
    GAMES.iter().flat_map(|&kind| kind.dialects.iter().map(move |dialect| (kind, dialect)))
}

/// Returns every notation for whole games, with its game.
pub fn notations() -> impl Iterator<Item = (GameKind, &'static NotationKind)> {
    GAMES.iter().flat_map(|&kind| kind.notations.iter().map(move |notation| (kind, notation)))
}

/// Returns the game whose name is most similar to a mistyped one, if any is similar enough.
pub fn nearest_kind(mistyped: &str) -> Option<GameKind> {
    kind(nearest(mistyped, GAMES.iter().map(|kind| kind.name))?)
}
