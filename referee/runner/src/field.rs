//! Where the games of a contest are played: the runner says which, and hears what came of them.

use referee_contest::{Contest, Fixture, Record, Schedule, Void};
use referee_games::{GameKind, kind};
use referee_process::Failure;
use referee_protocol::Sandbox;

/// What happens on a field.
#[derive(Debug)]
pub enum Sign {
    /// There is room for more games.
    Place,
    /// A game came to its end.
    Came(Box<Came>),
    /// Games that were asked for and won't be played, by number: as if they had never been asked
    /// for, unless it is said why they can't be played.
    Dropped(Vec<u64>, Option<String>),
    /// What keeps agents apart where the games are played.
    Apart(Box<Sandbox>),
    /// Something worth a line.
    Told(String),
    /// Something else has changed that those who look on may be shown.
    Changed,
    /// The contest can't go on.
    Failed(Failure),
    /// The field was closed, and all is over on it.
    Gone,
}

/// A game that came to its end.
#[derive(Debug)]
pub struct Came {
    /// Its number.
    pub number: u64,
    /// Attempts that don't count and after which it was played again at once, in order.
    pub spoiled: Vec<Spoiled>,
    /// What counts, or why there is nothing that does.
    pub result: Result<Box<Record>, Missed>,
}

/// Why a game has no result.
#[derive(Debug)]
pub enum Missed {
    /// The attempt doesn't count.
    Void(Spoiled),
    /// It could not be kept, and nor can others.
    Halt(Failure),
}

/// An attempt that doesn't count.
#[derive(Debug)]
pub struct Spoiled {
    /// Why.
    pub void: Void,
    /// Its transcript; what there is of one lies in the game's place where this is none.
    pub transcript: Option<Vec<u8>>,
}

/// Who plays elsewhere, where somebody does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// Workers that were heard of lately.
    pub workers: usize,
    /// How many matches they play at once.
    pub slots: u64,
}

/// Where games are played.
pub trait Field {
    /// Whether all games of a block are asked for at once, because one machine plays them.
    const BLOCKS: bool;

    /// Waits for what happens next; a place is told only to who wants one. Can be dropped and called
    /// again. `schedule` is as far as the results that were kept.
    fn next(&mut self, schedule: &Schedule, wants: bool) -> impl Future<Output = Sign>;

    /// Takes games of one block, after a place was told.
    fn ask(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure>;

    /// What came of these games is durable; one number for each attempt and each result.
    fn kept(&mut self, numbers: &[u64]);

    /// No more games are asked for.
    fn close(&mut self);

    /// How much is under way, at most, in words.
    fn under_way(&self) -> String;

    /// Who plays elsewhere.
    fn crew(&self) -> Option<Crew> {
        None
    }

    /// Cleans up when it is gone. `over`: nothing of the contest is left to be played. What could not
    /// be cleaned up, in words, if there is anything.
    fn finish(self, over: bool) -> impl Future<Output = Option<String>>;
}

/// The rules of a contest's games.
pub fn kinds(contest: &Contest) -> Result<Vec<GameKind>, Failure> {
    let kinds = contest.games.iter().map(|game| {
        kind(&game.game).ok_or_else(|| {
            Failure::operation(format!("there is no game {:?} in this version", game.game))
        })
    });
    kinds.collect()
}
