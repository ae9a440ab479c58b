//! An order is played: its games one after the other, each again where it ends void. The transcripts
//! are packed beside the next game.

use super::desk::{Closed, Ended};
use super::session::Session;
use crate::contest::{Fixture, Player};
use crate::fleet::{Order, WorkerFault};
use crate::shell::contender::Contender;
use crate::shell::contest::staging::Staging;
use crate::shell::destination::Destination;
use crate::shell::fleet::hashing::Hashing;
use crate::shell::pool::Job;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A void game is played again at most so often, whatever an order says.
const RETRIES_MAX: u32 = 20;
/// So much of a transcript is read at once.
const PIECE_BYTES: usize = 64 * 1024;

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

/// Why an order was not played.
#[derive(Debug)]
pub(super) enum Halt {
    /// This worker can't.
    Fault(WorkerFault),
    /// Nobody plays here any more.
    Closed,
}

impl From<Closed> for Halt {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// An order on its way through its games.
struct Played {
    seated: BTreeMap<Player, Arc<Contender>>,
    staging: Staging,
    packing: Vec<JoinHandle<io::Result<Packed>>>,
}

/// Plays it: every try of every game, in order.
pub(super) async fn play(session: &Session, order: &Order) -> Result<Vec<Packed>, Halt> {
    let mut seated = BTreeMap::new();
    for player in order.fixtures.iter().flat_map(|fixture| &fixture.players) {
        let contender = session.joined.contender(player.index()).await.map_err(Halt::Fault)?;
        seated.insert(*player, contender);
    }
    let checked = &session.joined.checked;
    let staging = Staging::new(checked.contest.clone(), checked.kinds.clone());
    let mut played = Played { seated, staging, packing: Vec::new() };
    let mut halted = None;
    for fixture in &order.fixtures {
        let game = played.game(session, fixture, order.void_retries.min(RETRIES_MAX)).await;
        if let Err(halt) = game {
            halted = Some(halt);
            break;
        }
    }
    let mut packed = Vec::new();
    for packing in played.packing {
        match packing.await {
            Ok(Ok(done)) => packed.push(done),
            Ok(Err(error)) => {
                halted.get_or_insert(Halt::Fault(failed("a transcript", &error)));
            }
            Err(error) => {
                halted.get_or_insert(Halt::Fault(WorkerFault::new("machine", error)));
            }
        }
    }
    let Some(halt) = halted else { return Ok(packed) };
    // The disk may be what is full.
    for Packed { path, .. } in packed {
        std::fs::remove_file(path).ok();
    }
    Err(halt)
}

impl Played {
    /// A game, until it counts. One that is void too often is this machine's failure.
    async fn game(
        &mut self,
        session: &Session,
        fixture: &Fixture,
        retries: u32,
    ) -> Result<(), Halt> {
        for attempt in 0..=retries {
            let path = session.transcript(fixture.number);
            let job = self.job(session, fixture, path.clone()).map_err(Halt::Fault)?;
            let Ended { result, seen } = session.desk.play(job).await?;
            if let Err(error) = result {
                // Its transcript isn't whole: nobody else could see that it was void.
                std::fs::remove_file(&path).ok();
                if attempt == retries || is_full(&error) {
                    let what = format!("game {}", fixture.number);
                    return Err(Halt::Fault(failed(&what, &error)));
                }
                continue;
            }
            let policy = &session.joined.checked.contest.policy;
            let void = seen.record(fixture, policy, String::new(), String::new()).err();
            match void.as_ref().map(|void| void.cause.as_str()) {
                // Nobody's doing but ours.
                Some("interrupted") => return Err(Halt::Closed),
                Some("disk_full") => {
                    let full = io::Error::from(ErrorKind::StorageFull);
                    return Err(Halt::Fault(failed("a transcript", &full)));
                }
                _ => {}
            }
            if let Some(void) = void.as_ref().filter(|_| attempt == retries) {
                // What this machine does to a game is no other's affair.
                let text = format!("game {}: {}", fixture.number, void.text);
                return Err(Halt::Fault(WorkerFault::new("machine", text)));
            }
            let number = fixture.number;
            self.packing.push(tokio::task::spawn_blocking(move || pack(number, &path)));
            if void.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// The game as the pool takes it.
    fn job(
        &mut self,
        session: &Session,
        fixture: &Fixture,
        path: PathBuf,
    ) -> Result<Job, WorkerFault> {
        let seat = |player: Player| self.seated[&player].clone();
        let destination = Destination::File { path, force: false };
        let job = self.staging.job(fixture, seat, session.joined.reaches.clone(), destination);
        job.map_err(|error| WorkerFault::new("order", error))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn failed(what: &str, error: &io::Error) -> WorkerFault {
    let cause = if is_full(error) { "disk" } else { "machine" };
    WorkerFault::new(cause, format!("{what}: {error}"))
}

/// Packs a transcript, piece by piece: it may be longer than memory. The packed file takes its place.
fn pack(number: u64, path: &Path) -> io::Result<Packed> {
    let packed = path.with_extension("gz");
    let mut from = File::open(path)?;
    let into = Hashing::new(File::create_new(&packed)?);
    let mut encoder = GzEncoder::new(into, Compression::default());
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece)? {
            0 => break,
            length => encoder.write_all(&piece[..length])?,
        }
    }
    let (sha256, bytes) = encoder.finish()?.told();
    std::fs::remove_file(path)?;
    Ok(Packed { number, path: packed, sha256, bytes })
}

#[cfg(test)]
mod tests {
    use super::pack;
    use crate::plain::hex;
    use crate::transcript::unpack;
    use sha2::{Digest, Sha256};
    use std::fs;

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
