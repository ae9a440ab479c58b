//! Grades: points for results against reference agents, and marks by place, points or rating, each with
//! its reason.

use crate::forms::within;
use crate::numbers::fixed;
use crate::report::Report;
use crate::settings::Mistake;
use crate::standings::{Meeting, Points, Standing};
use crate::wording::count;
use crate::{Contest, Player};
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;

/// Points and marks for results.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Grades")]
pub struct GradeSettings {
    /// The marks, best first. The first that applies is given.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// The reference agents that give points. They get no mark.
    #[serde(default)]
    pub beats: Vec<Beats>,
    /// Other agents that get no mark.
    #[serde(default)]
    pub ungraded: Vec<String>,
}

/// A mark with at most one condition.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The mark.
    #[serde(deserialize_with = "mark")]
    pub mark: String,
    /// The last place among the graded agents that gets it.
    #[serde(default, deserialize_with = "within::<_, _, 1, 10_000>")]
    pub place: Option<u32>,
    /// The least percentage of the points.
    #[serde(default, deserialize_with = "within::<_, _, 0, 100>")]
    pub percent: Option<f64>,
    /// The least rating.
    #[serde(default, deserialize_with = "within::<_, _, -10_000, 10_000>")]
    pub elo: Option<f64>,
    /// The least points from reference agents.
    #[serde(default, deserialize_with = "within::<_, _, 0, 1_000_000>")]
    pub points: Option<f64>,
}

fn mark<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let mark = sanitize(String::deserialize(deserializer)?.trim());
    if mark.is_empty() { Err(D::Error::custom("the mark is empty")) } else { Ok(mark) }
}

/// What a mark needs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Place(u32),
    Percent(f64),
    Elo(f64),
    Points(f64),
}

/// A reference agent that gives points.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beats {
    /// Its name.
    pub agent: String,
    /// The least percentage of the points against it.
    #[serde(deserialize_with = "within::<_, _, 0, 100>")]
    pub percent: f64,
    /// The points that this gives.
    #[serde(deserialize_with = "within::<_, _, 0, 1_000_000>")]
    pub points: f64,
}

impl Mark {
    /// Returns what it needs; nothing for the mark of all others.
    fn conditions(&self) -> impl Iterator<Item = Condition> {
        let all = [
            self.place.map(Condition::Place),
            self.percent.map(Condition::Percent),
            self.elo.map(Condition::Elo),
            self.points.map(Condition::Points),
        ];
        all.into_iter().flatten()
    }
}

impl GradeSettings {
    /// Checks that the settings fit together, and refuses marks that no agent can get.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        if self.marks.is_empty() && self.beats.is_empty() {
            return Err(Mistake::at("grades", "`[grades]` needs `marks` or `beats`")
                .help("such as marks = [{ mark = \"A\", percent = 60 }, { mark = \"B\" }]"));
        }
        for (index, mark) in self.marks.iter().enumerate() {
            let (name, own) = (&mark.mark, mark.conditions().next());
            let at = |message| Mistake::at(format!("grades.marks.{index}"), message);
            if mark.conditions().count() > 1 {
                return Err(at(format!("mark `{name}` has more than one condition"))
                    .help("give one of `place`, `percent`, `elo`, `points`"));
            }
            let never = |earlier: &&Mark| match (earlier.conditions().next(), own) {
                (None, _) => true,
                (Some(one), Some(own)) => one.is_met_if(own),
                (Some(_), None) => false,
            };
            if let Some(earlier) = self.marks[..index].iter().find(never) {
                let message = format!(
                    "mark `{name}` is never given: a player who meets its condition gets `{}`, which \
                     comes first",
                    earlier.mark
                );
                return Err(at(message).help("begin with the best mark"));
            }
            if mark.points.is_some() && self.beats.is_empty() {
                return Err(at(format!("mark `{name}` needs points, but nothing gives any"))
                    .help("add [[grades.beats]] with `agent`, `percent` and `points`"));
            }
        }
        Ok(())
    }

    /// Checks that the agents it names play.
    pub(crate) fn check_names(&self, contest: &Contest) -> Result<(), Mistake> {
        let names = || contest.players.iter().map(|player| player.name.as_str());
        let beats = (0..)
            .zip(&self.beats)
            .map(|(index, one): (usize, _)| (format!("grades.beats.{index}.agent"), &one.agent));
        let ungraded = (0..).zip(&self.ungraded);
        let ungraded =
            ungraded.map(|(index, name): (usize, _)| (format!("grades.ungraded.{index}"), name));
        for (key, agent) in beats.chain(ungraded) {
            if names().all(|name| name != agent) {
                let message = format!("no agent of the contest is called `{}`", sanitize(agent));
                return Err(Mistake::at(key, message).or_near(agent, names()));
            }
        }
        if contest.seats() == 1 && !self.beats.is_empty() {
            let message = "`beats` needs games of two seats or more";
            return Err(Mistake::at("grades.beats.0.agent", message));
        }
        Ok(())
    }
}

/// The grades of a contest, as `contest grades --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Grades {
    /// The graded agents, best first, then those that are disqualified or don't play.
    pub grades: Vec<Grade>,
    /// Whether all games were played. If not, grades may change.
    pub over: bool,
}

/// The grade of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Grade {
    /// Its name; untrusted text.
    pub name: String,
    /// Its id in the course's own system, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The place among the graded agents, from 1; null if it is disqualified or doesn't play.
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
    fn is_met_if(self, other: Self) -> bool {
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

/// Returns the grades that follow from a report. `disqualified` returns why an agent has no place and no mark, if that is
/// so; the others' places are as if it weren't there. Of a team's versions only the best takes a place from others.
pub fn grades(
    report: &Report,
    contest: &Contest,
    settings: &GradeSettings,
    disqualified: impl Fn(&str) -> Option<String>,
) -> Grades {
    let is_reference = |name: &String| settings.beats.iter().any(|one| one.agent == *name);
    let (out, graded): (Vec<&Standing>, Vec<&Standing>) = report
        .standings
        .players
        .iter()
        .filter(|own| !is_reference(&own.name) && !settings.ungraded.contains(&own.name))
        .partition(|own| disqualified(&own.name).is_some());
    let teams = contest.teams();
    let team = |own: &Standing| teams.get(own.player.index()).copied();
    let place = |own: &Standing| {
        let better = graded.iter().filter(|other| other.rank < own.rank);
        let better: BTreeSet<Option<Player>> = better.map(|other| team(other)).collect();
        1 + better.iter().filter(|other| **other != team(own)).count()
    };
    let played = graded.iter().map(|own| grade(report, settings, own, place(own)));
    let out =
        out.iter().map(|own| Grade::none(&own.name, disqualified(&own.name).unwrap_or_default()));
    let left_out = report.left_out.iter().map(|own| {
        let why =
            disqualified(&own.name).unwrap_or_else(|| format!("it doesn't play: {}", own.reason));
        Grade::none(&own.name, why)
    });
    Grades { grades: played.chain(out).chain(left_out).collect(), over: report.progress.over }
}

impl Grade {
    /// The grade of an agent without place and mark, and why.
    pub fn none(name: &str, why: String) -> Self {
        Self {
            name: name.to_owned(),
            id: None,
            place: None,
            percent: None,
            elo: None,
            points: 0.0,
            mark: None,
            reasons: vec![why],
        }
    }
}

fn grade(report: &Report, settings: &GradeSettings, own: &Standing, place: usize) -> Grade {
    let mut grade = Grade {
        name: own.name.clone(),
        id: None,
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
    let given = settings.marks.iter().find_map(|mark| match mark.conditions().next() {
        None => Some((&mark.mark, "all others".to_owned())),
        Some(condition) => Some((&mark.mark, condition.reason(own, &grade)?)),
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
