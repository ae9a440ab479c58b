//! The games of several contests together: one fit over all of them.

use crate::neighbours::Neighbours;
use crate::ratings::{RatedGames, RatingField, Ratings, rate, superiority};
use crate::repeats::Repeats;
use crate::{Contest, Player, PlayerInfo, Record};
use std::collections::BTreeMap;

/// The games of several contests, with the players of all.
#[derive(Debug)]
pub struct JointGames {
    /// The players, in the order of their first games. Names are unique.
    pub players: Vec<PlayerInfo>,
    /// Results beside other players.
    pub neighbours: Neighbours,
    /// The place of each player, by name and digest.
    known: BTreeMap<(String, String), usize>,
    games: RatedGames,
    repeats: Repeats,
    /// The contest whose games were added last, and what its numbers and blocks begin with here.
    current: (usize, u64, u64),
    /// The next free number and block.
    next: (u64, u64),
}

/// Why contests can't be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JointError {
    /// There are none.
    #[error("there is no contest")]
    None,
    /// Games have different numbers of seats.
    #[error("the games of {contest} have {own} seats, those of the others {others}")]
    Seats {
        /// The contest that differs.
        contest: String,
        /// Its seats.
        own: usize,
        /// The seats of the first contest.
        others: usize,
    },
}

impl JointGames {
    /// Joins contests, without their games. An agent is the same player in all contests in which its name and
    /// files are the same; a new version is another player. Fails if the games have different numbers of seats.
    pub fn of(contests: &[Contest]) -> Result<Self, JointError> {
        let first = contests.first().map(RatingField::of).ok_or(JointError::None)?;
        let mut field = RatingField { players: 0, ..first };
        for contest in contests {
            let own = RatingField::of(contest);
            if own.seats != field.seats {
                let contest = contest.name.clone();
                return Err(JointError::Seats { contest, own: own.seats, others: field.seats });
            }
            let game = |contest: &Contest| contest.games.first().map(|it| it.game.clone());
            field.has_scores &= own.has_scores && game(contest) == game(&contests[0]);
            field.rate_faults &= own.rate_faults;
            field.inflation = field.inflation.max(own.inflation);
        }
        Ok(Self {
            players: Vec::new(),
            neighbours: Neighbours::default(),
            known: BTreeMap::new(),
            games: RatedGames::new(field),
            repeats: Repeats::default(),
            current: (0, 0, 0),
            next: (0, 0),
        })
    }

    /// Adds the next game of a contest, with its place in the list. The games of a contest are added one
    /// after another, in the order of the schedule.
    pub fn add(&mut self, (place, contest): (usize, &Contest), mut record: Record) {
        if self.current.0 != place {
            self.current = (place, self.next.0, self.next.1);
        }
        for player in &mut record.players {
            let version = contest.version(*player, record.number);
            let key = (version.name.clone(), version.digest.clone());
            let next = self.players.len();
            let place = *self.known.entry(key).or_insert(next);
            if place == next {
                self.players.push(renamed(version, &self.players));
                self.games.field.players = self.players.len();
            }
            *player = Player(u32::try_from(place).unwrap_or(u32::MAX));
        }
        let (_, number_from, block_from) = self.current;
        record.number += number_from;
        record.block += block_from;
        self.next = (self.next.0.max(record.number + 1), self.next.1.max(record.block + 1));
        self.neighbours.add(&record);
        self.games.add(&record, self.repeats.first(&record, &contest.games).is_some());
    }

    /// Rates all players. With an anchor, that player has this rating, in Elo.
    pub fn rate(&mut self, anchor: Option<(Player, f64)>) -> Ratings {
        self.games.field.anchor = anchor.map(|(player, _)| player);
        let mut ratings = rate(&self.games);
        self.games.field.anchor = None;
        let Some((player, elo)) = anchor else { return ratings };
        let group = ratings.players[player.index()].group;
        for rating in ratings.players.iter_mut().filter(|rating| rating.group == group) {
            rating.elo += elo;
            for end in [&mut rating.low, &mut rating.high].into_iter().flatten() {
                *end += elo;
            }
        }
        let name = &self.players[player.index()].name;
        let others = if ratings.groups > 1 { ", and in other groups the mean" } else { "" };
        ratings.anchor = match elo {
            0.0 => format!("{name}{others}"),
            _ => format!("{elo} below {name}{others}"),
        };
        ratings
    }

    /// Returns how likely it is, in percent, that the player of a row is stronger than that of a column.
    pub fn superiority(&self) -> Vec<Vec<Option<f64>>> {
        superiority(&self.games)
    }
}

/// Returns a player with a name that no other has: the second version of `name` is `name (2)`.
fn renamed(player: &PlayerInfo, others: &[PlayerInfo]) -> PlayerInfo {
    let numbered = (2_u64..).map(|number| format!("{} ({number})", player.name));
    let mut names = std::iter::once(player.name.clone()).chain(numbered);
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    PlayerInfo { name: names.find(is_free).unwrap_or_default(), ..player.clone() }
}

#[cfg(test)]
mod tests {
    use super::JointGames;
    use crate::FormatSettings;
    use crate::formats::RoundRobin;
    use crate::ratings::{RatedGames, RatingField, rate};
    use crate::standings::tests::contests::{contest, game};
    use crate::{Contest, Player, Record};

    /// Three players, of whom the first wins most and the last loses most.
    fn games() -> Vec<Record> {
        let pairs = [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2), (0, 1), (1, 2)];
        let game = |(number, (one, other)): (u64, (u32, u32))| {
            let lost = number % 5 == 3;
            let first = (one < other) != lost;
            Record {
                block: number,
                ..game(number, &[one, other], if first { &[1, 2] } else { &[2, 1] })
            }
        };
        (0..).zip(pairs).map(game).collect()
    }

    fn with(players: &[(&str, &str)]) -> Contest {
        let format = FormatSettings::RoundRobin(RoundRobin { triples_per_player: None });
        let mut contest = contest(players.len(), 2, format);
        for (player, (name, digest)) in contest.players.iter_mut().zip(players) {
            (player.name, player.digest) = ((*name).to_owned(), (*digest).to_owned());
        }
        contest
    }

    fn joint(contests: Vec<(Contest, Vec<Record>)>) -> JointGames {
        let (contests, games): (Vec<_>, Vec<_>) = contests.into_iter().unzip();
        let mut joint = JointGames::of(&contests).unwrap();
        for (place, records) in games.into_iter().enumerate() {
            for record in records {
                joint.add((place, &contests[place]), record);
            }
        }
        joint
    }

    #[test]
    fn parts_of_a_contest_give_the_ratings_of_the_whole() {
        let whole = with(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let records = games();
        let (first, second) = records.split_at(3);
        // The other contest has the players in another order.
        let turned = with(&[("c", "3"), ("a", "1"), ("b", "2")]);
        let renumber = |mut record: Record| {
            for player in &mut record.players {
                *player = Player((player.0 + 1) % 3);
            }
            Record { number: record.number - 3, block: record.block - 3, ..record }
        };
        let second = second.iter().cloned().map(renumber).collect();
        let mut joint = joint(vec![(whole.clone(), first.to_vec()), (turned, second)]);
        let names: Vec<&str> = joint.players.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(joint.rate(None), rate(&RatedGames::of(&RatingField::of(&whole), &records)));
    }

    #[test]
    fn another_version_is_another_player() {
        let joint = joint(vec![
            (with(&[("a", "1"), ("b", "2"), ("c", "3")]), games()),
            (with(&[("a", "9"), ("b", "2"), ("c", "3")]), games()),
        ]);
        let names: Vec<&str> = joint.players.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "a (2)"]);
    }

    #[test]
    fn an_anchor_moves_ratings_and_keeps_differences() {
        let mut joint = joint(vec![(with(&[("a", "1"), ("b", "2"), ("c", "3")]), games())]);
        let (free, anchored) = (joint.rate(None), joint.rate(Some((Player(1), 1500.0))));
        let of = |ratings: &crate::ratings::Ratings, player: usize| ratings.players[player].elo;
        let own = &anchored.players[1];
        assert_eq!((own.elo, own.low, own.high), (1500.0, Some(1500.0), Some(1500.0)));
        for player in 0..3 {
            let differences =
                [&free, &anchored].map(|ratings| of(ratings, player) - of(ratings, 1));
            assert!((differences[0] - differences[1]).abs() < 1e-6, "{player}: {differences:?}");
            let better = [&free, &anchored].map(|ratings| ratings.players[player].better_than_next);
            assert_eq!(better[0], better[1], "{player}");
        }
        let other = &anchored.players[0];
        assert!(other.low.unwrap() < other.elo && other.elo < other.high.unwrap(), "{other:?}");
        let chances = joint.superiority();
        assert!(chances[0][2].unwrap() > 50.0 && chances[0][0].is_none(), "{chances:?}");
        assert!((chances[0][2].unwrap() + chances[2][0].unwrap() - 100.0).abs() < 1e-9);
    }
}
