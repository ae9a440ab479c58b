//! What is played in one simulated match, by whom, and what the machine will be like: all of it
//! drawn from the seed.

use super::disk::Flaw;
use referee_games::{GAMES, GameKind};
use referee_match::{header, id_of};
use referee_protocol::{ClockKind, ClockSettings, Header, Limits, OnFault, Seat};
use serde_json::{Value, json};

/// `SplitMix64`: one number after another, the same for a seed everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `end` - 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// `first` to `last`.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// Returns true in this many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64);
        from[usize::try_from(at).unwrap()].clone()
    }

    /// Returns nanoseconds: none, a few, or up to this many milliseconds.
    pub(crate) fn delay(&mut self, ms_max: u64) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => self.below(2000),
            _ => self.below(ms_max * 1_000_000 + 1),
        }
    }
}

/// How an agent behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temper {
    /// It does what the protocol asks, to the last nanosecond of its time.
    Good,
    /// It does anything.
    Wild,
}

/// Time in which nothing reaches the referee: it isn't woken, and what happens is seen at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stall {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Stall {
    /// How much of it lies between these times.
    pub(crate) fn within(self, from: u64, to: u64) -> u64 {
        self.to.min(to).saturating_sub(self.from.max(from))
    }
}

/// A match to be simulated.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) kind: GameKind,
    pub(crate) header: Header,
    pub(crate) tempers: Vec<Temper>,
    /// The machine fails at this time, if the match lasts so long.
    pub(crate) stop_at: u64,
    /// The match is stopped after this many turns, so that it doesn't last forever.
    pub(crate) turns_max: u64,
    /// Whether ticks and requests are late sometimes.
    pub(crate) is_busy: bool,
    /// Whether CPU time can be read.
    pub(crate) has_cpu: bool,
    /// Of a hundred turns, in how many the referee lags.
    pub(crate) lag_percent: u64,
    /// What is wrong with the disk that the transcript is on.
    pub(crate) flaw: Flaw,
    /// When this seat's supervisor ends, and the agent with it.
    pub(crate) orphaned: Option<(u64, Seat)>,
    /// How long the machine is frozen, and when.
    pub(crate) stall: Stall,
    /// Of a hundred wake-ups, how many come seconds too late.
    pub(crate) lost_percent: u64,
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random(seed);
        let kinds = GAMES.len() as u64;
        let kind = GAMES[usize::try_from(seed % kinds).unwrap()];
        let setup = setup(kind, &mut random);
        let game = kind.start(&setup).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
        let is_wild = random.below(101);
        let temper = |random: &mut Random| {
            if random.percent(is_wild) { Temper::Wild } else { Temper::Good }
        };
        let tempers: Vec<Temper> = (0..game.seats()).map(|_| temper(&mut random)).collect();
        let mut header = header(game.as_ref());
        header.seed = seed;
        header.match_id = id_of(&header);
        header.clock = clock(&mut random);
        header.limits = limits(&mut random, &tempers);
        for (seat, temper) in header.seats.iter_mut().zip(&tempers) {
            seat.no_void = *temper == Temper::Wild && random.percent(20);
        }
        header.on_fault = if random.percent(75) { OnFault::Retire } else { OnFault::End };
        Self {
            kind,
            header,
            tempers,
            stop_at: if random.percent(8) { random.delay(500) } else { 20_000_000_000 },
            turns_max: if random.percent(97) { 24 } else { 1000 },
            is_busy: random.percent(40),
            has_cpu: random.percent(85),
            lag_percent: if random.percent(30) { 40 } else { 0 },
            flaw: flaw(&mut random),
            orphaned: orphaned(&mut random, game.seats()),
            stall: stall(&mut random),
            lost_percent: if random.percent(15) { 30 } else { 0 },
        }
    }
}

fn flaw(random: &mut Random) -> Flaw {
    let bytes = usize::try_from(random.below(12_000)).unwrap();
    match random.below(20) {
        0 => Flaw::Full { bytes },
        1 => Flaw::Write { number: random.below(4), bytes },
        _ => Flaw::None,
    }
}

fn orphaned(random: &mut Random, seats: usize) -> Option<(u64, Seat)> {
    let seat = Seat::all(seats).nth(usize::try_from(random.below(seats as u64)).unwrap())?;
    let at = random.delay(800);
    random.percent(6).then_some((at, seat))
}

fn stall(random: &mut Random) -> Stall {
    let from = random.delay(600);
    let to = from + random.delay(1500);
    if random.percent(10) { Stall { from, to } } else { Stall::default() }
}

/// The default setup or a variant, mostly with a small limit to the game's length.
fn setup(kind: GameKind, random: &mut Random) -> Value {
    let about = kind.about();
    let at = usize::try_from(random.below(about.variants.len() as u64 + 1)).unwrap();
    let mut setup = about.variants.get(at).cloned().unwrap_or_else(|| json!({}));
    let limits = about.setup.iter().filter(|field| {
        field.default.is_number() && (field.name.contains("turn") || field.name.contains("moves"))
    });
    for limit in limits {
        if random.percent(90) {
            setup[limit.name] = json!(random.between(1, 16));
        }
    }
    setup
}

fn clock(random: &mut Random) -> ClockSettings {
    let bank_ms = random.percent(70).then(|| random.between(1, 300));
    let cap = bank_ms.is_none() || random.percent(30);
    ClockSettings {
        kind: if random.percent(65) { ClockKind::Wall } else { ClockKind::Cpu },
        start_ms: random.between(1, 300),
        bank_ms,
        increment_ms: if bank_ms.is_some() { random.below(20) } else { 0 },
        move_ms: cap.then(|| random.between(1, 80)),
        margin_ms: if random.percent(60) { 0 } else { random.between(1, 5) },
        backstop_ms: random.percent(70).then(|| random.between(10, 400)),
    }
}

fn limits(random: &mut Random, tempers: &[Temper]) -> Limits {
    let good = tempers.contains(&Temper::Good);
    Limits {
        line_bytes: 2000,
        turn_bytes: 6000,
        // A good agent can play to the end.
        match_bytes: if good { 1_000_000 } else { random.between(500, 20_000) },
        ..Limits::default()
    }
}
