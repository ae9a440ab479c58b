//! An agent with two descendants: whether its processes end.

use super::{TestDir, command_lines, eventually, script_agent};

/// The agent's file, which is in the command lines of all its processes.
const FAMILY: &str = "/family.py";

/// Returns an agent with this mode, whose command line identifies the test; `None` without Python.
pub fn family(dir: &TestDir, mode: &str) -> Option<String> {
    script_agent("family.py", &format!("{mode} {}", mark(dir)))
}

/// Returns the unique name of the test's folder.
fn mark(dir: &TestDir) -> String {
    dir.path("").file_name().unwrap().to_str().unwrap().to_owned()
}

/// Counts the process ids that a seat has reported on stderr in a transcript so far.
pub fn reported_pids(dir: &TestDir, transcript: &str, seat: u64) -> usize {
    dir.said(transcript, seat).lines().filter(|line| line.starts_with("pid ")).count()
}

/// Returns the running processes of all agents of the test.
pub fn families(dir: &TestDir) -> Vec<u32> {
    let mark = mark(dir);
    let is_of_family =
        |words: &[String]| words.iter().any(|word| word.ends_with(FAMILY)) && words.contains(&mark);
    command_lines().filter(|(_, words)| is_of_family(words)).map(|(pid, _)| pid).collect()
}

#[track_caller]
pub fn assert_gone(dir: &TestDir) {
    let left = families(dir);
    assert!(left.is_empty(), "still there: {left:?}");
}

/// Waits until both agents of each match have reported themselves and their two descendants.
#[track_caller]
pub fn wait_for_families(dir: &TestDir, transcripts: &[&str]) -> Vec<u32> {
    let has_reported = |name: &&str| [0, 1].iter().all(|&seat| reported_pids(dir, name, seat) == 3);
    let all_reported = eventually(|| transcripts.iter().all(has_reported));
    let pids = families(dir);
    assert!(all_reported, "only {pids:?}");
    assert_eq!(pids.len(), transcripts.len() * 2 * 3, "they don't all run");
    pids
}
