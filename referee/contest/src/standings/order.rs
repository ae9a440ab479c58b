//! Ranks and tie-breaks.

use super::cross::{meeting, opponents};
use super::{Meeting, Points, Standing, TieBreaks};
use crate::{Contest, FormatSettings, Player};
use std::cmp::{Ordering, Reverse};

/// What points are compared by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// Their sum: everybody plays as much.
    Sum,
    /// Their mean: formats in which some play more than others.
    Mean,
}

/// Sets tie-breaks and ranks, sorts the players, best first, and says by what they are ranked.
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
    let (basis, swiss) = match contest.format {
        // Under way, and where triples don't come out even, some have played more than others.
        FormatSettings::RoundRobin(_) if !even => (Basis::Mean, false),
        FormatSettings::Gauntlet(_) | FormatSettings::Ladder(_) => (Basis::Mean, false),
        FormatSettings::Swiss(_) => (Basis::Sum, true),
        _ => (Basis::Sum, false),
    };
    tie_breaks(basis, swiss, cross, players);
    order(players, ranking, |a, b| {
        let by_points = compare_points(basis, b, a);
        let mine = (a.tie_breaks.direct, a.tie_breaks.buchholz, a.tie_breaks.sonneborn_berger);
        let other = (b.tie_breaks.direct, b.tie_breaks.buchholz, b.tie_breaks.sonneborn_berger);
        let ties = by_points.then(other.cmp(&mine));
        if basis == Basis::Sum { ties.then(b.total.wins.cmp(&a.total.wins)) } else { ties }
    });
    match basis {
        Basis::Mean => words(ranking, &["points a game", "direct encounter"]),
        Basis::Sum if swiss => {
            words(ranking, &["points", "direct encounter", "Buchholz", "Sonneborn-Berger", "wins"])
        }
        Basis::Sum => words(ranking, &["points", "direct encounter", "Sonneborn-Berger", "wins"]),
    }
}

fn words(ranking: Option<&[Vec<Player>]>, then: &[&str]) -> Vec<String> {
    let own = ranking.map(|_| "the order that the format decides".to_owned());
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
    // Whom the format puts into one place shares it, whatever the points; those whom it leaves out
    // come behind them, by points.
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

fn compare_points(basis: Basis, a: &Standing, b: &Standing) -> Ordering {
    let value = |standing: &Standing| {
        let games = if basis == Basis::Sum { 1 } else { standing.total.games.max(1) };
        Points::new(standing.points.parts(), standing.points.whole().saturating_mul(games))
    };
    value(a).cmp(&value(b))
}

fn tie_breaks(basis: Basis, swiss: bool, cross: &[Meeting], players: &mut [Standing]) {
    let parts: Vec<u64> = players.iter().map(|standing| standing.points.parts()).collect();
    let whole = players.first().map_or(2, |standing| standing.points.whole());
    if basis == Basis::Sum {
        for standing in players.iter_mut() {
            let own = parts[standing.player.index()];
            // An unplayed game that counts is one against an opponent with the player's own points,
            // as in FIDE's tie-break regulations (handbook C.07).
            let bye = standing.bye_points.parts();
            let (mut all, mut beaten) = (0_u64, 0_u64);
            for met in opponents(cross, standing.player) {
                let points = parts[met.column.index()];
                all = all.saturating_add(points.saturating_mul(met.games));
                beaten = beaten.saturating_add(points.saturating_mul(met.points.parts()));
            }
            let dummy = bye.saturating_mul(own);
            // A bye's halves are as many halves of games won.
            let ties = TieBreaks {
                direct: None,
                buchholz: swiss.then(|| Points::new(2 * all + dummy, 2 * whole)),
                sonneborn_berger: Some(Points::new(beaten + dummy, whole * whole)),
            };
            standing.tie_breaks = ties;
        }
    }
    let mut by_points: Vec<usize> = (0..players.len()).collect();
    by_points.sort_by(|&a, &b| compare_points(basis, &players[a], &players[b]));
    let level =
        |&a: &usize, &b: &usize| compare_points(basis, &players[a], &players[b]) == Ordering::Equal;
    let groups: Vec<Vec<usize>> =
        by_points.chunk_by(level).map(<[usize]>::to_vec).filter(|group| group.len() > 1).collect();
    for group in groups {
        for (index, halves) in group.iter().zip(direct(cross, &group, players)) {
            players[*index].tie_breaks.direct = halves.map(|halves| Points::new(halves, 2));
        }
    }
}

/// The halves of each of a group in the games among them; nothing where they haven't all met
/// equally often.
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
