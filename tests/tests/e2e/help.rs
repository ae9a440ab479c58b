//! Snapshots of the help of every command.

use crate::support::TestDir;

#[test]
fn every_command() {
    let dir = TestDir::new();
    let all = dir.run(&["--help"]).code(0);
    insta::assert_snapshot!("referee", all.stdout);
    let commands = all.stdout.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    // Continuation lines are indented further.
    let lines =
        commands.filter_map(|line| line.strip_prefix("  ")).filter(|it| !it.starts_with(' '));
    let names: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"play"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        insta::assert_snapshot!(name, dir.run(&[name, "--help"]).code(0).stdout);
    }
}
