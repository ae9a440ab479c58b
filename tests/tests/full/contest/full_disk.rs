//! A full disk stops a contest; it can be resumed when there is space.

use crate::support::contest::{
    GATE, assert_whole, contest, count, gated, start, wait_for_games, write,
};
use crate::support::{RunResult, TestDir, skip};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::os::unix::fs::symlink;

#[test]
fn an_unwritable_transcript_stops_the_contest() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    write(&dir, &[&agent, "@random"], "rounds = 5\njobs = 2\n");
    let running = start(&dir, &["run", "c.toml", "--out", "d"]);
    wait_for_games(&dir, "d", 2);
    symlink("/dev/full", dir.path("d/games/0000/0000004.jsonl")).unwrap();
    dir.write(GATE, "");
    let ran = running.wait().code(4).stderr_has("the disk is full");
    let ran =
        ran.stderr_has("free some space, then run `referee contest resume DIR`: no result is lost");
    let ran = ran.stderr_has("referee contest resume d");
    assert!(!ran.stderr.contains("void") && !ran.stderr.contains("fault"), "{}", ran.stderr);
    assert!(count(&dir, "d") < 10);
    dir.run(&["verify", "d"]).code(0);
    // Nothing of the unwritten game is left.
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 10);
    dir.assert_tmp_is_empty();
}

const SMALL_DISK: &str = "mkdir d && mount -t tmpfs -o size=400k none d";
const READ_ONLY: &str = "mount --bind d d && mount -o remount,ro,bind d";

/// Runs these shell lines where something is mounted at the folder `d`; the mount is gone when the
/// shell exits. `None` where mounting isn't allowed.
fn with_mount(dir: &TestDir, mount: &str, lines: &str) -> Option<RunResult> {
    let ways = ["unshare -m sh -c", "unshare -rm sh -c"];
    let way = ways
        .iter()
        .find(|way| dir.shell(&format!("{way} 'mount -t tmpfs none /mnt'")).exit == Some(0));
    let Some(way) = way else {
        // Without root this may be forbidden.
        if nix::unistd::geteuid().is_root() {
            skip("way to mount anything");
        }
        return None;
    };
    Some(dir.shell(&format!("{way} '{mount} || exit\n{lines}'")))
}

/// Tests that a finished contest and one whose referee was killed are read from an archive.
#[test]
fn a_read_only_folder_is_checked() {
    for killed in [false, true] {
        let dir = TestDir::new();
        let agent = gated(&dir, "slow.sh");
        write(&dir, &[&agent, "@random"], "rounds = 3\njobs = 2\n");
        if killed {
            let running = start(&dir, &["run", "c.toml", "--out", "d"]);
            wait_for_games(&dir, "d", 2);
            running.send(Signal::SIGKILL);
            running.wait();
        } else {
            dir.write(GATE, "");
            contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
        }
        let lines = "ls -lR d > before\n\
             referee verify d -q > /dev/null && referee contest status d > status && \
             referee contest report d > report && ls -lR d | cmp - before || exit\n\
             referee serve d --port 0 -q > address & server=$!\n\
             until grep -q / address; do sleep 0.05; done\n\
             port=$(tr -dc \"0-9:\" < address | cut -d: -f3)\n\
             request=\"GET /api/contest?folder= HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\"\n\
             export port request\n\
             bash -c \"exec 3<>/dev/tcp/127.0.0.1/\\$port; printf \\\"\\$request\\\" >&3; cat <&3\" > shown\n\
             kill $server; wait $server; ls -lR d | cmp - before";
        let Some(ran) = with_mount(&dir, READ_ONLY, lines) else { return };
        ran.code(0);
        let status = std::fs::read_to_string(dir.path("status")).unwrap();
        assert!(status.contains(if killed { "stopped" } else { "over" }), "{status}");
        let shown = std::fs::read_to_string(dir.path("shown")).unwrap();
        assert!(shown.starts_with("HTTP/1.0 200") && shown.contains("\"played\":"), "{shown}");
        if !killed {
            dir.assert_tmp_is_empty();
        }
    }
}

#[test]
fn a_contest_resumes_after_a_full_disk() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "rounds = 100\n");
    let ran = with_mount(
        &dir,
        SMALL_DISK,
        "referee contest run c.toml --out d -q > /dev/null\n\
         echo run $?\n\
         rm d/contest.db-shm; head -c 1m /dev/zero > d/rest 2> /dev/null\n\
         referee contest status d --json\n\
         referee contest resume d -q > /dev/null\n\
         echo still $?\n\
         rm d/rest\n\
         mount -o remount,size=64m d\n\
         referee verify d -q > verified\n\
         echo verify $?\n\
         referee contest resume d -q > /dev/null\n\
         echo resume $?\n\
         cp -r d whole",
    );
    let Some(ran) = ran else { return };
    let output: Vec<&str> = ran.stdout.lines().collect();
    let verified = std::fs::read_to_string(dir.path("verified")).unwrap_or_default();
    let [run, status, rest @ ..] = &output[..] else { panic!("{ran:?}") };
    assert_eq!(*run, "run 4", "{ran:?}");
    assert_eq!(rest, ["still 4", "verify 0", "resume 0"], "{ran:?} {verified}");
    let status: Value = serde_json::from_str(status).unwrap();
    assert!((1..200).contains(&status["played"].as_u64().unwrap()), "{status}");
    let ran = ran.stderr_has("the disk is full").stderr_has("free some space, then run");
    assert!(!ran.stderr.contains("void") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_whole(&dir, "whole", 200);
}

#[test]
fn a_report_on_a_full_disk_keeps_the_previous_one() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    let ran = with_mount(
        &dir,
        SMALL_DISK,
        "referee contest run c.toml --out d -q > /dev/null\n\
         echo run $?\n\
         cp d/report.json before\n\
         cat /dev/zero > d/fill\n\
         referee contest resume d -q > /dev/null\n\
         echo full $?\n\
         cmp d/report.json before && rm d/fill\n\
         referee verify d -q > /dev/null\n\
         echo verify $?\n\
         referee contest resume d -q > /dev/null\n\
         echo resume $?\n\
         cp -r d whole",
    );
    let Some(ran) = ran else { return };
    assert_eq!(ran.stdout, "run 0\nfull 4\nverify 0\nresume 0\n", "{ran:?}");
    ran.stderr_has("the disk is full");
    assert_whole(&dir, "whole", 2);
}
