//! How well a seat stands, for simple agents.

use super::CellSet;
use super::ChineseCheckers;
use referee_protocol::Seat;

/// What a marble that needn't move any more is worth.
const SETTLED: i64 = 40;
/// What each step that is still to go costs.
const STEP: i64 = 20;
/// What being far behind costs, by the square of the distance.
const STRAGGLING: i64 = 1;
/// What each own marble beside a foreign one in the target costs: it shuts it in.
const SHUTTING: i64 = 12;
/// What each wall of own marbles between a foreign one in the target and the way out costs.
const WALL: i64 = 80;

impl ChineseCheckers {
    /// The seat's own progress less that of the best of the others.
    pub(super) fn standing(&self, seat: Seat) -> i64 {
        let others = (0..self.rules.seats).filter(|&other| other != seat.index());
        let left = others.filter(|&other| !self.retired[other]);
        let best = left.map(|other| self.progress(other)).max();
        self.progress(seat.index()) - best.unwrap_or(0)
    }

    /// How far a seat has come. A target is filled from its tip inwards: the marbles that are to
    /// move head for the open positions of the deepest row that has any, and those that stand in
    /// this row or a deeper one are settled. When a row is full, the next one takes its place, so
    /// marbles never block the way into a target for long.
    fn progress(&self, seat: usize) -> i64 {
        let rules = &*self.rules;
        let own = self.marbles[seat];
        let held = own.or(self.retired_marbles());
        let target_point = (rules.setup.starts()[seat] + 3) % 6;
        let mut settled = CellSet::EMPTY;
        let mut open = CellSet::EMPTY;
        for &row in &rules.star.points[target_point] {
            settled = settled.or(row.and(own));
            open = row.without(held);
            if !open.is_empty() {
                break;
            }
        }
        let mut worth = 0;
        for marble in own.iter() {
            if settled.contains(marble) {
                worth += SETTLED;
                continue;
            }
            let distances = open.iter().map(|hole| i64::from(rules.star.distance(marble, hole)));
            let nearest = distances.min().unwrap_or(0);
            worth -= STEP * nearest + STRAGGLING * nearest * nearest;
        }
        worth - self.shut_in(seat)
    }

    /// A foreign marble in the target must get out before the target can be filled. Nothing helps
    /// as much as to leave it room.
    fn shut_in(&self, seat: usize) -> i64 {
        let star = self.rules.star;
        let (own, target) = (self.marbles[seat], self.rules.targets[seat]);
        let inside = target.and(self.occupied);
        let mut foreign = inside.without(own).without(self.retired_marbles());
        let beside = |set: CellSet| {
            let beside = set.iter().map(|cell| star.neighbours[usize::from(cell)]);
            beside.fold(CellSet::EMPTY, CellSet::or)
        };
        let count = |set: CellSet| i64::try_from(set.len()).expect("at most 181 cells");
        let shutting =
            foreign.iter().map(|cell| count(star.neighbours[usize::from(cell)].and(own)));
        let mut cost = SHUTTING * shutting.sum::<i64>();
        // From outside inwards, one wall of own marbles after the other.
        let rim = beside(target).without(target);
        let (mut reached, mut walls) = (rim.without(own), rim.and(own));
        while !foreign.is_empty() {
            let mut front = reached;
            while !front.is_empty() {
                let next = beside(front).and(target).without(reached);
                walls = walls.or(next.and(own));
                front = next.without(own);
                reached = reached.or(front);
            }
            foreign = foreign.without(reached);
            if walls.without(reached).is_empty() {
                break;
            }
            cost += WALL * count(foreign);
            reached = reached.or(walls);
        }
        cost
    }
}
