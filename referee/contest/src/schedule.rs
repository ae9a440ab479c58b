//! The schedule: which games follow from a contest and from the results so far. Games are numbered
//! in schedule order, which doesn't depend on when they are played or end.

use crate::pairing::{Bye, Field, Pairing, PairingResult, seat_orders};
use crate::{
    Change, ChangeKind, Contest, FORFEIT, Fixture, Player, Record, SeatRecord, half_points,
};
use referee_match::named_seed;
use referee_protocol::{FaultKind, MatchResult};
use std::ops::Range;
use std::sync::Arc;

/// Marks a missing result; no place is worth as many half-points.
const OPEN: u8 = u8::MAX;

/// A contest's schedule, as far as the results allow.
#[derive(Debug)]
pub struct Schedule {
    contest: Arc<Contest>,
    /// Where the pairings of the last stage begin.
    stage: usize,
    /// For each game of a block, which of the pairing's players sits on each seat.
    orders: Vec<Vec<usize>>,
    pairings: Vec<Pairing>,
    /// The half-points of each seat of each game, or [`OPEN`], in order.
    results: Vec<u8>,
    /// How many pairings have ended, without a gap before them.
    closed: usize,
    /// Their results, unless the format is fixed.
    pairing_results: Vec<PairingResult>,
    decided: Option<usize>,
    played: u64,
    over: bool,
}

impl Schedule {
    /// Returns the schedule before any game is played. It holds every known pairing; check the
    /// format's size first if there could be too many.
    pub fn new(contest: Arc<Contest>) -> Self {
        let orders = seat_orders(contest.seats(), contest.seat_orders);
        let mut schedule = Self {
            contest,
            stage: 0,
            orders,
            pairings: Vec::new(),
            results: Vec::new(),
            closed: 0,
            pairing_results: Vec::new(),
            decided: None,
            played: 0,
            over: false,
        };
        schedule.extend();
        schedule.settle();
        schedule
    }

    /// Returns the contest.
    pub fn contest(&self) -> &Contest {
        &self.contest
    }

    /// Returns what the format needs to know of the contest with all players who have joined.
    fn field(&self) -> Field {
        self.contest.field()
    }

    /// Whether the format gives all pairings at once.
    pub fn is_fixed(&self) -> bool {
        self.contest.format.is_fixed()
    }

    /// Returns the first game of the last stage.
    pub(super) fn stage_from(&self) -> u64 {
        (self.stage * self.games_of_a_pairing()) as u64
    }

    /// Returns the schedule after these games, in the order of their numbers.
    pub fn after(contest: Arc<Contest>, records: &[Record]) -> Self {
        let mut schedule = Self::new(contest);
        for record in records {
            schedule.record(record.number, &record.places);
        }
        schedule
    }

    /// Returns how many games are known: those with lower numbers.
    pub fn known(&self) -> u64 {
        (self.pairings.len() * self.games_of_a_pairing()) as u64
    }

    /// Returns how many games have a result.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// Returns the least and the greatest number of games of the contest.
    pub fn size(&self) -> (u64, u64) {
        if self.is_fixed() {
            return (self.known(), self.known());
        }
        let size = self.contest.format.size(self.field());
        let each = self.games_of_a_pairing() as u64;
        let has_versions = Player::all(self.contest.players.len()).ne(self.contest.teams());
        let leaves = |it: &Change| matches!(it.kind, ChangeKind::Withdraw { from: Some(_), .. });
        if has_versions || self.contest.changes.iter().any(leaves) {
            // Versions of one team that don't meet may find no other opponents, and who has left isn't paired.
            return (self.known(), self.known().max(size.end().saturating_mul(each)));
        }
        (size.start().saturating_mul(each), size.end().saturating_mul(each))
    }

    /// Whether the contest is over: all games that count have a result, and none follow.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Returns how many of the known games count.
    pub fn counted(&self) -> u64 {
        let pairings = self.decided.unwrap_or(self.pairings.len());
        (pairings * self.games_of_a_pairing()) as u64
    }

    /// Whether a game counts. A game that was started before the contest was decided may not.
    pub fn counts(&self, number: u64) -> bool {
        number < self.counted()
    }

    /// Whether a game has a result.
    pub fn has(&self, number: u64) -> bool {
        self.slot(number).is_some_and(|slot| self.results[slot] != OPEN)
    }

    /// Whether a game of a player has a result, apart from those from before it left and came back.
    pub fn has_result_of(&self, player: Player) -> bool {
        let each = self.games_of_a_pairing() as u64;
        let numbers = (0..self.known()).step_by(self.games_of_a_pairing().max(1));
        let mut own = numbers.zip(&self.pairings).filter(|(_, it)| it.players.contains(&player));
        let before = self.contest.played_before_leaving(player);
        let has = |number| self.has(number) && !before.contains(&number);
        own.any(|(first, _)| (first..first + each).any(has))
    }

    /// Returns the known pairings, in schedule order.
    pub fn pairings(&self) -> &[Pairing] {
        &self.pairings
    }

    /// Returns the results of the pairings that have ended without a gap before them; empty if the
    /// format is fixed.
    pub fn results(&self) -> &[PairingResult] {
        &self.pairing_results
    }

    /// Returns the byes of the rounds that have ended, in order.
    pub fn byes(&self) -> Vec<Bye> {
        self.contest.format.byes(self.field(), &self.pairing_results)
    }

    /// Returns the final order, if the contest is over and its format decides it
    /// ([`crate::formats::Format::ranking`]).
    pub fn ranking(&self) -> Option<Vec<Vec<Player>>> {
        self.over
            .then(|| self.contest.format.ranking(self.field(), &self.pairing_results))
            .flatten()
    }

    /// Returns how many games each pairing has: games times seat orders.
    pub fn games_of_a_pairing(&self) -> usize {
        self.contest.games.len() * self.orders.len()
    }

    /// Returns a game, if it is known.
    pub fn fixture(&self, number: u64) -> Option<Fixture> {
        let each = self.games_of_a_pairing() as u64;
        let index = number / each;
        let pairing = self.pairings.get(usize::try_from(index).ok()?)?;
        let orders = self.orders.len() as u64;
        let within = number % each;
        let game = usize::try_from(within / orders).ok()?;
        let place = within % orders;
        let order = &self.orders[usize::try_from(place).ok()?];
        // Players of one-seat games get the same openings, to be comparable. Other pairings each
        // get a new one, so that every game of the contest uses all of its openings.
        let opening = match pairing.players[..] {
            [player] => u64::from(pairing.round) - 1 + self.seen_instances(player),
            _ => index,
        };
        // Whoever knows the seed and the draws of one game of a pairing knows nothing about those of the next, unless the
        // contest wants them to be the same.
        let has_own = self.contest.own_seeds || self.contest.games[game].has_chance();
        let has_own = has_own && !self.contest.duplicate_deals;
        let own = place > 0 && has_own;
        let own = if own { format!(":{place}") } else { String::new() };
        let name = format!("{}:game:{game}:{opening}{own}", self.contest.seed);
        Some(Fixture {
            number,
            block: number / orders,
            round: pairing.round,
            game,
            players: order.iter().map(|&index| pairing.players[index]).collect(),
            opening,
            seed: named_seed(&name),
            voids_left: Vec::new(),
        })
    }

    /// Returns how many instances of a puzzle earlier versions of a player's team have seen.
    fn seen_instances(&self, player: Player) -> u64 {
        let earlier =
            if self.contest.own_seeds { self.contest.earlier_versions(player) } else { 0 };
        earlier as u64 * u64::from(self.contest.rounds)
    }

    /// Returns the numbers of all games of this game's block.
    pub fn block_of(&self, number: u64) -> Range<u64> {
        let games = self.orders.len() as u64;
        let first = number - number % games;
        first..first + games
    }

    /// Returns the games of a block that count, in order; none if there is no such block.
    pub fn counting(&self, block: u64) -> Range<u64> {
        let (games, counted) = (self.orders.len() as u64, self.counted());
        let [first, end] =
            [block, block.saturating_add(1)].map(|it| it.saturating_mul(games).min(counted));
        first..end
    }

    /// Records the places of a game, in any order of the known games. A second result of a game
    /// changes nothing. Returns false if the game is not known; games recorded in the order of
    /// their numbers are always known.
    pub fn record(&mut self, number: u64, places: &[u32]) -> bool {
        let Some(slot) = self.slot(number) else { return false };
        if places.len() != self.contest.seats() {
            return false;
        }
        if self.results[slot] != OPEN {
            return true;
        }
        self.set(slot, places);
        self.settle();
        true
    }

    /// Sets the result of the game at this place of the results.
    fn set(&mut self, slot: usize, places: &[u32]) {
        for (seat, worth) in half_points(places).into_iter().enumerate() {
            self.results[slot + seat] = u8::try_from(worth).unwrap_or(OPEN - 1);
        }
        self.played += 1;
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
            self.pairing_results.push(met);
            self.decided = self.contest.format.decided(&self.pairing_results);
            if self.decided.is_none() && self.pairing_results.len() == self.pairings.len() {
                self.extend();
            }
        }
        self.over |= self.decided.is_some();
    }

    fn extend(&mut self) {
        let mut next = if self.is_fixed() {
            self.next(self.contest.players_at_start())
        } else {
            self.next(self.contest.players_at(self.known()))
        };
        if self.is_fixed() {
            // Those who join later have their pairings after all others.
            for new in Player::all(self.contest.players.len()).skip(self.contest.players_at_start())
            {
                let with_it = self.next(new.index() + 1).into_iter();
                next.extend(with_it.filter(|pairing| pairing.players.contains(&new)));
            }
        }
        self.over = next.is_empty();
        if self.over {
            return;
        }
        let (seats, first) = (self.contest.seats(), self.known());
        debug_assert!(next.iter().all(|pairing| pairing.players.len() == seats));
        self.stage = self.pairings.len();
        self.results
            .resize(self.results.len() + next.len() * self.games_of_a_pairing() * seats, OPEN);
        if self.pairings.is_empty() {
            self.pairings = next;
        } else {
            self.pairings.extend(next);
        }
        if self.contest.changes.is_empty() {
            return;
        }
        for fixture in
            (first..self.known()).filter_map(|number| self.fixture(number)).collect::<Vec<_>>()
        {
            let places = self.contest.forfeited(fixture.number, &fixture.players);
            if let Some((places, slot)) = places.zip(self.slot(fixture.number)) {
                self.set(slot, &places);
            }
        }
    }

    /// Returns the next pairings, with so many players.
    fn next(&self, players: usize) -> Vec<Pairing> {
        let (field, past) = (Field { players, ..self.field() }, &self.pairing_results[..]);
        let teams = self.contest.teams();
        let absent = self.contest.absent_at(self.known());
        let team = |it: Player| (!absent.contains(&it)).then(|| teams[it.index()]);
        let present: Vec<Option<Player>> = Player::all(players).map(team).collect();
        let mut next = self.contest.format.next_of_teams(field, &present, past);
        // A version could lose to another on purpose.
        next.retain(|pairing| {
            let mut own: Vec<Player> = pairing.players.iter().map(|it| teams[it.index()]).collect();
            own.sort_unstable();
            own.windows(2).all(|two| two[0] != two[1])
        });
        next
    }

    fn ended(&self, index: usize) -> Option<PairingResult> {
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
        let half_points = (0..seats).map(sum).collect();
        Some(PairingResult { pairing: pairing.clone(), half_points, block_half_points: blocks })
    }
}

impl Schedule {
    /// Returns the first game whose result no later pairing depends on.
    pub fn first_open(&self) -> u64 {
        if self.is_fixed() { 0 } else { self.stage_from() }
    }

    /// Returns the records of all known games that were decided without being played. Who left and came back has
    /// resigned them.
    pub fn forfeits(&self) -> Vec<Record> {
        let contest = self.contest();
        let some = contest.changes.iter().any(|change| {
            matches!(change.kind, ChangeKind::Withdraw { .. } | ChangeKind::Forfeit { .. })
        });
        let known =
            (0..if some { self.known() } else { 0 }).filter_map(|number| self.fixture(number));
        let decided = known.filter_map(|fixture| {
            let places = contest.forfeited(fixture.number, &fixture.players)?;
            let mut record = forfeit(fixture, places);
            let back = record.players.iter().map(|it| contest.came_back(*it));
            for ((seat, place), back) in record.seats.iter_mut().zip(&record.places).zip(back) {
                seat.fault = (*place > 1 && back).then_some(FaultKind::Resigned);
            }
            Some(record)
        });
        decided.collect()
    }
}

/// Returns the record of a game that was decided without being played.
fn forfeit(fixture: Fixture, places: Vec<u32>) -> Record {
    Record {
        number: fixture.number,
        block: fixture.block,
        round: fixture.round,
        game: fixture.game,
        match_id: String::new(),
        seed: fixture.seed,
        // A resignation: no fault of a program.
        result: MatchResult::Resigned,
        reason: FORFEIT.to_owned(),
        places,
        scores: None,
        seats: vec![SeatRecord::default(); fixture.players.len()],
        players: fixture.players,
        turns: 0,
        lag_ns: 0,
        marked: false,
        // Two of them are not repetitions of each other.
        moves: format!("{FORFEIT} {}", fixture.number),
        transcript: String::new(),
        seal: String::new(),
    }
}
