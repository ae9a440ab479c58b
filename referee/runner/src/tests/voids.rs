//! Void attempts: an agent may cause so many in a contest, over all its runs, and no more.

use super::super::backend::{Backend, BackendEvent, FinishedGame, NoResult, VoidGame};
use super::super::folder::Folder;
use super::super::local::not_finished;
use super::super::results;
use super::super::runner::{Observer, Progress, RunResult, Runner};
use super::super::store::{Store, VoidAttempt};
use super::super::voids::VoidTally;
use super::store::{game, stored, void};
use referee_contest::{
    Change, ChangeKind, Contest, Fixture, Player, PlayerInfo, Record, Schedule, Void,
};
use referee_play::drive::ProcessesLeft;
use referee_play::interrupts::Interrupts;
use referee_process::Failure;
use referee_protocol::Seat;
use std::collections::VecDeque;
use std::sync::Arc;
use std::{fs, io};

/// The player at whose seat every game becomes void that may.
const CULPRIT: Player = Player(1);

#[test]
fn an_agent_whose_processes_are_left_has_caused_that() {
    let left = ProcessesLeft { seat: Seat(1), name: "a".to_owned() };
    assert_eq!(not_finished(&io::Error::other(left)).seat, Some(Seat(1)));
    assert_eq!(not_finished(&io::Error::other("no disk")).seat, None);
}

/// An agent may choose actions at which rules fail, but not all agents do.
#[test]
fn rules_that_fail_at_most_agents_are_broken() {
    let contest = Arc::new(stored().1.contest);
    let fixture = Schedule::new(contest.clone()).fixture(1).unwrap();
    let mut tally = VoidTally::default();
    let mut count = |seat: u8, cause: &str| {
        let void = Void { cause: cause.to_owned(), text: "x".to_owned(), seat: Some(Seat(seat)) };
        tally.count(Some(&fixture), 1, void);
        let mut limited = fixture.clone();
        tally.limit(&contest, &mut limited);
        (tally.are_rules_broken(&contest), limited.voids_left)
    };
    let most = contest.policy.agent_voids;
    assert_eq!(contest.players.len(), 2);
    assert_eq!(count(0, "rules"), (false, vec![most - 1, most]));
    assert_eq!(count(1, "lag"), (false, vec![most - 1, most - 1]));
    assert_eq!(count(1, "rules"), (true, vec![most; 2]));

    // Versions of one team are one.
    let mut contest = stored().1.contest;
    for version in [2, 3] {
        let player = PlayerInfo { name: format!("b v{version}"), ..contest.players[1].clone() };
        contest.players.push(player.clone());
        let kind = ChangeKind::Add { player, from: 0, team: Some(CULPRIT) };
        let [at, by, reason] = [const { String::new() }; 3];
        contest.changes.push(Change { at, by, reason, removes: Vec::new(), kind });
    }
    let mut tally = VoidTally::default();
    let fixture = Fixture { players: (1..4).map(Player).collect(), ..fixture };
    for seat in 0..3 {
        let void = Void { cause: "rules".to_owned(), text: "x".to_owned(), seat: Some(Seat(seat)) };
        tally.count(Some(&fixture), 1, void);
    }
    assert!(!tally.are_rules_broken(&contest));
}

/// Who is to blame for void games.
#[derive(Clone, Copy, PartialEq)]
enum Blame {
    Machine,
    Culprit,
    /// Each player as long as it may be, the second one first.
    Both,
}

/// Plays one game after the other.
struct OneCore {
    folder: Folder,
    blame: Blame,
    queue: VecDeque<Fixture>,
    is_closed: bool,
}

impl OneCore {
    fn play(&self, fixture: &Fixture) -> Result<Box<Record>, NoResult> {
        let seat_of = |player| fixture.players.iter().position(|&it| it == player).unwrap();
        let seats = [CULPRIT, Player(0)].map(|player| Seat::all(2).nth(seat_of(player)).unwrap());
        let causes = match self.blame {
            Blame::Machine => &seats[..0],
            Blame::Culprit => &seats[..1],
            Blame::Both => &seats[..],
        };
        let no_void = fixture.no_void();
        let seat = causes.iter().copied().find(|seat| !no_void.contains(seat));
        if seat.is_none() && self.blame != Blame::Machine {
            let transcript = Folder::transcript(fixture.number);
            fs::create_dir_all(self.folder.path(&transcript).parent().unwrap()).unwrap();
            fs::write(self.folder.path(&transcript), "x").unwrap();
            let (players, block) = (fixture.players.clone(), fixture.block);
            let record = Record { players, block, ..game(fixture.number, "a") };
            return Ok(Box::new(record));
        }
        let void = Void { cause: "lag".to_owned(), text: "late".to_owned(), seat };
        Err(NoResult::Void(VoidGame { void, transcript: Some(b"x".to_vec()) }))
    }
}

impl Backend for OneCore {
    const BLOCKS: bool = false;

    async fn next(&mut self, _: &Schedule, wants: bool) -> BackendEvent {
        if let Some(fixture) = self.queue.pop_front() {
            let (number, result) = (fixture.number, self.play(&fixture));
            let game =
                FinishedGame { number, void_games: Vec::new(), result, sha256: None, played: None };
            return BackendEvent::Finished(Box::new(game));
        }
        match (wants, self.is_closed) {
            (true, false) => BackendEvent::HasRoom,
            (_, true) => BackendEvent::Gone,
            (false, false) => std::future::pending().await,
        }
    }

    fn submit(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure> {
        self.queue.extend(fixtures);
        Ok(())
    }

    fn stored(&mut self, _: &[u64]) {}

    fn close(&mut self) {
        self.is_closed = true;
    }

    fn in_progress(&self) -> String {
        String::new()
    }

    async fn finish(self, _: bool) -> Option<String> {
        None
    }
}

/// Keeps what is printed.
#[derive(Default)]
struct Printed(Vec<String>);

impl Observer for Printed {
    fn update(&mut self, _: &Progress, _: &Schedule) {}

    fn print(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    async fn attend(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// Runs a contest of 40 games that has had these void attempts. Returns the result, what was printed,
/// all void attempts, and the progress.
fn run(
    before: &[VoidAttempt],
    blame: Blame,
) -> (RunResult, Vec<String>, Vec<VoidAttempt>, results::Progress) {
    let (place, mut stored) = stored();
    stored.contest.rounds = 20;
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    store.add(&[], before).unwrap();
    let contest: Arc<Contest> = Arc::new(stored.contest);
    let runner = Runner::open(contest, folder.clone(), store).unwrap();
    let backend =
        OneCore { folder: folder.clone(), blame, queue: VecDeque::new(), is_closed: false };
    let mut printed = Printed::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().unwrap();
        runner.play(backend, &mut interrupts, &mut printed).await
    });
    let store = Store::open(&folder).unwrap();
    let progress = results::progress(&folder, &store).unwrap();
    (result, printed.0, store.voids().unwrap(), progress)
}

#[test]
fn an_agent_may_cause_three_void_attempts() {
    let (result, printed, voids, progress) = run(&[], Blame::Culprit);
    assert!(result.over && result.failure.is_none(), "{result:?}");
    assert_eq!((voids.len(), result.progress.played), (3, 40));
    assert!(voids.iter().all(|void| void.player == Some(CULPRIT)), "{voids:?}");
    let said = printed.iter().filter(|text| text.contains("has caused 3 void attempts")).count();
    assert_eq!(said, 1, "{printed:?}");
    let [caused] = &progress.void_caused[..] else { panic!("{progress:?}") };
    assert_eq!((caused.name.as_str(), caused.attempts, caused.at_most), ("@first", 3, 3));
}

/// Six attempts at one game are more than its retries: it would have no result, and others no opponents.
#[test]
fn two_agents_that_agree_cannot_keep_their_game_from_ending() {
    let (result, _, voids, _) = run(&[], Blame::Both);
    assert!(result.over && result.given_up.is_empty(), "{result:?}");
    assert_eq!(voids.iter().map(|void| void.number).collect::<Vec<_>>(), [0; 6]);
}

#[test]
fn attempts_of_earlier_runs_count() {
    let caused = |number| VoidAttempt { player: Some(CULPRIT), ..void(number, 1, "x") };
    let by_machine = void(9, 1, "x");
    let (result, _, voids, _) = run(&[caused(30), caused(31), by_machine], Blame::Culprit);
    assert!(result.over, "{result:?}");
    assert_eq!(voids.len(), 4);
}

#[test]
fn the_machines_void_attempts_are_no_agents_and_stop_the_contest() {
    let (result, _, voids, progress) = run(&[], Blame::Machine);
    let failure = result.failure.unwrap().to_string();
    assert!(failure.contains("20 games in a row had no result"), "{failure}");
    assert_eq!(voids.len(), 20);
    assert!(progress.void_caused.is_empty(), "{progress:?}");
}
