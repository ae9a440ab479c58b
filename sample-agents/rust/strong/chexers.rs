//! Chexers for the alpha-beta search, paranoid: hexes as bits of one word.
//!
//! The estimate is how many steps a seat's foremost pieces need until its last exit, where a piece
//! that is missing costs much and a spare one helps. The two others are taken to play together
//! against this seat, which keeps its pieces out of their reach; its own progress counts more than
//! theirs, or it would only wait.

use crate::alpha_beta::{Board, Ending, Move};
use crate::alpha_beta_player::SearchGame;
use crate::rng::Rng;
use referee_games::Game;
use referee_games::board::{Cell, Shape};
use referee_games::chexers::{Action, Chexers};

/// What a step is worth.
const STEP: i32 = 10;
/// What a piece that is needed and missing costs.
const MISSING: i32 = 110;
/// What the first and the second piece beyond those needed are worth, and any further one.
const SPARE: [i32; 3] = [45, 30, 8];
/// What an exit is worth beyond its way.
const EXIT: i32 = 15;
/// What the steps of the better of the others count, in eighths of one's own.
const OTHERS: i32 = 6;

/// A set of hexes: hex `[q,r]` is bit 8 (q + 3) + r + 3.
type Set = u64;

/// The six steps as differences of bits; opposite ones are adjacent.
const WAYS: [i8; 6] = [1, -1, 7, -7, 8, -8];
/// An end off the board, for exits.
const OFF: u8 = 63;

/// The rules of this game.
pub(crate) struct Hexagon {
    all: Set,
    /// By seat.
    exit_hexes: [Set; 3],
    exits: u32,
    turns_max: u32,
    /// By seat: the pieces; the last row is for the seat to move.
    keys: [[u64; 64]; 4],
}

impl SearchGame for Hexagon {
    type Game = Chexers;
    type Board<'a> = Pieces<'a>;

    fn new(game: &Chexers) -> Self {
        let setup = game.setup();
        let cells = Shape::Hexagon(3).cells();
        let set = |on: fn(&Cell) -> bool| set(cells.iter().filter(|cell| on(cell)));
        Self {
            all: set(|_| true),
            exit_hexes: [
                set(|cell| cell.0 == 3),
                set(|cell| cell.1 == 3),
                set(|cell| cell.0 + cell.1 == -3),
            ],
            exits: setup.exits,
            turns_max: setup.turns_per_seat.saturating_mul(3),
            keys: Rng::new(3).keys(),
        }
    }

    fn board(&self, game: &Chexers) -> Pieces<'_> {
        let position = game.position();
        let mut board = Pieces {
            hexagon: self,
            own: [0, 1, 2].map(|seat: usize| set(position.pieces[seat].iter())),
            exits: position.exits,
            turn: position.turn,
            retired: [false; 3],
        };
        for &seat in &position.retired {
            board.retired[usize::from(seat)] = true;
        }
        board
    }

    fn search_move(&self, action: &Action) -> Move {
        let bit = |[q, r]: [i64; 2]| u8::try_from(8 * (q + 3) + r + 3).expect("a listed hex");
        match *action {
            Action::Exit { from } => Move { from: bit(from), to: OFF },
            Action::Move { from, to } | Action::Jump { from, to } => {
                Move { from: bit(from), to: bit(to) }
            }
            Action::Pass {} => Move::default(),
        }
    }
}

fn set<'a>(cells: impl Iterator<Item = &'a Cell>) -> Set {
    cells.fold(0, |set, cell| set | 1 << (8 * (cell.0 + 3) + cell.1 + 3))
}

/// The pieces, and whose turn it is.
#[derive(Clone)]
pub(crate) struct Pieces<'a> {
    hexagon: &'a Hexagon,
    own: [Set; 3],
    exits: [u32; 3],
    turn: u32,
    retired: [bool; 3],
}

fn bits(mut set: Set) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| u8::try_from(set.trailing_zeros()).expect("below 64"))?;
        set &= set - 1;
        Some(bit)
    })
}

/// The actions that a piece on this hex needs to leave the board, the exit included, if it steps.
fn steps(bit: u8, seat: usize) -> i32 {
    let (q, r) = (i32::from(bit / 8) - 3, i32::from(bit % 8) - 3);
    match seat {
        0 => 4 - q,
        1 => 4 - r,
        _ => 4 + q + r,
    }
}

impl Pieces<'_> {
    /// What a seat still lacks, larger is worse.
    fn lacking(&self, seat: usize) -> i32 {
        let needed = (self.hexagon.exits - self.exits[seat]) as usize;
        let mut foremost = [0i32; 12];
        let mut count = 0;
        for bit in bits(self.own[seat]) {
            foremost[count] = steps(bit, seat);
            count += 1;
            if count == foremost.len() {
                break;
            }
        }
        foremost[..count].sort_unstable();
        let missing = i32::try_from(needed.saturating_sub(count)).unwrap_or(1000).min(1000);
        let spare = count.saturating_sub(needed);
        let gained: i32 = (0..spare).map(|piece| SPARE[piece.min(2)]).sum();
        let way: i32 = foremost[..count].iter().take(needed).sum();
        let exits = i32::try_from(needed).unwrap_or(1000).min(1000);
        STEP * way + MISSING * missing + EXIT * exits - gained
    }

    fn jumped(from: u8, to: u8) -> Option<u8> {
        let way = to.cast_signed() - from.cast_signed();
        (!WAYS.contains(&way)).then(|| from.midpoint(to))
    }
}

impl Board for Pieces<'_> {
    const BREADTH: usize = 40;
    const REPEATING: i32 = 40;

    fn mover(&self) -> usize {
        self.turn as usize % 3
    }

    fn ending(&self) -> Option<Ending> {
        let enough = |&seat: &usize| self.exits[seat] >= self.hexagon.exits;
        if let Some(seat) = (0..3).find(enough) {
            return Some(Ending::Won(seat));
        }
        (self.turn >= self.hexagon.turns_max).then_some(Ending::Drawn)
    }

    fn list(&self, actions: &mut Vec<(i32, Move)>) {
        let seat = self.mover();
        let own = self.own[seat];
        let occupied = self.own[0] | self.own[1] | self.own[2];
        let empty = self.hexagon.all & !occupied;
        for from in bits(own & self.hexagon.exit_hexes[seat]) {
            actions.push((STEP * 5, Move { from, to: OFF }));
        }
        for from in bits(own) {
            let before = steps(from, seat);
            for way in WAYS {
                let next = from.cast_signed() + way;
                let on = |bit: i8, set: Set| (0..64).contains(&bit) && set >> bit & 1 == 1;
                if on(next, empty) {
                    let to = next.cast_unsigned();
                    actions.push((STEP * (before - steps(to, seat)), Move { from, to }));
                    continue;
                }
                // Jumps go at most 16 bits further, so this never overflows.
                let landing = next + way;
                if on(next, occupied) && on(landing, empty) {
                    let to = landing.cast_unsigned();
                    let taken = i32::from(!on(next, own));
                    let promise = STEP * (before - steps(to, seat)) + MISSING * taken;
                    actions.push((promise, Move { from, to }));
                }
            }
        }
        if actions.is_empty() {
            actions.push((0, Move::default()));
        }
    }

    fn play(&mut self, Move { from, to }: Move) {
        let seat = self.mover();
        if to == OFF {
            self.own[seat] ^= 1 << from;
            self.exits[seat] += 1;
        } else if from != to {
            self.own[seat] ^= 1 << from | 1 << to;
            if let Some(over) = Self::jumped(from, to) {
                self.own.iter_mut().for_each(|set| *set &= !(1 << over));
                self.own[seat] |= 1 << over;
            }
        }
        self.turn += 1;
        while self.turn < self.hexagon.turns_max && self.retired[self.mover()] {
            self.turn += 1;
        }
    }

    fn standing(&self, seat: usize) -> i32 {
        let others = (0..3).filter(|&other| other != seat && !self.retired[other]);
        let best = others.map(|other| self.lacking(other)).min().unwrap_or(0);
        (best * OTHERS) / 8 - self.lacking(seat)
    }

    fn key(&self) -> u64 {
        let mut key = self.hexagon.keys[3][self.mover()];
        for (seat, keys) in self.hexagon.keys[..3].iter().enumerate() {
            key ^= bits(self.own[seat]).fold(0, |key, bit| key ^ keys[usize::from(bit)]);
            // Exits change what a position is worth; a turn brings one at most.
            key = key.wrapping_add(u64::from(self.exits[seat]) << (20 * seat));
        }
        key
    }
}
