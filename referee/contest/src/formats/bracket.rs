//! Brackets, in which players are placed by their seeds, and ties, which one player always wins.
//! Seeds are places in the contest's list.

use super::{Field, Pairing, PairingResult, TieRules};
use crate::{Player, Seed};

/// Two places of a bracket. If one is empty, the player in the other advances without playing.
pub(super) type Tie = [Option<Player>; 2];

/// A tie that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    /// `None` only if both places were empty.
    pub(super) winner: Option<Player>,
    /// `None` unless there were two players.
    pub(super) loser: Option<Player>,
}

/// Returns the players in the places of a bracket by seed: if the higher seeds always win, the
/// first two meet in the final, the first four in the round before, and so on. If there are more
/// places than players, the highest seeds don't play in the first round.
pub(super) fn seeded(players: usize) -> Vec<Option<Player>> {
    let mut places = vec![0];
    while places.len() < players {
        let last = 2 * places.len() - 1;
        places = places.iter().flat_map(|&seed| [seed, last - seed]).collect();
    }
    let all: Vec<Player> = Player::all(players).collect();
    places.into_iter().map(|seed| all.get(seed).copied()).collect()
}

/// Returns the ties between neighbours.
pub(super) fn ties(places: &[Option<Player>]) -> Vec<Tie> {
    places.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Returns the winners, by place.
pub(super) fn winners(ties: &[Decided]) -> Vec<Option<Player>> {
    ties.iter().map(|tie| tie.winner).collect()
}

/// Returns the losers, by place.
pub(super) fn losers(ties: &[Decided]) -> Vec<Option<Player>> {
    ties.iter().map(|tie| tie.loser).collect()
}

/// Returns the players of places that share a rank, in the order of the contest's list.
pub(super) fn sharing(places: &[Option<Player>]) -> Vec<Player> {
    let mut players: Vec<Player> = places.iter().flatten().copied().collect();
    players.sort_unstable();
    players
}

/// Replays the ties of a contest, stage by stage, from the results so far.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    field: Field,
    rules: TieRules,
    past: &'a [PairingResult],
    /// How many times more each player was listed first than second.
    firsts: Vec<i64>,
}

/// A tie between two players.
struct Playing {
    first: Player,
    second: Player,
    /// The first player's lead, in half-points.
    lead: i64,
}

impl<'a> Ties<'a> {
    pub(super) fn new(field: Field, rules: TieRules, past: &'a [PairingResult]) -> Self {
        Self { field, rules, past, firsts: vec![0; field.players] }
    }

    /// Plays ties at the same time. Returns their winners, or the pairings to play next.
    pub(super) fn play(&mut self, round: u32, ties: &[Tie]) -> Result<Vec<Decided>, Vec<Pairing>> {
        let mut playing: Vec<Playing> = ties.iter().filter_map(|tie| self.begin(*tie)).collect();
        let mut level: Vec<usize> = (0..playing.len()).collect();
        let rounds = self.field.rounds;
        let replays = (rounds..rounds.saturating_add(self.rules.replays)).map(|it| it..it + 1);
        for games in std::iter::once(0..rounds).chain(replays) {
            let mut stage = Vec::new();
            for game in games {
                for tie in level.iter().map(|&index| &playing[index]) {
                    let pair = [tie.first, tie.second];
                    let players = if game % 2 == 0 { pair } else { [tie.second, tie.first] };
                    stage.push(Pairing { round, players: players[..].into() });
                }
            }
            for (turn, met) in self.stage(stage)?.iter().enumerate() {
                let tie = &mut playing[level[turn % level.len()]];
                let [one, other] = [0, 1].map(|place| i64::from(met.half_points[place]));
                let turned = met.pairing.players[0] != tie.first;
                tie.lead += if turned { other - one } else { one - other };
            }
            level.retain(|&index| playing[index].lead == 0);
        }
        let (rules, seed) = (self.rules, self.field.seed);
        let mut played = playing.iter().map(|tie| tie.decided(rules, seed, round));
        let alone = |[one, other]: Tie| Decided { winner: one.or(other), loser: None };
        let decided = |tie: &Tie| match tie {
            [Some(_), Some(_)] => played.next().unwrap_or_else(|| alone(*tie)),
            _ => alone(*tie),
        };
        Ok(ties.iter().map(decided).collect())
    }

    /// The player who was first less often is first; of equals the higher seed.
    fn begin(&self, tie: Tie) -> Option<Playing> {
        let [Some(one), Some(other)] = tie else { return None };
        let key = |player: &Player| (self.firsts[player.index()], *player);
        let [mut first, mut second] = [one, other];
        if key(&second) < key(&first) {
            [first, second] = [second, first];
        }
        Some(Playing { first, second, lead: 0 })
    }

    /// Takes the results of these pairings from the past, or returns the pairings without results.
    fn stage(&mut self, mut pairings: Vec<Pairing>) -> Result<&'a [PairingResult], Vec<Pairing>> {
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
    fn decided(&self, rules: TieRules, seed: Seed, round: u32) -> Decided {
        let first_wins = match self.lead {
            0 => rules.winner(seed, round, [self.first, self.second]) == self.first,
            lead => lead > 0,
        };
        let [one, other] = [Some(self.first), Some(self.second)];
        let [winner, loser] = if first_wins { [one, other] } else { [other, one] };
        Decided { winner, loser }
    }
}
