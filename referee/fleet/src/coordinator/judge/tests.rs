//! Valid and invalid reports.

use super::{Rules, VerifiedReport, judge};
use crate::{FaultCause, PlayedMatch, Report, WorkerFault};
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_contest::{Contest, Fixture, Schedule};
use referee_games::{GameKind, GameRecord, Games, RecordEnd, Turn};
use referee_match::transcript::{Origin, Recorder, import};
use referee_match::{Effect, Input, Match, Reading, id_of};
use referee_protocol::{Event, Nanos, Seat};
use referee_runner::backend::{FinishedGame, NoResult};
use referee_runner::folder::Folder;
use referee_runner::{Builds, prepare_text};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const TEXT: &str = "game = \"hex\"\nagents = [\"@random\", \"@first\"]\n";

/// A contest's folder, and what its coordinator knows.
struct World {
    _place: TempDir,
    rules: Rules,
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
        let folder = Folder::open(place.path()).unwrap();
        let mut rules = Rules::of(contest, Games::default(), folder).unwrap();
        if let Some((held, longest)) = bounds {
            (rules.held_bytes_max, rules.transcript_bytes_max) = (held, longest);
        }
        Self { _place: place, rules }
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

    /// Verifies a report on the first block with these transcripts.
    fn verify(&self, tries: &[(u64, Vec<u8>)]) -> Result<VerifiedReport, String> {
        let sizes = tries.iter().map(|(number, bytes)| (*number, bytes.len() as u64)).collect();
        let bytes: Vec<u8> = tries.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        self.judge(&report(sizes), &bytes, None)
    }

    /// Verifies a report on the first block, of which one game may have a result already.
    fn judge(
        &self,
        report: &Report,
        bytes: &[u8],
        known: Option<u64>,
    ) -> Result<VerifiedReport, String> {
        let block = [0, 1].map(|number| (number, (self.fixture(number), Some(number) == known)));
        judge(report, bytes, &block.into(), &self.rules, None)
    }

    fn written(&self, number: u64) -> Option<Vec<u8>> {
        std::fs::read(self.rules.folder.path(Folder::transcript(number))).ok()
    }

    fn assert_written(&self, games: &[(u64, Vec<u8>)]) {
        for (number, bytes) in games {
            assert_eq!(self.written(*number).unwrap(), unpacked(bytes), "game {number}");
        }
    }
}

/// Returns a report of matches with these numbers and sizes.
fn report(tries: Vec<(u64, u64)>) -> Report {
    let tries = tries.into_iter().map(|(number, bytes)| PlayedMatch { number, bytes });
    let tries = tries.collect();
    Report { block: 0, attempt: 0, worker: "w".to_owned(), tries, in_object: false, fault: None }
}

/// A game in which both seats always choose the first listed action, in no time; or which ends before the first.
fn played(contest: &Contest, kind: GameKind, fixture: &Fixture, end: RecordEnd) -> Vec<u8> {
    let setup = contest.opening(kind, fixture.game, fixture.opening).unwrap();
    let game = kind.start(&setup).unwrap();
    let record = GameRecord {
        setup: game.setup(),
        names: vec![None; game.seats()],
        title: None,
        date: None,
        actions: Vec::new(),
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
    let Event::Header(mut header) = events.swap_remove(0) else { panic!("no header") };
    let players: Vec<_> = fixture.players.iter().map(|it| &contest.players[it.index()]).collect();
    (header.seed, header.game_number) = (fixture.seed, fixture.number);
    (header.clock, header.limits) = (contest.clock.clone(), contest.limits.clone());
    header.on_fault = contest.policy.on_fault;
    for (seat, player) in header.seats.iter_mut().zip(players) {
        (seat.name, seat.digest) = (player.name.clone(), player.digest.clone());
        seat.command = vec!["played".to_owned()];
    }
    header.match_id = id_of(&header);
    let seats = game.seats();
    let (mut state, mut effects) = Match::begin(game, *header);
    let reading = Reading { cpu: Some(Nanos(0)), ..Reading::default() };
    let mut step = |state: &mut Match, input: Input<'_>| {
        state.step(Nanos(0), input, &mut effects);
    };
    for seat in Seat::all(seats) {
        let line = br#"{"type":"ready"}"#;
        step(&mut state, Input::Line { seat, line, cut: false, reading, meaning: None });
    }
    while let (Turn::Of(seat), RecordEnd::Played) = (state.game().turn(), end) {
        step(&mut state, Input::Asked(seat, reading));
        let action = &state.game().actions()[0];
        let line = serde_json::json!({"type": "action", "action": action}).to_string();
        let line = line.as_bytes();
        step(&mut state, Input::Line { seat, line, cut: false, reading, meaning: None });
    }
    if end != RecordEnd::Played {
        step(&mut state, Input::Stop { cause: "unfinished", text: String::new(), seat: None });
    }
    step(&mut state, Input::PeakMemory(vec![None; seats]));
    let mut recorder = Recorder::new();
    for effect in effects {
        if let Effect::Record(event) = effect {
            recorder.record(&event);
        }
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

#[test]
fn a_report_s_games_are_written_unchanged() {
    let world = World::new();
    let games = world.block();
    let verified = world.verify(&games).unwrap();
    assert_eq!(verified.came.iter().map(|came| came.number).collect::<Vec<_>>(), [0, 1]);
    for came in &verified.came {
        let record = came.result.as_ref().ok().unwrap();
        assert_eq!(record.seed, world.fixture(came.number).seed);
        assert!(came.void_games.is_empty() && verified.known.is_empty());
    }
    world.assert_written(&games);
}

#[test]
fn void_tries_come_before_the_one_that_counts() {
    let world = World::new();
    let (void, whole) =
        (world.transcript(0, RecordEnd::Unfinished), world.transcript(0, RecordEnd::Played));
    let plain = unpacked(&whole);
    let tries = [(0, void.clone()), (0, void.clone()), (0, whole)];
    let verified = world.verify(&tries).unwrap();
    let came = &verified.came[0];
    let causes: Vec<&str> = came.void_games.iter().map(|it| it.void.cause.as_str()).collect();
    assert_eq!(causes, ["unfinished", "unfinished"]);
    assert!(came.result.is_ok() && verified.came.len() == 1);
    assert_eq!(world.written(0).unwrap(), plain);
    // Only void attempts: the worker has failed, and no transcript is written.
    let world = World::new();
    let error = world.verify(&[(0, void.clone()), (0, void)]).unwrap_err();
    assert!(error.starts_with("game 0: "), "{error}");
    assert_eq!(world.written(0), None);
}

#[test]
fn invalid_transcripts_are_the_worker_s_fault() {
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
        let error = world.verify(&tries).unwrap_err();
        assert!(error.contains(wrong), "{wrong}: {error}");
        assert_eq!((world.written(0), world.written(1)), (None, None), "{wrong}");
    }
}

#[test]
fn a_decompression_bomb_is_not_unpacked() {
    let world = World::with(Some((1 << 16, 1 << 20)));
    let bomb = packed(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 1 << 16);
    let error = world.verify(&[(0, bomb)]).unwrap_err();
    assert!(error.contains("game 0: its transcript has more than 1048576 bytes"), "{error}");
}

#[test]
fn a_game_that_has_a_result_is_not_stored_again() {
    let world = World::new();
    let bytes = world.transcript(0, RecordEnd::Played);
    let report = report(vec![(0, bytes.len() as u64)]);
    let verified = world.judge(&report, &bytes, Some(0)).unwrap();
    assert_eq!((verified.came.len(), verified.known), (0, [0].into()));
    assert_eq!(world.written(0), None);
}

#[test]
fn an_incomplete_report_is_invalid_and_a_fault_has_no_games() {
    let world = World::new();
    assert_eq!(world.verify(&[]).unwrap_err(), "its report has no games");
    let whole = world.transcript(0, RecordEnd::Played);
    for bytes in [whole.len() as u64 + 1, u64::MAX] {
        let error = world.judge(&report(vec![(0, bytes)]), &whole, None).unwrap_err();
        assert_eq!(error, "the transcript of game 0 is missing");
    }
    let mut fault = report(vec![(0, 1)]);
    fault.fault = Some(WorkerFault::new(FaultCause::Build, "no room"));
    assert_eq!(world.judge(&fault, &[], None).unwrap_err(), "no room");
}

/// A report may have hundreds of void transcripts, which would fill the memory.
#[test]
fn void_transcripts_beyond_the_limit_are_not_kept() {
    let void = World::new().transcript(0, RecordEnd::Unfinished);
    let length = unpacked(&void).len();
    let world = World::with(Some((length, usize::MAX)));
    let whole = world.transcript(0, RecordEnd::Played);
    let verified = world.verify(&[(0, void.clone()), (0, void), (0, whole)]).unwrap();
    let kept = verified.came[0].void_games.iter().map(|it| it.transcript.is_some());
    assert!(kept.eq([true, false]));
}

/// A disk that can't be written is the coordinator's problem.
#[test]
fn a_failing_disk_here_is_not_the_worker_s_fault() {
    let world = World::new();
    let games = world.block();
    let root = world.rules.folder.root();
    std::fs::remove_dir_all(root).unwrap();
    std::fs::write(root, "").unwrap();
    let verified = world.verify(&games).unwrap();
    std::fs::remove_file(root).unwrap();
    let halted = |came: &FinishedGame| matches!(came.result, Err(NoResult::Halt(_)));
    assert!(verified.came.len() == 2 && verified.came.iter().all(halted));
}
