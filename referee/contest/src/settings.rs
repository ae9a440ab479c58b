//! What a contest is: the contest file after everything in it has been read, found and checked.

use super::formats::Field;
use super::{FormatSettings, Opening};
use referee_protocol::{ClockSettings, Level, Limits, OnFault, Pondering};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A contest, whole: the schedule, the tables and the ratings are functions of it and of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// Its name.
    pub name: String,
    /// Everything that is drawn comes from it; below 2^53.
    pub seed: u64,
    /// Who meets whom.
    pub format: FormatSettings,
    /// How often every pairing of the format is played in every seat order; in formats of several
    /// stages the number of stages.
    pub rounds: u32,
    /// In which seat orders a pairing is played.
    pub seat_orders: SeatOrders,
    /// What is played. All have the same number of seats.
    pub games: Vec<ContestGame>,
    /// Who plays, in the order of the file; for knockouts that is the seeding.
    pub players: Vec<PlayerInfo>,
    /// Where games begin.
    pub openings: OpeningSettings,
    /// The clock.
    pub clock: ClockSettings,
    /// What an agent may use.
    pub limits: Limits,
    /// What keeps agents apart; contests of earlier versions say nothing of it.
    #[serde(default)]
    pub sandbox: SandboxSettings,
    /// What becomes of games that went wrong.
    pub policy: Policy,
    /// What is asked of the machines of a contest on many; contests of earlier versions ask nothing.
    #[serde(default)]
    pub workers: WorkerSettings,
}

impl Contest {
    /// What its format is asked about.
    pub fn field(&self) -> Field {
        let (players, seats) = (self.players.len(), self.seats());
        Field { players, seats, rounds: self.rounds, seed: self.seed }
    }

    /// How many seats its games have.
    pub fn seats(&self) -> usize {
        self.games.first().map_or(1, |game| game.seats)
    }
}

/// One game with its setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestGame {
    /// As reports call it, unique in the contest: the game's name, with more where that is not enough.
    pub name: String,
    /// The game's name in the registry.
    pub game: String,
    /// The setup, defaults filled in.
    pub setup: Value,
    /// How many seats it has.
    pub seats: usize,
    /// Fewer points of its score are better; only of games of one seat.
    pub fewer_is_better: bool,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInfo {
    /// The name, unique in the contest; hostile text.
    pub name: String,
    /// The agent as it was written.
    pub run: String,
    /// SHA-256 of the agent, in hex; empty while it is not known.
    pub digest: String,
}

/// A sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SprtSettings {
    /// The first hypothesis: the new agent is better by so many Elo (logistic).
    pub elo0: f64,
    /// The second.
    pub elo1: f64,
    /// How often the second may be accepted although the first is true.
    pub alpha: f64,
    /// How often the first may be accepted although the second is true.
    pub beta: f64,
}

/// In which seat orders those of a pairing play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeatOrders {
    /// In every one: 2, 6, 24, .. games.
    #[default]
    All,
    /// In every rotation of the pairing and of its reverse: every seat equally often, and every
    /// neighbour. The same as all with up to three seats.
    Rotations,
    /// In the pairing's own order alone; formats keep seats balanced over a player's pairings.
    One,
}

/// Where games begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpeningSettings {
    /// So many random legal plies come first, drawn from the seed.
    pub plies: u32,
    /// Positions to begin from instead, by the game's place in the contest's list; a game without
    /// any begins as its setup says. Drawn without repetition until all were used.
    pub positions: Vec<Vec<Opening>>,
}

/// What keeps agents apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSettings {
    /// Exactly this level; without it the strongest that the machine is seen to give.
    pub level: Option<Level>,
    /// Nothing weaker than this, where no level is named.
    pub at_least: Option<Level>,
    /// The words of the command that starts agents, at level `external` alone.
    pub wrapper: Vec<String>,
    /// What agents may do while it isn't their turn, where the file says so.
    pub pondering: Option<Pondering>,
    /// What all agents may read, relative to the contest file's folder or absolute.
    pub read: Vec<String>,
}

impl SandboxSettings {
    /// Whether a game that was played at this level is one of the contest.
    pub fn allows(&self, level: Level) -> bool {
        self.level.is_none_or(|wanted| level == wanted)
            && self.at_least.is_none_or(|least| level.is_at_least(least))
    }

    /// The level that is demanded of games, or the least, where one that was played at `told` is none
    /// of the contest.
    pub fn missed_by(&self, told: &str) -> Option<Level> {
        let fits = told.parse::<Level>().is_ok_and(|level| self.allows(level));
        self.level.or(self.at_least).filter(|_| !fits)
    }
}

/// What is asked of a machine that plays games of a contest on many machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerSettings {
    /// What it was started as.
    pub class: Option<String>,
    /// Its architecture, such as `x86_64`; the coordinator's where none is named.
    pub arch: Option<String>,
    /// Cores for every match that it plays at once.
    pub cores: Option<u32>,
    /// Memory for every match that it plays at once, in MiB.
    pub memory_mb: Option<u64>,
    /// The least speed, in thousand positions a second and core.
    pub speed: Option<f64>,
    /// The most.
    pub speed_most: Option<f64>,
    /// The most noise: how much slower the slowest twentieth of its time may be than the median.
    pub noise_most: Option<f64>,
}

/// What becomes of games that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// With three seats and more: what a fault does.
    pub on_fault: OnFault,
    /// How often a game that ended void is played again before the run gives up on it.
    pub void_retries: u32,
    /// The referee's own lag in one turn, in milliseconds, above which a game is marked.
    pub lag_ms: u64,
    /// What happens with marked games.
    pub on_lag: LagPolicy,
    /// Games that ended by a fault count in ratings as what they are, losses; or not at all.
    pub rate_faults: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            on_fault: OnFault::Retire,
            void_retries: 3,
            lag_ms: 50,
            on_lag: LagPolicy::Mark,
            rate_faults: true,
        }
    }
}

/// What happens with games in which the referee itself was late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LagPolicy {
    /// They count, and are marked.
    #[default]
    Mark,
    /// They are void, and played again.
    Again,
}
