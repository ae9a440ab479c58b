//! `replay import`: converts a game from another program into a transcript.

use crate::cli::global::Global;
use crate::cli::output::{check_new, eprint_line, print};
use crate::cli::runtime::machine;
use crate::cli::setup::find_kind;
use crate::reading::report;
use clap::Args;
use referee_games::{GameKind, NotationKind, notations};
use referee_match::transcript::{Origin, import};
use referee_play::destination::{Destination, is_transcript};
use referee_play::input_files::read_record;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Event, Header};
use std::io;
use std::path::{Path, PathBuf};

/// Convert a game from another program into a transcript
///
/// `verify`, `replay` and `export` accept it like any other. It contains no times and no agent commands.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee replay import game.sgf --out game.jsonl\n  \
    referee replay import games.sgf --number 3 --out third.jsonl.gz")]
pub(super) struct Options {
    /// File to read, by the ending of its name; - is stdin
    file: String,
    /// Transcript to write: .jsonl, or .jsonl.gz for a compressed one
    #[arg(long, short)]
    out: PathBuf,
    /// Game, if several use the file's ending. Defaults to the ending's
    #[arg(long)]
    game: Option<String>,
    /// Number of the game in the file, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// Overwrite the transcript
    #[arg(long)]
    force: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let output = options.out.display();
    if !is_transcript(&options.out) {
        return Err(Failure::usage(format!("--out {output}: not a transcript name"))
            .help("end the name with .jsonl or .jsonl.gz"));
    }
    check_new("--out", &options.out, options.force)?;
    let (kind, notation) = notation(options)?;
    let (text, digest) = read_record(&options.file)?;
    let failed =
        |text: String| Failure::operation(format!("{}: {}", options.file, sanitize(&text)));
    let number = usize::try_from(options.number).unwrap_or(usize::MAX);
    let read = notation.read(&text, number).map_err(failed)?;
    let file = Path::new(&options.file).file_name().unwrap_or_default();
    let origin = Origin {
        file: file.to_string_lossy().into_owned(),
        digest,
        number: u64::from(options.number).saturating_sub(1),
        started: jiff::Timestamp::now().to_string(),
    };
    let events = import(kind, &read.record, &origin).map_err(failed)?;
    let Some(Event::Header(header)) = events.first() else {
        unreachable!("a transcript begins with its header")
    };
    let destination = Destination::File { path: options.out.clone(), force: options.force };
    write(&destination, header, &events).map_err(machine(&output))?;
    for note in &read.notes {
        eprint_line(&format!("note: {}", sanitize(note)));
    }
    if !global.quiet {
        print(&summary(header, &events))?;
        eprint_line(&format!("wrote {output}"));
    }
    Ok(())
}

/// Returns the game and its notation, by --game and the ending of the file name.
fn notation(options: &Options) -> Result<(GameKind, &'static NotationKind), Failure> {
    let ending = Path::new(&options.file).extension().map(|it| it.to_string_lossy().into_owned());
    let ending = ending.map(|ending| ending.to_ascii_lowercase());
    let known: Vec<String> = notations()
        .map(|(kind, notation)| format!("{} (.{})", kind.name, notation.ending))
        .collect();
    let help = format!("supported games and endings: {}", known.join(", "));
    let wanted = options.game.as_deref().map(find_kind).transpose()?;
    let fits = |(kind, notation): &(GameKind, &NotationKind)| {
        let of_game = wanted.is_none_or(|wanted| wanted.name == kind.name);
        // Stdin has no file name.
        of_game && (options.file == "-" || ending.as_deref() == Some(notation.ending))
    };
    let mut fitting = notations().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            let text = format!("{}: several games use this ending", options.file);
            Err(Failure::usage(text).help("choose one with --game"))
        }
        (None, _) => {
            Err(Failure::usage(format!("{}: no game can be read from this ending", options.file))
                .help(help))
        }
    }
}

fn write(destination: &Destination, header: &Header, events: &[Event]) -> io::Result<()> {
    let (mut sink, _) = destination.open(header)?;
    for event in events {
        sink.record(event)?;
    }
    sink.finish(true).map(|_| ())
}

/// Returns the game as text, as `replay --print` does.
fn summary(header: &Header, events: &[Event]) -> String {
    let title = report::title(header);
    match events.last() {
        Some(Event::Over(over)) => {
            title + &report::verdict(header, over.outcome.as_ref(), &over.verdict)
        }
        _ => title,
    }
}
