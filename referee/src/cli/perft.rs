//! `perft`: how many sequences of actions there are, the standard test of a move generator.

use super::output::{print, print_json};
use super::setup::GameOptions;
use clap::Args;
use referee_games::AnyGame;
use referee_process::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Counts the sequences of actions from a position, by depth.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    game: GameOptions,
    /// How deep
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    /// Also counts by the first action
    #[arg(long)]
    divide: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// Counts as `perft --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The game's name.
    game: &'static str,
    /// The whole setup.
    setup: Value,
    /// The counts from depth 1 on; zeros after the end of every game.
    counts: Vec<u64>,
    /// The count of the whole depth by the first action, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Divided>>,
}

/// One first action in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct Divided {
    /// The action.
    action: Value,
    /// How many sequences begin with it.
    count: u64,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let game = options.game.start()?;
    let mut counts = Vec::new();
    for depth in 1..=options.depth {
        // Once there is nothing, there is nothing deeper.
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
    print_json(&Told { game: game.kind().name, setup: game.setup(), counts, divide })
}

/// The count of the whole depth, by the first action.
fn divide(game: &dyn AnyGame, depth: u32) -> Vec<Divided> {
    let count = |action: Value| {
        let mut next = game.clone_box();
        next.play(&action).expect("a listed action is legal");
        Divided { action, count: next.perft(depth - 1) }
    };
    game.actions().into_iter().map(count).collect()
}
