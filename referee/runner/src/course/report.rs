//! What a team's page shows, and `referee submit` prints.

use super::uploads::{Ended, State, Uploads, Version};
use super::{Course, Team};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a team sees of its course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Team")]
pub struct TeamReport {
    /// The team's name.
    pub team: String,
    /// The time on the server, RFC 3339.
    pub now: String,
    /// When the team may hand in its last version, with grace; null for ever.
    pub closes: Option<String>,
    /// Why it may not hand in now; null if it may.
    pub refused: Option<String>,
    /// When it may again, if that is known.
    pub again: Option<String>,
    /// The limits of an upload.
    pub limits: LimitsReport,
    /// What it has handed in, the newest first.
    pub versions: Vec<VersionReport>,
    /// Its next games, as far as they are decided; those that are being played are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextGame>,
}

/// A game that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NextGame")]
pub struct NextGame {
    /// Its number in the contest, from 0.
    pub number: u64,
    /// Its round, from 1.
    pub round: u32,
    /// Its game.
    pub game: String,
    /// The players' names, in seat order; untrusted text.
    pub players: Vec<String>,
}

/// The limits of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UploadLimits")]
pub struct LimitsReport {
    /// Its size, in MiB.
    pub upload_mb: u64,
    /// The size of what is in it, in MiB.
    pub unpacked_mb: u64,
    /// The files and folders in it.
    pub files: u32,
    /// Uploads in an hour.
    pub uploads_an_hour: u32,
    /// Uploads in a day.
    pub uploads_a_day: u32,
}

/// A version that a team has handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Version")]
pub struct VersionReport {
    /// Its number, from 1.
    pub version: u32,
    /// The number of files that were sent.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, or of the list of files with theirs.
    pub sha256: String,
    /// The command that starts it, unless its agent.toml or the contest says it.
    pub command: Option<String>,
    /// The language, if the command was found.
    pub language: Option<String>,
    /// The steps from the upload to the first game, in order.
    pub steps: Vec<StepReport>,
    /// Whether nothing more happens to it by itself: it plays, or it doesn't.
    pub settled: bool,
    /// The name under which it plays.
    pub player: Option<String>,
    /// Why it doesn't play.
    pub why: Option<String>,
    /// Whether its team took it back.
    pub taken_back: bool,
    /// Until when it waits at least, RFC 3339: 20 times as long as the team's version before it was built and checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<String>,
}

/// A step of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Step")]
pub struct StepReport {
    /// Its name.
    pub step: StepName,
    /// How far it is.
    pub state: StepState,
    /// When it ended, RFC 3339.
    pub at: Option<String>,
    /// What came of it, or why it failed.
    pub text: Option<String>,
}

/// The steps of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepName {
    /// It is on the server's disk.
    Received,
    /// It was unpacked, and its command is known.
    Unpacked,
    /// Its `build` command has run, if it has one.
    Built,
    /// It passed the probes of `check` under the contest's conditions.
    Checked,
    /// It plays.
    Playing,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Its turn comes.
    Waiting,
    /// It is under way.
    Running,
    /// It is done.
    Done,
    /// It failed: those after it are skipped.
    Failed,
    /// It is not made.
    Skipped,
}

pub(super) fn of_team(
    course: &Course,
    uploads: &Uploads,
    team: &Team,
    now: Timestamp,
) -> TeamReport {
    let refusal = uploads.check(course, team, now).err();
    let held = uploads.held(team.number).filter(|until| *until > now);
    let versions = uploads.versions(team.number).iter().rev().map(|own| version(own, held));
    let settings = &course.settings;
    TeamReport {
        team: team.name.clone(),
        now: now.to_string(),
        closes: course.closes(team).map(|at| at.to_string()),
        again: refusal.as_ref().and_then(|it| it.again).map(|at| at.to_string()),
        refused: refusal.map(|it| it.text),
        limits: LimitsReport {
            upload_mb: settings.upload_mb,
            unpacked_mb: settings.unpacked_mb,
            files: settings.files,
            uploads_an_hour: settings.uploads_an_hour,
            uploads_a_day: settings.uploads_a_day,
        },
        versions: versions.collect(),
        next: Vec::new(),
    }
}

fn version(version: &Version, held: Option<Timestamp>) -> VersionReport {
    let State { unpacked, built, checked, result, player, taken_back, .. } = &version.state;
    let received = Ended { at: version.received.at, failed: None, text: None };
    let playing = result.as_ref().filter(|ended| ended.failed.is_none());
    let is_over = result.is_some();
    let mut is_next = true;
    let step = |(step, ended): (StepName, Option<&Ended>)| {
        let state = match ended {
            Some(ended) if ended.failed.is_some() => StepState::Failed,
            Some(_) => StepState::Done,
            None if is_over => StepState::Skipped,
            None if is_next && version.working => StepState::Running,
            None => StepState::Waiting,
        };
        is_next &= ended.is_some();
        let what = match step {
            StepName::Unpacked => version.state.command.clone(),
            StepName::Playing => player.clone(),
            StepName::Received | StepName::Built | StepName::Checked => None,
        };
        let text = ended.and_then(|it| it.failed.clone().or_else(|| it.text.clone()).or(what));
        StepReport { step, state, at: ended.map(|it| it.at.to_string()), text }
    };
    let steps = [
        (StepName::Received, Some(&received)),
        (StepName::Unpacked, unpacked.as_ref()),
        (StepName::Built, built.as_ref()),
        (StepName::Checked, checked.as_ref()),
        (StepName::Playing, playing),
    ];
    VersionReport {
        version: version.number,
        files: version.files(),
        bytes: version.bytes(),
        sha256: version.received.sha256.clone(),
        command: version.state.command.clone(),
        language: version.state.language.clone(),
        steps: steps.into_iter().map(step).collect(),
        settled: is_over,
        player: player.clone(),
        why: result.as_ref().and_then(|ended| ended.failed.clone()),
        taken_back: taken_back.is_some(),
        waits_until: held.filter(|_| !is_over && !version.working).map(|until| until.to_string()),
    }
}
