//! A transcript that can't be written is a failure of the machine, not of an agent.

use crate::support::TestDir;

/// One match long enough to be written while it runs, one short enough to be written at the end.
#[test]
fn a_full_disk_makes_the_match_void() {
    let long = ["chinese-checkers", "@random", "@random"];
    for match_words in [&long[..], &["hex", "@random", "@random", "--setup", "size=3"]] {
        let dir = TestDir::new();
        std::os::unix::fs::symlink("/dev/full", dir.path("x.jsonl")).unwrap();
        let out = ["--out", "x.jsonl", "--force", "--json"];
        let ran = dir.run(&[&["play"], match_words, &out].concat()).code(4);
        let ran = ran.stderr_has("No space left on device").stderr_has("help: free disk space");
        assert!(!ran.stderr.contains("fault") && !ran.stdout.contains("fault"), "{ran:?}");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn a_missing_folder_is_reported() {
    let dir = TestDir::new();
    let words = ["play", "hex", "@random", "@random", "--out", "no/such/folder/x.jsonl"];
    dir.run(&words).code(4).stderr_has("no/such/folder/x.jsonl");
}

#[test]
fn nothing_is_overwritten_unasked() {
    let dir = TestDir::new();
    dir.write("x.jsonl", "dear diary");
    let words = ["play", "hex", "@random", "@random", "--out", "x.jsonl"];
    dir.run(&words).code(2).stderr_has("--force");
    assert_eq!(std::fs::read_to_string(dir.path("x.jsonl")).unwrap(), "dear diary");
    dir.run(&[&words[..], &["--force", "--setup", "size=3"]].concat()).code(0);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

/// The reader of the transcript closes the pipe early.
#[test]
fn a_broken_pipe_makes_the_match_void() {
    for bytes in ["1", "1000", "9000", "40000"] {
        let dir = TestDir::new();
        dir.shell("mkfifo x.jsonl").code(0);
        let words = "referee play chinese-checkers @random @random --out x.jsonl --force --json \
                     --clock 1h";
        let ran = dir
            .shell(&format!("head -c {bytes} x.jsonl > kept & {words}; code=$?; wait; exit $code"));
        let ran = ran.code(4).stderr_has("Broken pipe");
        assert!(!ran.stderr.contains("fault") && !ran.stdout.contains("fault"), "{ran:?}");
        assert_eq!(dir.verify_status("kept"), "torn");
        dir.assert_tmp_is_empty();
    }
}
