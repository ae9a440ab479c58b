//! The schedule: which games follow from a contest and from the results so far. Games are numbered
//! in schedule order; what is played when, and which result comes first, changes nothing in it.

use super::formats::{Bye, Field, Met, Pairing};
use super::{Contest, Player, SeatOrders, halves};
use referee_match::named_seed;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Stands for a result that is not there yet; no place is worth so much.
const OPEN: u8 = u8::MAX;

/// A game of the schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    /// Its place in the schedule, from 0.
    pub number: u64,
    /// Its block: one pairing in one game with one opening and one seed, in all seat orders.
    pub block: u64,
    /// The round, from 1.
    pub round: u32,
    /// Which of the contest's games is played.
    pub game: usize,
    /// Who plays, in seat order.
    pub players: Vec<Player>,
    /// The number of its opening, among those of its game ([`Contest::opening`]).
    pub opening: u64,
    /// The match's seed, below 2^53.
    pub seed: u64,
}

/// A contest's schedule, as far as the results allow.
#[derive(Debug)]
pub struct Schedule {
    contest: Arc<Contest>,
    field: Field,
    /// For each game of a block, which of the pairing's players sits on each seat.
    orders: Vec<Vec<usize>>,
    pairings: Vec<Pairing>,
    /// What each seat of each game got, in halves, or [`OPEN`]; one after the other.
    results: Vec<u8>,
    /// How many pairings have ended, as far as there is no gap.
    closed: usize,
    /// What came of them, where the format asks for it.
    met: Vec<Met>,
    decided: Option<usize>,
    played: u64,
    over: bool,
}

impl Contest {
    /// How many games a block has: one in every seat order.
    pub fn games_of_a_block(&self) -> usize {
        seat_orders(self.seats(), self.seat_orders).len()
    }
}

impl Schedule {
    /// The schedule before anything is played. It holds every pairing that is known: whether there
    /// are too many can be asked of the format first, by its size.
    pub fn new(contest: Arc<Contest>) -> Self {
        let orders = seat_orders(contest.seats(), contest.seat_orders);
        let mut schedule = Self {
            field: contest.field(),
            contest,
            orders,
            pairings: Vec::new(),
            results: Vec::new(),
            closed: 0,
            met: Vec::new(),
            decided: None,
            played: 0,
            over: false,
        };
        schedule.extend();
        schedule
    }

    /// How many games are known: all whose numbers are below.
    pub fn known(&self) -> u64 {
        (self.pairings.len() * self.games_of_a_pairing()) as u64
    }

    /// How many of them have a result.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// How many games the contest has: at least, at most.
    pub fn size(&self) -> (u64, u64) {
        let size = self.contest.format.size(self.field);
        let each = self.games_of_a_pairing() as u64;
        (size.start().saturating_mul(each), size.end().saturating_mul(each))
    }

    /// Everything that counts has a result, and nothing follows.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// How many of the known games count.
    pub fn counted(&self) -> u64 {
        let pairings = self.decided.unwrap_or(self.pairings.len());
        (pairings * self.games_of_a_pairing()) as u64
    }

    /// Whether a game counts: one that was begun before the contest was decided may not.
    pub fn counts(&self, number: u64) -> bool {
        number < self.counted()
    }

    /// Whether a game has a result.
    pub fn has(&self, number: u64) -> bool {
        self.slot(number).is_some_and(|slot| self.results[slot] != OPEN)
    }

    /// The pairings so far, in schedule order.
    pub fn pairings(&self) -> &[Pairing] {
        &self.pairings
    }

    /// The pairings that have ended, as far as there is no gap before them; none where the format
    /// is fixed.
    pub fn met(&self) -> &[Met] {
        &self.met
    }

    /// The byes of the rounds that have ended, in order.
    pub fn byes(&self) -> Vec<Bye> {
        self.contest.format.byes(self.field, &self.met)
    }

    /// The final order, where the contest is over and its format decides it ([`super::formats::Format::ranking`]).
    pub fn ranking(&self) -> Option<Vec<Vec<Player>>> {
        self.over.then(|| self.contest.format.ranking(self.field, &self.met)).flatten()
    }

    /// How many games each pairing has: games times seat orders.
    pub fn games_of_a_pairing(&self) -> usize {
        self.contest.games.len() * self.orders.len()
    }

    /// A game, if it is known.
    pub fn fixture(&self, number: u64) -> Option<Fixture> {
        let each = self.games_of_a_pairing() as u64;
        let index = number / each;
        let pairing = self.pairings.get(usize::try_from(index).ok()?)?;
        let orders = self.orders.len() as u64;
        let within = number % each;
        let game = usize::try_from(within / orders).ok()?;
        let order = &self.orders[usize::try_from(within % orders).ok()?];
        // Whoever plays alone is compared with others who do: all get the same. Others get a new
        // one in each pairing, so that every game of the contest goes through all of its own.
        let alone = pairing.players.len() == 1;
        let opening = if alone { u64::from(pairing.round) - 1 } else { index };
        let name = format!("{}:game:{game}:{opening}", self.contest.seed);
        Some(Fixture {
            number,
            block: number / orders,
            round: pairing.round,
            game,
            players: order.iter().map(|&index| pairing.players[index]).collect(),
            opening,
            seed: named_seed(&name),
        })
    }

    /// The numbers of all games of the block that this game is in.
    pub fn block_of(&self, number: u64) -> Range<u64> {
        let games = self.orders.len() as u64;
        let first = number - number % games;
        first..first + games
    }

    /// The games of a block that count, in order; none where there is no such block.
    pub fn counting(&self, block: u64) -> Range<u64> {
        let (games, counted) = (self.orders.len() as u64, self.counted());
        let [first, end] =
            [block, block.saturating_add(1)].map(|it| it.saturating_mul(games).min(counted));
        first..end
    }

    /// Takes in the places of a game, in any order of the games that are known. A second result of
    /// a game changes nothing. `false`: there is no such game, or not yet; in the order of their
    /// numbers, all games that were played are known when their turn comes.
    pub fn record(&mut self, number: u64, places: &[u32]) -> bool {
        let Some(slot) = self.slot(number) else { return false };
        if places.len() != self.contest.seats() {
            return false;
        }
        if self.results[slot] != OPEN {
            return true;
        }
        for (seat, worth) in halves(places).into_iter().enumerate() {
            self.results[slot + seat] = u8::try_from(worth).unwrap_or(OPEN - 1);
        }
        self.played += 1;
        self.settle();
        true
    }

    fn slot(&self, number: u64) -> Option<usize> {
        let number = usize::try_from(number).ok().filter(|_| number < self.known())?;
        Some(number * self.contest.seats())
    }

    /// Closes pairings whose games all have results, and stages whose pairings are all closed.
    fn settle(&mut self) {
        while self.decided.is_none()
            && let Some(met) = self.ended(self.closed)
        {
            self.closed += 1;
            if self.contest.format.is_fixed() {
                self.over = self.closed == self.pairings.len();
                continue;
            }
            self.met.push(met);
            self.decided = self.contest.format.decided(&self.met);
            if self.decided.is_none() && self.met.len() == self.pairings.len() {
                self.extend();
            }
        }
        self.over |= self.decided.is_some();
    }

    fn extend(&mut self) {
        let next = self.contest.format.next(self.field, &self.met);
        self.over = next.is_empty();
        let seats = self.contest.seats();
        debug_assert!(next.iter().all(|pairing| pairing.players.len() == seats));
        self.results
            .resize(self.results.len() + next.len() * self.games_of_a_pairing() * seats, OPEN);
        self.pairings.extend(next);
    }

    fn ended(&self, index: usize) -> Option<Met> {
        let pairing = self.pairings.get(index)?;
        let seats = self.contest.seats();
        let each = self.games_of_a_pairing();
        let results = &self.results[index * each * seats..(index + 1) * each * seats];
        if results.contains(&OPEN) {
            return None;
        }
        let mut blocks = Vec::with_capacity(self.contest.games.len());
        for block in results.chunks(self.orders.len() * seats) {
            let mut sums = vec![0; seats];
            for (game, order) in block.chunks(seats).zip(&self.orders) {
                for (&worth, &player) in game.iter().zip(order) {
                    sums[player] += u32::from(worth);
                }
            }
            blocks.push(sums);
        }
        let sum = |player: usize| blocks.iter().map(|block: &Vec<u32>| block[player]).sum();
        let halves = (0..seats).map(sum).collect();
        Some(Met { pairing: pairing.clone(), halves, blocks })
    }
}

/// The seat orders of a block, each a list of the pairing's players by seat; the first is the
/// pairing's own.
pub(super) fn seat_orders(seats: usize, which: SeatOrders) -> Vec<Vec<usize>> {
    let own: Vec<usize> = (0..seats).collect();
    match which {
        SeatOrders::One => vec![own],
        SeatOrders::Rotations => {
            let mut orders = Vec::new();
            let reversed: Vec<usize> = own.iter().rev().copied().collect();
            for base in [own, reversed] {
                for shift in 0..seats {
                    let mut order = base.clone();
                    order.rotate_left(shift);
                    if !orders.contains(&order) {
                        orders.push(order);
                    }
                }
            }
            orders
        }
        SeatOrders::All => {
            let mut orders = Vec::new();
            permute(&mut Vec::new(), &own, &mut orders);
            orders
        }
    }
}

fn permute(begun: &mut Vec<usize>, left: &[usize], orders: &mut Vec<Vec<usize>>) {
    if left.is_empty() {
        orders.push(begun.clone());
    }
    for (index, &next) in left.iter().enumerate() {
        let mut rest = left.to_vec();
        rest.remove(index);
        begun.push(next);
        permute(begun, &rest, orders);
        begun.pop();
    }
}
