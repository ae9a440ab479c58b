//! Runs the console blocks of README.md and the book.
//!
//! In a block ```` ```console ````, each line that begins with `$ ` is run, in order, all in one folder.
//! It must exit with 0, or with the code of a comment such as `# exit 1` at its end. A line that ends
//! with `\` continues on the next line. `cargo run --` is the program. Other cargo commands and blocks
//! ```` ```console,ignore ```` are skipped.

use crate::support::{program, root};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command on a page.
struct Line {
    page: String,
    number: usize,
    text: String,
}

/// Reads README.md and all pages below docs, sorted.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    collect(Path::new("docs"), &mut found);
    found.sort_unstable();
    found.insert(0, "README.md".to_owned());
    found
}

fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in root().join(folder).read_dir().unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if root().join(&path).is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
}

/// Returns the commands of a page's blocks.
fn commands(page: &str) -> Vec<Line> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let (mut inside, mut found) = (false, Vec::<Line>::new());
    let mut continues = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        if let Some(fence) = line.strip_prefix("```") {
            inside = !inside && fence.trim() == "console";
            continues = false;
        } else if continues {
            let last = found.last_mut().unwrap();
            last.text.push('\n');
            last.text.push_str(line);
            continues = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push(Line { page: page.to_owned(), number, text: command.to_owned() });
            continues = command.ends_with('\\');
        }
    }
    found
}

/// Returns the command to run and its exit code; `None` if it is skipped.
fn prepared(text: &str) -> Option<(String, i32)> {
    let (text, code) = match text.rsplit_once("# exit ") {
        Some((text, code)) => (text, code.trim().parse().unwrap()),
        None => (text, 0),
    };
    let text = text.replace("cargo run -- ", "referee ");
    let other = text.split_whitespace().any(|word| word == "cargo");
    (!other).then(|| (text.trim().to_owned(), code))
}

#[test]
fn every_console_block_runs() {
    let dir = tempfile::TempDir::with_prefix("referee-readme-").unwrap();
    fs::create_dir(dir.path().join("bin")).unwrap();
    symlink(program(), dir.path().join("bin/referee")).unwrap();
    // Paths on the pages are relative to the root; files that the commands create stay in this folder.
    symlink(root().join("sample-agents"), dir.path().join("sample-agents")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", dir.path().join("bin").display());
    let mut run = 0;
    for line in pages().iter().flat_map(|page| commands(page)) {
        let Line { page, number, text } = &line;
        let Some((command, code)) = prepared(text) else {
            println!("left out: {page}:{number}: {text}");
            continue;
        };
        println!("run: {page}:{number}: {command}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(dir.path()).env("PATH", &path);
        shell.env("REFEREE_NO_CONFIG", "1");
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{page}:{number}: {command}\n{stderr}");
        run += 1;
    }
    assert!(run >= 8, "only {run} commands were found");
}

#[test]
fn the_readme_has_its_two_commands() {
    let lines = commands("README.md");
    let first = "cargo run -- play ";
    assert!(lines[0].text.starts_with(first), "{}", lines[0].text);
    assert!(lines[1].text.starts_with("cargo test"), "{}", lines[1].text);
}
