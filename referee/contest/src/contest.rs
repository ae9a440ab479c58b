//! A contest: the contest file after everything in it has been read and checked.

use crate::Player;
use crate::changes::{Change, ChangeKind};
use crate::formats::{FORMATS, FormatName, FormatSettings};
use crate::openings::{OpeningError, begun_from, draw_opening, shuffled};
use crate::pairing::{Field, seat_orders};
use crate::ratings::RatingField;
use crate::seed::Seed;
use crate::settings::{
    ContestGame, OpeningSettings, PlayerInfo, Policy, SandboxSettings, SeatOrders,
};
use referee_games::{AnyGame, GameKind};
use referee_match::{draw_key, named_seed};
use referee_protocol::{Adjudication, ClockSettings, Limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The most players.
pub const PLAYERS_MAX: usize = 10_000;
/// The most games; as many keep a fast machine busy for a day, and their schedule fits in memory.
const GAMES_MAX: u64 = 10_000_000;
/// The most seats in all seat orders of a pairing: as many as in all orders of eight players.
const SEATS_MAX: u64 = 8 * 40_320;

/// A contest. Schedule, standings and ratings follow from it and the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Contest {
    /// Its name.
    pub name: String,
    /// The seed of all random choices.
    pub seed: Seed,
    /// The key from which the draws of games with hidden information follow, together with their seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_key: Option<Seed>,
    /// Whether viewers see games with hidden information while they go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub show_hidden: bool,
    /// Whether the games of a block have the same draws.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate_deals: bool,
    /// Whether each game of a pairing has a seed of its own: else who plays the same seat in the other game knows that of its
    /// opponent. Later versions of a team have instances of a puzzle that the first has not seen. Not in comparisons, nor in
    /// contests of earlier versions, except in games with draws.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_seeds: bool,
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
        let orders = SeatOrders::Rotations;
        let games_of_a_block = seat_orders(game.seats, orders).len() as u64;
        Self {
            name: game.name.clone(),
            seed: Seed::Number(seed),
            draw_key: None,
            show_hidden: false,
            duplicate_deals: false,
            own_seeds: false,
            format: FormatName::default_for(game.seats).into(),
            rounds: u32::try_from(games.div_ceil(games_of_a_block)).unwrap_or(u32::MAX),
            seat_orders: orders,
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
            changes: Vec::new(),
        }
    }

    /// Returns the key for the draws in a match of a game with this seed; `None` if they follow from the seed alone.
    pub fn draw_key(&self, game: &ContestGame, match_seed: u64) -> Option<String> {
        let key = self.draw_key.filter(|_| game.draws_are_hidden())?;
        Some(draw_key(&key.to_string(), match_seed))
    }

    /// Returns who sits where in a game of a series. Unlike in other contests, every block begins with
    /// the same seat order.
    pub fn seated(&self, number: u64) -> Vec<Player> {
        let mut orders = seat_orders(self.seats(), self.seat_orders);
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

impl Contest {
    /// Returns the setup of a game of a series, with its opening.
    pub fn series_setup(&self, kind: GameKind, number: u64) -> Result<Value, OpeningError> {
        self.opening(kind, 0, number / self.games_of_a_block() as u64)
    }

    /// Returns the setup of the game at this place of the list with the opening of this number. The
    /// same number always gives the same opening.
    pub fn opening(&self, kind: GameKind, game: usize, number: u64) -> Result<Value, OpeningError> {
        let chosen = &self.games[game];
        let positions = self.openings.positions.get(game).map_or(&[][..], Vec::as_slice);
        if positions.is_empty() {
            let seed = named_seed(&format!("{}:opening:{game}:{number}", self.seed));
            return draw_opening(kind, &chosen.setup, self.openings.plies, seed);
        }
        let count = positions.len() as u64;
        let order = shuffled(positions.len(), &format!("{}:{game}:{}", self.seed, number / count));
        let index = order[usize::try_from(number % count).unwrap_or(0)];
        Ok(begun_from(chosen.setup.clone(), positions[index].0.clone()))
    }
}

impl Contest {
    /// Returns how many games a block has: one for each seat order.
    pub fn games_of_a_block(&self) -> usize {
        seat_orders(self.seats(), self.seat_orders).len()
    }
}

/// Why no schedule can be made of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchedule {
    /// The key of the contest file to change.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

impl Contest {
    /// Checks that its schedule can be made, and doesn't fill the memory. Players who joined a contest that makes its
    /// pairings as it goes on don't count.
    pub fn check_schedule(&self) -> Result<(), NoSchedule> {
        let error = |key, message, help| Err(NoSchedule { key, message, help });
        let (players, seats) = (self.players.len(), self.seats());
        if players > PLAYERS_MAX {
            let message = format!("at most {PLAYERS_MAX} agents can play, not {players}");
            return error("agents", message, "name fewer agents");
        }
        let mut formats = FORMATS.iter().filter(|format| format.seats.contains(&seats));
        let fits = formats.any(|format| format.name == self.format.name());
        if !fits || self.games.iter().any(|game| game.seats != seats) {
            let message = "its games have numbers of seats that its format can't have".to_owned();
            return error("games", message, "choose games with the same number of seats");
        }
        let orders = self.seat_orders.count(seats);
        if orders.saturating_mul(seats as u64) > SEATS_MAX {
            let message = format!("{seats} players can sit in too many orders: {orders}");
            return error("seat_orders", message, "choose `seat_orders = \"rotations\"`");
        }
        let players = if self.format.is_fixed() { players } else { self.players_at_start() };
        let field = Field { players, ..self.field() };
        let each = orders.saturating_mul(self.games.len() as u64);
        let games = self.format.size(field).end().saturating_mul(each);
        if games > GAMES_MAX {
            let message =
                format!("the contest could have {games} games; at most {GAMES_MAX} are allowed");
            return error("rounds", message, "reduce `rounds`, or use another format");
        }
        Ok(())
    }
}

impl RatingField {
    /// Returns the settings of a contest.
    pub fn of(contest: &Contest) -> Self {
        let seats = contest.games.first().map_or(0, |game| game.seats);
        Self {
            players: contest.players.len(),
            seats,
            has_scores: contest.games.len() == 1,
            fewer_is_better: contest.games.first().is_some_and(ContestGame::prefers_fewer),
            rate_faults: contest.policy.rate_faults,
            inflation: contest.format.inflation(seats),
            anchor: None,
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
            ChangeKind::Withdraw { .. }
            | ChangeKind::Return { .. }
            | ChangeKind::Replay
            | ChangeKind::Forfeit { .. } => {}
        }
        self.changes.push(change);
    }

    /// Returns the contest with only the first `count` changes.
    pub fn with_changes(&self, count: usize) -> Self {
        let mut contest = self.clone();
        while contest.changes.len() > count {
            match contest.changes.pop().map(|change| change.kind) {
                Some(ChangeKind::Add { .. }) => drop(contest.players.pop()),
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
    pub(crate) fn players_at(&self, number: u64) -> usize {
        let joins =
            |change: &&Change| matches!(change.kind, ChangeKind::Add { from, .. } if from > number);
        self.players.len().saturating_sub(self.changes.iter().filter(joins).count())
    }

    /// Returns the team of each player, named by its first version; a player without other versions is its own.
    pub fn teams(&self) -> Vec<Player> {
        let mut teams: Vec<Player> = Player::all(self.players_at_start()).collect();
        for change in &self.changes {
            if let ChangeKind::Add { team, .. } = &change.kind {
                let own = Player(u32::try_from(teams.len()).unwrap_or(u32::MAX));
                teams.push(team.and_then(|team| teams.get(team.index()).copied()).unwrap_or(own));
            }
        }
        teams
    }

    /// Returns how many versions of its team are before a player.
    pub(crate) fn earlier_versions(&self, player: Player) -> usize {
        let teams = self.teams();
        let own = teams.get(player.index());
        teams.iter().take(player.index()).filter(|team| Some(*team) == own).count()
    }

    /// Returns how many players began the contest.
    pub(crate) fn players_at_start(&self) -> usize {
        let joins = |change: &&Change| matches!(change.kind, ChangeKind::Add { .. });
        self.players.len().saturating_sub(self.changes.iter().filter(joins).count())
    }

    /// Returns whether a player has left.
    pub fn has_left(&self, player: Player) -> bool {
        let last = self.changes.iter().rev().find_map(|change| match &change.kind {
            ChangeKind::Withdraw { player: own, .. } => (*own == player).then_some(true),
            ChangeKind::Return { player: own, .. } => (*own == player).then_some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    /// Returns whether a player has left and come back, once or more often.
    pub(crate) fn came_back(&self, player: Player) -> bool {
        let back = |change: &Change| matches!(change.kind, ChangeKind::Return { player: own, .. } if own == player);
        self.changes.iter().any(back)
    }

    /// Returns the games of a player that had a result when it left, the last time that it did.
    pub(crate) fn played_before_leaving(&self, player: Player) -> &[u64] {
        let left = |change: &'_ Change| matches!(change.kind, ChangeKind::Withdraw { player: own, .. } if own == player);
        match self.changes.iter().rfind(|change| left(change)).map(|it| &it.kind) {
            Some(ChangeKind::Withdraw { played, .. }) => played,
            _ => &[],
        }
    }

    /// Returns the players who have left when the pairings from this game on are made.
    pub(crate) fn absent_at(&self, number: u64) -> BTreeSet<Player> {
        let mut absent = BTreeSet::new();
        for change in &self.changes {
            match &change.kind {
                ChangeKind::Withdraw { player, from: Some(from), .. } if number >= *from => {
                    absent.insert(*player);
                }
                // The pairings from that game on were made already.
                ChangeKind::Return { player, from } if number > *from => {
                    absent.remove(player);
                }
                _ => {}
            }
        }
        absent
    }

    /// Returns the places of a game that is decided without being played.
    pub fn forfeited(&self, number: u64, players: &[Player]) -> Option<Vec<u32>> {
        let mut lost = vec![false; players.len()];
        let mut left = lost.clone();
        let mut by_leaving = lost.clone();
        for change in &self.changes {
            let removed = change.removes.binary_search(&number).is_ok();
            let is_decided = lost.contains(&true);
            for (index, own) in players.iter().enumerate() {
                match &change.kind {
                    ChangeKind::Forfeit { game, loser } => {
                        lost[index] |= *game == number && own == loser;
                    }
                    ChangeKind::Withdraw { player, played, .. } if own == player => {
                        left[index] = true;
                        if !is_decided && played.binary_search(&number).is_err() {
                            (lost[index], by_leaving[index]) = (true, true);
                        }
                    }
                    ChangeKind::Return { player, from } if own == player && number >= *from => {
                        left[index] = false;
                        if std::mem::take(&mut by_leaving[index]) {
                            // Others who have left since lose in its place.
                            lost.clone_from(&left);
                            by_leaving.clone_from(&left);
                        }
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
