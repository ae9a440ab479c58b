//! `schema`: JSON Schema made from the very types that read and write.

use super::output::{print, print_json, row};
use clap::Args;
use referee_games::nearest;
use referee_process::Failure;
use referee_protocol::{ClockSettings, Event, FromAgent, Limits, Outcome, ToAgent, Verdict};
use schemars::{Schema, schema_for};

/// Prints JSON Schema (2020-12) of messages, transcripts and outputs.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// What to print; without it, the names are listed
    name: Option<String>,
}

/// A name, what it describes, and how its schema is made.
type Entry = (&'static str, &'static str, fn() -> Schema);

const SCHEMAS: &[Entry] = &[
    ("to-agent", "what the referee says to an agent, a line", || schema_for!(ToAgent)),
    ("from-agent", "what an agent says to the referee, a line", || schema_for!(FromAgent)),
    ("transcript", "a line of a transcript", || schema_for!(Event)),
    ("clock", "a clock's settings", || schema_for!(ClockSettings)),
    ("limits", "what an agent may use", || schema_for!(Limits)),
    ("outcome", "how a game ended by its rules", || schema_for!(Outcome)),
    ("verdict", "how a match ended", || schema_for!(Verdict)),
    ("play", "a match as `play --json` prints it", || schema_for!(super::play::Told)),
    ("check", "a check as `check --json` prints it", || schema_for!(super::check::Told)),
    ("debug", "a turn as `debug --json` prints it", || schema_for!(super::debug::Told)),
    ("games", "the games as `games --json` prints them", || schema_for!(super::games::AllTold)),
    ("position", "a position as `position --json` prints it", || schema_for!(crate::reading::Told)),
    ("perft", "counts as `perft --json` prints them", || schema_for!(super::perft::Told)),
    ("new", "what was created, as `new --json` prints it", || schema_for!(super::new::Told)),
    ("languages", "the languages as `new --lang list --json` prints them", || {
        schema_for!(super::languages::AllTold)
    }),
    ("doctor", "a machine as `doctor --json` prints it", || schema_for!(super::doctor::Told)),
    ("contest-file", "a contest.toml, as JSON has it", referee_contest::file::schema),
    ("contest-plan", "a contest as `contest plan --json` prints it", || {
        schema_for!(super::contest::plan::Told)
    }),
    ("contest-status", "a contest as `contest status --json` prints it", || {
        schema_for!(super::contest::status::Told)
    }),
    ("workers", "the workers of a contest, workers.json in its folder", || {
        schema_for!(referee_runner::workers::Workers)
    }),
    ("contest-report", "results as `contest report --json` prints them", || {
        schema_for!(referee_contest::report::Report)
    }),
    ("compare", "what `compare --json` prints", || schema_for!(referee_contest::sprt::Summary)),
    ("verify", "a file as `verify --json` prints it", || schema_for!(super::verify::Told)),
];

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let Some(name) = &options.name else {
        let rows: Vec<Vec<String>> =
            SCHEMAS.iter().map(|(name, what, _)| row([name, what])).collect();
        return print(&super::output::table(&rows));
    };
    let Some((_, _, make)) = SCHEMAS.iter().find(|(known, ..)| known == name) else {
        let near = nearest(name, SCHEMAS.iter().map(|(known, ..)| *known));
        return Err(Failure::usage(format!("no schema `{name}`"))
            .help("`referee schema` lists them")
            .or_help(near.map(|near| format!("did you mean `{near}`?"))));
    };
    print_json(&make())
}
