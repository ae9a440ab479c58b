//! Snapshots of the help of every command.

use crate::support::TestDir;

#[test]
fn every_command() {
    let dir = TestDir::new();
    let all = dir.run(&["--help"]).code(0);
    insta::assert_snapshot!("referee", all.stdout);
    // The commands are listed in groups before the options.
    let commands = all.stdout.lines().take_while(|line| *line != "Options:");
    let lines = commands.filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"play"), "{names:?}");
    for name in names {
        insta::assert_snapshot!(name, dir.run(&[name, "--help"]).code(0).stdout);
    }
}
