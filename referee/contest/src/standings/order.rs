//! Ranks and tie-breaks.

use super::cross::{meeting, opponents};
use super::{Meeting, Points, Standing, TieBreaks};
use crate::formats::Ranking;
use crate::{Contest, Player};
use std::cmp::{Ordering, Reverse};

/// Sets tie-breaks and ranks, sorts the players, best first, and returns the criteria in words.
/// `players` come in the order of the contest's list.
pub(super) fn rank(
    contest: &Contest,
    cross: &[Meeting],
    players: &mut [Standing],
    ranking: Option<&[Vec<Player>]>,
) -> Vec<String> {
    if contest.seats() == 1 {
        let key = |standing: &Standing| {
            let result = standing.puzzle.as_ref();
            Reverse(result.map_or((0, 0, 0), |own| (own.solved, own.scored, own.merit())))
        };
        order(players, ranking, |a, b| key(a).cmp(&key(b)));
        return words(ranking, &["games solved", "games with a score", "score"]);
    }
    let even = players.windows(2).all(|two| two[0].total.games == two[1].total.games);
    let by = contest.format.ranked_by(even);
    tie_breaks(by, cross, players);
    order(players, ranking, |a, b| {
        let by_points = compare_points(by, b, a);
        let mine = (a.tie_breaks.direct, a.tie_breaks.buchholz, a.tie_breaks.sonneborn_berger);
        let other = (b.tie_breaks.direct, b.tie_breaks.buchholz, b.tie_breaks.sonneborn_berger);
        let ties = by_points.then(other.cmp(&mine));
        let even = by != Ranking::PointsPerGame;
        if even { ties.then(b.total.wins.cmp(&a.total.wins)) } else { ties }
    });
    match by {
        Ranking::PointsPerGame => words(ranking, &["points per game", "direct encounter"]),
        Ranking::PointsAndBuchholz => {
            words(ranking, &["points", "direct encounter", "Buchholz", "Sonneborn-Berger", "wins"])
        }
        Ranking::Points => {
            words(ranking, &["points", "direct encounter", "Sonneborn-Berger", "wins"])
        }
    }
}

fn words(ranking: Option<&[Vec<Player>]>, then: &[&str]) -> Vec<String> {
    let own = ranking.map(|_| "the format's own order".to_owned());
    own.into_iter().chain(then.iter().map(|&word| word.to_owned())).collect()
}

/// Sorts by the format's order, then by `compare`, and numbers the ranks.
fn order(
    players: &mut [Standing],
    ranking: Option<&[Vec<Player>]>,
    compare: impl Fn(&Standing, &Standing) -> Ordering,
) {
    let mut groups = vec![usize::MAX; players.len()];
    for (group, members) in ranking.unwrap_or_default().iter().enumerate() {
        for member in members {
            if let Some(slot) = groups.get_mut(member.index()) {
                *slot = group;
            }
        }
    }
    // Players whom the format puts into one place share it, whatever their points. Those whom it
    // leaves out follow, by points.
    let full = |a: &Standing, b: &Standing| {
        let (mine, other) = (groups[a.player.index()], groups[b.player.index()]);
        let open = mine == usize::MAX && other == usize::MAX;
        if open { compare(a, b) } else { mine.cmp(&other) }
    };
    players.sort_by(|a, b| full(a, b).then(a.player.cmp(&b.player)));
    let mut rank = 1;
    for index in 0..players.len() {
        if index > 0 && full(&players[index - 1], &players[index]) != Ordering::Equal {
            rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
        }
        players[index].rank = rank;
    }
}

fn compare_points(by: Ranking, a: &Standing, b: &Standing) -> Ordering {
    let value = |standing: &Standing| {
        let games = if by == Ranking::PointsPerGame { standing.total.games.max(1) } else { 1 };
        Points::new(standing.points.parts(), standing.points.whole().saturating_mul(games))
    };
    value(a).cmp(&value(b))
}

fn tie_breaks(by: Ranking, cross: &[Meeting], players: &mut [Standing]) {
    let parts: Vec<u64> = players.iter().map(|standing| standing.points.parts()).collect();
    let whole = players.first().map_or(2, |standing| standing.points.whole());
    if by != Ranking::PointsPerGame {
        for standing in players.iter_mut() {
            let own = parts[standing.player.index()];
            // A bye counts as games against an opponent with the player's own points, as in FIDE's
            // tie-break regulations (handbook C.07).
            let bye = standing.bye_points.parts();
            let (mut all, mut beaten) = (0_u64, 0_u64);
            for met in opponents(cross, standing.player) {
                let points = parts[met.column.index()];
                all = all.saturating_add(points.saturating_mul(met.games));
                beaten = beaten.saturating_add(points.saturating_mul(met.points.parts()));
            }
            let dummy = bye.saturating_mul(own);
            // A bye's half-points count like half-points of won games.
            let ties = TieBreaks {
                direct: None,
                buchholz: (by == Ranking::PointsAndBuchholz)
                    .then(|| Points::new(2 * all + dummy, 2 * whole)),
                sonneborn_berger: Some(Points::new(beaten + dummy, whole * whole)),
            };
            standing.tie_breaks = ties;
        }
    }
    let mut by_points: Vec<usize> = (0..players.len()).collect();
    by_points.sort_by(|&a, &b| compare_points(by, &players[a], &players[b]));
    let level =
        |&a: &usize, &b: &usize| compare_points(by, &players[a], &players[b]) == Ordering::Equal;
    let groups: Vec<Vec<usize>> =
        by_points.chunk_by(level).map(<[usize]>::to_vec).filter(|group| group.len() > 1).collect();
    for group in groups {
        for (index, half_points) in group.iter().zip(direct(cross, &group, players)) {
            players[*index].tie_breaks.direct =
                half_points.map(|half_points| Points::new(half_points, 2));
        }
    }
}

/// Returns the half-points of each player of a group in the games among them, unless they haven't
/// all met equally often.
fn direct(cross: &[Meeting], group: &[usize], players: &[Standing]) -> Vec<Option<u64>> {
    let pair = |own: usize, other: usize| {
        let met = meeting(cross, players[own].player, players[other].player);
        met.map_or((0, 0), |met| (met.games, met.points.parts()))
    };
    let others = |own: usize| {
        group.iter().filter(move |&&other| other != own).map(move |&other| pair(own, other))
    };
    let games = pair(group[0], group[1]).0;
    let even = games > 0 && group.iter().all(|&own| others(own).all(|pair| pair.0 == games));
    let sum = |&own: &usize| even.then(|| others(own).map(|pair| pair.1).sum());
    group.iter().map(sum).collect()
}
