//! Checks a contest's folder: replays every game by the rules, makes the schedule again from the contest
//! file and the results in the transcripts, and compares the store with both.

use super::again::file_difference;
use super::backend::kinds;
use super::copies::check_copies;
use super::folder::{Folder, GAMES_FOLDER};
use super::programs;
use super::store::{Store, StoredContest, VoidAttempt};
use super::sums;
use super::verifying::{BATCH_FILES, CheckedFile};
use crate::parallel::{self, Progress};
use referee_contest::audit::{
    VerifiedTranscript, differences, record_differences, verify_and_record,
};
use referee_contest::report::ChangeRow;
use referee_contest::wording::count;
use referee_contest::{Change, Record, Schedule};
use referee_games::{GameKind, Games};
use referee_match::transcript::{Status, TRANSCRIPT_BYTES_MAX};
use referee_play::destination::is_transcript;
use referee_process::Failure;
use referee_process::files::read_regular;
use std::io;
use std::sync::Arc;

/// The result of checking a contest's folder.
#[derive(Debug)]
pub struct ContestCheck {
    /// The contest in the store.
    pub stored: StoredContest,
    /// The schedule that follows from the games, read from their transcripts.
    pub schedule: Arc<Schedule>,
    /// The number of games that count.
    pub games: u64,
    /// The number of turns replayed by the rules.
    pub turns: u64,
    /// The number of files in `SHA256SUMS`, if there is one.
    pub listed: Option<u64>,
    /// What differs; empty if the folder is consistent.
    pub differences: Vec<String>,
    /// What else a user should know: games cut off by a kill, void attempts.
    pub notes: Vec<String>,
}

/// Checks a contest's folder on `jobs` cores (default: all). Of its game programs those in `given` are trusted. Passes the transcript of each game with its status to `take`.
pub fn check(
    folder: &Folder,
    given: &Games,
    jobs: Option<usize>,
    progress: Progress<'_>,
    take: &mut dyn FnMut(CheckedFile) -> Result<(), Failure>,
) -> Result<ContestCheck, Failure> {
    // Opening it may move them into the store.
    let has_log = Store::has_log(folder);
    let store = Store::open_to_read(folder)?;
    let stored = store.contest()?;
    let contest = Arc::new(stored.contest.clone());
    let games = programs::to_verify(&stored, folder, given)?;
    let mut check = Check {
        folder,
        kinds: kinds(&contest, &games)?,
        games_known: games,
        schedule: Schedule::new(contest),
        stored,
        games: 0,
        turns: 0,
        findings: Findings::default(),
    };
    check.file();
    check.agents();
    check.changes();
    check.tables(&store)?;
    check.each_game(&store, jobs, progress, take)?;
    check.unknown_transcripts(&store)?;
    check.voids(&store.voids()?);
    let listed = check.sums(&store, has_log, jobs)?;
    if !check.schedule.is_over() {
        let (played, known) = (check.schedule.played(), check.schedule.known());
        check.findings.notes.push(format!("not complete: {played} of {known} known games"));
    }
    let Check { schedule, stored, games, turns, findings, .. } = check;
    Ok(ContestCheck {
        stored,
        schedule: Arc::new(schedule),
        games,
        turns,
        listed,
        differences: findings.differences,
        notes: findings.notes,
    })
}

type Verified = Result<VerifiedTranscript, (Status, String)>;

struct Check<'a> {
    folder: &'a Folder,
    kinds: Vec<GameKind>,
    games_known: Games,
    schedule: Schedule,
    stored: StoredContest,
    games: u64,
    turns: u64,
    findings: Findings,
}

#[derive(Default)]
struct Findings {
    differences: Vec<String>,
    notes: Vec<String>,
}

impl Check<'_> {
    fn file(&mut self) {
        if let Some(text) = file_difference(self.folder, &self.stored, &self.games_known) {
            self.differs(text);
        }
    }

    /// Notes what was changed since the contest began.
    fn changes(&mut self) {
        let rows = ChangeRow::of(&self.stored.contest);
        self.findings.notes.extend(rows.iter().map(|row| format!("changed {}", row.line())));
    }

    /// Checks the agents' copies.
    fn agents(&mut self) {
        let StoredContest { contest, copies, files, .. } = &self.stored;
        let found = check_copies(self.folder, &contest.players, copies, files);
        self.findings.differences.extend(found.differences);
        self.findings.notes.extend(found.notes);
    }

    fn differs(&mut self, text: String) {
        self.findings.differences.push(text);
    }

    /// Replays every game by the rules, and compares it with the schedule and the store.
    fn each_game(
        &mut self,
        store: &Store,
        jobs: Option<usize>,
        progress: Progress<'_>,
        take: &mut dyn FnMut(CheckedFile) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let all = usize::try_from(store.count()?).unwrap_or(usize::MAX);
        let (mut batch, mut before) = (Vec::new(), 0);
        let mut end_batch = |batch: &mut Vec<Record>| -> Result<(), Failure> {
            let progress = |done: usize, _: usize| progress(before + done, all);
            let verified = parallel::map(batch, jobs, &progress, |record| {
                let bytes = read_transcript(self.folder, &record.transcript);
                let bytes = bytes.map_err(|error| (Status::Unreadable, error.to_string()))?;
                verify_and_record(&bytes, &self.games_known)
            });
            before += batch.len();
            let games = batch.drain(..).zip(verified);
            games.map(|(stored, verified)| self.compare(&stored, verified)).try_for_each(&mut *take)
        };
        store.each_record(|record| {
            batch.push(record);
            if batch.len() < BATCH_FILES { Ok(()) } else { end_batch(&mut batch) }
        })?;
        end_batch(&mut batch)?;
        let schedule = &self.schedule;
        let decided = (0..schedule.counted()).filter(|number| schedule.has(*number)).count();
        // Those that were decided without being played have no transcripts.
        let forfeits = schedule.forfeits();
        let forfeits = forfeits.iter().filter(|record| schedule.counts(record.number)).count();
        self.games = (decided - forfeits) as u64;
        Ok(())
    }

    fn compare(&mut self, stored: &Record, verified: Verified) -> CheckedFile {
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
        self.turns += turns;
        CheckedFile { file, status, turns, outcome, detail }
    }

    /// Compares a game's transcript with the schedule and the store, and adds it to the schedule.
    fn check_game(&mut self, stored: &Record, verified: Verified) -> Result<(), (Status, String)> {
        let verified = verified?;
        let disagrees = |text: String| (Status::Disagrees, text);
        let contest = &self.stored.contest;
        let number = stored.number;
        let fixture = self.schedule.fixture(number).ok_or_else(|| {
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
        if !self.schedule.record(number, &record.places) {
            found.push("its places are impossible in this contest".to_owned());
        }
        if found.is_empty() { Ok(()) } else { Err(disagrees(found.join("; "))) }
    }

    /// Finds transcripts of games that are not in the store.
    fn unknown_transcripts(&mut self, store: &Store) -> Result<(), Failure> {
        let root = self.folder.path(GAMES_FOLDER);
        let failed = |error: io::Error| Failure::machine(format!("{}: {error}", root.display()));
        let mut unfinished = 0;
        for outer in root.read_dir().into_iter().flatten() {
            let outer = outer.map_err(failed)?.path();
            for file in outer.read_dir().into_iter().flatten() {
                let file = file.map_err(failed)?.path();
                let void = file.to_string_lossy().contains("-void-");
                if !is_transcript(&file) || void {
                    continue;
                }
                let number = file.strip_prefix(self.folder.root()).ok().and_then(Folder::number_of);
                if let Some(number) = number
                    && (self.schedule.has(number) || store.has(number)?)
                {
                    continue;
                }
                if number.is_some_and(|number| number < self.schedule.known()) {
                    unfinished += 1;
                } else {
                    self.differs(format!("{}: the store has no such game", file.display()));
                }
            }
        }
        if unfinished > 0 {
            self.findings.notes.push(format!(
                "{} of unfinished games: they are being played, or the referee was killed",
                count(unfinished, "transcript")
            ));
        }
        Ok(())
    }

    /// Checks the tables that repeat parts of the contest and of the games.
    fn tables(&mut self, store: &Store) -> Result<(), Failure> {
        if store.players()? != self.stored.contest.players {
            self.differs("the store's table `players` differs from the contest".to_owned());
        }
        for number in store.changed_scores()? {
            self.differs(format!("game {number}: the tables `games` and `seats` differ in scores"));
        }
        Ok(())
    }

    /// Checks the list of digests; returns how many files it has.
    fn sums(
        &mut self,
        store: &Store,
        has_log: bool,
        jobs: Option<usize>,
    ) -> Result<Option<u64>, Failure> {
        let found = sums::check(self.folder, (store, has_log), jobs)?;
        self.findings.differences.extend(found.differences);
        self.findings.notes.extend(found.notes);
        Ok(found.files)
    }

    fn voids(&mut self, voids: &[VoidAttempt]) {
        for void in voids {
            let Some(name) = &void.transcript else { continue };
            if let Err(text) = self.void(void, name) {
                self.differs(format!("game {}, {name}: {text}", void.number));
            }
        }
        if !voids.is_empty() {
            let removed = voids.iter().filter(|void| void.is_removed()).count() as u64;
            let others = voids.len() as u64 - removed;
            let texts = [(others, "void attempt"), (removed, "removed result")];
            let texts = texts.into_iter().filter(|(number, _)| *number > 0);
            self.findings.notes.extend(texts.map(|(number, what)| count(number, what)));
        }
    }

    /// Checks the transcript of a void attempt, which may be cut off. A whole one must be void for the
    /// reason in the store, and of the game that the schedule has with its number.
    fn void(&self, void: &VoidAttempt, name: &str) -> Result<(), String> {
        if *name != Folder::void_transcript(void.number, void.attempt) {
            return Err("the transcript's file name is that of another attempt".to_owned());
        }
        let bytes = read_transcript(self.folder, name)
            .map_err(|error| format!("{}: {error}", Status::Unreadable))?;
        let verified = match verify_and_record(&bytes, &self.games_known) {
            Ok(verified) => verified,
            Err((Status::Torn, _)) => return Ok(()),
            Err((status, text)) => return Err(format!("{status}: {text}")),
        };
        let contest = &self.stored.contest;
        let fixture = self.schedule.fixture(void.number);
        let fixture = fixture.ok_or("the schedule has no such game")?;
        // It was played by the version of an agent that played then.
        let mut found = Vec::new();
        for changes in (0..=contest.changes.len()).rev() {
            let then = contest.with_changes(changes);
            if fixture.players.iter().any(|player| player.index() >= then.players.len()) {
                break;
            }
            found = differences(&then, self.kinds[fixture.game], &fixture, &verified.header);
            if found.is_empty() {
                break;
            }
        }
        if !found.is_empty() {
            return Err(found.join("; "));
        }
        if void.is_removed() {
            let is_it = |change: &Change| {
                change.removes.contains(&void.number) && change.reason == void.text
            };
            let removes = contest.changes.iter().any(is_it);
            return if removes { Ok(()) } else { Err("no change removed its result".to_owned()) };
        }
        match verified.record(contest, &fixture, name.to_owned()) {
            Ok(_) => Err("the match has a result, but the store has a void attempt".to_owned()),
            Err(found) if (&found.cause, &found.text) == (&void.cause, &void.text) => {
                let cause = found.seat.and_then(|seat| fixture.players.get(seat.index()).copied());
                // Earlier versions didn't store who caused it.
                if void.player.is_none() || void.player == cause {
                    return Ok(());
                }
                Err("the store says that another agent caused it".to_owned())
            }
            Err(found) => Err(format!(
                "the match is void ({}): {}; but the store says ({}): {}",
                found.cause, found.text, void.cause, void.text
            )),
        }
    }
}

fn read_transcript(folder: &Folder, name: &str) -> io::Result<Vec<u8>> {
    read_regular(&folder.path(name), TRANSCRIPT_BYTES_MAX as u64)
}
