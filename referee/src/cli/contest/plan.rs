//! `contest plan`: shows what a contest file means, without playing.

use super::generated::prepare_built;
use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::jobs::usual;
use crate::cli::output::{print, print_json};
use clap::Args;
use referee_contest::estimate::{Estimate, QUICK_TURN_MS, estimate};
use referee_contest::report::LeftOut;
use referee_contest::wording::count;
use referee_contest::{Contest, ContestGame, Schedule};
use referee_match::times::{show_clock, show_time};
use referee_process::Failure;
use referee_protocol::ClockKind;
use referee_runner::{Broken, Builds, Prepared, prepare};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The number of pairings shown without --pairings.
const PAIRINGS_SHOWN: usize = 20;

/// Show the players, pairings, games and duration of a contest file
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest plan contest.toml\n  \
    referee contest plan contest.toml --build --pairings")]
pub(crate) struct Options {
    /// Contest file
    file: PathBuf,
    /// Show all pairings known in advance, not only the first 20; --json always has all
    #[arg(long)]
    pairings: bool,
    /// Build the agents too, to see whether all builds succeed
    #[arg(long)]
    build: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A contest, as `contest plan --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanReport {
    /// Its name.
    name: String,
    /// The format, as in the contest file.
    format: String,
    /// The games, by the names used in reports.
    plays: Vec<String>,
    /// The players, in the contest's order.
    players: Vec<String>,
    /// Submissions that are left out.
    left_out: Vec<LeftOut>,
    /// The number of rounds.
    rounds: u32,
    /// The number of games; the minimum if it depends on results.
    games: u64,
    /// The maximum number of games.
    games_most: u64,
    /// The number of games per pairing.
    games_a_pairing: usize,
    /// The number of pairings known in advance.
    pairings_known: usize,
    /// These, by player name.
    pairings: Vec<Vec<String>>,
    /// How often players have each seat in these.
    seats: Vec<SeatReport>,
    /// The number of matches that run at once.
    jobs: usize,
    /// The estimate for one match.
    one_match: Estimate,
    /// Estimated seconds for `games` if every turn takes 10 ms.
    seconds_quick: u64,
    /// Estimated seconds for `games_most` if every agent uses its whole clock.
    seconds_most: u64,
    /// Estimated bytes of the transcripts of `games_most`.
    bytes: u64,
    /// Notes, as sentences.
    notes: Vec<String>,
}

/// How often players have a seat, in [`PlanReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct SeatReport {
    /// The seat.
    seat: usize,
    /// The lowest number of games that a player has it.
    least: u64,
    /// The highest number of games that a player has it.
    most: u64,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let prepared = if options.build {
        prepare_built(&options.file, Broken::AsWritten, global)?
    } else {
        let spinner = spinner("reading the agents", !global.quiet);
        let prepared = prepare(&options.file, Builds::Later, Broken::AsWritten);
        spinner.finish_and_clear();
        prepared?
    };
    let schedule = Schedule::new(prepared.contest.clone());
    let report = report(&prepared, &schedule, options)?;
    if options.json {
        return print_json(&report);
    }
    print(&text(&report, &prepared.contest, &schedule))?;
    global.note(&report.notes);
    Ok(())
}

fn report(
    prepared: &Prepared,
    schedule: &Schedule,
    options: &Options,
) -> Result<PlanReport, Failure> {
    let all = options.pairings || options.json;
    let contest = &*prepared.contest;
    let one_match =
        estimate(contest, &prepared.games).map_err(|error| Failure::usage(error.to_string()))?;
    let jobs = prepared.jobs.unwrap_or_else(|| usual(contest.seats(), &contest.limits));
    let (games, games_most) = schedule.size();
    let pairings = schedule.pairings();
    let shown = if all { pairings.len() } else { pairings.len().min(PAIRINGS_SHOWN) };
    let name = |player: &referee_contest::Player| contest.players[player.index()].name.clone();
    let left_out = prepared
        .left_out
        .iter()
        .map(|(name, reason)| LeftOut { name: name.clone(), reason: reason.clone() });
    Ok(PlanReport {
        name: contest.name.clone(),
        format: contest.format.name().to_owned(),
        plays: contest.games.iter().map(|game| game.name.clone()).collect(),
        players: contest.players.iter().map(|player| player.name.clone()).collect(),
        left_out: left_out.collect(),
        rounds: contest.rounds,
        games,
        games_most,
        games_a_pairing: schedule.games_of_a_pairing(),
        pairings_known: pairings.len(),
        pairings: pairings[..shown]
            .iter()
            .map(|pairing| pairing.players.iter().map(name).collect())
            .collect(),
        seats: seats(contest, schedule),
        jobs,
        one_match,
        seconds_quick: seconds(games, one_match.quick_ms, jobs),
        seconds_most: seconds(games_most, one_match.most_ms, jobs),
        bytes: games_most.saturating_mul(one_match.bytes),
        notes: notes(prepared, options.build),
    })
}

/// Returns the seconds that games take if `jobs` run at once.
fn seconds(games: u64, each_ms: u64, jobs: usize) -> u64 {
    let rows = games.div_ceil(jobs.max(1) as u64);
    rows.saturating_mul(each_ms).div_ceil(1000)
}

/// Returns how often players have each seat in the known games.
fn seats(contest: &Contest, schedule: &Schedule) -> Vec<SeatReport> {
    let mut counts = vec![vec![0u64; contest.players.len()]; contest.seats()];
    for fixture in (0..schedule.known()).filter_map(|number| schedule.fixture(number)) {
        for (seat, player) in fixture.players.iter().enumerate() {
            counts[seat][player.index()] += 1;
        }
    }
    let balance = |(seat, counts): (usize, &Vec<u64>)| SeatReport {
        seat,
        least: counts.iter().min().copied().unwrap_or(0),
        most: counts.iter().max().copied().unwrap_or(0),
    };
    counts.iter().enumerate().map(balance).collect()
}

fn notes(prepared: &Prepared, is_built: bool) -> Vec<String> {
    let contest = &*prepared.contest;
    let mut notes = prepared.remarks();
    if !prepared.is_seeded {
        notes.push(
            "the file has no `seed`: `contest run` draws one, so openings and drawn pairings will \
             differ from those shown"
                .to_owned(),
        );
    }
    for game in &contest.games {
        let started = game.kind(&prepared.games).ok().and_then(|kind| kind.start(&game.setup).ok());
        let own = started.map_or_else(Vec::new, |start| start.notes());
        notes.extend(own.into_iter().map(|note| format!("{}: {note}", game.name)));
    }
    let same = contest.openings.plies == 0 && contest.openings.positions.iter().all(Vec::is_empty);
    if same && contest.rounds > 1 && !contest.games.iter().all(ContestGame::has_chance) {
        notes.push(
            "every game starts from the same position, so deterministic agents repeat their games in \
             every round; to vary them, set plies = 4 in [openings]"
                .to_owned(),
        );
    }
    if contest.clock.kind == ClockKind::Cpu {
        notes.push("the clock counts CPU time; the elapsed time may be longer".to_owned());
    }
    let builds = prepared.specs.iter().filter(|spec| spec.build.is_some()).count() as u64;
    if builds > 0 && !is_built {
        let has = if builds == 1 {
            "has a build command that was"
        } else {
            "have build commands that were"
        };
        let agents = count(builds, "agent");
        notes.push(format!("{agents} {has} not run: try them with --build"));
    }
    notes
}

fn text(report: &PlanReport, contest: &Contest, schedule: &Schedule) -> String {
    let mut text = String::new();
    let rounds = count(u64::from(report.rounds), "round");
    writeln!(text, "{}: {}, {rounds} of {}", report.name, report.format, report.plays.join(", "))
        .ok();
    let (clock, start) = (show_clock(&contest.clock), show_time(contest.clock.start_ms));
    writeln!(text, "clock: {clock}; {start} to start").ok();
    writeln!(text, "players: {}", report.players.len()).ok();
    for player in &report.players {
        writeln!(text, "  {player}").ok();
    }
    let (games, each) = (count(report.games, "game"), report.games_a_pairing);
    if report.games == report.games_most {
        writeln!(text, "schedule: {games}, {each} per pairing").ok();
    } else {
        let most = report.games_most;
        writeln!(text, "schedule: at least {games}, at most {most}, {each} per pairing").ok();
    }
    let known = report.pairings_known;
    writeln!(text, "pairings: {known} known in advance").ok();
    for (pairing, names) in schedule.pairings().iter().zip(&report.pairings) {
        writeln!(text, "  round {}: {}", pairing.round, names.join(" - ")).ok();
    }
    if known > report.pairings.len() {
        let more = known - report.pairings.len();
        writeln!(text, "  and {more} more (--pairings shows all)").ok();
    }
    for SeatReport { seat, least, most } in &report.seats {
        let times =
            if least == most { count(*least, "time") } else { format!("{least} to {most} times") };
        writeln!(text, "seat {seat}: each player has it {times}").ok();
    }
    let of_seconds = |seconds: u64| long(seconds.saturating_mul(1000));
    let (quick, most) = (of_seconds(report.seconds_quick), of_seconds(report.seconds_most));
    writeln!(text, "time if every turn takes {QUICK_TURN_MS} ms: {quick}").ok();
    writeln!(text, "time if every agent uses its whole clock: {most}").ok();
    let at_once = match report.jobs {
        1 => "1 match runs".to_owned(),
        jobs => format!("{jobs} matches run"),
    };
    let turns = report.one_match.turns;
    writeln!(text, "  estimates: a random game has about {turns} turns, and {at_once} at once")
        .ok();
    let megabytes = tenths(report.bytes, 1_000_000);
    writeln!(text, "disk: about {megabytes} MB of transcripts").ok();
    text
}

/// Returns a time as text, rounded up.
fn long(ms: u64) -> String {
    const SECOND: u64 = 1000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match ms {
        0..SECOND => format!("{ms} ms"),
        SECOND..300_000 => format!("{} s", tenths(ms, SECOND)),
        300_000..18_000_000 => format!("{} min", ms.div_ceil(MINUTE)),
        18_000_000..172_800_000 => format!("{} h", tenths(ms, HOUR)),
        _ => format!("{} days", tenths(ms, DAY)),
    }
}

/// Returns a number of units with at most one decimal, rounded up.
fn tenths(value: u64, unit: u64) -> String {
    let tenths = value.div_ceil(unit / 10);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}
