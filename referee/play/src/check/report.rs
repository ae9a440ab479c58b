//! The result of a check.

use super::judge::{ProbeFailure, ProbeOutcome};
use super::probes::Probe;
use crate::agent_spec::AgentSpec;
use crate::reach::requested;
use referee_games::GameKind;
use referee_protocol::Seat;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A check, as `check --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckReport {
    /// The agent, as given.
    pub agent: String,
    /// Its name; null if it can't be read.
    pub name: Option<String>,
    /// SHA-256 of the agent, in hex; null if it can't be read.
    pub digest: Option<String>,
    /// The games that it was checked in.
    pub games: Vec<String>,
    /// What it asks to read outside of its folder, and whether that is granted.
    pub requests: Vec<String>,
    /// Whether all probes that were run passed.
    pub ok: bool,
    /// Whether the same seed gave the same actions twice; null if not known.
    pub deterministic: Option<bool>,
    /// The probes, in order.
    pub probes: Vec<ProbeReport>,
    /// Where its files are on this machine: paths that mean nothing to an author who handed it in.
    #[serde(skip)]
    pub places: Vec<PathBuf>,
}

impl CheckReport {
    /// Begins the report on an agent, which was given as `agent`. All agents may read `readable`.
    pub fn new(
        agent: &str,
        spec: Option<&AgentSpec>,
        kinds: &[GameKind],
        readable: &[PathBuf],
    ) -> Self {
        Self {
            agent: agent.to_owned(),
            name: spec.map(|spec| spec.name.clone()),
            digest: spec.map(|spec| spec.digest.clone()),
            games: kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            requests: spec.map(|spec| requested(spec, readable)).unwrap_or_default(),
            ok: true,
            deterministic: None,
            probes: Vec::new(),
            places: spec.map_or_else(
                || Path::new(agent).canonicalize().into_iter().collect(),
                |spec| spec.own.clone(),
            ),
        }
    }

    /// Returns the name to show.
    pub fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.agent)
    }

    /// Adds the outcome of a probe; `again` is the command that repeats it.
    pub fn take(&mut self, probe: &Probe, outcome: ProbeOutcome, again: String) {
        self.ok &= !outcome.failed();
        let same_as = match &outcome {
            ProbeOutcome::Failed(failed) => self.first_like(failed),
            _ => None,
        };
        let (status, note, failure) = match outcome {
            ProbeOutcome::Passed(note) => (Status::Passed, note, None),
            ProbeOutcome::Skipped | ProbeOutcome::Unjudged => (Status::Skipped, None, None),
            ProbeOutcome::NotApplicable(why) => (Status::NotApplicable, Some(why.to_owned()), None),
            ProbeOutcome::Failed(failed) => (Status::Failed, None, Some(failed)),
        };
        self.probes.push(ProbeReport {
            number: probe.number,
            name: probe.name.clone(),
            title: probe.title.clone(),
            game: probe.kind.name.to_owned(),
            seat: probe.seat,
            status,
            note,
            failure,
            same_as,
            again,
        });
    }

    /// Returns the number of an earlier probe that failed in the same way, but for numbers.
    fn first_like(&self, failed: &ProbeFailure) -> Option<usize> {
        let letters = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
        // What follows a semicolon are its circumstances.
        let what = |it: &ProbeFailure| letters(it.what.split(';').next().unwrap_or_default());
        let way = |it: &ProbeFailure| (it.defect, what(it), letters(&it.fix));
        let is_like =
            |probe: &&ProbeReport| probe.failure.as_ref().is_some_and(|it| way(it) == way(failed));
        self.probes.iter().find(is_like).map(|probe| probe.number)
    }

    /// Adds the probes of the same agent in another game.
    pub fn append(&mut self, more: Self) {
        let before = self.probes.len();
        self.games.extend(more.games);
        self.ok &= more.ok;
        self.deterministic = match (self.deterministic, more.deterministic) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        let numbered = |probe: ProbeReport| ProbeReport {
            number: before + probe.number,
            same_as: probe.same_as.map(|first| before + first),
            ..probe
        };
        self.probes.extend(more.probes.into_iter().map(numbered));
    }

    /// Returns the result on one line: the counts, and the first probe that failed.
    pub fn line(&self) -> String {
        let failed = self.probes.iter().find_map(|probe| Some((probe, probe.failure.as_ref()?)));
        match failed {
            None => format!("ok      {}", self.counts()),
            Some((probe, failure)) => {
                let what = failure.what.lines().next().unwrap_or_default();
                format!("FAILED  {}: {what} ({})", probe.name, self.counts())
            }
        }
    }

    /// Returns how many probes passed, failed and were skipped, as text.
    pub fn counts(&self) -> String {
        let count = |status| self.probes.iter().filter(|it| it.status == status).count();
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let skipped = count(Status::Skipped);
        let mut text = format!("{passed} passed, {failed} failed");
        if skipped > 0 {
            write!(text, ", {skipped} skipped: they need a probe that failed, or the agent hangs")
                .ok();
        }
        text
    }
}

/// One probe in [`CheckReport`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProbeReport {
    /// Its place in the list, from 1.
    pub number: usize,
    /// Its name on the command line.
    pub name: String,
    /// What is expected.
    pub title: String,
    /// The game.
    pub game: String,
    /// The agent's seat.
    pub seat: Seat,
    /// Its outcome.
    pub status: Status,
    /// A note on a probe that passed or doesn't apply.
    pub note: Option<String>,
    /// Why it failed.
    pub failure: Option<Box<ProbeFailure>>,
    /// The number of an earlier probe that failed in the same way.
    #[serde(skip)]
    pub same_as: Option<usize>,
    /// The command that runs only this probe.
    pub again: String,
}

/// The outcome of a probe in [`ProbeReport`].
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not run, because an earlier one failed.
    #[serde(rename = "passed_over")]
    Skipped,
    /// Not run, since it isn't for this agent: `note` says why.
    NotApplicable,
}
