//! Games that are known before they are played: the lists that instant agents answer from.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_games::{Game, Turn};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A game of type `G` from JSON.
pub(crate) fn start<G: Game>(setup: Value) -> G {
    let setup = serde_json::from_value(setup).expect("the benches' own setups are valid");
    G::start(setup).expect("the benches' own setups are valid")
}

/// Legal actions drawn at random, until the game ends or there are `turns` of them.
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

/// A game in a file, as an instant agent reads it.
#[derive(Debug)]
pub(crate) struct Script {
    folder: TempDir,
}

impl Script {
    /// Writes a game of Chinese Checkers of this many turns: no random game of it ends by itself.
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

    /// The file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// A folder for what else is needed; it goes with the script.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

const NAME: &str = "script";
