//! `replay` on a terminal.

use super::Viewer;
use super::source::Source;
use crate::cli::output::{BoardOptions, stdout_has_colour};
use crate::cli::runtime::{machine, runtime};
use crate::console::{Console, KeyStream, Screen};
use crate::reading::TurnChoice;
use crate::screen::{KeyRequest, Model, Progress, Setting};
use referee_games::Games;
use referee_play::interrupts::Interrupts;
use referee_process::Failure;
use referee_render::Style;
use std::io::IsTerminal;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Whether stdin and stdout are a terminal.
pub(crate) fn is_wanted(file: &str) -> bool {
    file != "-" && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Shows a transcript until the viewer is closed. Opens it at its last ply, or at `turn`.
pub(crate) fn replay(
    file: &str,
    games: &Games,
    turn: Option<TurnChoice>,
    board: &BoardOptions,
) -> Result<ExitCode, Failure> {
    let source = Source::named(file, games)?;
    let colour = stdout_has_colour();
    let style = board.style(colour);
    let mut model =
        Model::new(style.unwrap_or(Style { colour, ..<_>::default() }), Setting::Replay);
    model.board = style.is_some();
    match (source.playback(), source.problem()) {
        (None, Some(problem)) => return Err(Failure::operation(format!("{file}: {problem}"))),
        (Some(playback), _) => {
            model.grow(playback);
            if turn == Some(TurnChoice::Start) {
                model.go_to_start(playback);
            } else if let Some(TurnChoice::After(turn)) = turn
                && !model.go_to_turn(turn, playback)
                && source.progress(false) != Progress::Live
            {
                let last = playback.game().turn_number();
                let text = format!("--turn {turn}: the last turn is {last}");
                return Err(Failure::usage(text));
            }
        }
        (None, None) => {}
    }
    let runtime = runtime()?;
    let name = source.path().map_or_else(|| file.to_owned(), |path| path.display().to_string());
    let shown = runtime.block_on(async {
        let (console, keys) = Console::open(Screen::Stdout)
            .ok_or_else(|| Failure::machine("stdin is not a terminal".to_owned()))?;
        let viewer = Viewer::open(&console, model, source, name)?;
        show(&console, keys, viewer).await
    });
    runtime.shutdown_background();
    shown
}

async fn show(
    console: &Console,
    mut keys: KeyStream,
    mut viewer: Viewer,
) -> Result<ExitCode, Failure> {
    let failed = machine("cannot handle signals");
    let mut interrupts = Interrupts::listen().map_err(&failed)?;
    interrupts.on_pause(console.pausing());
    let mut resized = signal(SignalKind::window_change()).map_err(failed)?;
    loop {
        viewer.update();
        viewer.show(console);
        tokio::select! {
            key = keys.next() => {
                if viewer.press(key) == KeyRequest::Close {
                    return Ok(ExitCode::SUCCESS);
                }
            }
            () = interrupts.next() => {
                if let Some(interrupt) = interrupts.received() {
                    return Ok(ExitCode::from(interrupt.code()));
                }
            }
            _ = resized.recv() => {}
            () = tokio::time::sleep(viewer.period()) => {}
        }
    }
}
