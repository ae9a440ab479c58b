//! `perft`: counts action sequences, the standard test of a move generator.

use super::output::{print, print_json};
use super::setup::GameOptions;
use clap::Args;
use referee_games::AnyGame;
use referee_process::Failure;
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

/// One first action in [`PerftReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct Divided {
    /// The action.
    action: Value,
    /// The number of sequences that begin with it.
    count: u64,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let game = options.game.start()?;
    let mut counts = Vec::new();
    for depth in 1..=options.depth {
        let count = if counts.last() == Some(&0) { 0 } else { game.perft(depth) };
        counts.push(count);
        if !options.json {
            print(&format!("{depth}\t{count}\n"))?;
        }
    }
    let divided = if options.divide { divide(game.as_ref(), options.depth) } else { Vec::new() };
    if !options.json {
        for Divided { action, count } in &divided {
            print(&format!("{}\t{count}\n", game.format_action(action)))?;
        }
        return Ok(());
    }
    let divide = options.divide.then_some(divided);
    print_json(&PerftReport { game: game.kind().name, setup: game.setup(), counts, divide })
}

/// Returns the counts of the full depth by first action.
fn divide(game: &dyn AnyGame, depth: u32) -> Vec<Divided> {
    let count = |action: Value| {
        let mut next = game.clone_box();
        next.play(&action).expect("a listed action is legal");
        Divided { action, count: next.perft(depth - 1) }
    };
    game.actions().into_iter().map(count).collect()
}
