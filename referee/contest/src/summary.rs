//! Assembles a report from a contest and its results.

use super::ratings::{RatingField, rate, rate_history};
use super::report::{Command, GameRow, LeftOut, Progress, Report, Setting, VoidCounts, ties};
use super::standings::standings;
use super::{Contest, Record, Schedule};
use referee_match::times::show_clock;
use referee_protocol::plain::count;

/// How many points the chart of ratings over games has.
const HISTORY_POINTS: usize = 20;

/// What a report shows besides the games.
#[derive(Clone, Debug, Default)]
pub struct ReportContext<'a> {
    /// The number of void attempts.
    pub void_attempts: u64,
    /// The number of games given up for now.
    pub given_up: u64,
    /// The sandbox in words, if it is known.
    pub sandbox: Option<&'a str>,
    /// Submissions that don't play, and why.
    pub left_out: Vec<LeftOut>,
    /// Commands to show.
    pub commands: Vec<Command>,
}

/// Returns the report on `records`, which `schedule` has recorded. Games that don't count are left
/// out.
pub fn report(
    contest: &Contest,
    schedule: &Schedule,
    mut records: Vec<Record>,
    about: ReportContext<'_>,
) -> Report {
    records.retain(|record| schedule.counts(record.number));
    let mut bonus = vec![0; contest.players.len()];
    for bye in schedule.byes() {
        bonus[bye.player.index()] += bye.half_points;
    }
    let field = RatingField::of(contest);
    let rated = contest.seats() > 1;
    Report {
        name: contest.name.clone(),
        settings: settings(contest, about.sandbox),
        progress: Progress {
            played: records.len() as u64,
            known: schedule.counted(),
            at_most: schedule.size().1,
            over: schedule.is_over(),
        },
        void: VoidCounts { attempts: about.void_attempts, given_up: about.given_up },
        standings: standings(contest, &records, &bonus, schedule.ranking().as_deref()),
        ratings: rated.then(|| rate(&field, &records)),
        history: if rated { rate_history(&field, &records, HISTORY_POINTS) } else { Vec::new() },
        ties: ties(contest, schedule.results()),
        games: records.iter().map(|record| GameRow::new(contest, record)).collect(),
        left_out: about.left_out,
        commands: about.commands,
    }
}

/// Returns the settings to show.
fn settings(contest: &Contest, sandbox: Option<&str>) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut add = |name: &str, value: String| {
        settings.push(Setting { name: name.to_owned(), value });
    };
    add(
        "format",
        format!("{}, {}", contest.format.name(), count(u64::from(contest.rounds), "round")),
    );
    for game in &contest.games {
        let setup = game.setup.as_object().into_iter().flatten();
        let setup: Vec<String> = setup
            .filter(|(key, _)| key.as_str() != "position")
            .map(|(key, value)| {
                format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        add("game", format!("{} {}", game.name, setup.join(" ")).trim_end().to_owned());
    }
    let chosen: usize = contest.openings.positions.iter().map(Vec::len).sum();
    let openings = match (chosen, contest.openings.plies) {
        (0, 0) => "as the setup says".to_owned(),
        (0, plies) => format!(
            "{} at random, each opening from every seat",
            if plies == 1 { "1 ply".to_owned() } else { format!("{plies} plies") }
        ),
        (count, _) => format!("{count} positions from a file, each from every seat"),
    };
    add("openings", openings);
    add("clock", show_clock(&contest.clock));
    if let Some(sandbox) = sandbox {
        add("sandbox", sandbox.to_owned());
    }
    add("seed", contest.seed.to_string());
    settings
}
