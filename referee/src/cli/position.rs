//! `position`: applies actions and shows the result.

use super::output::{BoardOptions, print, print_json, stdout_has_colour};
use super::setup::GameOptions;
use crate::reading::{Selection, caption, position_report, show_actions, show_recorded};
use clap::Args;
use referee_games::AnyGame;
use referee_play::input_files::{read_text, read_transcript};
use referee_process::Failure;
use referee_render::{Style, terminal};

/// Apply actions and show the resulting position
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee position hex --setup size=5 --actions moves.txt\n  \
    referee position hex --transcript latest --ply 4 --json")]
pub(super) struct Options {
    #[command(flatten)]
    game: GameOptions,
    /// File of actions to apply, one per line, as text or JSON; for a draw, the name of its outcome; - is stdin. Defaults to no actions
    #[arg(long, value_name = "FILE", conflicts_with = "transcript")]
    actions: Option<String>,
    /// Transcript to take setup and actions from; `latest` is the newest in ./matches
    #[arg(long, value_name = "FILE", conflicts_with = "setup")]
    transcript: Option<String>,
    /// Number of actions to apply, 0 or more. Defaults to all
    #[arg(long)]
    ply: Option<usize>,
    /// Show every position from the start
    #[arg(long)]
    every: bool,
    /// Print one JSON object per position
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    board: BoardOptions,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let selection = Selection { ply: options.ply, every: options.every };
    let show = |game: &dyn AnyGame| show(options, game);
    if let Some(name) = &options.transcript {
        return show_recorded(&read_transcript(name)?, name, options.game.kind()?, selection, show);
    }
    let game = options.game.start()?;
    let text = options.actions.as_deref().map(read_text).transpose()?;
    show_actions(game, &text.unwrap_or_default(), selection, show)
}

fn show(options: &Options, game: &dyn AnyGame) -> Result<(), Failure> {
    if options.json {
        return print_json(&position_report(game));
    }
    let mut text = String::new();
    if let Some(style) = options.board.style(stdout_has_colour()) {
        text.push_str(&terminal(&game.view(), &Style { legend: false, ..style }));
    }
    text.push_str(&caption(game, None));
    text.push('\n');
    print(&text)
}
