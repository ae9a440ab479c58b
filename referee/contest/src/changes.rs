//! Changes of a contest after it began: players who join late, new versions of agents, games that are played
//! again or decided without being played. A change has a reason and is never removed. The schedule is a function
//! of the contest with its changes and of the results.

use crate::{Player, PlayerInfo};
use serde::{Deserialize, Serialize};

/// The reason of a game that was decided without being played.
pub const FORFEIT: &str = "forfeit";

/// A change, as the store and `changes.json` have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When, RFC 3339.
    pub at: String,
    /// Who, as `USER@HOST`; untrusted text.
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
        /// The first version of the same team's agent, if this is another one: they never meet. Earlier versions
        /// of the referee paired them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team: Option<Player>,
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
        /// How many games were known: a ladder makes later pairings without it. Earlier versions of the referee
        /// paired who had left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
    },
    /// A player who has left comes back: it forfeits none of its games from this one on.
    Return {
        /// The player.
        player: Player,
        /// The first game on which no later pairing depends.
        from: u64,
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
            Self::Return { .. } => "return",
            Self::Replay => "replay",
            Self::Forfeit { .. } => FORFEIT,
        }
    }
}
