//! A balanced choice of triples, for fields with too many triples to play all.

use super::groups::{groups, orbit, orbits, player};
use crate::openings::shuffled;
use crate::{Player, Seed};
use std::collections::BTreeMap;
use std::ops::Range;

/// With more players, the first choice is used: few players meet, and hardly any two of them twice.
const WEIGHED_MAX: usize = 100;
/// How many choices for a round are tried at most, until one is [`Score::GOOD`].
const ATTEMPTS: usize = 60;
/// How many passes look for improvements of a choice.
const PASSES: usize = 20;
/// How many initial orders of a lap are compared.
const BEGINNINGS: usize = 400;
/// The cost of a repeated triple: as much as a few pairs that meet too often. Found by trial: with
/// less, triples are repeated without need; with more, meetings become uneven.
const REPEATED: u64 = 60;
/// The cost of an impossible triple.
const IMPOSSIBLE: u64 = 1 << 40;

/// Returns a list of triples for each round. In a round every player is in `each` triples. If three
/// doesn't divide the total, one or two players are in one more, other players every round.
///
/// A round consists of two kinds of parts. An orbit of the circle of all players gives every player
/// three triples, and every two players of the same distance the same meetings; orbits are chosen
/// such that distances occur equally often. A lap, an order of the players cut into threes, gives
/// every player one triple; the order is improved until no swap of two players helps.
pub(super) fn choice(players: usize, each: u32, rounds: u32, seed: Seed) -> Vec<Vec<Vec<Player>>> {
    if players < 3 {
        return vec![Vec::new(); rounds as usize];
    }
    let circle = shuffled(players, &format!("{seed}:triples"));
    let orbits: Vec<[usize; 3]> = orbits(players, 3)
        .iter()
        .map(|gaps| [gaps[0], gaps[1], gaps[2]])
        // The orbit of a third of the circle: it gives every player one triple, not three.
        .filter(|gaps| gaps.iter().any(|gap| gap * 3 != players))
        .collect();
    let mut chosen = Chosen::new(players, &orbits);
    let mut list = Vec::new();
    for round in 0..rounds {
        let mut triples;
        (chosen, triples) = chosen.better_round(each as usize, &format!("{seed}:triples:{round}"));
        triples.iter_mut().flatten().for_each(|place| *place = player(circle[place.index()]));
        list.push(triples);
    }
    list
}

/// How bad a choice is; earlier fields count more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// By how much the differences in meetings exceed two.
    uneven: u32,
    /// The number of repeated triples.
    repeats: u32,
}

impl Score {
    const GOOD: Self = Self { uneven: 0, repeats: 0 };
}

/// The triples chosen so far, without whole lists of all triples. Players are places on the circle.
#[derive(Clone)]
struct Chosen<'a> {
    players: usize,
    orbits: &'a [[usize; 3]],
    /// How many triples of each orbit are chosen.
    of_orbit: Vec<u32>,
    /// How often each triple is chosen, by its sorted places.
    of_triple: BTreeMap<[Player; 3], u32>,
    /// How often every two places meet.
    met: Vec<u32>,
    /// The same, summed over all pairs of the same distance.
    met_at: Vec<usize>,
    /// The next players to be in one triple more.
    extra: usize,
}

impl<'a> Chosen<'a> {
    fn new(players: usize, orbits: &'a [[usize; 3]]) -> Self {
        Self {
            players,
            orbits,
            of_orbit: vec![0; orbits.len()],
            of_triple: BTreeMap::new(),
            met: vec![0; players * players],
            met_at: vec![0; players / 2 + 1],
            extra: 0,
        }
    }

    /// Returns the best of several choices for one more round, and the whole choice with it.
    fn better_round(&self, each: usize, name: &str) -> (Self, Vec<Vec<Player>>) {
        let attempts = if self.players <= WEIGHED_MAX { ATTEMPTS } else { 1 };
        let mut best: Option<(Score, Self, Vec<Vec<Player>>)> = None;
        for attempt in 0..attempts {
            let mut chosen = self.clone();
            let triples = chosen.round(each, &format!("{name}:{attempt}"));
            let score = chosen.score();
            if best.as_ref().is_none_or(|(least, ..)| score < *least) {
                best = Some((score, chosen, triples));
            }
            if score <= Score::GOOD {
                break;
            }
        }
        best.map_or_else(|| (self.clone(), Vec::new()), |(_, chosen, triples)| (chosen, triples))
    }

    fn round(&mut self, each: usize, name: &str) -> Vec<Vec<Player>> {
        let all = (self.players - 1) * (self.players - 2) / 2;
        let whole = (0..each / all).flat_map(|_| groups(self.players, 3));
        let mut triples: Vec<_> = whole.collect();
        for index in self.pick_orbits(each % all / 3, name) {
            let picked: Vec<_> = orbit(&self.orbits[index]).collect();
            self.take(&picked);
            triples.extend(picked);
        }
        triples.extend(self.laps(each % all % 3, name));
        triples
    }

    fn score(&self) -> Score {
        let of_others = |index: &usize| index / self.players != index % self.players;
        let met = || (0..self.met.len()).filter(of_others).map(|index| self.met[index]);
        let spread = met().max().unwrap_or(0) - met().min().unwrap_or(0);
        Score {
            uneven: spread.saturating_sub(2),
            repeats: self.of_triple.values().map(|times| times - 1).sum(),
        }
    }

    fn take(&mut self, triples: &[Vec<Player>]) {
        for triple in triples {
            for (one, other) in pairs_of(triple) {
                self.met[one.index() * self.players + other.index()] += 1;
                self.met[other.index() * self.players + one.index()] += 1;
                let distance = self.distance(one.index().abs_diff(other.index()));
                self.met_at[distance] += 1;
            }
            let triple = sorted(triple);
            *self.of_triple.entry(triple).or_default() += 1;
            if let Ok(index) = self.orbits.binary_search(&self.gaps(triple)) {
                self.of_orbit[index] += 1;
            }
        }
    }

    /// Returns the shorter distance on the circle.
    fn distance(&self, gap: usize) -> usize {
        gap.min(self.players - gap)
    }

    /// Returns the gaps that represent the orbit of a sorted triple.
    fn gaps(&self, triple: [Player; 3]) -> [usize; 3] {
        let [a, b, c] = triple.map(Player::index);
        let mut gaps = [b - a, c - b, self.players - c + a];
        let mut least = gaps;
        for _ in 1..gaps.len() {
            gaps.rotate_left(1);
            least = least.min(gaps);
        }
        least
    }
}

/// Orbits.
impl Chosen<'_> {
    fn pick_orbits(&mut self, count: usize, name: &str) -> Vec<usize> {
        let order = shuffled(self.orbits.len(), name);
        let mut picked = Vec::new();
        for _ in 0..count {
            picked.extend(self.best_orbit(&order, 0));
            self.mark(&picked[picked.len().saturating_sub(1)..], true);
        }
        let passes = if self.players <= WEIGHED_MAX { PASSES } else { 0 };
        for step in 0..passes * picked.len() {
            let place = step % picked.len();
            self.mark(&[picked[place]], false);
            // Starts elsewhere in the order each time, so that equal orbits take turns.
            picked[place] = self.best_orbit(&order, step).unwrap_or(picked[place]);
            self.mark(&[picked[place]], true);
        }
        self.mark(&picked, false);
        picked
    }

    fn best_orbit(&self, order: &[usize], from: usize) -> Option<usize> {
        let (before, after) = order.split_at(from % order.len().max(1));
        let cost = |&index: &usize| {
            REPEATED * u64::from(self.of_orbit[index]) + self.unevenness(self.orbits[index])
        };
        after.iter().chain(before).copied().min_by_key(cost)
    }

    /// Adds or removes whole orbits.
    fn mark(&mut self, orbits: &[usize], taken: bool) {
        for &index in orbits {
            for gap in self.orbits[index] {
                let met = &mut self.met_at[gap.min(self.players - gap)];
                *met = if taken { *met + self.players } else { *met - self.players };
            }
            let triples = u32::try_from(self.players).unwrap_or(u32::MAX);
            let count = &mut self.of_orbit[index];
            *count = if taken { *count + triples } else { *count - triples };
        }
    }

    /// Returns by how much this orbit would raise the sum of the squared meetings over all pairs,
    /// if pairs of the same distance met equally often.
    fn unevenness(&self, gaps: [usize; 3]) -> u64 {
        let mut rise = 0;
        for (index, gap) in gaps.into_iter().enumerate() {
            let distance = self.distance(gap);
            let again = gaps[..index].iter().filter(|&&gap| self.distance(gap) == distance).count();
            // There are half as many opposite pairs as pairs of any other distance.
            let (pairs, share) = if 2 * distance == self.players { (1, 2) } else { (2, 1) };
            let before = (self.met_at[distance] + again * self.players) * share;
            let after = before + self.players * share;
            rise += pairs * (after * after - before * before);
        }
        // Meetings are multiplied by the number of players, and pairs are counted twice.
        (rise / (2 * self.players)) as u64
    }
}

/// Laps.
impl Chosen<'_> {
    fn laps(&mut self, count: usize, name: &str) -> Vec<Vec<Player>> {
        let missing = (3 - count * self.players % 3) % 3;
        let turns = self.extra..self.extra + missing;
        let extras: Vec<Player> = turns.map(|turn| player(turn % self.players)).collect();
        self.extra += missing;
        let mut triples = Vec::new();
        // The players whom the lap before left over.
        let mut line = Vec::new();
        for lap in 1..=count {
            let lap_of_line = line.len()..line.len() + self.players;
            // The extra players end the last lap; until then none of them may be left over.
            let (end, shunned) =
                if lap == count { (&extras[..], &[][..]) } else { (&[][..], &extras[..]) };
            line = self
                .beginnings(&format!("{name}:{lap}"))
                .iter()
                .map(|order| [&line, order, end].concat())
                .min_by_key(|line| line.chunks(3).map(|part| self.cost(part, shunned)).sum::<u64>())
                .unwrap_or_default();
            if self.players <= WEIGHED_MAX {
                self.better_order(&mut line, lap_of_line, shunned);
            }
            let whole = line.len() / 3 * 3;
            let cut: Vec<_> = line[..whole].chunks(3).map(<[_]>::to_vec).collect();
            line.drain(..whole);
            self.take(&cut);
            triples.extend(cut);
        }
        triples
    }

    /// Returns initial orders: around the circle in steps of every length that reaches all players,
    /// so that only players of two distances meet; and some random orders.
    fn beginnings(&self, name: &str) -> Vec<Vec<Player>> {
        let walk = |start: usize, step: usize| {
            (0..self.players)
                .map(move |turn| player((start + turn * step) % self.players))
                .collect()
        };
        let all_round = (1..self.players).filter(|&step| divisor(step, self.players) == 1);
        let mut orders: Vec<Vec<Player>> = all_round
            .flat_map(|step| (0..self.players.min(12)).map(move |start| walk(start, step)))
            .take(BEGINNINGS)
            .collect();
        if self.players <= WEIGHED_MAX {
            let random = (0..10).map(|index| shuffled(self.players, &format!("{name}:{index}")));
            orders.extend(random.map(|order| order.into_iter().map(player).collect()));
        }
        orders
    }

    /// Swaps players of the lap between triples as long as that reduces the cost.
    fn better_order(&self, line: &mut [Player], lap: Range<usize>, shunned: &[Player]) {
        let cost = |line: &[Player], at: usize| {
            let part = at / 3 * 3;
            self.cost(&line[part..line.len().min(part + 3)], shunned)
        };
        for _ in 0..PASSES {
            let mut better = false;
            for one in lap.clone() {
                for other in (one / 3 * 3 + 3).max(lap.start)..lap.end {
                    let before = cost(line, one) + cost(line, other);
                    line.swap(one, other);
                    if cost(line, one) + cost(line, other) < before {
                        better = true;
                    } else {
                        line.swap(one, other);
                    }
                }
            }
            if !better {
                return;
            }
        }
    }

    /// Returns the cost of a triple, or of the beginning of one that the next lap completes.
    fn cost(&self, part: &[Player], shunned: &[Player]) -> u64 {
        let of_pair = |(one, other): (Player, Player)| {
            let met = u64::from(self.met[one.index() * self.players + other.index()]);
            if one == other { IMPOSSIBLE } else { 2 * met + 1 }
        };
        let pairs: u64 = pairs_of(part).map(of_pair).sum();
        if part.len() == 3 {
            let times = self.of_triple.get(&sorted(part)).copied().unwrap_or(0);
            return pairs + REPEATED * u64::from(times);
        }
        let in_the_way = part.iter().filter(|player| shunned.contains(player)).count();
        pairs + IMPOSSIBLE * in_the_way as u64
    }
}

fn pairs_of(players: &[Player]) -> impl Iterator<Item = (Player, Player)> {
    let before =
        move |index: usize| players[..index].iter().map(move |&other| (other, players[index]));
    (0..players.len()).flat_map(before)
}

fn sorted(triple: &[Player]) -> [Player; 3] {
    let mut places = [triple[0], triple[1], triple[2]];
    places.sort_unstable();
    places
}

/// Returns the greatest common divisor.
fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}
