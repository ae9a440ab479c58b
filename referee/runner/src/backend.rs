//! A backend plays the games of a contest: the local pool, or workers on other machines. The runner
//! submits games and receives their results.

use referee_contest::{Contest, Fixture, Player, Record, Schedule, Void};
use referee_games::{GameKind, Games};
use referee_play::pool::Played;
use referee_process::Failure;
use referee_protocol::SandboxRecord;
use std::time::Duration;

/// An event of a backend.
#[derive(Debug)]
pub enum BackendEvent {
    /// More games can be submitted.
    HasRoom,
    /// A game has ended.
    Finished(Box<FinishedGame>),
    /// Submitted games that will not be played, by number. Without a reason they count as never
    /// submitted; with one they can't be played.
    Dropped(Vec<u64>, Option<Unplayed>),
    /// The agent of a player is being built where the games are played, for so long so far.
    Building(Player, Duration),
    /// The sandbox that agents run in where the games are played.
    SandboxKnown(Box<SandboxRecord>),
    /// A message to print.
    Message(String),
    /// Something else that an observer may show has changed.
    Changed,
    /// The contest can't continue.
    Failed(Failure),
    /// The backend was closed and has nothing left to report.
    Gone,
}

/// Why submitted games can't be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplayed {
    /// The reason.
    pub why: String,
    /// The player whose agent can't be built or started where games are played, if that is it.
    pub player: Option<Player>,
}

/// A game that has ended.
#[derive(Debug)]
pub struct FinishedGame {
    /// The game's number.
    pub number: u64,
    /// Void attempts before this result, in order; each was followed by another attempt.
    pub void_games: Vec<VoidGame>,
    /// The result, or why there is none.
    pub result: Result<Box<Record>, NoResult>,
    /// SHA-256 of its transcript, in hex; `None` if that is not stored.
    pub sha256: Option<String>,
    /// The match itself, if it was played on this machine.
    pub played: Option<Played>,
}

/// Why a game has no result.
#[derive(Debug)]
pub enum NoResult {
    /// The attempt is void.
    Void(VoidGame),
    /// The transcript could not be stored; the contest has to stop.
    Halt(Failure),
}

/// An attempt that doesn't count.
#[derive(Debug)]
pub struct VoidGame {
    /// The reason.
    pub void: Void,
    /// The transcript; without one, the partial transcript is at the game's own path.
    pub transcript: Option<Vec<u8>>,
}

/// How many workers play, and how many matches at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCount {
    /// Workers seen lately.
    pub workers: usize,
    /// Matches that they play at once.
    pub slots: u64,
    /// Workers that play another contest now, and come back.
    pub away: usize,
}

/// Plays the games of a contest.
pub trait Backend {
    /// Whether all games of a block are submitted together, because one machine plays them.
    const BLOCKS: bool;

    /// Waits for the next event; `HasRoom` is only returned if `wants` is true. Cancel safe.
    /// `schedule` has the results that are stored.
    fn next(&mut self, schedule: &Schedule, wants: bool) -> impl Future<Output = BackendEvent>;

    /// Submits games of one block, after `HasRoom`.
    fn submit(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure>;

    /// The outcomes of these games are on the disk; one number per attempt and per result.
    fn stored(&mut self, numbers: &[u64]);

    /// No more games will be submitted.
    fn close(&mut self);

    /// How much is being played at most, in words.
    fn in_progress(&self) -> String;

    /// The number of workers, where games are played on other machines.
    fn worker_count(&self) -> Option<WorkerCount> {
        None
    }

    /// Cleans up after `Gone`; `over` says that the contest is complete. Returns what could not be
    /// cleaned up, in words.
    fn finish(self, over: bool) -> impl Future<Output = Option<String>>;
}

/// Returns the rules of a contest's games.
pub fn kinds(contest: &Contest, games: &Games) -> Result<Vec<GameKind>, Failure> {
    let kinds = contest.games.iter().map(|game| {
        game.kind(games).map_err(|error| {
            Failure::operation(error.to_string()).help("`referee games` lists the built-in games")
        })
    });
    kinds.collect()
}
