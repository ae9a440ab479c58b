//! `perft`: counts action sequences, the standard test of a move generator.

use super::output::{print, print_json};
use super::setup::GameOptions;
use clap::Args;
use referee_games::{AnyGame, Refusal, Turn};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Count the action sequences from a position, by depth
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee perft hex 3 --setup size=5\n  \
    referee perft freckers 2 --divide")]
pub(super) struct Options {
    #[command(flatten)]
    game: GameOptions,
    /// Depth in plies, 1 to 100
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    /// Also print the count for each first action
    #[arg(long)]
    divide: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The counts, as `perft --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PerftReport {
    /// The game's name.
    game: &'static str,
    /// The whole setup.
    setup: Value,
    /// The counts from depth 1; 0 once every game is over.
    counts: Vec<u64>,
    /// The counts of the full depth by first action, with --divide.
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Divided>>,
}

/// One first action, or outcome of a draw, in [`PerftReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct Divided {
    /// The action.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Value>,
    /// What the outcome is called, if the referee draws next.
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<String>,
    /// The number of sequences that begin with it.
    count: u64,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let game = options.game.start()?;
    if !game.kind().lists() {
        return Err(Failure::operation(
            "the rules don't list the legal actions, so they can't be counted",
        ));
    }
    let mut counts = Vec::new();
    for depth in 1..=options.depth {
        let count = if counts.last() == Some(&0) {
            0
        } else {
            game.perft(depth).map_err(|refusal| failed(&refusal))?
        };
        counts.push(count);
        if !options.json {
            print(&format!("{depth}\t{count}\n"))?;
        }
    }
    let divided =
        if options.divide { divide(game.as_ref(), options.depth) } else { Ok(Vec::new()) };
    let divided = divided.map_err(|refusal| failed(&refusal))?;
    if !options.json {
        for Divided { action, draw, count } in &divided {
            let action = action.as_ref().map(|action| game.format_action(action));
            let named = action.as_ref().or(draw.as_ref()).map_or("", String::as_str);
            print(&format!("{}\t{count}\n", sanitize(named)))?;
        }
        return Ok(());
    }
    let divide = options.divide.then_some(divided);
    print_json(&PerftReport { game: game.kind().name, setup: game.setup(), counts, divide })
}

fn failed(refusal: &Refusal) -> Failure {
    Failure::operation(sanitize(&refusal.to_string()))
}

/// Returns the counts of the full depth by first action, or by the outcomes of a draw.
fn divide(game: &dyn AnyGame, depth: u32) -> Result<Vec<Divided>, Refusal> {
    if let Turn::Chance(chance) = game.turn() {
        let count = |outcome| {
            let mut next = game.clone_box();
            next.draw(outcome)?;
            let (draw, count) = (Some(chance.label(outcome)), next.perft(depth - 1)?);
            Ok(Divided { action: None, draw, count })
        };
        return chance.possible().map(count).collect();
    }
    let count = |action: Value| {
        let mut next = game.clone_box();
        next.play(&action)?;
        Ok(Divided { count: next.perft(depth - 1)?, action: Some(action), draw: None })
    };
    game.actions().into_iter().map(count).collect()
}
