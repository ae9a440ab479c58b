//! The one seam at which the games' types are erased: on its far side an action, a setup and a
//! position are JSON.

use crate::{About, ActionFields, DialectKind, Game, Illegal, NotationKind, Turn, view::View};
use referee_protocol::Seat;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::{self, Debug};

/// A kind of game, as it stands in the registry.
#[derive(Clone, Copy)]
pub struct GameKind {
    /// The name on the wire and on the command line.
    pub name: &'static str,
    /// The revision of the rules.
    pub rules: u32,
    /// The line protocols, besides the referee's own, that its agents may speak.
    pub dialects: &'static [DialectKind],
    /// The notations in which other programs keep whole games of it.
    pub notations: &'static [NotationKind],
    about: fn() -> About,
    start: fn(&Value) -> Result<Box<dyn AnyGame>, SetupError>,
}

impl GameKind {
    pub(crate) const fn of<G: Game>() -> Self {
        Self {
            name: G::NAME,
            rules: G::RULES,
            dialects: G::DIALECTS,
            notations: G::NOTATIONS,
            about: G::about,
            start: start_any::<G>,
        }
    }

    /// What there is to know of it.
    pub fn about(&self) -> About {
        (self.about)()
    }

    /// The line protocol of this name, if agents of this game may speak it.
    pub fn dialect(&self, name: &str) -> Option<&'static DialectKind> {
        self.dialects.iter().find(|dialect| dialect.name == name)
    }

    /// The notation whose files' names end like this, if the game has it.
    pub fn notation(&self, ending: &str) -> Option<&'static NotationKind> {
        self.notations.iter().find(|notation| notation.ending == ending)
    }

    /// Starts a game. `setup` is an object; fields that are left out take their defaults.
    pub fn start(&self, setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
        (self.start)(setup)
    }
}

impl Debug for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GameKind").field(&self.name).finish()
    }
}

/// Why a game can't be started: what is wrong with the setup, fit to follow "error: ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    text: String,
    help: Option<String>,
}

impl SetupError {
    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for SetupError {}

/// Why an action was not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It isn't an action of this game at all: an unknown type, or a field that is unknown,
    /// missing or of the wrong type.
    Malformed(String),
    /// It is one, but the rules forbid it here.
    Illegal(Illegal),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => f.write_str(text),
            Self::Illegal(illegal) => fmt::Display::fmt(illegal, f),
        }
    }
}

impl std::error::Error for Refusal {}

/// A game in progress with its types erased. Everything is as in [`Game`], with JSON for setups,
/// actions and positions.
pub trait AnyGame: Debug + Send {
    /// The game's entry in the registry.
    fn kind(&self) -> GameKind;
    /// As [`Game::setup`].
    fn setup(&self) -> Value;
    /// As [`Game::seats`].
    fn seats(&self) -> usize;
    /// As [`Game::colours`].
    fn colours(&self) -> Vec<&'static str>;
    /// As [`Game::turn`].
    fn turn(&self) -> Turn;
    /// As [`Game::turn_number`].
    fn turn_number(&self) -> u64;
    /// As [`Game::actions`].
    fn actions(&self) -> Vec<Value>;
    /// As [`Game::play`].
    fn play(&mut self, action: &Value) -> Result<Value, Refusal>;
    /// As [`Game::play`], for an action that is still text: for replaying many lines quickly.
    fn play_json(&mut self, action: &str) -> Result<(), Refusal>;
    /// Reads an action as people write it, without asking whether it is legal.
    fn parse_action(&self, text: &str) -> Result<Value, String>;
    /// An action as people write it; JSON where it isn't one of this game.
    fn format_action(&self, action: &Value) -> String;
    /// As [`Game::retire`].
    fn retire(&mut self, seat: Seat);
    /// As [`Game::position`].
    fn position(&self) -> Value;
    /// As [`Game::view`].
    fn view(&self) -> View;
    /// As [`Game::perft`].
    fn perft(&self, depth: u32) -> u64;
    /// As [`Game::notes`].
    fn notes(&self) -> Vec<String>;
    /// Each seat's colour now: where seats exchange colours, the position says so in `colours`.
    fn current_colours(&self) -> Vec<String> {
        let position = self.position();
        let named = position.get("colours").and_then(Value::as_array);
        let now = named.and_then(|colours| {
            colours.iter().map(|colour| colour.as_str().map(str::to_owned)).collect()
        });
        now.unwrap_or_else(|| self.colours().into_iter().map(str::to_owned).collect())
    }
    /// The same game once more.
    fn clone_box(&self) -> Box<dyn AnyGame>;
}

impl Clone for Box<dyn AnyGame> {
    fn clone(&self) -> Self {
        self.as_ref().clone_box()
    }
}

impl<G: Game> AnyGame for G {
    fn kind(&self) -> GameKind {
        GameKind::of::<G>()
    }

    fn setup(&self) -> Value {
        json(&Game::setup(self))
    }

    fn seats(&self) -> usize {
        Game::seats(self)
    }

    fn colours(&self) -> Vec<&'static str> {
        Game::colours(self)
    }

    fn turn(&self) -> Turn {
        Game::turn(self)
    }

    fn turn_number(&self) -> u64 {
        Game::turn_number(self)
    }

    fn actions(&self) -> Vec<Value> {
        Game::actions(self).iter().map(json).collect()
    }

    fn play(&mut self, action: &Value) -> Result<Value, Refusal> {
        let action = typed::<G::Action>(action).map_err(Refusal::Malformed)?;
        Game::play(self, &action).map(|recorded| json(&recorded)).map_err(Refusal::Illegal)
    }

    fn play_json(&mut self, action: &str) -> Result<(), Refusal> {
        let quick = ActionFields::read(action).and_then(|fields| G::read_fields(&fields));
        let action = quick.map_or_else(|| serde_json::from_str(action), Ok);
        let action = action.map_err(|error| Refusal::Malformed(error.to_string()))?;
        let recorded = Game::play(self, &action).map_err(Refusal::Illegal)?;
        if recorded == action {
            return Ok(());
        }
        Err(Refusal::Illegal(Illegal::new(format!("the action is recorded as `{recorded}`"))))
    }

    fn parse_action(&self, text: &str) -> Result<Value, String> {
        text.trim().parse::<G::Action>().map(|action| json(&action))
    }

    fn format_action(&self, action: &Value) -> String {
        typed::<G::Action>(action).map_or_else(|_| action.to_string(), |action| action.to_string())
    }

    fn retire(&mut self, seat: Seat) {
        Game::retire(self, seat);
    }

    fn position(&self) -> Value {
        json(&Game::position(self))
    }

    fn view(&self) -> View {
        Game::view(self)
    }

    fn perft(&self, depth: u32) -> u64 {
        Game::perft(self, depth)
    }

    fn notes(&self) -> Vec<String> {
        Game::notes(self)
    }

    fn clone_box(&self) -> Box<dyn AnyGame> {
        Box::new(self.clone())
    }
}

fn start_any<G: Game>(setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
    Ok(Box::new(start::<G>(setup)?))
}

/// Starts a game of type `G` from JSON.
pub(crate) fn start<G: Game>(setup: &Value) -> Result<G, SetupError> {
    let name = G::NAME;
    let refused = |text: String| SetupError {
        text: format!("setup of {name}: {text}"),
        help: Some(format!("`referee games {name}` lists the fields, their ranges and defaults")),
    };
    let Value::Object(fields) = setup else {
        return Err(refused(format!("expected an object, got {setup}")));
    };
    let about = G::about();
    let known = || about.setup.iter().map(|field| field.name).chain(["position"]);
    if let Some(unknown) = fields.keys().find(|key| known().all(|name| name != key.as_str())) {
        let hint = nearest(unknown, known()).map(|name| format!("; did you mean `{name}`?"));
        return Err(refused(format!("unknown field `{unknown}`{}", hint.unwrap_or_default())));
    }
    let setup = typed::<G::Setup>(setup).map_err(refused)?;
    G::start(setup).map_err(|illegal| refused(illegal.to_string()))
}

/// The name that is nearest to a mistyped one, if any is near.
pub fn nearest<'a>(mistyped: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One measure likes common beginnings, the other few changes; together they err less often.
    let likeness = |name| {
        strsim::jaro_winkler(mistyped, name)
            + strsim::normalized_damerau_levenshtein(mistyped, name)
    };
    let scored = names.into_iter().map(|name| (likeness(name), name));
    let (score, name) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 1.2).then_some(name)
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("setups, actions and positions have string keys only")
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    // What is well formed is read without following the path, which takes twice as long; only an
    // error is worth reading it again.
    if let Ok(read) = T::deserialize(value) {
        return Ok(read);
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let text = error.into_inner().to_string();
        if path == "." || path == "?" { text } else { format!("{path}: {text}") }
    })
}
