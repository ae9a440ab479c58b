//! Tests the invariants of docs/architecture.md and docs/style.md that neither Cargo nor a lint
//! enforces. Each failure says what to do.

use crate::support::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The most lines of a file; split longer ones.
const FILE_LINES_MAX: usize = 800;

/// A file of the project: its path from the root and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Returns the lines of code, numbered from 1, without comments and without what follows `#[cfg(test)]`.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod ").unwrap_or(self.text.len());
        let lines = (1..).zip(self.text[..end].lines());
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Reads all files below a folder with one of these endings.
fn sources(folder: &str, endings: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), endings, &mut found);
    assert!(!found.is_empty(), "nothing in {folder}");
    found
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<Source>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "target" || name == "matches" || (name.starts_with('.') && name != ".ci") {
            continue;
        }
        if path.is_dir() {
            collect(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            found.push(Source { path, text });
        }
    }
}

/// Returns the names of the games, from their folders.
fn games() -> Vec<String> {
    let folders = root().join("referee/games/src").read_dir().unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.join("about.json").is_file());
    folders.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// Every promise of the threat model names what tests it.
#[test]
fn what_the_threat_model_names_exists() {
    let page = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let (_, table) = page.split_once("### Which test shows it").expect("the table");
    let rows: String =
        sources("tests/hostile/rows", &[".toml"]).into_iter().map(|it| it.text).collect();
    let tests: String = ["tests/tests", "referee", "protocol"]
        .into_iter()
        .flat_map(|folder| sources(folder, &[".rs"]))
        .map(|it| it.text)
        .collect();
    for line in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let named = line.split('|').nth(2).expect("what shows it");
        let (in_rows, in_tests) = named.split_once(';').unwrap_or((named, ""));
        let in_tests = if in_rows.contains('`') { in_rows } else { in_tests };
        let ids = in_rows
            .split([' ', ','])
            .filter(|word| word.starts_with(|it: char| it.is_ascii_digit()));
        for id in ids {
            assert!(
                rows.contains(&format!("\nid = \"{id}\"\n")),
                "docs/threat-model.md: no row {id}"
            );
        }
        for test in in_tests.split('`').skip(1).step_by(2) {
            // Those of properties have arguments.
            let is_there = tests.contains(&format!("fn {test}("));
            assert!(is_there, "docs/threat-model.md: no test {test}");
        }
        assert!(named.contains("row") || named.contains('`'), "docs/threat-model.md: {line}");
    }
}

#[test]
fn only_its_folder_names_a_game() {
    let mut names = BTreeSet::new();
    for game in games() {
        names.insert(game.replace('_', "-"));
        names.insert(game);
    }
    let mut files = sources("protocol/src", &[".rs"]);
    files.extend(sources("referee", &[".rs"]).into_iter().filter(|it| it.path.contains("/src/")));
    files.extend(sources("sample-agents/src", &[".rs"]));
    for source in files {
        let registry = source.path == "referee/games/src/lib.rs";
        let own = source.path.strip_prefix("referee/games/src/");
        let in_folder = own.is_some_and(|path| path.contains('/'));
        // Tests may name the games they play.
        let test = source.path.contains("/tests/") || source.path.ends_with("/tests.rs");
        if registry || in_folder || test {
            continue;
        }
        for (line, code) in source.code() {
            // Example commands may name games.
            if code.contains("referee play") || code.contains("referee ") {
                continue;
            }
            for name in &names {
                let written = [format!("\"{name}\""), format!("{name}::")];
                assert!(
                    !written.iter().any(|form| code.contains(form)),
                    "{}:{line}: names the game {name}: move what is specific to a game to its \
                     folder in referee/games/src",
                    source.path
                );
            }
        }
    }
}

/// Crates and folders without input and output.
const PURE: [&str; 7] = [
    "protocol/src",
    "referee/games/src",
    "referee/match/src",
    "referee/contest/src",
    "referee/render/src",
    "referee/src/reading",
    "referee/src/screen",
];

/// Pure code that may start threads.
const PARALLEL: [&str; 2] =
    ["referee/contest/src/parallel.rs", "referee/render/src/animation_frames.rs"];

/// Modules and types for files, the network, clocks, the environment, the machine's randomness,
/// processes and threads.
const IMPURE: [&str; 11] = [
    "fs::",
    "net::",
    "process::",
    "thread::",
    "env::",
    "tokio::",
    "Instant",
    "SystemTime",
    "Timestamp",
    "Zoned",
    "SysRng",
];

#[test]
fn pure_code_has_no_input_or_output() {
    for source in PURE.iter().flat_map(|folder| sources(folder, &[".rs"])) {
        let parallel = PARALLEL.contains(&source.path.as_str());
        if source.path.contains("/tests/") || source.path.ends_with("/tests.rs") || parallel {
            continue;
        }
        for (line, code) in source.code() {
            for path in code.split(|it: char| !it.is_alphanumeric() && !"_:".contains(it)) {
                let mut parts = path.split_inclusive("::");
                let impure = parts.any(|part| {
                    IMPURE.contains(&part) || IMPURE.contains(&part.trim_end_matches(':'))
                });
                assert!(
                    !impure,
                    "{}:{line}: {path}: pass in what this returns; input and output belong into \
                     the crates play, runner, fleet and web, and into the command line",
                    source.path
                );
            }
        }
    }
}

/// The names of the formats, from the registry: as a contest file has them, and as code does.
fn formats() -> Vec<String> {
    let registry = root().join("referee/contest/src/formats/mod.rs");
    let text = fs::read_to_string(registry).unwrap();
    let lines = text.split("$call! {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    let mut names = Vec::new();
    for line in lines.lines().filter(|line| line.contains("::")) {
        let (name, path) = line.trim().split_once(": ").unwrap();
        let format = path.split(',').next().unwrap().split_once("::").unwrap().1;
        let of = ["FormatSettings", "FormatName", "formats"].map(|it| format!("{it}::{format}"));
        names.extend(of.into_iter().chain([name.to_owned(), format!("{format} {{")]));
    }
    assert!(names.len() > 20, "the registry of formats has another form: {names:?}");
    names
}

#[test]
fn nothing_but_its_file_names_a_format() {
    let names = formats();
    let own = "referee/contest/src/formats/";
    // The command of the same name, its place in the help, and its schema.
    let command = ["contest/compare.rs", "mod.rs", "renamed.rs", "schema.rs"]
        .map(|it| format!("referee/src/cli/{it}"));
    for folder in
        ["referee/contest", "referee/runner", "referee/fleet", "referee/web", "referee/src"]
    {
        for source in sources(folder, &[".rs"]) {
            let test = source.path.contains("/tests") || !source.path.contains("/src/");
            if test || source.path.starts_with(own) || command.contains(&source.path) {
                continue;
            }
            for (line, code) in source.code() {
                let found = names.iter().find(|name| code.contains(name.as_str()));
                assert!(
                    found.is_none(),
                    "{}:{line}: names a format ({}): move what is specific to a format to its \
                     file in {own}, behind a method of `Format`",
                    source.path,
                    found.unwrap()
                );
            }
        }
    }
}

#[test]
fn every_crate_but_one_forbids_unsafe_code() {
    let is_root = |path: &str| {
        let roots = ["/src/lib.rs", "/src/main.rs"];
        roots.iter().any(|root| path.ends_with(root)) || path.contains("/src/bin/")
    };
    for source in sources("", &[".rs"]) {
        assert!(
            !is_root(&source.path)
                || source.path.starts_with("referee/process/")
                || source.text.contains("\n#![forbid(unsafe_code)]\n"),
            "{}: add `#![forbid(unsafe_code)]`: what needs unsafe code belongs into referee/process",
            source.path
        );
    }
    // System calls of the launcher, on Linux and elsewhere, and those of the self-test's attacks.
    let allowed = ["launcher/sys.rs", "launcher/raw.rs", "portable/sys.rs"]
        .map(|file| format!("referee/process/src/{file}"));
    for source in sources("referee/process", &[".rs"]) {
        assert!(
            allowed.contains(&source.path) || !source.text.contains("expect(unsafe_code"),
            "{}: unsafe code is allowed only in {allowed:?}: use a safe wrapper",
            source.path
        );
    }
}

#[test]
fn files_are_short() {
    for source in sources("", &[".rs", ".py"]) {
        let lines = source.text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{} has {lines} lines: split it by concept ({FILE_LINES_MAX} at most)",
            source.path
        );
    }
}

#[test]
fn every_crate_takes_lints_and_versions_from_the_workspace() {
    for manifest in sources("", &["Cargo.toml"]) {
        // A workspace root has the lint table itself.
        if manifest.text.lines().any(|line| line == "[workspace]") {
            continue;
        }
        let path = &manifest.path;
        assert!(manifest.text.contains("[lints]\nworkspace = true"), "{path}: add `[lints]`");
        let mut section = "";
        for line in manifest.text.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let is_entry = !line.starts_with('[') && line.contains('=');
            let dependency = section.ends_with("dependencies]") && is_entry;
            assert!(
                !dependency || line.contains("workspace = true"),
                "{path}: {line}: put versions in the table of the root Cargo.toml"
            );
        }
    }
    let agents = fs::read_to_string(root().join("sample-agents/Cargo.toml")).unwrap();
    let depends =
        agents.lines().any(|line| line.starts_with("referee.") || line.starts_with("referee "));
    assert!(!depends, "sample-agents must not depend on referee, which judges it");
}

/// Reads README.md and every page below docs.
fn pages() -> Vec<Source> {
    let mut pages = sources("docs", &[".md"]);
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    pages.push(Source { path: "README.md".to_owned(), text });
    pages
}

/// Returns the anchors of a page's headings as GitHub and mdBook create them: lower case, `-` for
/// spaces, no punctuation; `-1`, `-2`, ... appended to repeated headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut inside) = (BTreeSet::new(), false);
    for line in text.lines() {
        inside ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if inside || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|it| !found.contains(it));
        found.extend(free);
    }
    found
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in sources("docs", &[".md"]) {
        let page = page.path.strip_prefix("docs/").unwrap().to_owned();
        let listed = page == "SUMMARY.md" || summary.contains(&format!("({page})"));
        assert!(listed, "add docs/{page} to docs/SUMMARY.md");
    }
}

#[test]
fn every_link_between_pages_resolves() {
    for page in pages() {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for link in page.text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root().join(&page.path) } else { folder.join(file) };
            assert!(target.exists(), "{}: there is no file for the link {link}", page.path);
            let found = anchor.is_empty()
                || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
            assert!(found, "{}: there is no heading for the link {link}", page.path);
        }
    }
}

/// Folders at the top level. Pages name files in them by their path from the root.
const FOLDERS: [&str; 5] = ["docs/", "protocol/", "referee/", "sample-agents/", "tests/"];

#[test]
fn files_named_on_pages_exist() {
    for page in pages() {
        // Every second part between backticks is code; parts with spaces are commands and blocks.
        for code in page.text.split('`').skip(1).step_by(2) {
            let is_path = FOLDERS.iter().any(|folder| code.starts_with(folder));
            let is_placeholder = |part: &str| part.chars().all(|it| it.is_ascii_uppercase());
            if is_path
                && !code.contains(|it: char| it.is_whitespace() || "<>*{}".contains(it))
                && !code.trim_end_matches('/').split('/').any(is_placeholder)
            {
                assert!(root().join(code).exists(), "{}: there is no file {code}", page.path);
            }
        }
    }
}

/// The source tree of docs/architecture.md: a line has a path, or several separated by commas, in the
/// folder of the line above that is indented less.
#[test]
fn the_source_tree_of_the_architecture_exists() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let tree = page.split("```").find_map(|block| block.strip_prefix("text\n")).unwrap();
    let mut parents = vec![root()];
    for line in tree.lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let paths = line.trim_start().split("  ").next().unwrap();
        // Lines that are indented more continue a description.
        if depth > 2 || paths.contains('<') {
            continue;
        }
        let mut folder = parents[depth].clone();
        for path in paths.split(", ") {
            let path = folder.join(path);
            assert!(path.exists(), "docs/architecture.md: there is no {}", path.display());
            path.parent().unwrap().clone_into(&mut folder);
            parents.truncate(depth + 1);
            parents.push(path);
        }
    }
}

#[test]
fn the_top_level_has_only_known_files() {
    let agreed = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "protocol",
        "referee",
        "sample-agents",
        "docs",
        "tests",
    ];
    // Folders that a build, a match or a contest creates.
    let left = ["target", "matches", "contests"];
    for entry in root().read_dir().unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let known = agreed.contains(&name.as_str()) || left.contains(&name.as_str());
        assert!(known || name.starts_with('.'), "{name} doesn't belong at the top level");
    }
}

/// What agents write reaches the terminal through functions that remove what it would interpret.
#[test]
fn few_files_write_to_the_terminal() {
    let writers = [
        "referee/play/src/echo.rs",
        "referee/play/src/human.rs",
        "referee/play/src/destination.rs",
        "referee/play/src/sink.rs",
        "referee/src/cli/agent.rs",
        "referee/src/cli/live.rs",
        "referee/src/cli/mod.rs",
        "referee/src/cli/output.rs",
        "referee/src/cli/replay/export.rs",
        "referee/src/console.rs",
        // In the sandbox, to its parent.
        "referee/process/src/sandbox/attacker/",
    ];
    let crates = sources("referee", &[".rs"]).into_iter().chain(sources("protocol/src", &[".rs"]));
    for source in crates.filter(|it| it.path.contains("/src/") && !it.path.contains("/tests")) {
        if writers.iter().any(|writer| source.path.starts_with(writer)) {
            continue;
        }
        for (line, code) in source.code() {
            let of_terminal = ["stdout()", "stderr()"].iter().any(|it| code.contains(it));
            let other = [
                "is_terminal",
                "terminal_size",
                "draw_target",
                "owns_terminal",
                "cursor.",
                "Sink::",
            ];
            let prints = ["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!("]
                .iter()
                .any(|it| code.trim_start().starts_with(it));
            assert!(
                !prints && (!of_terminal || other.iter().any(|it| code.contains(it))),
                "{}:{line}: writes to the terminal: use referee/src/cli/output.rs",
                source.path
            );
        }
    }
}
