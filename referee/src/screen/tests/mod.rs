//! The viewer over recorded matches, key by key and screen by screen.

mod model;
mod screens;

use super::{KeyRequest, Model, Progress, Scene, Setting, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use referee_games::Games;
use referee_match::transcript::{FollowState, TranscriptFollower, exchange, unpack};
use referee_render::Style;

/// Recorded matches, one at least of each game.
const GOLDEN: [(&str, &[u8]); 9] = [
    ("solved", include_bytes!("../../../../tests/tests/transcripts/checker-puzzle-solved.jsonl")),
    ("exits", include_bytes!("../../../../tests/tests/transcripts/chexers-four-exits.jsonl")),
    ("retired", include_bytes!("../../../../tests/tests/transcripts/chexers-retired.jsonl")),
    ("home", include_bytes!("../../../../tests/tests/transcripts/chinese-checkers-home.jsonl")),
    ("across", include_bytes!("../../../../tests/tests/transcripts/freckers-all-across.jsonl")),
    ("fault", include_bytes!("../../../../tests/tests/transcripts/hex-fault.jsonl")),
    ("swap", include_bytes!("../../../../tests/tests/transcripts/hex-swap.jsonl")),
    ("void", include_bytes!("../../../../tests/tests/transcripts/hex-void.jsonl")),
    (
        "diamond",
        include_bytes!("../../../../tests/tests/transcripts/peg-solitaire-diamond.jsonl.gz"),
    ),
];

/// A viewer on a recorded match.
struct Bench {
    bytes: Vec<u8>,
    following: TranscriptFollower,
    model: Model,
}

impl Bench {
    fn new(name: &str) -> Self {
        let (_, bytes) = GOLDEN.iter().find(|(known, _)| *known == name).unwrap();
        let bytes = unpack(bytes, 1 << 30).unwrap().into_owned();
        let following = TranscriptFollower::of(&bytes, &Games::default());
        let mut model = Model::new(Style::default(), Setting::Replay);
        model.grow(following.playback().unwrap());
        Self { bytes, following, model }
    }

    fn press(&mut self, code: KeyCode) -> KeyRequest {
        self.press_with(code, KeyModifiers::NONE)
    }

    fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) -> KeyRequest {
        self.model.press(KeyEvent::new(code, modifiers), self.following.playback())
    }

    /// Presses the keys of these characters.
    fn type_in(&mut self, keys: &str) {
        for key in keys.chars() {
            assert_eq!(self.press(KeyCode::Char(key)), KeyRequest::Nothing, "{key}");
        }
    }

    fn last(&self) -> usize {
        self.following.playback().unwrap().last()
    }

    /// The screen as text.
    fn screen(&mut self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let exchanges = exchange(&self.bytes, &Games::default(), |_| true).unwrap();
        let progress = match self.following.state() {
            FollowState::Open => Progress::Live,
            FollowState::Sealed(_) => Progress::Over,
            FollowState::Broken { .. } => Progress::Broken,
        };
        let scene = Scene {
            playback: self.following.playback(),
            progress,
            name: "golden",
            problem: None,
            exchange: Ok(&exchanges[self.model.at]),
            waiting_ms: 3210,
        };
        let model = &mut self.model;
        terminal.draw(|frame| draw(model, &scene, frame.area(), frame.buffer_mut())).unwrap();
        let buffer = terminal.backend().buffer();
        let lines = buffer.content().chunks(usize::from(width));
        let line = |cells: &[ratatui::buffer::Cell]| {
            let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
            text.trim_end().to_owned() + "\n"
        };
        lines.map(line).collect()
    }
}
