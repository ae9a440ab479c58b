//! Valid and invalid reports.

use super::{Judged, Objects, Rules, VerifiedReport, judge};
use crate::{FaultCause, Payload, PlayedMatch, Report, WorkerFault};
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_contest::log::{PrivateKey, WorkerSignature};
use referee_contest::{Contest, Fixture, Schedule};
use referee_games::{GameKind, GameRecord, RecordEnd, Turn};
use referee_match::match_id;
use referee_match::transcript::{Origin, Recorder, import};
use referee_protocol::Event;
use referee_protocol::plain::to_hex;
use referee_runner::backend::{FinishedGame, NoResult, kinds};
use referee_runner::folder::Folder;
use referee_runner::{Builds, prepare_text};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const TEXT: &str = "game = \"hex\"\nagents = [\"@random\", \"@first\"]\n";

/// A contest's folder, and what its coordinator knows.
struct World {
    _place: TempDir,
    rules: Arc<Rules>,
    objects: Kept,
}

/// Objects by name, and how often one was fetched.
#[derive(Clone, Default)]
struct Kept(BTreeMap<String, Vec<u8>>, Arc<AtomicU32>);

impl Objects for Kept {
    async fn fetch(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
        self.1.fetch_add(1, Ordering::Relaxed);
        match self.0.get(name) {
            Some(bytes) if bytes.len() > most => Err(format!("it has {} bytes", bytes.len())),
            kept => Ok(kept.cloned()),
        }
    }
}

impl World {
    fn new() -> Self {
        Self::with(None)
    }

    /// With these bounds of memory and of a transcript's size.
    fn with(bounds: Option<(usize, usize)>) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = Path::new("contest.toml");
        let prepared = prepare_text(TEXT, file, place.path(), Builds::Later).unwrap();
        std::fs::write(place.path().join("contest.db"), "").unwrap();
        let contest: Arc<Contest> = prepared.contest;
        let kinds = kinds(&contest).unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let mut rules = Rules::of(contest, kinds, folder);
        if let Some((held, longest)) = bounds {
            (rules.held_bytes_max, rules.transcript_bytes_max) = (held, longest);
        }
        Self { _place: place, rules: Arc::new(rules), objects: Kept::default() }
    }

    fn fixture(&self, number: u64) -> Fixture {
        Schedule::new(self.rules.contest.clone()).fixture(number).unwrap()
    }

    /// The gzipped transcript of a game of the schedule.
    fn transcript(&self, number: u64, end: RecordEnd) -> Vec<u8> {
        let fixture = self.fixture(number);
        packed(&played(&self.rules.contest, self.rules.kinds[0], &fixture, end))
    }

    /// Both games of the first block, played.
    fn block(&self) -> [(u64, Vec<u8>); 2] {
        [0, 1].map(|number| (number, self.transcript(number, RecordEnd::Played)))
    }

    /// Verifies a report with these transcripts after its line.
    async fn verify(&self, tries: &[(u64, Vec<u8>)]) -> Result<VerifiedReport, String> {
        let error = tries.iter().map(|(number, bytes)| (*number, message_of(bytes))).collect();
        let bytes = tries.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        self.judge(error, bytes).await
    }

    /// Verifies a report on the first block.
    async fn judge(
        &self,
        tries: Vec<(u64, Payload)>,
        bytes: Vec<u8>,
    ) -> Result<VerifiedReport, String> {
        self.judge_known(tries, bytes, None).await
    }

    /// The same if one game has a result already.
    async fn judge_known(
        &self,
        tries: Vec<(u64, Payload)>,
        bytes: Vec<u8>,
        known: Option<u64>,
    ) -> Result<VerifiedReport, String> {
        let block = [0, 1].map(|number| (number, (self.fixture(number), Some(number) == known)));
        let (rules, objects) = (self.rules.clone(), self.objects.clone());
        judge(report(tries), bytes, block.into(), rules, objects).await
    }

    fn written(&self, number: u64) -> Option<Vec<u8>> {
        std::fs::read(self.rules.folder.path(&Folder::transcript(number))).ok()
    }

    fn assert_written(&self, games: &[(u64, Vec<u8>)]) {
        for (number, bytes) in games {
            assert_eq!(self.written(*number).unwrap(), unpacked(bytes), "game {number}");
        }
    }
}

fn report(tries: Vec<(u64, Payload)>) -> Report {
    let signature = None;
    let tries = tries
        .into_iter()
        .map(|(number, transcript)| PlayedMatch {
            number,
            transcript,
            signature: signature.clone(),
        })
        .collect();
    Report { block: 0, attempt: 0, worker: "w".to_owned(), tries, fault: None }
}

/// A game in which both seats always choose the first listed action.
fn played(contest: &Contest, kind: GameKind, fixture: &Fixture, end: RecordEnd) -> Vec<u8> {
    let setup = contest.opening(kind, fixture.game, fixture.opening).unwrap();
    let mut game = kind.start(&setup).unwrap();
    let (setup, mut actions) = (game.setup(), Vec::new());
    while matches!(game.turn(), Turn::Of(_)) && end == RecordEnd::Played {
        actions.push(game.play(&game.actions()[0]).unwrap());
    }
    let names = vec![None; game.seats()];
    let record = GameRecord {
        setup: setup.clone(),
        names,
        title: None,
        date: None,
        actions,
        end,
        comment: String::new(),
    };
    let origin = Origin {
        file: String::new(),
        digest: String::new(),
        number: fixture.number,
        started: "2026-01-01T00:00:00Z".to_owned(),
    };
    let mut events = import(kind, &record, &origin).unwrap();
    let Some(Event::Header(header)) = events.first_mut() else { panic!("no header") };
    let players: Vec<_> = fixture.players.iter().map(|it| &contest.players[it.index()]).collect();
    let digests: Vec<&str> = players.iter().map(|player| player.digest.as_str()).collect();
    header.match_id = match_id(kind.name, &setup, &digests, fixture.seed, fixture.number);
    (header.seed, header.game_number) = (fixture.seed, fixture.number);
    (header.clock, header.limits) = (contest.clock.clone(), contest.limits.clone());
    header.on_fault = contest.policy.on_fault;
    for (seat, player) in header.seats.iter_mut().zip(players) {
        (seat.name, seat.digest) = (player.name.clone(), player.digest.clone());
        seat.command = vec!["played".to_owned()];
    }
    // Every turn took no time.
    let (clock, mut turns) = (&contest.clock, vec![0; fixture.players.len()]);
    for event in &mut events {
        if let Event::Turn(turn) = event {
            let played: &mut u64 = &mut turns[turn.seat.index()];
            turn.left_ms = clock.bank_ms.map(|bank| bank + *played * clock.increment_ms);
            *played += 1;
        }
    }
    let mut recorder = Recorder::new();
    for event in &events {
        recorder.record(event);
    }
    recorder.seal();
    recorder.take()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    referee_match::transcript::unpack(bytes, usize::MAX).unwrap().into_owned()
}

#[tokio::test]
async fn a_report_s_games_are_written_unchanged() {
    let world = World::new();
    let games = world.block();
    let verified = world.verify(&games).await.unwrap();
    assert_eq!(verified.came.iter().map(|came| came.number).collect::<Vec<_>>(), [0, 1]);
    for came in &verified.came {
        let record = came.result.as_ref().ok().unwrap();
        assert_eq!(record.seed, world.fixture(came.number).seed);
        assert!(came.void_games.is_empty() && verified.known.is_empty());
    }
    world.assert_written(&games);
}

#[tokio::test]
async fn a_worker_s_signature_is_kept_and_must_be_of_the_transcript() {
    let world = World::new();
    let games = world.block();
    let key = PrivateKey::from_bytes(&[3; 32]);
    let signed = async |seals: [&str; 2]| {
        let tries = games.iter().map(|(number, bytes)| (*number, message_of(bytes))).collect();
        let mut report = report(tries);
        for (one, seal) in report.tries.iter_mut().zip(seals) {
            one.signature = Some(WorkerSignature::new(&key, "desk\u{1b}".to_owned(), seal));
        }
        let bytes = games.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let block = [0, 1].map(|number| (number, (world.fixture(number), false)));
        let (rules, objects) = (world.rules.clone(), world.objects.clone());
        judge(report, bytes, block.into(), rules, objects).await
    };
    let found = signed(["a", "b"]).await.unwrap_err();
    assert!(found.contains("game 0: the signature is not of its transcript"), "{found}");
    let unsigned = world.verify(&games).await.unwrap();
    assert!(unsigned.came.iter().all(|came| came.worker.is_none()), "earlier versions don't sign");
    let seal = |index: usize| unsigned.came[index].result.as_ref().ok().unwrap().seal.clone();
    let seals = [seal(0), seal(1)];
    let found = signed([&seals[1], &seals[0]]).await.unwrap_err();
    assert!(found.contains("game 0: the signature is not of its transcript"), "{found}");
    let verified = signed([&seals[0], &seals[1]]).await.unwrap();
    for (came, seal) in verified.came.iter().zip(&seals) {
        let worker = came.worker.as_ref().unwrap();
        assert!(worker.is_of(seal) && worker.key == key.public());
        assert!(!worker.name.contains('\u{1b}'), "{worker:?}");
    }
}

#[tokio::test]
async fn a_game_that_has_a_result_is_only_compared() {
    let world = World::new();
    let bytes = world.transcript(0, RecordEnd::Played);
    let void = world.transcript(0, RecordEnd::Unfinished);
    let tries = vec![(0, message_of(&void)), (0, message_of(&bytes))];
    let verified = world.judge_known(tries, [void, bytes].concat(), Some(0)).await.unwrap();
    assert_eq!((verified.came.len(), verified.known.len()), (0, 1));
    assert_eq!(world.written(0), None);
}

/// When a game is durable its object is removed, and its report may arrive again.
#[tokio::test]
async fn a_removed_object_of_a_game_with_a_result_is_not_needed() {
    let mut world = World::new();
    let games = world.block();
    let tries: Vec<_> = games.iter().map(|(number, bytes)| (*number, object_of(bytes))).collect();
    let name = to_hex(&Sha256::digest(&games[1].1));
    world.objects.0.insert(name.clone(), games[1].1.clone());
    for (known, fine) in [(0, true), (1, false)] {
        let verified = world.judge_known(tries.clone(), Vec::new(), Some(known)).await;
        let found = verified.map(|it| (it.came.len(), it.came[0].number, it.objects));
        assert_eq!(found.ok(), fine.then(|| (1, 1, vec![name.clone()])), "{known}");
    }
}

fn message_of(bytes: &[u8]) -> Payload {
    Payload::Message { bytes: bytes.len() as u64 }
}

fn object_of(bytes: &[u8]) -> Payload {
    Payload::Object { sha256: to_hex(&Sha256::digest(bytes)), bytes: bytes.len() as u64 }
}

#[tokio::test]
async fn void_tries_come_before_the_one_that_counts() {
    let world = World::new();
    let (void, whole) =
        (world.transcript(0, RecordEnd::Unfinished), world.transcript(0, RecordEnd::Played));
    let plain = unpacked(&whole);
    let tries = [(0, void.clone()), (0, void.clone()), (0, whole)];
    let verified = world.verify(&tries).await.unwrap();
    let came = &verified.came[0];
    let causes: Vec<&str> = came.void_games.iter().map(|it| it.void.cause.as_str()).collect();
    assert_eq!(causes, ["unfinished", "unfinished"]);
    assert!(came.result.is_ok() && verified.came.len() == 1);
    assert_eq!(world.written(0).unwrap(), plain);
    // Only void attempts: the worker has failed, and no transcript is written.
    let world = World::new();
    let error = world.verify(&[(0, void.clone()), (0, void)]).await.unwrap_err();
    assert!(error.starts_with("game 0: "), "{error}");
    assert_eq!(world.written(0), None);
}

#[tokio::test]
async fn invalid_transcripts_are_the_worker_s_fault() {
    let world = World::new();
    let whole = world.transcript(0, RecordEnd::Played);
    let plain = unpacked(&whole);
    let text = String::from_utf8(plain.clone()).unwrap();
    let tampered = text.replacen("\"used_ms\":0", "\"used_ms\":1", 1);
    assert_ne!(tampered, text);
    let other_seed = Fixture { seed: 1, ..world.fixture(0) };
    let contest = &world.rules.contest;
    let other_seed = played(contest, world.rules.kinds[0], &other_seed, RecordEnd::Played);
    let other_seats = Fixture { players: world.fixture(1).players, ..world.fixture(0) };
    let other_seats = played(contest, world.rules.kinds[0], &other_seats, RecordEnd::Played);
    // The end is missing.
    let torn = packed(&plain[..plain.len() / 2]);
    let good = (1, world.transcript(1, RecordEnd::Played));
    for (tries, wrong) in [
        (vec![(0, good.1.clone())], "the number is 1"),
        (vec![(0, packed(&other_seed))], "the seed is 1"),
        (vec![(0, packed(&other_seats))], "the seating is"),
        (vec![(0, packed(tampered.as_bytes()))], "game 0: "),
        (vec![(0, packed(b"not a transcript"))], "game 0: "),
        (vec![(0, torn.clone()), (0, whole.clone())], "game 0: torn"),
        (vec![(0, packed(&whole))], "packed more than once"),
        (vec![(9, whole.clone())], "game 9 does not belong to block 0"),
        (
            vec![(0, whole.clone()), (0, whole.clone())],
            "was played again after a match that counts",
        ),
    ] {
        // A valid transcript beside it changes nothing, and nothing is written.
        let tries: Vec<_> = std::iter::once(good.clone()).chain(tries).collect();
        let error = world.verify(&tries).await.unwrap_err();
        assert!(error.contains(wrong), "{wrong}: {error}");
        assert_eq!((world.written(0), world.written(1)), (None, None), "{wrong}");
    }
}

#[tokio::test]
async fn payloads_are_complete_and_match_their_names() {
    let mut world = World::new();
    let whole = world.transcript(0, RecordEnd::Played);
    let length = whole.len() as u64;
    let name = to_hex(&Sha256::digest(&whole));
    let absent = to_hex(&Sha256::digest(b"absent"));
    let false_name = to_hex(&Sha256::digest(b"false"));
    let object = |sha256: &str, bytes| Payload::Object { sha256: sha256.to_owned(), bytes };
    world.objects.0.insert(name.clone(), whole.clone());
    world.objects.0.insert(false_name.clone(), whole.clone());
    for (parcel, bytes, wrong) in [
        (object(&absent, length), Vec::new(), "is missing on the server"),
        (object(&false_name, length), Vec::new(), "differs from the one that was reported"),
        (object(&name, length - 1), Vec::new(), "it has "),
        (object(&name, length + 1), Vec::new(), "differs from the one that was reported"),
        (object(&name, u64::MAX), Vec::new(), "game 0: its transcript has more than"),
        (object("../brief", length), Vec::new(), "an invalid object name"),
        (Payload::Message { bytes: length }, whole[1..].to_vec(), "game 0 is missing"),
        (Payload::Message { bytes: u64::MAX }, whole.clone(), "game 0 is missing"),
    ] {
        let error = world.judge(vec![(0, parcel.clone())], bytes).await.unwrap_err();
        assert!(error.contains(wrong), "{parcel:?}: {error}");
    }
    assert_eq!(world.written(0), None);
    let verified = world.judge(vec![(0, object(&name, length))], Vec::new()).await.unwrap();
    assert!(verified.came[0].result.is_ok());
}

#[tokio::test]
async fn a_decompression_bomb_is_not_unpacked() {
    let world = World::with(Some((1 << 16, 1 << 20)));
    let bomb = packed(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 1 << 16);
    let error = world.verify(&[(0, bomb)]).await.unwrap_err();
    assert!(error.contains("game 0: its transcript has more than 1048576 bytes"), "{error}");
}

/// A report may have hundreds of games, of which a few would fill the memory.
#[tokio::test]
async fn transcripts_that_exceed_the_memory_limit_are_kept() {
    let world = World::new();
    let games = world.block();
    let void = (0, world.transcript(0, RecordEnd::Unfinished));
    let lengths = [0, 1].map(|at: usize| unpacked(&games[at].1).len());
    let longest = lengths[0].max(lengths[1]);
    for held in [0, lengths[0], lengths[0] + lengths[1]] {
        let world = World::with(Some((held, longest)));
        let tries = [std::slice::from_ref(&void), &games[..]].concat();
        let verified = world.verify(&tries).await.unwrap();
        assert_eq!(verified.came.len(), 2);
        world.assert_written(&games);
    }
    let error = World::with(Some((0, longest - 1))).verify(&games).await.unwrap_err();
    assert!(error.contains("more than"), "{error}");
}

/// One at a time, from fetching until it is stored.
#[tokio::test]
async fn only_one_long_transcript_is_in_memory() {
    let world = World::new();
    let games = world.block();
    let longest = games.iter().map(|(_, bytes)| unpacked(bytes).len()).max().unwrap();
    // Of two transcripts the second goes to the disk; a fetched one always does.
    for (held, by_object) in [(longest, false), (games[0].1.len() / 2, true)] {
        let mut world = World::with(Some((held, longest)));
        let parcel = if by_object { object_of } else { message_of };
        let tries = games.iter().map(|(number, bytes)| (*number, parcel(bytes))).collect();
        let bytes = games.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        for (_, bytes) in &games {
            world.objects.0.insert(to_hex(&Sha256::digest(bytes)), bytes.clone());
        }
        let other = world.rules.long.clone().lock_owned().await;
        let mut judged = std::pin::pin!(world.judge(tries, bytes));
        let early = tokio::time::timeout(Duration::from_millis(300), judged.as_mut()).await;
        assert!(early.is_err(), "{held}");
        assert_eq!(world.objects.1.load(Ordering::Relaxed), 0, "{held}");
        drop(other);
        assert_eq!(judged.await.unwrap().came.len(), 2);
        world.assert_written(&games);
    }
}

/// A disk that can't be written is the coordinator's problem.
#[tokio::test]
async fn a_failing_disk_here_is_not_the_worker_s_fault() {
    for held in [0, usize::MAX] {
        let world = World::with(Some((held, usize::MAX)));
        let games = world.block();
        let root = world.rules.folder.root();
        std::fs::remove_dir_all(root).unwrap();
        std::fs::write(root, "").unwrap();
        let verified = world.verify(&games).await.unwrap();
        std::fs::remove_file(root).unwrap();
        let halted = |came: &FinishedGame| matches!(came.result, Err(NoResult::Halt(_)));
        assert!(verified.came.len() == 2 && verified.came.iter().all(halted), "{held}");
    }
}

#[tokio::test]
async fn an_empty_report_is_invalid_and_a_fault_has_no_games() {
    let world = World::new();
    assert_eq!(world.verify(&[]).await.unwrap_err(), "its report has no games");
    let mut report = report(vec![(0, Payload::Message { bytes: 1 })]);
    report.fault = Some(WorkerFault { cause: FaultCause::Build, text: "no room".to_owned() });
    let (rules, objects) = (world.rules.clone(), world.objects.clone());
    let error = judge(report, Vec::new(), BTreeMap::new(), rules, objects).await.unwrap_err();
    assert_eq!(error, "no room");
}

#[tokio::test]
async fn a_panic_is_an_error_of_its_report() {
    let judged = Judged::of(1, report(Vec::new()), async { panic!("a mistake") }).await;
    assert_eq!(judged.number, 1);
    assert!(judged.verified.unwrap_err().contains("a mistake"));
}
