//! Fast perft on bitboards.
//!
//! Every line of the board is a word of bits, so that a jump is found by counting zeros. The ends of
//! the last action are counted, not listed. And each marble stores which positions its jumps depend
//! on, since most actions change nothing for most marbles.

use super::CellSet;
use super::lines::{Lines, SIZE_MAX};
use super::{ChineseCheckers, Jumps, Win};

/// The most marbles of one seat.
const MARBLES_MAX: usize = SIZE_MAX * (SIZE_MAX + 1) / 2;
/// The constants of a seat.
#[derive(Clone, Copy)]
struct SeatRules {
    target: u128,
    may_end: u128,
    may_end_by_class: [u64; 4],
    may_land: [u64; 4],
}

/// A position with the rules that the count needs.
struct Board {
    lines: &'static Lines,
    seats: usize,
    filled: bool,
    rules: [SeatRules; 6],
    words: [u64; 64],
    occupied: u128,
    own: [u128; 6],
    marbles: [[u8; MARBLES_MAX]; 6],
    counts: [usize; 6],
    /// By seat and marble, up to date except for `steps`. Not used for a single action.
    traces: [[Ends; MARBLES_MAX]; 6],
}

/// The positions at which one marble's turn can end.
#[derive(Clone, Copy, Default)]
struct Ends {
    steps: u128,
    /// By slot, in the marble's own class.
    landings: u64,
    /// Positions at which removing a marble may change the landings; only if traced.
    held: u128,
    /// Positions at which adding a marble may change the landings; only if traced.
    open: u128,
}

impl Ends {
    fn count(&self) -> u64 {
        u64::from(self.steps.count_ones() + self.landings.count_ones())
    }
}

/// The jumps of one seat's marbles.
struct Replies {
    traces: [Ends; MARBLES_MAX],
    /// The number of landings.
    landings: u64,
    /// Positions at which removing a marble may change any of them.
    held: u128,
    /// Positions at which adding a marble may change any of them.
    open: u128,
}

impl Replies {
    fn new(traces: &[Ends; MARBLES_MAX], count: usize) -> Self {
        let (mut landings, mut held, mut open) = (0, 0, 0);
        for trace in &traces[..count] {
            landings += u64::from(trace.landings.count_ones());
            held |= trace.held;
            open |= trace.open;
        }
        Self { traces: *traces, landings, held, open }
    }
}

impl ChineseCheckers {
    /// As `plain_perft`; `None` if this count doesn't apply.
    pub(super) fn bulk_perft(&self, depth: u32) -> Option<u64> {
        let setup = &self.rules.setup;
        let limited = self.turn.saturating_add(u64::from(depth)) > setup.max_turns;
        if depth == 0 || limited || self.outcome.is_some() || self.retired.contains(&true) {
            return None;
        }
        let lines = Lines::of(setup.size)?;
        let rules = std::array::from_fn(|seat| {
            let may_land = !self.rules.no_landing[seat].low_bits();
            let may_end = !self.rules.no_end[seat].low_bits();
            SeatRules {
                target: self.rules.targets[seat].low_bits(),
                may_end,
                may_end_by_class: lines.by_class(may_end),
                may_land: lines.by_class(may_land),
            }
        });
        let mut board = Board {
            lines,
            seats: self.rules.seats,
            filled: setup.win == Win::Filled,
            rules,
            words: lines.empty,
            occupied: 0,
            own: self.marbles.map(CellSet::low_bits),
            marbles: [[0; MARBLES_MAX]; 6],
            counts: self.marbles.map(|set| set.len()),
            traces: [[Ends::default(); MARBLES_MAX]; 6],
        };
        for (marbles, set) in board.marbles.iter_mut().zip(self.marbles) {
            for (marble, cell) in marbles.iter_mut().zip(set.iter()) {
                *marble = cell;
            }
        }
        for cell in self.occupied.iter() {
            board.toggle(cell);
        }
        let (seat, passes) = (self.to_move.index(), self.passes);
        Some(match setup.jumps {
            Jumps::Long => board.perft::<true>(seat, depth, passes),
            Jumps::Adjacent => board.perft::<false>(seat, depth, passes),
        })
    }
}

impl Board {
    fn perft<const LONG: bool>(&mut self, seat: usize, depth: u32, passes: u64) -> u64 {
        if depth > 1 {
            self.trace_all::<LONG>();
        }
        self.count::<LONG>(seat, depth, passes)
    }

    fn count<const LONG: bool>(&mut self, seat: usize, depth: u32, passes: u64) -> u64 {
        match depth {
            1 => return self.count_one::<LONG>(seat),
            2 => return self.count_two::<LONG>(seat, passes),
            _ => {}
        }
        let next = (seat + 1) % self.seats;
        let (mut total, mut moved) = (0, false);
        let (own, traces) = (self.own[seat], self.traces);
        for marble in 0..self.counts[seat] {
            let start = self.marbles[seat][marble];
            for end in self.list(start, self.traced(seat, marble)) {
                moved = true;
                self.toggle(start);
                self.toggle(end);
                self.own[seat] = own ^ (1 << start | 1 << end);
                self.marbles[seat][marble] = end;
                if !self.is_over(seat, self.own[seat], self.occupied) {
                    self.trace_again::<LONG>((seat, marble), start, end);
                    total += self.count::<LONG>(next, depth - 1, 0);
                    self.traces = traces;
                }
                self.toggle(end);
                self.toggle(start);
            }
            self.marbles[seat][marble] = start;
        }
        self.own[seat] = own;
        if moved || self.all_passed(passes) {
            return total;
        }
        self.count::<LONG>(next, depth - 1, passes + 1)
    }

    /// Counts the last action of a sequence; a pass if there is no other.
    fn count_one<const LONG: bool>(&mut self, seat: usize) -> u64 {
        let mut total = 0;
        for start in self.marbles[seat].into_iter().take(self.counts[seat]) {
            total += self.ends_without_marble::<LONG, false>(seat, start).count();
        }
        total.max(1)
    }

    /// Counts the last two actions of a sequence.
    fn count_two<const LONG: bool>(&mut self, seat: usize, passes: u64) -> u64 {
        let next = (seat + 1) % self.seats;
        let answering = self.marbles[next];
        let answering = &answering[..self.counts[next]];
        let steps: u32 = answering.iter().map(|&at| self.steps(next, at).count_ones()).sum();
        let before = Replies::new(&self.traces[next], answering.len());
        let (mut total, mut moved) = (0, false);
        for marble in 0..self.counts[seat] {
            let ends = self.traced(seat, marble);
            if ends.count() == 0 {
                continue;
            }
            moved = true;
            // First the changes caused by leaving the start, once for all ends.
            let start = self.marbles[seat][marble];
            self.toggle(start);
            let steps = u64::from(steps + self.steps_onto(next, start));
            let own = self.own[seat] ^ 1 << start;
            total += if before.held >> start & 1 == 1 {
                let mut traces = before.traces;
                for (trace, &marble) in traces.iter_mut().zip(answering) {
                    if trace.held >> start & 1 == 1 {
                        *trace = self.ends_without_marble::<LONG, true>(next, marble);
                    }
                }
                let replies = Replies::new(&traces, answering.len());
                self.count_replies::<LONG>((seat, own), self.list(start, ends), &replies, steps)
            } else {
                self.count_replies::<LONG>((seat, own), self.list(start, ends), &before, steps)
            };
            self.toggle(start);
        }
        if moved || self.all_passed(passes) {
            return total;
        }
        self.count_one::<LONG>(next)
    }

    /// Counts the replies to every action of one marble, which is already removed from its start.
    /// `own` are the other marbles of its seat; `replies` and `steps` are those without the marble.
    fn count_replies<const LONG: bool>(
        &mut self,
        (seat, own): (usize, u128),
        ends: impl Iterator<Item = u8>,
        replies: &Replies,
        steps: u64,
    ) -> u64 {
        let next = (seat + 1) % self.seats;
        let answering = self.marbles[next];
        let mut total = 0;
        for end in ends {
            let at = 1u128 << end;
            if self.is_over(seat, own | at, self.occupied | at) {
                continue;
            }
            let mut count = replies.landings + steps - u64::from(self.steps_onto(next, end));
            if replies.open & at != 0 {
                self.toggle(end);
                for (trace, &marble) in replies.traces.iter().zip(&answering) {
                    if trace.open & at != 0 {
                        count -= u64::from(trace.landings.count_ones());
                        let again = self.ends_without_marble::<LONG, false>(next, marble).landings;
                        count += u64::from(again.count_ones());
                    }
                }
                self.toggle(end);
            }
            total += count.max(1);
        }
        total
    }

    /// Counts the marbles of a seat that can step onto an empty position.
    fn steps_onto(&self, seat: usize, cell: u8) -> u32 {
        let cell = cell & 127;
        if self.rules[seat].may_end >> cell & 1 == 0 {
            return 0;
        }
        (self.lines.neighbours[usize::from(cell)] & self.own[seat]).count_ones()
    }

    /// Returns where a marble's turn can end, by its trace.
    fn traced(&self, seat: usize, marble: usize) -> Ends {
        let steps = self.steps(seat, self.marbles[seat][marble]);
        Ends { steps, ..self.traces[seat][marble] }
    }

    /// Traces the moved marble, and all others whose jumps may have changed.
    fn trace_again<const LONG: bool>(&mut self, moved: (usize, usize), start: u8, end: u8) {
        for seat in 0..self.seats {
            for marble in 0..self.counts[seat] {
                let trace = &self.traces[seat][marble];
                if (trace.held >> start | trace.open >> end) & 1 == 1 || (seat, marble) == moved {
                    let at = self.marbles[seat][marble];
                    self.traces[seat][marble] = self.ends_without_marble::<LONG, true>(seat, at);
                }
            }
        }
    }

    /// Traces every marble.
    fn trace_all<const LONG: bool>(&mut self) {
        for seat in 0..self.seats {
            for marble in 0..self.counts[seat] {
                let at = self.marbles[seat][marble];
                self.traces[seat][marble] = self.ends_without_marble::<LONG, true>(seat, at);
            }
        }
    }

    /// Returns where a marble's turn can end; the marble is still on its start.
    fn ends_without_marble<const LONG: bool, const TRACED: bool>(
        &mut self,
        seat: usize,
        start: u8,
    ) -> Ends {
        self.toggle(start);
        let ends = self.ends::<LONG, TRACED>(seat, start);
        self.toggle(start);
        ends
    }

    /// Returns where a marble's turn can end; the marble is already removed from its start.
    #[inline]
    fn ends<const LONG: bool, const TRACED: bool>(&self, seat: usize, start: u8) -> Ends {
        let lines = self.lines;
        let rules = &self.rules[seat];
        let (class, slot) = lines.slots[usize::from(start & 127)];
        let class = usize::from(class & 3);
        let may_land = rules.may_land[class];
        let (mut held, mut open) = (0, 0);
        let mut reached = 1u64 << slot;
        let mut queue = reached;
        while queue != 0 {
            let from = usize::from(lines.cells[class][queue.trailing_zeros() as usize & 63] & 127);
            queue &= queue - 1;
            let mut found = 0;
            for (axis, &(line, bit)) in lines.places[from].iter().enumerate() {
                let line = usize::from(line & 63);
                let (word, landings) = (self.words[line], &lines.landings[line]);
                let bit = u32::from(bit);
                let ahead = word >> (bit + 1);
                let over = ahead.trailing_zeros() + 1;
                let jump = (ahead >> over) & ((1 << over) - 1) == 0 && (LONG || over == 1);
                found |= u64::from(jump) << landings[(bit + 2 * over) as usize & 63];
                let behind = word << (64 - bit);
                let under = behind.leading_zeros() + 1;
                let leap = (behind << under) >> (64 - under) == 0 && (LONG || under == 1);
                found |= u64::from(leap) << landings[bit.wrapping_sub(2 * under) as usize & 63];
                if TRACED {
                    let [front, back] = lines.sights[from][axis]
                        .map(|sight| u32::from(if LONG { sight } else { sight.min(1) }));
                    held |= lines.span(line, bit, holding(front, over), holding(back, under));
                    let ahead = opening(front, over, jump);
                    open |= lines.span(line, bit, ahead, opening(back, under, leap));
                }
            }
            found &= may_land & !reached;
            reached |= found;
            queue |= found;
        }
        Ends {
            steps: self.steps(seat, start),
            landings: reached & !(1 << slot) & rules.may_end_by_class[class],
            held,
            open,
        }
    }

    fn steps(&self, seat: usize, start: u8) -> u128 {
        let beside = self.lines.neighbours[usize::from(start & 127)];
        beside & !self.occupied & self.rules[seat].may_end
    }

    /// Lists the positions at which a marble's turn can end.
    fn list(&self, start: u8, ends: Ends) -> impl Iterator<Item = u8> + use<> {
        let cells = &self.lines.cells[usize::from(self.lines.slots[usize::from(start)].0)];
        let Ends { mut steps, mut landings, .. } = ends;
        std::iter::from_fn(move || {
            if landings != 0 {
                let slot = landings.trailing_zeros() as usize;
                landings &= landings - 1;
                return Some(cells[slot]);
            }
            let cell = u8::try_from(steps.trailing_zeros()).ok().filter(|&cell| cell < 128)?;
            steps &= steps - 1;
            Some(cell)
        })
    }

    fn toggle(&mut self, cell: u8) {
        self.occupied ^= 1 << cell;
        for (line, bit) in self.lines.places[usize::from(cell & 127)] {
            self.words[usize::from(line & 63)] ^= 1 << bit;
        }
    }

    /// Returns whether the game is over after a move of `seat`, whose marbles are now `own`. With
    /// `win` "own", only the mover can have come home.
    fn is_over(&self, seat: usize, own: u128, occupied: u128) -> bool {
        if !self.filled {
            return own & !self.rules[seat].target == 0;
        }
        (0..self.seats).any(|other| {
            let own = if other == seat { own } else { self.own[other] };
            let target = self.rules[other].target;
            target & !occupied == 0 && own & target != 0
        })
    }

    /// Returns whether one more pass ends the game.
    fn all_passed(&self, passes: u64) -> bool {
        passes + 1 >= self.seats as u64
    }
}

/// Returns how many positions of a ray matter to a marble's jump when a marble is removed from them.
/// Jumps can go over the first `sight` positions of the ray; the first marble is `distance` away.
fn holding(sight: u32, distance: u32) -> u32 {
    if distance <= sight { 2 * distance } else { 0 }
}

/// Returns the same for a marble that is added: all positions up to the landing if there is a jump,
/// else those over which there would be one.
fn opening(sight: u32, distance: u32, jump: bool) -> u32 {
    match distance {
        _ if jump => 2 * distance,
        _ if distance <= sight => (distance - 1) / 2,
        _ => sight,
    }
}
