//! The check of a game program: random games, and at their positions what the page on game programs demands.
//! A failure is shrunk to a short case and explained.

mod bench;
mod cases;
mod causes;
mod choices;
mod contract;
mod games;
mod hidden;
mod memory;
mod report;
mod repeated;
mod shown;

pub use bench::Bench;
pub use report::{GameCheckReport, RowReport, RowStatus};

use self::games::{Case, Game};
use crate::game_program::QUOTED;
use referee_games::program::RulesFailure;
use referee_games::view::View;
use schemars::JsonSchema;
use serde::Serialize;
use std::rc::Rc;
use std::time::Duration;

/// The most tests that shrinking one failure takes.
const SHRINK_TESTS: usize = 150;
/// How long each step takes that makes a failure clearer: shrinking it, or looking for the games that it depends on.
const CLEARER: Duration = Duration::from_secs(10);

/// What is wrong with the rules.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// What happened.
    pub what: String,
    /// The position where it was found: the setup, and the moves from the start.
    pub position: String,
    /// The parts of answers that show it.
    pub shown: Vec<String>,
    /// The likely cause.
    pub why: String,
    /// What to do.
    pub fix: String,
}

impl Problem {
    fn new(what: impl Into<String>, why: &str, fix: &str) -> Self {
        let (position, shown) = (String::new(), Vec::new());
        Self { what: what.into(), position, shown, why: why.to_owned(), fix: fix.to_owned() }
    }

    /// Nothing could be found out in the time of the check.
    fn time_up() -> Self {
        Self::new("the time limit of the check was reached", "", "")
    }

    fn is_time_up(&self) -> bool {
        self.why.is_empty()
    }

    /// Names another cause and remedy.
    fn because(mut self, why: &str, fix: &str) -> Self {
        if self.is_time_up() {
            return self;
        }
        why.clone_into(&mut self.why);
        fix.clone_into(&mut self.fix);
        self
    }

    fn showing(mut self, line: impl Into<String>) -> Self {
        self.shown.push(line.into());
        self
    }
}

impl From<RulesFailure> for Problem {
    fn from(failure: RulesFailure) -> Self {
        let (why, fix) = causes::of_failure(&failure.0);
        let (what, line) = failure.0.split_once(QUOTED).unzip();
        let what = what.unwrap_or(&failure.0);
        let problem = Self::new(format!("{}{what}", causes::FAILED), why, fix);
        line.into_iter()
            .fold(problem, |problem, line| problem.showing(format!("the answer begins: {line}")))
    }
}

/// Tests a position of a game: the one after so many moves.
type Test = fn(&Bench, &Game, usize) -> Result<(), Problem>;

/// At which positions of a game a row tests.
#[derive(Clone, Copy, Debug)]
enum Spots {
    /// At so many, from the start to the end.
    Some(usize),
    /// At the last one.
    Last,
}

/// A row of the check.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, for --only.
    pub name: &'static str,
    /// What it proves.
    pub title: &'static str,
    spots: Spots,
    test: Test,
    /// The test by which a failure is shrunk, if it is another one.
    shrink: Option<Test>,
    /// Why it does not apply to a game, if it doesn't.
    applies: fn(&Bench) -> Result<(), &'static str>,
}

const fn row(name: &'static str, title: &'static str, spots: Spots, test: Test) -> Row {
    Row { name, title, spots, test, shrink: None, applies: |_| Ok(()) }
}

/// The rows, in order.
pub const ROWS: &[Row] = &[
    row("describe", "both processes describe the same game", Spots::Last, repeated::describe),
    row(
        "plays",
        "every listed action can be played, and every turn is well-formed",
        Spots::Some(12),
        contract::plays,
    ),
    // Before those that ask for everything, which then fail as it does.
    row(
        "view",
        "the board's cells and pieces exist, and every renderer draws it",
        Spots::Some(400),
        contract::view,
    ),
    row(
        "answers",
        "position, notes and estimate are what was described",
        Spots::Some(8),
        contract::answers,
    ),
    row(
        "outcome",
        "reasons are declared, places are a ranking, scores are as described",
        Spots::Last,
        contract::outcome,
    ),
    row("plies-max", "no game has more moves than plies_max", Spots::Last, contract::plies_max),
    Row {
        shrink: Some(repeated::remembers),
        ..row(
            "determinism",
            "two processes give the same bytes, in any order, one restarted",
            Spots::Last,
            repeated::determinism,
        )
    },
    Row {
        applies: |bench| {
            if bench.described.lists { Ok(()) } else { Err("the actions can't be listed") }
        },
        ..row(
            "legal",
            "an action is listed if and only if it is legal",
            Spots::Some(5),
            cases::legal,
        )
    },
    row(
        "turns",
        "no seat plays in another's turn, in front of a draw or after the end",
        Spots::Some(5),
        cases::turns,
    ),
    row(
        "recorded",
        "a recorded action is recorded in the same form again",
        Spots::Some(5),
        cases::recorded,
    ),
    row(
        "text",
        "actions are the same after being written and read as text",
        Spots::Some(8),
        cases::text,
    ),
    row("state", "a new process goes on from every state", Spots::Last, repeated::state),
    row("queries", "questions change nothing", Spots::Some(6), repeated::queries),
    row("walk", "a walk equals single steps", Spots::Last, repeated::walk),
    Row {
        applies: |bench| {
            if bench.described.chance { Ok(()) } else { Err("the game has no chance") }
        },
        ..row("chance", "every outcome of a draw can be played", Spots::Some(400), contract::chance)
    },
    Row {
        applies: |bench| {
            if bench.described.simultaneous { Ok(()) } else { Err("no seats choose at once") }
        },
        ..row(
            "choices",
            "seats that choose at once may be asked in any order",
            Spots::Some(12),
            choices::choices,
        )
    },
    Row {
        applies: |bench| {
            if bench.described.hidden { Ok(()) } else { Err("all seats know the same") }
        },
        ..row("hidden", "a seat sees nothing but what it was told", Spots::Last, hidden::hidden)
    },
    Row {
        applies: |bench| {
            if bench.described.seats.iter().any(|&seats| seats > 2) {
                Ok(())
            } else {
                Err("the game has no more than two seats")
            }
        },
        ..row(
            "retire",
            "a seat can leave, and the others play on",
            Spots::Some(5),
            contract::retire,
        )
    },
    row(
        "robust",
        "extreme values and unknown fields never make the rules fail",
        Spots::Some(3),
        cases::robust,
    ),
    row("speed", "answers come in time", Spots::Last, repeated::speed),
    row("golden", "recorded games in games/ still replay", Spots::Last, repeated::golden),
];

/// What a row found.
#[derive(Debug)]
pub enum Found {
    /// Nothing; with what it measured, if anything.
    Nothing(Option<String>),
    /// It doesn't apply.
    NotApplicable(&'static str),
    /// The check had no time left for it.
    NoTime,
    /// The rules fail at it as at the row with this name.
    Untested(&'static str),
    /// A failure, and what shows it again.
    Problem(Reach, Box<Problem>),
}

/// What has to be run to see a failure again.
#[derive(Clone, Copy, Debug)]
pub enum Reach {
    /// The row, whatever the games.
    Row,
    /// The row with the random game of this number.
    Case(u64),
    /// The row with all games: it depends on what was asked about earlier ones.
    Games,
    /// All rows that were run, with all games.
    Check,
}

/// A failure, and the game and position where it was found, unless the game could not begin.
type Failing = (Option<(Rc<Game>, usize)>, Problem);

/// Draws a picture with every renderer.
pub type Draw<'a> = &'a dyn Fn(&View) -> Result<(), String>;

impl Row {
    /// Whether it looks at the program or its folder, not at random games.
    fn is_once(&self) -> bool {
        matches!(self.name, "describe" | "golden")
    }

    /// Runs it over these random games, or fewer if they take more than its share of the time, of which `rows_left`
    /// have one each. Calls `step` after each game, and
    /// with what it does beside its tests.
    pub fn run(
        &self,
        bench: &Bench<'_>,
        cases: &[u64],
        rows_left: usize,
        mut step: impl FnMut(Option<&str>),
    ) -> Found {
        if let Err(reason) = (self.applies)(bench) {
            return Found::NotApplicable(reason);
        }
        bench.begin_row(rows_left);
        let cases = &cases[..if self.is_once() { 1 } else { cases.len() }];
        let mut tested = 0;
        for &number in cases {
            if tested > 0 && bench.is_late() {
                break;
            }
            let found = self.look(bench, number);
            step(None);
            if found.as_ref().map_or(bench.is_over(), |(_, problem)| problem.is_time_up()) {
                return Found::NoTime;
            }
            if let Some(found) = found {
                if let Some(row) = bench.reported(&found.1) {
                    return Found::Untested(row);
                }
                bench.report(self.name, &found.1);
                step(Some("a failure was found: looking for a short game that shows it"));
                let (reach, problem) = self.explained(bench, cases, number, found);
                bench.report(self.name, &problem);
                return Found::Problem(reach, Box::new(problem));
            }
            tested += 1;
        }
        if tested < cases.len() {
            let note = bench.note(self.name).filter(|note| !note.is_empty());
            let note = note.map_or(String::new(), |note| format!("; {note}"));
            let all = cases.len();
            return Found::Nothing(Some(format!(
                "{tested} of {all} games: the rules are slow{note}"
            )));
        }
        match (bench.note(self.name), self.name) {
            (None, "golden") => {
                Found::NotApplicable("there are no files games/*.jsonl in the folder")
            }
            (None, "retire") => Found::NotApplicable("no random game had three seats"),
            (None, "hidden") => Found::NotApplicable(
                "in no random game could a seat be told the same of another move",
            ),
            (None, "choices") => {
                Found::NotApplicable("in no random game did several seats choose at once")
            }
            (_, "outcome") => Found::Nothing(bench.unseen_endings(tested)),
            (_, "plays") => Found::Nothing(bench.unmet_setups(tested)),
            (note, _) => Found::Nothing(note),
        }
    }

    /// Looks for a failure in the random game with this number.
    fn look(&self, bench: &Bench<'_>, number: u64) -> Option<Failing> {
        let game = match bench.game(number) {
            // Only one row tells what happened at the start.
            Err(problem) if self.name == "plays" => return Some((None, *problem)),
            Err(_) if !self.is_once() => return None,
            Err(_) => return Some((None, (self.test)(bench, &Game::default(), 0).err()?)),
            Ok(game) => game,
        };
        let last = game.plies.len() - 1;
        let spots: Vec<usize> = match self.spots {
            Spots::Last => vec![last],
            Spots::Some(count) if count > last => (0..=last).collect(),
            Spots::Some(count) => (0..count).map(|spot| spot * last / (count - 1)).collect(),
        };
        let (spot, problem) = spots
            .into_iter()
            .find_map(|spot| Some((spot, (self.test)(bench, &game, spot).err()?)))?;
        Some((Some((game, spot)), problem))
    }

    /// Makes a failure in a game clearer: by a shorter game, or by the games before it that it depends on.
    fn explained(
        &self,
        bench: &Bench<'_>,
        cases: &[u64],
        number: u64,
        (place, problem): Failing,
    ) -> (Reach, Problem) {
        if self.is_once() {
            return (Reach::Row, problem);
        }
        let alone = bench.within(CLEARER, || {
            // What takes too long takes it in new processes, too.
            if self.name == "speed" {
                return None;
            }
            bench.forget();
            let alone = self.look(bench, number);
            (!bench.is_over()).then_some(alone)
        });
        let (place, problem) = match alone {
            Some(None) => {
                let problem = match place {
                    Some((game, spot)) => placed(bench, (game.case(spot), problem)),
                    None => problem,
                };
                let problem =
                    bench.within(CLEARER, || memory::found(bench, cases, number, problem));
                let again = bench.within(CLEARER, || {
                    bench.forget();
                    let found = cases.iter().find_map(|&case| self.look(bench, case));
                    found.is_some_and(|(_, problem)| !problem.is_time_up())
                });
                return (if again { Reach::Games } else { Reach::Check }, problem);
            }
            Some(Some(alone)) => alone,
            None => (place, problem),
        };
        let problem = match place {
            Some((game, spot)) => {
                bench.within(CLEARER, || self.shrunk(bench, &game, spot, problem))
            }
            None => problem,
        };
        (Reach::Case(number), problem)
    }

    /// Looks for a shorter game with a failure.
    fn shrunk(&self, bench: &Bench<'_>, game: &Game, spot: usize, found: Problem) -> Problem {
        let mut left = SHRINK_TESTS;
        let mut test = |game: &Game, spot: usize| {
            left = left.checked_sub(1).filter(|_| !bench.is_over())?;
            let found = self.shrink.unwrap_or(self.test)(bench, game, spot).err();
            found.filter(|problem| !problem.is_time_up())
        };
        let mut best = (game.case(spot), found);
        // Only the end can show what is wrong at the end.
        if matches!(self.name, "plies-max" | "speed") {
            return placed(bench, best);
        }
        let shorter = (0..spot).find_map(|spot| Some((spot, test(game, spot)?)));
        if let Some((spot, problem)) = shorter {
            best = (game.case(spot), problem);
        }
        let mut size = best.0.moves.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at + size <= best.0.moves.len() {
                let mut moves = best.0.moves.clone();
                moves.drain(at..at + size);
                let case = Case { moves, ..best.0.clone() };
                let again = bench.replayed(&case);
                let problem = again.as_ref().and_then(|it| test(it, it.plies.len() - 1));
                match (again, problem) {
                    (Some(again), Some(problem)) => {
                        best = (again.case(again.plies.len() - 1), problem);
                    }
                    _ => at += size,
                }
            }
            size /= 2;
        }
        placed(bench, best)
    }
}

fn placed(bench: &Bench<'_>, (case, mut problem): (Case, Problem)) -> Problem {
    problem.position = bench.describe_case(&case);
    problem
}
