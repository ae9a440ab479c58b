//! Row d: how fast the rules check actions.

use crate::measure::{Pinned, median, thread_seconds};
use crate::report::Bounds::{AtLeast, AtMost};
use crate::report::Row;
use crate::script::{random_actions, start};
use referee_games::Game;
use referee_games::chinese_checkers::ChineseCheckers;
use referee_games::hex::Hex;
use serde_json::json;
use std::error::Error;
use std::hint::black_box;

/// The number of random games replayed to measure how fast actions are checked.
const GAMES: u64 = 200;

/// Measures the row for each game.
pub(crate) fn rows(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let _pinned = Pinned::to_one_core()?;
    Ok(vec![hex_plies(pairs), chinese_checkers_actions(pairs)])
}

/// Measures whole random games of Hex, with every action checked.
fn hex_plies(rounds: usize) -> Row {
    let per_action = checked::<Hex>(json!({}), 121, rounds);
    Row {
        letter: 'd',
        what: "Hex 11 x 11, plies checked",
        figure: 1e3 / per_action,
        unit: "M/s",
        bounds: AtLeast(40.0, 40.0 * 2.0 / 3.0),
        note: String::new(),
    }
}

fn chinese_checkers_actions(rounds: usize) -> Row {
    Row {
        letter: 'd',
        what: "one Chinese Checkers action checked",
        figure: checked::<ChineseCheckers>(json!({}), 1000, rounds),
        unit: "ns",
        bounds: AtMost(100.0, 150.0),
        note: String::new(),
    }
}

/// Returns the nanoseconds per action of random games played by [`Game::play`], which checks everything.
fn checked<G: Game>(setup: serde_json::Value, turns: usize, rounds: usize) -> f64 {
    let game = start::<G>(setup);
    let games: Vec<_> = (0..GAMES).map(|seed| random_actions(game.clone(), turns, seed)).collect();
    let count: usize = games.iter().map(Vec::len).sum();
    let replay = || {
        for actions in &games {
            let mut game = game.clone();
            for action in actions {
                black_box(game.play(action)).expect("the action was listed");
            }
        }
    };
    let round = || thread_seconds(replay).0 * 1e9 / count as f64;
    median(&(0..rounds).map(|_| round()).collect::<Vec<_>>())
}
