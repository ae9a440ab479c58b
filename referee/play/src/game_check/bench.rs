//! What a check asks: two processes of the program, and the random games.

use super::causes::known_again;
use super::games::{Case, Failed, Game, Kept};
use super::{Draw, Problem};
use crate::game_program::{Direct, Said};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use referee_games::board::Cell as BoardCell;
use referee_games::program::{Program, RulesFailure, check_walk_answer};
use referee_games::wire::{
    Answer, At, Described, From as Begin, Move, Ply, PlyTurn, Refused, Request, SetupForm,
    StateJson, Values, Walk, Walked, Want,
};
use referee_process::Failure;
use referee_protocol::Seat;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Everything that a ply can have.
pub(super) const EVERYTHING: [Want; 8] = [
    Want::Actions,
    Want::Position,
    Want::View,
    Want::Notes,
    Want::Estimate,
    Want::Seen,
    Want::Told,
    Want::Views,
];
/// The most moves of a random game.
const MOVES_MAX: usize = 2000;
/// A game is not played on once its states and lists of actions take this many bytes.
const GAME_BYTES_MAX: usize = 8 << 20;
/// The most bytes of all games that are kept; others are played again.
const GAMES_BYTES_MAX: usize = 32 << 20;
/// How many setups are tried if the rules refuse some.
const SETUPS_TRIED: usize = 10;
/// How many actions are tried at a position where none are listed.
const TRIED: usize = 200;
/// The most bytes of answers to actions that are kept.
const ACTED_BYTES_MAX: usize = 16 << 20;

/// A walk that was played: the answer as read, and its line.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) walked: Walked,
    line: Vec<u8>,
}

impl Played {
    /// The last ply.
    pub(super) fn last(&self) -> Result<&Ply, Problem> {
        self.walked.plies.last().ok_or_else(no_plies)
    }

    /// The answer as it was written.
    pub(super) fn raw(&self) -> Value {
        serde_json::from_slice(&self.line).unwrap_or_default()
    }

    /// The last ply as it was written.
    pub(super) fn raw_last(&self) -> Value {
        let last = self.raw()["plies"].as_array_mut().and_then(Vec::pop);
        last.unwrap_or_default()
    }
}

fn no_plies() -> Problem {
    RulesFailure("`walked` has no `plies`".to_owned()).into()
}

/// A random game, or why it could not begin.
type Begun = Result<Rc<Game>, Box<Problem>>;

/// What playing an action led to.
type Acted = Rc<Result<Played, Refused>>;

/// Two processes of a program with different hash seeds, and what is known of the game.
pub struct Bench<'a> {
    pub(super) folder: PathBuf,
    pub(super) processes: [Direct; 2],
    pub(super) program: Program,
    pub(super) described: Described,
    pub(super) draw: Draw<'a>,
    seed: u64,
    games: RefCell<BTreeMap<u64, Begun>>,
    notes: RefCell<BTreeMap<&'static str, String>>,
    acted: RefCell<HashMap<String, Acted>>,
    acted_bytes: Cell<usize>,
    /// When the check ends, and when the row that runs should.
    until: Cell<Instant>,
    row_until: Cell<Instant>,
    /// The failures that rows have reported, and the rows.
    failures: RefCell<BTreeMap<String, &'static str>>,
    /// How the random games ended.
    pub(super) endings: RefCell<BTreeSet<String>>,
    /// The unusual values of the setup that a random game had, or that were refused.
    met: RefCell<Vec<(String, Value)>>,
    /// The moves of the longest walk that was timed.
    pub(super) longest: Cell<usize>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl<'a> Bench<'a> {
    /// Prepares the two processes and asks the first one what the game is. The inner error says that it doesn't
    /// describe itself. After `time` nothing more is asked.
    pub fn begin(
        folder: &Path,
        seed: u64,
        time: Duration,
        draw: Draw<'a>,
    ) -> Result<Result<Self, Box<Problem>>, Failure> {
        let began = Instant::now();
        let process = |seed: &str| Direct::prepare(folder, &[("PYTHONHASHSEED", seed)]);
        let processes = [process("1")?, process("2")?];
        let described = processes[0].describe().and_then(|program| {
            let described = serde_json::from_value(program.record().described.clone());
            Ok((program, described.map_err(|error| RulesFailure(error.to_string()))?))
        });
        Ok(match described {
            Ok((program, described)) => Ok(Self {
                folder: folder.to_owned(),
                processes,
                program,
                described,
                draw,
                seed,
                games: RefCell::default(),
                notes: RefCell::default(),
                acted: RefCell::default(),
                acted_bytes: Cell::default(),
                until: Cell::new(began + time),
                row_until: Cell::new(began + time),
                failures: RefCell::default(),
                endings: RefCell::default(),
                met: RefCell::default(),
                longest: Cell::default(),
            }),
            Err(failure) => Err(Box::new(failure.into())),
        })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Keeps what a row has measured.
    pub(super) fn keep_note(&self, row: &'static str, note: String) {
        self.notes.borrow_mut().insert(row, note);
    }

    pub(super) fn note(&self, row: &str) -> Option<String> {
        self.notes.borrow().get(row).cloned()
    }

    /// Returns the earlier row that has reported the failure of this problem.
    pub(super) fn reported(&self, problem: &Problem) -> Option<&'static str> {
        self.failures.borrow().get(&known_again(&problem.what)?).copied()
    }

    /// Keeps that a row reports the failure of this problem.
    pub(super) fn report(&self, row: &'static str, problem: &Problem) {
        if let Some(failure) = known_again(&problem.what) {
            self.failures.borrow_mut().insert(failure, row);
        }
    }

    /// Begins one of so many rows that are left: each gets as much of the time.
    pub(super) fn begin_row(&self, left: usize) {
        let now = Instant::now();
        let share = self.until.get().saturating_duration_since(now);
        self.row_until.set(now + share / u32::try_from(left.max(1)).unwrap_or(u32::MAX));
    }

    /// Whether the row has used its time, and should test no more games.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.row_until.get()
    }

    /// Whether the check has used its time, and is asked nothing more.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until.get()
    }

    /// Does work that is asked nothing more after this time; what it asked last may have no answer then.
    pub(super) fn within<T>(&self, time: Duration, work: impl FnOnce() -> T) -> T {
        let usual = (self.until.get(), self.row_until.get());
        let until = usual.0.min(Instant::now() + time);
        self.until.set(until);
        self.row_until.set(until);
        let done = work();
        if self.is_over() {
            // They may have been cut short.
            self.games.borrow_mut().clear();
        }
        self.until.set(usual.0);
        self.row_until.set(usual.1);
        done
    }

    /// Begins again with new processes, and without what the old ones have said.
    pub(super) fn forget(&self) {
        self.processes.iter().for_each(Direct::restart);
        self.games.borrow_mut().clear();
        self.acted.borrow_mut().clear();
        self.acted_bytes.set(0);
    }

    /// Names the declared reasons for which none of so many random games ended.
    pub(super) fn unseen_endings(&self, games: usize) -> Option<String> {
        let seen = self.endings.borrow();
        let reasons = self.described.reasons.iter().map(|reason| reason.name.clone());
        let unseen: Vec<String> = reasons.filter(|reason| !seen.contains(reason)).collect();
        let can_leave = self.described.seats.iter().any(|&seats| seats > 2);
        let stay = if can_leave { "; in these no seat leaves" } else { "" };
        untested(games, "ended by", &unseen).map(|note| note + stay)
    }

    /// Sends a request to a process.
    pub(super) fn say(&self, process: usize, request: Value) -> Result<Said, Problem> {
        if self.is_over() {
            return Err(Problem::time_up());
        }
        Ok(self.processes[process].ask(request)?)
    }

    /// Sends a walk to a process. The inner error is a refusal.
    pub(super) fn ask(
        &self,
        process: usize,
        walk: &Value,
    ) -> Result<Result<Played, Refused>, Problem> {
        let Said { line, answer } = self.say(process, walk.clone())?;
        let moves = walk["moves"].as_array().into_iter().flatten();
        let are_actions: Vec<bool> = moves.map(|step| step.get("action").is_some()).collect();
        let at = if walk["at"] == "all" { At::All } else { At::End };
        check_walk_answer(&are_actions, at, walk.get("setup").is_some(), &answer)?;
        match answer {
            Answer::Walked(mut walked) => {
                if self.described.simultaneous {
                    walked.plies.iter_mut().try_for_each(of_the_first)?;
                }
                Ok(Ok(Played { walked, line }))
            }
            Answer::Refused(refused) => Ok(Err(refused)),
            _ => unreachable!("it was checked"),
        }
    }

    /// Asks the first process for one ply after a move, or with none for the same ply.
    pub(super) fn after(
        &self,
        ply: &Ply,
        moves: &[Move],
        want: &[Want],
    ) -> Result<Result<Played, Refused>, Problem> {
        self.ask(0, &from_state(&ply.state, moves, want, At::End))
    }

    /// Asks the first process to play an action at a ply. Equal questions are asked once: several rows have them, and
    /// whether answers stay equal is for another row.
    pub(super) fn act(&self, ply: &Ply, seat: Seat, action: &Value) -> Result<Acted, Problem> {
        let step = Move::Action { seat, action: action.clone() };
        let request = from_state(&ply.state, &[step], &[], At::End);
        let key = request.to_string();
        if let Some(known) = self.acted.borrow().get(&key) {
            return Ok(known.clone());
        }
        let answer = Rc::new(self.ask(0, &request)?);
        let mut acted = self.acted.borrow_mut();
        // The state is in the line and in what was read of it.
        let bytes = key.len() + answer.as_ref().as_ref().map_or(0, |played| 2 * played.line.len());
        let mut sum = self.acted_bytes.get() + bytes;
        if sum > ACTED_BYTES_MAX {
            acted.clear();
            sum = bytes;
        }
        self.acted_bytes.set(sum);
        acted.insert(key, answer.clone());
        Ok(answer)
    }

    /// Asks the first process for everything about a ply.
    pub(super) fn full(&self, ply: &Ply) -> Result<Played, Problem> {
        self.after(ply, &[], &EVERYTHING)?.map_err(|refused| refused_state(&refused))
    }

    /// Returns the game with this number.
    pub(super) fn game(&self, number: u64) -> Begun {
        if let Some(known) = self.games.borrow().get(&number) {
            return known.clone();
        }
        let game = self.play(number).map(Rc::new).map_err(Box::new);
        let mut games = self.games.borrow_mut();
        games.insert(number, game.clone());
        let bytes = |game: &Begun| game.as_ref().map_or(0, |game| game.bytes());
        let mut sum: usize = games.values().map(bytes).sum();
        while sum > GAMES_BYTES_MAX
            && let Some((_, gone)) = games.pop_first()
        {
            sum -= bytes(&gone);
        }
        game
    }

    /// Returns the generator of random choices for a game and a purpose.
    pub(super) fn chooser(&self, number: u64, purpose: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.seed ^ number.rotate_left(20) ^ purpose.rotate_left(50))
    }

    fn play(&self, number: u64) -> Result<Game, Problem> {
        let mut chosen = self.chooser(number, 0);
        let mut refusal = None;
        let unusual = self.unusual();
        // Each game but the first has one of them.
        let index = number.checked_sub(1).map(|it| it % unusual.len().max(1) as u64);
        let own = index.and_then(|it| unusual.get(usize::try_from(it).ok()?));
        self.met.borrow_mut().extend(own.cloned());
        for left in (0..SETUPS_TRIED).rev() {
            // Others have the usual setup, too, if theirs are refused.
            let mut setup = self.setup(if left < 2 { 0 } else { number }, &mut chosen);
            if let Some((name, value)) = own.filter(|_| left > 0) {
                setup[name] = value.clone();
            }
            self.met
                .borrow_mut()
                .extend(unusual.iter().filter(|(name, value)| setup[name] == *value).cloned());
            match self.ask(0, &from_setup(&setup, &[], &[Want::Actions], At::End))? {
                Ok(played) => {
                    self.check_seats(&setup, &played.walked.seats)?;
                    let seats = played.walked.seats.len();
                    let plies = played.walked.plies.into_iter().map(Kept::new).collect();
                    let mut game = Game { number, setup, seats, plies, ..Game::default() };
                    self.play_on(&mut game, &mut chosen);
                    return Ok(game);
                }
                Err(refused) => refusal = Some(refused),
            }
        }
        let rule = refusal.map(|refused| refused.rule).unwrap_or_default();
        let what = format!("the usual setup is refused: {rule}");
        let why = "`start` refuses the defaults of the setup fields";
        Err(Problem::new(what, why, "give the fields defaults with which the game can begin"))
    }

    /// Checks what a game says that its seats play.
    fn check_seats(&self, setup: &Value, seats: &[String]) -> Result<(), Problem> {
        const IN_PYTHON: &str = "in Python, `sides(setup)` (or else `seats`) returns the pieces, and `seat_counts` the \
                                 possible numbers";
        let (count, counts) = (seats.len(), &self.described.seats);
        if !counts.iter().any(|&it| usize::from(it) == count) {
            return Err(Problem::new(
                format!("a game has {count} seats ({}), but `describe` says {counts:?}", seats.join(", ")),
                "`seats` of the first answer has the piece of each seat; how many there can be is in the description",
                IN_PYTHON,
            )
            .showing(format!("setup {setup}")));
        }
        let asked = setup["seats"].as_u64().filter(|&asked| asked != count as u64);
        if let Some(asked) = asked {
            return Err(Problem::new(
                format!("the setup asks for {asked} seats, and the game has {count}"),
                "the setup's field `seats` chooses how many there are",
                IN_PYTHON,
            ));
        }
        let is_known = |seat: &&String| self.described.pieces.iter().any(|it| it.name == **seat);
        match seats.iter().find(|seat| !is_known(seat)) {
            Some(unknown) => Err(Problem::new(
                format!("a seat plays `{unknown}`, which is not one of the pieces"),
                "`seats` of the first answer has names of `pieces` in the description",
                "describe that piece, or name another",
            )),
            None => Ok(()),
        }
    }

    /// Returns the fields of the setup with the values that games have in turn: of integers the smallest and the largest,
    /// of others all, but not the defaults.
    fn unusual(&self) -> Vec<(String, Value)> {
        let values = |field: &SetupForm| {
            let mut all = match &field.values {
                Values::Integer { min, max } => vec![json!(min), json!(max)],
                Values::Choice { values } => values.iter().map(|value| json!(value)).collect(),
                Values::Boolean => vec![json!(false), json!(true)],
                _ => Vec::new(),
            };
            all.retain(|value| *value != field.default);
            all
        };
        let named = |field: &SetupForm| {
            let name = field.name.clone();
            values(field).into_iter().map(move |value| (name.clone(), value)).collect::<Vec<_>>()
        };
        self.described.setup.iter().flat_map(named).collect()
    }

    /// Names the values of the setup that none of so many random games had.
    pub(super) fn unmet_setups(&self, games: usize) -> Option<String> {
        let met = self.met.borrow();
        let unmet = self.unusual().into_iter().filter(|it| !met.contains(it));
        let unmet: Vec<String> = unmet.map(|(name, value)| format!("{name}={value}")).collect();
        untested(games, "had", &unmet)
    }

    /// Returns a setup: the usual one as the first, then the smallest, then random ones.
    fn setup(&self, number: u64, chosen: &mut ChaCha8Rng) -> Value {
        let mut setup = Map::new();
        for field in &self.described.setup {
            let value = match &field.values {
                _ if number == 0 => None,
                // So that seats can retire.
                Values::Integer { max, .. } if field.name == "seats" && number % 2 == 1 => {
                    Some(json!(max))
                }
                Values::Integer { min, .. } if number == 1 => Some(json!(min)),
                Values::Integer { min, max } if chosen.random_bool(0.5) => {
                    Some(json!(chosen.random_range(*min..=*max)))
                }
                Values::Choice { values } => values.choose(chosen).map(|value| json!(value)),
                Values::Boolean => Some(json!(chosen.random_bool(0.5))),
                _ => None,
            };
            setup.insert(field.name.clone(), value.unwrap_or_else(|| field.default.clone()));
        }
        setup.into()
    }

    /// Plays at random until the end, or until the rules fail.
    fn play_on(&self, game: &mut Game, chosen: &mut ChaCha8Rng) {
        let plies_max = usize::try_from(self.described.plies_max).unwrap_or(MOVES_MAX);
        let mut bytes = 0;
        let Some(mut ply) = game.plies.last().map(Kept::ply) else { return };
        while game.moves.len() < MOVES_MAX.min(plies_max.saturating_add(1))
            && bytes < GAME_BYTES_MAX
            && !self.is_late()
        {
            let (step, recorded, after) = match self.step(&ply, chosen) {
                Ok(Some(played)) => played,
                Ok(None) => return,
                Err(failed) => {
                    game.failed = Some(*failed);
                    return;
                }
            };
            let kept = Kept::new(after.clone());
            bytes += kept.bytes();
            game.moves.push(step);
            game.recorded.push(recorded);
            game.plies.push(kept);
            ply = after;
        }
    }

    /// Plays one random move, and returns it with what was recorded of it; `None` if there is none. Fails if the rules
    /// fail at an action: draws have a row of their own.
    pub(super) fn step(
        &self,
        ply: &Ply,
        chosen: &mut ChaCha8Rng,
    ) -> Result<Option<(Move, Value, Ply)>, Box<Failed>> {
        let candidates: Vec<Move> = match &ply.turn {
            PlyTurn::Over(_) => return Ok(None),
            PlyTurn::Chance(chance) => {
                let possible: Vec<usize> = chance.possible().collect();
                possible.choose(chosen).map(|&draw| Move::Draw { draw }).into_iter().collect()
            }
            PlyTurn::Of(seats) => {
                let seat = seats[0];
                let listed = ply.actions.as_deref().unwrap_or_default();
                let mut actions: Vec<Value> = listed.sample(chosen, 5).cloned().collect();
                if ply.actions.is_none() {
                    actions = self.guessed(ply, chosen);
                }
                actions.into_iter().map(|action| Move::Action { seat, action }).collect()
            }
        };
        for step in candidates {
            match self.after(ply, std::slice::from_ref(&step), &[Want::Actions]) {
                Ok(Ok(Played { mut walked, .. })) => {
                    let after = walked.recorded.pop().zip(walked.plies.pop());
                    return Ok(after.map(|(recorded, ply)| (step, recorded, ply)));
                }
                Ok(Err(_)) => {}
                Err(problem) if problem.is_time_up() || matches!(step, Move::Draw { .. }) => {
                    return Ok(None);
                }
                Err(problem) => return Err(Box::new(Failed { step, problem })),
            }
        }
        Ok(None)
    }

    /// Returns actions that may be legal at a ply where none are listed.
    pub(super) fn guessed(&self, ply: &Ply, chosen: &mut ChaCha8Rng) -> Vec<Value> {
        let cells = self.cells(ply);
        let mut below = |bound: usize| chosen.random_range(0..bound.max(1));
        (0..TRIED).map(|_| self.program.guess(&[], &cells, &mut below)).collect()
    }

    /// Returns the cells of the board at a ply.
    pub(super) fn cells(&self, ply: &Ply) -> Vec<BoardCell> {
        let played = self.after(ply, &[], &[Want::View]).ok().and_then(Result::ok);
        let ply = played.and_then(|played| played.walked.plies.into_iter().next());
        let view = ply.and_then(|ply| self.program.picture(&ply.view?).ok());
        view.map(|view| view.shape.cells()).unwrap_or_default()
    }

    /// Returns an action of a random form with small random values.
    pub(super) fn random_action(&self, chosen: &mut ChaCha8Rng) -> Option<Value> {
        let form = self.described.actions.choose(chosen)?;
        let mut action = Map::new();
        action.insert("type".to_owned(), form.kind.clone().into());
        for field in &form.fields {
            if field.optional && chosen.random_bool(0.5) {
                continue;
            }
            let mut cell = || json!([chosen.random_range(-1..12), chosen.random_range(-1..12)]);
            let value = match &field.values {
                Values::Cell => cell(),
                Values::Cells => json!([cell(), cell()]),
                Values::Integer { min, max } => json!(chosen.random_range(*min..=*max)),
                Values::Choice { values } => json!(values.choose(chosen)?),
                Values::String { .. } => form.example.get(&field.name).cloned()?,
                Values::Boolean => json!(chosen.random_bool(0.5)),
            };
            action.insert(field.name.clone(), value);
        }
        Some(action.into())
    }

    /// Plays the moves of a case again, each action by the seat whose turn it is. `None` if they can't be played.
    pub(super) fn replayed(&self, case: &Case) -> Option<Game> {
        let first = from_setup(&case.setup, &[], &[Want::Actions], At::End);
        let first = self.ask(0, &first).ok()?.ok()?;
        let seats = first.walked.seats.len();
        let mut game = Game { setup: case.setup.clone(), seats, ..Game::default() };
        game.plies = first.walked.plies.into_iter().map(Kept::new).collect();
        for step in &case.moves {
            let ply = &game.plies.last()?.ply();
            let step = match (step, &ply.turn) {
                (Move::Action { action, .. }, PlyTurn::Of(seats)) => {
                    Move::Action { seat: *seats.first()?, action: action.clone() }
                }
                (Move::Draw { .. }, PlyTurn::Chance(_)) => step.clone(),
                _ => return None,
            };
            let played =
                self.after(ply, std::slice::from_ref(&step), &[Want::Actions]).ok()?.ok()?;
            let mut walked = played.walked;
            game.recorded.push(walked.recorded.pop()?);
            game.plies.push(Kept::new(walked.plies.pop()?));
            game.moves.push(step);
        }
        Some(game)
    }
}

/// Keeps the actions of the first seat to move: random games have it play first, and `choices` asks for the others'.
fn of_the_first(ply: &mut Ply) -> Result<(), Problem> {
    let (Some(lists), PlyTurn::Of(seats)) = (&mut ply.actions, &ply.turn) else { return Ok(()) };
    let (count, first) = (lists.len(), lists.first().and_then(Value::as_array));
    match first {
        Some(first) if count == seats.len() => {
            *lists = first.clone();
            Ok(())
        }
        _ => Err(Problem::new(
            format!("`actions` has {count} entries, and {} seats are to move", seats.len()),
            "where `simultaneous` in the description is true, `actions` has a list for each seat in `of`, also for one",
            "return a list of lists",
        )),
    }
}

/// Says what so many random games lacked.
fn untested(games: usize, verb: &str, lacked: &[String]) -> Option<String> {
    let all = lacked.join(", ");
    (!lacked.is_empty())
        .then(|| format!("not tested: no game of {games} {verb} {all}; --games N plays more"))
}

/// Returns the request for a walk from a state.
pub(super) fn from_state(state: &StateJson, moves: &[Move], want: &[Want], at: At) -> Value {
    request(Begin::State(state.clone()), moves, want, at)
}

/// Returns the request for a walk from the start.
pub(super) fn from_setup(setup: &Value, moves: &[Move], want: &[Want], at: At) -> Value {
    request(Begin::Setup(setup.clone()), moves, want, at)
}

fn request(from: Begin, moves: &[Move], want: &[Want], at: At) -> Value {
    let walk = Walk { from, moves: moves.to_vec(), want: want.to_vec(), at };
    serde_json::to_value(Request::Walk(walk)).expect("it is JSON")
}

/// The problem that a state of the rules' own is refused.
pub(super) fn refused_state(refused: &Refused) -> Problem {
    Problem::new(
        format!("a walk without moves is refused: {}", refused.rule),
        "`refused` is for moves and setups, and this request goes on from a state that the rules returned",
        "take every state that an answer had",
    )
}
