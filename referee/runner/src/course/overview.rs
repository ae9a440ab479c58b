//! What the instructor's page shows of a course, and the archive of everything.

use super::instructor::Entry;
use super::report::{StepName, StepState, TeamReport, VersionReport, of_team};
use super::{Course, UPLOADS_FOLDER, WebTimes};
use crate::folder::{CHANGES_FILE, CONTEST_FILE, Folder, GAMES_FOLDER, STORE_FILE, folder_name};
use crate::folder::{SUMS_FILE, TEAMS_FOLDER};
use crate::store::Store;
use jiff::Timestamp;
use referee_process::lock::lock;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What of a contest's folder is in the archive, besides the store.
const KEPT: [&str; 9] = [
    CONTEST_FILE,
    CHANGES_FILE,
    SUMS_FILE,
    GAMES_FOLDER,
    "report.json",
    "report.html",
    "report.md",
    "standings.csv",
    "games.csv",
];

/// What an instructor sees of the course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CourseReport {
    /// The time on the server, RFC 3339.
    pub now: String,
    /// When teams may hand in last.
    pub deadline: Option<String>,
    /// How long after that versions are taken, in milliseconds.
    pub grace_ms: u64,
    /// From when on the public sees no newer results.
    pub freeze_at: Option<String>,
    /// Whether no games are begun.
    pub paused: bool,
    /// The teams.
    pub teams: Vec<TeamLine>,
    /// The versions that are not taken in, the oldest first.
    pub queue: Vec<Waiting>,
    /// What the instructor has done, the newest first.
    pub log: Vec<Entry>,
}

/// A team, as its instructor sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamLine {
    /// Its id in the course's own system.
    pub id: String,
    /// Its members.
    pub members: Vec<String>,
    /// Its own deadline, RFC 3339.
    pub until: Option<String>,
    /// Why it is disqualified.
    pub disqualified: Option<String>,
    /// What the team itself sees.
    #[serde(flatten)]
    pub report: TeamReport,
}

/// A version that waits or is worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The team's name.
    pub team: String,
    /// The version.
    pub version: u32,
    /// When it was received, RFC 3339.
    pub since: String,
    /// The step that comes next.
    pub step: StepName,
    /// Whether that is under way.
    pub state: StepState,
}

impl Course {
    /// Returns what the instructor's page shows.
    pub fn overview(&self, now: Timestamp) -> Result<CourseReport, referee_process::Failure> {
        let teams = self.teams()?;
        let WebTimes { deadline, freeze_at, grace_ms } = self.times();
        let line = |team: &super::Team| TeamLine {
            id: team.id.clone(),
            members: team.members.clone(),
            until: team.until.clone(),
            disqualified: team.disqualified.clone(),
            report: of_team(self, &lock(&self.uploads), team, now),
        };
        let lines: Vec<TeamLine> = teams.teams.iter().map(line).collect();
        let open = lines.iter().filter(|line| line.disqualified.is_none());
        let versions =
            open.flat_map(|line| line.report.versions.iter().map(|own| (&line.report.team, own)));
        let mut queue: Vec<Waiting> =
            versions.filter_map(|(team, version)| waiting(team, version)).collect();
        queue.sort_by(|a, b| (&a.since, a.version).cmp(&(&b.since, b.version)));
        Ok(CourseReport {
            now: now.to_string(),
            deadline: deadline.map(|at| at.to_string()),
            grace_ms,
            freeze_at: freeze_at.map(|at| at.to_string()),
            paused: teams.paused,
            teams: lines,
            queue,
            log: teams.log.iter().rev().cloned().collect(),
        })
    }

    /// Writes an archive (tar) of everything: what was handed in, and the contests with their transcripts and results.
    pub fn archive(&self, out: impl Write) -> io::Result<()> {
        let failed = |failure: referee_process::Failure| io::Error::other(failure.to_string());
        let mut archive = tar::Builder::new(out);
        let report = self.overview(Timestamp::now()).map_err(failed)?;
        let text = serde_json::to_vec_pretty(&report)?;
        add(&mut archive, Path::new("course.json"), &mut &*text, text.len() as u64, 0)?;
        self.add_contest(&mut archive, &self.folder, Path::new("contest"))?;
        for team in &self.teams().map_err(failed)?.teams {
            let uploads = self.folder.path(TEAMS_FOLDER).join(UPLOADS_FOLDER);
            for version in self.report(team, Timestamp::now()).versions {
                let number = version.version.to_string();
                let own = uploads.join(team.number.to_string()).join(&number);
                let name = Path::new("teams").join(folder_name(&team.name)).join(&number);
                add_all(&mut archive, &own.join("feedback.md"), &name.join("feedback.md"))?;
                let files = own.join(super::uploads::FILES_FOLDER).join(team.folder_name());
                add_all(&mut archive, &files, &name.join("files"))?;
            }
        }
        for name in report.log.iter().rev().filter_map(Entry::final_folder) {
            let place = self.final_folder(name).map_err(failed)?;
            if let Ok(folder) = Folder::open(&place) {
                self.add_contest(&mut archive, &folder, &Path::new("finals").join(name))?;
            }
        }
        archive.finish()
    }

    fn add_contest(
        &self,
        archive: &mut tar::Builder<impl Write>,
        folder: &Folder,
        name: &Path,
    ) -> io::Result<()> {
        // What is left here by a kill is removed with the uploads that are not complete.
        let above = self.folder.path(TEAMS_FOLDER).join(UPLOADS_FOLDER);
        let copy = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
        let store = copy.path().join(STORE_FILE);
        let copied = Store::open_to_read(folder).and_then(|own| own.copy_to(&store));
        copied.map_err(|failure| io::Error::other(failure.to_string()))?;
        add_all(archive, &store, &name.join(STORE_FILE))?;
        KEPT.iter().try_for_each(|kept| add_all(archive, &folder.path(kept), &name.join(kept)))
    }
}

/// Returns what a version waits for.
fn waiting(team: &str, version: &VersionReport) -> Option<Waiting> {
    let next = version.steps.iter().find(|step| step.state != StepState::Done);
    let next = next.filter(|_| !version.settled)?;
    Some(Waiting {
        team: team.to_owned(),
        version: version.version,
        since: version.steps.first()?.at.clone()?,
        step: next.step,
        state: next.state,
    })
}

/// Adds a file, or all files in a folder, if it is there. Links are left out.
fn add_all(archive: &mut tar::Builder<impl Write>, path: &Path, name: &Path) -> io::Result<()> {
    let about = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        about => about?,
    };
    if about.is_dir() {
        let mut names = path.read_dir()?.map(|entry| Ok(entry?.file_name()));
        let mut names = names.by_ref().collect::<io::Result<Vec<_>>>()?;
        names.sort();
        return names
            .iter()
            .try_for_each(|inner| add_all(archive, &path.join(inner), &name.join(inner)));
    }
    if !about.is_file() {
        return Ok(());
    }
    // A transcript may be gone if its game was void.
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let about = file.metadata()?;
    let since = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    add(archive, name, &mut file, about.len(), since.as_secs())
}

fn add(
    archive: &mut tar::Builder<impl Write>,
    name: &Path,
    from: &mut impl Read,
    bytes: u64,
    changed: u64,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(changed);
    // A game that is being played makes its transcript longer, and one that can't be read to its end must not shift what
    // comes after it.
    archive.append_data(&mut header, name, from.take(bytes).chain(io::repeat(b'\n')).take(bytes))
}
