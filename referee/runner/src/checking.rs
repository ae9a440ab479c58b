//! Whether a contest's folder says the truth: every game is played again by the rules, the schedule
//! is made again from the contest file and the results in the transcripts, and all that the store
//! keeps is compared with that.

use super::field::kinds;
use super::folder::{Folder, GAMES_FOLDER};
use super::store::{Kept, Store, VoidAttempt};
use super::verifying::CheckedFile;
use crate::parallel::{self, Progress};
use referee_contest::audit::{
    VerifiedTranscript, differences, record_differences, verify_and_record,
};
use referee_contest::file::{ContestFile, FileError, FoundAgent};
use referee_contest::{Contest, PlayerInfo, Record, Schedule};
use referee_games::GameKind;
use referee_match::transcript::Status;
use referee_play::destination::is_transcript;
use referee_process::Failure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many games are played again before they are compared in schedule order.
const AT_ONCE: usize = 2000;

/// What was found in a contest's folder.
#[derive(Debug)]
pub struct Checked {
    /// What is kept of the contest.
    pub kept: Kept,
    /// What the transcripts say of the games that count, in schedule order.
    pub records: Vec<Record>,
    /// The schedule that follows.
    pub schedule: Schedule,
    /// One entry a game that counts: its transcript, and its status with what is wrong.
    pub games: Vec<CheckedFile>,
    /// Attempts that don't count.
    pub voids: Vec<VoidAttempt>,
    /// What differs, in words; empty where everything fits.
    pub differences: Vec<String>,
    /// What is worth knowing and nobody's fault: games cut off by a kill, void attempts.
    pub notes: Vec<String>,
}

/// Checks a contest's folder on `jobs` cores, all unless it is given.
pub fn check(
    folder: &Folder,
    jobs: Option<usize>,
    progress: Progress<'_>,
) -> Result<Checked, Failure> {
    let store = Store::open(folder)?;
    let kept = store.kept()?;
    let records = store.records()?;
    let contest = Arc::new(kept.contest.clone());
    let mut check = Check {
        folder,
        kinds: kinds(&contest)?,
        checked: Checked {
            schedule: Schedule::new(contest),
            kept,
            records: Vec::with_capacity(records.len()),
            games: Vec::with_capacity(records.len()),
            voids: store.voids()?,
            differences: Vec::new(),
            notes: Vec::new(),
        },
    };
    check.file();
    check.players(&store)?;
    for (batch, some) in records.chunks(AT_ONCE).enumerate() {
        let before = batch * AT_ONCE;
        let heard = parallel::map(
            some,
            jobs,
            &|done, _| progress(before + done, records.len()),
            |record| {
                let bytes = std::fs::read(folder.path(&record.transcript));
                verify_and_record(&bytes.map_err(|error| (Status::Unreadable, error.to_string()))?)
            },
        );
        for (stored, heard) in some.iter().zip(heard) {
            check.compare(stored, heard);
        }
    }
    check.strays(&records)?;
    check.voids();
    let schedule = &check.checked.schedule;
    if !schedule.is_over() {
        let (played, known) = (schedule.played(), schedule.known());
        check.checked.notes.push(format!("not played to the end: {played} of {known} known games"));
    }
    Ok(check.checked)
}

type Hearing = Result<VerifiedTranscript, (Status, String)>;

/// The contest that a contest file says, between the players and with the positions of another: the
/// agents and the file with openings need not be there any more.
fn said(text: &str, name: &str, other: &Contest) -> Result<Contest, FileError> {
    let file = ContestFile::read(text, name, &other.name)?;
    let entrant = |player: &PlayerInfo| FoundAgent {
        name: player.name.clone(),
        run: player.run.clone(),
        digest: player.digest.clone(),
        span: 0..0,
    };
    let entrants: Vec<FoundAgent> = other.players.iter().map(entrant).collect();
    let (mut contest, _) = file.contest(&entrants, None)?;
    if file.openings.is_some() {
        contest.openings.positions.clone_from(&other.openings.positions);
    }
    Ok(contest)
}

struct Check<'a> {
    folder: &'a Folder,
    kinds: Vec<GameKind>,
    checked: Checked,
}

impl Check<'_> {
    /// The contest file in the folder is the one that was begun with, and says what is played.
    fn file(&mut self) {
        let path = self.folder.file();
        let name = path.display();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) if text == self.checked.kept.text => text,
            Ok(_) => {
                let text = "the file is not the one that the contest was begun with";
                return self.differs(format!("{name}: {text}"));
            }
            Err(error) => return self.differs(format!("{name}: {error}")),
        };
        match said(&text, &name.to_string(), &self.checked.kept.contest) {
            Ok(contest) if contest == self.checked.kept.contest => {}
            Ok(_) => self.differs(format!("{name}: the store has another contest than the file")),
            Err(error) => self.differs(error.to_string()),
        }
    }

    fn differs(&mut self, text: String) {
        self.checked.differences.push(text);
    }

    fn compare(&mut self, stored: &Record, heard: Hearing) {
        let file = self.folder.path(&stored.transcript);
        let number = stored.number;
        let (turns, outcome) =
            heard.as_ref().map_or((0, None), |heard| (heard.turns, heard.outcome.clone()));
        let (status, detail) = match self.agree(stored, heard) {
            Ok(()) => (Status::Ok, format!("{turns} turns")),
            Err((status, detail)) => {
                self.differs(format!("game {number}, {}: {status}: {detail}", stored.transcript));
                (status, detail)
            }
        };
        self.checked.games.push(CheckedFile { file, status, turns, outcome, detail });
    }

    /// Takes in a game as its transcript tells it, and compares that with the schedule and the store.
    fn agree(&mut self, stored: &Record, heard: Hearing) -> Result<(), (Status, String)> {
        let heard = heard?;
        let disagrees = |text: String| (Status::Disagrees, text);
        let contest = &self.checked.kept.contest;
        let number = stored.number;
        let fixture = self.checked.schedule.fixture(number).ok_or_else(|| {
            disagrees(
                "the schedule that follows from the earlier games has no such game".to_owned(),
            )
        })?;
        let mut found = differences(contest, self.kinds[fixture.game], &fixture, &heard.header);
        let record = heard
            .record(contest, &fixture, stored.transcript.clone())
            .map_err(|void| disagrees(format!("the match doesn't count: {}", void.text)))?;
        found.extend(record_differences(&record, stored));
        if stored.transcript != Folder::transcript(number) {
            found.push("the transcript has the name of another game".to_owned());
        }
        if !self.checked.schedule.record(number, &record.places) {
            found.push("its places don't fit the contest".to_owned());
        }
        self.checked.records.push(record);
        if found.is_empty() { Ok(()) } else { Err(disagrees(found.join("; "))) }
    }

    /// Transcripts that no row speaks of.
    fn strays(&mut self, records: &[Record]) -> Result<(), Failure> {
        let known: BTreeSet<PathBuf> =
            records.iter().map(|record| self.folder.path(&record.transcript)).collect();
        let root = self.folder.path(GAMES_FOLDER);
        let failed =
            |error: std::io::Error| Failure::machine(format!("{}: {error}", root.display()));
        let mut strays = 0;
        for outer in root.read_dir().into_iter().flatten() {
            let outer = outer.map_err(failed)?.path();
            for file in outer.read_dir().into_iter().flatten() {
                let file = file.map_err(failed)?.path();
                let void = file.to_string_lossy().contains("-void-");
                if !is_transcript(&file) || void || known.contains(&file) {
                    continue;
                }
                if self.may_be_begun(&file) {
                    strays += 1;
                } else {
                    self.differs(format!("{}: no game has this transcript", file.display()));
                }
            }
        }
        if strays > 0 {
            self.checked.notes.push(format!(
                "{strays} transcripts of games that don't count: they were under way when the \
                 referee was killed, or are under way now"
            ));
        }
        Ok(())
    }

    /// Whether a file has the name of a game that may have been under way.
    fn may_be_begun(&self, file: &Path) -> bool {
        let number = file.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        number.is_some_and(|number| {
            let schedule = &self.checked.schedule;
            let known = number < schedule.known() && !schedule.has(number);
            known && self.folder.path(&Folder::transcript(number)) == file
        })
    }

    /// The tables that only repeat what the contest and the games say.
    fn players(&mut self, store: &Store) -> Result<(), Failure> {
        if store.players()? != self.checked.kept.contest.players {
            self.differs("the store's table `players` is not that of the contest".to_owned());
        }
        for number in store.changed_scores()? {
            self.differs(format!("game {number}: the scores in the store's tables differ"));
        }
        Ok(())
    }

    fn voids(&mut self) {
        let voids = std::mem::take(&mut self.checked.voids);
        for void in &voids {
            let Some(name) = &void.transcript else { continue };
            let bytes = std::fs::read(self.folder.path(name));
            let status = bytes.map_or(Status::Unreadable, |bytes| {
                referee_match::transcript::verify(&bytes).status
            });
            // One that the machine spoiled may well be cut off.
            if !matches!(status, Status::Ok | Status::Torn) {
                self.differs(format!("game {}, {name}: {status}", void.number));
            }
        }
        if !voids.is_empty() {
            self.checked.notes.push(format!("{} void attempts", voids.len()));
        }
        self.checked.voids = voids;
    }
}
