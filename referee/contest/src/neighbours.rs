//! How much the results of a player depend on who sits next to it, in games with three seats or more. Where a
//! game lets a player decide who of the others wins, this is where it shows.

use crate::ratings::WIDTH_95;
use crate::{Player, Record, half_points};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A player's results beside another one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeighbourEffect {
    /// The player.
    pub player: Player,
    /// The other.
    pub neighbour: Player,
    /// Games in which the other one moves directly after the player.
    pub games_after: u64,
    /// The player's mean points in them, 0 to 1; null without games, as are the next two.
    pub points_after: Option<f64>,
    /// Games in which the other one moves directly before the player.
    pub games_before: u64,
    /// The player's mean points in them.
    pub points_before: Option<f64>,
    /// `points_after` less `points_before`.
    pub difference: Option<f64>,
    /// Half the width of its 95 % interval, as if games were independent; null with fewer than two games on
    /// either side.
    pub error: Option<f64>,
}

/// The points of some games.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    games: usize,
    points: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, points: f64) {
        self.games += 1;
        self.points += points;
        self.squares += points * points;
    }

    fn mean(&self) -> Option<f64> {
        (self.games > 0).then(|| self.points / count(self.games))
    }

    /// The variance of the mean.
    fn variance(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.games > 1)?;
        let games = count(self.games);
        Some((self.squares / games - mean * mean).max(0.0) / (games - 1.0))
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 games")]
fn count(games: usize) -> f64 {
    games as f64
}

/// The results of players beside others, in games of three seats or more.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// By player and neighbour: when that one moves directly after the player, and before it.
    sums: BTreeMap<(Player, Player), (Sum, Sum)>,
}

impl Neighbours {
    /// Adds a game. One of fewer than three seats has no neighbours.
    pub fn add(&mut self, game: &Record) {
        let seats = game.players.len();
        if seats < 3 {
            return;
        }
        let most = 2.0 * count(seats - 1);
        for (seat, own) in half_points(&game.places).into_iter().enumerate() {
            let own = f64::from(own) / most;
            let beside =
                |seats_on: usize| (game.players[seat], game.players[(seat + seats_on) % seats]);
            self.sums.entry(beside(1)).or_default().0.add(own);
            self.sums.entry(beside(seats - 1)).or_default().1.add(own);
        }
    }

    /// Returns the effect of every neighbour on every player, in their order, where the two have played.
    pub fn effects(&self) -> Vec<NeighbourEffect> {
        let effect = |(&(player, neighbour), (after, before)): (&_, &(Sum, Sum))| {
            let error = after
                .variance()
                .zip(before.variance())
                .map(|(own, other)| WIDTH_95 * (own + other).sqrt());
            let difference = after.mean().zip(before.mean()).map(|(own, other)| own - other);
            NeighbourEffect {
                player,
                neighbour,
                games_after: after.games as u64,
                points_after: after.mean(),
                games_before: before.games as u64,
                points_before: before.mean(),
                difference,
                error,
            }
        };
        self.sums.iter().map(effect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Neighbours;
    use crate::standings::tests::contests::game;
    use crate::{Player, Record};

    /// A game that the first of three players wins; the other two are level.
    fn won(first: u32, second: u32, third: u32) -> Record {
        game(0, &[first, second, third], &[1, 2, 2])
    }

    #[test]
    fn who_sits_after_a_player_is_compared_with_who_sits_before() {
        // Player 0 wins if 1 moves after it, and shares the second place if 1 moves before it.
        let records = [won(0, 1, 2), won(0, 1, 2), won(1, 0, 2), won(2, 1, 0), won(1, 0, 2)];
        let mut neighbours = Neighbours::default();
        for game in &records {
            neighbours.add(game);
        }
        let effects = neighbours.effects();
        assert_eq!(effects.len(), 6);
        let own = &effects[0];
        assert_eq!((own.player, own.neighbour), (Player(0), Player(1)));
        assert_eq!((own.games_after, own.points_after), (2, Some(1.0)));
        assert_eq!((own.games_before, own.points_before), (3, Some(0.25)));
        assert_eq!((own.difference, own.error), (Some(0.75), Some(0.0)));
        neighbours = Neighbours::default();
        neighbours.add(&game(0, &[0, 1], &[1, 2]));
        assert_eq!(neighbours.effects(), []);
    }
}
