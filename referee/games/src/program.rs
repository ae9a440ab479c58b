//! Games whose rules are programs. Such a game has the interface of a built-in one and asks the program
//! through [`Rules`]. This module knows the messages, not how they travel.
//!
//! A program holds no match. Its state is opaque here, so copies, jumps and restarts need nothing of it.

pub use crate::contract::{check_answer, check_walk_answer, is_ranking};
pub use crate::rules::{Pending, Rules, RulesFailure};

use crate::about::{About, intern};
use crate::any::{AnyGame, SetupError};
use crate::board::Cell;
use crate::contract::{Declared, Played, read_walk, read_whole};
use crate::forms::Forms;
use crate::program_game::ProgramGame;
use crate::view::View;
use crate::wire::{
    Answer, Described, From, Move, Picture, Ply, PlyTurn, Request, WIRE_VERSION, Walk, Want, walk,
    walk_from,
};
use referee_protocol::GameProgramRecord;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The parts of a ply that a game asks for in every turn, the last ones only if seats know different things.
const WANTED: [Want; 5] = [Want::Actions, Want::Position, Want::Notes, Want::Seen, Want::Told];
/// How many of them it asks for if all seats know the same.
const OPEN_WANTED: usize = 3;

/// Makes a draw: takes the number of earlier draws in the game and the weights of the outcomes, and
/// returns the number of one outcome.
pub type Drawer = Arc<dyn Fn(u64, &[u64]) -> usize + Send + Sync>;

/// The most draws between two actions, since the next turn waits for all of them.
pub(crate) const DRAWS_MAX: u64 = 1000;
/// The longest description, in bytes of JSON, since every transcript begins with it.
const DESCRIPTION_BYTES_MAX: usize = 1 << 20;

/// A game program that has described itself.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: &'static str,
    revision: u32,
    record: GameProgramRecord,
    folder: PathBuf,
    about: About,
    pub(crate) forms: Forms,
    pub(crate) plies_max: u64,
    pub(crate) lists: bool,
    pub(crate) estimates: bool,
    pub(crate) declared: Declared,
    pub(crate) rules: Box<dyn Rules>,
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
        let Described { plies_max, lists, estimates, chance, simultaneous, hidden, .. } = described;
        let about = About::of_program(&described, &forms);
        let reasons = described.reasons.iter().map(|reason| reason.name.clone()).collect();
        let has_scores = described.score.is_some();
        let declared = Declared { chance, simultaneous, hidden, has_scores, reasons };
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

    /// Returns whether several seats can choose at once.
    pub fn is_simultaneous(&self) -> bool {
        self.declared.simultaneous
    }

    /// Returns whether seats know different things.
    pub fn is_hidden(&self) -> bool {
        self.declared.hidden
    }

    /// The parts of a ply that a game asks for in every turn.
    pub(crate) fn wanted(&self) -> &'static [Want] {
        if self.declared.hidden { &WANTED } else { &WANTED[..OPEN_WANTED] }
    }

    /// Converts a picture. Fails if it shows a cell or a piece that doesn't exist.
    pub fn picture(&self, view: &Result<Picture, String>) -> Result<View, String> {
        self.forms.view(view.as_ref().map_err(Clone::clone)?)
    }

    /// Starts a game. `setup` is an object; missing fields take their defaults. `position` is a state in which the game
    /// begins, see [`AnyGame::origin`].
    pub fn start(&'static self, setup: &Value) -> Result<Box<dyn AnyGame>, SetupError> {
        let setup = self.checked(setup)?;
        let answers = start_requests(&setup, self.wanted())
            .into_iter()
            .map(|request| self.rules.ask(request));
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
        let sent = start_requests(&setup, self.wanted())
            .into_iter()
            .map(|request| self.rules.send(request));
        let sent: Vec<_> = sent.collect();
        Box::pin(async move {
            let mut answers = Vec::new();
            for answer in sent {
                answers.push(answer.await);
            }
            let game = self.started(setup, answers)?;
            let draws = self.draws_after(game.now(), 0, &drawer).await;
            game.know(draws);
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
        let game = ProgramGame::begin(self, setup, colours, now);
        game.check(game.now()).map_err(|failure| failed(&failure.0))?;
        Ok(game)
    }

    /// Plays the draws that follow a ply.
    pub(crate) async fn draws_after(&self, ply: &Ply, draws: u64, drawer: &Drawer) -> Ahead {
        let mut ahead = Ahead::new();
        let mut after_draws: Option<Ply> = None;
        for number in draws..=draws.saturating_add(DRAWS_MAX) {
            let now = after_draws.as_ref().unwrap_or(ply);
            let PlyTurn::Chance(chance) = &now.turn else { break };
            let draw = Move::Draw { draw: drawer(number, &chance.weights) };
            let walk = walk_from(now, vec![draw.clone()], self.wanted());
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
    pub(crate) fn walk(&self, walk: Walk) -> Played {
        let moves = walk.moves.len();
        let answer = self.rules.ask(Request::Walk(walk))?;
        read_walk(answer, moves)
    }
}

/// What was asked ahead: the next moves, and what they lead to.
pub(crate) type Ahead = VecDeque<(Move, Played)>;

/// Returns the requests for the start of a game: from its setup, and then from the position in which it begins, if
/// its setup has one.
fn start_requests(setup: &Value, want: &[Want]) -> Vec<Request> {
    let mut setup = setup.clone();
    let position = setup.as_object_mut().and_then(|fields| fields.remove("position"));
    let from = [From::Setup(setup)].into_iter().chain(position.map(|it| From::State(it.into())));
    from.map(|from| Request::Walk(walk(from, Vec::new(), want))).collect()
}
