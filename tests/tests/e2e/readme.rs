//! The console blocks of README.md and of the book are run, so that they can't rot.
//!
//! In a block ```` ```console ```` each line that begins with `$ ` is run, in order, all in one folder, and
//! has to end with exit code 0, or with that of a comment `# exit 1` at its end. A line that ends with
//! `\` goes on with the next. `cargo run --release --` is the program, with or without its default
//! features; other lines with cargo are left out, and so are whole blocks ```` ```console,ignore ````.

use crate::support::{PROGRAM, root};
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

/// README.md, and all pages below docs, in order.
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

/// The commands of a page's blocks.
fn commands(page: &str) -> Vec<Line> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let (mut inside, mut found) = (false, Vec::<Line>::new());
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        if let Some(fence) = line.strip_prefix("```") {
            inside = !inside && fence.trim() == "console";
            goes_on = false;
        } else if goes_on {
            let last = found.last_mut().unwrap();
            last.text.push('\n');
            last.text.push_str(line);
            goes_on = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push(Line { page: page.to_owned(), number, text: command.to_owned() });
            goes_on = command.ends_with('\\');
        }
    }
    found
}

/// The command as it is run, and its exit code; `None` for one that is left out.
fn prepared(text: &str) -> Option<(String, i32)> {
    let (text, code) = match text.rsplit_once("# exit ") {
        Some((text, code)) => (text, code.trim().parse().unwrap()),
        None => (text, 0),
    };
    let text = text.replace("--no-default-features ", "");
    let text = text.replace("cargo run --release -- ", "referee ");
    let other = text.split_whitespace().any(|word| word == "cargo");
    (!other).then(|| (text.trim().to_owned(), code))
}

#[test]
fn every_command_does_what_the_pages_say() {
    let place = tempfile::TempDir::with_prefix("referee-readme-").unwrap();
    fs::create_dir(place.path().join("bin")).unwrap();
    symlink(PROGRAM, place.path().join("bin/referee")).unwrap();
    // The pages speak of what lies at the root; what their commands leave behind stays here.
    symlink(root().join("sample-agents"), place.path().join("sample-agents")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", place.path().join("bin").display());
    let mut run = 0;
    for line in pages().iter().flat_map(|page| commands(page)) {
        let Line { page, number, text } = &line;
        let Some((command, code)) = prepared(text) else {
            println!("left out: {page}:{number}: {text}");
            continue;
        };
        println!("run: {page}:{number}: {command}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(place.path()).env("PATH", &path);
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{page}:{number}: {command}\n{told}");
        run += 1;
    }
    assert!(run >= 8, "only {run} commands were found");
}

#[test]
fn the_readme_has_its_two_commands() {
    let lines = commands("README.md");
    assert!(
        lines[0].text.starts_with("cargo run --release --no-default-features -- play "),
        "{}",
        lines[0].text
    );
    assert!(lines[1].text.starts_with("cargo test"), "{}", lines[1].text);
}
