//! Positions after each action: of a recorded match, or of actions in a file.

use referee_games::program::Program;
use referee_games::{AnyGame, GameKind, Games, Refusal, Turn, reason_text};
use referee_match::transcript::{TranscriptWalk, walk};
use referee_match::{RULES, drawer, parse_line};
use referee_play::input_files::unreadable;
use referee_process::Failure;
use referee_protocol::{Event, FromAgent, Outcome, Seat, parse_strict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Which positions to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// The number of actions to apply; `None` for all.
    pub ply: Option<usize>,
    /// Show every position, not only the last.
    pub every: bool,
}

/// Shows positions of a recorded match of this game.
pub fn show_recorded(
    bytes: &[u8],
    file: &str,
    kind: GameKind,
    selection: Selection,
    show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let steps = walk(bytes, &Games::of([kind])).map_err(|error| unreadable(file, &error))?;
    let game = &steps.walk().header().game;
    if game != kind.name {
        let text = format!("{file} is a transcript of {game}, not of {}", kind.name);
        return Err(Failure::usage(text));
    }
    // An action that was not played, because the rules failed.
    let mut unplayed = None;
    let apply = |steps: &mut TranscriptWalk<'_>| {
        while let Some(event) = steps.step().map_err(|error| unreadable(file, &error))? {
            match &event {
                Event::Played(_) | Event::Drawn(_) | Event::Retired(_) => {
                    unplayed = None;
                    return Ok(true);
                }
                Event::Line(line) => unplayed = action_in(&line.line),
                Event::Over(over)
                    if over.verdict.void.as_ref().is_some_and(|it| it.cause == RULES) =>
                {
                    let walk = steps.walk();
                    ask_again(walk.game(), walk.draws_from(), unplayed.as_ref())?;
                }
                _ => {}
            }
        }
        Ok(false)
    };
    positions(steps, |steps| steps.walk().game(), apply, selection, show)
}

/// Returns the action in a line of an agent.
fn action_in(line: &str) -> Option<Value> {
    match parse_line(line.as_bytes(), None)?.ok()? {
        FromAgent::Action(action) => Some(action.action),
        _ => None,
    }
}

/// Asks the rules again what they failed at: an action, or the draw that follows from the match's seed or key.
fn ask_again(
    game: &dyn AnyGame,
    seed: Option<String>,
    action: Option<&Value>,
) -> Result<(), Failure> {
    let mut again = game.clone_box();
    let (played, what) = match (action, game.turn()) {
        (Some(action), Turn::Of(_)) => (again.play(action).map(drop), game.format_action(action)),
        (None, Turn::Chance(chance)) => {
            let Some(seed) = seed else { return Ok(()) };
            let outcome = drawer(seed)(game.draws(), &chance.weights);
            (again.draw(outcome), format!("the draw of {}", chance.label(outcome)))
        }
        _ => return Ok(()),
    };
    // What agents are told after it may be what fails.
    again.position();
    let failed = again.failure().cloned().map(Refusal::Failed);
    let refused = failed.or(played.err());
    refused.map_or(Ok(()), |refusal| Err(Failure::operation(format!("{what}: {refusal}"))))
}

/// Shows positions of a game to which actions are applied, one per line, as text or JSON.
pub fn show_actions(
    game: Box<dyn AnyGame>,
    text: &str,
    selection: Selection,
    show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let apply = |game: &mut Box<dyn AnyGame>| {
        let Some((line, text)) = lines.next() else { return Ok(false) };
        let failed =
            |why: String| Failure::operation(format!("line {line}: {}: {why}", text.trim()));
        apply(game.as_mut(), text).map(|()| true).map_err(failed)
    };
    positions(game, |game| game.as_ref(), apply, selection, show)
}

/// Shows positions of `played`. `apply` applies the next action, and returns false if there is none.
fn positions<T>(
    mut played: T,
    game: impl Fn(&T) -> &dyn AnyGame,
    mut apply: impl FnMut(&mut T) -> Result<bool, Failure>,
    selection: Selection,
    mut show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Selection { ply, every } = selection;
    let mut applied = Ok(true);
    for count in 0..ply.unwrap_or(usize::MAX) {
        if every {
            show(game(&played))?;
        }
        applied = apply(&mut played);
        if let Some(ply) = ply.filter(|_| matches!(applied, Ok(false))) {
            return Err(Failure::usage(format!("--ply {ply}: the number of actions is {count}")));
        }
        if !matches!(applied, Ok(true)) {
            break;
        }
    }
    // With `every`, the last position has been shown unless the last action changed it.
    if !every || matches!(applied, Ok(true)) {
        show(game(&played))?;
    }
    let turn = game(&played).turn_number();
    applied.map(drop).map_err(|failure| {
        failure.help(format!("the actions before it were applied; this one is turn {turn}"))
    })
}

fn apply(game: &mut dyn AnyGame, text: &str) -> Result<(), String> {
    if let Turn::Chance(chance) = game.turn() {
        let outcome = chance.find(text.trim())?;
        return game.draw(outcome).map_err(|refusal| refusal.to_string());
    }
    let action: Value = if text.trim_start().starts_with('{') {
        parse_strict(text.trim().as_bytes()).map_err(|error| error.to_string())?
    } else {
        game.parse_action(text)?
    };
    game.play(&action).map(drop).map_err(|refusal| match refusal {
        Refusal::Malformed(text) => format!("not an action of this game: {text}"),
        Refusal::Illegal(illegal) => format!("illegal: {illegal}"),
        Refusal::Failed(failure) => format!("the rules failed: {failure}"),
    })
}

/// A position, as `position --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PositionReport {
    /// The number of the turn.
    pub turn: u64,
    /// The seat to move; null if the game is over, or the referee draws next.
    pub to_move: Option<Seat>,
    /// The position, in the game's JSON form.
    pub position: Value,
    /// All legal actions, in the order of the rules.
    pub actions: Vec<Value>,
    /// The outcomes of the draw, if the referee draws next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<DrawReport>,
    /// How the game ended; null if it is not over.
    pub outcome: Option<Outcome>,
    /// Why it ended, as a sentence; null if it is not over.
    pub text: Option<String>,
}

/// An outcome of a draw.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DrawReport {
    /// What it is called.
    label: String,
    /// Its weight.
    weight: u64,
}

fn outcomes(game: &dyn AnyGame) -> Vec<DrawReport> {
    let Turn::Chance(chance) = game.turn() else { return Vec::new() };
    let outcome =
        |(index, &weight): (usize, &u64)| DrawReport { label: chance.label(index), weight };
    chance.weights.iter().enumerate().map(outcome).collect()
}

/// Returns a position for --json.
pub fn position_report(game: &dyn AnyGame) -> PositionReport {
    let (to_move, outcome) = match game.turn() {
        Turn::Of(seat) => (Some(seat), None),
        Turn::Over(outcome) => (None, Some(outcome)),
        Turn::Chance(_) => (None, None),
    };
    let text = outcome.as_ref().map(|outcome| why(game, outcome));
    PositionReport {
        turn: game.turn_number(),
        to_move,
        position: game.origin(),
        draws: outcomes(game),
        actions: game.actions(),
        outcome,
        text,
    }
}

/// Returns why a game is over.
fn why(game: &dyn AnyGame, outcome: &Outcome) -> String {
    let kind = game.kind();
    let program = kind.program().map(Program::record);
    let text = reason_text(game.kind().name, program, &game.setup(), &outcome.reason);
    text.unwrap_or_else(|| outcome.reason.clone())
}

/// Returns a position as a line of text. A match may have other `places` than its rules give.
pub fn caption(game: &dyn AnyGame, places: Option<&[u32]>) -> String {
    let turn = game.turn_number();
    match game.turn() {
        Turn::Of(seat) => {
            let colour = &game.current_colours()[seat.index()];
            let count = game.actions().len();
            let actions = match count {
                1 => "1 legal action".to_owned(),
                _ if !game.kind().lists() => "the rules don't list the legal actions".to_owned(),
                _ => format!("{count} legal actions"),
            };
            format!("turn {turn}: seat {seat} ({colour}) to move, {actions}")
        }
        Turn::Chance(chance) => {
            format!("turn {turn}: the referee draws one of {}", chance.names().join(", "))
        }
        Turn::Over(outcome) => {
            let places = places.unwrap_or(&outcome.places).iter();
            let places: Vec<String> = places.map(u32::to_string).collect();
            let scores = outcome.scores.as_ref().map(|scores| format!(", scores {scores:?}"));
            let scores = scores.unwrap_or_default();
            let why = why(game, &outcome);
            format!("turn {turn}: over: {why}, places {}{scores}", places.join(","))
        }
    }
}
