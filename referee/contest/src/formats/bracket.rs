//! What knockouts are made of: brackets, in which players are placed by their seeds, and ties,
//! which somebody always wins. Seeds are places in the contest's list.

use super::{Field, Met, Pairing};
use crate::Player;

/// How many pairings a level tie goes on for, one at a time, before the higher seed wins it.
pub const REPLAYS: u32 = 3;

/// Two who meet; where one place is nobody's, the other goes on without playing.
pub(super) type Tie = [Option<Player>; 2];

/// A tie that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    /// Nobody only if nobody was there.
    pub(super) winner: Option<Player>,
    /// Nobody if there weren't two.
    pub(super) loser: Option<Player>,
}

/// All players, each in the place of a bracket where its seed belongs: if the higher seeds always
/// win, the first and the second meet last, the first four in the round before, and so on. The
/// highest seeds meet nobody in the first round, as far as there are more places than players.
pub(super) fn seeded(players: usize) -> Vec<Option<Player>> {
    let mut places = vec![0];
    while places.len() < players {
        let last = 2 * places.len() - 1;
        places = places.iter().flat_map(|&seed| [seed, last - seed]).collect();
    }
    let all: Vec<Player> = Player::all(players).collect();
    places.into_iter().map(|seed| all.get(seed).copied()).collect()
}

/// Neighbours meet.
pub(super) fn ties(places: &[Option<Player>]) -> Vec<Tie> {
    places.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Who goes on, by place.
pub(super) fn winners(ties: &[Decided]) -> Vec<Option<Player>> {
    ties.iter().map(|tie| tie.winner).collect()
}

/// Who lost, by place.
pub(super) fn losers(ties: &[Decided]) -> Vec<Option<Player>> {
    ties.iter().map(|tie| tie.loser).collect()
}

/// Those who are there, in the order of the contest's list: they share a place.
pub(super) fn sharing(places: &[Option<Player>]) -> Vec<Player> {
    let mut players: Vec<Player> = places.iter().flatten().copied().collect();
    players.sort_unstable();
    players
}

/// The ties of a contest, one stage after the other, as far as the past has them.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    rounds: u32,
    past: &'a [Met],
    /// How much more often each player was listed first than second.
    firsts: Vec<i64>,
}

/// A tie that two play.
struct Playing {
    first: Player,
    second: Player,
    /// What the first has more than the second, in halves.
    lead: i64,
}

impl<'a> Ties<'a> {
    pub(super) fn new(field: Field, past: &'a [Met]) -> Self {
        Self { rounds: field.rounds, past, firsts: vec![0; field.players] }
    }

    /// Some ties that are played at the same time: who won them, or the pairings that have to be
    /// played next to know it.
    pub(super) fn play(&mut self, round: u32, ties: &[Tie]) -> Result<Vec<Decided>, Vec<Pairing>> {
        let mut playing: Vec<Playing> = ties.iter().filter_map(|tie| self.begin(*tie)).collect();
        let mut level: Vec<usize> = (0..playing.len()).collect();
        for games in std::iter::once(0..self.rounds)
            .chain((self.rounds..self.rounds + REPLAYS).map(|game| game..game + 1))
        {
            let mut stage = Vec::new();
            for game in games {
                for tie in level.iter().map(|&index| &playing[index]) {
                    let pair = [tie.first, tie.second];
                    let players = if game % 2 == 0 { pair } else { [tie.second, tie.first] };
                    stage.push(Pairing { round, players: players.to_vec() });
                }
            }
            for (turn, met) in self.stage(stage)?.iter().enumerate() {
                let tie = &mut playing[level[turn % level.len()]];
                let [one, other] = [0, 1].map(|place| i64::from(met.halves[place]));
                let turned = met.pairing.players[0] != tie.first;
                tie.lead += if turned { other - one } else { one - other };
            }
            level.retain(|&index| playing[index].lead == 0);
        }
        let mut played = playing.iter().map(Playing::decided);
        let alone = |[one, other]: Tie| Decided { winner: one.or(other), loser: None };
        let decided = |tie: &Tie| match tie {
            [Some(_), Some(_)] => played.next().unwrap_or_else(|| alone(*tie)),
            _ => alone(*tie),
        };
        Ok(ties.iter().map(decided).collect())
    }

    /// Whoever was first less often begins; of equals the higher seed.
    fn begin(&self, tie: Tie) -> Option<Playing> {
        let [Some(one), Some(other)] = tie else { return None };
        let key = |player: &Player| (self.firsts[player.index()], *player);
        let [mut first, mut second] = [one, other];
        if key(&second) < key(&first) {
            [first, second] = [second, first];
        }
        Some(Playing { first, second, lead: 0 })
    }

    /// Takes the results of these pairings from the past, or gives back those that it has none of.
    fn stage(&mut self, mut pairings: Vec<Pairing>) -> Result<&'a [Met], Vec<Pairing>> {
        let Some((ended, past)) = self.past.split_at_checked(pairings.len()) else {
            return Err(pairings.split_off(self.past.len()));
        };
        self.past = past;
        for pairing in &pairings {
            self.firsts[pairing.players[0].index()] += 1;
            self.firsts[pairing.players[1].index()] -= 1;
        }
        Ok(ended)
    }
}

impl Playing {
    fn decided(&self) -> Decided {
        let first_wins = match self.lead {
            0 => self.first < self.second,
            lead => lead > 0,
        };
        let [one, other] = [Some(self.first), Some(self.second)];
        let [winner, loser] = if first_wins { [one, other] } else { [other, one] };
        Decided { winner, loser }
    }
}
