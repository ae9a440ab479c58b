//! Lookups over the list of games in the crate root.

use crate::any::nearest;
use crate::{DialectKind, GAMES, Game, GameKind, NotationKind, SetupError, SetupField};
use referee_protocol::sanitize::sanitize_line;
use referee_protocol::{GameProgramRecord, Seat};
use serde_json::Value;
use std::sync::Arc;

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

/// Returns the built-in game with this name.
pub fn kind(name: &str) -> Option<GameKind> {
    GAMES.iter().copied().find(|kind| kind.name == name)
}

/// The games that are known: the built-in ones, and those whose rules are programs that were loaded.
#[derive(Clone, Debug, Default)]
pub struct Games {
    /// The name by which a game was requested, and the game.
    programs: Arc<[(String, GameKind)]>,
    /// Whose view of a recorded match is shown: a seat's, or everything.
    viewer: Option<Seat>,
}

/// Why the rules of a recorded game are missing, as text that can follow "error: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRules {
    /// There is no such built-in game.
    #[error("{0}")]
    Unknown(String),
    /// It was played by the rules of a program that was not loaded.
    #[error("rules not available: {0}")]
    NotAvailable(String),
    /// The program that was loaded for this game is another one.
    #[error("other rules: {0}")]
    Other(String),
}

impl Games {
    /// Adds programs, each with the path by which it was named.
    #[must_use]
    pub fn with(&self, programs: impl IntoIterator<Item = (String, GameKind)>) -> Self {
        let known = self.programs.iter().cloned();
        Self { programs: known.chain(programs).collect(), viewer: self.viewer }
    }

    /// The same games, to show recorded matches as this seat saw them; without one, everything is shown. It matters only
    /// in games with hidden information.
    #[must_use]
    pub fn seen_by(&self, viewer: Option<Seat>) -> Self {
        Self { viewer, ..self.clone() }
    }

    /// Returns the seat as which recorded matches are shown.
    pub fn viewer(&self) -> Option<Seat> {
        self.viewer
    }

    /// Returns the built-in games, and those of these that are programs.
    pub fn of(kinds: impl IntoIterator<Item = GameKind>) -> Self {
        let programs = kinds.into_iter().filter(|kind| kind.program().is_some());
        Self::default().with(programs.map(|kind| (kind.name.to_owned(), kind)))
    }

    /// Returns all games: the built-in ones, then those of programs.
    pub fn iter(&self) -> impl Iterator<Item = GameKind> + '_ {
        GAMES.iter().copied().chain(self.programs.iter().map(|(_, kind)| *kind))
    }

    /// Returns the game with this name or path. A program comes before the built-in game of its name.
    pub fn find(&self, name: &str) -> Option<GameKind> {
        let program = |is: &dyn Fn(&(String, GameKind)) -> bool| {
            self.programs.iter().find(|it| is(it)).map(|(_, kind)| *kind)
        };
        program(&|(path, _)| path == name)
            .or_else(|| program(&|(_, it)| it.name == name))
            .or_else(|| kind(name))
    }

    /// Returns the game whose name is most similar to a mistyped one, if any is similar enough.
    pub fn nearest(&self, mistyped: &str) -> Option<GameKind> {
        self.find(nearest(mistyped, self.iter().map(|kind| kind.name))?)
    }

    /// Returns the rules by which a game was recorded. `program` comes from the header of the
    /// transcript.
    pub fn of_record(
        &self,
        name: &str,
        program: Option<&GameProgramRecord>,
    ) -> Result<GameKind, NoRules> {
        // A transcript may name them in several lines, or with characters that a terminal obeys.
        let shown = sanitize_line(name);
        let Some(program) = program else {
            return kind(name).ok_or_else(|| {
                let hint =
                    nearest_kind(name).map(|kind| format!("; did you mean `{}`?", kind.name));
                NoRules::Unknown(format!("unknown game `{shown}`{}", hint.unwrap_or_default()))
            });
        };
        let mut named =
            self.programs.iter().map(|(_, kind)| *kind).filter(|kind| kind.name == name);
        let digest = |kind: &GameKind| kind.program().map(|it| it.record().digest.as_str());
        if let Some(found) = named.clone().find(|kind| digest(kind) == Some(&program.digest)) {
            return Ok(found);
        }
        let recorded = sanitize_line(&program.digest);
        Err(match named.next() {
            Some(other) => NoRules::Other(format!(
                "the rules of {shown} that were loaded have the digest {}, the match was played by {recorded}",
                digest(&other).unwrap_or_default()
            )),
            None => NoRules::NotAvailable(format!(
                "{shown} is a game program with the digest {recorded}: name its folder with --rules"
            )),
        })
    }
}

/// Returns the sentence for a reason code of a game with this setup: `connected` of hex is "it
/// connected its two sides". Completes "NAME wins: ...", "draw: ..." or "not solved: ...". `program` is that of the
/// match's header: its rules need not be there.
pub fn reason_text(
    game: &str,
    program: Option<&GameProgramRecord>,
    setup: &Value,
    code: &str,
) -> Option<String> {
    if let Some(program) = program {
        let reasons = program.described["reasons"].as_array()?;
        let reason = reasons.iter().find(|reason| reason["name"] == code)?;
        return reason["text"].as_str().map(str::to_owned);
    }
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

/// Returns the built-in game whose name is most similar to a mistyped one, if any is similar enough.
fn nearest_kind(mistyped: &str) -> Option<GameKind> {
    kind(nearest(mistyped, GAMES.iter().map(|kind| kind.name))?)
}

#[cfg(test)]
mod tests {
    use super::Games;
    use referee_protocol::GameProgramRecord;
    use serde_json::Value;

    #[test]
    fn what_a_transcript_names_is_one_line_that_no_terminal_obeys() {
        let hostile = "a\u{1b}]0;x\u{7}\nok\tgames/1.jsonl\u{202e}";
        let program = GameProgramRecord { digest: hostile.to_owned(), described: Value::Null };
        for program in [None, Some(&program)] {
            let error = Games::default().of_record(hostile, program).unwrap_err().to_string();
            assert!(!error.contains(char::is_control) && !error.contains('\u{202e}'), "{error:?}");
        }
    }
}
