//! The position's estimate for simple agents.

use super::CellSet;
use super::ChineseCheckers;
use referee_protocol::Seat;

/// The value of a marble that needn't move any more.
const SETTLED: i64 = 40;
/// The cost of each remaining step.
const STEP: i64 = 20;
/// The cost of being far behind, by the square of the distance.
const STRAGGLING: i64 = 1;
/// The cost of each own marble beside another seat's marble in the target, which it shuts in.
const SHUTTING: i64 = 12;
/// The cost of each wall of own marbles between another seat's marble in the target and the exit.
const WALL: i64 = 80;

impl ChineseCheckers {
    /// Returns the seat's progress minus that of the best other seat.
    pub(super) fn standing(&self, seat: Seat) -> i64 {
        let others = (0..self.rules.seats).filter(|&other| other != seat.index());
        let left = others.filter(|&other| !self.retired[other]);
        let best = left.map(|other| self.progress(other)).max();
        self.progress(seat.index()) - best.unwrap_or(0)
    }

    /// Returns a seat's progress. The target is filled from its tip inwards: moving marbles head for
    /// the open positions of the deepest row that has any, and marbles in this row or a deeper one
    /// are settled. So marbles never block the way into a target for long.
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

    /// Returns the cost of shutting in other seats' marbles: they must leave the target before it can
    /// be filled.
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
