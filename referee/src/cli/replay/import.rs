//! `replay import`: a game that was played elsewhere as a transcript.

use crate::cli::Global;
use crate::cli::output::{print, tell};
use crate::cli::runtime::machine;
use crate::reading::report;
use clap::Args;
use referee_games::{GameKind, NotationKind, kind, nearest_kind, notations};
use referee_match::transcript::{Origin, import};
use referee_play::destination::{Destination, is_transcript};
use referee_play::input_files::read_record;
use referee_process::Failure;
use referee_protocol::plain::tame;
use referee_protocol::{Event, Header};
use std::io;
use std::path::{Path, PathBuf};

/// Reads a game that was played elsewhere into a transcript, which `verify` and `replay` take as
/// any other. It says of no time that it was used and of no program that it was started.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n    referee replay import game.sgf --output game.jsonl")]
pub(super) struct Options {
    /// The file, read by the ending of its name; `-` is stdin
    file: String,
    /// The transcript to write; .gz at its end packs it
    #[arg(long, short)]
    output: PathBuf,
    /// The game, where the file's name doesn't tell it
    #[arg(long)]
    game: Option<String>,
    /// Which game of the file, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// Overwrites the transcript
    #[arg(long)]
    force: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let output = options.output.display();
    if !is_transcript(&options.output) {
        return Err(Failure::usage(format!("--output {output}: no name of a transcript"))
            .help("its name ends with .jsonl or .jsonl.gz"));
    }
    if options.output.exists() && !options.force {
        return Err(Failure::usage(format!("--output {output}: the file exists"))
            .help("--force overwrites it"));
    }
    let (kind, notation) = notation(options)?;
    let (text, digest) = read_record(&options.file)?;
    let failed = |text: String| Failure::operation(format!("{}: {}", options.file, tame(&text)));
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
    let destination = Destination::File { path: options.output.clone(), force: options.force };
    write(&destination, header, &events).map_err(machine(&output))?;
    for note in &read.notes {
        tell(&format!("note: {}", tame(note)));
    }
    if !global.quiet {
        print(&summary(header, &events))?;
        tell(&format!("wrote {output}"));
    }
    Ok(())
}

/// The game and its notation: as the options say, or else by the ending of the file's name.
fn notation(options: &Options) -> Result<(GameKind, &'static NotationKind), Failure> {
    let ending = Path::new(&options.file).extension().map(|it| it.to_string_lossy().into_owned());
    let ending = ending.map(|ending| ending.to_ascii_lowercase());
    let known: Vec<String> = notations()
        .map(|(kind, notation)| format!("{} (.{})", kind.name, notation.ending))
        .collect();
    let help = format!("games and endings that can be read: {}", known.join(", "));
    let wanted = match &options.game {
        None => None,
        Some(name) => Some(kind(name).ok_or_else(|| {
            let near = nearest_kind(name).map(|kind| format!("did you mean {}?", kind.name));
            Failure::usage(format!("there is no game {name}")).or_help(near)
        })?),
    };
    let fits = |(kind, notation): &(GameKind, &NotationKind)| {
        let of_game = wanted.is_none_or(|wanted| wanted.name == kind.name);
        // What comes from stdin has no name.
        of_game && (options.file == "-" || ending.as_deref() == Some(notation.ending))
    };
    let mut fitting = notations().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            let text = format!("{}: several games have such files", options.file);
            Err(Failure::usage(text).help("say which one with --game"))
        }
        (None, _) => {
            Err(Failure::usage(format!("{}: no game that is read from it", options.file))
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

/// What was read, as `replay` tells it.
fn summary(header: &Header, events: &[Event]) -> String {
    let title = report::title(header);
    match events.last() {
        Some(Event::Over(over)) => {
            title + &report::verdict(header, over.outcome.as_ref(), &over.verdict)
        }
        _ => title,
    }
}
