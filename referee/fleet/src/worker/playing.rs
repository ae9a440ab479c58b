//! An order is played: its games one after the other, each again where it ends void. The transcripts
//! are packed beside the next game.

use super::desk::Ended;
use super::session::Session;
use crate::{FaultCause, Order, WorkerFault};
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_contest::{Fixture, Onlooker, Player, Policy};
use referee_play::contender::Contender;
use referee_play::destination::Destination;
use referee_play::digest::digest_file;
use referee_runner::staging::Staging;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A void game is played again at most so often, whatever an order says.
const RETRIES_MAX: u32 = 20;

/// A match that was played, with its transcript as a file, gzipped.
#[derive(Debug)]
pub(super) struct Packed {
    /// The game's number.
    pub(super) number: u64,
    /// The file.
    pub(super) path: PathBuf,
    /// SHA-256 of its bytes, in hex.
    pub(super) sha256: String,
    /// How many they are.
    pub(super) bytes: u64,
}

/// What came of an order: its matches, or why there are none.
pub(super) type Outcome = Result<Vec<Packed>, WorkerFault>;

/// Plays it: every try of every game, in order.
pub(super) async fn play(session: &Session, order: &Order) -> Outcome {
    let mut seated = BTreeMap::new();
    for player in order.fixtures.iter().flat_map(|fixture| &fixture.players) {
        let contender = session.joined.contender(player.index()).await?;
        seated.insert(*player, contender);
    }
    let checked = &session.joined.checked;
    let mut staging = Staging::new(checked.contest.clone(), checked.kinds.clone());
    let (mut packing, mut halted) = (Vec::new(), None);
    for fixture in &order.fixtures {
        let retries = order.void_retries.min(RETRIES_MAX);
        let game = game(session, fixture, retries, &seated, &mut staging, &mut packing).await;
        if let Err(fault) = game {
            halted = Some(fault);
            break;
        }
    }
    let mut packed = Vec::new();
    for packing in packing {
        match packing.await {
            Ok(Ok(done)) => packed.push(done),
            Ok(Err(error)) => {
                halted.get_or_insert(failed("a transcript", &error));
            }
            Err(error) => {
                halted.get_or_insert(WorkerFault::new(FaultCause::Machine, error));
            }
        }
    }
    let Some(fault) = halted else { return Ok(packed) };
    // The disk may be what is full.
    for Packed { path, .. } in packed {
        std::fs::remove_file(path).ok();
    }
    Err(fault)
}

/// A game, until it counts. One that is void too often is this machine's failure.
async fn game(
    session: &Session,
    fixture: &Fixture,
    retries: u32,
    seated: &BTreeMap<Player, Arc<Contender>>,
    staging: &mut Staging,
    packing: &mut Vec<JoinHandle<io::Result<Packed>>>,
) -> Result<(), WorkerFault> {
    let (number, joined) = (fixture.number, &session.joined);
    for attempt in 0..=retries {
        let path = session.transcript(number);
        let destination = Destination::File { path: path.clone(), force: false };
        let seat = |player: Player| seated[&player].clone();
        let job = staging.job(fixture, seat, joined.reaches.clone(), destination);
        let job = job.map_err(|error| WorkerFault::new(FaultCause::Order, error))?;
        let Ended { result, seen } = session.desk.play(job).await.ok_or_else(closed)?;
        let (policy, is_last) = (&joined.checked.contest.policy, attempt == retries);
        let fate = fate(result.map(drop), seen, fixture, policy, is_last, &path)?;
        if fate != Fate::Lost {
            packing.push(tokio::task::spawn_blocking(move || pack(number, &path)));
        }
        if fate == Fate::Counts {
            break;
        }
    }
    Ok(())
}

/// What a try of a game came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is the last of its game.
    Counts,
    /// It is played again, and reported.
    Void,
    /// It is played again, and nobody hears of it.
    Lost,
}

/// What a try came to, whose transcript is at `path`, or why the order is given up. A transcript that
/// nobody gets to see is removed: it may be what fills the disk.
fn fate(
    result: io::Result<()>,
    seen: Onlooker,
    fixture: &Fixture,
    policy: &Policy,
    is_last: bool,
    path: &Path,
) -> Result<Fate, WorkerFault> {
    let fate = match result {
        // Its transcript isn't whole: nobody else could see that it was void.
        Err(error) if is_last || is_full(&error) => {
            let what = format!("game {}", fixture.number);
            Err(failed(&what, &error))
        }
        Err(_) => Ok(Fate::Lost),
        Ok(()) => match seen.record(fixture, policy, String::new(), String::new()) {
            Ok(_) => Ok(Fate::Counts),
            // Nobody's doing but ours.
            Err(void) if void.cause == "interrupted" => Err(closed()),
            Err(void) if void.cause == "disk_full" => {
                let full = io::Error::from(ErrorKind::StorageFull);
                Err(failed("a transcript", &full))
            }
            // What this machine does to a game is no other's affair.
            Err(void) if is_last => {
                let text = format!("game {}: {}", fixture.number, void.text);
                Err(WorkerFault::new(FaultCause::Machine, text))
            }
            Err(_) => Ok(Fate::Void),
        },
    };
    if !matches!(fate, Ok(Fate::Counts | Fate::Void)) {
        std::fs::remove_file(path).ok();
    }
    fate
}

/// Nobody plays here any more.
fn closed() -> WorkerFault {
    WorkerFault::new(FaultCause::Machine, "matches can't be played any more")
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn failed(what: &str, error: &io::Error) -> WorkerFault {
    let cause = if is_full(error) { FaultCause::Disk } else { FaultCause::Machine };
    WorkerFault::new(cause, format!("{what}: {error}"))
}

/// Packs a transcript. The packed file takes its place; where that fails, neither is left.
fn pack(number: u64, path: &Path) -> io::Result<Packed> {
    let into = path.with_extension("gz");
    let packed = compress(path, &into);
    let removed = std::fs::remove_file(path);
    let told = packed.and_then(|told| removed.map(|()| told));
    if told.is_err() {
        std::fs::remove_file(&into).ok();
    }
    let (sha256, bytes) = told?;
    Ok(Packed { number, path: into, sha256, bytes })
}

/// SHA-256 of the packed file, and how many bytes it has.
fn compress(path: &Path, into: &Path) -> io::Result<(String, u64)> {
    let mut encoder = GzEncoder::new(File::create_new(into)?, Compression::default());
    io::copy(&mut File::open(path)?, &mut encoder)?;
    let bytes = encoder.finish()?.metadata()?.len();
    Ok((digest_file(into)?, bytes))
}

#[cfg(test)]
mod tests {
    use super::{Fate, fate, pack};
    use referee_contest::{Fixture, Onlooker, Player, Policy};
    use referee_match::transcript::unpack;
    use referee_protocol::plain::hex;
    use serde_json::json;
    use sha2::{Digest, Sha256};
    use std::fs;
    use std::io::{self, ErrorKind};

    /// What was seen of a match that is void for this reason, or that counts.
    fn seen(void: Option<&str>) -> Onlooker {
        let void = void.map(|cause| json!({"cause": cause, "text": "so it was"}));
        let (result, places) =
            if void.is_some() { ("void", None) } else { ("played", Some([1, 2])) };
        let verdict = json!({"result": result, "reason": "", "places": places, "seats": [],
                             "void": void});
        let over = json!({"type": "over", "at_ns": 2, "outcome": null, "verdict": verdict});
        let mut seen = Onlooker::default();
        seen.see(&serde_json::from_value(over).unwrap());
        seen
    }

    /// What becomes of a try, and whether its transcript is still there.
    fn tried(result: io::Result<()>, void: Option<&str>, is_last: bool) -> (String, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        fs::write(&path, "long").unwrap();
        let players = vec![Player(0), Player(1)];
        let fixture =
            Fixture { number: 7, block: 3, round: 1, game: 0, players, opening: 3, seed: 1 };
        let fate = fate(result, seen(void), &fixture, &Policy::default(), is_last, &path);
        let told = match fate {
            Ok(Fate::Counts) => "counts".to_owned(),
            Ok(Fate::Void) => "void".to_owned(),
            Ok(Fate::Lost) => "lost".to_owned(),
            Err(fault) if fault.text.ends_with("any more") => "closed".to_owned(),
            Err(fault) => format!("{:?}", fault.cause).to_lowercase(),
        };
        (told, path.exists())
    }

    #[test]
    fn no_transcript_is_left_that_nobody_gets_to_see() {
        let error = |kind: ErrorKind| Err(io::Error::from(kind));
        for (result, void, is_last, told, is_left) in [
            (Ok(()), None, true, "counts", true),
            (Ok(()), Some("lag"), false, "void", true),
            (Ok(()), Some("lag"), true, "machine", false),
            (Ok(()), Some("disk_full"), false, "disk", false),
            (Ok(()), Some("interrupted"), false, "closed", false),
            (error(ErrorKind::StorageFull), None, false, "disk", false),
            (error(ErrorKind::Other), None, false, "lost", false),
            (error(ErrorKind::Other), None, true, "machine", false),
        ] {
            assert_eq!(tried(result, void, is_last), (told.to_owned(), is_left), "{void:?}");
        }
    }

    #[test]
    fn what_can_not_be_packed_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        // It can be opened and not be read.
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
    fn a_packed_transcript_takes_the_place_of_the_plain_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.jsonl");
        let lines = "{\"type\":\"played\"}\n".repeat(20_000);
        fs::write(&path, &lines).unwrap();
        let packed = pack(7, &path).unwrap();
        let bytes = fs::read(&packed.path).unwrap();
        assert!(!path.exists());
        assert_eq!((packed.number, packed.bytes), (7, bytes.len() as u64));
        assert_eq!(packed.sha256, hex(&Sha256::digest(&bytes)));
        assert_eq!(unpack(&bytes, 1 << 20).unwrap(), lines.as_bytes());
    }
}
