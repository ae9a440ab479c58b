//! What the author of an agent reads about a mistake: an agent for each kind. `full` has the others, and
//! `wrong_lines` those whose mistake is in a line.

use crate::support::lacks;
use crate::support::mistakes::group;

#[test]
fn an_agent_for_each_kind() {
    if lacks("a sandbox, and a view of agents that wait for input") {
        return;
    }
    if let Some(rows) = group("kinds") {
        insta::assert_snapshot!("kinds", rows);
    }
}
