//! Ties: pairings of two players of whom one goes on.

use crate::formats::LevelTies;
use crate::pairing::PairingResult;
use crate::{Contest, Player};
use schemars::JsonSchema;
use serde::Serialize;

/// Two players of whom one goes on, as in a knockout.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tie {
    /// The round, from 1.
    pub round: u32,
    /// What it is called, such as `final` or `third place`, if it has a name.
    pub name: Option<&'static str>,
    /// The player who goes on, and the one who does not.
    pub players: [Player; 2],
    /// Their points in all games of the tie.
    pub points: [f64; 2],
    /// How many pairings were played: the contest's rounds, and more if it was level.
    pub pairings: u32,
    /// Whether it stayed level, and the higher seed goes on.
    pub by_seed: bool,
    /// Whether it stayed level, and the player who goes on was drawn by lot.
    pub by_lot: bool,
}

/// Returns the ties that have ended, in order; none if the format has no ties.
pub fn ties(contest: &Contest, past: &[PairingResult]) -> Vec<Tie> {
    let (format, field) = (&contest.format, contest.field());
    let Some(rules) = format.tie_rules() else { return Vec::new() };
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
            let nth = ties.iter().rev().take_while(|tie| tie.round == round).count();
            let name = format.tie_name(field, round, nth);
            let (by_seed, by_lot) = (false, false);
            ties.push(Tie { round, name, players, points, pairings: 1, by_seed, by_lot });
        }
    }
    for tie in &mut ties {
        let order = tie.points[0].total_cmp(&tie.points[1]);
        let mut first_wins = order.is_gt();
        if order.is_eq() {
            first_wins = rules.winner(field.seed, tie.round, tie.players) == tie.players[0];
            tie.by_lot = rules.level == LevelTies::Lot;
            tie.by_seed = !tie.by_lot;
        }
        if !first_wins {
            tie.players.reverse();
            tie.points.reverse();
        }
    }
    let is_level = |tie: &Tie| tie.by_seed || tie.by_lot;
    let least = |tie: &Tie| contest.rounds + if is_level(tie) { rules.replays } else { 0 };
    ties.retain(|tie| tie.pairings >= least(tie));
    ties
}
