//! The starter files of each language. They are the tested samples in the folders beside this one.

#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// The language's name on the command line.
    pub language: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The language's display name.
    pub title: &'static str,
    /// The programs that it needs.
    pub needs: &'static [&'static str],
    /// The folder of the files, relative to this crate.
    pub folder: &'static str,
    /// Its `agent.toml`.
    pub manifest: &'static str,
    /// The other files; the program comes first.
    pub files: &'static [File],
}

/// The function that chooses the action in each starter's program.
pub const DECISION_FUNCTION: &str = "choose";

#[derive(Clone, Copy, Debug)]
pub struct File {
    pub name: &'static str,
    pub text: &'static str,
}

/// Creates a starter from its folder: language, aliases, title, programs, files.
macro_rules! starter {
    ($folder:literal, $language:literal, [$($alias:literal),*], $title:literal,
     [$($program:literal),+], [$($file:literal),+]) => {
        Starter {
            language: $language,
            aliases: &[$($alias),*],
            title: $title,
            needs: &[$($program),+],
            folder: $folder,
            manifest: include_str!(concat!("../", $folder, "/agent.toml")),
            files: &[$(File {
                name: $file,
                text: include_str!(concat!("../", $folder, "/", $file)),
            }),+],
        }
    };
}

/// Every language, in display order.
pub static STARTERS: &[Starter] = &[
    starter!(
        "python/starter",
        "python",
        ["py", "python3"],
        "Python",
        ["python3"],
        ["bot.py", "referee_kit.py", "rules.py"]
    ),
    starter!(
        "javascript/starter",
        "javascript",
        ["js", "node"],
        "JavaScript",
        ["node"],
        ["bot.js", "referee_kit.js", "game.js", "games.js"]
    ),
    starter!(
        "java/starter",
        "java",
        [],
        "Java",
        ["javac", "java"],
        [
            "Bot.java",
            "RefereeKit.java",
            "Game.java",
            "Cell.java",
            "Action.java",
            "Board.java",
            "Json.java",
            "Hex.java",
            "Chexers.java",
            "Freckers.java",
            "ChineseCheckers.java",
            "CheckerPuzzle.java",
            "PegSolitaire.java"
        ]
    ),
    starter!("c/starter", "c", [], "C", ["cc"], ["bot.c", "referee_kit.h", "json.h"]),
    starter!(
        "cpp/starter",
        "cpp",
        ["c++", "cxx"],
        "C++",
        ["c++"],
        ["bot.cpp", "referee_kit.hpp", "game.hpp", "games.hpp", "json.hpp"]
    ),
    starter!(
        "rust/starter",
        "rust",
        ["rs"],
        "Rust",
        ["rustc"],
        ["bot.rs", "referee_kit.rs", "rules.rs", "games.rs", "json.rs"]
    ),
    starter!(
        "go/starter",
        "go",
        ["golang"],
        "Go",
        ["go"],
        [
            "bot.go",
            "referee_kit.go",
            "game.go",
            "setup.go",
            "hex.go",
            "chexers.go",
            "freckers.go",
            "chinese_checkers.go",
            "puzzles.go",
            "go.mod"
        ]
    ),
    starter!("perl/starter", "perl", ["pl"], "Perl", ["perl"], ["bot.pl", "RefereeKit.pm"]),
    starter!(
        "lua/starter",
        "lua",
        [],
        "Lua",
        ["lua5.4"],
        ["bot.lua", "referee_kit.lua", "json.lua"]
    ),
    starter!("ruby/starter", "ruby", ["rb"], "Ruby", ["ruby"], ["bot.rb", "referee_kit.rb"]),
    starter!(
        "shell/starter",
        "shell",
        ["bash", "sh"],
        "shell",
        ["bash", "jq"],
        ["bot.sh", "referee_kit.sh"]
    ),
];

/// The starter for a game whose rules are a program, beside which the agent has the kit that such programs have.
pub static GAME_AGENT: Starter = Starter {
    language: "python",
    aliases: &[],
    title: "Python",
    needs: &["python3"],
    folder: "game-starters/agent",
    manifest: "name = \"starter\"\ncommand = [\"python3\", \"bot.py\"]\n",
    files: &[File { name: "bot.py", text: include_str!("../game-starters/agent/bot.py") }],
};

/// Returns the Debian package that contains a needed program.
pub fn debian_package(program: &'static str) -> &'static str {
    match program {
        "cc" => "gcc",
        "c++" => "g++",
        "go" => "golang-go",
        "java" | "javac" => "default-jdk-headless",
        "node" => "nodejs",
        same => same,
    }
}

/// Returns the starter of a language, by any of its names.
pub fn starter(language: &str) -> Option<&'static Starter> {
    let language = language.to_lowercase();
    let called = |starter: &&Starter| {
        let names = starter.aliases.iter().copied().chain([starter.language]);
        names.chain([starter.title]).any(|name| name.to_lowercase() == language)
    };
    STARTERS.iter().find(called)
}

#[cfg(test)]
mod tests {
    use super::{DECISION_FUNCTION, STARTERS, starter};
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_of_one_language() {
        let mut seen = BTreeSet::new();
        for it in STARTERS {
            for name in it.aliases.iter().copied().chain([it.language]) {
                assert!(seen.insert(name), "{name} is listed twice");
                assert_eq!(starter(name).unwrap().language, it.language);
            }
        }
        assert!(starter("cobol").is_none());
    }

    #[test]
    fn the_place_to_change_is_in_the_program() {
        for it in STARTERS {
            assert!(
                it.files[0].text.contains(DECISION_FUNCTION),
                "{}: no `{DECISION_FUNCTION}`",
                it.folder
            );
        }
    }
}
