//! `replay export`: a recorded match as pictures, as text, or as other programs keep games.

use super::notation;
use crate::cli::Global;
use crate::cli::bars::progress_bar;
use crate::cli::output::{BoardOptions, tell};
use crate::reading::print;
use clap::{Args, ValueEnum};
use referee_match::times::read_time;
use referee_match::transcript::{FollowState, Playback, PlyKind, TranscriptFollower};
use referee_play::destination::create;
use referee_play::input_files::read_transcript;
use referee_process::Failure;
use referee_protocol::plain::tame;
use referee_render::pictures::{Form, Plies, Wish, write_apng, write_gif, write_png, write_svg};
use referee_render::{NoPicture, Theme};
use referee_web::{Sheet, Stage, export};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// A strip has so many pictures unless it is said how many.
const STRIP: &str = "12";
/// Viewers take shorter times for their own.
const DELAY_MIN_MS: u64 = 20;
/// What fits the two bytes of both animated forms.
const DELAY_MAX_MS: u64 = 60_000;

/// Writes a recorded match as a file of another kind: a picture of a position, a film strip, an
/// animation, the viewer in one file, every position as text, or the game as other programs keep
/// it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee replay export latest --output end.svg\n  \
    referee replay export x.jsonl --output turn12.png --turn 12 --theme dark --coords\n  \
    referee replay export x.jsonl --output match.gif --delay 0.5s\n  \
    referee replay export x.jsonl --output strip.png --strip 9\n  \
    referee replay export x.jsonl --output x.html\n  \
    referee replay export x.jsonl --output x.sgf")]
pub(super) struct Options {
    /// The transcript; `latest` is the newest in ./matches, `-` is stdin
    file: String,
    /// Where to; the ending says what it becomes: .svg, .png, .gif, .apng,
    /// .html, .txt, .sgf. `-` is stdout
    #[arg(short, long, value_name = "NAME")]
    output: String,
    /// What it becomes, whatever its name ends with
    #[arg(long, value_enum)]
    form: Option<Form>,
    /// The position after this turn, or `start`; the end if it isn't given
    #[arg(long, value_name = "TURN", conflicts_with = "strip", value_parser = read_turn)]
    turn: Option<Place>,
    /// Several positions in one picture, at most so many, evenly spread over the match
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = STRIP,
        value_parser = clap::value_parser!(u16).range(1..=200))]
    strip: Option<u16>,
    /// Dark on light, or light on dark
    #[arg(long, value_enum, default_value_t)]
    theme: Theme,
    /// Names rows and columns on two sides
    #[arg(short = 'k', long)]
    coords: bool,
    /// Turns the board by half a turn
    #[arg(long)]
    flip: bool,
    /// Width of .png, .gif and .apng in pixels
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(16..=16384))]
    width: Option<u32>,
    /// How long .gif and .apng show a position; the last one stays longer
    #[arg(long, value_name = "TIME", default_value = "700ms", value_parser = read_time)]
    delay: u64,
    /// Overwrites a file that is there
    #[arg(long)]
    force: bool,
}

/// A position of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before anything was played.
    Start,
    /// After this turn.
    After(u64),
}

fn read_turn(text: &str) -> Result<Place, String> {
    match text {
        "start" => Ok(Place::Start),
        _ => text.parse().map(Place::After).map_err(|_| "a turn's number, or `start`".to_owned()),
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let form = options.form()?;
    options.check(form)?;
    let text = match form {
        Form::Svg | Form::Png | Form::Gif | Form::Apng => return options.picture(form, global),
        Form::Html => options.page()?,
        Form::Txt => {
            let (coords, flip) = (options.coords, options.flip);
            let board = BoardOptions { coords, flip, ..BoardOptions::default() };
            printed(&read_transcript(&options.file)?, &options.file, &board)?
        }
        Form::Sgf => notation::written(&read(&options.file)?.0, &options.file, "sgf")?,
    };
    options.write(|out| Ok(out.write_all(text.as_bytes())?))
}

/// The match as far as it can be read. What is missing is told; without a header nothing is there.
fn read(file: &str) -> Result<(Playback, Stage), Failure> {
    let following = TranscriptFollower::of(&read_transcript(file)?);
    let state = following.state().clone();
    let broken = |line: u64, text: &str| format!("{file}: line {line}: {}", tame(text));
    let Some(playback) = following.into_playback() else {
        let text = match state {
            FollowState::Broken { line, text } => broken(line, &text),
            FollowState::Open | FollowState::Sealed(_) => {
                format!("{file}: there is no whole line in it")
            }
        };
        return Err(Failure::operation(text).help("`referee verify` says more"));
    };
    let told = match state {
        FollowState::Sealed(_) => Stage::Over,
        FollowState::Open => {
            tell(&format!("warning: {file} has no end: written as far as it goes"));
            Stage::Torn
        }
        FollowState::Broken { line, text } => {
            tell(&format!("warning: {}: written as far as that", broken(line, &text)));
            Stage::Broken(format!("line {line}: {text}"))
        }
    };
    Ok((playback, told))
}

/// The match as it is printed, without colour, as far as it can be read: what is missing is told.
fn printed(bytes: &[u8], file: &str, board: &BoardOptions) -> Result<String, Failure> {
    let mut whole = String::new();
    let told = print(bytes, file, None, board.style(false).as_ref(), |text| {
        whole.push_str(text);
        Ok(())
    });
    match told {
        Err(failure) if whole.is_empty() => return Err(failure),
        Err(failure) => tell(&format!("warning: {failure}: written as far as that")),
        Ok(()) => {}
    }
    Ok(whole)
}

impl Options {
    /// By the option, else by the ending.
    fn form(&self) -> Result<Form, Failure> {
        if let Some(form) = self.form {
            return Ok(form);
        }
        let names: Vec<&str> = Form::value_variants().iter().map(|form| form.ending()).collect();
        if self.output == "-" {
            return Err(Failure::usage("--output -: what is to be written there isn't said")
                .help(format!("add --form {}", names.join("|"))));
        }
        let ending = Path::new(&self.output).extension().unwrap_or_default().to_string_lossy();
        Form::from_str(&ending, true).map_err(|_| {
            Failure::usage(format!("--output {}: its ending says no form", self.output))
                .help(format!("name it .{}; or say --form", names.join(", .")))
        })
    }

    /// What doesn't go together, which depends on the form.
    fn check(&self, form: Form) -> Result<(), Failure> {
        let whole = match form {
            Form::Svg | Form::Png => None,
            Form::Gif | Form::Apng => Some("an animation shows every turn"),
            Form::Html => Some("the viewer shows every turn"),
            Form::Txt | Form::Sgf => Some("text is of the whole match"),
        };
        if let Some(why) = whole
            && (self.turn.is_some() || self.strip.is_some())
        {
            let given = if self.turn.is_some() { "--turn" } else { "--strip" };
            return Err(Failure::usage(format!("{given}: {why}"))
                .help("write .svg or .png, or leave it out"));
        }
        if !(DELAY_MIN_MS..=DELAY_MAX_MS).contains(&self.delay) {
            return Err(Failure::usage(format!("--delay {}ms: out of range", self.delay))
                .help(format!("from {DELAY_MIN_MS}ms to {}s", DELAY_MAX_MS / 1000)));
        }
        Ok(())
    }

    /// Writes a picture, or several.
    fn picture(&self, form: Form, global: &Global) -> Result<(), Failure> {
        let (playback, _) = read(&self.file)?;
        let plies = self.plies(&playback)?;
        let wish = Wish {
            theme: self.theme,
            coordinates: self.coords,
            flip: self.flip,
            width: self.width,
            delay_ms: u32::try_from(self.delay).unwrap_or(u32::MAX),
        };
        let animated = matches!(form, Form::Gif | Form::Apng);
        let wanted = animated && !global.quiet && io::stderr().is_terminal();
        let bar = progress_bar(playback.plies().len(), wanted);
        let mut done = |count: usize| bar.set_position(count as u64);
        let written = self.write(|out| match form {
            Form::Svg => write_svg(&playback, plies, &wish, out),
            Form::Png => write_png(&playback, plies, &wish, out),
            Form::Gif => write_gif(&playback, &wish, out, &mut done),
            Form::Apng => write_apng(&playback, &wish, out, &mut done),
            Form::Html | Form::Txt | Form::Sgf => unreachable!("text is no picture"),
        });
        bar.finish_and_clear();
        written
    }

    /// The viewer with the match in it.
    fn page(&self) -> Result<String, Failure> {
        let (playback, stage) = read(&self.file)?;
        let name = Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy();
        Ok(export(&Sheet::new(&name, &playback, &stage, 0)))
    }

    fn plies(&self, playback: &Playback) -> Result<Plies, Failure> {
        if let Some(most) = self.strip {
            return Ok(Plies::Strip(usize::from(most)));
        }
        let plies = playback.plies();
        let turn = match self.turn {
            None => return Ok(Plies::One(plies.len() - 1)),
            Some(Place::Start) => return Ok(Plies::One(0)),
            Some(Place::After(turn)) => turn,
        };
        let in_turn = |happening: &PlyKind| {
            matches!(happening, PlyKind::Played { .. } | PlyKind::Retired { .. })
        };
        let turns = || plies.iter().filter(|ply| in_turn(&ply.kind)).map(|ply| ply.turn);
        let found = plies.iter().rposition(|ply| in_turn(&ply.kind) && ply.turn == turn);
        found.map(Plies::One).ok_or_else(|| {
            let last = turns().max().unwrap_or(0);
            Failure::usage(format!("--turn {turn}: the match has turns up to {last}"))
        })
    }

    /// Opens where it goes to, and takes a file away again that couldn't be finished.
    fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), NoPicture>,
    ) -> Result<(), Failure> {
        let failed = |error: NoPicture| match error {
            NoPicture::TooLarge { .. } => Failure::usage(error.to_string())
                .help("--width with a smaller number, or a smaller --strip"),
            NoPicture::Broken(_) => Failure::operation(error.to_string()),
            NoPicture::Written(error) => {
                Failure::machine(format!("{} can't be written: {error}", self.output))
            }
        };
        if self.output == "-" {
            return match write(&mut io::stdout().lock()) {
                // A reader that has gone away has seen enough.
                Err(NoPicture::Written(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                other => other.map_err(failed),
            };
        }
        let path = Path::new(&self.output);
        let file = create(path, self.force).map_err(|error| {
            let text = format!("{}: {error}", self.output);
            match error.kind() {
                ErrorKind::AlreadyExists => Failure::operation(text).help("--force overwrites it"),
                _ => Failure::operation(text),
            }
        })?;
        let mut out = BufWriter::new(file);
        let written = write(&mut out).and_then(|()| Ok(out.flush()?));
        written.map_err(|error| {
            std::fs::remove_file(path).ok();
            failed(error)
        })
    }
}
