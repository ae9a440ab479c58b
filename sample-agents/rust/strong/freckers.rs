//! Freckers for the alpha-beta search: frogs and pads as words of 64 bits.
//!
//! The estimate is how far the frogs have come, where the last ones count most, and how far each
//! could come with one more move: so growing pads pays just where they are lacking.

use crate::alpha_beta::{Board, Ending, Move};
use crate::alpha_beta_player::SearchGame;
use crate::rng::Rng;
use referee_games::Game;
use referee_games::board::Cell;
use referee_games::freckers::{Action, Freckers, Landing};

/// What a row on the way is worth.
const ROW: i32 = 20;
/// What being far behind costs, by the square of the rows.
const STRAGGLING: i32 = 2;
/// What a frog across is worth beyond its way.
const ACROSS: i32 = 30;
/// What each row of every frog's furthest move is worth.
const NEXT_MOVE: i32 = 12;
/// What being to move is worth.
const TEMPO: i32 = 15;

/// A set of cells: cell `[r,c]` is bit 8 r + c.
type Set = u64;

const FIRST_COLUMN: Set = 0x0101_0101_0101_0101;
const LAST_COLUMN: Set = FIRST_COLUMN << 7;
/// The row that each seat must reach.
const GOALS: [Set; 2] = [0xFF << 56, 0xFF];

/// The rules of this game.
pub(crate) struct FreckersGame {
    every: bool,
    turn_limit: u32,
    /// Frogs of either seat, pads and, in the last row, the seat to move.
    keys: [[u64; 64]; 4],
}

impl SearchGame for FreckersGame {
    type Game = Freckers;
    type Board<'a> = FreckersBoard<'a>;

    fn new(game: &Freckers) -> Self {
        let setup = game.setup();
        let every = setup.landing == Landing::Every;
        Self { every, turn_limit: setup.turn_limit, keys: Rng::new(2).keys() }
    }

    fn board(&self, game: &Freckers) -> FreckersBoard<'_> {
        let position = game.position();
        let set = |cells: &[Cell]| cells.iter().fold(0, |set, &cell| set | 1 << bit(cell));
        FreckersBoard {
            water: self,
            frogs: [set(&position.frogs[0]), set(&position.frogs[1])],
            pads: set(&position.pads),
            mover: usize::from(position.to_move),
            turn: position.turn,
        }
    }

    fn search_move(&self, action: &Action) -> Move {
        let cell = |[row, column]: [i64; 2]| u8::try_from(8 * row + column).expect("a listed cell");
        match action {
            Action::Move { from, to: Some(to), .. } => Move { from: cell(*from), to: cell(*to) },
            // Listed moves have their ends.
            Action::Move { .. } | Action::Grow {} => Move::default(),
        }
    }
}

fn bit(cell: Cell) -> u8 {
    (8 * cell.0 + cell.1).cast_unsigned()
}

/// The frogs and pads, and whose turn it is.
#[derive(Clone)]
pub(crate) struct FreckersBoard<'a> {
    water: &'a FreckersGame,
    frogs: [Set; 2],
    /// The free ones.
    pads: Set,
    mover: usize,
    turn: u32,
}

/// The cells that a step in each of a seat's five directions leads to.
fn stepped(cells: Set, seat: usize) -> [Set; 5] {
    let right = (cells & !LAST_COLUMN) << 1;
    let left = (cells & !FIRST_COLUMN) >> 1;
    if seat == 0 {
        [right, left, cells << 8, left << 8, right << 8]
    } else {
        [right, left, cells >> 8, left >> 8, right >> 8]
    }
}

/// All the cells around those of a set.
fn around(set: Set) -> Set {
    let row = set | (set & !LAST_COLUMN) << 1 | (set & !FIRST_COLUMN) >> 1;
    row | row << 8 | row >> 8
}

/// The members of a set, each as a set.
fn singles(mut set: Set) -> impl Iterator<Item = Set> {
    std::iter::from_fn(move || {
        let single = set & set.wrapping_neg();
        set ^= single;
        (single != 0).then_some(single)
    })
}

fn index(single: Set) -> u8 {
    u8::try_from(single.trailing_zeros()).expect("a word has 64 bits")
}

impl FreckersBoard<'_> {
    /// The cells on which a move of this frog may end.
    fn ends(&self, frog: Set, seat: usize) -> Set {
        let frogs = self.frogs[0] | self.frogs[1];
        let mut open = if self.water.every { self.pads } else { !frogs };
        let mut ends = stepped(frog, seat).iter().fold(0, |all, step| all | step);
        let mut latest = frog;
        while latest != 0 {
            let over = stepped(latest, seat).map(|step| step & frogs);
            // Each direction continues from its own landings.
            let mut landings = 0;
            for (direction, set) in over.into_iter().enumerate() {
                if set != 0 {
                    landings |= stepped(set, seat)[direction];
                }
            }
            latest = landings & open;
            open &= !latest;
            ends |= latest;
        }
        ends & self.pads
    }

    fn across(&self, seat: usize) -> u32 {
        (self.frogs[seat] & GOALS[seat]).count_ones()
    }

    fn progress(&self, seat: usize) -> i32 {
        let mut sum = ACROSS * self.across(seat).cast_signed();
        for frog in singles(self.frogs[seat] & !GOALS[seat]) {
            let away = rows_away(frog, seat);
            sum -= ROW * away + STRAGGLING * away * away;
            let ends = self.ends(frog, seat);
            if ends != 0 {
                let furthest = if seat == 0 { 7 - row_of_last(ends) } else { row_of_first(ends) };
                sum += NEXT_MOVE * (away - furthest).max(0);
            }
        }
        sum
    }
}

fn rows_away(single: Set, seat: usize) -> i32 {
    let row = row_of_first(single);
    if seat == 0 { 7 - row } else { row }
}

fn row_of_first(set: Set) -> i32 {
    (set.trailing_zeros() / 8).cast_signed()
}

fn row_of_last(set: Set) -> i32 {
    7 - (set.leading_zeros() / 8).cast_signed()
}

impl Board for FreckersBoard<'_> {
    const BREADTH: usize = 32;
    const REPEATING: i32 = 40;

    fn mover(&self) -> usize {
        self.mover
    }

    fn ending(&self) -> Option<Ending> {
        let across = [self.across(0), self.across(1)];
        if let Some(seat) = (0..2).find(|&seat| across[seat] == 6) {
            return Some(Ending::Won(seat));
        }
        if self.turn < self.water.turn_limit {
            return None;
        }
        Some(match across[0].cmp(&across[1]) {
            std::cmp::Ordering::Less => Ending::Won(1),
            std::cmp::Ordering::Equal => Ending::Drawn,
            std::cmp::Ordering::Greater => Ending::Won(0),
        })
    }

    fn list(&self, actions: &mut Vec<(i32, Move)>) {
        let seat = self.mover;
        for frog in singles(self.frogs[seat]) {
            let away = rows_away(frog, seat);
            for end in singles(self.ends(frog, seat)) {
                let gained = away - rows_away(end, seat);
                let promise = ROW * gained + STRAGGLING * away * gained.signum();
                actions.push((promise, Move { from: index(frog), to: index(end) }));
            }
        }
        // Growing promises about a row.
        actions.push((ROW, Move::default()));
    }

    fn play(&mut self, Move { from, to }: Move) {
        if from == to {
            self.pads |= around(self.frogs[self.mover]) & !(self.frogs[0] | self.frogs[1]);
        } else {
            self.frogs[self.mover] ^= 1 << from | 1 << to;
            self.pads ^= 1 << to;
        }
        self.mover ^= 1;
        self.turn += 1;
    }

    fn standing(&self, seat: usize) -> i32 {
        let tempo = if self.mover == seat { TEMPO } else { -TEMPO };
        self.progress(seat) - self.progress(seat ^ 1) + tempo
    }

    fn key(&self) -> u64 {
        let mut key = self.water.keys[3][self.mover];
        for (set, keys) in [self.frogs[0], self.frogs[1], self.pads].iter().zip(&self.water.keys) {
            key ^= singles(*set).fold(0, |key, one| key ^ keys[usize::from(index(one))]);
        }
        key
    }
}
