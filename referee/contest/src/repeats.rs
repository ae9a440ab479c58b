//! Finds games that repeat earlier ones.

use crate::Record;
use crate::settings::ContestGame;
use referee_protocol::MatchResult;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// So often the others have played in a game that a seat left or that agents' scores ended, before it can be a repetition.
/// If a seat could have all of its losses count as one by leaving before others have varied what they play, it would.
const TURNS_MIN: u64 = 10;

/// Finds games that repeat earlier ones: the same players in the same seats with the same actions and the
/// same places, both or neither with a fault. It remembers 96 bits of a hash for each game.
#[derive(Debug, Default)]
pub struct Repeats {
    first: HashMap<[u32; 3], u32>,
}

impl Repeats {
    /// Returns an instance with room for so many games.
    pub fn with_capacity(games: usize) -> Self {
        Self { first: HashMap::with_capacity(games) }
    }

    /// Adds a game; returns the number of the first one that it repeats. Games are added in the order of
    /// their numbers. Where chance decides what is played, none is a repetition, and neither is a game that
    /// ended early without the rules.
    pub fn first(&mut self, game: &Record, games: &[ContestGame]) -> Option<u64> {
        if games.get(game.game).is_some_and(ContestGame::is_random) || game.is_cut_short() {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update([u8::from(game.has_fault())]);
        for (player, place) in game.players.iter().zip(&game.places) {
            hash.update(player.0.to_le_bytes());
            hash.update(place.to_le_bytes());
        }
        hash.update(&game.moves);
        let hash = hash.finalize();
        let part = |index: usize| hash[4 * index..].first_chunk().copied().unwrap_or_default();
        let key = [0, 1, 2].map(|index| u32::from_le_bytes(part(index)));
        let number = u32::try_from(game.number).unwrap_or(u32::MAX);
        let first = *self.first.entry(key).or_insert(number);
        (first != number).then_some(u64::from(first))
    }
}

impl Record {
    /// Whether the game ended by a fault, or continued without the player who made it. A resignation is
    /// no fault.
    pub fn has_fault(&self) -> bool {
        self.result == MatchResult::Fault
            || self.seats.iter().any(|seat| seat.own_fault().is_some())
    }

    /// Whether it ended without the rules, or continued without a player, before each of the others had played
    /// [`TURNS_MIN`] times.
    fn is_cut_short(&self) -> bool {
        let (left, others): (Vec<_>, Vec<_>) =
            self.seats.iter().partition(|seat| seat.fault.is_some());
        (self.result != MatchResult::Played || !left.is_empty())
            && others.iter().any(|seat| seat.turns < TURNS_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::Repeats;
    use crate::formats::FormatName;
    use crate::record::SeatRecord;
    use crate::standings::tests::contests::{contest, game};
    use crate::{ContestGame, Player, Record};
    use referee_protocol::{FaultKind, GameProgramRecord, MatchResult};
    use serde_json::json;

    #[test]
    fn the_same_players_moves_places_and_faults_are_a_repetition() {
        let first = Record { moves: "m".into(), ..game(3, &[0, 1], &[1, 2]) };
        let mut repeats = Repeats::default();
        assert_eq!(repeats.first(&first, &[]), None);
        let like = |number: u64| Record { number, ..first.clone() };
        assert_eq!(repeats.first(&like(4), &[]), Some(3));
        assert_eq!(repeats.first(&Record { round: 9, block: 9, ..like(5) }, &[]), Some(3));
        let contest = contest(2, 2, FormatName::default_for(2).into());
        let described = json!({ "chance": true });
        let program = GameProgramRecord { digest: String::new(), described };
        let random = [ContestGame { program: Some(program), ..contest.games[0].clone() }];
        assert_eq!(repeats.first(&like(5), &random), None);
        let late = vec![SeatRecord { fault: Some(FaultKind::Late), ..SeatRecord::default() }; 2];
        for other in [
            Record { moves: "n".into(), ..like(6) },
            Record { places: vec![2, 1], ..like(7) },
            Record { players: vec![Player(1), Player(0)], ..like(8) },
            Record { result: MatchResult::Fault, ..like(9) },
            Record { seats: late, moves: "o".into(), ..like(10) },
        ] {
            assert_eq!(repeats.first(&other, &[]), None, "{other:?}");
            assert_eq!(
                repeats.first(&Record { number: 20, ..other.clone() }, &[]),
                Some(other.number)
            );
        }
    }

    /// Else a seat that always loses could choose to lose once.
    #[test]
    fn who_leaves_early_loses_each_time() {
        let seat = |turns: u64, fault: Option<FaultKind>| SeatRecord {
            turns,
            fault,
            ..SeatRecord::default()
        };
        let with = |result: MatchResult, seats: [SeatRecord; 2]| Record {
            result,
            seats: seats.into(),
            moves: "m".into(),
            ..game(0, &[0, 1], &[2, 1])
        };
        let (resigned, late) = (Some(FaultKind::Resigned), Some(FaultKind::Late));
        for (game, repeats) in [
            (with(MatchResult::Resigned, [seat(0, resigned), seat(0, None)]), false),
            (with(MatchResult::Resigned, [seat(9, resigned), seat(9, None)]), false),
            (with(MatchResult::Fault, [seat(0, late), seat(1, None)]), false),
            (with(MatchResult::Adjudicated, [seat(10, None), seat(9, None)]), false),
            // The other has shown that it plays the same.
            (with(MatchResult::Resigned, [seat(9, resigned), seat(10, None)]), true),
            (with(MatchResult::Fault, [seat(9, late), seat(10, None)]), true),
            (with(MatchResult::Adjudicated, [seat(10, None), seat(10, None)]), true),
            (with(MatchResult::Played, [seat(2, None), seat(2, None)]), true),
        ] {
            let (mut all, again) = (Repeats::default(), Record { number: 1, ..game.clone() });
            assert_eq!(all.first(&game, &[]), None);
            assert_eq!(all.first(&again, &[]), repeats.then_some(0), "{game:?}");
        }
    }
}
