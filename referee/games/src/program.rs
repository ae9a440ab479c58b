//! Games whose rules are programs: [`ProgramGame`] has the interface of a built-in game and asks the
//! program through [`Rules`]. This module knows the messages, not how they travel.
//!
//! A program holds no match. Its state is opaque here, so copies, jumps and restarts need nothing of it.

pub use crate::contract::{check_answer, check_walk_answer, is_ranking};
pub use crate::rules::{Pending, Rules, RulesFailure};

use crate::about::{About, intern};
use crate::any::{AnyGame, GameKind, Refusal, SetupError, listed, no_number};
use crate::board::{Cell, Layout};
use crate::contract::{Declared, Played, check_walked, interrupted, read_walk, read_whole};
use crate::forms::Forms;
use crate::view::{Labels, View};
use crate::wire::{
    Answer, At, Described, From, Move, Picture, Ply, PlyTurn, Request, WIRE_VERSION, Walk, Walked,
    Want, walk, walk_from,
};
use crate::{CellIndex, NumberedKind, Numbering};
use crate::{Illegal, Turn};
use referee_protocol::{ActionJson, GameProgramRecord, Seat, read_typed};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The parts of a ply that a game asks for in every turn.
const WANTED: [Want; 3] = [Want::Actions, Want::Position, Want::Notes];

/// Makes a draw: takes the number of earlier draws in the game and the weights of the outcomes, and
/// returns the number of one outcome.
pub type Drawer = Arc<dyn Fn(u64, &[u64]) -> usize + Send + Sync>;

/// The most draws between two actions, since the next turn waits for all of them.
const DRAWS_MAX: u64 = 1000;
/// The longest description, in bytes of JSON, since every transcript begins with it.
const DESCRIPTION_BYTES_MAX: usize = 1 << 20;

/// A game program that has described itself.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    revision: u32,
    record: GameProgramRecord,
    folder: PathBuf,
    about: About,
    forms: Forms,
    plies_max: u64,
    lists: bool,
    estimates: bool,
    declared: Declared,
    rules: Box<dyn Rules>,
}

impl Program {
    /// Asks a program to describe itself. Name and revision come from its `game.toml`, `digest` is
    /// that of its folder.
    pub fn describe(
        rules: Box<dyn Rules>,
        (name, revision): (&str, u32),
        folder: PathBuf,
        digest: String,
    ) -> Result<Self, RulesFailure> {
        let request = Request::Describe { protocol: WIRE_VERSION };
        let answer = rules.ask(request.clone())?;
        check_answer(&request, &answer)?;
        let Answer::Described(described) = answer else { unreachable!("it was checked") };
        let described = *described;
        if described.name != name {
            let text = format!("game.toml says `{name}`, `described` says `{}`", described.name);
            return Err(RulesFailure(text));
        }
        let forms = Forms::new(described.clone()).map_err(RulesFailure)?;
        let Described { plies_max, lists, estimates, chance, .. } = described;
        let about = About::of_program(&described, &forms);
        let reasons = described.reasons.iter().map(|reason| reason.name.clone()).collect();
        let declared = Declared { chance, has_scores: described.score.is_some(), reasons };
        let record = serde_json::to_value(&described).expect("it was JSON");
        if record.to_string().len() > DESCRIPTION_BYTES_MAX {
            let text = format!("`described` is longer than {DESCRIPTION_BYTES_MAX} bytes");
            return Err(RulesFailure(text));
        }
        let record = GameProgramRecord { digest, described: record };
        let name = intern(name);
        Ok(Self {
            name,
            revision,
            record,
            folder,
            about,
            forms,
            plies_max,
            lists,
            estimates,
            declared,
            rules,
        })
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The revision of the rules.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// The digest of the program's folder, and what it said about itself.
    pub fn record(&self) -> &GameProgramRecord {
        &self.record
    }

    /// The program's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it lists the legal actions.
    pub fn lists(&self) -> bool {
        self.lists
    }

    /// Whether it estimates positions.
    pub fn estimates(&self) -> bool {
        self.estimates
    }

    /// The description.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Returns an error if the fields of an action aren't as declared.
    pub fn malformed(&self, action: &Value) -> Option<String> {
        self.forms.action(action).err()
    }

    /// Returns the cells that an action names, in the order of its declared fields.
    pub fn cells(&self, action: &Value) -> Vec<Cell> {
        self.forms.cells(action)
    }

    /// Writes an action as text; as JSON if it isn't one of this game.
    pub fn format_action(&self, action: &Value) -> String {
        self.forms.format(action)
    }

    /// Reads an action's text form.
    pub fn parse_action(&self, text: &str) -> Result<Value, String> {
        self.forms.parse(text)
    }

    /// Returns the actions that a text can be read as: one of each form at most.
    pub fn readings(&self, text: &str) -> Vec<Value> {
        self.forms.readings(text).collect()
    }

    /// Returns an action of a declared form, which may be illegal: for rules that don't list what is legal. `known` are
    /// actions that were legal elsewhere. `below` draws a number below its argument.
    pub fn guess(
        &self,
        known: &[Value],
        cells: &[Cell],
        below: &mut dyn FnMut(usize) -> usize,
    ) -> Value {
        self.forms.guess(known, cells, below)
    }

    /// Returns whether the referee draws in it.
    pub fn has_chance(&self) -> bool {
        self.declared.chance
    }

    /// Converts a picture. Fails if it shows a cell or a piece that doesn't exist.
    pub fn picture(&self, view: &Result<Picture, String>) -> Result<View, String> {
        self.forms.view(view.as_ref().map_err(Clone::clone)?)
    }

    /// Starts a game. `setup` is an object; missing fields take their defaults. `position` is a state in which the game
    /// begins, see [`AnyGame::origin`].
    pub fn start(&'static self, setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
        let setup = self.checked(setup)?;
        let answers = start_requests(&setup).into_iter().map(|request| self.rules.ask(request));
        let answers = answers.collect();
        self.started(setup, answers).map(|game| Box::new(game) as _)
    }

    /// Starts a game without waiting for the program, not even for draws at the start.
    pub fn start_later(
        &'static self,
        setup: &Value,
        drawer: Drawer,
    ) -> Pending<Result<Box<dyn AnyGame>, SetupError>> {
        let setup = match self.checked(setup) {
            Ok(setup) => setup,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let sent = start_requests(&setup).into_iter().map(|request| self.rules.send(request));
        let sent: Vec<_> = sent.collect();
        Box::pin(async move {
            let mut answers = Vec::new();
            for answer in sent {
                answers.push(answer.await);
            }
            let game = self.started(setup, answers)?;
            let draws = self.draws_after(&game.now, 0, &drawer).await;
            *lock(&game.ahead) = draws;
            Ok(Box::new(game) as _)
        })
    }

    fn refused(&self, text: &str) -> SetupError {
        SetupError {
            text: format!("setup of {}: {text}", self.name),
            rules_failed: false,
            help: format!(
                "`referee games {}` lists the fields, their ranges and defaults",
                self.folder.display()
            ),
        }
    }

    /// Checks a setup, and fills in the defaults.
    fn checked(&self, setup: &Value) -> Result<Value, SetupError> {
        let mut declared = setup.clone();
        let position = declared.as_object_mut().and_then(|fields| fields.remove("position"));
        let checked = self.forms.setup(&declared).map_err(|text| self.refused(&text))?;
        let position = position.filter(|position| !position.is_null());
        let position = position.map(|position| ("position".to_owned(), position));
        Ok(checked.into_iter().chain(position).collect())
    }

    /// Returns the game in which the answers to [`start_requests`] resulted.
    fn started(
        &'static self,
        setup: Value,
        answers: Vec<Result<Answer, RulesFailure>>,
    ) -> Result<ProgramGame, SetupError> {
        let help = if setup["position"].is_null() {
            format!("`referee game check {}` shows what is wrong with them", self.folder.display())
        } else {
            "`position` must be a state of these rules, as `referee position --json` prints it"
                .to_owned()
        };
        let failed = |text: &str| SetupError {
            text: format!("the rules of {} failed: {text}", self.name),
            rules_failed: true,
            help: help.clone(),
        };
        let read = |answer: Result<Answer, RulesFailure>| match answer
            .and_then(|answer| read_whole(answer, 0))
        {
            Ok(Ok(walked)) => Ok(walked),
            Ok(Err(refusal)) => Err(self.refused(&refusal.to_string())),
            Err(failure) => Err(failed(&failure.0)),
        };
        let mut walks = answers.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        // The game begins where the last one ended; only the first one has `seats`.
        let seats = std::mem::take(&mut walks[0].0.seats);
        let (_, now) = walks.pop().expect("there was one");
        let colours = seats.iter().map(|piece| self.forms.name_of(piece));
        let colours = colours.collect::<Result<_, _>>().map_err(|text| failed(&text))?;
        if !self.about.seats.iter().any(|&count| usize::from(count) == seats.len()) {
            let (got, all) = (seats.len(), &self.about.seats);
            return Err(failed(&format!("`walked` has {got} `seats`, and `described` {all:?}")));
        }
        let game = ProgramGame {
            program: self,
            setup,
            colours,
            now: Arc::new(now),
            out: Vec::new(),
            number: 0,
            draws: 0,
            draws_in_a_row: 0,
            failure: None,
            ahead: Arc::default(),
            rest: Arc::default(),
            view: Arc::default(),
        };
        game.check(&game.now).map_err(|failure| failed(&failure.0))?;
        Ok(game)
    }

    /// Plays the draws that follow a ply.
    async fn draws_after(&self, ply: &Ply, draws: u64, drawer: &Drawer) -> Ahead {
        let mut ahead = Ahead::new();
        let mut after_draws: Option<Ply> = None;
        for number in draws..=draws.saturating_add(DRAWS_MAX) {
            let now = after_draws.as_ref().unwrap_or(ply);
            let PlyTurn::Chance(chance) = &now.turn else { break };
            let draw = Move::Draw { draw: drawer(number, &chance.weights) };
            let walk = walk_from(now, vec![draw.clone()], &WANTED);
            let answer = self.rules.send(Request::Walk(walk)).await;
            let played = answer.and_then(|answer| read_whole(answer, 1));
            let after = played.as_ref().ok().and_then(|played| played.as_ref().ok());
            let Some((_, after)) = after else {
                ahead.push_back((draw, played));
                break;
            };
            after_draws = Some(after.clone());
            ahead.push_back((draw, played));
        }
        ahead
    }

    /// Walks; the inner error is a refusal.
    fn walk(&self, walk: Walk) -> Played {
        let moves = walk.moves.len();
        let answer = self.rules.ask(Request::Walk(walk))?;
        read_walk(answer, moves)
    }
}

/// What was asked ahead: the next moves, and what they lead to.
type Ahead = VecDeque<(Move, Played)>;

/// Returns the requests for the start of a game: from its setup, and then from the position in which it begins, if
/// its setup has one.
fn start_requests(setup: &Value) -> Vec<Request> {
    let mut setup = setup.clone();
    let position = setup.as_object_mut().and_then(|fields| fields.remove("position"));
    let from = [From::Setup(setup)].into_iter().chain(position.map(|it| From::State(it.into())));
    from.map(|from| Request::Walk(walk(from, Vec::new(), &WANTED))).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A game in progress whose rules are a program.
#[derive(Clone)]
pub struct ProgramGame {
    program: &'static Program,
    setup: Value,
    /// The name of each seat's piece.
    colours: Arc<[&'static str]>,
    now: Arc<Ply>,
    /// The seats that were retired.
    out: Vec<Seat>,
    number: u64,
    draws: u64,
    /// Those since the last action.
    draws_in_a_row: u64,
    /// The rules have failed: nothing more can be played.
    failure: Option<RulesFailure>,
    ahead: Arc<Mutex<Ahead>>,
    /// What this ply has besides state and turn, once it was asked for.
    rest: Arc<OnceLock<Result<Ply, RulesFailure>>>,
    /// The picture of this ply, once it was asked for.
    view: Arc<OnceLock<Result<View, RulesFailure>>>,
}

impl Debug for ProgramGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramGame")
            .field("name", &self.program.name)
            .field("number", &self.number)
            .field("state", &self.now.state)
            .finish_non_exhaustive()
    }
}

impl ProgramGame {
    /// The seat to move; `None` when the game is over or chance is next.
    fn mover(&self) -> Option<Seat> {
        match &self.now.turn {
            PlyTurn::Of(seats) => seats.first().copied(),
            PlyTurn::Over(_) | PlyTurn::Chance(_) => None,
        }
    }

    /// Checks what the rules returned against what they have declared, and against who is in the game.
    fn check(&self, ply: &Ply) -> Result<(), RulesFailure> {
        let (seats, program) = (self.colours.len(), self.program);
        let wrong = |text: String| Err(RulesFailure(text));
        match &ply.turn {
            PlyTurn::Of(movers) => {
                let seat = movers[0];
                if seat.index() >= seats {
                    return wrong(format!("it is seat {seat}'s turn, in a game of {seats} seats"));
                }
                if self.out.contains(&seat) {
                    return wrong(format!("it is seat {seat}'s turn, which was retired"));
                }
                // Agents get both, so that the rules were asked for both.
                let is_asked = ply.position.is_object() && !program.rules.are_recorded();
                match &ply.actions {
                    Some(listed) if program.lists && listed.is_empty() => wrong(format!(
                        "it is seat {seat}'s turn, but `actions` is empty: list a pass, or end the game"
                    )),
                    None if program.lists && is_asked => wrong(format!(
                        "it is seat {seat}'s turn, but `actions` is null, and `described` says that actions are listed"
                    )),
                    _ => Ok(()),
                }
            }
            PlyTurn::Chance(_) if !program.declared.chance => {
                wrong("the turn is a draw, but `chance` in the description is not true".to_owned())
            }
            PlyTurn::Chance(_) => Ok(()),
            PlyTurn::Over(outcome) => program.declared.check_outcome(outcome, seats),
        }
    }

    /// Plays a move: takes what it leads to from what was asked ahead, or asks. Returns its recorded form.
    fn walk(&mut self, step: Move) -> Result<Value, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(Refusal::Failed(failure.clone()));
        }
        let is_draw = matches!(step, Move::Draw { .. });
        let retired = if let Move::Retire { retire } = step { Some(retire) } else { None };
        let mut ahead = std::mem::take(&mut *lock(&self.ahead));
        let known = ahead.pop_front().filter(|(asked, _)| *asked == step);
        let played = if let Some((_, played)) = known {
            played
        } else {
            ahead.clear();
            // A match is played ahead, with all that agents want; who replays one seldom wants the rest.
            self.program.walk(walk_from(&self.now, vec![step], &[]))
        };
        let plies_max = self.program.plies_max;
        let played = match played {
            Ok(Ok(_)) if self.number + self.draws >= plies_max => Err(RulesFailure(format!(
                "the game has more than {plies_max} moves, the `plies_max` of its rules"
            ))),
            Ok(Ok(_)) if is_draw && self.draws_in_a_row >= DRAWS_MAX => {
                Err(RulesFailure(format!("more than {DRAWS_MAX} draws follow each other")))
            }
            played => played,
        };
        self.out.extend(retired);
        let played = match played {
            Ok(Ok((walked, now))) => self.check(&now).map(|()| Ok((walked, now))),
            played => played,
        };
        match played {
            Ok(Ok((mut walked, now))) => {
                self.now = Arc::new(now);
                self.draws_in_a_row = if is_draw { self.draws_in_a_row + 1 } else { 0 };
                self.ahead = Arc::new(Mutex::new(ahead));
                (self.rest, self.view) = (Arc::default(), Arc::default());
                Ok(walked.recorded.pop().expect("as many as moves"))
            }
            Ok(Err(refusal)) => Err(refusal),
            Err(failure) => {
                self.failure =
                    Some(failure.clone()).filter(|_| !self.program.rules.are_interrupted());
                Err(Refusal::Failed(failure))
            }
        }
    }

    /// Returns this ply with everything but the picture and the estimate: asks for what was left out.
    fn whole(&self) -> &Ply {
        if self.now.position.is_null() { self.rest() } else { &self.now }
    }

    /// Asks for this ply with everything but the picture.
    fn rest(&self) -> &Ply {
        let estimate = self.program.estimates.then_some(Want::Estimate);
        let want: Vec<Want> = WANTED.into_iter().chain(estimate).collect();
        let ask = || {
            if let Some(failure) = &self.failure {
                return Err(failure.clone());
            }
            let walk = walk_from(&self.now, Vec::new(), &want);
            let answer = self.program.rules.ask(Request::Walk(walk))?;
            match read_whole(answer, 0)? {
                Ok((_, ply)) => self.check(&ply).map(|()| ply),
                Err(refusal) => Err(RulesFailure(format!("a state was refused: {refusal}"))),
            }
        };
        // `failure` tells that it is not whole.
        self.known(&self.rest, ask).map_or(&self.now, |rest| rest.as_ref().unwrap_or(&self.now))
    }

    /// Returns what is kept of this ply, or asks for it; `None` if that was interrupted.
    fn known<'a, T>(
        &self,
        kept: &'a OnceLock<Result<T, RulesFailure>>,
        ask: impl FnOnce() -> Result<T, RulesFailure>,
    ) -> Option<&'a Result<T, RulesFailure>> {
        if kept.get().is_none() {
            let asked = ask();
            if asked.is_err() && self.program.rules.are_interrupted() {
                return None;
            }
            kept.set(asked).ok();
        }
        kept.get()
    }

    /// Returns the picture in an answer.
    fn picture(&self, played: Played) -> Result<View, RulesFailure> {
        let walked =
            played?.map_err(|refusal| RulesFailure(format!("it was refused: {refusal}")))?;
        let view = walked.1.view.unwrap_or_else(|| Ok(Picture::default()));
        self.program.picture(&view).map_err(RulesFailure)
    }

    fn request_for_view(&self) -> Walk {
        walk_from(&self.now, Vec::new(), &[Want::View])
    }
}

impl AnyGame for ProgramGame {
    fn kind(&self) -> GameKind {
        GameKind::of_program(self.program)
    }

    fn setup(&self) -> Value {
        self.setup.clone()
    }

    fn seats(&self) -> usize {
        self.colours.len()
    }

    fn colours(&self) -> Vec<&'static str> {
        self.colours.to_vec()
    }

    fn turn(&self) -> Turn {
        match &self.now.turn {
            PlyTurn::Of(seats) => Turn::Of(seats[0]),
            PlyTurn::Over(outcome) => Turn::Over(outcome.clone()),
            PlyTurn::Chance(chance) => Turn::Chance(chance.clone()),
        }
    }

    fn turn_number(&self) -> u64 {
        self.number
    }

    fn actions(&self) -> Vec<Value> {
        self.whole().actions.clone().unwrap_or_default()
    }

    fn malformed(&self, action: &Value) -> Option<String> {
        self.program.forms.action(action).err()
    }

    fn play(&mut self, action: &Value) -> Result<Value, Refusal> {
        let Some(seat) = self.mover() else {
            let is_draw = matches!(self.now.turn, PlyTurn::Chance(_));
            let draws = || Illegal::new("the referee draws next".to_owned());
            return Err(Refusal::Illegal(if is_draw { draws() } else { Illegal::game_over() }));
        };
        let action = self.program.forms.action(action).map_err(Refusal::Malformed)?;
        let recorded = self.walk(Move::Action { seat, action })?;
        self.number += 1;
        Ok(recorded)
    }

    fn play_text(&mut self, _action: &str) -> Option<ActionJson> {
        // Only the full path knows what a failure of the rules is.
        None
    }

    fn draw(&mut self, outcome: usize) -> Result<(), Refusal> {
        self.walk(Move::Draw { draw: outcome })?;
        self.draws += 1;
        Ok(())
    }

    fn draws(&self) -> u64 {
        self.draws
    }

    fn foresee(&self, moves: Vec<Move>) {
        if self.failure.is_some() || moves.is_empty() {
            return;
        }
        let walk = Walk { at: At::All, ..walk_from(&self.now, moves.clone(), &[]) };
        let Ok(Answer::Walked(walked)) = self.program.rules.ask(Request::Walk(walk)) else {
            return;
        };
        if check_walked(&walked, moves.len(), moves.len() + 1).is_err() {
            return;
        }
        let after = walked.plies.into_iter().skip(1);
        let all =
            moves.into_iter().zip(walked.recorded).zip(after).map(|((step, recorded), ply)| {
                let walked =
                    Walked { seats: Vec::new(), recorded: vec![recorded], plies: Vec::new() };
                (step, Ok(Ok((walked, ply))))
            });
        *lock(&self.ahead) = all.collect();
    }

    fn prepare(&self, action: &Value, drawer: &Drawer) -> Option<Pending<()>> {
        let seat = self.mover().filter(|_| self.failure.is_none())?;
        let action = self.program.forms.action(action).ok()?;
        let step = Move::Action { seat, action };
        let walk = walk_from(&self.now, vec![step.clone()], &WANTED);
        let answer = self.program.rules.send(Request::Walk(walk));
        let (program, draws) = (self.program, self.draws);
        let (ahead, drawer) = (self.ahead.clone(), drawer.clone());
        Some(Box::pin(async move {
            let played = answer.await.and_then(|answer| read_whole(answer, 1));
            let mut all = match &played {
                Ok(Ok((_, ply))) => program.draws_after(ply, draws, &drawer).await,
                _ => Ahead::new(),
            };
            all.push_front((step, played));
            *lock(&ahead) = all;
        }))
    }

    fn prepare_view(&self) -> Option<Pending<()>> {
        if self.failure.is_some() || self.view.get().is_some() {
            return None;
        }
        let answer = self.program.rules.send(Request::Walk(self.request_for_view()));
        let (game, view) = (self.clone(), self.view.clone());
        Some(Box::pin(async move {
            let played = answer.await.and_then(|answer| read_walk(answer, 0));
            view.set(game.picture(played)).ok();
        }))
    }

    fn failure(&self) -> Option<&RulesFailure> {
        self.failure.as_ref().or_else(|| self.rest.get()?.as_ref().err())
    }

    fn parse_action(&self, text: &str) -> Result<Value, String> {
        self.program.forms.parse(text)
    }

    fn format_action(&self, action: &Value) -> String {
        self.program.forms.format(action)
    }

    fn retire(&mut self, seat: Seat) {
        let is_mover = self.mover() == Some(seat);
        match self.walk(Move::Retire { retire: seat }) {
            Ok(_) => self.number += u64::from(is_mover),
            Err(Refusal::Failed(_)) => {}
            Err(refusal) => {
                let text = format!("seat {seat} could not be retired: {refusal}");
                self.failure = Some(RulesFailure(text));
            }
        }
    }

    fn position(&self) -> Value {
        self.whole().position.clone()
    }

    fn origin(&self) -> Value {
        self.now.state.value()
    }

    fn view(&self) -> View {
        self.view_or_failure().unwrap_or_else(|error| View {
            text: format!("the rules returned no picture of the board: {error}"),
            ..View::new(Layout::Nothing, Labels::Pair)
        })
    }

    fn view_or_failure(&self) -> Result<View, RulesFailure> {
        let ask = || {
            let played = match &self.failure {
                Some(failure) => Err(failure.clone()),
                None => self.program.walk(self.request_for_view()),
            };
            self.picture(played)
        };
        let view = self.known(&self.view, ask).cloned();
        view.unwrap_or_else(|| Err(interrupted()))
    }

    fn current_colours(&self) -> Vec<String> {
        let now = read_typed::<Vec<String>>(&self.position()["colours"]).ok();
        let now = now.filter(|colours| colours.len() == self.seats());
        now.unwrap_or_else(|| self.colours.iter().map(|&name| name.to_owned()).collect())
    }

    fn layout(&self) -> Layout {
        self.view().shape
    }

    fn numbered_kinds(&self, index: &CellIndex) -> Result<Vec<NumberedKind>, String> {
        self.program.forms.numbered(index)
    }

    fn legal_numbers(&self, numbering: &Numbering) -> Result<Vec<usize>, RulesFailure> {
        let actions = self.actions();
        if let Some(failure) = self.failure() {
            return Err(failure.clone());
        }
        if self.program.rules.are_interrupted() {
            return Err(interrupted());
        }
        let number = |action| {
            let number = numbering.of_fields(action);
            number.ok_or_else(|| {
                RulesFailure(format!("`actions` lists {action}, which is off the board"))
            })
        };
        actions.iter().map(number).collect()
    }

    fn number_of(&self, action: &Value, numbering: &Numbering) -> Option<usize> {
        numbering.of_fields(action)
    }

    fn numbered_action(&self, number: usize, numbering: &Numbering) -> Option<Value> {
        numbering.fields(number)
    }

    fn play_number(&mut self, number: usize, numbering: &Numbering) -> Result<(), Refusal> {
        let action = numbering.fields(number).ok_or_else(|| no_number(number, numbering))?;
        self.play(&action).map(|_| ())
    }

    fn play_at_random(
        &mut self,
        below: &mut dyn FnMut(u64) -> u64,
        plies_max: u64,
    ) -> Result<(), Refusal> {
        for _ in 0..plies_max {
            match &self.now.turn {
                PlyTurn::Over(_) => break,
                PlyTurn::Chance(chance) => {
                    let outcome = chance.pick(below(chance.weights.iter().sum()));
                    self.draw(outcome)?;
                }
                PlyTurn::Of(_) => {
                    let actions = listed(self).map_err(Refusal::Failed)?;
                    let chosen = usize::try_from(below(actions.len() as u64)).unwrap_or_default();
                    self.play(&actions[chosen])?;
                }
            }
        }
        Ok(())
    }

    fn perft(&self, depth: u32) -> Result<u64, Refusal> {
        let mut next = self.clone();
        match (depth, &self.now.turn) {
            (0, _) => Ok(1),
            (_, PlyTurn::Chance(chance)) => {
                let after = |outcome| {
                    next.clone_from(self);
                    next.draw(outcome).and_then(|()| next.perft(depth - 1))
                };
                chance.possible().map(after).sum()
            }
            (_, PlyTurn::Over(_)) => Ok(0),
            _ => {
                let actions = listed(self).map_err(Refusal::Failed)?;
                if depth == 1 {
                    return Ok(actions.len() as u64);
                }
                let after = |action: &Value| {
                    next.clone_from(self);
                    next.play(action).and_then(|_| next.perft(depth - 1))
                };
                actions.iter().map(after).sum()
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        self.whole().notes.clone()
    }

    fn estimated(&self, seat: Seat) -> Option<i64> {
        self.rest().estimate.get(seat.index()).copied()
    }

    fn clone_box(&self) -> Box<dyn AnyGame> {
        // What was asked ahead is for the game that goes on.
        Box::new(Self { ahead: Arc::default(), ..self.clone() })
    }
}
