//! Snapshots of the help of every command, of a build without the feature `fleet`. One build of all tests may
//! have it, since Cargo joins the features; then the help has all lines of the snapshot, and more between them.

use crate::support::TestDir;

/// The commands with options that only the feature `fleet` has.
const WITH_FLEET: &[&str] = &["compare", "contest"];

#[test]
fn every_command() {
    let dir = TestDir::new();
    let all = dir.run(&["--help"]).code(0);
    // Only the feature `fleet` has this command.
    let rest = all.stdout.lines().filter(|line| !line.starts_with("  worker "));
    insta::assert_snapshot!("referee", rest.collect::<Vec<_>>().join("\n"));
    // The commands are listed in groups before the options.
    let commands = all.stdout.lines().take_while(|line| *line != "Options:");
    let lines = commands.filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"play"), "{names:?}");
    // The suite `full` has the help of this command.
    for name in names.into_iter().filter(|name| *name != "worker") {
        let help = dir.run(&[name, "--help"]).code(0).stdout;
        if cfg!(feature = "full") && WITH_FLEET.contains(&name) {
            has_lines_of_snapshot(name, &help);
        } else {
            insta::assert_snapshot!(name, help);
        }
    }
}

/// Panics if a line of the command's snapshot isn't in its help, in the same order.
fn has_lines_of_snapshot(command: &str, help: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/snapshots");
    let file = std::fs::read_to_string(format!("{folder}/e2e__help__{command}.snap")).unwrap();
    // The file begins with where the snapshot is from, between two lines.
    let (_, snapshot) = file.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let mut lines = help.lines();
    for line in snapshot.lines() {
        assert!(lines.any(|other| other == line), "{command} --help lacks {line:?}");
    }
}

#[cfg(not(feature = "full"))]
#[test]
fn what_a_build_lacks_is_explained_and_not_offered() {
    let dir = TestDir::new();
    for words in [
        &["worker", "nats://localhost"][..],
        &["contest", "purge", "cup"],
        &["contest", "run", "contest.toml", "--on", "nats://localhost"],
        &["contest", "resume", "cup", "--priority", "200"],
        &["contest", "status", "--creds", "me.creds", "--on", "nats://localhost"],
    ] {
        dir.run(words).code(2).stderr_has("cargo install --path referee --features fleet");
    }
    for words in [&["workers"][..], &["contest", "worker"], &["play", "--on"]] {
        let text = dir.run(words).code(2).stderr;
        assert!(!text.contains("fleet") && !text.contains("`worker`"), "{text}");
    }
    for words in
        [&["--help"][..], &["contest", "--help"], &["contest", "run", "--help"], &["schema"]]
    {
        let text = dir.run(words).code(0).stdout;
        for absent in ["--on ", "worker ", "NATS", " purge "] {
            assert!(!text.contains(absent), "{words:?}: {text}");
        }
    }
}
