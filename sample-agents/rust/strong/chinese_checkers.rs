//! Chinese Checkers for the alpha-beta search: marbles as bits, progress kept up to date action by
//! action.
//!
//! The estimate is a table of what a marble is worth on each position: the nearer to the tip of its
//! target the better, and the last ones count most, so that no marble is left behind. The target's
//! positions are just the ones nearest to its tip, so being home is the maximum of the table.
//!
//! Against one other this is a search for two. Against several what each of them will do matters
//! less than to see one's own ladders, and no search gets around such a table often: there it looks
//! several of its own actions ahead as if the others waited.

use crate::Cells;
use crate::alpha_beta::{Board, Ending, Move};
use crate::alpha_beta_player::SearchGame;
use crate::rng::Rng;
use referee_games::Game;
use referee_games::board::{Cell, Shape};
use referee_games::chinese_checkers::{Action, ChineseCheckers, Jumps, Neutral, Win};

/// What a step towards the tip is worth.
const STEP: i32 = 20;
/// What being far from the tip costs, by the square of the distance.
const STRAGGLING: i32 = 2;
/// What each half-cell aside of the line from tip to tip costs.
const ASIDE: i32 = 1;
/// What each own marble beside a foreign one in the target costs.
const SHUTTING: i32 = 6;
/// What a foreign one costs that own ones shut in.
const LOCKED: i32 = 200;
/// What being to move is worth: about what an action gains.
const TEMPO: i32 = 30;

/// Alone, progress counts once more in each position on the way, by this part: what the others do
/// makes later gains less sure.
const EARLY: i32 = 3;

/// The positions of the largest star fit.
type Set = Cells<3>;

/// The star as tables, and the rules of this game.
pub(crate) struct Star {
    neighbours: Vec<Set>,
    /// By position and direction the positions in that direction up to the rim.
    rays: Vec<[Vec<u8>; 6]>,
    long: bool,
    filled: bool,
    seats: usize,
    max_turns: u64,
    /// By seat.
    targets: [Set; 6],
    /// By seat: the target's positions beside which others lie.
    mouths: [Set; 6],
    /// By seat: where no jump may land.
    no_landing: [Set; 6],
    /// By seat: where no turn may end.
    no_end: [Set; 6],
    /// By seat: what a marble on a position is worth.
    worths: Vec<Vec<i32>>,
    /// By seat and position; the last row is for the seat to move.
    keys: Box<[[u64; 192]; 7]>,
}

/// Returns how far a cell is towards this point.
fn outwards(Cell(q, r): Cell, point: usize) -> i32 {
    i32::from([-r, q, q + r, r, -q, -q - r][point])
}

impl SearchGame for Star {
    type Game = ChineseCheckers;
    type Board<'a> = Marbles<'a>;

    fn new(game: &ChineseCheckers) -> Self {
        let setup = game.setup();
        let size = i32::try_from(setup.size).expect("a size of at most 5");
        let shape = Shape::Star(u8::try_from(setup.size).expect("a size of at most 5"));
        let cells = shape.cells();
        let index = |cell: Cell| cells.iter().position(|&other| other == cell);
        let ray = |from: Cell, step| -> Vec<u8> {
            let line = std::iter::successors(Some(from), |cell: &Cell| Some(cell.step(step)));
            let line = line.skip(1).map_while(index);
            line.map(|cell| u8::try_from(cell).expect("at most 181 positions")).collect()
        };
        let rays: Vec<[Vec<u8>; 6]> = cells
            .iter()
            .map(|&cell| std::array::from_fn(|direction| ray(cell, shape.steps()[direction])))
            .collect();
        let neighbours = rays
            .iter()
            .map(|rays| rays.iter().filter_map(|ray| ray.first()).map(|&to| usize::from(to)))
            .map(Iterator::collect)
            .collect();
        let point = |point: usize| -> Set {
            (0..cells.len()).filter(|&cell| outwards(cells[cell], point) > size).collect()
        };
        let seats = game.seats();
        let mut star = Self {
            neighbours,
            rays,
            long: setup.jumps == Jumps::Long,
            filled: setup.win == Win::Filled,
            seats,
            max_turns: setup.max_turns,
            targets: [Set::EMPTY; 6],
            mouths: [Set::EMPTY; 6],
            no_landing: [Set::EMPTY; 6],
            no_end: [Set::EMPTY; 6],
            worths: Vec::new(),
            keys: Box::new(Rng::new(1).keys()),
        };
        for (seat, &start) in setup.starts().iter().enumerate() {
            let target = (start + 3) % 6;
            let inside = point(target);
            let open = |&cell: &usize| !star.neighbours[cell].is_subset_of(inside);
            star.mouths[seat] = inside.iter().filter(open).collect();
            star.targets[seat] = inside;
            let others = (0..6).filter(|&other| other != start && other != target);
            let neutral = others.map(point).fold(Set::EMPTY, Set::or);
            if setup.neutral != Neutral::Free {
                star.no_end[seat] = neutral;
            }
            if setup.neutral == Neutral::Closed {
                star.no_landing[seat] = neutral;
            }
            star.worths.push(cells.iter().map(|&cell| worth(cell, target, size)).collect());
        }
        star
    }

    fn board(&self, game: &ChineseCheckers) -> Marbles<'_> {
        let position = game.position();
        let mut board = Marbles {
            star: self,
            own: [Set::EMPTY; 6],
            occupied: Set::EMPTY,
            progress: [0; 6],
            retired: [false; 6],
            to_move: u8::try_from(position.to_move.index()).expect("at most six seats"),
            mark: 0,
            turn: position.turn,
            passes: position.passes,
            last: None,
            alone: false,
            early: 0,
        };
        for seat in position.retired.iter().flatten() {
            board.retired[seat.index()] = true;
        }
        board.alone = board.left().count() > 2;
        for (seat, numbers) in position.marbles.iter().enumerate() {
            for &number in numbers {
                board.toggle(seat, usize::try_from(number).expect("a number on the board") - 1);
            }
        }
        board
    }

    fn search_move(&self, action: &Action) -> Move {
        let cell = |&number: &i64| u8::try_from(number - 1).expect("a listed position");
        match action {
            Action::Move { path } => match (path.first(), path.last()) {
                (Some(from), Some(to)) => Move { from: cell(from), to: cell(to) },
                _ => Move::default(),
            },
            Action::Pass {} => Move::default(),
        }
    }
}

/// Returns the value of a marble on a cell, with its target at this point.
fn worth(cell: Cell, target: usize, size: i32) -> i32 {
    let tip = 2 * size;
    // The two other directions beside the target's show how far to the side the cell is: the distance
    // to the tip is the greatest of three coordinate differences.
    let rows = tip - outwards(cell, target);
    let beside = [outwards(cell, (target + 1) % 6), outwards(cell, (target + 5) % 6)];
    // At the tip both are half of the rows that it is away from the middle.
    let aside = (beside[0] - beside[1]).abs();
    let distance = rows.max(i32::midpoint(rows, aside));
    -(STEP * distance + STRAGGLING * distance * distance + ASIDE * aside)
}

/// The marbles, and whose turn it is.
#[derive(Clone)]
pub(crate) struct Marbles<'a> {
    star: &'a Star,
    own: [Set; 6],
    occupied: Set,
    progress: [i32; 6],
    retired: [bool; 6],
    to_move: u8,
    /// The key without the seat to move.
    mark: u64,
    turn: u64,
    passes: u64,
    /// The seat that moved last.
    last: Option<u8>,
    /// Only the seat to move ever moves.
    alone: bool,
    /// Alone: what progress was worth after each action, a part of it.
    early: i32,
}

impl Marbles<'_> {
    fn toggle(&mut self, seat: usize, cell: usize) {
        self.own[seat].toggle(cell);
        self.occupied.toggle(cell);
        let worth = self.star.worths[seat][cell];
        self.progress[seat] += if self.own[seat].contains(cell) { worth } else { -worth };
        self.mark ^= self.star.keys[seat][cell];
    }

    /// Where the turn of a marble can end.
    fn ends(&self, seat: usize, start: usize) -> Set {
        let star = self.star;
        let mut others = self.occupied;
        others.remove(start);
        let steps = star.neighbours[start].without(others).without(star.no_end[seat]);
        let closed = star.no_landing[seat];
        let mut reached = Set::EMPTY;
        reached.insert(start);
        let mut queue = [0u8; 192];
        queue[0] = u8::try_from(start).expect("at most 181 positions");
        let (mut head, mut tail) = (0, 1);
        while head < tail {
            let from = usize::from(queue[head]);
            head += 1;
            for ray in &star.rays[from] {
                let sight = if star.long { ray.len() / 2 } else { (ray.len() / 2).min(1) };
                let over = ray[..sight].iter().position(|&cell| others.contains(cell.into()));
                let Some(over) = over else { continue };
                let behind = &ray[over + 1..=2 * over + 1];
                let landing = usize::from(behind[over]);
                if behind.iter().any(|&cell| others.contains(cell.into()))
                    || reached.contains(landing)
                    || closed.contains(landing)
                {
                    continue;
                }
                reached.insert(landing);
                queue[tail] = behind[over];
                tail += 1;
            }
        }
        reached.remove(start);
        steps.or(reached.without(star.no_end[seat]))
    }

    fn is_home(&self, seat: usize) -> bool {
        let (own, target) = (&self.own[seat], &self.star.targets[seat]);
        if self.retired[seat] || own.and(*target).is_empty() {
            return false;
        }
        if self.star.filled {
            return target.is_subset_of(self.occupied);
        }
        let out = (0..self.star.seats).filter(|&other| self.retired[other]);
        let held = out.fold(*own, |held, other| held.or(self.own[other]));
        own.is_subset_of(*target) || target.is_subset_of(held)
    }

    /// What it costs a seat that foreign marbles in its target can't get out: only when they have
    /// left can it be filled.
    fn shut_in(&self, seat: usize) -> i32 {
        let (own, target) = (&self.own[seat], &self.star.targets[seat]);
        let mine = own.and(*target);
        if self.star.filled || mine.is_empty() {
            return 0;
        }
        let out = (0..self.star.seats).filter(|&other| other == seat || self.retired[other]);
        let held = out.fold(Set::EMPTY, |held, other| held.or(self.own[other]));
        let foreign = target.and(self.occupied).without(held);
        if foreign.is_empty() {
            return 0;
        }
        let count = |set: Set| i32::try_from(set.len()).expect("at most 181 positions");
        let beside: i32 =
            foreign.iter().map(|cell| count(self.star.neighbours[cell].and(mine))).sum();
        // From the mouth of the target inwards, until an own marble is in the way.
        let way = target.without(*own);
        let mut reached = Set::EMPTY;
        let mut front = way.and(self.star.mouths[seat]);
        while !front.is_empty() {
            reached = reached.or(front);
            let next = front.iter().map(|cell| self.star.neighbours[cell]);
            front = next.fold(Set::EMPTY, Set::or).and(way).without(reached);
        }
        SHUTTING * beside + LOCKED * count(foreign.without(reached))
    }

    fn left(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.star.seats).filter(|&seat| !self.retired[seat])
    }
}

impl Board for Marbles<'_> {
    const BREADTH: usize = 20;
    const REPEATING: i32 = 60;

    fn mover(&self) -> usize {
        self.to_move.into()
    }

    fn ending(&self) -> Option<Ending> {
        // The seat that moved last is judged first. Only with filled targets, or when a retired
        // seat's marbles count, can an action bring another seat home.
        let first = self.last.map_or(0, usize::from);
        let seats = self.star.seats;
        let mut order = (0..seats).map(|ahead| (first + ahead) % seats);
        if let Some(seat) = order.find(|&seat| self.is_home(seat)) {
            return Some(Ending::Won(seat));
        }
        let stalled = self.passes >= self.left().count() as u64;
        (stalled || self.turn >= self.star.max_turns).then_some(Ending::Drawn)
    }

    fn list(&self, actions: &mut Vec<(i32, Move)>) {
        let seat = self.mover();
        let worths = &self.star.worths[seat];
        for from in self.own[seat].iter() {
            for to in self.ends(seat, from).iter() {
                let promise = worths[to] - worths[from];
                let cell = |cell: usize| u8::try_from(cell).expect("at most 181 positions");
                actions.push((promise, Move { from: cell(from), to: cell(to) }));
            }
        }
        if actions.is_empty() {
            actions.push((0, Move::default()));
        }
    }

    fn play(&mut self, Move { from, to }: Move) {
        let seat = self.mover();
        if from == to {
            self.passes += 1;
        } else {
            self.toggle(seat, from.into());
            self.toggle(seat, to.into());
            self.passes = 0;
        }
        self.last = Some(self.to_move);
        if self.alone {
            self.turn += self.left().count() as u64;
            self.early += self.progress[seat] / EARLY;
            return;
        }
        loop {
            self.turn += 1;
            self.to_move = (self.to_move + 1) % u8::try_from(self.star.seats).expect("at most six");
            if !self.retired[self.mover()] || self.turn >= self.star.max_turns {
                break;
            }
        }
    }

    fn standing(&self, seat: usize) -> i32 {
        let others = self.left().filter(|&other| other != seat);
        let best = others.map(|other| self.progress[other] - self.shut_in(other)).max();
        let tempo = if self.mover() == seat { TEMPO } else { 0 };
        self.progress[seat] - self.shut_in(seat) - best.unwrap_or(0) + tempo + self.early
    }

    fn key(&self) -> u64 {
        // Alone the seat to move never changes, so it has no part in what repeats.
        if self.alone { self.mark } else { self.mark ^ self.star.keys[6][self.mover()] }
    }
}
