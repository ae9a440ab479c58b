//! The languages in which an agent can be begun, and the files to begin with: those of the samples
//! in the folders beside this one, so that what is copied is what is tested.

/// What to begin an agent with in one language.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// The language as it is named on the command line.
    pub language: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The language as people write it.
    pub title: &'static str,
    /// The programs that it needs.
    pub needs: &'static [Need],
    /// The folder that the files come from, below that of this crate.
    pub folder: &'static str,
    /// Its `agent.toml`.
    pub manifest: &'static str,
    /// The other files; the program comes first.
    pub files: &'static [File],
}

/// The function that chooses the action in each starter's program: what to change first.
pub const PLACE: &str = "choose";

/// A program that has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name in PATH.
    pub program: &'static str,
    /// The package of Debian that has it.
    pub package: &'static str,
}

/// A file to copy.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// A starter from its folder: language, other names, title, (program, package).., files.
macro_rules! starter {
    ($folder:literal, $language:literal, [$($alias:literal),*], $title:literal,
     [$(($program:literal, $package:literal)),+], [$($file:literal),+]) => {
        Starter {
            language: $language,
            aliases: &[$($alias),*],
            title: $title,
            needs: &[$(Need { program: $program, package: $package }),+],
            folder: $folder,
            manifest: include_str!(concat!("../", $folder, "/agent.toml")),
            files: &[$(File {
                name: $file,
                text: include_str!(concat!("../", $folder, "/", $file)),
            }),+],
        }
    };
}

/// Every language, in the order in which lists show them.
pub static STARTERS: &[Starter] = &[
    starter!(
        "python/starter",
        "python",
        ["py", "python3"],
        "Python",
        [("python3", "python3")],
        ["bot.py", "referee_kit.py"]
    ),
    starter!(
        "javascript/random",
        "javascript",
        ["js", "node"],
        "JavaScript",
        [("node", "nodejs")],
        ["bot.js"]
    ),
    starter!(
        "java/random",
        "java",
        [],
        "Java",
        [("javac", "default-jdk-headless"), ("java", "default-jdk-headless")],
        ["Bot.java", "Json.java"]
    ),
    starter!("c/random", "c", [], "C", [("cc", "gcc")], ["bot.c", "json.h"]),
    starter!("cpp/random", "cpp", ["c++", "cxx"], "C++", [("c++", "g++")], ["bot.cpp", "json.hpp"]),
    starter!("rust/random", "rust", ["rs"], "Rust", [("rustc", "rustc")], ["bot.rs", "json.rs"]),
    starter!("go/random", "go", ["golang"], "Go", [("go", "golang-go")], ["bot.go", "go.mod"]),
    starter!("perl/random", "perl", ["pl"], "Perl", [("perl", "perl")], ["bot.pl"]),
    starter!("lua/random", "lua", [], "Lua", [("lua5.4", "lua5.4")], ["bot.lua", "json.lua"]),
    starter!("ruby/random", "ruby", ["rb"], "Ruby", [("ruby", "ruby")], ["bot.rb"]),
    starter!(
        "shell/random",
        "shell",
        ["bash", "sh"],
        "shell",
        [("bash", "bash"), ("jq", "jq")],
        ["bot.sh"]
    ),
];

/// The starter of a language, by any of its names.
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
    use super::{PLACE, STARTERS, starter};
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_of_one_language() {
        let mut seen = BTreeSet::new();
        for it in STARTERS {
            for name in it.aliases.iter().copied().chain([it.language]) {
                assert!(seen.insert(name), "{name} stands twice");
                assert_eq!(starter(name).unwrap().language, it.language);
            }
        }
        assert!(starter("cobol").is_none());
    }

    #[test]
    fn the_place_to_change_is_in_the_program() {
        for it in STARTERS {
            assert!(it.files[0].text.contains(PLACE), "{}: no `{PLACE}`", it.folder);
        }
    }
}
