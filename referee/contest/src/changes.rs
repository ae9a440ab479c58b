//! Changes of a contest after it began: players who join late, new versions of agents, games that are played
//! again or decided without being played. A change has a reason and is never removed. The schedule is a function
//! of the contest with its changes and of the results.

use super::{Contest, Fixture, Player, PlayerInfo, Record, Schedule, SeatRecord};
use referee_protocol::Result as Ended;
use serde::{Deserialize, Serialize};

/// The reason of a game that was decided without being played.
pub const FORFEIT: &str = "forfeit";

/// A change, as the store and the log have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When, RFC 3339.
    pub at: String,
    /// Who: the name of the key that signs the contest; untrusted text.
    pub by: String,
    /// Why; untrusted text.
    pub reason: String,
    /// The games whose results it removes, in order: they are played again, unless they are forfeited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<u64>,
    /// What changes.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeKind {
    /// A player joins, after all others.
    Add {
        /// The new player.
        player: PlayerInfo,
        /// How many games were known: its own come later.
        from: u64,
    },
    /// A player's agent is replaced by another version.
    Replace {
        /// The player.
        player: Player,
        /// The version before.
        before: PlayerInfo,
        /// The new version.
        after: PlayerInfo,
        /// The first game that it may play.
        from: u64,
    },
    /// A player leaves: it forfeits its games, except those that were played.
    Withdraw {
        /// The player.
        player: Player,
        /// Its games that had a result, in order.
        played: Vec<u64>,
    },
    /// Games are played again.
    Replay,
    /// A game is lost without being played.
    Forfeit {
        /// The game.
        game: u64,
        /// The player who loses it.
        loser: Player,
    },
}

impl ChangeKind {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Replace { .. } => "replace",
            Self::Withdraw { .. } => "withdraw",
            Self::Replay => "replay",
            Self::Forfeit { .. } => FORFEIT,
        }
    }
}

impl Contest {
    /// Adds a change. Games whose results it removes are not this type's concern.
    pub fn change(&mut self, change: Change) {
        match &change.kind {
            ChangeKind::Add { player, .. } => self.players.push(player.clone()),
            ChangeKind::Replace { player, after, .. } => {
                if let Some(info) = self.players.get_mut(player.index()) {
                    info.clone_from(after);
                }
            }
            ChangeKind::Withdraw { .. } | ChangeKind::Replay | ChangeKind::Forfeit { .. } => {}
        }
        self.changes.push(change);
    }

    /// Returns the contest with only the first `count` changes.
    pub fn with_changes(&self, count: usize) -> Self {
        let mut contest = self.clone();
        while contest.changes.len() > count {
            match contest.changes.pop().map(|change| change.kind) {
                Some(ChangeKind::Add { .. }) => contest.players.truncate(contest.players.len() - 1),
                Some(ChangeKind::Replace { player, before, .. }) => {
                    if let Some(info) = contest.players.get_mut(player.index()) {
                        *info = before;
                    }
                }
                _ => {}
            }
        }
        contest
    }

    /// Returns the version of a player's agent that plays a game.
    pub fn version(&self, player: Player, number: u64) -> &PlayerInfo {
        let mut version = &self.players[player.index()];
        for change in self.changes.iter().rev() {
            match &change.kind {
                ChangeKind::Replace { player: own, before, from, .. } if *own == player => {
                    if number >= *from {
                        break;
                    }
                    version = before;
                }
                _ => {}
            }
        }
        version
    }

    /// Returns how many players there are when the pairings from this game on are made.
    pub(super) fn players_at(&self, number: u64) -> usize {
        let joins =
            |change: &&Change| matches!(change.kind, ChangeKind::Add { from, .. } if from > number);
        self.players.len() - self.changes.iter().filter(joins).count()
    }

    /// Returns how many players began the contest.
    pub(super) fn players_at_start(&self) -> usize {
        let joins = |change: &&Change| matches!(change.kind, ChangeKind::Add { .. });
        self.players.len() - self.changes.iter().filter(joins).count()
    }

    /// Returns whether a player has left.
    pub fn has_left(&self, player: Player) -> bool {
        let leaves = |change: &Change| matches!(&change.kind, ChangeKind::Withdraw { player: own, .. } if *own == player);
        self.changes.iter().any(leaves)
    }

    /// Returns the places of a game that is decided without being played.
    pub fn forfeited(&self, number: u64, players: &[Player]) -> Option<Vec<u32>> {
        let mut lost = vec![false; players.len()];
        let mut left = lost.clone();
        for change in &self.changes {
            let removed = change.removes.binary_search(&number).is_ok();
            let is_decided = lost.contains(&true);
            for (index, own) in players.iter().enumerate() {
                match &change.kind {
                    ChangeKind::Forfeit { game, loser } => {
                        lost[index] |= *game == number && own == loser;
                    }
                    ChangeKind::Withdraw { player, played } if own == player => {
                        left[index] = true;
                        lost[index] |= !is_decided && played.binary_search(&number).is_err();
                    }
                    // What would be played again can't be, if the player has left.
                    ChangeKind::Replay if removed => lost[index] = left[index],
                    ChangeKind::Replace { .. } if removed => lost[index] |= left[index],
                    _ => {}
                }
            }
        }
        let winners = u32::try_from(lost.iter().filter(|lost| !**lost).count()).unwrap_or(u32::MAX);
        let place = |lost: &bool| if *lost { winners + 1 } else { 1 };
        lost.contains(&true).then(|| lost.iter().map(place).collect())
    }

    /// Returns why a format can't take a change, and what to do instead; `None` if it can.
    pub fn refuses(&self, kind: &ChangeKind) -> Option<String> {
        let format = self.format.name();
        if self.format.comparison().is_some() {
            return Some(format!(
                "a contest of format {format} tests two agents as they are: run a new one with \
                 `referee compare`"
            ));
        }
        if matches!(kind, ChangeKind::Add { .. }) { self.refuses_late() } else { None }
    }

    /// Returns why nobody can join the contest; `None` if players can.
    pub fn refuses_late(&self) -> Option<String> {
        (!self.format.takes_late()).then(|| {
            format!(
                "nobody can join a running contest of format {}, since its pairings are made for the \
                 players at its start: run a new contest with all players, or `contest replace` one of \
                 them",
                self.format.name()
            )
        })
    }
}

impl Schedule {
    /// Returns the first game whose result no later pairing depends on.
    pub fn first_open(&self) -> u64 {
        if self.is_fixed() { 0 } else { self.stage_from() }
    }

    /// Returns the records of all known games that were decided without being played.
    pub fn forfeits(&self) -> Vec<Record> {
        let contest = self.contest();
        let some = contest.changes.iter().any(|change| {
            matches!(change.kind, ChangeKind::Withdraw { .. } | ChangeKind::Forfeit { .. })
        });
        let known =
            (0..if some { self.known() } else { 0 }).filter_map(|number| self.fixture(number));
        let decided = known.filter_map(|fixture| {
            let places = contest.forfeited(fixture.number, &fixture.players)?;
            Some(forfeit(fixture, places))
        });
        decided.collect()
    }
}

/// Returns the record of a game that was decided without being played.
fn forfeit(fixture: Fixture, places: Vec<u32>) -> Record {
    Record {
        number: fixture.number,
        block: fixture.block,
        round: fixture.round,
        game: fixture.game,
        match_id: String::new(),
        seed: fixture.seed,
        // A resignation: no fault of a program.
        result: Ended::Resigned,
        reason: FORFEIT.to_owned(),
        places,
        scores: None,
        seats: vec![SeatRecord::default(); fixture.players.len()],
        players: fixture.players,
        turns: 0,
        lag_ns: 0,
        marked: false,
        // Two of them are not repetitions of each other.
        moves: format!("{FORFEIT} {}", fixture.number),
        transcript: String::new(),
        seal: String::new(),
    }
}
