//! Type erasure: [`AnyGame`] takes and returns setups, actions and positions as JSON.

use crate::board::Layout;
use crate::program::{Drawer, Pending, Program, RulesFailure};
use crate::wire::Move;
use crate::{About, ActionFields, DialectKind, Game, Illegal, NotationKind, Turn, view::View};
use crate::{CellIndex, NumberedKind, Numbering};
use referee_protocol::{ActionJson, Seat, read_typed};
use serde_json::Value;
use std::fmt::{self, Debug};

/// The number of characters of a wrong action that an error shows.
const SHOWN_CHARS: usize = 100;

/// A game's entry in the registry.
#[derive(Clone, Copy)]
pub struct GameKind {
    /// The name on the wire and on the command line.
    pub name: &'static str,
    /// The revision of the rules.
    pub rules: u32,
    /// The line protocols that its agents may use instead of the referee's own.
    pub dialects: &'static [DialectKind],
    /// The file notations of other programs for whole games.
    pub notations: &'static [NotationKind],
    rules_of: RulesOf,
}

/// The place of a game's rules.
#[derive(Clone, Copy)]
enum RulesOf {
    /// In this crate.
    BuiltIn {
        about: fn() -> &'static About,
        start: fn(&Value) -> Result<Box<dyn AnyGame>, SetupError>,
    },
    /// In a program.
    Program(&'static Program),
}

impl GameKind {
    pub(crate) const fn of<G: Game>() -> Self {
        Self {
            name: G::NAME,
            rules: G::RULES,
            dialects: G::DIALECTS,
            notations: G::NOTATIONS,
            rules_of: RulesOf::BuiltIn { about: G::about, start: start_any::<G> },
        }
    }

    /// Returns the entry of a game whose rules are a program, which stays loaded until this process ends.
    pub fn of_program(program: &'static Program) -> Self {
        Self {
            name: program.name(),
            rules: program.revision(),
            dialects: &[],
            notations: &[],
            rules_of: RulesOf::Program(program),
        }
    }

    /// Returns the program with the rules; `None` if they are built in.
    pub fn program(&self) -> Option<&'static Program> {
        match self.rules_of {
            RulesOf::BuiltIn { .. } => None,
            RulesOf::Program(program) => Some(program),
        }
    }

    /// Whether seats know different things.
    pub fn is_hidden(&self) -> bool {
        self.program().is_some_and(Program::is_hidden)
    }

    /// Whether its rules list the legal actions.
    pub fn lists(&self) -> bool {
        self.program().is_none_or(Program::lists)
    }

    /// Returns the game's description.
    pub fn about(&self) -> &'static About {
        match self.rules_of {
            RulesOf::BuiltIn { about, .. } => about(),
            RulesOf::Program(program) => program.about(),
        }
    }

    /// Returns the line protocol with this name, if the game has it.
    pub fn dialect(&self, name: &str) -> Option<&'static DialectKind> {
        self.dialects.iter().find(|dialect| dialect.name == name)
    }

    /// Returns the notation with this file extension, if the game has it.
    pub fn notation(&self, ending: &str) -> Option<&'static NotationKind> {
        self.notations.iter().find(|notation| notation.ending == ending)
    }

    /// Starts a game. `setup` is an object; missing fields take their defaults.
    pub fn start(&self, setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
        match self.rules_of {
            RulesOf::BuiltIn { start, .. } => start(setup),
            RulesOf::Program(program) => program.start(setup),
        }
    }

    /// Starts a game without waiting for a program. Prepares draws at the start.
    pub fn start_later(
        &self,
        setup: &Value,
        drawer: Drawer,
    ) -> Pending<Result<Box<dyn AnyGame>, SetupError>> {
        match self.rules_of {
            RulesOf::BuiltIn { start, .. } => Box::pin(std::future::ready(start(setup))),
            RulesOf::Program(program) => program.start_later(setup, drawer),
        }
    }
}

impl Debug for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GameKind").field(&self.name).finish()
    }
}

/// Why a setup is invalid, as text that can follow "error: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SetupError {
    pub(crate) text: String,
    /// Whether the program with the rules failed, so that it is unknown whether the setup is valid.
    pub rules_failed: bool,
    /// How to fix it.
    pub help: String,
}

/// Why an action was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not an action of this game: an unknown type, or a field that is unknown, missing or
    /// of the wrong type.
    #[error("{0}")]
    Malformed(String),
    /// It is against the rules in this position.
    #[error("{0}")]
    Illegal(Illegal),
    /// The program with the rules failed, so it is unknown whether the action is legal.
    #[error("the rules failed: {0}")]
    Failed(RulesFailure),
}

/// A game in progress, type-erased: as [`Game`], with JSON setups, actions and positions.
pub trait AnyGame: Debug + Send + Sync {
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
    /// Returns the seats that choose at once, those that have chosen, too; empty where one seat moves alone. They
    /// play one after the other, and none of them may be told what another has chosen before all have.
    fn together(&self) -> &[Seat] {
        &[]
    }
    /// Returns those of them that have still to choose.
    fn choosing(&self) -> Vec<Seat> {
        Vec::new()
    }
    /// Passes over a seat that is out and that chooses at once with others, for which [`AnyGame::retire`] can't be called:
    /// the others can still choose.
    fn pass_over(&mut self, _seat: Seat) {}
    /// Lets a seat move before the others with which it chooses at once, here and later: for an agent that looks ahead, and
    /// knows nothing of the others' choices.
    fn choose_first(&mut self, _seat: Seat) {}
    /// As [`Game::actions`].
    fn actions(&self) -> Vec<Value>;
    /// As [`Game::play`].
    fn play(&mut self, action: &Value) -> Result<Value, Refusal>;
    /// Whether the rules fail at this action, asked again even if they have failed in this position before.
    fn fails_at(&self, _action: &Value) -> bool {
        false
    }
    /// As [`Game::play`], for an action's JSON text and without an explanation: `None` if it is not legal,
    /// or if [`AnyGame::play`] must read it. The fast path for answers.
    fn play_text(&mut self, action: &str) -> Option<ActionJson>;
    /// Parses an action's text form, without checking that it is legal.
    fn parse_action(&self, text: &str) -> Result<Value, String>;
    /// Formats an action as text; as JSON if it is not an action of this game.
    fn format_action(&self, action: &Value) -> String;
    /// As [`Game::retire`].
    fn retire(&mut self, seat: Seat);
    /// As [`Game::position`].
    fn position(&self) -> Value;
    /// Whether seats know different things: then [`AnyGame::seen`] and [`AnyGame::told`] say all that an agent may get.
    fn is_hidden(&self) -> bool {
        false
    }
    /// Returns what a seat may know of the position.
    fn seen(&self, _seat: Seat) -> Value {
        self.position()
    }
    /// Returns what a seat is told of the last move, if seats know different things; null for nothing.
    fn told(&self, _seat: Seat) -> Value {
        Value::Null
    }
    /// Returns the picture that a seat may see.
    fn view_of(&self, _seat: Seat) -> View {
        self.view()
    }
    /// Returns the field `position` of a setup that starts a game from here: the position, or the
    /// state of a game program.
    fn origin(&self) -> Value {
        self.position()
    }
    /// As [`Game::view`]. If the rules are a program that fails to make it, it says so.
    fn view(&self) -> View;
    /// As [`AnyGame::view`], but fails if the program with the rules does.
    fn view_or_failure(&self) -> Result<View, RulesFailure> {
        Ok(self.view())
    }
    /// As [`Game::layout`].
    fn layout(&self) -> Layout;
    /// Returns the kinds of action with the fields by which actions are numbered: for [`Numbering::new`].
    fn numbered_kinds(&self, index: &CellIndex) -> Result<Vec<NumberedKind>, String>;
    /// Returns the numbers of the legal actions, in the order of [`AnyGame::actions`]. Fails if the rules do.
    fn legal_numbers(&self, numbering: &Numbering) -> Result<Vec<usize>, RulesFailure>;
    /// Returns the number of an action; `None` if it has none, or isn't complete.
    fn number_of(&self, action: &Value, numbering: &Numbering) -> Option<usize>;
    /// Returns the action with this number, which may be illegal and need not be complete.
    fn numbered_action(&self, number: usize, numbering: &Numbering) -> Option<Value>;
    /// Plays the action with this number.
    fn play_number(&mut self, number: usize, numbering: &Numbering) -> Result<(), Refusal>;
    /// As [`Game::play_at_random`]; draws count as plies. Fails if the rules do.
    fn play_at_random(
        &mut self,
        below: &mut dyn FnMut(u64) -> u64,
        plies_max: u64,
    ) -> Result<(), Refusal>;
    /// As [`perft`](crate::perft). Fails if the rules do.
    fn perft(&self, depth: u32) -> Result<u64, Refusal>;
    /// As [`Game::notes`].
    fn notes(&self) -> Vec<String>;
    /// As [`Game::estimate`]; `None` if the rules are a program that doesn't estimate positions.
    fn estimated(&self, seat: Seat) -> Option<i64>;
    /// As [`Game::current_colours`].
    fn current_colours(&self) -> Vec<String>;
    /// Returns why a value isn't an action of this game at all, legal or not; `None` if it is one.
    fn malformed(&self, action: &Value) -> Option<String>;
    /// Plays the outcome with this number; only where [`Turn::Chance`] is next.
    fn draw(&mut self, _outcome: usize) -> Result<(), Refusal> {
        Err(Refusal::Illegal(Illegal::new("nothing is to be drawn")))
    }
    /// Returns the number of draws so far.
    fn draws(&self) -> u64 {
        0
    }
    /// Asks the program with the rules for the result of an action and of the draws after it, so
    /// that playing it needn't wait. `None` if there is nothing to wait for.
    fn prepare(&self, _action: &Value, _drawer: &Drawer) -> Option<Pending<()>> {
        None
    }
    /// Asks the program with the rules for the results of these moves, all at once. They need not
    /// be played.
    fn foresee(&self, _moves: Vec<Move>) {}
    /// Asks the program with the rules for the picture of the board.
    fn prepare_view(&self) -> Option<Pending<()>> {
        None
    }
    /// Returns the failure of the program with the rules, if it failed: then the game can't go on.
    fn failure(&self) -> Option<&RulesFailure> {
        None
    }
    /// Returns a copy of the game.
    fn clone_box(&self) -> Box<dyn AnyGame>;
}

impl dyn AnyGame {
    /// Whether some of the seats that choose at once have chosen, or are out, and others have still to choose.
    pub fn is_between_choices(&self) -> bool {
        let choosing = if self.together().is_empty() { 0 } else { self.choosing().len() };
        choosing > 0 && choosing < self.together().len()
    }
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

    fn malformed(&self, action: &Value) -> Option<String> {
        action_of::<G>(action).err()
    }

    fn play(&mut self, action: &Value) -> Result<Value, Refusal> {
        let action = action_of::<G>(action).map_err(Refusal::Malformed)?;
        Game::play(self, &action).map(|recorded| json(&recorded)).map_err(Refusal::Illegal)
    }

    fn play_text(&mut self, action: &str) -> Option<ActionJson> {
        let action = read_action::<G>(action).ok()?;
        Game::play(self, &action).ok().map(|recorded| action_json(&recorded))
    }

    fn parse_action(&self, text: &str) -> Result<Value, String> {
        text.trim().parse::<G::Action>().map(|action| json(&action))
    }

    fn format_action(&self, action: &Value) -> String {
        read_typed::<G::Action>(action)
            .map_or_else(|_| action.to_string(), |action| action.to_string())
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

    fn current_colours(&self) -> Vec<String> {
        Game::current_colours(self).into_iter().map(str::to_owned).collect()
    }

    fn layout(&self) -> Layout {
        Game::layout(self)
    }

    fn numbered_kinds(&self, index: &CellIndex) -> Result<Vec<NumberedKind>, String> {
        Ok(G::KINDS
            .iter()
            .map(|&(name, cells)| NumberedKind::of_cells(name, cells, index))
            .collect())
    }

    fn legal_numbers(&self, numbering: &Numbering) -> Result<Vec<usize>, RulesFailure> {
        Ok(Game::legal_numbers(self, numbering))
    }

    fn number_of(&self, action: &Value, numbering: &Numbering) -> Option<usize> {
        let action = action_of::<G>(action).ok()?;
        self.key(&action).and_then(|key| numbering.of_key(key))
    }

    fn numbered_action(&self, number: usize, numbering: &Numbering) -> Option<Value> {
        numbering.key(number).map(|key| json(&self.action(key)))
    }

    fn play_number(&mut self, number: usize, numbering: &Numbering) -> Result<(), Refusal> {
        let key = numbering.key(number).ok_or_else(|| no_number(number, numbering))?;
        Game::play(self, &self.action(key)).map(|_| ()).map_err(Refusal::Illegal)
    }

    fn play_at_random(
        &mut self,
        below: &mut dyn FnMut(u64) -> u64,
        plies_max: u64,
    ) -> Result<(), Refusal> {
        Game::play_at_random(self, below, plies_max);
        Ok(())
    }

    fn perft(&self, depth: u32) -> Result<u64, Refusal> {
        Ok(crate::perft(self, depth))
    }

    fn notes(&self) -> Vec<String> {
        Game::notes(self)
    }

    fn estimated(&self, seat: Seat) -> Option<i64> {
        Some(Game::estimate(self, seat))
    }

    fn clone_box(&self) -> Box<dyn AnyGame> {
        Box::new(self.clone())
    }
}

/// Returns the legal actions of the seat to move. Fails if the rules do, or don't list them.
pub(crate) fn listed(game: &dyn AnyGame) -> Result<Vec<Value>, RulesFailure> {
    let actions = game.actions();
    match game.failure() {
        Some(failure) => Err(failure.clone()),
        None if actions.is_empty() => {
            Err(RulesFailure("the rules don't list the legal actions".to_owned()))
        }
        None => Ok(actions),
    }
}

/// The refusal of a number that no action has.
pub(crate) fn no_number(number: usize, numbering: &Numbering) -> Refusal {
    let last = numbering.total().saturating_sub(1);
    Refusal::Malformed(format!("no action has the number {number}: they are 0 to {last}"))
}

/// Reads an action's JSON.
fn action_of<G: Game>(action: &Value) -> Result<G::Action, String> {
    if !action.is_object() {
        let about = G::about();
        let example = about.actions.first().map(|form| form.example.to_string());
        let example = example.unwrap_or_default();
        let mut got = action.to_string();
        if let Some((end, _)) = got.char_indices().nth(SHOWN_CHARS) {
            got.replace_range(end.., "..");
        }
        return Err(format!("expected an object such as {example}, got {got}"));
    }
    read_typed::<G::Action>(action)
}

/// Reads an action's JSON text.
fn read_action<G: Game>(text: &str) -> serde_json::Result<G::Action> {
    let fast = ActionFields::read(text).and_then(|fields| G::read_fields(&fields));
    fast.map_or_else(|| serde_json::from_str(text), Ok)
}

/// Returns an action's JSON with its keys sorted. Its fields are declared in this order; only `type`, which
/// is written first, is after all of them.
fn action_json<A: serde::Serialize>(action: &A) -> ActionJson {
    let mut text = serde_json::to_vec(action).expect("an action has string keys only");
    if let Some(comma) = text.iter().position(|&byte| byte == b',') {
        let fields = 1..text.len() - 1;
        text[fields.clone()].rotate_left(comma - fields.start);
        // The comma is first now, and belongs before `type`.
        text[fields.start..fields.end + fields.start - comma].rotate_left(1);
    }
    let text = std::str::from_utf8(&text).expect("JSON is UTF-8");
    debug_assert_eq!(text, json(action).to_string());
    ActionJson::from_sorted(text)
}

fn start_any<G: Game>(setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
    Ok(Box::new(start::<G>(setup)?))
}

/// Starts a game of type `G` from JSON.
pub(crate) fn start<G: Game>(setup: &Value) -> Result<G, SetupError> {
    let name = G::NAME;
    let refused = |text: String| SetupError {
        text: format!("setup of {name}: {text}"),
        rules_failed: false,
        help: format!("`referee games {name}` lists the fields, their ranges and defaults"),
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
    let setup = read_typed::<G::Setup>(setup).map_err(refused)?;
    G::start(setup).map_err(|illegal| refused(illegal.to_string()))
}

/// Returns the name most similar to a mistyped one, if any is similar enough.
pub fn nearest<'a>(mistyped: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One measure favours common prefixes, the other few edits; the sum errs less often.
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
