//! Ties: pairings of two players of whom one goes on.

use crate::formats::PairingResult;
use crate::{Contest, Player};
use schemars::JsonSchema;
use serde::Serialize;

/// Two players of whom one goes on, as in a knockout.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tie {
    /// The round, from 1.
    pub round: u32,
    /// The player who goes on, and the one who does not.
    pub players: [Player; 2],
    /// Their points in all games of the tie.
    pub points: [f64; 2],
    /// How many pairings were played: the contest's rounds, and more if it was level.
    pub pairings: u32,
    /// Whether it stayed level, so that the higher seed goes on.
    pub by_seed: bool,
}

/// Returns the ties that have ended, in order; none if the format has no ties.
pub fn ties(contest: &Contest, past: &[PairingResult]) -> Vec<Tie> {
    let Some(replays_max) = contest.format.tie_replays_max() else { return Vec::new() };
    // The higher seed first, until it is known who goes on.
    let mut ties: Vec<Tie> = Vec::new();
    for met in past {
        let (&[one, other], &[own, theirs]) = (&met.pairing.players[..], &met.half_points[..])
        else {
            continue;
        };
        let (mut players, mut points) = ([one, other], [own, theirs].map(|it| f64::from(it) / 2.0));
        if one > other {
            players.reverse();
            points.reverse();
        }
        // Pairings of one round between the same two are one tie.
        let round = met.pairing.round;
        let same = |tie: &&mut Tie| (tie.round, tie.players) == (round, players);
        if let Some(tie) = ties.iter_mut().rfind(same) {
            tie.points = [tie.points[0] + points[0], tie.points[1] + points[1]];
            tie.pairings += 1;
        } else {
            ties.push(Tie { round, players, points, pairings: 1, by_seed: false });
        }
    }
    for tie in &mut ties {
        let order = tie.points[0].total_cmp(&tie.points[1]);
        tie.by_seed = order.is_eq();
        if order.is_lt() {
            tie.players.reverse();
            tie.points.reverse();
        }
    }
    let most = |tie: &Tie| contest.rounds + if tie.by_seed { replays_max } else { 0 };
    ties.retain(|tie| tie.pairings >= most(tie));
    ties
}
