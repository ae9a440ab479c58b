//! Verifies reports: replays their transcripts by the rules and compares them with what was
//! ordered. Nothing else that a worker reports counts.

use crate::Report;
use crate::live::write_or_append;
use referee_contest::audit::{VerifiedTranscript, differences, verify_and_record};
use referee_contest::{Contest, Fixture, Record, Void};
use referee_games::{GameKind, Games};
use referee_match::transcript::{is_packed, unpack};
use referee_play::digest::digest_bytes;
use referee_process::Failure;
use referee_protocol::SandboxRecord;
use referee_runner::backend::{FinishedGame, NoResult, VoidGame, kinds};
use referee_runner::disk_failure;
use referee_runner::folder::Folder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// See [`Rules`].
pub(super) const HELD_BYTES_MAX: usize = 64 << 20;
/// The maximum number of transcript bytes per byte that an agent writes: `{"type":"info"}` is the
/// shortest line that it may repeat, and is recorded in five times as many.
const TRANSCRIPT_BYTES_PER_BYTE: u64 = 8;

/// What is needed to verify the reports of a contest.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) contest: Arc<Contest>,
    pub(super) games: Games,
    pub(super) kinds: Vec<GameKind>,
    pub(super) folder: Folder,
    /// The maximum size of a report's void transcripts that are kept, and of an unpacked transcript
    /// beside others.
    pub(super) held_bytes_max: usize,
    /// The maximum size of a transcript, and of the packed ones of a report.
    pub(super) transcript_bytes_max: usize,
    /// Held while a transcript above `held_bytes_max` is in memory: one at a time.
    pub(super) long: Arc<Mutex<()>>,
}

impl Rules {
    /// Returns the rules of a contest.
    pub(super) fn of(contest: Arc<Contest>, games: Games, folder: Folder) -> Result<Self, Failure> {
        let kinds = kinds(&contest, &games)?;
        let seats = contest.games.iter().map(|game| game.seats as u64).max().unwrap_or(0);
        let outcome = contest.limits.match_bytes.saturating_mul(seats);
        let most =
            outcome.saturating_mul(TRANSCRIPT_BYTES_PER_BYTE).saturating_add(HELD_BYTES_MAX as u64);
        Ok(Self {
            contest,
            games,
            kinds,
            folder,
            held_bytes_max: HELD_BYTES_MAX,
            transcript_bytes_max: usize::try_from(most).unwrap_or(usize::MAX),
            long: Arc::default(),
        })
    }
}

/// Games by number, and whether each has a result already.
pub(super) type Fixtures = BTreeMap<u64, (Fixture, bool)>;

/// The contents of a valid report.
#[derive(Debug, Default)]
pub(super) struct VerifiedReport {
    /// Games that had no result.
    pub(super) came: Vec<FinishedGame>,
    /// Games that already have one, by number. They are not compared: agents may play the same
    /// game differently.
    pub(super) known: BTreeSet<u64>,
    /// The agents' sandbox.
    pub(super) sandbox: Option<SandboxRecord>,
}

/// Verifies a report whose transcripts are `bytes`, and writes those that count once all of them are
/// valid. An error is why its worker failed. `long` is [`Rules::long`], if it is held.
pub(super) fn judge(
    report: &Report,
    bytes: &[u8],
    fixtures: &Fixtures,
    rules: &Rules,
    mut long: Option<OwnedMutexGuard<()>>,
) -> Result<VerifiedReport, String> {
    if let Some(fault) = &report.fault {
        return Err(fault.text.clone());
    }
    if report.tries.is_empty() {
        return Err("its report has no games".to_owned());
    }
    let mut verified = VerifiedReport::default();
    let mut spoiled: BTreeMap<u64, Vec<VoidGame>> = BTreeMap::new();
    let (mut counting, mut rest) = (Vec::new(), bytes);
    // How many more bytes of void transcripts are kept.
    let mut room = rules.held_bytes_max;
    for (index, one) in report.tries.iter().enumerate() {
        let number = one.number;
        let split = usize::try_from(one.bytes).ok().and_then(|it| rest.split_at_checked(it));
        let (packed, after) =
            split.ok_or_else(|| format!("the transcript of game {number} is missing"))?;
        rest = after;
        let (fixture, is_known) = fixtures
            .get(&number)
            .ok_or_else(|| format!("game {number} does not belong to block {}", report.block))?;
        if *is_known {
            verified.known.insert(number);
            continue;
        }
        if verified.came.iter().any(|came| came.number == number) {
            return Err(format!("game {number} was played again after a match that counts"));
        }
        let bytes = unpacked(packed, number, rules, &mut long)?;
        if is_packed(&bytes) {
            return Err(format!("game {number}: its transcript is packed more than once"));
        }
        let is_last = report.tries[index + 1..].iter().all(|later| later.number != number);
        match verify(&bytes, fixture, rules, &mut verified.sandbox)? {
            Ok(record) => {
                let void_games = spoiled.remove(&number).unwrap_or_default();
                let (result, sha256) = (Ok(record), Some(digest_bytes(&bytes)));
                let game = FinishedGame { number, void_games, result, sha256, played: None };
                verified.came.push(game);
                counting.push(packed);
            }
            // The worker's machine failed; another worker may succeed.
            Err(void) if is_last => return Err(format!("game {number}: {}", void.text)),
            Err(void) => {
                let left = room.checked_sub(bytes.len());
                room = left.unwrap_or(room);
                let transcript = left.map(|_| bytes);
                spoiled.entry(number).or_default().push(VoidGame { void, transcript });
            }
        }
    }
    for (came, packed) in verified.came.iter_mut().zip(counting) {
        let bytes = unpacked(packed, came.number, rules, &mut long)?;
        let path = rules.folder.path(Folder::transcript(came.number));
        // A full disk here is not the worker's fault.
        if let Err(error) = write_or_append(&path, &bytes) {
            came.result = Err(NoResult::Halt(disk_failure(&path, &error)));
        }
    }
    Ok(verified)
}

/// Returns an unpacked transcript. Of those that are long there is one at a time.
fn unpacked(
    packed: &[u8],
    number: u64,
    rules: &Rules,
    long: &mut Option<OwnedMutexGuard<()>>,
) -> Result<Vec<u8>, String> {
    let (most, held) = (rules.transcript_bytes_max, rules.held_bytes_max);
    if let Some(bytes) = unpack(packed, most.min(held)) {
        return Ok(bytes.into_owned());
    }
    long.get_or_insert_with(|| rules.long.clone().blocking_lock_owned());
    let bytes = unpack(packed, most);
    let bytes =
        bytes.ok_or_else(|| format!("game {number}: its transcript has more than {most} bytes"))?;
    Ok(bytes.into_owned())
}

/// Verifies one transcript: returns its record, or why the attempt is void. An error means that it
/// is no transcript of this game; workers don't report unfinished ones.
fn verify(
    bytes: &[u8],
    fixture: &Fixture,
    rules: &Rules,
    sandbox: &mut Option<SandboxRecord>,
) -> Result<Result<Box<Record>, Void>, String> {
    let number = fixture.number;
    let transcript = Folder::transcript(number);
    let verified: VerifiedTranscript = verify_and_record(bytes, &rules.games)
        .map_err(|(status, text)| format!("game {number}: {status}: {text}"))?;
    let kind = rules.kinds[fixture.game];
    let found = differences(&rules.contest, kind, fixture, &verified.header);
    if !found.is_empty() {
        return Err(format!("game {number}: {}", found.join("; ")));
    }
    sandbox.get_or_insert_with(|| verified.header.sandbox.clone());
    Ok(verified.record(&rules.contest, fixture, transcript).map(Box::new))
}

#[cfg(test)]
mod tests;
