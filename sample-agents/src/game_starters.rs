//! The starter of a game program in each language: a small game to change, in `game-starters/`.

use crate::starters::File;

/// What a new game begins with.
#[derive(Clone, Copy, Debug)]
pub struct GameStarter {
    /// The language's name on the command line.
    pub language: &'static str,
    /// The language's display name.
    pub title: &'static str,
    /// The program that it needs.
    pub needs: &'static str,
    /// The command that builds it; empty if nothing is to be built.
    pub build: &'static [&'static str],
    /// Its files; the first one has the rules. The game is called [`STARTER_NAME`] in them.
    pub files: &'static [File],
}

/// The name of the game in the files.
pub const STARTER_NAME: &str = "starter";

/// Creates a starter from its folder: language, title, program, command that builds it, files.
macro_rules! starter {
    ($language:literal, $title:literal, $program:literal, [$($word:literal),*], [$($file:literal),+]) => {
        GameStarter {
            language: $language,
            title: $title,
            needs: $program,
            build: &[$($word),*],
            files: &[$(File {
                name: $file,
                text: include_str!(concat!("../game-starters/", $language, "/", $file)),
            }),+],
        }
    };
}

/// Every language, in display order.
pub static GAME_STARTERS: &[GameStarter] = &[
    starter!("python", "Python", "python3", [], ["rules.py", "game.toml"]),
    starter!("javascript", "JavaScript", "node", [], ["rules.js", "game.toml"]),
    starter!(
        "rust",
        "Rust",
        "cargo",
        ["cargo", "install", "--quiet", "--path", ".", "--root", "."],
        ["main.rs", "Cargo.toml", "game.toml"]
    ),
];
