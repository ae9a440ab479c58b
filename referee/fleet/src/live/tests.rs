use super::receiver::Receiver;
use super::sender::Sender;
use super::write_or_append;
use crate::LiveChunk;
use crate::messages::{LIVE_BYTES_MAX, with_bytes};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use referee_play::running_matches::{RunningMatchGuard, RunningMatches};
use referee_runner::folder::Folder;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SECOND: Duration = Duration::from_secs(1);

/// Returns whether a path still names an open file. An inode number may be reused once the file is
/// closed.
fn is_same(file: &File, path: &Path) -> bool {
    file.metadata().unwrap().ino() == fs::metadata(path).unwrap().ino()
}

/// The folders of a coordinator and a worker.
struct World {
    here: TempDir,
    there: TempDir,
    shown: RunningMatches,
    receiver: Receiver,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let here = TempDir::new().unwrap();
        // A contest's folder is recognized by its store.
        File::create(here.path().join("contest.db")).unwrap();
        let shown = RunningMatches::default();
        let receiver = Receiver::new(Folder::open(here.path()).unwrap(), shown.clone());
        Self { here, there: TempDir::new().unwrap(), shown, receiver, now: Instant::now() }
    }

    /// Replaces the coordinator.
    fn restart(&mut self) {
        self.shown = RunningMatches::default();
        let folder = Folder::open(self.here.path()).unwrap();
        self.receiver = Receiver::new(folder, self.shown.clone());
    }

    fn path(&self, number: u64) -> PathBuf {
        self.here.path().join(Folder::transcript(number))
    }

    fn read(&self, number: u64) -> Vec<u8> {
        fs::read(self.path(number)).unwrap_or_default()
    }

    fn take(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        self.receiver.take(message, |_, _| true, self.now)
    }

    fn send(&mut self, worker: &str, serial: u64, offset: u64, bytes: &[u8]) -> bool {
        let message = message(worker, 1, serial, offset, bytes);
        self.take(&message).is_some()
    }
}

fn message(worker: &str, number: u64, serial: u64, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let (worker, count) = (worker.to_owned(), bytes.len() as u64);
    with_bytes(&LiveChunk { worker, number, serial, offset, bytes: count, over: false }, &[bytes])
}

/// A match on a worker.
struct Match {
    file: File,
    written: Vec<u8>,
    _under_way: RunningMatchGuard,
}

impl Match {
    fn begin(world: &World, playing: &RunningMatches, number: u64, try_of_it: u32) -> Self {
        let path = world.there.path().join(format!("{number}-{try_of_it}.jsonl"));
        let file = File::create(&path).unwrap();
        Self { file, written: Vec::new(), _under_way: playing.begin(number, &path) }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.file.write_all(bytes).unwrap();
        self.written.extend_from_slice(bytes);
    }
}

/// A worker that plays game 1.
fn match_of_a_worker() -> (World, RunningMatches, Sender, Match) {
    let (world, playing) = (World::new(), RunningMatches::default());
    let game = Match::begin(&world, &playing, 1, 0);
    (world, playing, Sender::new("w", 0), game)
}

fn noise(random: &mut StdRng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; random.random_range(0..=most)];
    random.fill_bytes(&mut bytes);
    // Transcripts always end with a newline.
    bytes.iter_mut().last().into_iter().for_each(|byte| *byte = b'\n');
    bytes
}

#[test]
fn lost_messages_are_sent_again() {
    // In the first, a match was restarted and has written nothing at the end.
    for seed in [17_035_585_969_051_279_409, 5_487_137_924_128_664_361, rand::random()] {
        println!("seed {seed}");
        check_lost_messages(seed);
    }
}

fn check_lost_messages(seed: u64) {
    let random = &mut StdRng::seed_from_u64(seed);
    let mut world = World::new();
    let playing = RunningMatches::default();
    let mut sender = Sender::new("w", 0);
    let mut games: Vec<Option<Match>> =
        (0..3).map(|number| Some(Match::begin(&world, &playing, number, 0))).collect();
    let mut late: Vec<Vec<u8>> = Vec::new();
    // Long enough at the end to send the longest one again, four pieces a second.
    for round in 0..400 {
        let quiet = round >= 260;
        world.now += SECOND;
        let which = random.random_range(0..games.len());
        if !quiet {
            games[which].as_mut().unwrap().write(&noise(random, 3000));
        }
        match random.random_range(0..40) {
            0 if !quiet => world.restart(),
            1 if !quiet => sender = Sender::new("w", 1000 * u64::from(round)),
            // Void, and replayed.
            2 if !quiet => {
                games[which] = None;
                games[which] = Some(Match::begin(&world, &playing, which as u64, round + 1));
            }
            _ => {}
        }
        late.extend(sender.messages(&playing, 1000, world.now));
        for message in std::mem::take(&mut late) {
            let request = match random.random_range(0..10) {
                0 if !quiet => None,
                1 if !quiet => {
                    late.push(message);
                    None
                }
                2 => world.take(&message).and(world.take(&message)),
                _ => world.take(&message),
            };
            if let Some(request) = request.filter(|_| quiet || random.random_bool(0.8)) {
                sender.resend(&request);
            }
        }
    }
    for (number, game) in (0..).zip(games.iter().flatten()) {
        let has_begun = !game.written.is_empty();
        assert_eq!(world.shown.has(number), has_begun, "game {number}");
        // The transcript of an earlier attempt stays until new bytes replace it, and is not shown
        // as running.
        let (there, wanted) = (world.read(number), &game.written);
        let state = || format!("game {number}: {} of {} bytes", there.len(), wanted.len());
        assert!(!has_begun || there == *wanted, "{}", state());
    }
}

#[test]
fn a_short_match_is_not_sent_and_a_silent_one_is_kept_alive() {
    let (_world, playing, mut sender, mut game) = match_of_a_worker();
    game.write(b"header\n");
    let now = playing.all()[&1].since;
    assert!(sender.messages(&playing, 1000, now).is_empty());
    assert_eq!(sender.messages(&playing, 1000, now + 2 * SECOND).len(), 1);
    assert!(sender.messages(&playing, 1000, now + 5 * SECOND).is_empty());
    let silent = sender.messages(&playing, 1000, now + 13 * SECOND);
    assert_eq!(silent, [message("w", 1, 1, 7, b"")]);
    drop(game);
    assert_eq!(sender.messages(&playing, 1000, now + 14 * SECOND).len(), 1);
    assert!(sender.messages(&playing, 1000, now + 60 * SECOND).is_empty());
}

#[test]
fn the_end_of_a_match_is_sent_after_its_file_is_removed() {
    let (mut world, playing, mut sender, mut game) = match_of_a_worker();
    game.write(b"header\n");
    world.now = playing.all()[&1].since;
    let now = world.now + 2 * SECOND;
    for message in sender.messages(&playing, 1000, now) {
        world.take(&message);
    }
    assert!(world.shown.has(1));
    game.write(&[&[b'x'; 2499][..], b"\n"].concat());
    let whole = game.written.clone();
    drop(game);
    fs::remove_file(world.there.path().join("1-0.jsonl")).unwrap();
    let last = sender.messages(&playing, 1000, now + SECOND);
    // The second of three is lost.
    assert_eq!(last.len(), 3);
    world.take(&last[0]);
    assert!(world.shown.has(1));
    let request = world.take(&last[2]).unwrap();
    sender.resend(&request);
    for message in sender.messages(&playing, 1000, now + 2 * SECOND) {
        world.take(&message);
    }
    assert!(world.read(1) == whole);
    assert!(!world.shown.has(1));
    assert!(sender.messages(&playing, 1000, now + 3 * SECOND).is_empty());
}

#[test]
fn a_long_transcript_is_sent_in_pieces() {
    let (mut world, playing, mut sender, mut game) = match_of_a_worker();
    game.write(&[&[b'x'; 4499][..], b"\n"].concat());
    world.now = playing.all()[&1].since;
    for (after, pieces, length) in [(2, 4, 4000), (3, 1, 4500)] {
        let messages = sender.messages(&playing, 1000, world.now + after * SECOND);
        assert_eq!(messages.len(), pieces);
        for message in messages {
            assert_eq!(world.take(&message), None);
        }
        assert_eq!(world.read(1).len(), length);
    }
}

#[test]
fn only_ordered_games_are_written() {
    let mut world = World::new();
    let has = |worker: &str, number| worker == "w" && number == 1;
    let now = world.now;
    let mut take = |message: &[u8]| world.receiver.take(message, has, now);
    for wrong in [
        message("w", 2, 0, 0, b"not under way"),
        message("v", 1, 0, 0, b"of another"),
        message("w", 1, 0, 0, &vec![b'x'; LIVE_BYTES_MAX + 1]),
        with_bytes(
            &LiveChunk {
                worker: "w".into(),
                number: 1,
                serial: 0,
                offset: 0,
                bytes: 3,
                over: false,
            },
            &[b"more"],
        ),
        b"".to_vec(),
        b"\n\n".to_vec(),
        b"{\"worker\":\"w\",\"number\":-1,\"serial\":0,\"offset\":0,\"bytes\":0,\"over\":false}\n"
            .to_vec(),
        vec![b'{'; 1 << 20],
    ] {
        assert_eq!(take(&wrong), None);
    }
    // Requested from the beginning, however large the offset is.
    assert!(take(&message("w", 1, 0, u64::MAX - 1, b"far")).is_none());
    assert!(take(&message("w", 1, 0, 5, b"beyond")).is_some());
    // Not again at once.
    assert!(take(&message("w", 1, 0, 5, b"beyond")).is_none());
    assert!(!world.here.path().join("games").exists() && !world.shown.has(1));
}

#[test]
fn of_two_workers_one_is_shown() {
    let mut world = World::new();
    world.send("first", 9, 0, b"one\n");
    world.send("second", 3, 0, b"two\n");
    assert_eq!(world.read(1), b"one\n");
    // It became silent.
    world.now += 31 * SECOND;
    world.send("second", 3, 0, b"two\n");
    assert_eq!(world.read(1), b"two\n");
    // Its order was withdrawn.
    let third = message("third", 1, 0, 0, b"three\n");
    world.receiver.take(&third, |worker, _| worker == "third", world.now);
    assert_eq!(world.read(1), b"three\n");
    assert!(world.shown.has(1));
    world.receiver.end(1);
    assert!(!world.shown.has(1));
    assert_eq!(world.read(1), b"three\n");
    world.receiver.discard(1);
    assert_eq!(world.read(1), b"three\n", "the file is final");
}

#[test]
fn a_rewritten_file_does_not_change_for_its_readers() {
    let mut world = World::new();
    world.send("w", 1, 0, b"one\n");
    let old = File::open(world.path(1)).unwrap();
    world.now += 10 * SECOND;
    world.send("w", 2, 0, b"two, and longer\n");
    assert_eq!(world.read(1), b"two, and longer\n");
    assert_eq!(old.metadata().unwrap().len(), 4);
    // A late message changes nothing.
    world.send("w", 1, 4, b"late\n");
    assert_eq!(world.read(1), b"two, and longer\n");
    let before = File::open(world.path(1)).unwrap();
    // Different bytes are requested from the beginning, and then written.
    assert!(world.send("w", 2, 4, b"but not that\n"));
    assert_eq!(world.read(1), b"two, and longer\n");
    world.now += 10 * SECOND;
    world.send("w", 2, 0, b"two,");
    assert_eq!(world.read(1), b"two,");
    assert!(!is_same(&before, &world.path(1)));
}

#[test]
fn links_are_not_followed() {
    let mut world = World::new();
    let precious = world.there.path().join("precious");
    fs::write(&precious, "one\n").unwrap();
    fs::create_dir_all(world.path(1).parent().unwrap()).unwrap();
    symlink(&precious, world.path(1)).unwrap();
    world.send("w", 1, 0, b"one\ntwo\n");
    assert_eq!(world.read(1), b"one\ntwo\n");
    symlink(&precious, world.path(2)).unwrap();
    write_or_append(&world.path(2), b"one\nthree\n").unwrap();
    assert_eq!(world.read(2), b"one\nthree\n");
    assert_eq!(fs::read(&precious).unwrap(), b"one\n");
}

#[test]
fn a_report_extends_or_replaces_the_file() {
    let world = World::new();
    let path = world.path(1234);
    write_or_append(&path, b"one\ntwo\n").unwrap();
    let first = File::open(&path).unwrap();
    for (bytes, same) in [
        (&b"one\ntwo\nthree\n"[..], true),
        (b"one\ntwo\nthree\n", true),
        (b"one\ntwo\nfour!\nfive\n", false),
        (b"one\n", false),
        (b"", false),
    ] {
        let before = File::open(&path).unwrap();
        write_or_append(&path, bytes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(is_same(&before, &path), same);
    }
    assert_eq!(first.metadata().unwrap().len(), 14, "a reader of the old file keeps it");
    let left: Vec<_> = path.parent().unwrap().read_dir().unwrap().collect();
    assert_eq!(left.len(), 1);
}
