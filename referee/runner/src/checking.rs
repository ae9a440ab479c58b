//! Checks a contest's folder: replays every game by the rules, makes the schedule again from the contest
//! file and the results in the transcripts, and compares the store with both.

use super::backend::kinds;
use super::folder::{Folder, GAMES_FOLDER};
use super::store::{Store, StoredContest, VoidAttempt};
use super::verifying::CheckedFile;
use crate::parallel::{self, Progress};
use referee_contest::audit::{
    VerifiedTranscript, differences, record_differences, verify_and_record,
};
use referee_contest::file::{ContestFile, FileError, FoundAgent};
use referee_contest::{Contest, PlayerInfo, Record, Schedule};
use referee_games::GameKind;
use referee_match::transcript::{Status, TRANSCRIPT_BYTES_MAX};
use referee_play::destination::is_transcript;
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_protocol::plain::count;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many games are replayed before they are compared in schedule order.
const BATCH_GAMES: usize = 2000;

/// The result of checking a contest's folder.
#[derive(Debug)]
pub struct ContestCheck {
    /// The contest in the store.
    pub stored: StoredContest,
    /// The games that count, read from their transcripts, in schedule order.
    pub records: Vec<Record>,
    /// The schedule that follows from them.
    pub schedule: Schedule,
    /// The transcript of each game that counts, with its status.
    pub games: Vec<CheckedFile>,
    /// The void attempts.
    pub voids: Vec<VoidAttempt>,
    /// What differs; empty if the folder is consistent.
    pub differences: Vec<String>,
    /// What else a user should know: games cut off by a kill, void attempts.
    pub notes: Vec<String>,
}

/// Checks a contest's folder on `jobs` cores (default: all).
pub fn check(
    folder: &Folder,
    jobs: Option<usize>,
    progress: Progress<'_>,
) -> Result<ContestCheck, Failure> {
    let store = Store::open_to_read(folder)?;
    let stored = store.contest()?;
    let records = store.records()?;
    let contest = Arc::new(stored.contest.clone());
    let mut check = Check {
        folder,
        kinds: kinds(&contest)?,
        checked: ContestCheck {
            schedule: Schedule::new(contest),
            stored,
            records: Vec::with_capacity(records.len()),
            games: Vec::with_capacity(records.len()),
            voids: store.voids()?,
            differences: Vec::new(),
            notes: Vec::new(),
        },
    };
    check.file();
    check.tables(&store)?;
    for (index, batch) in records.chunks(BATCH_GAMES).enumerate() {
        let before = index * BATCH_GAMES;
        let verified = parallel::map(
            batch,
            jobs,
            &|done, _| progress(before + done, records.len()),
            |record| {
                let bytes = read_transcript(folder, &record.transcript);
                verify_and_record(&bytes.map_err(|error| (Status::Unreadable, error.to_string()))?)
            },
        );
        for (stored, verified) in batch.iter().zip(verified) {
            check.compare(stored, verified);
        }
    }
    check.unknown_transcripts(&records)?;
    check.voids();
    let schedule = &check.checked.schedule;
    if !schedule.is_over() {
        let (played, known) = (schedule.played(), schedule.known());
        check.checked.notes.push(format!("not complete: {played} of {known} known games"));
    }
    Ok(check.checked)
}

type Verified = Result<VerifiedTranscript, (Status, String)>;

/// Reads the contest of a contest file, with the players and opening positions of another contest: the
/// agents and the openings file may no longer exist.
fn contest_of_text(text: &str, name: &str, other: &Contest) -> Result<Contest, FileError> {
    let file = ContestFile::read(text, name, &other.name)?;
    let agent = |player: &PlayerInfo| FoundAgent { player: player.clone(), span: 0..0 };
    let agents: Vec<FoundAgent> = other.players.iter().map(agent).collect();
    let (mut contest, _) = file.contest(&agents, None)?;
    if file.openings.is_some() {
        contest.openings.positions.clone_from(&other.openings.positions);
    }
    Ok(contest)
}

struct Check<'a> {
    folder: &'a Folder,
    kinds: Vec<GameKind>,
    checked: ContestCheck,
}

impl Check<'_> {
    /// Checks that the contest file is the original one and has the stored contest.
    fn file(&mut self) {
        let path = self.folder.file();
        let name = path.display();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) if text == self.checked.stored.text => text,
            Ok(_) => {
                let text = "the file was changed after the contest began";
                return self.differs(format!("{name}: {text}"));
            }
            Err(error) => return self.differs(format!("{name}: {error}")),
        };
        match contest_of_text(&text, &name.to_string(), &self.checked.stored.contest) {
            Ok(contest) if contest == self.checked.stored.contest => {}
            Ok(_) => {
                self.differs(format!("{name}: the contest in the store differs from the file"));
            }
            Err(error) => self.differs(error.to_string()),
        }
    }

    fn differs(&mut self, text: String) {
        self.checked.differences.push(text);
    }

    fn compare(&mut self, stored: &Record, verified: Verified) {
        let file = self.folder.path(&stored.transcript).display().to_string();
        let number = stored.number;
        let (turns, outcome) =
            verified.as_ref().map_or((0, None), |game| (game.turns, game.outcome.clone()));
        let (status, detail) = match self.check_game(stored, verified) {
            Ok(()) => (Status::Ok, format!("{turns} turns")),
            Err((status, detail)) => {
                self.differs(format!("game {number}, {}: {status}: {detail}", stored.transcript));
                (status, detail)
            }
        };
        self.checked.games.push(CheckedFile { file, status, turns, outcome, detail });
    }

    /// Compares a game's transcript with the schedule and the store, and adds it to the schedule.
    fn check_game(&mut self, stored: &Record, verified: Verified) -> Result<(), (Status, String)> {
        let verified = verified?;
        let disagrees = |text: String| (Status::Disagrees, text);
        let contest = &self.checked.stored.contest;
        let number = stored.number;
        let fixture = self.checked.schedule.fixture(number).ok_or_else(|| {
            disagrees("the earlier results give a schedule without this game".to_owned())
        })?;
        let mut found = differences(contest, self.kinds[fixture.game], &fixture, &verified.header);
        let record = verified
            .record(contest, &fixture, stored.transcript.clone())
            .map_err(|void| disagrees(format!("the match is void: {}", void.text)))?;
        found.extend(record_differences(&record, stored));
        if stored.transcript != Folder::transcript(number) {
            found.push("the transcript's file name is that of another game".to_owned());
        }
        if !self.checked.schedule.record(number, &record.places) {
            found.push("its places are impossible in this contest".to_owned());
        }
        self.checked.records.push(record);
        if found.is_empty() { Ok(()) } else { Err(disagrees(found.join("; "))) }
    }

    /// Finds transcripts of games that are not in the store.
    fn unknown_transcripts(&mut self, records: &[Record]) -> Result<(), Failure> {
        let known: BTreeSet<PathBuf> =
            records.iter().map(|record| self.folder.path(&record.transcript)).collect();
        let root = self.folder.path(GAMES_FOLDER);
        let failed = |error: io::Error| Failure::machine(format!("{}: {error}", root.display()));
        let mut unfinished = 0;
        for outer in root.read_dir().into_iter().flatten() {
            let outer = outer.map_err(failed)?.path();
            for file in outer.read_dir().into_iter().flatten() {
                let file = file.map_err(failed)?.path();
                let void = file.to_string_lossy().contains("-void-");
                if !is_transcript(&file) || void || known.contains(&file) {
                    continue;
                }
                if self.may_be_begun(&file) {
                    unfinished += 1;
                } else {
                    self.differs(format!("{}: the store has no such game", file.display()));
                }
            }
        }
        if unfinished > 0 {
            self.checked.notes.push(format!(
                "{} of unfinished games: they are being played, or the referee was killed",
                count(unfinished, "transcript")
            ));
        }
        Ok(())
    }

    /// Returns whether a file has the name of a game that may be unfinished.
    fn may_be_begun(&self, file: &Path) -> bool {
        let number = file.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        number.is_some_and(|number| {
            let schedule = &self.checked.schedule;
            let known = number < schedule.known() && !schedule.has(number);
            known && self.folder.path(&Folder::transcript(number)) == file
        })
    }

    /// Checks the tables that repeat parts of the contest and of the games.
    fn tables(&mut self, store: &Store) -> Result<(), Failure> {
        if store.players()? != self.checked.stored.contest.players {
            self.differs("the store's table `players` differs from the contest".to_owned());
        }
        for number in store.changed_scores()? {
            self.differs(format!("game {number}: the tables `games` and `seats` differ in scores"));
        }
        Ok(())
    }

    fn voids(&mut self) {
        let voids = std::mem::take(&mut self.checked.voids);
        for void in &voids {
            let Some(name) = &void.transcript else { continue };
            let bytes = read_transcript(self.folder, name);
            let status = bytes.map_or(Status::Unreadable, |bytes| {
                referee_match::transcript::verify(&bytes).status
            });
            // The transcript of a void game may be cut off.
            if !matches!(status, Status::Ok | Status::Torn) {
                self.differs(format!("game {}, {name}: {status}", void.number));
            }
        }
        if !voids.is_empty() {
            self.checked.notes.push(count(voids.len() as u64, "void attempt"));
        }
        self.checked.voids = voids;
    }
}

fn read_transcript(folder: &Folder, name: &str) -> io::Result<Vec<u8>> {
    read_regular(&folder.path(name), TRANSCRIPT_BYTES_MAX as u64)
}
