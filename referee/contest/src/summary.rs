//! Assembles a report from a contest and its results.

use crate::formats::Comparison;
use crate::ratings::{RatedGames, RatingField, rate, rate_history};
use crate::report::{
    ChangeRow, GameList, Listed, Progress, RecordSource, Report, ScheduledRecords, Setting,
    VoidCounts, ties,
};
use crate::sprt::Summary;
use crate::standings::Sums;
use crate::wording::count;
use crate::{Contest, Schedule, Seed, parallel};
use referee_match::times::show_clock;
use referee_protocol::{Adjudication, OnFault};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// How many points the chart of ratings over games has.
const HISTORY_POINTS: usize = 20;

/// Returns the report on the records of a source, as far as `schedule` has recorded them. Games that
/// don't count are only listed. `sandbox` describes the sandbox, if it is known. Void attempts,
/// submissions that don't play and commands are for the caller to add. Fails if the source does.
pub fn report(
    schedule: &Arc<Schedule>,
    source: Arc<dyn RecordSource>,
    sandbox: Option<&str>,
) -> io::Result<Report> {
    let contest = schedule.contest();
    let comparison = contest.format.comparison();
    let mut comparison =
        comparison.map(|Comparison { sprt }| Summary::of(sprt.as_ref(), schedule.results()));
    // The fit would give a comparison a second figure for the same difference.
    let is_rated = contest.seats() > 1 && comparison.is_none();
    let mut rated = is_rated.then(|| RatedGames::new(RatingField::of(contest)));
    let (mut sums, mut played, mut past) = (Sums::new(contest), 0, 0);
    let mut kinds = BTreeSet::new();
    let records = ScheduledRecords { schedule: schedule.clone(), source };
    records.each_record(&mut |Listed { record, counts, repeats }| {
        kinds.insert(record.game);
        past += u64::from(!counts);
        if counts {
            played += 1;
            sums.add(record, repeats.is_some());
            if let Some(comparison) = &mut comparison {
                comparison.add(record, repeats.is_some());
            }
            if let Some(rated) = &mut rated {
                rated.add(record, repeats.is_some());
            }
        }
        Ok(())
    })?;
    let mut bonus = vec![0; contest.players.len()];
    for bye in schedule.byes() {
        bonus[bye.player.index()] += bye.half_points;
    }
    // Both take as long: seconds with a thousand players.
    let (history, ratings) = parallel::both(
        || rated.as_ref().map_or_else(Vec::new, |games| rate_history(games, HISTORY_POINTS)),
        || rated.as_ref().map(rate),
    );
    let report = Report {
        referee: env!("CARGO_PKG_VERSION").to_owned(),
        name: contest.name.clone(),
        settings: settings(contest, sandbox),
        progress: Progress {
            played,
            known: schedule.counted(),
            at_most: schedule.size().1,
            over: schedule.is_over(),
        },
        void: VoidCounts::default(),
        standings: sums.standings(&bonus, schedule.ranking().as_deref()),
        comparison,
        ratings,
        history,
        rated,
        ties: ties(contest, schedule.results()),
        games: GameList {
            rows: Arc::new(records),
            len: played + past,
            past,
            is_mixed: kinds.len() > 1,
        },
        left_out: Vec::new(),
        changes: ChangeRow::of(contest),
        commands: Vec::new(),
    };
    Ok(report)
}

/// Says when the agents' scores end a game.
fn adjudication_text(adjudication: &Adjudication) -> String {
    let turns = |turns: u32| count(u64::from(turns), "turn");
    let win = adjudication.win.as_ref();
    let win = win.map(|win| format!("won at scores of ±{} for {}", win.score, turns(win.turns)));
    let draw = adjudication.draw.as_ref().map(|draw| {
        let from = if draw.from_turn > 0 {
            format!(" from turn {}", draw.from_turn)
        } else {
            <_>::default()
        };
        format!("drawn at scores within ±{} for {}{from}", draw.score, turns(draw.turns))
    });
    let rules: Vec<String> = win.into_iter().chain(draw).collect();
    rules.join("; ") + ", if both agents say so"
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
        (0, 1) => "1 ply at random, each opening from every seat".to_owned(),
        (0, plies) => format!("{plies} plies at random, each opening from every seat"),
        (count, _) => format!("{count} positions from a file, each from every seat"),
    };
    add("openings", openings);
    if let Some(preset) = &contest.preset {
        add("preset", preset.clone());
    }
    add("clock", show_clock(&contest.clock));
    add("memory", format!("{} MB per agent", contest.limits.memory_mb));
    // With two seats the game ends either way.
    if contest.seats() > 2 {
        let out = match contest.policy.on_fault {
            OnFault::Retire => "the agent is out, the others play on",
            OnFault::End => "the game ends",
        };
        add("after a fault", out.to_owned());
    }
    if let Some(adjudication) = &contest.adjudication {
        add("adjudication", adjudication_text(adjudication));
    }
    if contest.reuse {
        add("agents' processes", "kept between games".to_owned());
    }
    if let Some(sandbox) = sandbox {
        add("sandbox", sandbox.to_owned());
    }
    let seed = match contest.seed {
        Seed::Number(number) => number.to_string(),
        // Whoever knows it knows the games to come, and a report may be shown before the contest is over.
        Seed::Key(_) => "drawn; it is in the contest's folder".to_owned(),
    };
    add("seed", seed);
    settings
}
