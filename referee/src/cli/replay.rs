//! `replay`: a recorded match, ply by ply.

use super::output::{BoardOptions, print, stdout_has_colour};
use super::report;
use crate::failure::Failure;
use crate::plain::tame;
use crate::render::terminal;
use crate::shell::inputs::read_transcript;
use crate::transcript::{End, read};
use clap::Args;
use referee_games::{AnyGame, Turn, kind};
use referee_protocol::{Event, Header, Seat, StderrEvent};
use std::fmt::Write;
use std::process::ExitCode;

/// Shows a recorded match, ply by ply.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The transcript; `latest` is the newest in ./matches, `-` is stdin
    file: String,
    /// Prints every position and what happened, one below the other
    #[arg(long)]
    print: bool,
    /// Only this turn
    #[arg(long)]
    turn: Option<u64>,
    #[command(flatten)]
    board: BoardOptions,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let bytes = read_transcript(&options.file)?;
    let failed = |text: String| Failure::operation(format!("{}: {text}", options.file));
    let mut reading = read(&bytes).map_err(|error| failed(error.to_string()))?;
    let header = reading.header.clone();
    let kind = kind(&header.game)
        .ok_or_else(|| failed(format!("the game {} is unknown here", header.game)))?;
    let game = kind.start(&header.setup).map_err(|error| failed(error.to_string()))?;
    let mut replay = Replay { options, header, game, shown: false };
    if options.turn.is_none() {
        print(&replay.title())?;
    }
    while let Some(event) = reading.next() {
        let line = reading.line();
        let text = replay.event(&event).map_err(|error| {
            failed(format!("line {line}: {error}")).help("`referee verify` says more")
        })?;
        print(&text)?;
    }
    if let Some(turn) = options.turn
        && !replay.shown
    {
        let last = replay.game.turn_number();
        return Err(Failure::usage(format!("--turn {turn}: the match has turns up to {last}")));
    }
    match reading.end() {
        Some(End::Seal(_)) | None => Ok(ExitCode::SUCCESS),
        Some(End::Cut { line }) => Err(failed(format!("the transcript is cut off at line {line}"))),
        Some(End::Broken { line, text }) => Err(failed(format!("line {line}: {text}"))),
    }
}

struct Replay<'a> {
    options: &'a Options,
    header: Header,
    game: Box<dyn AnyGame>,
    shown: bool,
}

impl Replay<'_> {
    fn title(&self) -> String {
        format!("{}\n{}", report::title(&self.header), self.board())
    }

    /// What is to be printed because of an event.
    fn event(&mut self, event: &Event) -> Result<String, String> {
        let turn = self.game.turn_number();
        let wanted = self.options.turn.is_none_or(|wanted| wanted == turn);
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
        let style = self.options.board.style(stdout_has_colour());
        style.map(|style| terminal(&self.game.view(), &style)).unwrap_or_default()
    }

    fn name(&self, seat: Seat) -> String {
        let seat = self.header.seats.get(seat.index());
        seat.map_or_else(|| "nobody".to_owned(), |seat| tame(&seat.name))
    }
}
