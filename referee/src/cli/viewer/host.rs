//! The viewer on running matches of this process: opened and closed by a key.

use super::Viewer;
use super::source::Source;
use crate::cli::output::eprint_line;
use crate::cli::runtime::machine;
use crate::console::{Console, KeyStream, Screen};
use crate::screen::{KeyRequest, Model, Setting};
use indicatif::{ProgressBar, ProgressDrawTarget};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use referee_games::Games;
use referee_play::interrupts::Interrupts;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_render::Style;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How long a finished match stays on the screen.
const END_SHOWN: Duration = Duration::from_secs(3);
/// How long a match runs before the viewer opens by itself: shorter ones would only flicker.
const OPENS_AFTER: Duration = Duration::from_millis(250);

/// Opens the viewer on running matches, if there is a terminal.
pub(crate) struct ViewerHost {
    console: Option<(Console, KeyStream)>,
    playing: RunningMatches,
    /// The games that are played.
    games: Games,
    style: Style,
    setting: Setting,
    viewer: Option<Viewer>,
    /// The number of the match that is shown.
    number: Option<u64>,
    /// When it ended.
    ended: Option<Instant>,
    /// When the viewer opens by itself.
    opens: Option<Instant>,
    /// It did, and no key was pressed since.
    untouched: bool,
    bar: ProgressBar,
    /// Whether to show the bar again afterwards.
    bar_was_shown: bool,
    /// Lines to print when the viewer is closed.
    pending_lines: Vec<String>,
    ticks: Interval,
    resized: Signal,
}

impl ViewerHost {
    /// Takes the terminal, if there is one and it is `wanted`. While the viewer is open, `bar` is hidden.
    pub(crate) fn new(
        (playing, games): (RunningMatches, &Games),
        style: Style,
        setting: Setting,
        bar: &ProgressBar,
        interrupts: &mut Interrupts,
        wanted: bool,
    ) -> Result<Self, Failure> {
        let resized =
            signal(SignalKind::window_change()).map_err(machine("cannot handle signals"))?;
        let console = if wanted { Console::open(Screen::Stderr) } else { None };
        if let Some((console, _)) = &console {
            interrupts.on_pause(console.pausing());
        }
        let mut ticks = interval(super::FRAME);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Ok(Self {
            console,
            playing,
            games: games.clone(),
            style,
            setting,
            viewer: None,
            number: None,
            ended: None,
            opens: None,
            untouched: false,
            bar: bar.clone(),
            bar_was_shown: false,
            pending_lines: Vec::new(),
            ticks,
            resized,
        })
    }

    /// Whether the viewer can be opened.
    pub(crate) fn has_terminal(&self) -> bool {
        self.console.is_some() && std::io::stderr().is_terminal()
    }

    /// Whether the viewer is open.
    pub(crate) fn is_open(&self) -> bool {
        self.viewer.is_some()
    }

    /// Opens the viewer on the next match that takes longer than a moment, if there is a terminal.
    pub(crate) fn open_soon(&mut self) {
        self.opens = self.has_terminal().then(|| Instant::now() + OPENS_AFTER);
    }

    /// Whether the viewer is open and used: opened by a key, or one was pressed since.
    pub(crate) fn is_used(&self) -> bool {
        self.is_open() && !self.untouched
    }

    /// Waits for a key (`Some`), or until it is time to draw (`None`). Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<KeyEvent> {
        let Some((_, keys)) = &mut self.console else { return std::future::pending().await };
        let ticks = self.viewer.is_some() || self.opens.is_some();
        let open = self.viewer.is_some();
        tokio::select! {
            key = keys.next() => Some(key),
            _ = self.ticks.tick(), if ticks => None,
            _ = self.resized.recv(), if open => None,
        }
    }

    /// Handles what [`next`](Self::next) returned. Returns a key that is not for the viewer.
    pub(crate) fn handle(&mut self, key: Option<KeyEvent>) -> Option<KeyCode> {
        match (key, &self.viewer) {
            (Some(key), None) if key.code != KeyCode::Char('b') || !self.has_terminal() => {
                return Some(key.code);
            }
            (Some(_), None) => self.open(),
            (Some(key), Some(_)) => self.press(key),
            (None, None) if self.is_due() => {
                self.open();
                self.untouched = true;
            }
            (None, Some(viewer)) if viewer.seen.elapsed() >= viewer.period() => {}
            (None, _) => return None,
        }
        self.update();
        None
    }

    /// Prints a line; while the viewer is open, shows it there and prints it afterwards.
    pub(crate) fn print(&mut self, text: &str) {
        match &mut self.viewer {
            Some(viewer) => {
                viewer.model.status_message = Some(text.to_owned());
                self.pending_lines.push(text.to_owned());
            }
            None => self.bar.suspend(|| eprint_line(text)),
        }
    }

    /// Closes the viewer, if it is open.
    pub(crate) fn close(&mut self) {
        self.untouched = false;
        if self.viewer.take().is_none() {
            return;
        }
        if let Some((console, _)) = &self.console {
            console.fill_screen(false);
        }
        if self.bar_was_shown {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        for text in std::mem::take(&mut self.pending_lines) {
            self.bar.suspend(|| eprint_line(&text));
        }
    }

    /// Whether the viewer is to open by itself now.
    fn is_due(&self) -> bool {
        self.opens.is_some_and(|opens| Instant::now() >= opens)
            && self.playing.after(None).is_some()
    }

    fn open(&mut self) {
        self.opens = None;
        let Some((console, _)) = &self.console else { return };
        let (number, source, name) = match self.playing.after(None) {
            Some((number, path)) => {
                let name = name(self.setting, number, &path);
                (Some(number), Source::following(path, &self.games), name)
            }
            None => (None, Source::default(), "no match with a transcript is running".to_owned()),
        };
        let model = Model::new(self.style, self.setting);
        self.bar_was_shown = !self.bar.is_hidden();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        match Viewer::open(console, model, source, name) {
            Ok(viewer) => {
                (self.viewer, self.number, self.ended) = (Some(viewer), number, None);
            }
            Err(failure) => eprint_line(&format!("warning: {failure}")),
        }
    }

    fn press(&mut self, key: KeyEvent) {
        self.untouched = false;
        let Some(viewer) = &mut self.viewer else { return };
        match viewer.press(key) {
            KeyRequest::Close => self.close(),
            KeyRequest::Another => self.show_next(Some("no other match is running")),
            KeyRequest::Nothing | KeyRequest::Redraw => {}
        }
    }

    /// Shows another match; if there is none, shows the message `none`.
    fn show_next(&mut self, none: Option<&str>) {
        let Some(viewer) = &mut self.viewer else { return };
        match self.playing.after(self.number).filter(|&(next, _)| Some(next) != self.number) {
            Some((number, path)) => {
                let name = name(self.setting, number, &path);
                viewer.show_match(Source::following(path, &self.games), name);
                (self.number, self.ended) = (Some(number), None);
            }
            None => {
                viewer.model.status_message =
                    none.map(str::to_owned).or(viewer.model.status_message.take());
            }
        }
    }

    /// Updates the viewer and draws it.
    fn update(&mut self) {
        let live = self.number.is_some_and(|number| self.playing.has(number));
        let Some(viewer) = &mut self.viewer else { return };
        viewer.live = live;
        // Before the first match, and between two matches.
        if !live && self.ended.is_none() {
            self.ended = Some(Instant::now());
            if self.number.is_some() {
                viewer.model.status_message = Some(match self.setting {
                    Setting::LiveMany => "the match is over; the next one follows".to_owned(),
                    Setting::Live | Setting::Replay => {
                        "the match is over; press Left to step back, b to close".to_owned()
                    }
                });
            }
        }
        let due = self.ended.is_some_and(|ended| ended.elapsed() >= END_SHOWN);
        let follows = viewer.model.follows && !viewer.model.plays;
        if !live && follows && (due || self.number.is_none()) {
            self.show_next(None);
        }
        let (Some(viewer), Some((console, _))) = (&mut self.viewer, &self.console) else { return };
        viewer.update();
        viewer.show(console);
    }
}

/// Returns the name of a match.
fn name(setting: Setting, number: u64, path: &Path) -> String {
    match setting {
        Setting::LiveMany => format!("game {number}"),
        Setting::Live | Setting::Replay => path.display().to_string(),
    }
}
