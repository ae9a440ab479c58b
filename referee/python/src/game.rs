//! `Rules`, a game that can be started, and `Game`, a game in progress.

use crate::json::{from_python, to_python};
use crate::number::Number;
use crate::past::{Made, Past};
use crate::signals::Signals;
use crate::view::view_json;
use crate::{BadSetup, IllegalAction, RulesFailed, rules};
use pyo3::exceptions::{PyImportError, PyIndexError, PyValueError};
use pyo3::prelude::{
    Bound, IntoPyObject, Py, PyAny, PyAnyMethods, PyDictMethods, PyErr, PyResult, PyStringMethods,
    Python, pyclass, pyfunction, pymethods,
};
use pyo3::types::{PyByteArray, PyDict, PyInt, PyList, PyString};
use referee_games::program::{Program, RulesFailure};
use referee_games::{
    AnyGame, GAMES, GameKind, NumberedKind, Numbering, Planes, Refusal, SetupError, Symmetry, Turn,
    kind, nearest, reason_text, symmetries, view::View,
};
use referee_protocol::{Outcome, Seat};
use referee_render::{Style, terminal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most plies that `perft` looks ahead, since it calls itself for each.
const PERFT_MAX: usize = 64;
/// The most places of an outcome.
const PLACES_MAX: usize = u8::MAX as usize;
/// The most setups of a game whose numbers and planes are kept.
const CACHED_MAX: usize = 64;
/// The most numbers that are kept as objects of Python.
const INTS_MAX: usize = 1 << 15;

/// A game that can be started: a built-in one, or one whose rules are written in Python.
#[pyclass(module = "referee_kit._native", frozen)]
#[derive(Debug)]
pub(crate) struct Rules {
    kind: GameKind,
    cache: Cache,
}

impl From<GameKind> for Rules {
    fn from(kind: GameKind) -> Self {
        Self { kind, cache: Cache::default() }
    }
}

#[pymethods]
impl Rules {
    /// Returns the names of the built-in games.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        GAMES.iter().map(|kind| kind.name).collect()
    }

    /// Returns a built-in game.
    #[staticmethod]
    fn built_in(name: &str) -> PyResult<Self> {
        kind(name).map(Self::from).ok_or_else(|| {
            let all: Vec<&str> = GAMES.iter().map(|kind| kind.name).collect();
            let near = nearest(name, all.iter().copied());
            let hint = near.map_or_else(
                || format!("the games are {}", all.join(", ")),
                |near| format!("did you mean {near:?}?"),
            );
            BadSetup::new_err(format!("unknown game {name:?}; {hint}"))
        })
    }

    /// Returns the game of a program: `answers` takes the line of a request and returns the line of the answer.
    #[staticmethod]
    fn of_program(answers: Py<PyAny>, name: &str, revision: u32) -> PyResult<Self> {
        let kind = rules::load(answers, name, revision);
        let kind = kind.map_err(|failure| failed(&failure))?;
        Ok(kind.into())
    }

    /// The name of the game.
    #[getter]
    fn name(&self) -> &'static str {
        self.kind.name
    }

    /// Returns what `referee games GAME --json` prints of the game.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &json!(self.kind.about()))
    }

    /// Starts a game. `setup` is a dictionary.
    fn start(&self, setup: &Bound<'_, PyAny>) -> PyResult<Game> {
        let setup = from_python(setup)?;
        let game = self.kind.start(&setup).map_err(|error| refused_setup(&error))?;
        let past = Some(Past::default());
        Ok(Game { game, arrays: OnceLock::new(), cache: self.cache.clone(), past })
    }

    /// Whether this started a game.
    fn _began(&self, game: &Game) -> bool {
        Arc::ptr_eq(&self.cache, &game.cache)
    }
}

fn refused_setup(error: &SetupError) -> PyErr {
    if let Some(interrupt) = rules::take_interrupt() {
        interrupt
    } else if error.rules_failed {
        RulesFailed::new_err(error.to_string())
    } else {
        BadSetup::new_err(format!("{error}; {}", error.help))
    }
}

pub(crate) fn failed(failure: &RulesFailure) -> PyErr {
    let failed = || RulesFailed::new_err(format!("the rules failed: {failure}"));
    rules::take_interrupt().unwrap_or_else(failed)
}

pub(crate) fn refused(refusal: &Refusal) -> PyErr {
    match refusal {
        Refusal::Failed(failure) => failed(failure),
        Refusal::Malformed(_) | Refusal::Illegal(_) => IllegalAction::new_err(refusal.to_string()),
    }
}

/// What is the same in all positions of a game.
#[derive(Debug)]
pub(crate) struct Arrays {
    numbering: Result<Numbering, String>,
    planes: Result<Planes, RulesFailure>,
    /// The numbers as Python's, so that lists of them are made quickly.
    ints: OnceLock<Vec<Py<PyInt>>>,
    symmetries: OnceLock<Vec<Symmetry>>,
    /// The usual start.
    start: Box<dyn AnyGame>,
}

/// What was made for games of one kind, by their setups.
type Cache = Arc<Mutex<BTreeMap<String, Arc<Arrays>>>>;

impl Arrays {
    fn new(kind: GameKind, setup: &Value) -> PyResult<Self> {
        let start = kind.start(setup).map_err(|error| refused_setup(&error))?;
        Ok(Self {
            numbering: Numbering::new(start.as_ref()),
            planes: Planes::new(start.as_ref()),
            ints: OnceLock::new(),
            symmetries: OnceLock::new(),
            start,
        })
    }

    /// Returns what was made for this setup before, or makes it.
    fn of(game: &dyn AnyGame, cache: &Cache) -> PyResult<Arc<Self>> {
        let mut setup = game.setup();
        if let Some(fields) = setup.as_object_mut() {
            fields.remove("position");
        }
        let key = setup.to_string();
        let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // Without the lock: rules in Python let other threads run.
        let made = Arc::new(Self::new(game.kind(), &setup)?);
        if let Some(interrupt) = rules::take_interrupt() {
            return Err(interrupt);
        }
        let mut cache = lock();
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        cache.insert(key, made.clone());
        Ok(made)
    }

    fn symmetries(&self) -> &[Symmetry] {
        self.symmetries.get_or_init(|| symmetries(self.start.as_ref()))
    }

    pub(crate) fn numbering(&self) -> PyResult<&Numbering> {
        self.numbering.as_ref().map_err(|why| PyValueError::new_err(why.clone()))
    }

    pub(crate) fn planes(&self) -> PyResult<&Planes> {
        self.planes.as_ref().map_err(failed)
    }
}

/// A game in progress.
#[pyclass(module = "referee_kit.games", subclass)]
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "it is a game, with what Python needs beside it")]
pub(crate) struct Game {
    pub(crate) game: Box<dyn AnyGame>,
    /// Looked up when they are first needed.
    arrays: OnceLock<Arc<Arrays>>,
    cache: Cache,
    /// `None` for a game of a batch.
    past: Option<Past>,
}

impl Game {
    /// Returns another game with the same setup.
    pub(crate) fn with(&self, game: Box<dyn AnyGame>, past: Option<Past>) -> Self {
        Self { game, arrays: self.arrays.clone(), cache: self.cache.clone(), past }
    }

    /// Keeps a move that was made.
    fn keep(&mut self, made: Made) {
        if let Some(past) = &mut self.past {
            past.add(made);
        }
    }

    fn picture(&self) -> PyResult<View> {
        self.game.view_or_failure().map_err(|failure| failed(&failure))
    }

    pub(crate) fn arrays(&self) -> PyResult<&Arc<Arrays>> {
        if let Some(arrays) = self.arrays.get() {
            return Ok(arrays);
        }
        let arrays = Arrays::of(self.game.as_ref(), &self.cache)?;
        Ok(self.arrays.get_or_init(|| arrays))
    }

    fn over(&self) -> Option<Outcome> {
        match self.game.turn() {
            Turn::Over(outcome) => Some(outcome),
            Turn::Of(_) | Turn::Chance(_) => None,
        }
    }

    fn seat(&self, seat: &Number) -> PyResult<Seat> {
        let found = Seat::all(self.game.seats()).nth(seat.index());
        found.ok_or_else(|| {
            let last = self.game.seats() - 1;
            PyIndexError::new_err(format!("there is no seat {seat}: they are 0 to {last}"))
        })
    }

    /// Fails if the rules of a game program have failed.
    fn checked<T>(&self, value: T) -> PyResult<T> {
        match (rules::take_interrupt(), self.game.failure()) {
            (Some(interrupt), _) => Err(interrupt),
            (None, Some(failure)) => Err(failed(failure)),
            (None, None) => Ok(value),
        }
    }
}

/// Returns the points of each seat for its place, and how many are a reward of 1: the seats that it beat less those that
/// beat it, so that all points add up to 0; alone 1 for a solved puzzle.
pub(crate) fn points(places: &[u32]) -> (Vec<i32>, i32) {
    if let [place] = places[..] {
        return (vec![i32::from(place == 1)], 1);
    }
    let point = |own: &u32| places.iter().map(|other| other.cmp(own) as i32).sum();
    let others = places.len().saturating_sub(1);
    (places.iter().map(point).collect(), i32::try_from(others).unwrap_or(i32::MAX))
}

/// How many plies are counted between two looks at signals.
const PERFT_ALONE: u32 = 3;

/// Counts the sequences of `depth` actions and draws from here.
fn count(game: &dyn AnyGame, depth: u32, signals: &Signals) -> PyResult<u64> {
    signals.look()?;
    if depth <= PERFT_ALONE {
        return game.perft(depth).map_err(|refusal| refused(&refusal));
    }
    let after = |step: &dyn Fn(&mut dyn AnyGame) -> Result<(), Refusal>| {
        let mut next = game.clone_box();
        step(next.as_mut()).map_err(|refusal| refused(&refusal))?;
        count(next.as_ref(), depth - 1, signals)
    };
    if let Turn::Chance(chance) = game.turn() {
        return chance.possible().map(|outcome| after(&|next| next.draw(outcome))).sum();
    }
    let actions = game.actions();
    if actions.is_empty() {
        // Over, or the rules say why not.
        return game.perft(1).map_err(|refusal| refused(&refusal));
    }
    actions.iter().map(|action| after(&|next| next.play(action).map(drop))).sum()
}

/// The rewards for these places, as `Game.rewards` has them at the end of a game.
#[pyfunction]
#[pyo3(name = "rewards")]
pub(crate) fn rewards_of(places: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    // Before they are read, and each is compared with each.
    let count = places.len()?;
    if count > PLACES_MAX {
        return Err(PyValueError::new_err(format!(
            "a game has at most {PLACES_MAX} seats, not {count}"
        )));
    }
    let places: Vec<Number> = places.extract()?;
    let place = |place: &Number| {
        let number = place.within("a place", 0..=u32::MAX as usize)?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    };
    let places: PyResult<Vec<u32>> = places.iter().map(place).collect();
    Ok(rewards(&places?))
}

fn rewards(places: &[u32]) -> Vec<f64> {
    let (points, most) = points(places);
    points.into_iter().map(|own| f64::from(own) / f64::from(most)).collect()
}

#[pymethods]
impl Game {
    /// The name of the game.
    #[getter]
    fn name(&self) -> &'static str {
        self.game.kind().name
    }

    /// The setup with all its fields.
    #[getter]
    fn setup<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.game.setup())
    }

    /// The number of seats.
    #[getter]
    fn seats(&self) -> usize {
        self.game.seats()
    }

    /// The colour of each seat now.
    #[getter]
    fn colours(&self) -> PyResult<Vec<String>> {
        let colours = self.game.current_colours();
        self.checked(colours)
    }

    /// The number of the turn, from 0.
    #[getter]
    fn turn(&self) -> u64 {
        self.game.turn_number()
    }

    /// The seat to move, from 0; None when the game is over or a draw is next.
    #[getter]
    fn to_move(&self) -> Option<u8> {
        match self.game.turn() {
            Turn::Of(seat) => Some(seat.0),
            Turn::Over(_) | Turn::Chance(_) => None,
        }
    }

    /// The draw that is next, as {"weights": [..], "labels": [..]}; else None.
    #[getter]
    fn chance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Turn::Chance(chance) = self.game.turn() else { return Ok(None) };
        let chance = json!({"weights": chance.weights, "labels": chance.labels});
        to_python(py, &chance).map(Some)
    }

    /// Whether the game has ended.
    fn is_over(&self) -> bool {
        self.over().is_some()
    }

    /// The seat that alone has place 1; None before the end and after a draw.
    fn winner(&self) -> Option<usize> {
        let places = self.over()?.places;
        let mut first = (0..).zip(&places).filter(|(_, place)| **place == 1);
        match (first.next(), first.next()) {
            (Some((seat, _)), None) => Some(seat),
            _ => None,
        }
    }

    /// The end: {"places": [..], "scores": [..] or None, "reason": str, "text": str}; None before it.
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(outcome) = self.over() else { return Ok(None) };
        let kind = self.game.kind();
        let record = kind.program().map(Program::record);
        let text = reason_text(kind.name, record, &self.game.setup(), &outcome.reason);
        let Outcome { places, scores, reason } = outcome;
        let end = json!({"places": places, "scores": scores, "reason": reason, "text": text});
        to_python(py, &end).map(Some)
    }

    /// The reward of each seat, -1 to 1; zeros before the end.
    fn rewards(&self) -> Vec<f64> {
        let outcome = self.over();
        outcome.map_or_else(|| vec![0.0; self.game.seats()], |outcome| rewards(&outcome.places))
    }

    /// Every legal action as a dictionary, in the order of the rules; none when the game is over.
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let actions = self.checked(self.game.actions())?;
        to_python(py, &Value::Array(actions))
    }

    /// Plays an action: a dictionary, or its text. Returns the action as it is recorded.
    fn play<'py>(
        &mut self,
        py: Python<'py>,
        action: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let action = self.read(action)?;
        let recorded = self.game.play(&action).map_err(|refusal| refused(&refusal))?;
        let shown = to_python(py, &recorded)?;
        self.keep(Made::Play(recorded));
        Ok(shown)
    }

    /// Returns a copy of the game in which the action was played.
    fn after(&self, action: &Bound<'_, PyAny>) -> PyResult<Self> {
        let action = self.read(action)?;
        let mut next = self.copy();
        let recorded = next.game.play(&action).map_err(|refusal| refused(&refusal))?;
        next.keep(Made::Play(recorded));
        Ok(next)
    }

    /// Returns an independent copy.
    pub(crate) fn copy(&self) -> Self {
        self.with(self.game.clone(), self.past.clone())
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    /// Plays the outcome of a draw, by its number in `chance`.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn draw(&mut self, outcome: Number) -> PyResult<()> {
        if let (Number::Out(_), Turn::Chance(chance)) = (&outcome, self.game.turn()) {
            let count = chance.weights.len();
            let text = format!("{outcome} is none of {count} outcomes to draw");
            return Err(IllegalAction::new_err(text));
        }
        let outcome = outcome.index();
        self.game.draw(outcome).map_err(|refusal| refused(&refusal))?;
        self.keep(Made::Draw(outcome));
        Ok(())
    }

    /// Takes a seat out of a game of three or more seats: its turns are passed over.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn retire(&mut self, seat: Number) -> PyResult<()> {
        let seat = self.seat(&seat)?;
        if self.game.seats() < 3 || self.over().is_some() {
            return Err(PyValueError::new_err(
                "a seat can be retired only while three or more seats play",
            ));
        }
        self.game.retire(seat);
        self.checked(())?;
        self.keep(Made::Retire(seat.index()));
        Ok(())
    }

    /// The position as in the message `turn`, and as `setup["position"]` takes it.
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let position = self.game.position();
        to_python(py, &self.checked(position)?)
    }

    /// Remarks for people, such as that a puzzle can't be solved.
    fn notes(&self) -> PyResult<Vec<String>> {
        let notes = self.game.notes();
        self.checked(notes)
    }

    /// How good the position is for a seat, in units of the game: larger is better. None if the rules don't say.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn estimate(&self, seat: Number) -> PyResult<Option<i64>> {
        let seat = self.seat(&seat)?;
        if self.over().is_some() {
            return Err(PyValueError::new_err("the game is over: see outcome()"));
        }
        let estimate = self.game.estimated(seat);
        self.checked(estimate)
    }

    /// The number of sequences of `depth` legal actions from here.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn perft(&self, py: Python<'_>, depth: Number) -> PyResult<u64> {
        let depth = depth.within("the depth", 0..=PERFT_MAX)?;
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let game = self.game.as_ref();
        py.detach(|| count(game, depth, &Signals::new()))
    }

    /// The board as text.
    #[pyo3(signature = (coordinates=true, legend=false))]
    fn text(&self, coordinates: bool, legend: bool) -> PyResult<String> {
        Ok(terminal(&self.picture()?, &Style { coordinates, legend, ..Style::default() }))
    }

    /// What the picture of the board shows: see `View`.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = self.picture()?;
        let fields = to_python(py, &view_json(&view))?;
        let class = py.import("referee_kit.games")?.getattr("View")?;
        class.call1((fields, referee_render::position(&view)))
    }

    /// The board as a picture, in SVG.
    fn svg(&self) -> PyResult<String> {
        Ok(referee_render::position(&self.picture()?))
    }

    fn _repr_svg_(&self) -> PyResult<String> {
        self.svg()
    }

    fn __str__(&self) -> PyResult<String> {
        self.text(true, true)
    }

    /// The setup of its start, and the methods that were called since, each with its argument.
    fn _past<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
        let mut setup = self.game.setup();
        let moves = match (&self.past, setup.as_object_mut()) {
            (None, Some(fields)) => {
                fields.insert("position".to_owned(), self.game.origin());
                Vec::new()
            }
            (past, _) => past.as_ref().map_or(Ok(Vec::new()), |past| past.moves(py))?,
        };
        Ok((to_python(py, &setup)?, PyList::new(py, moves)?))
    }

    fn __repr__(&self) -> String {
        let state = match self.game.turn() {
            Turn::Of(seat) => format!("seat {seat} to move"),
            Turn::Over(outcome) => format!("over: {}", outcome.reason),
            Turn::Chance(_) => "a draw is next".to_owned(),
        };
        format!("<Game {} at turn {}, {state}>", self.game.kind().name, self.game.turn_number())
    }

    /// An action's text, such as c4.
    fn format(&self, action: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.game.format_action(&from_python(action)?))
    }

    /// The action with this text, legal or not.
    fn parse<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.game.parse_action(text).map_err(IllegalAction::new_err)?)
    }

    /// The numbers of the legal actions, in the order of `actions()`.
    fn legal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let arrays = self.arrays()?;
        let numbering = arrays.numbering()?;
        let numbers = self.game.legal_numbers(numbering).map_err(|failure| failed(&failure))?;
        if numbering.total() > INTS_MAX {
            return PyList::new(py, numbers);
        }
        let ints = arrays.ints.get_or_init(|| {
            let int = |number: usize| {
                let Ok(int) = number.into_pyobject(py);
                int.unbind()
            };
            (0..numbering.total()).map(int).collect()
        });
        PyList::new(py, numbers.iter().map(|&number| &ints[number]))
    }

    /// Plays the action with this number.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn play_number(&mut self, number: Number) -> PyResult<()> {
        self.arrays()?;
        let numbering = self.arrays.get().expect("they were just made").numbering()?;
        let Number::In(number) = number else {
            return Err(IllegalAction::new_err(no_number(&number, numbering)));
        };
        self.game.play_number(number, numbering).map_err(|refusal| refused(&refusal))?;
        self.keep(Made::PlayNumber(number));
        Ok(())
    }

    /// The action with this number, legal or not. It may lack what the rules complete.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn action<'py>(&self, py: Python<'py>, number: Number) -> PyResult<Bound<'py, PyAny>> {
        let numbering = self.arrays()?.numbering()?;
        let action = self.game.numbered_action(number.index(), numbering);
        let action = action.ok_or_else(|| PyIndexError::new_err(no_number(&number, numbering)))?;
        to_python(py, &action)
    }

    /// The number of an action: a dictionary, or its text.
    fn number(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        let action = self.read(action)?;
        let number = self.game.number_of(&action, self.arrays()?.numbering()?);
        number.ok_or_else(|| {
            let why = self.game.malformed(&action);
            let why = why.unwrap_or_else(|| "it is off the board, or not complete".to_owned());
            IllegalAction::new_err(format!("the action has no number: {why}"))
        })
    }

    /// How many numbers of actions there are.
    #[getter]
    fn numbers(&self) -> PyResult<usize> {
        Ok(self.arrays()?.numbering()?.total())
    }

    /// How actions are numbered: for each kind its type, the number of its first action, and the names of the fields
    /// with the number of values of each. The last field counts fastest.
    fn action_kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let kind = |kind: &NumberedKind| {
            let fields = kind.fields.iter().map(|field| (&field.name, field.count));
            (&kind.name, kind.first, fields.collect::<Vec<_>>()).into_pyobject(py)
        };
        let kinds = self.arrays()?.numbering()?.kinds().iter().map(kind);
        PyList::new(py, kinds.collect::<PyResult<Vec<_>>>()?)
    }

    /// A numpy array of `numbers` bytes (int8): 1 for each legal action, else 0.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numbering = self.arrays()?.numbering()?;
        let legal = self.game.legal_numbers(numbering).map_err(|failure| failed(&failure))?;
        let mask = PyByteArray::new_with(py, numbering.total(), |mask| {
            for number in legal {
                mask[number] = 1;
            }
            Ok(())
        })?;
        array(&mask, "int8")
    }

    /// The names of the planes.
    fn plane_names(&self) -> PyResult<Vec<String>> {
        Ok(self.arrays()?.planes()?.names())
    }

    /// The number of planes, of their rows and of their columns.
    #[getter]
    fn plane_shape(&self) -> PyResult<(usize, usize, usize)> {
        let [planes, rows, columns] = self.arrays()?.planes()?.shape();
        Ok((planes, rows, columns))
    }

    /// The position as a seat sees it, by default the seat to move: a numpy array (float32) of the shape
    /// `plane_shape`, of numbers from 0 to 1.
    #[pyo3(signature = (seat=None))]
    fn planes<'py>(&self, py: Python<'py>, seat: Option<Number>) -> PyResult<Bound<'py, PyAny>> {
        let seat = seat.or_else(|| self.to_move().map(|seat| Number::In(seat.into())));
        let seat = seat.ok_or_else(|| PyValueError::new_err("nobody is to move: name a seat"))?;
        let seat = self.seat(&seat)?;
        let planes = self.arrays()?.planes()?;
        let mut floats = vec![0.0_f32; planes.len()];
        let written = planes.write(self.game.as_ref(), seat, &mut floats);
        written.map_err(|failure| failed(&failure))?;
        self.checked(())?;
        let flat = array(&bytes_of(py, &floats), "float32")?;
        flat.call_method1("reshape", (self.plane_shape()?,))
    }

    /// The cells of the board in their order.
    #[getter]
    fn cells(&self) -> PyResult<Vec<(i8, i8)>> {
        let cells = &self.arrays()?.planes()?.index().cells;
        Ok(cells.iter().map(|cell| (cell.0, cell.1)).collect())
    }

    /// The place of each cell in a plane, counted row by row.
    fn _places(&self) -> PyResult<Vec<usize>> {
        let index = self.arrays()?.planes()?.index();
        Ok(index.cells.iter().filter_map(|&cell| index.place(cell)).collect())
    }

    /// The symmetries: for each the number of the cell that each cell becomes, the seat whose part each seat takes, and
    /// the number of the action that each action becomes.
    fn _symmetries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let arrays = self.arrays()?;
        let numbering = arrays.numbering()?;
        let symmetry = |symmetry: &Symmetry| {
            let dict = PyDict::new(py);
            dict.set_item("cells", &symmetry.cells)?;
            dict.set_item("seats", &symmetry.seats)?;
            dict.set_item("actions", numbering.moved(&symmetry.cells))?;
            Ok(dict)
        };
        let all: PyResult<Vec<_>> = arrays.symmetries().iter().map(symmetry).collect();
        PyList::new(py, all?)
    }
}

impl Game {
    /// Reads an action: text if it is a str.
    fn read(&self, action: &Bound<'_, PyAny>) -> PyResult<Value> {
        match action.cast::<PyString>() {
            Ok(text) => self.game.parse_action(&text.to_cow()?).map_err(IllegalAction::new_err),
            Err(_) => from_python(action),
        }
    }
}

/// What `play_number` says of numbers that fit.
fn no_number(number: &Number, numbering: &Numbering) -> String {
    let last = numbering.total().saturating_sub(1);
    format!("no action has the number {number}: they are 0 to {last}")
}

/// Returns bytes as a numpy array that may be changed.
pub(crate) fn array<'py>(bytes: &Bound<'py, PyByteArray>, of: &str) -> PyResult<Bound<'py, PyAny>> {
    let numpy = bytes.py().import("numpy").map_err(|error| {
        let needed = PyImportError::new_err("arrays need numpy: pip install numpy");
        needed.set_cause(bytes.py(), Some(error));
        needed
    })?;
    numpy.call_method1("frombuffer", (bytes, of))
}

/// Returns numbers as the bytes that numpy reads as float32.
pub(crate) fn bytes_of<'py>(py: Python<'py>, floats: &[f32]) -> Bound<'py, PyByteArray> {
    let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_ne_bytes()).collect();
    PyByteArray::new(py, &bytes)
}
