//! Row d: how fast the rules count sequences and check actions.

use crate::measure::{Pairs, Pinned, median, thread_seconds};
use crate::report::Bounds::{AtLeast, AtMost};
use crate::report::Row;
use crate::script::{random_actions, start};
use referee_games::chexers::Chexers;
use referee_games::chinese_checkers::ChineseCheckers;
use referee_games::freckers::Freckers;
use referee_games::hex::Hex;
use referee_games::{Game, plain_perft};
use serde_json::json;
use std::error::Error;
use std::hint::black_box;

/// The number of random games replayed to measure how fast actions are checked.
const GAMES: u64 = 200;

/// Measures the row for each game.
pub(crate) fn rows(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let _pinned = Pinned::to_one_core()?;
    Ok(vec![
        bulk::<ChineseCheckers>("bulk / plain perft, Chinese Checkers", 5, 4, 30.0, pairs)?,
        bulk::<Freckers>("bulk / plain perft, Freckers", 6, 5, 15.0, pairs)?,
        bulk::<Chexers>("bulk / plain perft, Chexers", 7, 6, 40.0, pairs)?,
        hex_plies(pairs),
        chinese_checkers_actions(pairs),
    ])
}

/// Compares leaves per second of `perft` and of `plain_perft`, which counts less deep.
fn bulk<G: Game>(
    what: &'static str,
    depth: u32,
    plain_depth: u32,
    target: f64,
    pairs: usize,
) -> Result<Row, Box<dyn Error>> {
    let game = start::<G>(json!({}));
    if game.perft(plain_depth) != plain_perft(&game, plain_depth) {
        return Err(format!("{}: perft and plain_perft disagree", G::NAME).into());
    }
    let rate = |count: &dyn Fn() -> u64| {
        let (seconds, leaves) = thread_seconds(count);
        Ok::<_, Box<dyn Error>>(leaves as f64 / seconds / 1e6)
    };
    let rates = Pairs::alternate(
        pairs,
        || rate(&|| plain_perft(black_box(&game), plain_depth)),
        || rate(&|| black_box(&game).perft(depth)),
    )?;
    let (plain, fast) = rates.medians();
    Ok(Row {
        letter: 'd',
        what,
        figure: rates.ratio(),
        unit: "x",
        bounds: AtLeast(target, target * 2.0 / 3.0),
        note: format!("{fast:.0} M/s against {plain:.1} M/s"),
    })
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
