//! A game in progress whose rules are a program.

use crate::any::{AnyGame, GameKind, Refusal, listed, no_number};
use crate::board::Layout;
use crate::choice::Choice;
use crate::contract::{Played, check_walked, interrupted, read_walk, read_whole};
use crate::program::{Ahead, DRAWS_MAX, Drawer, Pending, Program, RulesFailure};
use crate::view::{Labels, View};
use crate::wire::{
    Answer, At, Move, Picture, Ply, PlyTurn, Request, Walk, Walked, Want, walk_from,
};
use crate::{CellIndex, Illegal, NumberedKind, Numbering, Turn};
use referee_protocol::{ActionJson, Seat, read_typed};
use serde_json::{Value, json};
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A game in progress whose rules are a program.
#[derive(Clone)]
pub(crate) struct ProgramGame {
    program: &'static Program,
    setup: Value,
    /// The name of each seat's piece.
    colours: Arc<[&'static str]>,
    now: Arc<Ply>,
    /// The choice of several seats at once that isn't over.
    choice: Option<Choice>,
    /// The seat that is asked before the others with which it chooses.
    first: Option<Seat>,
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
    /// Begins at this ply.
    pub(crate) fn begin(
        program: &'static Program,
        setup: Value,
        colours: Arc<[&'static str]>,
        now: Ply,
    ) -> Self {
        let now = Arc::new(now);
        Self {
            program,
            setup,
            colours,
            choice: Choice::at(&now),
            now,
            first: None,
            out: Vec::new(),
            number: 0,
            draws: 0,
            draws_in_a_row: 0,
            failure: None,
            ahead: Arc::default(),
            rest: Arc::default(),
            view: Arc::default(),
        }
    }

    /// The present ply.
    pub(crate) fn now(&self) -> &Ply {
        &self.now
    }

    /// Keeps what the next moves lead to.
    pub(crate) fn know(&self, ahead: Ahead) {
        *lock(&self.ahead) = ahead;
    }

    /// The seat to move; `None` when the game is over or chance is next.
    fn mover(&self) -> Option<Seat> {
        match &self.now.turn {
            PlyTurn::Of(seats) => {
                let first = self.waiting(seats).find(|&seat| self.first == Some(seat));
                first.or_else(|| self.waiting(seats).next()).or(seats.first().copied())
            }
            PlyTurn::Over(_) | PlyTurn::Chance(_) => None,
        }
    }

    /// Returns those of the seats to move that haven't been passed over.
    fn waiting(&self, seats: &[Seat]) -> impl Iterator<Item = Seat> {
        let choice = self.choice.as_ref();
        seats.iter().copied().filter(move |&seat| choice.is_none_or(|it| !it.passes_over(seat)))
    }

    /// Returns the ply that is shown: until the last of several seats has chosen, the one before the first has.
    fn shown(&self) -> &Arc<Ply> {
        self.choice.as_ref().map_or(&self.now, Choice::ply)
    }

    /// Checks what the rules returned against what they have declared, and against who is in the game.
    pub(crate) fn check(&self, ply: &Ply) -> Result<(), RulesFailure> {
        self.check_with(ply, |seat| self.out.contains(&seat))
    }

    /// The same for a ply at which these seats were out.
    fn check_with(&self, ply: &Ply, is_out: impl Fn(Seat) -> bool) -> Result<(), RulesFailure> {
        let (seats, program) = (self.colours.len(), self.program);
        let wrong = |text: String| Err(RulesFailure(text));
        if program.is_hidden() && !program.rules.are_recorded() {
            if ply.seen.len() != seats || !ply.seen.iter().all(Value::is_object) {
                return wrong(format!("`seen` needs an object for each of {seats} seats"));
            }
            if ply.told.len() != seats {
                return wrong(format!("`told` needs a value for each of {seats} seats"));
            }
        }
        match &ply.turn {
            PlyTurn::Of(movers) => {
                let seat = movers[0];
                if let Some(seat) = movers.iter().find(|seat| seat.index() >= seats) {
                    return wrong(format!("it is seat {seat}'s turn, in a game of {seats} seats"));
                }
                if let Some(seat) = movers.iter().find(|seat| is_out(**seat)) {
                    return wrong(format!("it is seat {seat}'s turn, which was retired"));
                }
                let is_simultaneous = program.declared.simultaneous;
                if movers.len() > 1 && !is_simultaneous {
                    return wrong(
                        "several seats are to move, but `simultaneous` in the description is not true"
                            .to_owned(),
                    );
                }
                // Agents get both, so that the rules were asked for both.
                let is_asked = ply.position.is_object() && !program.rules.are_recorded();
                let has_lists = |listed: &[Value]| {
                    let is_list = |one: &Value| one.as_array().is_some_and(|it| !it.is_empty());
                    listed.len() == movers.len() && listed.iter().all(is_list)
                };
                match &ply.actions {
                    Some(listed)
                        if is_simultaneous && is_asked && program.lists && !has_lists(listed) =>
                    {
                        wrong(format!(
                            "`actions` needs a list with an action for each seat in `of`, {movers:?}, since \
                             `simultaneous` in the description is true"
                        ))
                    }
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
    fn walk(&mut self, step: &Move) -> Result<Value, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(Refusal::Failed(failure.clone()));
        }
        let is_draw = matches!(step, Move::Draw { .. });
        let retired = if let Move::Retire { retire } = step { Some(*retire) } else { None };
        let mut ahead = std::mem::take(&mut *lock(&self.ahead));
        let known = ahead.pop_front().filter(|(asked, _)| asked == step);
        let played = if let Some((_, played)) = known {
            played
        } else {
            ahead.clear();
            // A match is played ahead, with all that agents want; who replays one seldom wants the rest.
            let want = self.wanted_to_replay();
            self.program.walk(walk_from(&self.now, vec![step.clone()], want))
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
            Ok(Ok((walked, now))) => self
                .check(&now)
                .and_then(|()| Choice::goes_on(self.choice.as_ref(), &self.now, step, &now))
                .map(|others_choose| Ok((walked, now, others_choose))),
            Ok(Err(refusal)) => Ok(Err(refusal)),
            Err(failure) => Err(failure),
        };
        match played {
            Ok(Ok((mut walked, now, others_choose))) => {
                self.now = Arc::new(now);
                self.draws_in_a_row = if is_draw { self.draws_in_a_row + 1 } else { 0 };
                self.ahead = Arc::new(Mutex::new(ahead));
                if !others_choose {
                    self.choice = Choice::at(&self.now);
                    (self.rest, self.view) = (Arc::default(), Arc::default());
                }
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

    /// Returns the parts of a ply that are asked for where it isn't known that an agent gets them. What a seat is told of a
    /// move can't be asked for later.
    fn wanted_to_replay(&self) -> &'static [Want] {
        if self.program.is_hidden() { self.program.wanted() } else { &[] }
    }

    /// Returns this ply with everything but the picture and the estimate: asks for what was left out.
    fn whole(&self) -> &Ply {
        let shown = self.shown();
        if shown.position.is_null() { self.rest() } else { shown }
    }

    /// Asks for this ply with everything but the picture.
    fn rest(&self) -> &Ply {
        let estimate = self.program.estimates.then_some(Want::Estimate);
        let want: Vec<Want> = self.program.wanted().iter().copied().chain(estimate).collect();
        let ask = || {
            if let Some(failure) = &self.failure {
                return Err(failure.clone());
            }
            let walk = walk_from(self.shown(), Vec::new(), &want);
            let answer = self.program.rules.ask(Request::Walk(walk))?;
            // Who has left in a choice was there when it began.
            let is_out = |seat| self.out.contains(&seat) && !self.together().contains(&seat);
            match read_whole(answer, 0)? {
                Ok((_, ply)) => self.check_with(&ply, is_out).map(|()| ply),
                Err(refusal) => Err(RulesFailure(format!("a state was refused: {refusal}"))),
            }
        };
        // `failure` tells that it is not whole.
        let shown = self.shown();
        self.known(&self.rest, ask).map_or(shown, |rest| rest.as_ref().unwrap_or(shown))
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
        walk_from(self.shown(), Vec::new(), &[Want::View])
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
            PlyTurn::Of(seats) => Turn::Of(self.mover().unwrap_or(seats[0])),
            PlyTurn::Over(outcome) => Turn::Over(outcome.clone()),
            PlyTurn::Chance(chance) => Turn::Chance(chance.clone()),
        }
    }

    fn turn_number(&self) -> u64 {
        self.number
    }

    fn together(&self) -> &[Seat] {
        self.choice.as_ref().map_or(&[], Choice::seats)
    }

    fn choosing(&self) -> Vec<Seat> {
        match (&self.choice, &self.now.turn) {
            (Some(_), PlyTurn::Of(seats)) => self.waiting(seats).collect(),
            _ => Vec::new(),
        }
    }

    fn pass_over(&mut self, seat: Seat) {
        let has_turn = self.choosing().contains(&seat);
        if let Some(choice) = self.choice.as_mut().filter(|_| has_turn) {
            choice.pass_over(seat);
            self.number += 1;
        }
    }

    fn choose_first(&mut self, seat: Seat) {
        self.first = Some(seat);
    }

    fn actions(&self) -> Vec<Value> {
        let whole = self.whole();
        let Some(listed) = &whole.actions else { return Vec::new() };
        match (&whole.turn, self.mover()) {
            (PlyTurn::Of(seats), Some(mover)) if self.program.declared.simultaneous => {
                let own = seats.iter().zip(listed).find(|(seat, _)| **seat == mover);
                own.and_then(|(_, own)| own.as_array().cloned()).unwrap_or_default()
            }
            _ => listed.clone(),
        }
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
        let recorded = self.walk(&Move::Action { seat, action })?;
        self.number += 1;
        Ok(recorded)
    }

    fn fails_at(&self, action: &Value) -> bool {
        let (Some(seat), Ok(action)) = (self.mover(), self.program.forms.action(action)) else {
            return false;
        };
        let step = Move::Action { seat, action };
        self.program.walk(walk_from(&self.now, vec![step], self.wanted_to_replay())).is_err()
    }

    fn play_text(&mut self, _action: &str) -> Option<ActionJson> {
        // Only the full path knows what a failure of the rules is.
        None
    }

    fn draw(&mut self, outcome: usize) -> Result<(), Refusal> {
        self.walk(&Move::Draw { draw: outcome })?;
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
        let want = self.wanted_to_replay();
        let walk = Walk { at: At::All, ..walk_from(&self.now, moves.clone(), want) };
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
        self.know(all.collect());
    }

    fn prepare(&self, action: &Value, drawer: &Drawer) -> Option<Pending<()>> {
        let seat = self.mover().filter(|_| self.failure.is_none())?;
        let action = self.program.forms.action(action).ok()?;
        let step = Move::Action { seat, action };
        let walk = walk_from(&self.now, vec![step.clone()], self.program.wanted());
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
        let has_turn = matches!(&self.now.turn, PlyTurn::Of(seats) if seats.contains(&seat));
        match self.walk(&Move::Retire { retire: seat }) {
            Ok(_) => self.number += u64::from(has_turn),
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

    fn is_hidden(&self) -> bool {
        self.program.is_hidden()
    }

    fn seen(&self, seat: Seat) -> Value {
        if !self.is_hidden() {
            return self.position();
        }
        self.whole().seen.get(seat.index()).cloned().unwrap_or_else(|| json!({}))
    }

    fn told(&self, seat: Seat) -> Value {
        self.now.told.get(seat.index()).cloned().unwrap_or_default()
    }

    fn view_of(&self, seat: Seat) -> View {
        if !self.is_hidden() {
            return self.view();
        }
        let walk = walk_from(self.shown(), Vec::new(), &[Want::Views]);
        let view = self.program.walk(walk).and_then(|played| {
            let (_, ply) = played.map_err(|refusal| RulesFailure(refusal.to_string()))?;
            let picture = ply.views.into_iter().nth(seat.index());
            let picture = picture.ok_or("`views` needs a picture for each seat".to_owned());
            self.program.picture(&picture).map_err(RulesFailure)
        });
        view.unwrap_or_else(|error| no_picture(&error))
    }

    fn origin(&self) -> Value {
        self.now.state.value()
    }

    fn view(&self) -> View {
        self.view_or_failure().unwrap_or_else(|error| no_picture(&error))
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

fn no_picture(error: &RulesFailure) -> View {
    View {
        text: format!("the rules returned no picture of the board: {error}"),
        ..View::new(Layout::Nothing, Labels::Pair)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
