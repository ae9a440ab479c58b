//! `replay FILE`: a recorded match, ply by ply, as text.

use crate::cli::output::{BoardOptions, print, stdout_has_colour, tell as warn};
use crate::cli::{report, viewer};
use clap::Args;
use referee_games::{AnyGame, Turn, kind};
use referee_match::transcript::{End, read};
use referee_play::inputs::read_transcript;
use referee_process::Failure;
use referee_protocol::plain::tame;
use referee_protocol::{Event, Header, Seat, StderrEvent};
use referee_render::{Style, terminal};
use std::fmt::Write;
use std::process::ExitCode;

/// What is shown of a recorded match, and how.
#[derive(Debug, Args)]
pub(super) struct Shown {
    /// The transcript; `latest` is the newest in ./matches, `-` is stdin
    #[arg(required = true)]
    file: Option<String>,
    /// Prints every position and what happened, one below the other
    #[arg(long)]
    print: bool,
    /// Only this turn; the viewer opens at it
    #[arg(long)]
    turn: Option<u64>,
    #[command(flatten)]
    board: BoardOptions,
}

pub(super) fn run(options: &Shown) -> Result<ExitCode, Failure> {
    // Only a subcommand needs no file, and then nothing is shown here.
    let file = options.file.as_deref().unwrap_or("latest");
    if !options.print && viewer::is_wanted(file) {
        return viewer::replay(file, options.turn, &options.board);
    }
    let bytes = read_transcript(file)?;
    let style = options.board.style(stdout_has_colour());
    tell(&bytes, file, options.turn, style, print)?;
    Ok(ExitCode::SUCCESS)
}

/// The match as it is printed, without colour, as far as it can be read: what is missing is told.
pub(super) fn text(bytes: &[u8], file: &str, board: &BoardOptions) -> Result<String, Failure> {
    let mut whole = String::new();
    let told = tell(bytes, file, None, board.style(false), |text| {
        whole.push_str(text);
        Ok(())
    });
    match told {
        Err(failure) if whole.is_empty() => Err(failure),
        Err(failure) => {
            warn(&format!("warning: {failure}: written as far as that"));
            Ok(whole)
        }
        Ok(()) => Ok(whole),
    }
}

/// Tells a match, or one turn of it, piece by piece.
fn tell(
    bytes: &[u8],
    file: &str,
    only: Option<u64>,
    style: Option<Style>,
    mut out: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |text: String| Failure::operation(format!("{file}: {text}"));
    let mut reading = read(bytes).map_err(|error| failed(error.to_string()))?;
    let header = reading.header.clone();
    let kind = kind(&header.game)
        .ok_or_else(|| failed(format!("the game {} is unknown here", header.game)))?;
    let game = kind.start(&header.setup).map_err(|error| failed(error.to_string()))?;
    let mut replay = Replay { only, style, header, game, shown: false };
    if only.is_none() {
        out(&replay.title())?;
    }
    while let Some(event) = reading.next() {
        let line = reading.line();
        let text = replay.event(&event).map_err(|error| {
            failed(format!("line {line}: {error}")).help("`referee verify` says more")
        })?;
        out(&text)?;
    }
    if let Some(turn) = only
        && !replay.shown
    {
        let last = replay.game.turn_number();
        return Err(Failure::usage(format!("--turn {turn}: the match has turns up to {last}")));
    }
    match reading.end() {
        Some(End::Seal(_)) | None => Ok(()),
        Some(End::Cut { line }) => Err(failed(format!("the transcript is cut off at line {line}"))),
        Some(End::Broken { line, text }) => Err(failed(format!("line {line}: {text}"))),
    }
}

struct Replay {
    /// The turn to be shown; all of them without one.
    only: Option<u64>,
    /// How boards are drawn; without it none are.
    style: Option<Style>,
    header: Header,
    game: Box<dyn AnyGame>,
    shown: bool,
}

impl Replay {
    fn title(&self) -> String {
        format!("{}\n{}", report::title(&self.header), self.board())
    }

    /// What is to be printed because of an event.
    fn event(&mut self, event: &Event) -> Result<String, String> {
        let turn = self.game.turn_number();
        let wanted = self.only.is_none_or(|wanted| wanted == turn);
        let mut text = String::new();
        match event {
            Event::Played(played) => {
                let shown = self.game.show_action(&played.action);
                if self.game.turn() != Turn::Of(played.seat) {
                    return Err(format!("seat {} is not to move", played.seat));
                }
                self.game.play(&played.action).map_err(|refusal| refusal.to_string())?;
                let (name, shown) = (self.name(played.seat), tame(&shown));
                let used = played.used_ms;
                writeln!(text, "\nturn {turn}: {name} {shown} ({used} ms)").ok();
                text.push_str(&self.board());
            }
            Event::Retired(retired) => {
                self.game.retire(retired.seat);
                let name = self.name(retired.seat);
                let (kind, why) = (retired.fault.kind, tame(&retired.fault.text));
                writeln!(text, "\nturn {turn}: {name} is out: {kind}, {why}").ok();
            }
            Event::Stderr(stderr) => text.push_str(&self.complaint(stderr)),
            Event::Over(over) => {
                let told = report::verdict(&self.header, over.outcome.as_ref(), &over.verdict);
                write!(text, "\n{told}").ok();
            }
            _ => {}
        }
        self.shown |= wanted;
        Ok(if wanted { text } else { String::new() })
    }

    fn complaint(&self, stderr: &StderrEvent) -> String {
        let name = self.name(stderr.seat);
        let lines = stderr.text.lines();
        lines.fold(String::new(), |mut text, line| {
            writeln!(text, "  {name} says: {}", tame(line)).expect("text takes text");
            text
        })
    }

    fn board(&self) -> String {
        let style = self.style.as_ref();
        style.map(|style| terminal(&self.game.view(), style)).unwrap_or_default()
    }

    fn name(&self, seat: Seat) -> String {
        let seat = self.header.seats.get(seat.index());
        seat.map_or_else(|| "nobody".to_owned(), |seat| tame(&seat.name))
    }
}
