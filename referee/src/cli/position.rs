//! `position`: apply actions, show what results.

use super::output::{BoardOptions, print, print_json, stdout_has_colour};
use super::setup::GameOptions;
use crate::reading::{Shown, as_json, caption, given, recorded};
use clap::Args;
use referee_games::AnyGame;
use referee_play::input_files::{read_text, read_transcript};
use referee_process::Failure;
use referee_render::{Style, terminal};

/// Applies actions and shows the position that results.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    game: GameOptions,
    /// Actions to apply, one a line, as JSON or as people write them; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "transcript")]
    actions: Option<String>,
    /// A transcript to take setup and actions from; `latest` is the newest in ./matches
    #[arg(long, value_name = "FILE", conflicts_with = "setup")]
    transcript: Option<String>,
    /// How many of the actions to apply
    #[arg(long)]
    ply: Option<usize>,
    /// Shows every position from the start on
    #[arg(long)]
    every: bool,
    /// Prints one JSON object for each position
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    board: BoardOptions,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let shown = Shown { ply: options.ply, every: options.every };
    let show = |game: &dyn AnyGame| show(options, game);
    if let Some(name) = &options.transcript {
        return recorded(&read_transcript(name)?, name, options.game.kind()?, shown, show);
    }
    let game = options.game.start()?;
    let text = options.actions.as_deref().map(read_text).transpose()?;
    given(game, &text.unwrap_or_default(), shown, show)
}

fn show(options: &Options, game: &dyn AnyGame) -> Result<(), Failure> {
    if options.json {
        return print_json(&as_json(game));
    }
    let mut text = String::new();
    if let Some(style) = options.board.style(stdout_has_colour()) {
        text.push_str(&terminal(&game.view(), &Style { legend: false, ..style }));
    }
    text.push_str(&caption(game));
    text.push('\n');
    print(&text)
}
