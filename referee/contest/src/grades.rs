//! Grades: points for results against reference agents, and marks by place, points or rating, each with
//! its reason.

use crate::report::{Report, fixed};
use crate::standings::{Meeting, Points, Standing};
use crate::wording::count;
use schemars::JsonSchema;
use serde::Serialize;

/// The table `[grades]` of a contest file.
#[derive(Clone, Debug, PartialEq)]
pub struct GradeSettings {
    /// The marks, best first; the first that applies is given.
    pub marks: Vec<Mark>,
    /// The reference agents that give points. They get no mark themselves.
    pub beats: Vec<Beats>,
    /// Other agents that get no mark.
    pub ungraded: Vec<String>,
}

/// A mark, and what it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The mark.
    pub mark: String,
    /// What it needs; `None` for the mark of all others.
    pub condition: Option<Condition>,
}

/// What a mark needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// This place among the graded agents, or a better one.
    Place(u32),
    /// At least this percentage of the points of its games.
    Percent(f64),
    /// At least this rating.
    Elo(f64),
    /// At least these points from reference agents.
    Points(f64),
}

/// A reference agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Beats {
    /// Its name.
    pub agent: String,
    /// The percentage of the points against it that is needed.
    pub percent: f64,
    /// The points that this gives.
    pub points: f64,
}

/// The grades of a contest, as `contest grades --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Grades {
    /// The graded agents, best first, then those that don't play.
    pub grades: Vec<Grade>,
    /// Whether all games were played. If not, grades may change.
    pub over: bool,
}

/// The grade of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Grade {
    /// Its name; untrusted text.
    pub name: String,
    /// The place among the graded agents, from 1; null if it doesn't play.
    pub place: Option<u32>,
    /// The percentage of the points of its games; null without games.
    pub percent: Option<f64>,
    /// The rating; null without games.
    pub elo: Option<f64>,
    /// The points from reference agents.
    pub points: f64,
    /// The mark; null if none applies.
    pub mark: Option<String>,
    /// Why it has these points and this mark, as sentences; names in them are untrusted text.
    pub reasons: Vec<String>,
}

impl Condition {
    /// Whether every agent that fulfils another condition fulfils this one.
    pub(crate) fn is_met_if(self, other: Self) -> bool {
        match (self, other) {
            (Self::Place(own), Self::Place(other)) => own >= other,
            (Self::Percent(own), Self::Percent(other))
            | (Self::Elo(own), Self::Elo(other))
            | (Self::Points(own), Self::Points(other)) => own <= other,
            _ => false,
        }
    }

    /// Returns what it compares, and what it needs, in words; `None` if it isn't fulfilled.
    fn reason(self, standing: &Standing, grade: &Grade) -> Option<String> {
        match self {
            Self::Place(last) => {
                let place = grade.place.filter(|&place| place <= last)?;
                Some(format!("place {place}; needs place {last} or better"))
            }
            Self::Percent(least) => {
                let total = &standing.total;
                let percent = percent(total.points, total.games)?;
                is_at_least(total.points, total.games, least)
                    .then(|| format!("{percent} % of the points; needs {least} %"))
            }
            Self::Elo(least) => {
                let elo = grade.elo.filter(|&elo| elo >= least)?;
                Some(format!("Elo {}; needs {least}", fixed(elo, 1)))
            }
            Self::Points(least) => {
                (grade.points >= least).then(|| format!("{} points; needs {least}", grade.points))
            }
        }
    }
}

/// Whether points per game are at least a percentage, without rounding.
#[expect(clippy::cast_precision_loss, reason = "no contest comes near 2^53 parts")]
fn is_at_least(points: Points, games: u64, percent: f64) -> bool {
    games > 0 && points.parts() as f64 * 100.0 >= percent * (points.whole() * games) as f64
}

fn percent(points: Points, games: u64) -> Option<String> {
    points.share(games).map(|share| fixed(share * 100.0, 1))
}

/// Returns the grades that follow from a report.
pub fn grades(report: &Report, settings: &GradeSettings) -> Grades {
    let is_reference = |name: &String| settings.beats.iter().any(|one| one.agent == *name);
    let graded = report.standings.players.iter();
    let graded: Vec<&Standing> = graded
        .filter(|own| !is_reference(&own.name) && !settings.ungraded.contains(&own.name))
        .collect();
    let place = |own: &Standing| 1 + graded.iter().filter(|other| other.rank < own.rank).count();
    let played = graded.iter().map(|own| grade(report, settings, own, place(own)));
    let left_out = report.left_out.iter().map(|own| Grade {
        name: own.name.clone(),
        place: None,
        percent: None,
        elo: None,
        points: 0.0,
        mark: None,
        reasons: vec![format!("it doesn't play: {}", own.reason)],
    });
    Grades { grades: played.chain(left_out).collect(), over: report.progress.over }
}

fn grade(report: &Report, settings: &GradeSettings, own: &Standing, place: usize) -> Grade {
    let mut grade = Grade {
        name: own.name.clone(),
        place: u32::try_from(place).ok(),
        percent: own.total.share().map(|share| share * 100.0),
        elo: report.rating(own.player).map(|rating| rating.elo),
        points: 0.0,
        mark: None,
        reasons: Vec::new(),
    };
    for reference in &settings.beats {
        let (is_beaten, reason) = beats(report, own, reference);
        grade.points += if is_beaten { reference.points } else { 0.0 };
        grade.reasons.push(reason);
    }
    let given = settings.marks.iter().find_map(|Mark { mark, condition }| match condition {
        None => Some((mark, "all others".to_owned())),
        Some(condition) => Some((mark, condition.reason(own, &grade)?)),
    });
    if let Some((mark, reason)) = given {
        grade.reasons.push(format!("{mark}: {reason}"));
        grade.mark = Some(mark.clone());
    }
    grade
}

/// Returns whether an agent beats a reference agent, and why.
fn beats(report: &Report, own: &Standing, reference: &Beats) -> (bool, String) {
    let Beats { agent, percent: least, points } = reference;
    let other = report.standings.players.iter().find(|other| other.name == *agent);
    let met = other.and_then(|other| report.standings.meeting(own.player, other.player));
    let Some((&Meeting { games, points: got, .. }, share)) =
        met.and_then(|met| Some((met, percent(met.points, met.games)?)))
    else {
        return (false, format!("no game against {agent}"));
    };
    let is_beaten = is_at_least(got, games, *least);
    let verb = if is_beaten { "beats" } else { "doesn't beat" };
    let gives = if is_beaten { *points } else { 0.0 };
    let games = count(games, "game");
    let reason = format!(
        "{verb} {agent}: {share} % of the points in {games}, needs {least} %: {gives} of {points} points"
    );
    (is_beaten, reason)
}
