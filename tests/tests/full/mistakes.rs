//! What the authors of all agents in tests/agents read. The quick suite has one for each kind of mistake.

use crate::support::lacks;
use crate::support::mistakes::group;

/// Tests a group of agents, some of which may need more than the bare processes of other systems.
fn test(name: &str, needs_sandbox: bool) {
    if needs_sandbox && lacks("limits of memory, and a view of agents that wait for input") {
        return;
    }
    if let Some(rows) = group(name) {
        insta::assert_snapshot!(name, rows);
    }
}

#[test]
fn correct_agents() {
    test("correct", false);
}

#[test]
fn agents_that_do_not_start() {
    test("start", true);
}

#[test]
fn agents_that_do_not_answer() {
    test("answers", true);
}

#[test]
fn agents_that_play_wrong_actions() {
    test("actions", false);
}

#[test]
fn agents_that_end_badly() {
    test("ends", false);
}

#[test]
fn agents_and_their_surroundings() {
    test("surroundings", true);
}
