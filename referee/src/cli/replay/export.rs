//! `replay export`: writes a match as a picture, an animation, a page, text or another notation.

use super::notation;
use super::video::Video;
use crate::cli::bars::progress_bar;
use crate::cli::global::Global;
use crate::cli::output::{BoardOptions, eprint_line};
use crate::cli::values::{forms, themes};
use crate::reading::{TurnChoice, print};
use clap::Args;
use referee_games::Games;
use referee_match::times::read_time;
use referee_match::transcript::{
    FollowState, Playback, Ply, PlyKind, TranscriptFollower, Viewable, viewable,
};
use referee_play::destination::create;
use referee_play::input_files::read_transcript;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_render::pictures::{
    AnimationFrames, OutputFormat, PictureOptions, Plies, write_picture,
};
use referee_render::{PictureError, Theme};
use referee_web::{MatchPage, MatchState, export};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::str::FromStr;
use strum::VariantArray;

/// The default number of positions of a strip.
const STRIP: &str = "12";
/// The shortest delay that image viewers respect.
const DELAY_MIN_MS: u64 = 20;
/// The longest delay that GIF and APNG can hold.
const DELAY_MAX_MS: u64 = 60_000;

/// Export a match as a picture, animation, web page, text or SGF
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_long_help = "Examples:\n  \
    referee replay export latest --out end.svg\n  \
    referee replay export x.jsonl --out turn12.png --turn 12 --theme dark --coords\n  \
    referee replay export x.jsonl --out match.gif --delay 0.5s\n  \
    referee replay export x.jsonl --out finish.gif --last 12\n  \
    referee replay export x.jsonl --out match.mp4 --square\n  \
    referee replay export x.jsonl --out strip.png --strip 9\n  \
    referee replay export x.jsonl --out x.html\n  \
    referee replay export x.jsonl --out x.sgf")]
pub(super) struct Options {
    /// Transcript; `latest` is the newest in ./matches, - is stdin
    file: String,
    /// File to write, by its ending: .svg, .png, .gif, .apng, .mp4 or .webm (with ffmpeg),
    /// .html, .txt or .sgf; - is stdout
    #[arg(short, long, value_name = "NAME")]
    out: String,
    /// Format to write. Defaults to the ending of --out
    #[arg(long, value_parser = forms())]
    format: Option<OutputFormat>,
    /// Turn whose position to draw, or `start`. Defaults to the last
    #[arg(long, value_name = "TURN", conflicts_with = "strip")]
    turn: Option<TurnChoice>,
    /// Turns of an animation: FROM..TO, FROM.. or ..TO, with both ends. Defaults to all
    #[arg(long, value_name = "FROM..TO")]
    turns: Option<TurnRange>,
    /// Show only the last N positions in an animation
    #[arg(long, value_name = "N", conflicts_with = "turns",
        value_parser = clap::value_parser!(u16).range(1..))]
    last: Option<u16>,
    /// Draw up to N positions, spread evenly over the match, 1 to 200. Defaults to 1; without N, 12
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = STRIP,
        value_parser = clap::value_parser!(u16).range(1..=200))]
    strip: Option<u16>,
    /// Colours: dark on light, or light on dark
    #[arg(long, value_parser = themes(), default_value = "light")]
    theme: Theme,
    /// Show coordinates on two sides
    #[arg(short = 'k', long)]
    coords: bool,
    /// Rotate the board by 180 degrees
    #[arg(long)]
    flip: bool,
    /// Make pictures and animations square
    #[arg(long, conflicts_with = "strip")]
    square: bool,
    /// Width of pictures in pixels, except .svg, 16 to 16384. Defaults to the size of the board
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(16..=16384))]
    width: Option<u32>,
    /// Time per position of an animation, 20ms to 60s; the last one is shown longer
    #[arg(long, value_name = "TIME", default_value = "700ms", value_parser = read_time)]
    delay: u64,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// The turns of an animation.
#[derive(Clone, Copy, Debug)]
struct TurnRange {
    from: u64,
    to: u64,
}

impl FromStr for TurnRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str, missing: u64| match text {
            "" => Some(missing),
            _ => text.parse().ok(),
        };
        let (from, to) = text.split_once("..").ok_or("expected FROM..TO, such as 10..20")?;
        let ends = number(from, 0).zip(number(to, u64::MAX));
        let (from, to) = ends.ok_or("expected a range of turns, such as 10..20")?;
        if from > to {
            return Err("the first turn comes after the last");
        }
        Ok(Self { from, to })
    }
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let form = options.form()?;
    options.check(form)?;
    let games = &global.games(Path::new(&options.file))?;
    let text = match form {
        OutputFormat::Svg
        | OutputFormat::Png
        | OutputFormat::Gif
        | OutputFormat::Apng
        | OutputFormat::Mp4
        | OutputFormat::Webm => return options.picture(form, games, global),
        OutputFormat::Html => options.page(games)?,
        OutputFormat::Txt => {
            let (coords, flip) = (options.coords, options.flip);
            let board = BoardOptions { coords, flip, ..BoardOptions::default() };
            printed(&read_transcript(&options.file)?, games, &options.file, &board)?
        }
        OutputFormat::Sgf => {
            notation::to_notation(&read(&options.file, games)?.0, &options.file, "sgf")?
        }
    };
    options.write(|out| Ok(out.write_all(text.as_bytes())?))
}

/// Reads the match as far as possible, and warns if it is incomplete.
fn read(file: &str, games: &Games) -> Result<(Playback, MatchState), Failure> {
    let following = TranscriptFollower::of(&read_transcript(file)?, games);
    warn_of_rules(following.missing_rules());
    let state = following.state().clone();
    let broken = |line: u64, text: &str| format!("{file}: line {line}: {}", sanitize(text));
    let Some(playback) = following.into_playback() else {
        let text = match state {
            FollowState::Broken { line, text } => broken(line, &text),
            FollowState::Open | FollowState::Sealed(_) => {
                format!("{file}: it contains no complete line")
            }
        };
        return Err(Failure::operation(text).help("`referee verify` explains it"));
    };
    let progress = match state {
        FollowState::Sealed(_) => MatchState::Over,
        FollowState::Open => {
            eprint_line(&format!(
                "warning: {file} is incomplete; exporting the part that is there"
            ));
            MatchState::Torn
        }
        FollowState::Broken { line, text } => {
            eprint_line(&format!("warning: {}; exporting the part before it", broken(line, &text)));
            MatchState::Broken(format!("line {line}: {text}"))
        }
    };
    Ok((playback, progress))
}

fn warn_of_rules(missing: Option<&str>) {
    if let Some(missing) = missing {
        eprint_line(&format!("warning: {missing}; exporting what needs no rules"));
    }
}

/// Returns the match as `replay --print` prints it, as far as possible. Warns if it is incomplete.
fn printed(
    bytes: &[u8],
    games: &Games,
    file: &str,
    board: &BoardOptions,
) -> Result<String, Failure> {
    let (mut whole, mut has_text) = (String::new(), false);
    let Viewable { games, missing } = viewable(bytes, games);
    warn_of_rules(missing.as_deref());
    // Once, and not for every board.
    if let Some(missing) = &missing {
        whole = format!("note: {missing}\n\n");
    }
    let style = board.style(false).filter(|_| missing.is_none());
    let printed = print(bytes, &games, file, None, style.as_ref(), |text| {
        whole.push_str(text);
        has_text = true;
        Ok(())
    });
    match printed {
        Err(failure) if !has_text => return Err(failure),
        Err(failure) => eprint_line(&format!("warning: {failure}; exporting the part before it")),
        Ok(()) => {}
    }
    Ok(whole)
}

impl Options {
    /// Returns the format, by --format or the ending.
    fn form(&self) -> Result<OutputFormat, Failure> {
        if let Some(form) = self.format {
            return Ok(form);
        }
        let names: Vec<&str> = OutputFormat::VARIANTS.iter().map(|form| form.ending()).collect();
        if self.out == "-" {
            return Err(Failure::usage("--out - needs --format")
                .help(format!("add --format {}", names.join("|"))));
        }
        let ending = Path::new(&self.out).extension().unwrap_or_default().to_string_lossy();
        ending.parse().map_err(|_| {
            Failure::usage(format!("--out {}: unknown file ending", self.out))
                .help(format!("use .{}, or add --format", names.join(", .")))
        })
    }

    /// Checks that the options fit the format.
    fn check(&self, form: OutputFormat) -> Result<(), Failure> {
        let has_all_turns = !matches!(form, OutputFormat::Svg | OutputFormat::Png);
        if has_all_turns && (self.turn.is_some() || self.strip.is_some()) {
            let given = if self.turn.is_some() { "--turn" } else { "--strip" };
            let text = format!("{given}: a .{} file contains every turn", form.ending());
            return Err(Failure::usage(text).help(format!("remove {given}, or write .svg or .png")));
        }
        let is_part = self.turns.is_some() || self.last.is_some();
        if is_part && !form.is_animation() {
            let given = if self.turns.is_some() { "--turns" } else { "--last" };
            let text = format!("{given}: a .{} file is not an animation", form.ending());
            return Err(Failure::usage(text)
                .help("write .gif, .apng, .mp4 or .webm; --turn and --strip are for pictures"));
        }
        if !(DELAY_MIN_MS..=DELAY_MAX_MS).contains(&self.delay) {
            return Err(Failure::usage(format!("--delay {}ms is out of range", self.delay))
                .help(format!("use {DELAY_MIN_MS}ms to {}s", DELAY_MAX_MS / 1000)));
        }
        Ok(())
    }

    /// Writes a picture or an animation.
    fn picture(&self, form: OutputFormat, games: &Games, global: &Global) -> Result<(), Failure> {
        let (playback, _) = read(&self.file, games)?;
        let plies = self.plies(&playback)?;
        let drawn = PictureOptions {
            theme: self.theme,
            coordinates: self.coords,
            flip: self.flip,
            square: self.square,
            width: self.width,
            delay_ms: u32::try_from(self.delay).unwrap_or(u32::MAX),
        };
        let wanted = form.is_animation() && !global.quiet && io::stderr().is_terminal();
        let count = match plies {
            Plies::Range(first, last) => last - first + 1,
            Plies::One(_) | Plies::Strip(_) => playback.plies().len(),
        };
        let bar = progress_bar(count, wanted);
        let mut done = |count: usize| bar.set_position(count as u64);
        let written = if form.is_video() {
            let video = Video::new(form)?;
            self.write(|out| {
                let frames = AnimationFrames::new(&playback, plies, &drawn)?;
                video.write(&frames, drawn.delay_ms, out, &mut done)
            })
        } else {
            self.write(|out| write_picture(form, &playback, plies, &drawn, out, &mut done))
        };
        bar.finish_and_clear();
        written
    }

    /// Returns the viewer page with the match in it.
    fn page(&self, games: &Games) -> Result<String, Failure> {
        let (playback, stage) = read(&self.file, games)?;
        let name = Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy();
        Ok(export(&MatchPage::new(&name, &playback, &stage, 0)))
    }

    fn plies(&self, playback: &Playback) -> Result<Plies, Failure> {
        if let Some(most) = self.strip {
            return Ok(Plies::Strip(usize::from(most)));
        }
        let plies = playback.plies();
        let end = plies.len() - 1;
        if let Some(count) = self.last {
            return Ok(Plies::Range(plies.len().saturating_sub(usize::from(count)), end));
        }
        if let Some(TurnRange { from, to }) = self.turns {
            let inside = |ply: &Ply| (from..=to).contains(&ply.turn);
            let (first, last) = (plies.iter().position(inside), plies.iter().rposition(inside));
            let range = first.zip(last).map(|(first, last)| Plies::Range(first, last));
            return range.ok_or_else(|| {
                let last = plies[end].turn;
                Failure::usage(format!(
                    "--turns: the match has none of these turns; the last is {last}"
                ))
            });
        }
        let turn = match self.turn {
            None => return Ok(Plies::One(plies.len() - 1)),
            Some(TurnChoice::Start) => return Ok(Plies::One(0)),
            Some(TurnChoice::After(turn)) => turn,
        };
        let in_turn =
            |kind: &PlyKind| matches!(kind, PlyKind::Played { .. } | PlyKind::Retired { .. });
        let turns = || plies.iter().filter(|ply| in_turn(&ply.kind)).map(|ply| ply.turn);
        let found = plies.iter().rposition(|ply| in_turn(&ply.kind) && ply.turn == turn);
        found.map(Plies::One).ok_or_else(|| {
            let last = turns().max().unwrap_or(0);
            Failure::usage(format!("--turn {turn}: the last turn is {last}"))
        })
    }

    /// Writes to --out. Removes the file if writing fails.
    fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), PictureError>,
    ) -> Result<(), Failure> {
        let failed = |error: PictureError| match error {
            PictureError::TooLarge { .. } => {
                Failure::usage(error.to_string()).help("use a smaller --width or --strip")
            }
            PictureError::Broken(_) => Failure::operation(error.to_string()),
            PictureError::Written(error) => {
                Failure::machine(format!("cannot write {}: {error}", self.out))
            }
        };
        if self.out == "-" {
            return match write(&mut io::stdout().lock()) {
                // The reader has closed the pipe.
                Err(PictureError::Written(error)) if error.kind() == ErrorKind::BrokenPipe => {
                    Ok(())
                }
                other => other.map_err(failed),
            };
        }
        let path = Path::new(&self.out);
        let file = create(path, self.force).map_err(|error| {
            let text = format!("{}: {error}", self.out);
            match error.kind() {
                ErrorKind::AlreadyExists => {
                    Failure::operation(text).help("add --force to overwrite it")
                }
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
