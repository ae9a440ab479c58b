//! The table of mistakes: what `check` and `play` print about each agent in tests/agents, and whether the
//! printed `debug` command shows the same fault. The snapshots are read by a person whenever they change.

use super::{AMPLE, TestDir, in_parallel, python, root};
use referee_match::summary::fault_in_words;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// How many agents of a group are tested at once. Most of them wait.
const AT_ONCE: usize = 4;

/// An agent's `row.toml`. Beside it are its files, by default `bot.py`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// What is special about it.
    what: String,
    #[serde(default = "usual_game")]
    game: String,
    #[serde(default)]
    setup: Vec<String>,
    /// The AGENT if it isn't the folder.
    agent: Option<String>,
    /// Its opponents in `play`.
    #[serde(default = "usual_others")]
    others: Vec<String>,
    /// Its seat in `play`.
    #[serde(default)]
    seat: usize,
    /// Whether the Python kit is beside it.
    #[serde(default)]
    kit: bool,
    /// More options of `check`.
    #[serde(default)]
    check: Vec<String>,
    /// More options of `play`.
    #[serde(default)]
    play: Vec<String>,
}

fn usual_game() -> String {
    "hex".to_owned()
}

fn usual_others() -> Vec<String> {
    vec!["@first".to_owned()]
}

/// Describes the agents of a group; `None` without Python.
pub fn group(name: &str) -> Option<String> {
    python()?;
    let folder = root().join("tests/agents").join(name);
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let rows = Mutex::new(vec![String::new(); names.len()]);
    in_parallel(AT_ONCE, names.len(), |index| {
        let row = describe(&folder.join(&names[index]), &names[index]);
        rows.lock().unwrap()[index] = row;
    });
    Some(rows.into_inner().unwrap().join("\n"))
}

/// Runs one agent and describes what was printed.
fn describe(folder: &Path, name: &str) -> String {
    let row: Row = toml::from_str(&fs::read_to_string(folder.join("row.toml")).unwrap())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let dir = TestDir::sandboxed();
    copy(folder, &dir, name, &row);
    let mut text = format!("{name}: {}\n", row.what);
    check(&dir, name, &row, &mut text);
    play(&dir, name, &row, &mut text);
    let folder = dir.path("").display().to_string();
    let text = text.replace("running a second", "running N seconds");
    without_times(&text.replace(&folder, "DIR/").replace(folder.trim_end_matches('/'), "DIR"))
}

/// Copies an agent and what all of them share.
fn copy(folder: &Path, dir: &TestDir, name: &str, row: &Row) {
    let shared = root().join("tests/agents/simple_agent.py");
    dir.write(&format!("{name}/simple_agent.py"), fs::read(shared).unwrap());
    for file in ["referee_kit.py", "rules.py"].iter().filter(|_| row.kit) {
        let kit = root().join("sample-agents/python/starter").join(file);
        dir.write(&format!("{name}/{file}"), fs::read(kit).unwrap());
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if file != "row.toml" && path.is_file() {
            fs::copy(&path, dir.path(name).join(file)).unwrap();
        }
    }
    if !folder.join("agent.toml").exists() {
        let text = format!("command = [\"python3\", \"bot.py\"]\ngames = [\"{}\"]\n", row.game);
        dir.write(&format!("{name}/agent.toml"), text);
    }
}

impl Row {
    /// Returns the options for the setup.
    fn setup(&self) -> impl Iterator<Item = &str> {
        self.setup.iter().flat_map(|pair| ["--setup", pair])
    }

    /// Returns the AGENT.
    fn agent<'a>(&'a self, name: &'a str) -> &'a str {
        self.agent.as_deref().unwrap_or(name)
    }
}

/// Appends which probe fails first, and why.
fn check(dir: &TestDir, name: &str, row: &Row, text: &mut String) {
    let mut words = vec!["check", row.agent(name), "--json", "--fail-fast"];
    if row.agent.is_some() || !row.setup.is_empty() {
        words.extend(["--game", &row.game]);
    }
    words.extend(row.setup());
    words.extend(row.check.iter().map(String::as_str));
    words.extend(AMPLE.iter().filter(|_| row.check.is_empty()));
    let ran = dir.run(&words);
    if ran.exit == Some(2) {
        return row_of(text, "check", ran.stderr.trim());
    }
    let report = ran.json();
    let probes = report["probes"].as_array().unwrap();
    let of = |status: &'static str| probes.iter().filter(move |it| it["status"] == status);
    match of("failed").next() {
        None => writeln!(text, "  check  passes").unwrap(),
        Some(probe) => {
            let failure = &probe["failure"];
            row_of(
                text,
                "check",
                &format!("{}: {}", string(&probe["name"]), string(&failure["what"])),
            );
            row_of(text, "fix", string(&failure["fix"]));
        }
    }
    // Few agents offer another game.
    for probe in of("not_applicable").filter(|probe| probe["name"] != "again") {
        row_of(text, "n/a", &format!("{}: {}", string(&probe["name"]), string(&probe["note"])));
    }
    assert_eq!(
        ran.exit,
        Some(if of("failed").next().is_some() { 3 } else { 0 }),
        "{name}: {ran:?}"
    );
}

/// Appends the fault and its fix as `play` prints them, and whether `debug` reproduces the fault.
fn play(dir: &TestDir, name: &str, row: &Row, text: &mut String) {
    let mut agents: Vec<&str> = row.others.iter().map(String::as_str).collect();
    agents.insert(row.seat, row.agent(name));
    let mut words = vec!["play", &row.game];
    words.extend(agents);
    words.extend(row.setup());
    words.extend(["--seed", "1", "--board", "none", "--color", "never"]);
    words.extend(row.play.iter().map(String::as_str));
    words.extend(["--out", "match.jsonl"]);
    let ran = dir.run(&words);
    let overs = dir.events_of("match.jsonl", "over");
    let Some(over) = overs.first() else {
        // No match was played.
        assert_eq!(ran.exit, Some(2), "{name}: {ran:?}");
        return row_of(text, "play", ran.stderr.trim());
    };
    let fault = &over["verdict"]["seats"][row.seat]["fault"];
    assert_eq!(ran.exit, Some(0), "{name}: {ran:?}");
    if fault.is_null() {
        row_of(text, "play", "no fault");
        if let Some(note) = ran.stdout.lines().find_map(|line| line.strip_prefix("note: ")) {
            row_of(text, "note", note);
        }
        return;
    }
    row_of(text, "play", &format!("{}: {}", string(&fault["kind"]), string(&fault["text"])));
    // With several faults, each line names its agent.
    let named =
        |label: &str| [format!("{label}: "), format!("{label} {name} (seat {}): ", row.seat)];
    let printed = |label: &str| {
        let forms = named(label);
        let mut lines = ran.stdout.lines();
        lines.find_map(|line| forms.iter().find_map(|form| line.strip_prefix(form.as_str())))
    };
    if let Some(cause) = printed("cause") {
        row_of(text, "cause", cause);
    }
    row_of(text, "fix", printed("fix").unwrap_or("none"));
    let command = printed("debug");
    let Some(command) = command else { return row_of(text, "debug", "no command") };
    let debugged = dir.shell(&format!("{command} --json"));
    if debugged.exit != Some(3) {
        let strayed = if debugged.stderr.is_empty() { "no fault" } else { &debugged.stderr };
        return row_of(text, "debug", strayed.trim());
    }
    let wrong = &debugged.json()["wrong"];
    let wrong = without_times(wrong.as_str().unwrap_or("nothing wrong"));
    // `debug` says separately what the agent wrote.
    let fault = without_times(&fault_in_words(string(&fault["text"])));
    let same = fault.contains(wrong.trim_start_matches("not a message: "));
    let more = wrong.strip_prefix(&fault).map(|more| format!("the same fault{more}"));
    row_of(text, "debug", if same { "the same fault" } else { more.as_ref().unwrap_or(&wrong) });
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Appends a line of a row.
fn row_of(text: &mut String, label: &str, value: &str) {
    writeln!(text, "  {label:6} {value}").unwrap();
}

/// Replaces measured times and sizes with `N`.
fn without_times(text: &str) -> String {
    let units = ["ms", "s", "seconds", "MB", "MiB"];
    let is_unit = |word: &str| units.contains(&word.trim_end_matches([')', ',', ';', ':', '\n']));
    let text = without_exception_texts(text);
    let mut words: Vec<String> = text.split(' ').map(without_long_numbers).collect();
    let numbers: Vec<usize> = (1..words.len())
        .filter(|&index| is_unit(&words[index]))
        .map(|index| index - 1)
        .filter(|&index| words[index].trim_start_matches('(').parse::<f64>().is_ok())
        .collect();
    for index in numbers {
        let number = if words[index].starts_with('(') { "(N" } else { "N" };
        number.clone_into(&mut words[index]);
    }
    words.join(" ")
}

/// Cuts what follows the name of an exception, which differs between versions of Python.
fn without_exception_texts(text: &str) -> String {
    let cut = |line: &str| match (
        line.find("Error: "),
        line.rfind(" (").filter(|&at| line[at..].contains(".py:")),
    ) {
        (Some(start), Some(end)) if start < end => {
            format!("{}Error: ..{}", &line[..start], &line[end..])
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(cut).collect()
}

/// Replaces a number of six digits or more, which an agent chose at random.
fn without_long_numbers(word: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let start = word.find(is_digit).unwrap_or(word.len());
    let rest = word[start..].trim_start_matches(is_digit);
    let digits = word.len() - start - rest.len();
    if digits < 6 { word.to_owned() } else { format!("{}N{rest}", &word[..start]) }
}
