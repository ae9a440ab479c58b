//! `contest plan`: what a contest file comes to, before anything is played.

use super::written::prepare_built;
use crate::cli::Global;
use crate::cli::output::{print, print_json};
use clap::Args;
use referee_contest::estimate::{Estimate, QUICK_TURN_MS, estimate};
use referee_contest::{Contest, Schedule};
use referee_games::kind;
use referee_process::Failure;
use referee_process::cores;
use referee_protocol::plain::count;
use referee_protocol::{ClockKind, ClockSettings};
use referee_runner::{Builds, Prepared, prepare};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// How many pairings are shown unless all are asked for.
const PAIRINGS_SHOWN: usize = 20;

/// Shows what a contest file comes to: players, pairings, games, time. Plays nothing.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The contest file
    file: PathBuf,
    /// Shows all pairings that are known before anything is played, not only the first 20
    #[arg(long)]
    pairings: bool,
    /// Builds the agents first, to see whether all of them can be
    #[arg(long)]
    build: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// A contest as `contest plan --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told {
    /// Its name.
    name: String,
    /// Who meets whom, as the contest file has it.
    format: String,
    /// What is played, as reports call it.
    plays: Vec<String>,
    /// Who plays, in the contest's order.
    players: Vec<String>,
    /// Submissions that don't play.
    left_out: Vec<ToldLeftOut>,
    /// The contest's rounds.
    rounds: u32,
    /// How many games there are; at least, where results decide that.
    games: u64,
    /// How many there are at most.
    games_most: u64,
    /// How many games each pairing has.
    games_a_pairing: usize,
    /// How many pairings are known before anything is played.
    pairings_known: usize,
    /// The first of them, by name; all with --pairings.
    pairings: Vec<Vec<String>>,
    /// How seats are shared out in those that are known.
    seats: Vec<ToldSeat>,
    /// How many matches may be under way at once.
    jobs: usize,
    /// What one match takes, on average.
    one_match: Estimate,
    /// Seconds for `games` where every turn takes 10 ms, rounded up. No promise.
    seconds_quick: u64,
    /// Seconds for `games_most` where every agent uses its whole clock. No promise either.
    seconds_most: u64,
    /// Bytes of the transcripts of `games_most`, about.
    bytes: u64,
    /// What a person should know, in sentences.
    notes: Vec<String>,
}

/// A submission that doesn't play, in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct ToldLeftOut {
    /// Its name.
    name: String,
    /// Why it doesn't play.
    reason: String,
}

/// How often players have a seat, in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct ToldSeat {
    /// The seat.
    seat: usize,
    /// By the player who has it least often.
    least: u64,
    /// By the player who has it most often.
    most: u64,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let prepared = if options.build {
        prepare_built(&options.file, global)?
    } else {
        prepare(&options.file, Builds::Later)?
    };
    let schedule = Schedule::new(prepared.contest.clone());
    let told = told(&prepared, &schedule, options.pairings)?;
    if options.json {
        return print_json(&told);
    }
    print(&text(&told, &prepared.contest, &schedule))?;
    global.note(&told.notes);
    Ok(())
}

fn told(prepared: &Prepared, schedule: &Schedule, all: bool) -> Result<Told, Failure> {
    let contest = &*prepared.contest;
    let one_match = estimate(contest).map_err(|error| Failure::usage(error.to_string()))?;
    let jobs = prepared.jobs.unwrap_or_else(cores::count);
    let (games, games_most) = schedule.size();
    let pairings = schedule.pairings();
    let shown = if all { pairings.len() } else { pairings.len().min(PAIRINGS_SHOWN) };
    let name = |player: &referee_contest::Player| contest.players[player.index()].name.clone();
    let left_out = prepared
        .left_out
        .iter()
        .map(|(name, reason)| ToldLeftOut { name: name.clone(), reason: reason.clone() });
    Ok(Told {
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
        notes: notes(prepared),
    })
}

/// What so many games take, so many at once.
fn seconds(games: u64, each_ms: u64, jobs: usize) -> u64 {
    let rows = games.div_ceil(jobs.max(1) as u64);
    rows.saturating_mul(each_ms).div_ceil(1000)
}

/// How often players have each seat, in the games that are known.
fn seats(contest: &Contest, schedule: &Schedule) -> Vec<ToldSeat> {
    let mut counts = vec![vec![0u64; contest.players.len()]; contest.seats()];
    for fixture in (0..schedule.known()).filter_map(|number| schedule.fixture(number)) {
        for (seat, player) in fixture.players.iter().enumerate() {
            counts[seat][player.index()] += 1;
        }
    }
    let told = |(seat, counts): (usize, &Vec<u64>)| ToldSeat {
        seat,
        least: counts.iter().min().copied().unwrap_or(0),
        most: counts.iter().max().copied().unwrap_or(0),
    };
    counts.iter().enumerate().map(told).collect()
}

fn notes(prepared: &Prepared) -> Vec<String> {
    let contest = &*prepared.contest;
    let mut notes = prepared.remarks();
    for game in &contest.games {
        let started = kind(&game.game).and_then(|kind| kind.start(&game.setup).ok());
        let own = started.map_or_else(Vec::new, |start| start.notes());
        notes.extend(own.into_iter().map(|note| format!("{}: {note}", game.name)));
    }
    let same = contest.openings.plies == 0 && contest.openings.positions.iter().all(Vec::is_empty);
    if same && contest.rounds > 1 {
        notes.push(
            "every game begins at the same position, so agents that draw nothing play the same \
             games in every round; [openings] with plies = 4 makes them differ"
                .to_owned(),
        );
    }
    if contest.clock.kind == ClockKind::Cpu {
        notes.push("the clock counts CPU time; on the wall it may take longer".to_owned());
    }
    notes
}

fn text(told: &Told, contest: &Contest, schedule: &Schedule) -> String {
    let mut text = String::new();
    let rounds = count(u64::from(told.rounds), "round");
    writeln!(text, "{}: {}, {rounds} of {}", told.name, told.format, told.plays.join(", ")).ok();
    writeln!(text, "clock: {}", clock(&contest.clock)).ok();
    writeln!(text, "players: {}", told.players.len()).ok();
    for player in &told.players {
        writeln!(text, "  {player}").ok();
    }
    let (games, each) = (count(told.games, "game"), told.games_a_pairing);
    if told.games == told.games_most {
        writeln!(text, "schedule: {games}, {each} a pairing").ok();
    } else {
        let most = told.games_most;
        writeln!(text, "schedule: at least {games}, at most {most}, {each} a pairing").ok();
    }
    let known = told.pairings_known;
    writeln!(text, "pairings: {known} before anything is played").ok();
    for (pairing, names) in schedule.pairings().iter().zip(&told.pairings) {
        writeln!(text, "  round {}: {}", pairing.round, names.join(" - ")).ok();
    }
    if known > told.pairings.len() {
        let more = known - told.pairings.len();
        writeln!(text, "  and {more} more, which --pairings shows").ok();
    }
    for ToldSeat { seat, least, most } in &told.seats {
        let times =
            if least == most { count(*least, "time") } else { format!("{least} to {most} times") };
        writeln!(text, "seat {seat}: each player has it {times}").ok();
    }
    let of_seconds = |seconds: u64| long(seconds.saturating_mul(1000));
    let (quick, most) = (of_seconds(told.seconds_quick), of_seconds(told.seconds_most));
    writeln!(text, "time if every turn takes {QUICK_TURN_MS} ms: {quick}").ok();
    writeln!(text, "time if every agent uses its whole clock: {most}").ok();
    let at_once = match told.jobs {
        1 => "1 match is".to_owned(),
        jobs => format!("{jobs} matches are"),
    };
    let turns = told.one_match.turns;
    writeln!(
        text,
        "  sums, no promise: a game played at random has about {turns} turns, and {at_once} \
         under way at once"
    )
    .ok();
    let megabytes = tenths(told.bytes, 1_000_000);
    writeln!(text, "disk: about {megabytes} MB of transcripts").ok();
    text
}

fn clock(clock: &ClockSettings) -> String {
    let mut parts = Vec::new();
    if let Some(bank) = clock.bank_ms {
        parts.push(format!("{} for the match", long(bank)));
    }
    if clock.increment_ms > 0 {
        parts.push(format!("{} more with each turn", long(clock.increment_ms)));
    }
    if let Some(turn) = clock.move_ms {
        parts.push(format!("{} for a turn at most", long(turn)));
    }
    parts.push(format!("{} to start", long(clock.start_ms)));
    let kind = if clock.kind == ClockKind::Cpu { " of CPU time" } else { "" };
    parts[0].push_str(kind);
    parts.join(", ")
}

/// A time as people say it, about.
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

/// A number of units with at most one decimal, rounded up.
fn tenths(value: u64, unit: u64) -> String {
    let tenths = value.div_ceil(unit / 10);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}
