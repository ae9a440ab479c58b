//! A transcript that can't be written: the machine's failure, and no agent's.

use crate::support::Place;

/// Long enough to be written while it is played, and short enough to be written at the end.
#[test]
fn a_full_disk_is_nobodys_fault() {
    let long = ["chinese-checkers", "@random", "@random"];
    for match_words in [&long[..], &["hex", "@random", "@random", "--setup", "size=3"]] {
        let place = Place::new();
        std::os::unix::fs::symlink("/dev/full", place.path("x.jsonl")).unwrap();
        let out = ["--out", "x.jsonl", "--force", "--json"];
        let ran = place.run(&[&["play"], match_words, &out].concat()).code(4);
        let ran = ran.complains("No space left on device").complains("help: make room");
        assert!(!ran.stderr.contains("fault") && !ran.stdout.contains("fault"), "{ran:?}");
        place.assert_tidy();
    }
}

#[test]
fn a_folder_that_does_not_exist_is_told() {
    let place = Place::new();
    let words = ["play", "hex", "@random", "@random", "--out", "no/such/folder/x.jsonl"];
    place.run(&words).code(4).complains("no/such/folder/x.jsonl");
}

#[test]
fn nothing_is_overwritten_unasked() {
    let place = Place::new();
    place.write("x.jsonl", "dear diary");
    let words = ["play", "hex", "@random", "@random", "--out", "x.jsonl"];
    place.run(&words).code(2).complains("--force");
    assert_eq!(std::fs::read_to_string(place.path("x.jsonl")).unwrap(), "dear diary");
    place.run(&[&words[..], &["--force", "--setup", "size=3"]].concat()).code(0);
    assert_eq!(place.verified("x.jsonl"), "ok");
}

/// Whoever reads the transcript goes away in the middle of it.
#[test]
fn a_transcript_that_breaks_off_is_nobodys_fault() {
    for bytes in ["1", "1000", "9000", "40000"] {
        let place = Place::new();
        place.shell("mkfifo x.jsonl").code(0);
        let words = "referee play chinese-checkers @random @random --out x.jsonl --force --json \
                     --clock 1h";
        let ran = place
            .shell(&format!("head -c {bytes} x.jsonl > kept & {words}; code=$?; wait; exit $code"));
        let ran = ran.code(4).complains("Broken pipe");
        assert!(!ran.stderr.contains("fault") && !ran.stdout.contains("fault"), "{ran:?}");
        assert_eq!(place.verified("kept"), "torn");
        place.assert_tidy();
    }
}
