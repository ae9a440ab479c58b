//! The settings of a contest: the contest file after everything in it has been read and checked.

use super::formats::{Field, FormatName};
use super::schedule::seat_orders as orders_of;
use super::{Change, FormatSettings, Opening, Player};
use referee_games::AnyGame;
use referee_protocol::{Adjudication, ClockSettings, Level, Limits, OnFault, Pondering};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A contest. Schedule, standings and ratings follow from it and the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// Its name.
    pub name: String,
    /// The seed of all random choices; below 2^53.
    pub seed: u64,
    /// The format: who plays whom.
    pub format: FormatSettings,
    /// How often every pairing of the format is played in every seat order; in formats with stages,
    /// the number of stages.
    pub rounds: u32,
    /// The seat orders in which a pairing is played.
    pub seat_orders: SeatOrders,
    /// The games, all with the same number of seats.
    pub games: Vec<ContestGame>,
    /// The players, in the order of the file, which is the seeding of knockouts.
    pub players: Vec<PlayerInfo>,
    /// Where games begin.
    pub openings: OpeningSettings,
    /// The clock.
    pub clock: ClockSettings,
    /// The preset that clock and limits are based on, if any; missing in contests of earlier versions.
    #[serde(default)]
    pub preset: Option<String>,
    /// The limits of an agent.
    pub limits: Limits,
    /// The sandbox; missing in contests of earlier versions.
    #[serde(default)]
    pub sandbox: SandboxSettings,
    /// Whether agents get the colours of the others instead of their names; missing in contests of earlier
    /// versions.
    #[serde(default)]
    pub anonymous: bool,
    /// Whether agents' processes are kept between games; omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reuse: bool,
    /// When the agents' scores end a game, if they do; missing in contests of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjudication: Option<Adjudication>,
    /// What happens with games that went wrong.
    pub policy: Policy,
    /// The requirements of machines that play for the contest; missing in contests of earlier
    /// versions.
    #[serde(default)]
    pub workers: WorkerSettings,
    /// What was changed after it began, in order. The players have the changes already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

impl Contest {
    /// Returns a series of at least `games` games between as many players as the game has seats, each
    /// opening in every seat order. The caller chooses the seeds, and seats players by
    /// [`Contest::seated`].
    pub fn series(game: &dyn AnyGame, players: Vec<PlayerInfo>, games: u64, seed: u64) -> Self {
        let game = ContestGame::new(game);
        let seat_orders = SeatOrders::Rotations;
        let games_of_a_block = orders_of(game.seats, seat_orders).len() as u64;
        Self {
            name: game.name.clone(),
            seed,
            format: FormatName::default_for(game.seats).into(),
            rounds: u32::try_from(games.div_ceil(games_of_a_block)).unwrap_or(u32::MAX),
            seat_orders,
            games: vec![game],
            players,
            openings: OpeningSettings::default(),
            clock: ClockSettings::default(),
            preset: None,
            limits: Limits::default(),
            sandbox: SandboxSettings::default(),
            anonymous: false,
            reuse: false,
            adjudication: None,
            policy: Policy { void_retries: 0, ..Policy::default() },
            workers: WorkerSettings::default(),
            changes: Vec::new(),
        }
    }

    /// Returns who sits where in a game of a series. Unlike in other contests, every block begins with
    /// the same seat order.
    pub fn seated(&self, number: u64) -> Vec<Player> {
        let mut orders = orders_of(self.seats(), self.seat_orders);
        let own = usize::try_from(number % orders.len() as u64).unwrap_or(0);
        let place = |index| Player(u32::try_from(index).unwrap_or(u32::MAX));
        orders.swap_remove(own).into_iter().map(place).collect()
    }

    /// Returns what its format needs to know of it.
    pub fn field(&self) -> Field {
        let (players, seats) = (self.players.len(), self.seats());
        Field { players, seats, rounds: self.rounds, seed: self.seed }
    }

    /// Returns how many seats its games have.
    pub fn seats(&self) -> usize {
        self.games.first().map_or(1, |game| game.seats)
    }
}

/// One game with its setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestGame {
    /// The name in reports, unique in the contest: the game's name, with setup fields if needed.
    pub name: String,
    /// The game's name in the registry.
    pub game: String,
    /// The setup, with defaults filled in.
    pub setup: Value,
    /// How many seats it has.
    pub seats: usize,
    /// Whether a lower score is better; only in games of one seat.
    pub fewer_is_better: bool,
}

impl ContestGame {
    /// Returns a game under its own name.
    pub(crate) fn new(game: &dyn AnyGame) -> Self {
        let (kind, seats) = (game.kind(), game.seats());
        let score = &kind.about().score;
        Self {
            name: kind.name.to_owned(),
            game: kind.name.to_owned(),
            setup: game.setup(),
            seats,
            fewer_is_better: seats == 1
                && score.as_ref().is_some_and(|score| score.fewer_is_better),
        }
    }
}

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInfo {
    /// The name, unique in the contest; untrusted text.
    pub name: String,
    /// The agent as it was given.
    pub run: String,
    /// SHA-256 of the agent, in hex; empty while unknown.
    pub digest: String,
}

/// A sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SprtSettings {
    /// H0: how many Elo (logistic) the new agent is stronger.
    pub elo0: f64,
    /// H1: the same, more than `elo0`.
    pub elo1: f64,
    /// How often H1 may be accepted although H0 is true.
    pub alpha: f64,
    /// How often H0 may be accepted although H1 is true.
    pub beta: f64,
}

/// The seat orders in which the players of a pairing play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeatOrders {
    /// All orders: 2, 6, 24, .. games.
    #[default]
    All,
    /// All rotations of the pairing and of its reverse: every seat and every neighbour equally
    /// often. The same as `all` with up to three seats.
    Rotations,
    /// The pairing's own order; formats balance the seats over a player's pairings.
    One,
}

/// Where games begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpeningSettings {
    /// How many random legal plies come first, drawn from the seed.
    pub plies: u32,
    /// Positions to begin from instead, by the game's place in the contest's list; a game without
    /// any begins at its setup. Drawn without repetition until all were used.
    pub positions: Vec<Vec<Opening>>,
}

/// The sandbox of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSettings {
    /// The exact level; `None` for the strongest one that works on the machine.
    pub level: Option<Level>,
    /// The least level, if none is exact.
    pub at_least: Option<Level>,
    /// The words of the command that starts agents, only at level `external`.
    pub wrapper: Vec<String>,
    /// What agents may do while it isn't their turn, if the file sets it.
    pub pondering: Option<Pondering>,
    /// The paths that all agents may read, relative to the contest file's folder or absolute.
    pub read: Vec<String>,
}

impl SandboxSettings {
    /// Whether games may be played at this level.
    pub fn allows(&self, level: Level) -> bool {
        self.level.is_none_or(|wanted| level == wanted)
            && self.at_least.is_none_or(|least| level.is_at_least(least))
    }

    /// Returns the required or least level, if the recorded level doesn't meet it.
    pub fn unmet_level(&self, recorded: &str) -> Option<Level> {
        let fits = recorded.parse::<Level>().is_ok_and(|level| self.allows(level));
        self.level.or(self.at_least).filter(|_| !fits)
    }
}

/// The requirements of a machine that plays games of a contest on many machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerSettings {
    /// The class that its worker was started with.
    pub class: Option<String>,
    /// The architecture, such as `x86_64`; the coordinator's if `None`.
    pub arch: Option<String>,
    /// The least cores per concurrent match.
    pub cores: Option<u32>,
    /// The least memory per concurrent match, in MiB.
    pub memory_mb: Option<u64>,
    /// The least speed, in thousand positions per second and core.
    pub speed: Option<f64>,
    /// The greatest speed, in the same unit.
    pub speed_most: Option<f64>,
    /// The greatest noise: how many times slower than the median the slowest twentieth of the time
    /// may be.
    pub noise_most: Option<f64>,
}

/// What happens with games that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// What a fault does in games of three seats or more.
    pub on_fault: OnFault,
    /// How often a game that ended void is played again before the run gives up on it.
    pub void_retries: u32,
    /// How many void attempts one agent may cause in the contest. What would make another one void
    /// is its fault. Missing in contests of earlier versions.
    #[serde(default = "agent_voids")]
    pub agent_voids: u32,
    /// The referee's own lag in one turn, in milliseconds, above which a game is marked.
    pub lag_ms: u64,
    /// What happens with marked games.
    pub on_lag: LagPolicy,
    /// Whether games that ended by a fault count in ratings, as losses.
    pub rate_faults: bool,
    /// Whether adapters refuse what the course's own program refused. Missing in contests of earlier
    /// versions.
    #[serde(default)]
    pub strict: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            on_fault: OnFault::Retire,
            void_retries: 3,
            agent_voids: agent_voids(),
            lag_ms: 50,
            on_lag: LagPolicy::Mark,
            rate_faults: true,
            strict: false,
        }
    }
}

fn agent_voids() -> u32 {
    3
}

/// What happens with games in which the referee itself was late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LagPolicy {
    /// They count and are marked.
    #[default]
    Mark,
    /// They are void and played again.
    Again,
}
