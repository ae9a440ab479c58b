//! Games whose rules are programs, for tests.

use super::{TestDir, python, root};
use std::fs;

/// Copies a sample game to `name`, and returns it as a GAME; `None` without Python.
pub fn sample(dir: &TestDir, sample: &str, name: &str) -> Option<String> {
    python()?;
    let folder = root().join("sample-agents/games").join(sample);
    for file in ["game.toml", "rules.py"] {
        dir.write(&format!("{name}/{file}"), fs::read(folder.join(file)).unwrap());
    }
    Some(format!("./{name}"))
}

/// Writes tic-tac-toe to the folder `name`, with rules that fail as `how` says: `tests/games/chaos.py`. `None` without
/// Python.
pub fn chaos(dir: &TestDir, name: &str, how: &str) -> Option<String> {
    let game = sample(dir, "tic-tac-toe", name)?;
    dir.write(&format!("{name}/chaos.py"), fs::read(root().join("tests/games/chaos.py")).unwrap());
    dir.write(
        &format!("{name}/game.toml"),
        format!(
            "name = \"tic-tac-toe\"\ncommand = [\"python3\", \"chaos.py\", {how:?}]\n\
             [limits]\nanswer_ms = 200\n"
        ),
    );
    Some(game)
}
