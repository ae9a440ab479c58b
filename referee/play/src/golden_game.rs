//! Recorded games in the folder of a game program: the check of the rules replays them, and agents are checked in
//! their positions. Their own digest of the rules doesn't count: the folder has changed by adding them.

use crate::game_program::RECORDED_GAMES;
use referee_games::wire::Move;
use referee_games::{GameKind, Turn};
use referee_process::files::read_regular;
use referee_protocol::{Event, Seat};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The largest file that is read.
const BYTES_MAX: u64 = 64 << 20;

/// A recorded game: its setup, its moves with their recorded forms, and its outcome by the rules.
pub(crate) struct GoldenGame {
    pub(crate) rules: u32,
    pub(crate) setup: Value,
    pub(crate) moves: Vec<Move>,
    pub(crate) over: Option<Value>,
}

impl GoldenGame {
    /// Returns the files with recorded games of the game in a folder.
    pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = folder.join(RECORDED_GAMES).read_dir().into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let mut files: Vec<_> =
            files.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect();
        files.sort();
        files
    }

    /// Reads a transcript.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = read_regular(file, BYTES_MAX).map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    /// Returns the setup in which a game begins where a seat had its turn in the middle of this one, and after how
    /// many moves that is. `None` if these rules don't play it.
    pub(crate) fn middle(&self, kind: GameKind) -> Option<(Value, usize)> {
        let mut game = kind.start(&self.setup).ok()?;
        let half = self.moves.len() / 2;
        for (number, step) in self.moves.iter().enumerate() {
            if number >= half && matches!(game.turn(), Turn::Of(_)) {
                let mut setup = game.setup();
                setup.as_object_mut()?.insert("position".to_owned(), game.origin());
                return Some((setup, number));
            }
            match step {
                Move::Action { action, .. } => game.play(action).map(drop).ok()?,
                Move::Draw { draw } => game.draw(*draw).ok()?,
                Move::Retire { retire } => game.retire(*retire),
            }
        }
        None
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let mut golden = None;
        for (number, line) in
            (1..).zip(text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()))
        {
            let event: Event =
                serde_json::from_slice(line).map_err(|error| format!("line {number}: {error}"))?;
            match (event, &mut golden) {
                (Event::Header(header), None) => {
                    let (rules, setup) = (header.rules, header.setup);
                    golden = Some(Self { rules, setup, moves: Vec::new(), over: None });
                }
                (_, None) => {
                    return Err("the first line is not the header of a transcript".to_owned());
                }
                (Event::Played(played), Some(golden)) => {
                    let action = serde_json::to_value(&played.action).unwrap_or_default();
                    golden.moves.push(Move::Action { seat: played.seat, action });
                }
                (Event::Drawn(drawn), Some(golden)) => {
                    let draw = drawn.outcome;
                    golden.moves.push(Move::Draw { draw });
                }
                (Event::Retired(retired), Some(golden)) => {
                    golden.moves.push(Move::Retire { retire: Seat(retired.seat.0) });
                }
                (Event::Over(over), Some(golden)) => {
                    golden.over = over.outcome.map(|outcome| json!(outcome));
                }
                _ => {}
            }
        }
        golden.ok_or_else(|| "it is empty".to_owned())
    }
}
