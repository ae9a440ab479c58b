//! The table `[grades]`: which results give which points and marks.

use super::problem::{FileError, Source};
use super::raw::{Raw, RawBeats, RawGrades, RawMark};
use super::{ContestFile, Spanned, within};
use crate::Contest;
use crate::grades::{Beats, Condition, GradeSettings, Mark};
use referee_protocol::sanitize::sanitize;

/// The most points for one reference agent.
const POINTS_MAX: f64 = 1e6;
/// The greatest rating that a mark can need.
const ELO_MAX: f64 = 10_000.0;
/// The last place that can have a mark.
const PLACE_MAX: u32 = 10_000;

/// Reads the table, as far as it can be checked without the agents.
pub(super) fn read(source: &Source, raw: &Raw) -> Result<Option<GradeSettings>, FileError> {
    let Some(table) = &raw.grades else { return Ok(None) };
    let RawGrades { marks, beats, ungraded } = &**table;
    if marks.is_empty() && beats.is_empty() {
        let error = source.error(table.span(), "`[grades]` needs `marks` or `beats`");
        return Err(
            error.help("such as marks = [{ mark = \"A\", percent = 60 }, { mark = \"B\" }]")
        );
    }
    let beats = beats.iter().map(|one| read_beats(source, one)).collect::<Result<Vec<_>, _>>()?;
    let read = marks.iter().map(|mark| read_mark(source, mark)).collect::<Result<Vec<_>, _>>()?;
    check_order(source, marks, &read, !beats.is_empty())?;
    let ungraded = ungraded.iter().map(|name| (**name).clone()).collect();
    Ok(Some(GradeSettings { marks: read, beats, ungraded }))
}

fn read_beats(source: &Source, raw: &RawBeats) -> Result<Beats, FileError> {
    let percent = within(source, Some(&raw.percent), "percent", 0.0..=100.0)?;
    let points = within(source, Some(&raw.points), "points", 0.0..=POINTS_MAX)?;
    Ok(Beats {
        agent: (*raw.agent).clone(),
        percent: percent.unwrap_or_default(),
        points: points.unwrap_or_default(),
    })
}

fn read_mark(source: &Source, at: &Spanned<RawMark>) -> Result<Mark, FileError> {
    let raw: &RawMark = at;
    let mark = sanitize(raw.mark.trim());
    if mark.is_empty() {
        return Err(source.error(raw.mark.span(), "the mark is empty"));
    }
    let conditions = [
        within(source, raw.place.as_ref(), "place", 1..=PLACE_MAX)?.map(Condition::Place),
        within(source, raw.percent.as_ref(), "percent", 0.0..=100.0)?.map(Condition::Percent),
        within(source, raw.elo.as_ref(), "elo", -ELO_MAX..=ELO_MAX)?.map(Condition::Elo),
        within(source, raw.points.as_ref(), "points", 0.0..=POINTS_MAX)?.map(Condition::Points),
    ];
    let mut given = conditions.into_iter().flatten();
    let condition = given.next();
    if given.next().is_some() {
        return Err(source
            .error(at.span(), format!("mark `{mark}` has more than one condition"))
            .help("give one of `place`, `percent`, `elo`, `points`"));
    }
    Ok(Mark { mark, condition })
}

/// Refuses marks that no agent can get.
fn check_order(
    source: &Source,
    raw: &[Spanned<RawMark>],
    marks: &[Mark],
    has_points: bool,
) -> Result<(), FileError> {
    for (index, (at, mark)) in raw.iter().zip(marks).enumerate() {
        let earlier = marks[..index].iter().find(|other| match (other.condition, mark.condition) {
            (None, _) => true,
            (Some(one), Some(own)) => one.is_met_if(own),
            (Some(_), None) => false,
        });
        let name = &mark.mark;
        if let Some(earlier) = earlier {
            let message = format!(
                "mark `{name}` is never given: the first that applies is, and a player who fulfils it \
                 gets `{}`",
                earlier.mark
            );
            return Err(source.error(at.span(), message).help("begin with the best mark"));
        }
        if matches!(mark.condition, Some(Condition::Points(_))) && !has_points {
            return Err(source
                .error(at.span(), format!("mark `{name}` needs points, but nothing gives any"))
                .help("add [[grades.beats]] with `agent`, `percent` and `points`"));
        }
    }
    Ok(())
}

/// Checks that the agents it names play.
pub(super) fn check_names(file: &ContestFile, contest: &Contest) -> Result<(), FileError> {
    let Some(table) = &file.raw.grades else { return Ok(()) };
    let names = || contest.players.iter().map(|player| player.name.as_str());
    for at in table.beats.iter().map(|one| &one.agent).chain(&table.ungraded) {
        if names().all(|name| name != at.as_str()) {
            let message = format!("no agent of the contest is called `{}`", sanitize(at));
            return Err(file.source.error(at.span(), message).or_near(at, names()));
        }
    }
    if contest.seats() == 1
        && let Some(first) = table.beats.first()
    {
        let message = "`beats` needs games of two seats or more";
        return Err(file.source.error(first.agent.span(), message));
    }
    Ok(())
}
