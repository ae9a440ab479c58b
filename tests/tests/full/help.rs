//! The help of the command that only the feature `fleet` has.

use crate::support::TestDir;

#[test]
fn the_worker() {
    let help = TestDir::new().run(&["worker", "--help"]).code(0);
    insta::assert_snapshot!("worker", help.stdout);
}
