//! Prepared games: the answers of instant agents.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_games::{Game, Turn};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Starts a game of type `G` from a JSON setup.
pub(crate) fn start<G: Game>(setup: Value) -> G {
    let setup = serde_json::from_value(setup).expect("the benches' own setups are valid");
    G::start(setup).expect("the benches' own setups are valid")
}

/// Draws random legal actions until the game ends or there are `turns` of them.
pub(crate) fn random_actions<G: Game>(mut game: G, turns: usize, seed: u64) -> Vec<G::Action> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut played = Vec::new();
    while played.len() < turns && matches!(game.turn(), Turn::Of(_)) {
        let mut actions = game.actions();
        let action = actions.swap_remove(random.random_range(..actions.len()));
        game.play_listed(&action);
        played.push(action);
    }
    played
}

/// A file with the actions of a game, read by instant agents.
#[derive(Debug)]
pub(crate) struct Script {
    folder: TempDir,
}

impl Script {
    /// Writes a random game of Chinese Checkers with this many turns.
    pub(crate) fn chinese_checkers(turns: usize) -> std::io::Result<Self> {
        let setup = serde_json::json!({ "max_turns": turns });
        let game = start::<referee_games::chinese_checkers::ChineseCheckers>(setup);
        let actions = random_actions(game, turns, 1);
        let folder = tempfile::tempdir()?;
        let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path().join(NAME))?);
        for action in &actions {
            let action = serde_json::to_string(action)?;
            writeln!(file, "{{\"type\":\"action\",\"action\":{action}}}")?;
        }
        file.flush()?;
        Ok(Self { folder })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// Returns a folder for other files, which is deleted with the script.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

const NAME: &str = "script";
