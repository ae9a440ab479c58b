//! Hex by Monte Carlo tree search with RAVE: playouts that save their bridges, and in the tree
//! priors from the shortest routes of both sides.
//!
//! Why this: estimates of positions are weak in Hex, but a cell that matters does so whenever it is
//! played, so the results of a cell in playouts are shared among all positions above (RAVE). The
//! priors keep a search of few playouts, as on large boards, on the routes that count.

use crate::hex_board::{Board, EMPTY, Owner, other, owner};
use crate::player::{Choice, Clock, Player, figures};
use crate::rng::Rng;
use referee_games::Game;
use referee_games::hex::{Action, Hex};

/// The visits after which a position gets its children.
const OPENED_AT: f32 = 3.0;
/// How many playouts a prior is worth.
const PRIOR: f32 = 12.0;
/// By the distance of a cell from the shortest routes of both, in stones: the expected share of wins.
const EXPECTED: [f32; 6] = [0.72, 0.60, 0.50, 0.42, 0.36, 0.30];
/// The share of wins expected of saving a bridge.
const SAVING: f32 = 0.92;
/// About this many own playouts outweigh the RAVE value of a cell.
const RAVE: f32 = 600.0;
/// How much is tried that looks worse.
const CURIOSITY: f32 = 0.06;
/// The tree grows no further than this, which takes 60 MB.
const NODES_MAX: usize = 2_000_000;
/// Playouts after which a share of wins can be believed, and the share with which it is over.
const DECIDED: (u64, f32) = (1500, 0.97);

/// A player of Hex.
pub(crate) struct Tree {
    seat: usize,
    rng: Rng,
}

/// A placement in the tree. Wins are those of the side that placed.
struct Node {
    cell: u16,
    count: u16,
    first: u32,
    visits: f32,
    wins: f32,
    shared_visits: f32,
    shared_wins: f32,
}

impl Player for Tree {
    type Game = Hex;

    fn start(_game: &Hex, seat: usize, seed: u64) -> Self {
        Self { seat, rng: Rng::new(seed) }
    }

    fn choose(
        &mut self,
        game: &Hex,
        actions: &[Action],
        clock: &Clock<'_>,
    ) -> Option<Choice<Action>> {
        let position = game.position();
        let own = owner(position.colours[self.seat]);
        let size = usize::try_from(position.size).expect("at most 26");
        let mut board = Board::new(size);
        for (stones, side) in position.stones.iter().zip([1, 2]) {
            for &at in stones {
                let cell = board.index(at);
                board.cells[usize::from(cell)] = side;
            }
        }
        let setup = game.setup();
        let may_be_swapped = position.turn == 0 && setup.swap != referee_games::hex::Swap::None;
        let place = |at| Choice { action: Action::Place { at }, info: figures(1, 0.5, 0) };
        if may_be_swapped && let Some(at) = fair(&board, own) {
            return Some(place(at));
        }
        if let Some(cell) = forced_cell(&mut board, own) {
            return Some(place(board.at(cell)));
        }
        let mut search =
            SearchTree { own, nodes: Vec::new(), path: Vec::new(), rng: &mut self.rng };
        let (cell, share, playouts) = search.grow(&board, clock);
        let swap = actions.last().filter(|action| matches!(action, Action::Swap {}));
        let action = match swap {
            Some(swap) if share < 0.5 => swap.clone(),
            _ => Action::Place { at: board.at(cell) },
        };
        Some(Choice { action, info: figures(1, f64::from(share), playouts) })
    }
}

/// A first stone that leaves both sides about the same chances, so that it doesn't matter who gets
/// it: near the acute corner, on the second row from the own border.
fn fair(board: &Board, own: Owner) -> Option<[i64; 2]> {
    let at = if own == 1 { [2, 1] } else { [1, 2] };
    let cell = board.index(at);
    (board.cells[usize::from(cell)] == EMPTY).then_some(at)
}

/// The cell that wins at once, or else the one with which the other side would.
fn forced_cell(board: &mut Board, own: Owner) -> Option<u16> {
    [own, other(own)].into_iter().find_map(|side| {
        board.empty().into_iter().find(|&cell| {
            board.cells[usize::from(cell)] = side;
            let joined = board.has_joined(side);
            board.cells[usize::from(cell)] = EMPTY;
            joined
        })
    })
}

/// One turn's tree.
struct SearchTree<'a> {
    own: Owner,
    nodes: Vec<Node>,
    /// The nodes from the root to where the latest playout began.
    path: Vec<usize>,
    rng: &'a mut Rng,
}

impl SearchTree<'_> {
    /// Plays out until the budget is spent: the cell tried most often, its share of wins, and how
    /// many playouts there were.
    fn grow(&mut self, board: &Board, clock: &Clock<'_>) -> (u16, f32, u64) {
        let mut budget = clock.policy.turn(clock.begun, clock.left_ms);
        self.nodes.push(Node::new(0, 0.0));
        self.open(0, board, self.own, None);
        let mut playing = board.clone();
        while budget.spend() && !budget.is_spent() {
            playing.cells.copy_from_slice(&board.cells);
            self.play_out(&mut playing);
            if budget.spent == DECIDED.0 && self.best().1 >= DECIDED.1 {
                break;
            }
        }
        let (cell, share) = self.best();
        (cell, share, budget.spent)
    }

    fn best(&self) -> (u16, f32) {
        let children = &self.nodes[self.children(0)];
        // Without playouts what is expected decides.
        let expected = |node: &Node| node.shared_wins / node.shared_visits;
        let best = children
            .iter()
            .max_by(|a, b| a.visits.total_cmp(&b.visits).then(expected(a).total_cmp(&expected(b))));
        let best = best.expect("a board that isn't full has an empty cell");
        let share = if best.visits > 0.0 { best.wins / best.visits } else { 0.5 };
        (best.cell, share)
    }

    fn children(&self, node: usize) -> std::ops::Range<usize> {
        let first = self.nodes[node].first as usize;
        first..first + usize::from(self.nodes[node].count)
    }

    /// Goes down the tree, plays out, and updates every position on the path.
    fn play_out(&mut self, board: &mut Board) {
        self.path.clear();
        self.path.push(0);
        let (mut node, mut mover, mut last) = (0, self.own, None);
        loop {
            let at = &self.nodes[node];
            if at.count == 0 && at.visits >= OPENED_AT && self.nodes.len() < NODES_MAX {
                self.open(node, board, mover, last);
            }
            if self.nodes[node].count == 0 {
                break;
            }
            node = self.select(node);
            let cell = self.nodes[node].cell;
            board.cells[usize::from(cell)] = mover;
            (mover, last) = (other(mover), Some(cell));
            self.path.push(node);
        }
        board.fill(mover, last, self.rng);
        self.learn(board);
    }

    /// The child to look at next.
    fn select(&self, node: usize) -> usize {
        let log = (self.nodes[node].visits + 1.0).ln();
        let promise = |child: &Node| {
            let own = child.wins / child.visits.max(1.0);
            let shared = child.shared_wins / child.shared_visits;
            let trust = (RAVE / (3.0 * child.visits + RAVE)).sqrt();
            let curiosity = CURIOSITY * (log / (child.visits + 1.0)).sqrt();
            trust * shared + (1.0 - trust) * own + curiosity
        };
        let range = self.children(node);
        let (mut best, mut most) = (range.start, f32::MIN);
        for (index, child) in range.clone().zip(&self.nodes[range]) {
            let promise = promise(child);
            if promise > most {
                (best, most) = (index, promise);
            }
        }
        best
    }

    /// Updates the path with the result of the full board: the nodes themselves, and the children of
    /// each whose cell the same side took sooner or later.
    fn learn(&mut self, board: &mut Board) {
        let own_won = board.has_joined(self.own);
        let mut mover = self.own;
        for place in 0..self.path.len() {
            let node = self.path[place];
            // The placement of this node was the other side's.
            let won = |side: Owner| if (side == self.own) == own_won { 1.0 } else { 0.0 };
            let (placed, moving) = (won(other(mover)), won(mover));
            self.nodes[node].visits += 1.0;
            self.nodes[node].wins += placed;
            let children = self.children(node);
            for child in &mut self.nodes[children] {
                if board.cells[usize::from(child.cell)] == mover {
                    child.shared_visits += 1.0;
                    child.shared_wins += moving;
                }
            }
            mover = other(mover);
        }
    }

    /// Adds a position's children, with their priors.
    fn open(&mut self, node: usize, board: &Board, mover: Owner, last: Option<u16>) {
        let distances =
            [(mover, false), (mover, true), (other(mover), false), (other(mover), true)]
                .map(|(side, from_end)| board.distances(side, from_end));
        let empty = board.empty();
        let total = |cell: u16| -> u16 {
            distances.iter().map(|distances| distances[usize::from(cell)].min(60)).sum()
        };
        let fewest = empty.iter().map(|&cell| total(cell)).min().unwrap_or(0);
        let saving = last.and_then(|last| board.saving(last, mover, 0));
        self.nodes[node].first = u32::try_from(self.nodes.len()).expect("a bounded tree");
        self.nodes[node].count = u16::try_from(empty.len()).expect("at most 676 cells");
        self.nodes.extend(empty.iter().map(|&cell| {
            let off = usize::from(total(cell) - fewest).min(EXPECTED.len() - 1);
            let expected = if saving == Some(cell) { SAVING } else { EXPECTED[off] };
            Node::new(cell, expected)
        }));
    }
}

impl Node {
    /// A placement of which nothing is known but what is expected.
    fn new(cell: u16, expected: f32) -> Self {
        Self {
            cell,
            count: 0,
            first: 0,
            visits: 0.0,
            wins: 0.0,
            shared_visits: PRIOR,
            shared_wins: PRIOR * expected,
        }
    }
}
