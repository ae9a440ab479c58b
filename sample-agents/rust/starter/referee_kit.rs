//! What a bot for Referee needs: the protocol, boards, and a game in progress; its rules are in
//! `rules.rs`. Needs only rustc. Change what you like.
//!
//! `run(choose)` plays a match; `choose` gets a `Game`, which keeps its own board and needs nothing from
//! the referee.
#![allow(dead_code)] // Your bot need not use all of it.

use crate::json::Json;
use crate::rules::Rules;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::FromRawFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static OUT: Mutex<Option<File>> = Mutex::new(None);
static IS_ASKED: AtomicBool = AtomicBool::new(false);
static RANDOM: AtomicU64 = AtomicU64::new(0);

extern "C" {
    fn dup(file: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
}

/// Plays a match.
pub fn run(choose: impl FnMut(&Game) -> Option<Action>) {
    run_as("bot", &[], choose);
}

/// Plays a match under this name. `want`: which of "position" and "actions" to include in
/// `game.message`.
pub fn run_as(name: &str, want: &[&str], mut choose: impl FnMut(&Game) -> Option<Action>) {
    // Only messages go to stdout; `println!` and all other output goes to stderr.
    // SAFETY: the copy of stdout has no other owner.
    *OUT.lock().unwrap() = Some(unsafe {
        let out = dup(1);
        dup2(2, 1);
        File::from_raw_fd(out)
    });
    let want: Vec<String> = want.iter().map(|&field| quoted(field)).collect();
    let ready =
        format!(r#"{{"type":"ready","name":{},"want":[{}]}}"#, quoted(name), want.join(","));
    let mut game = None;
    for line in io::stdin().lock().lines() {
        let line = line.expect("cannot read stdin");
        let message = Json(&line);
        let kind = message.get("type").text();
        if kind == "hello" {
            RANDOM.store(message.get("seed").number() as u64, Ordering::Relaxed);
            game = Some(Game::of_hello(message).unwrap_or_else(|error| panic!("{error}")));
            say(&ready);
        }
        let Some(game) = &mut game else { continue };
        match kind.as_str() {
            "turn" => {
                let left = message.get("left_ms").number();
                let left_ms = left.is_finite().then_some(left as u64);
                let asked = Game { message: line.as_str().into(), left_ms, ..game.clone() };
                IS_ASKED.store(true, Ordering::Relaxed);
                let action = choose(&asked);
                IS_ASKED.store(false, Ordering::Relaxed);
                let turn = message.get("turn");
                say(&match action {
                    Some(it) => format!(r#"{{"type":"action","turn":{turn},"action":{it}}}"#),
                    None => format!(r#"{{"type":"resign","turn":{turn}}}"#),
                });
            }
            "played" => game.play(&Action::read(message.get("action"))),
            "retired" if game.seats.len() > 2 => game.retire(message.get("seat").number() as Seat),
            "over" => break,
            _ => {}
        }
    }
}

/// One message, one line, flushed: the referee doesn't see a line that is still in a buffer.
fn say(message: &str) {
    if let Some(out) = &mut *OUT.lock().unwrap() {
        writeln!(out, "{message}").and_then(|()| out.flush()).expect("cannot write to stdout");
    }
}

/// What you think. Fields that you don't set aren't sent.
#[derive(Clone, Debug, Default)]
pub struct Info {
    pub score: Option<f64>,
    pub depth: Option<u32>,
    pub text: Option<String>,
    /// Marks on cells.
    pub cells: Vec<(Cell, String)>,
}

/// Shows viewers what you think; call it in `choose`: `info(&Info { score: Some(0.5), ..Info::default() })`.
/// To print something for yourself, use `eprintln!`: the transcript keeps stderr with the turn.
pub fn info(info: &Info) {
    let mut message = r#"{"type":"info""#.to_owned();
    if let Some(score) = info.score {
        // JSON has no infinity.
        let shown = if score.is_finite() { score.to_string() } else { quoted(&score.to_string()) };
        message += &format!(r#","score":{shown}"#);
    }
    if let Some(depth) = info.depth {
        message += &format!(r#","depth":{depth}"#);
    }
    if let Some(text) = &info.text {
        message += &format!(r#","text":{}"#, quoted(text));
    }
    if !info.cells.is_empty() {
        let mark =
            |(at, label): &(Cell, String)| format!(r#"{{"at":{at},"label":{}}}"#, quoted(label));
        let marks: Vec<String> = info.cells.iter().map(mark).collect();
        message += &format!(r#","cells":[{}]"#, marks.join(","));
    }
    if IS_ASKED.load(Ordering::Relaxed) {
        say(&(message + "}"));
    }
}

/// Returns a random number. The numbers repeat when the match is played again with the same seed.
pub fn random() -> u64 {
    // The generator SplitMix64.
    let mut mixed = RANDOM.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns a random item of a list; `None` if it is empty.
pub fn choice<T>(list: &[T]) -> Option<&T> {
    list.get((random() >> 32) as usize % list.len().max(1))
}

/// Returns the text as JSON.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c < ' ' => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

pub type Seat = usize;

/// A cell: row and column, or in Chexers q and r. Chinese Checkers has `Cell::number(n)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub i32, pub i32);

impl Cell {
    const NO_SECOND: i32 = i32::MIN;

    pub const fn number(number: i32) -> Self {
        Self(number, Self::NO_SECOND)
    }

    pub fn read(json: Json) -> Self {
        let number = |json: Json| json.number() as i32;
        match json.items()[..] {
            [a, b] => Self(number(a), number(b)),
            _ => Self::number(number(json)),
        }
    }

    pub fn read_list(json: Json) -> Vec<Self> {
        json.items().into_iter().map(Self::read).collect()
    }
}

/// Writes it as in a message.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(number, Self::NO_SECOND) => write!(f, "{number}"),
            Self(a, b) => write!(f, "[{a},{b}]"),
        }
    }
}

/// Writes a list as in a message.
pub fn listed<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Place {
        at: Cell,
    },
    Swap,
    Pass,
    Grow,
    Exit {
        from: Cell,
    },
    Move {
        from: Cell,
        to: Cell,
    },
    Jump {
        from: Cell,
        to: Cell,
    },
    /// A move in Chinese Checkers and the Checker Puzzle.
    Path(Vec<Cell>),
    /// A move in Freckers; the directions are names such as "DOWN_LEFT".
    Hops {
        from: Cell,
        directions: Vec<String>,
        to: Cell,
    },
}

impl Action {
    /// Reads an action of a message.
    pub fn read(json: Json) -> Self {
        let cell = |key| Cell::read(json.get(key));
        let has = |key| !json.get(key).items().is_empty();
        match json.get("type").text().as_str() {
            "place" => Self::Place { at: cell("at") },
            "swap" => Self::Swap,
            "pass" => Self::Pass,
            "grow" => Self::Grow,
            "exit" => Self::Exit { from: cell("from") },
            "jump" => Self::Jump { from: cell("from"), to: cell("to") },
            "move" if has("path") => Self::Path(Cell::read_list(json.get("path"))),
            "move" if has("directions") => {
                let directions =
                    json.get("directions").items().iter().map(|it| it.text()).collect();
                Self::Hops { from: cell("from"), directions, to: cell("to") }
            }
            "move" => Self::Move { from: cell("from"), to: cell("to") },
            other => panic!("the kit doesn't know actions of the type {other:?}"),
        }
    }
}

/// Writes it as in a message.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { at } => write!(f, r#"{{"type":"place","at":{at}}}"#),
            Self::Swap => f.write_str(r#"{"type":"swap"}"#),
            Self::Pass => f.write_str(r#"{"type":"pass"}"#),
            Self::Grow => f.write_str(r#"{"type":"grow"}"#),
            Self::Exit { from } => write!(f, r#"{{"type":"exit","from":{from}}}"#),
            Self::Move { from, to } => write!(f, r#"{{"type":"move","from":{from},"to":{to}}}"#),
            Self::Jump { from, to } => write!(f, r#"{{"type":"jump","from":{from},"to":{to}}}"#),
            Self::Path(path) => write!(f, r#"{{"type":"move","path":{}}}"#, listed(path)),
            Self::Hops { from, directions, to } => {
                let names = listed(directions.iter().map(|name| quoted(name)));
                write!(f, r#"{{"type":"move","from":{from},"directions":{names},"to":{to}}}"#)
            }
        }
    }
}

/// How a game has ended. Solving a puzzle is a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    pub winner: Option<Seat>,
    pub reason: &'static str,
}

/// A player.
#[derive(Clone, Debug)]
pub struct Player {
    pub name: String,
    pub colour: String,
}

/// What all games have; a `Game` has these fields and methods too.
#[derive(Clone, Debug)]
pub struct Position {
    /// Everyone, by seat.
    pub seats: Rc<[Player]>,
    /// The number of the turn, and the seat whose turn it is.
    pub turn: u64,
    pub to_move: Seat,
    /// The seat of the piece on each cell that has one.
    pub pieces: BTreeMap<Cell, Seat>,
    /// The retired seats; their pieces stay on the board.
    pub retired: BTreeSet<Seat>,
    pub board: Rc<Board>,
    pub(crate) turns_max: u64,
}

impl Position {
    /// Returns the cells of a seat's pieces, in order.
    pub fn pieces_of(&self, seat: Seat) -> Vec<Cell> {
        let own = self.pieces.iter().filter(|(_, owner)| **owner == seat);
        own.map(|(&cell, _)| cell).collect()
    }

    /// Returns the seat whose piece is on a cell.
    pub fn owner(&self, cell: Cell) -> Option<Seat> {
        self.pieces.get(&cell).copied()
    }

    /// Returns the cells beside this one, in order.
    #[track_caller]
    pub fn neighbours(&self, cell: Cell) -> Vec<Cell> {
        self.lines(cell).iter().filter_map(|line| line.first().copied()).collect()
    }

    /// Returns the cells in each direction from this one, to the rim.
    #[track_caller]
    pub fn lines(&self, cell: Cell) -> &[Vec<Cell>] {
        match self.board.lines.get(&cell) {
            Some(lines) => lines,
            None => panic!("there is no cell {cell} on this board"),
        }
    }

    pub(crate) fn end_turn(&mut self) {
        loop {
            // Turns of retired seats are skipped, but counted.
            self.turn += 1;
            self.to_move = (self.to_move + 1) % self.seats.len();
            if !self.retired.contains(&self.to_move) || self.turn >= self.turns_max {
                return;
            }
        }
    }
}

/// A game in progress. `Game::start("hex", Json(r#"{"size": 5}"#))` starts one without a referee, to
/// try things out.
#[derive(Clone, Debug)]
pub struct Game {
    /// Your seat, from 0.
    pub seat: Seat,
    pub position: Position,
    /// The rules, with what only this game has.
    pub rules: Rules,
    /// As in the referee's `hello`, and its `turn` as it came: JSON.
    pub setup: Rc<str>,
    pub clock: Rc<str>,
    pub message: Rc<str>,
    /// Milliseconds left, for this turn and all to come.
    pub left_ms: Option<u64>,
}

impl Deref for Game {
    type Target = Position;

    fn deref(&self) -> &Position {
        &self.position
    }
}

impl DerefMut for Game {
    fn deref_mut(&mut self) -> &mut Position {
        &mut self.position
    }
}

impl Game {
    /// Starts a game; what the setup leaves out is as usual.
    pub fn start(name: &str, setup: Json) -> Result<Self, String> {
        let (position, rules) = Rules::start(name, setup)?;
        let [setup, clock, message] = [setup.0, "{}", "{}"].map(Rc::from);
        Ok(Self { seat: 0, position, rules, setup, clock, message, left_ms: None })
    }

    fn of_hello(hello: Json) -> Result<Self, String> {
        let mut game = Self::start(&hello.get("game").text(), hello.get("setup"))?;
        game.seat = hello.get("seat").number() as Seat;
        game.clock = hello.get("clock").0.into();
        let player = |seat: Json| Player {
            name: seat.get("name").text(),
            colour: seat.get("colour").text(),
        };
        game.seats = hello.get("seats").items().into_iter().map(player).collect();
        Ok(game)
    }

    /// Returns every legal action, in the order of the rules; none when the game is over.
    pub fn actions(&self) -> Vec<Action> {
        if self.is_over() {
            return Vec::new();
        }
        self.rules.actions(&self.position)
    }

    /// Returns a copy of the game with one of its actions played.
    pub fn after(&self, action: &Action) -> Self {
        let mut copy = self.clone();
        copy.play(action);
        copy
    }

    /// Plays one of the actions.
    pub fn play(&mut self, action: &Action) {
        self.rules.play(&mut self.position, action);
    }

    /// Retires a seat.
    pub fn retire(&mut self, seat: Seat) {
        self.rules.retire(&mut self.position, seat);
    }

    /// Returns how the game has ended.
    pub fn ending(&self) -> Option<Ending> {
        self.rules.ending(&self.position)
    }

    /// Returns whether the game has ended by its rules.
    pub fn is_over(&self) -> bool {
        self.ending().is_some()
    }

    /// Returns the seat that has won.
    pub fn winner(&self) -> Option<Seat> {
        self.ending()?.winner
    }

    /// Returns the colour of a seat.
    pub fn colour(&self, seat: Seat) -> &str {
        match &self.rules {
            Rules::Hex(hex) => hex.sides[seat],
            _ => &self.seats[seat].colour,
        }
    }
}

/// A board's cells in order, the lines from each to the rim, and its place on the grid.
#[derive(Debug, Default)]
pub struct Board {
    pub cells: Vec<Cell>,
    pub lines: HashMap<Cell, Vec<Vec<Cell>>>,
    pub places: HashMap<Cell, (i32, i32)>,
}

impl Board {
    /// Returns the board of a shape: "diamond", "triangle", "square", "hexagon" or "star".
    pub fn new(shape: &str, n: i32) -> Rc<Self> {
        let has = |&(a, b): &(i32, i32)| match shape {
            "triangle" => 0 <= b && b <= a && a < n,
            "hexagon" => a.abs().max(b.abs()).max((a + b).abs()) <= n,
            "star" => a.max(b).max(-a - b) <= n || a.min(b).min(-a - b) >= -n,
            _ => 0 <= a.min(b) && a.max(b) < n,
        };
        let span = -2 * n..=2 * n;
        let grid = span.clone().flat_map(|a| span.clone().map(move |b| (a, b)));
        let mut grid: Vec<(i32, i32)> = grid.filter(has).collect();
        if shape == "star" {
            // Numbered row by row, from left to right.
            grid.sort_by_key(|&(a, b)| (b, a));
        }
        let name = |(number, &(a, b))| match shape {
            "star" => Cell::number(number),
            _ => Cell(a, b),
        };
        let cells: Vec<Cell> = (1..).zip(&grid).map(name).collect();
        let names: HashMap<(i32, i32), Cell> =
            grid.iter().copied().zip(cells.iter().copied()).collect();
        let mut board = Self::default();
        for (&(a, b), &cell) in grid.iter().zip(&cells) {
            let places = |(r, c)| (1..).map(move |far| (a + r * far, b + c * far));
            let line = |step| places(step).map_while(|place| names.get(&place).copied()).collect();
            board.lines.insert(cell, steps(shape).map(line).collect());
            board.places.insert(cell, (a, b));
        }
        board.cells = cells;
        Rc::new(board)
    }

    /// Returns the number of steps between two cells of an empty hexagonal board.
    pub fn distance(&self, cell: Cell, other: Cell) -> i32 {
        let ((a, b), (c, d)) = (self.places[&cell], self.places[&other]);
        (a - c).abs().max((b - d).abs()).max((a + b - c - d).abs())
    }
}

/// Returns the steps to a cell's neighbours.
fn steps(shape: &str) -> impl Iterator<Item = (i32, i32)> {
    let around = (-1..=1).flat_map(|r| (-1..=1).map(move |c| (r, c)));
    let (is_square, aligned) = (shape == "square", if shape == "triangle" { 1 } else { -1 });
    // Hexagonal boards have one of the two diagonals.
    around.filter(move |&(r, c)| (r, c) != (0, 0) && (is_square || r * c != -aligned))
}
