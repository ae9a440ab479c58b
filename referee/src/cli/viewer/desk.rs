//! The viewer on matches that are being played by the same program: opened and closed by a key,
//! while they go on.

use super::Viewer;
use super::source::Source;
use crate::cli::live::Cover;
use crate::cli::output::tell;
use crate::cli::runtime::machine;
use crate::console::{Console, Keys, Screen};
use crate::screen::{Model, Setting, Wish};
use indicatif::{ProgressBar, ProgressDrawTarget};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use referee_play::interrupts::Interrupts;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_render::Style;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How long a match that has ended stays on the screen.
const MOMENT: Duration = Duration::from_secs(3);

/// Where somebody sits and looks on, or doesn't.
pub(crate) struct Desk {
    console: Option<(Console, Keys)>,
    playing: RunningMatches,
    style: Style,
    setting: Setting,
    viewer: Option<Viewer>,
    /// The match that is looked at.
    number: Option<u64>,
    /// Since when it has ended.
    ended: Option<Instant>,
    /// What else is drawn on the screen: a board, a bar.
    cover: Arc<Cover>,
    bar: ProgressBar,
    /// The bar is to be seen again.
    bar_was_seen: bool,
    /// What was to be told meanwhile.
    told: Vec<String>,
    ticks: Interval,
    resized: Signal,
}

impl Desk {
    /// Sits down at the terminal, if there is one and somebody is `wanted` there. While the viewer is
    /// open, `bar` isn't drawn.
    pub(crate) fn new(
        playing: RunningMatches,
        style: Style,
        setting: Setting,
        bar: &ProgressBar,
        interrupts: &mut Interrupts,
        wanted: bool,
    ) -> Result<Self, Failure> {
        let resized =
            signal(SignalKind::window_change()).map_err(machine("signals can't be heard"))?;
        let console = if wanted { Console::open(Screen::Stderr) } else { None };
        if let Some((console, _)) = &console {
            interrupts.on_pause(console.pausing());
        }
        let mut ticks = interval(super::FRAME);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Ok(Self {
            console,
            playing,
            style,
            setting,
            viewer: None,
            number: None,
            ended: None,
            cover: Arc::default(),
            bar: bar.clone(),
            bar_was_seen: false,
            told: Vec::new(),
            ticks,
            resized,
        })
    }

    /// Whether the viewer can be opened.
    pub(crate) fn is_manned(&self) -> bool {
        self.console.is_some() && std::io::stderr().is_terminal()
    }

    /// Whether the viewer is open.
    pub(crate) fn is_open(&self) -> bool {
        self.viewer.is_some()
    }

    /// Tells whether the viewer covers the screen.
    pub(crate) fn cover(&self) -> Arc<Cover> {
        self.cover.clone()
    }

    /// Waits until there is something to be dealt with: a key, or time to draw. Can be dropped and called
    /// again.
    pub(crate) async fn next(&mut self) -> Option<KeyEvent> {
        let Some((_, keys)) = &mut self.console else { return std::future::pending().await };
        let open = self.viewer.is_some();
        tokio::select! {
            key = keys.next() => Some(key),
            _ = self.ticks.tick(), if open => None,
            _ = self.resized.recv(), if open => None,
        }
    }

    /// Deals with it; a key that the viewer, being closed, has no use for comes back.
    pub(crate) fn take(&mut self, key: Option<KeyEvent>) -> Option<KeyCode> {
        match (key, &self.viewer) {
            (Some(key), None) if key.code != KeyCode::Char('b') || !self.is_manned() => {
                return Some(key.code);
            }
            (Some(_), None) => self.open(),
            (Some(key), Some(_)) => self.press(key),
            (None, Some(viewer)) if viewer.seen.elapsed() >= viewer.period() => {}
            (None, _) => return None,
        }
        self.look();
        None
    }

    /// Says something beside the viewer, or in it and afterwards.
    pub(crate) fn tell(&mut self, text: &str) {
        match &mut self.viewer {
            Some(viewer) => {
                viewer.model.news = Some(text.to_owned());
                self.told.push(text.to_owned());
            }
            None => self.bar.suspend(|| tell(text)),
        }
    }

    /// Closes the viewer, if it is open.
    pub(crate) fn close(&mut self) {
        if self.viewer.take().is_none() {
            return;
        }
        if let Some((console, _)) = &self.console {
            console.fill_screen(false);
        }
        self.cover.lift();
        if self.bar_was_seen {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        for text in std::mem::take(&mut self.told) {
            self.bar.suspend(|| tell(&text));
        }
    }

    fn open(&mut self) {
        let Some((console, _)) = &self.console else { return };
        let (number, source, name) = match self.playing.after(None) {
            Some((number, path)) => {
                let name = name(self.setting, number, &path);
                (Some(number), Source::following(path), name)
            }
            None => (None, Source::default(), "no match with a transcript is under way".to_owned()),
        };
        let model = Model::new(self.style, self.setting);
        self.cover.put();
        self.bar_was_seen = !self.bar.is_hidden();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        match Viewer::open(console, model, source, name) {
            Ok(viewer) => {
                (self.viewer, self.number, self.ended) = (Some(viewer), number, None);
            }
            Err(failure) => {
                self.cover.lift();
                tell(&format!("warning: {failure}"));
            }
        }
    }

    fn press(&mut self, key: KeyEvent) {
        let Some(viewer) = &mut self.viewer else { return };
        match viewer.press(key) {
            Wish::Close => self.close(),
            Wish::Another => self.turn_to_next(Some("no other match is under way")),
            Wish::Nothing | Wish::Redraw => {}
        }
    }

    /// Another match than the one that is looked at; where there is none, that is told.
    fn turn_to_next(&mut self, none: Option<&str>) {
        let Some(viewer) = &mut self.viewer else { return };
        match self.playing.after(self.number).filter(|&(next, _)| Some(next) != self.number) {
            Some((number, path)) => {
                let name = name(self.setting, number, &path);
                viewer.turn_to(Source::following(path), name);
                (self.number, self.ended) = (Some(number), None);
            }
            None => viewer.model.news = none.map(str::to_owned).or(viewer.model.news.take()),
        }
    }

    /// Looks at the match, and at whether it is still played, and draws.
    fn look(&mut self) {
        let live = self.number.is_some_and(|number| self.playing.has(number));
        let Some(viewer) = &mut self.viewer else { return };
        viewer.live = live;
        // Before the first is under way, and between two of them.
        if !live && self.ended.is_none() {
            self.ended = Some(Instant::now());
            if self.number.is_some() {
                viewer.model.news = Some(match self.setting {
                    Setting::LiveMany => "the match is over; soon the next".to_owned(),
                    Setting::Live | Setting::Replay => {
                        "the match is over: step back with Left, b closes".to_owned()
                    }
                });
            }
        }
        let due = self.ended.is_some_and(|ended| ended.elapsed() >= MOMENT);
        let follows = viewer.model.follows && !viewer.model.plays;
        if !live && follows && (due || self.number.is_none()) {
            self.turn_to_next(None);
        }
        let (Some(viewer), Some((console, _))) = (&mut self.viewer, &self.console) else { return };
        viewer.look();
        viewer.show(console);
    }
}

/// What a match is called.
fn name(setting: Setting, number: u64, path: &Path) -> String {
    match setting {
        Setting::LiveMany => format!("game {number}"),
        Setting::Live | Setting::Replay => path.display().to_string(),
    }
}
