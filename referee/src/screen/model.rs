//! The state of the viewer, and the effect of keys on it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use referee_match::transcript::{Playback, Ply};
use referee_render::Style;

/// The speeds of playback, in thousandths of a ply per second.
const SPEEDS: [u64; 8] = [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/// The initial speed: one ply per second.
const SPEED: usize = 2;
/// The number of plies of a long step.
const LONG_STEP: isize = 10;
/// The largest distance by which the board can be moved, in columns and lines.
const SHIFT_MAX: i32 = 60;
/// The largest number of digits of a typed ply.
const TYPED_MAX: usize = 9;

/// The state of the viewer.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each with its key")]
pub struct Model {
    /// How the board is drawn.
    pub style: Style,
    /// What the viewer is opened on.
    pub setting: Setting,
    /// A message, shown until the next key.
    pub status_message: Option<String>,
    /// The shown ply; 0 is the start. The last one is shown together with the end of the match.
    pub at: usize,
    /// Stays at the last ply as more come.
    pub follows: bool,
    /// Whether playback is on.
    pub plays: bool,
    speed: usize,
    /// Elapsed milliseconds times speed, less what has been played.
    due: u64,
    /// Whether the board is shown.
    pub board: bool,
    /// What is shown beside the moves.
    pub pane: Pane,
    /// The pane's first line, if it was scrolled by a key.
    pub(super) scroll: Option<usize>,
    /// The last first line that the pane can have, as last drawn.
    pub(super) scroll_end: usize,
    /// The pane's first line unless it is scrolled, as last drawn.
    pub(super) scroll_start: usize,
    /// By how many columns and lines the board was moved by keys.
    pub(super) shift: (i32, i32),
    pub(super) marks: bool,
    pub(super) help: bool,
    pub(super) typed: Option<String>,
}

/// What the viewer is opened on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting {
    /// A transcript.
    #[default]
    Replay,
    /// A running match of this process.
    Live,
    /// The same, if other matches may be running.
    LiveMany,
}

/// What is shown beside the moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The agents' stderr.
    #[default]
    Stderr,
    /// Their `info` messages.
    Info,
    /// The lines sent and received.
    Lines,
}

/// What a key requests of the program that runs the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRequest {
    /// Nothing, or a new drawing.
    Nothing,
    /// Close the viewer.
    Close,
    /// Show another running match.
    Another,
    /// Redraw everything.
    Redraw,
}

impl Model {
    /// Returns a viewer that follows the last ply.
    pub fn new(style: Style, setting: Setting) -> Self {
        Self { style, setting, follows: true, speed: SPEED, board: true, ..Self::default() }
    }

    /// Resets the viewer for another match.
    pub fn begin(&mut self) {
        (self.at, self.follows, self.plays) = (0, true, false);
        (self.scroll, self.shift) = (None, (0, 0));
    }

    /// Handles new plies.
    pub fn grow(&mut self, playback: &Playback) {
        let last = playback.last();
        if self.follows && self.at != last {
            self.go(last, playback);
        }
        self.at = self.at.min(last);
    }

    /// Goes to the first ply of a turn of the protocol, else to the last ply. Returns whether the turn
    /// exists.
    pub fn go_to_turn(&mut self, turn: u64, playback: &Playback) -> bool {
        let found = playback.plies().iter().skip(1).position(|ply| ply.turn >= turn);
        self.go(found.map_or(usize::MAX, |index| index + 1), playback);
        found.is_some()
    }

    /// Goes to the start position.
    pub fn go_to_start(&mut self, playback: &Playback) {
        self.go(0, playback);
    }

    /// Advances playback by this time. Returns whether anything changed.
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

    /// Handles a key.
    pub fn press(&mut self, key: KeyEvent, playback: Option<&Playback>) -> KeyRequest {
        self.status_message = None;
        if self.typed.is_some() {
            self.type_ply(key.code, playback);
            return KeyRequest::Nothing;
        }
        if self.help {
            // Any key closes the help.
            self.help = false;
            return KeyRequest::Nothing;
        }
        let request = self.switch(key);
        if let (None, Some(playback)) = (request, playback) {
            self.travel(key, playback);
        }
        request.unwrap_or(KeyRequest::Nothing)
    }

    /// Handles keys that don't depend on the match; `None` for others.
    fn switch(&mut self, key: KeyEvent) -> Option<KeyRequest> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let live = self.setting != Setting::Replay;
        match key.code {
            KeyCode::Char('l') if control => return Some(KeyRequest::Redraw),
            KeyCode::Char('q') | KeyCode::Esc => return Some(KeyRequest::Close),
            KeyCode::Char('b') if live => return Some(KeyRequest::Close),
            KeyCode::Tab if self.setting == Setting::LiveMany => return Some(KeyRequest::Another),
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
        Some(KeyRequest::Nothing)
    }

    /// Handles keys that move through the match or scroll.
    fn travel(&mut self, key: KeyEvent, playback: &Playback) {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        let step = if shift { LONG_STEP } else { 1 };
        let last = playback.last();
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

    fn type_ply(&mut self, key: KeyCode, playback: Option<&Playback>) {
        let Some(typed) = &mut self.typed else { return };
        match key {
            KeyCode::Char(digit) if digit.is_ascii_digit() && typed.len() < TYPED_MAX => {
                typed.push(digit);
            }
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Enter => {
                let ply = typed.parse::<usize>();
                self.typed = None;
                if let (Ok(ply), Some(playback)) = (ply, playback) {
                    self.jump(ply, playback);
                    if self.at < ply {
                        self.status_message =
                            Some(format!("no ply {ply}: the last ply is {}", self.at));
                    }
                }
            }
            KeyCode::Esc | KeyCode::Char('q') => self.typed = None,
            _ => {}
        }
    }

    /// Goes to the next or previous ply with stderr or a fault.
    fn seek_message(&mut self, forward: bool, playback: &Playback) {
        let (last, plies) = (playback.last(), playback.plies());
        let with_end =
            |index: usize| if index == last { &plies[index..] } else { &plies[index..=index] };
        let is_noted = |ply: &Ply| !ply.output.stderr.is_empty() || ply.fault().is_some();
        let has_message = |&index: &usize| with_end(index).iter().any(is_noted);
        let found = if forward {
            (self.at + 1..=last).find(has_message)
        } else {
            (0..self.at).rev().find(has_message)
        };
        if let Some(index) = found {
            self.jump(index, playback);
        } else {
            let side = if forward { "after" } else { "before" };
            self.status_message = Some(format!("no stderr or fault {side} this ply"));
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
        let last = playback.last();
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
        self.status_message = Some(format!("speed: {speed} plies per second"));
    }
}
