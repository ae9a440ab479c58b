//! What the viewer shows of a match, and what keys change of that.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use referee_match::transcript::{Playback, Ply};
use referee_render::Style;

/// The speeds of playing by itself, in thousandths of a ply a second.
const SPEEDS: [u64; 8] = [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/// The speed at the start: a ply a second.
const SPEED: usize = 2;
/// How many plies a long step has.
const LONG_STEP: isize = 10;
/// A board is moved no farther than this out of its place, in columns and lines.
const SHIFT_MAX: i32 = 60;
/// More digits than a turn can have.
const TYPED_MAX: usize = 9;

/// What the viewer shows.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each with its key")]
pub struct Model {
    /// How the board is drawn.
    pub style: Style,
    /// Where the viewer is opened.
    pub setting: Setting,
    /// What is told until the next key.
    pub news: Option<String>,
    /// The ply that is shown, counted from 0, the start.
    pub at: usize,
    /// Stays at the last ply as more come.
    pub follows: bool,
    /// Goes on by itself.
    pub plays: bool,
    speed: usize,
    /// Thousandths of plies that have come together, in milliseconds times speed.
    due: u64,
    /// Without the board, the whole room is the lists'.
    pub board: bool,
    /// What is shown beside the moves.
    pub pane: Pane,
    /// The pane's first line, where it was scrolled by hand.
    pub(super) scroll: Option<usize>,
    /// The pane's lines beyond those that are seen, as last drawn.
    pub(super) scroll_end: usize,
    /// Where the pane begins unless it is scrolled, as last drawn.
    pub(super) scroll_start: usize,
    /// How far the board is moved by hand from where the last action is seen: columns and lines.
    pub(super) shift: (i32, i32),
    pub(super) marks: bool,
    pub(super) help: bool,
    pub(super) typed: Option<String>,
}

/// Where the viewer is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting {
    /// On a transcript.
    #[default]
    Replay,
    /// On a match that is played by the same program.
    Live,
    /// The same, where other matches may be under way.
    LiveMany,
}

/// What is shown beside the moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// What agents wrote to their stderr.
    #[default]
    Stderr,
    /// What they said of their thoughts.
    Info,
    /// The exact lines sent and received.
    Lines,
}

/// What a key asks of whoever runs the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing: at most there is something else to draw.
    Nothing,
    /// The viewer is to be closed.
    Close,
    /// Another match that is under way.
    Another,
    /// Everything is to be drawn anew.
    Redraw,
}

impl Model {
    /// A viewer that follows what is shown to it.
    pub fn new(style: Style, setting: Setting) -> Self {
        Self { style, setting, follows: true, speed: SPEED, board: true, ..Self::default() }
    }

    /// Shows another match, at its last ply.
    pub fn begin(&mut self) {
        (self.at, self.follows, self.plays) = (0, true, false);
        (self.scroll, self.shift) = (None, (0, 0));
    }

    /// Takes notice of plies that have come.
    pub fn grow(&mut self, playback: &Playback) {
        let last = playback.plies().len() - 1;
        if self.follows && self.at != last {
            self.go(last, playback);
        }
        self.at = self.at.min(last);
    }

    /// Goes to the first ply of a turn, or the last there is; whether that turn is there.
    pub fn go_to_turn(&mut self, turn: u64, playback: &Playback) -> bool {
        let plies = playback.plies();
        let found = plies.iter().skip(1).position(|ply| ply.turn >= turn);
        self.go(found.map_or(plies.len() - 1, |index| index + 1), playback);
        found.is_some()
    }

    /// Lets time pass; whether anything has changed.
    pub fn advance(&mut self, elapsed_ms: u64, playback: &Playback) -> bool {
        if !self.plays {
            return false;
        }
        self.due += elapsed_ms.saturating_mul(SPEEDS[self.speed]);
        let steps = self.due / 1_000_000;
        self.due %= 1_000_000;
        if steps == 0 {
            return false;
        }
        self.go(self.at.saturating_add(usize::try_from(steps).unwrap_or(usize::MAX)), playback);
        self.plays = !self.follows;
        true
    }

    /// Takes in a key.
    pub fn press(&mut self, key: KeyEvent, playback: Option<&Playback>) -> Wish {
        self.news = None;
        if self.typed.is_some() {
            self.type_turn(key.code, playback);
            return Wish::Nothing;
        }
        if self.help {
            // Whatever is pressed, it is read.
            self.help = false;
            return Wish::Nothing;
        }
        let wish = self.switch(key);
        if let (None, Some(playback)) = (wish, playback) {
            self.travel(key, playback);
        }
        wish.unwrap_or(Wish::Nothing)
    }

    /// Keys that don't depend on the match; `None` for others.
    fn switch(&mut self, key: KeyEvent) -> Option<Wish> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let live = self.setting != Setting::Replay;
        match key.code {
            KeyCode::Char('l') if control => return Some(Wish::Redraw),
            KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::Close),
            KeyCode::Char('b') if live => return Some(Wish::Close),
            KeyCode::Tab if self.setting == Setting::LiveMany => return Some(Wish::Another),
            KeyCode::Char('b' | 'v') => self.board = !self.board,
            KeyCode::Char('f') => self.style.flip = !self.style.flip,
            KeyCode::Char('c') => self.style.coordinates = !self.style.coordinates,
            KeyCode::Char('d') => self.marks = !self.marks,
            KeyCode::Char('?') => self.help = true,
            KeyCode::Char('g' | '/') => self.typed = Some(String::new()),
            KeyCode::Char('s') => {
                self.scroll = None;
                self.pane = match self.pane {
                    Pane::Stderr => Pane::Info,
                    Pane::Info => Pane::Lines,
                    Pane::Lines => Pane::Stderr,
                };
            }
            KeyCode::Char('+' | '=') => self.set_speed((self.speed + 1).min(SPEEDS.len() - 1)),
            KeyCode::Char('-') => self.set_speed(self.speed.saturating_sub(1)),
            _ => return None,
        }
        Some(Wish::Nothing)
    }

    /// Keys that move through the match, or what is seen of it.
    fn travel(&mut self, key: KeyEvent, playback: &Playback) {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        let step = if shift { LONG_STEP } else { 1 };
        let last = playback.plies().len() - 1;
        match key.code {
            KeyCode::Left if alt => self.shift_by(-4, 0),
            KeyCode::Right if alt => self.shift_by(4, 0),
            KeyCode::Up if alt => self.shift_by(0, -2),
            KeyCode::Down if alt => self.shift_by(0, 2),
            KeyCode::Left | KeyCode::Char('h') => self.step(-step, playback),
            KeyCode::Right | KeyCode::Char('l') => self.step(step, playback),
            KeyCode::PageUp => self.step(-LONG_STEP, playback),
            KeyCode::PageDown => self.step(LONG_STEP, playback),
            KeyCode::Home => self.jump(0, playback),
            KeyCode::End => self.jump(last, playback),
            KeyCode::Char(' ') => {
                if !self.plays && self.at == last {
                    self.go(0, playback);
                }
                self.plays = !self.plays;
                self.due = 0;
            }
            KeyCode::Char('n' | ']') => self.seek_message(true, playback),
            KeyCode::Char('p' | '[') => self.seek_message(false, playback),
            KeyCode::Up | KeyCode::Char('k') => self.scroll_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll_by(1),
            _ => {}
        }
    }

    fn type_turn(&mut self, key: KeyCode, playback: Option<&Playback>) {
        let Some(typed) = &mut self.typed else { return };
        match key {
            KeyCode::Char(digit) if digit.is_ascii_digit() && typed.len() < TYPED_MAX => {
                typed.push(digit);
            }
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Enter => {
                let turn = typed.parse::<u64>();
                self.typed = None;
                if let (Ok(turn), Some(playback)) = (turn, playback) {
                    self.plays = false;
                    if !self.go_to_turn(turn, playback) {
                        self.news = Some(format!("there is no turn {turn} yet: this is the last"));
                    }
                }
            }
            KeyCode::Esc | KeyCode::Char('q') => self.typed = None,
            _ => {}
        }
    }

    /// The next ply, or the one before, at which there is something to read.
    fn seek_message(&mut self, forward: bool, playback: &Playback) {
        let speaks = |ply: &Ply| !ply.output.stderr.is_empty() || ply.fault().is_some();
        let plies = playback.plies();
        let found = if forward {
            (self.at + 1..plies.len()).find(|&index| speaks(&plies[index]))
        } else {
            plies[..self.at].iter().rposition(speaks)
        };
        if let Some(index) = found {
            self.jump(index, playback);
        } else {
            let side = if forward { "after" } else { "before" };
            self.news = Some(format!("no stderr and no fault {side} this"));
        }
    }

    fn jump(&mut self, at: usize, playback: &Playback) {
        self.plays = false;
        self.go(at, playback);
    }

    fn step(&mut self, by: isize, playback: &Playback) {
        self.jump(self.at.saturating_add_signed(by), playback);
    }

    fn go(&mut self, at: usize, playback: &Playback) {
        let last = playback.plies().len() - 1;
        self.at = at.min(last);
        self.follows = self.at == last;
        (self.scroll, self.shift) = (None, (0, 0));
    }

    fn shift_by(&mut self, columns: i32, lines: i32) {
        let moved = |from: i32, by: i32| (from + by).clamp(-SHIFT_MAX, SHIFT_MAX);
        self.shift = (moved(self.shift.0, columns), moved(self.shift.1, lines));
    }

    fn scroll_by(&mut self, by: isize) {
        let from = self.scroll.unwrap_or(self.scroll_start);
        self.scroll = Some(from.saturating_add_signed(by).min(self.scroll_end));
    }

    fn set_speed(&mut self, speed: usize) {
        self.speed = speed;
        let speed = match SPEEDS[speed] {
            250 => "1/4",
            500 => "1/2",
            speed => &(speed / 1000).to_string(),
        };
        self.news = Some(format!("speed: {speed} plies a second"));
    }
}
