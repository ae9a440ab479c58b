//! `schema`: JSON Schema, generated from the types that read and write.

use super::output::{print, print_json, row};
use super::setup::unknown;
use clap::Args;
use referee_games::wire::{Numbered, Request, answer_schema};
use referee_process::Failure;
use referee_protocol::{ClockSettings, Event, FromAgent, Limits, Outcome, ToAgent, Verdict};
use referee_runner::verifying::CheckedFile;
use schemars::{Schema, schema_for};

/// Print the JSON Schema of messages, transcripts and --json output
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee schema\n  \
    referee schema from-agent")]
pub(super) struct Options {
    /// Schema to print (JSON Schema 2020-12). Defaults to a list of all names
    name: Option<String>,
}

/// A name, what it describes, and the function that makes its schema.
type Entry = (&'static str, &'static str, fn() -> Schema);

const SCHEMAS: &[Entry] = &[
    ("to-agent", "a line from the referee to an agent", || schema_for!(ToAgent)),
    ("from-agent", "a line from an agent to the referee", || schema_for!(FromAgent)),
    ("to-game", "a line from the referee to a game program", || schema_for!(Numbered<Request>)),
    ("from-game", "a line from a game program to the referee", answer_schema),
    ("transcript", "a line of a transcript", || schema_for!(Event)),
    ("clock", "the settings of a clock", || schema_for!(ClockSettings)),
    ("limits", "the limits on an agent", || schema_for!(Limits)),
    ("outcome", "how a game ended by its rules", || schema_for!(Outcome)),
    ("verdict", "how a match ended", || schema_for!(Verdict)),
    ("play", "a match, as `play --json` prints it", || schema_for!(super::play::PlayReport)),
    ("agents", "the built-in agents, as `agents --json` prints them", || {
        schema_for!(super::agents::AgentsReport)
    }),
    ("replay", "a recorded match, as `replay FILE --json` prints it", || {
        schema_for!(crate::reading::MatchReport)
    }),
    ("matches", "the newest matches, as `replay --json` prints them", || {
        schema_for!(super::replay::MatchesReport)
    }),
    ("config", "the settings of config files, as `config --json` prints them", || {
        schema_for!(super::config_command::ConfigReport)
    }),
    ("check", "a check, as `check --json` prints it", || {
        schema_for!(referee_play::check::CheckReport)
    }),
    ("contest-grades", "grades, as `contest grades --json` prints them", || {
        schema_for!(referee_contest::grades::Grades)
    }),
    ("debug", "a turn, as `debug --json` prints it", || schema_for!(super::debug::DebugReport)),
    ("games", "the games, as `games --json` prints them", || {
        schema_for!(super::games::GamesReport)
    }),
    ("game-describe", "a game program, as `game describe --json` prints it", || {
        schema_for!(super::game::DescribedReport)
    }),
    ("game-check", "a check of a game program, as `game check --json` prints it", || {
        schema_for!(referee_play::game_check::GameCheckReport)
    }),
    ("game-new", "the created game, as `game new --json` prints it", || {
        schema_for!(super::game::NewGameReport)
    }),
    ("position", "a position, as `position --json` prints it", || {
        schema_for!(crate::reading::PositionReport)
    }),
    ("perft", "counts, as `perft --json` prints them", || schema_for!(super::perft::PerftReport)),
    ("new", "the created agent, as `new --json` prints it", || schema_for!(super::new::NewReport)),
    ("languages", "the languages, as `languages --json` prints them", || {
        schema_for!(super::languages::LanguagesReport)
    }),
    ("doctor", "a machine, as `doctor --json` prints it", || {
        schema_for!(super::doctor::DoctorReport)
    }),
    ("contest-file", "a contest.toml, as JSON", referee_contest::file::schema),
    ("contest-plan", "a contest, as `contest plan --json` prints it", || {
        schema_for!(super::contest::plan::PlanReport)
    }),
    ("contest-status", "a contest, as `contest status --json` prints it", || {
        schema_for!(super::contest::status::Progress)
    }),
    ("contest-teams", "the teams, as `contest teams --json` prints them", || {
        schema_for!(super::contest::teams::TeamsReport)
    }),
    ("submit", "a version of a team, as `submit --json` prints it", || {
        schema_for!(super::submit::SubmitReport)
    }),
    ("team", "what a team has handed in, as the site's /api/team has it", || {
        schema_for!(referee_runner::course::TeamReport)
    }),
    ("team-ratings", "a team's ratings, as the site's /api/team/ratings has them", || {
        schema_for!(referee_contest::report::OwnRatings)
    }),
    #[cfg(feature = "fleet")]
    (
        "server-status",
        "contests on a server, as `contest status --on URL --json` prints them",
        || schema_for!(Vec<referee_runner::workers::ServedContest>),
    ),
    ("workers", "the workers of a contest, workers.json in its folder", || {
        schema_for!(referee_runner::workers::Workers)
    }),
    ("contest-report", "the results, as `contest report --json` prints them", || {
        schema_for!(referee_contest::report::Report)
    }),
    (
        "contest-ratings",
        "ratings over several contests, as `contest ratings --json` prints them",
        || schema_for!(super::contest::ratings::RatingsReport),
    ),
    ("compare", "a comparison, as `compare --json` prints it", || {
        schema_for!(super::contest::report::ComparisonReport)
    }),
    ("verify", "a file, as `verify --json` prints it", || schema_for!(CheckedFile)),
];

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let Some(name) = &options.name else {
        let rows: Vec<Vec<String>> =
            SCHEMAS.iter().map(|(name, what, _)| row([name, what])).collect();
        return print(&super::output::table(&rows));
    };
    let Some((_, _, make)) = SCHEMAS.iter().find(|(known, ..)| known == name) else {
        return Err(unknown("schema", name, SCHEMAS.iter().map(|(known, ..)| *known)));
    };
    print_json(&make())
}
