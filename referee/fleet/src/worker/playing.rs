//! Plays an order: its games one after the other, each again if it is void. Transcripts are packed
//! while the next game runs.

use super::session::Session;
use crate::{FaultCause, Order, WorkerFault};
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_contest::{Fixture, Player, Policy, Record};
use referee_match::MatchTally;
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::drive::ProcessesLeft;
use referee_process::files::is_disk_full;
use referee_protocol::Seat;
use referee_runner::jobs::JobBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// The maximum number of replays of a void game, whatever the order says. Those that an agent has caused are counted only
/// here: it may cause so many, and then the next one is its fault. Nothing of an order that fails is reported, so an agent
/// could have its losses void without end.
const RETRIES_MAX: u32 = 20;

/// How many times as much as an agent may write in a match a report has before it is sent without the rest of its games: a
/// block of six seats has 720 of them, and the coordinator reads no report without end.
const REPORT_OUTPUTS: u64 = 2;

/// A finished match with its gzipped transcript.
#[derive(Debug)]
pub(super) struct PackedTranscript {
    /// The game's number.
    pub(super) number: u64,
    /// The file with the transcript.
    pub(super) path: PathBuf,
    /// Its size in bytes.
    pub(super) bytes: u64,
}

/// The result of an order: its matches, or why there are none.
pub(super) type Outcome = Result<Vec<PackedTranscript>, WorkerFault>;

/// The agents of an order.
type Seated = BTreeMap<Player, Arc<AgentSpec>>;

/// Returns the agents of an order once they are installed, or `None` while another order has one of them installed.
pub(super) async fn seated(
    session: &Session,
    order: &Order,
) -> Result<Option<Seated>, WorkerFault> {
    let mut seated = Seated::new();
    for player in order.fixtures.iter().flat_map(|fixture| &fixture.players) {
        let Some(spec) = session.contest.spec(*player).await? else { return Ok(None) };
        seated.insert(*player, spec);
    }
    Ok(Some(seated))
}

/// Plays all games of an order.
pub(super) async fn play(session: &Session, order: &Order, seated: &Seated) -> Outcome {
    let checked = &session.contest.checked;
    let mut staging = JobBuilder::new(checked.contest.clone(), checked.kinds.clone());
    let most = checked.contest.limits.match_bytes.saturating_mul(REPORT_OUTPUTS);
    let (mut packed, mut packing, mut halted) = (Vec::new(), Vec::new(), None);
    for fixture in &order.fixtures {
        let game =
            game(session, fixture, order.void_retries, seated, &mut staging, &mut packing).await;
        if let Err(fault) = game {
            halted = Some(fault);
            break;
        }
        // The last one is packed while the next game runs.
        let earlier = packing.len().saturating_sub(1);
        for earlier in packing.drain(..earlier) {
            packed.push(in_report(earlier).await);
        }
        if !has_room(&packed, most) {
            // The other games are ordered again.
            break;
        }
    }
    for last in packing {
        packed.push(in_report(last).await);
    }
    let mut done = Vec::new();
    for one in packed {
        match one {
            Ok(one) => done.push(one),
            Err(fault) => drop(halted.get_or_insert(fault)),
        }
    }
    let Some(fault) = halted else { return Ok(done) };
    // The disk may be full.
    for PackedTranscript { path, .. } in done {
        std::fs::remove_file(path).ok();
    }
    Err(fault)
}

/// Returns a packed transcript, or why it is lost.
async fn in_report(
    packing: JoinHandle<io::Result<PackedTranscript>>,
) -> Result<PackedTranscript, WorkerFault> {
    let packed = packing.await.map_err(|error| WorkerFault::new(FaultCause::Machine, error))?;
    packed.map_err(|error| failed("a transcript", &error))
}

/// Whether further games fit into a report of at most so many bytes, apart from its last game.
fn has_room(packed: &[Result<PackedTranscript, WorkerFault>], most: u64) -> bool {
    packed.iter().flatten().map(|it| it.bytes).sum::<u64>() <= most
}

/// Plays a game until it counts. A game that stays void is a failure of this machine.
async fn game(
    session: &Session,
    fixture: &Fixture,
    retries: u32,
    seated: &Seated,
    staging: &mut JobBuilder,
    packing: &mut Vec<JoinHandle<io::Result<PackedTranscript>>>,
) -> Result<(), WorkerFault> {
    let (number, contest) = (fixture.number, &session.contest);
    let mut fixture = fixture.clone();
    let mut tries = Tries { left: retries, all_left: RETRIES_MAX };
    loop {
        let path = session.transcript(number);
        let destination = Destination::File { path: path.clone(), force: false };
        let seat = |player: Player| seated[&player].clone();
        let job = staging.job(&fixture, seat, contest.readable_files.clone(), destination);
        let job = job.map_err(|error| WorkerFault::new(FaultCause::Order, error))?;
        let played = session.jobs.play(job).await.ok_or_else(closed)?;
        let policy = &contest.checked.contest.policy;
        let left = played.as_ref().err().and_then(ProcessesLeft::seat_in);
        let tally = played.map(|finished| *finished.tally);
        let outcome = outcome(tally, &fixture, policy, tries, &path)?;
        if outcome != TryOutcome::Lost {
            packing.push(tokio::task::spawn_blocking(move || pack(number, &path)));
        }
        let seat = match outcome {
            TryOutcome::Counts => return Ok(()),
            TryOutcome::Void(seat) => seat,
            TryOutcome::Lost => left,
        };
        tries.count(outcome);
        fixture.count_void(seat);
    }
}

/// How often a game may be played again.
#[derive(Clone, Copy, Debug)]
struct Tries {
    /// If no agent is the cause.
    left: u32,
    all_left: u32,
}

impl Tries {
    /// Whether the game is played again after a try that became void at this seat, if at one.
    fn is_left(self, seat: Option<Seat>) -> bool {
        self.all_left > 0 && (self.left > 0 || seat.is_some())
    }

    fn count(&mut self, outcome: TryOutcome) {
        self.all_left = self.all_left.saturating_sub(1);
        if !matches!(outcome, TryOutcome::Void(Some(_))) {
            self.left = self.left.saturating_sub(1);
        }
    }
}

/// The outcome of a try of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TryOutcome {
    /// It counts, and is the last of its game.
    Counts,
    /// It is reported, and the game is played again. It became void at this seat, if at one.
    Void(Option<Seat>),
    /// It is not reported, and the game is played again.
    Lost,
}

/// Returns the outcome of a try with its transcript at `path`, or why the order fails. A
/// transcript that is not reported is removed, since it may fill the disk.
fn outcome(
    result: io::Result<MatchTally>,
    fixture: &Fixture,
    policy: &Policy,
    tries: Tries,
    path: &Path,
) -> Result<TryOutcome, WorkerFault> {
    let outcome = match result {
        // Its transcript is incomplete, so no one could verify that it was void.
        Err(error) if !tries.is_left(None) || is_disk_full(&error) => {
            let what = format!("game {}", fixture.number);
            Err(failed(&what, &error))
        }
        Err(_) => Ok(TryOutcome::Lost),
        Ok(tally) => match Record::of(tally, fixture, policy, String::new(), String::new()) {
            Ok(_) => Ok(TryOutcome::Counts),
            // This worker stopped it.
            Err(void) if void.cause == "interrupted" => Err(closed()),
            Err(void) if void.cause == "disk_full" => {
                let full = io::Error::from(ErrorKind::StorageFull);
                Err(failed("a transcript", &full))
            }
            // A problem of this machine, so another worker should try.
            Err(void) if !tries.is_left(void.seat) => {
                let text = format!("game {}: {}", fixture.number, void.text);
                Err(WorkerFault::new(FaultCause::Machine, text))
            }
            Err(void) => Ok(TryOutcome::Void(void.seat)),
        },
    };
    if !matches!(outcome, Ok(TryOutcome::Counts | TryOutcome::Void(_))) {
        std::fs::remove_file(path).ok();
    }
    outcome
}

/// The fault if the worker has stopped playing.
fn closed() -> WorkerFault {
    WorkerFault::new(FaultCause::Machine, "the worker has stopped playing")
}

fn failed(what: &str, error: &io::Error) -> WorkerFault {
    let cause = if is_disk_full(error) { FaultCause::Disk } else { FaultCause::Machine };
    WorkerFault::new(cause, format!("{what}: {error}"))
}

/// Packs a transcript and removes the original; on an error both files are removed.
fn pack(number: u64, path: &Path) -> io::Result<PackedTranscript> {
    let into = path.with_extension("gz");
    let packed = compress(path, &into);
    let removed = std::fs::remove_file(path);
    let packed = packed.and_then(|packed| removed.map(|()| packed));
    if packed.is_err() {
        std::fs::remove_file(&into).ok();
    }
    Ok(PackedTranscript { number, path: into, bytes: packed? })
}

/// Returns the size of the packed file.
fn compress(path: &Path, into: &Path) -> io::Result<u64> {
    let mut encoder = GzEncoder::new(File::create_new(into)?, Compression::default());
    io::copy(&mut File::open(path)?, &mut encoder)?;
    Ok(encoder.finish()?.metadata()?.len())
}

#[cfg(test)]
mod tests {
    use super::{PackedTranscript, RETRIES_MAX, Tries, TryOutcome, has_room, outcome, pack};
    use referee_contest::{Fixture, Player, Policy};
    use referee_match::MatchTally;
    use referee_match::transcript::unpack;
    use referee_protocol::Seat;
    use serde_json::json;
    use std::fs;
    use std::io::{self, ErrorKind};

    /// The events of a match that is void for this reason, or counts.
    fn seen(void: Option<&str>) -> MatchTally {
        let void = void.map(|cause| json!({"cause": cause, "text": "test"}));
        let (result, places) =
            if void.is_some() { ("void", None) } else { ("played", Some([1, 2])) };
        let verdict = json!({"result": result, "reason": "", "places": places, "seats": [],
                             "void": void});
        let over = json!({"type": "over", "at_ns": 2, "outcome": null, "verdict": verdict});
        let mut seen = MatchTally::default();
        seen.add_event(&serde_json::from_value(over).unwrap());
        seen
    }

    /// Returns the outcome of a try, and whether its transcript still exists.
    fn tried(result: io::Result<()>, void: Option<&str>, left: u32) -> (String, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        fs::write(&path, "long").unwrap();
        let players = vec![Player(0), Player(1)];
        let fixture = Fixture {
            number: 7,
            block: 3,
            round: 1,
            game: 0,
            players,
            opening: 3,
            seed: 1,
            voids_left: Vec::new(),
        };
        let tries = Tries { left, all_left: RETRIES_MAX };
        let outcome =
            outcome(result.map(|()| seen(void)), &fixture, &Policy::default(), tries, &path);
        let name = match outcome {
            Ok(TryOutcome::Counts) => "counts".to_owned(),
            Ok(TryOutcome::Void(_)) => "void".to_owned(),
            Ok(TryOutcome::Lost) => "lost".to_owned(),
            Err(fault) if fault.text.ends_with("stopped playing") => "closed".to_owned(),
            Err(fault) => format!("{:?}", fault.cause).to_lowercase(),
        };
        (name, path.exists())
    }

    #[test]
    fn transcripts_that_are_not_reported_are_removed() {
        let error = |kind: ErrorKind| Err(io::Error::from(kind));
        for (result, void, left, expected, is_left) in [
            (Ok(()), None, 0, "counts", true),
            (Ok(()), Some("lag"), 1, "void", true),
            (Ok(()), Some("lag"), 0, "machine", false),
            (Ok(()), Some("disk_full"), 1, "disk", false),
            (Ok(()), Some("interrupted"), 1, "closed", false),
            (error(ErrorKind::StorageFull), None, 1, "disk", false),
            (error(ErrorKind::Other), None, 1, "lost", false),
            (error(ErrorKind::Other), None, 0, "machine", false),
        ] {
            assert_eq!(tried(result, void, left), (expected.to_owned(), is_left), "{void:?}");
        }
    }

    #[test]
    fn a_try_that_an_agent_spoiled_is_counted_apart() {
        let mut tries = Tries { left: 1, all_left: 4 };
        let at_seat = TryOutcome::Void(Some(Seat::all(2).next().unwrap()));
        tries.count(at_seat);
        tries.count(at_seat);
        assert!(tries.is_left(None));
        tries.count(TryOutcome::Lost);
        assert_eq!((tries.is_left(None), tries.is_left(seat_of(at_seat))), (false, true));
        tries.count(at_seat);
        assert!(!tries.is_left(seat_of(at_seat)));
    }

    fn seat_of(outcome: TryOutcome) -> Option<Seat> {
        if let TryOutcome::Void(seat) = outcome { seat } else { None }
    }

    #[test]
    fn a_report_has_room_until_its_games_fill_it() {
        let packed = |bytes| Ok(PackedTranscript { number: 7, path: "7.gz".into(), bytes });
        assert!(has_room(&[], 0));
        assert!(has_room(&[packed(60), packed(40)], 100));
        assert!(!has_room(&[packed(60), packed(41)], 100));
    }

    #[test]
    fn nothing_is_left_if_packing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        // A folder can be opened but not read.
        fs::create_dir(&path).unwrap();
        pack(7, &path).unwrap_err();
        assert!(!folder.path().join("7.gz").exists());
        let path = folder.path().join("8.jsonl");
        fs::write(&path, "long").unwrap();
        fs::create_dir(folder.path().join("8.gz")).unwrap();
        pack(8, &path).unwrap_err();
        assert!(!path.exists());
    }

    #[test]
    fn a_packed_transcript_replaces_the_plain_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        let lines = "{\"type\":\"played\"}\n".repeat(20_000);
        fs::write(&path, &lines).unwrap();
        let packed = pack(7, &path).unwrap();
        let bytes = fs::read(&packed.path).unwrap();
        assert!(!path.exists());
        assert_eq!((packed.number, packed.bytes), (7, bytes.len() as u64));
        assert_eq!(unpack(&bytes, 1 << 20).unwrap(), lines.as_bytes());
    }
}
