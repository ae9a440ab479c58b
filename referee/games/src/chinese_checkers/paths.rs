//! The moves of one marble: steps, jumps and sequences of jumps.
//!
//! Source: ACM Chinese Checkers competition rules (1997), the paragraphs on moves and jumps.

use super::CellSet;
use super::star::Star;
use crate::Illegal;

/// The marble to move and the other marbles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover<'a> {
    pub(super) star: &'a Star,
    /// The position of the marble.
    pub(super) start: u8,
    /// All other marbles; the moving marble's own start counts as empty.
    pub(super) others: CellSet,
    /// Whether jumps over more distant marbles are allowed.
    pub(super) long: bool,
    /// Where no jump may land.
    pub(super) no_landing: CellSet,
    /// Where no turn may end.
    pub(super) no_end: CellSet,
}

/// The landings of a marble's jumps, each with its predecessor on the recorded path.
struct Reached {
    landings: CellSet,
    parents: [u8; 192],
}

impl Mover<'_> {
    /// Returns every position at which the marble's turn can end.
    pub(super) fn ends(&self) -> CellSet {
        self.steps().or(self.landings().without(self.no_end))
    }

    /// Returns where a sequence of jumps can lead.
    fn landings(&self) -> CellSet {
        let mut landings = CellSet::EMPTY;
        let mut last = CellSet::from_iter([self.start]);
        while !last.is_empty() {
            let jumps = |from| (0..6).filter_map(move |way| self.jump(from, way));
            last = last.iter().flat_map(jumps).collect::<CellSet>().without(landings);
            last.remove(self.start);
            landings = landings.or(last);
        }
        landings
    }

    /// Calls `found` with the recorded path to every position at which the marble's turn can end,
    /// in the order of their numbers.
    pub(super) fn each_path(&self, mut found: impl FnMut(&[u8])) {
        let steps = self.steps();
        let reached = self.search(None);
        for end in steps.or(reached.landings.without(self.no_end)).iter() {
            if steps.contains(end) {
                found(&[self.start, end]);
            } else {
                self.trace(&reached, end, &mut found);
            }
        }
    }

    /// Checks a path of at least two positions and returns its complete form.
    pub(super) fn complete(&self, path: Vec<u8>) -> Result<Vec<u8>, Illegal> {
        let end = path[path.len() - 1];
        if end == self.start {
            return Err(Illegal::new("a move must end on another position than its start"));
        }
        if path.len() > 2 {
            self.check_jumps(&path)?;
        }
        if self.no_end.contains(end) {
            let end = number(end);
            let rule = format!("a turn may not end in a neutral zone: {end} is in one");
            return Err(Illegal::new(rule));
        }
        if path.len() > 2 {
            return Ok(path);
        }
        self.free(end)?;
        if self.star.distance(self.start, end) == 1 || self.check_jump(self.start, end).is_ok() {
            return Ok(path);
        }
        let reached = self.search(Some(end));
        let mut whole = Vec::new();
        if reached.landings.contains(end) {
            self.trace(&reached, end, &mut |path| whole = path.to_vec());
            return Ok(whole);
        }
        let (start, end) = (number(self.start), number(end));
        Err(Illegal::new(format!("no step and no sequence of jumps leads from {start} to {end}")))
    }

    /// Returns where a step can end.
    fn steps(&self) -> CellSet {
        let beside = self.star.neighbours[usize::from(self.start)];
        beside.without(self.others).without(self.no_end)
    }

    /// Returns the landing of the jump in a direction, if there is one: over the first marble, to as
    /// far behind it as it is away.
    fn jump(&self, from: u8, direction: usize) -> Option<u8> {
        let ray = self.star.ray(from, direction);
        let sight = if self.long { ray.len() / 2 } else { 1.min(ray.len() / 2) };
        let over = ray[..sight].iter().position(|&cell| self.others.contains(cell))?;
        let behind = &ray[over + 1..=2 * over + 1];
        let landing = behind[over];
        let free = !behind.iter().any(|&cell| self.others.contains(cell));
        (free && !self.no_landing.contains(landing)).then_some(landing)
    }

    /// Searches breadth first, from each position in ascending order, so the first path to a position
    /// is the lexicographically smallest of the shortest ones. Stops early when `goal` is reached.
    fn search(&self, goal: Option<u8>) -> Reached {
        let mut reached = Reached { landings: CellSet::EMPTY, parents: [0; 192] };
        let mut queue = [0u8; 192];
        queue[0] = self.start;
        let (mut head, mut tail) = (0, 1);
        while head < tail {
            let from = queue[head];
            head += 1;
            let first = tail;
            for direction in 0..6 {
                let Some(landing) = self.jump(from, direction) else { continue };
                if landing != self.start && !reached.landings.contains(landing) {
                    reached.landings.insert(landing);
                    reached.parents[usize::from(landing)] = from;
                    queue[tail] = landing;
                    tail += 1;
                }
            }
            queue[first..tail].sort_unstable();
            if goal.is_some_and(|goal| reached.landings.contains(goal)) {
                break;
            }
        }
        reached
    }

    /// Calls `found` with the path to a reached position.
    fn trace(&self, reached: &Reached, end: u8, found: &mut impl FnMut(&[u8])) {
        // A shortest path visits no position twice.
        let mut path = [0u8; 192];
        let mut first = path.len() - 1;
        path[first] = end;
        while path[first] != self.start {
            first -= 1;
            path[first] = reached.parents[usize::from(path[first + 1])];
        }
        found(&path[first..]);
    }

    /// Checks each jump of a path.
    fn check_jumps(&self, path: &[u8]) -> Result<(), Illegal> {
        for pair in path.windows(2) {
            if self.star.distance(pair[0], pair[1]) == 1 {
                let (from, to) = (number(pair[0]), number(pair[1]));
                return Err(Illegal::new(format!(
                    "a step is a whole turn: {from} to {to} can't be part of a longer path"
                )));
            }
            self.check_jump(pair[0], pair[1])?;
        }
        Ok(())
    }

    /// Checks that one jump leads from one position to another.
    fn check_jump(&self, from: u8, to: u8) -> Result<(), Illegal> {
        let illegal = |rule: String| Err(Illegal::new(rule));
        let (a, c) = (number(from), number(to));
        let Some(direction) = self.star.direction(from, to) else {
            return illegal(format!("a jump follows a line of the board: {a} to {c} doesn't"));
        };
        let distance = usize::from(self.star.distance(from, to));
        if distance % 2 == 1 {
            return illegal(format!("a jump goes over the position half-way: {a} to {c} has none"));
        }
        if distance > 2 && !self.long {
            return illegal(format!(
                "only jumps over a neighbouring position are allowed: {a} to {c} is longer"
            ));
        }
        let way = &self.star.ray(from, direction)[..distance];
        self.free(to)?;
        let middle = distance / 2 - 1;
        if !self.others.contains(way[middle]) {
            let b = number(way[middle]);
            return illegal(format!("a jump from {a} to {c} needs a marble half-way, on {b}"));
        }
        let mut rest = (0..).zip(way).filter(|&(index, _)| index != middle);
        if let Some((_, &cell)) = rest.find(|&(_, &cell)| self.others.contains(cell)) {
            let b = number(cell);
            return illegal(format!(
                "a jump from {a} to {c} needs empty positions before and behind the marble: {b} is \
                 occupied"
            ));
        }
        if self.no_landing.contains(to) {
            return illegal(format!("no jump may land in a neutral zone: {c} is in one"));
        }
        Ok(())
    }

    fn free(&self, cell: u8) -> Result<(), Illegal> {
        if self.others.contains(cell) {
            return Err(Illegal::new(format!("position {} is occupied", number(cell))));
        }
        Ok(())
    }
}

/// Returns a position's number on the board.
pub(super) fn number(cell: u8) -> i64 {
    i64::from(cell) + 1
}
