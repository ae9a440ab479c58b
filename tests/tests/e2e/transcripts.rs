//! `verify` and `replay` on files, folders, gzip, stdin and the latest match.

use crate::support::{TestDir, golden};
use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use referee_protocol::encode::to_hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;

/// Plays a short match into `x.jsonl` and returns its bytes.
fn played(dir: &TestDir) -> Vec<u8> {
    dir.short_match(["@random", "@first"]);
    fs::read(dir.path("x.jsonl")).unwrap()
}

/// Adds the seal to the lines of a transcript.
pub(crate) fn sealed(lines: &str) -> String {
    let count = lines.lines().count();
    let hex = to_hex(&Sha256::digest(lines.as_bytes()));
    format!("{lines}{{\"type\":\"seal\",\"lines\":{count},\"sha256\":\"{hex}\"}}\n")
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes files for each of the five statuses.
fn make_all(dir: &TestDir) -> Vec<(&'static str, &'static str)> {
    let good = played(dir);
    let text = String::from_utf8(good.clone()).unwrap();
    let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
    let body = format!("{body}\n");
    assert_eq!(sealed(&body), text, "the seal is what the page of the protocol says");
    // The winner's last action, changed.
    let last = body.rfind("{\"type\":\"played\"").unwrap();
    let (before, after) = body.split_at(last);
    let forged = format!("{before}{}", after.replacen("\"at\":[", "\"at\":[9", 1));
    let whole = packed(&good);
    for (name, bytes) in [
        ("all/ok.jsonl", good.clone()),
        ("all/deeper/ok.jsonl.gz", whole.clone()),
        ("all/torn.jsonl", good[..good.len() - 20].to_vec()),
        ("all/torn.jsonl.gz", whole[..whole.len() - 20].to_vec()),
        ("all/tampered.jsonl", text.replacen("\"seat\":1", "\"seat\":0", 1).into_bytes()),
        ("all/follows.jsonl", [&good[..], b"{}\n"].concat()),
        ("all/disagrees.jsonl", sealed(&forged).into_bytes()),
        ("all/unreadable.jsonl", b"dear diary\n".to_vec()),
        ("all/empty.jsonl", Vec::new()),
        ("all/note.txt", b"no transcript by its name".to_vec()),
    ] {
        dir.write(name, bytes);
    }
    vec![
        ("all/deeper/ok.jsonl.gz", "ok"),
        ("all/disagrees.jsonl", "disagrees"),
        ("all/empty.jsonl", "torn"),
        ("all/follows.jsonl", "tampered"),
        ("all/ok.jsonl", "ok"),
        ("all/tampered.jsonl", "tampered"),
        ("all/torn.jsonl", "torn"),
        ("all/torn.jsonl.gz", "torn"),
        ("all/unreadable.jsonl", "unreadable"),
    ]
}

#[test]
fn verify_has_five_words() {
    let dir = TestDir::new();
    let wanted = make_all(&dir);
    let output = dir.run(&["verify", "all", "--json"]).code(1).json_lines();
    let found: Vec<(&str, &str)> = output
        .iter()
        .map(|output| (output["file"].as_str().unwrap(), output["status"].as_str().unwrap()))
        .collect();
    assert_eq!(found, wanted);
    for output in &output {
        assert!(output["turns"].is_u64() && output.get("outcome").is_some(), "{output}");
    }
    // A single file decides the exit code; files are reported in the order of the arguments.
    for (file, status) in &wanted {
        let ran = dir.run(&["verify", file]).code(i32::from(*status != "ok"));
        assert!(ran.stdout.starts_with(status), "{ran:?}");
    }
    let ok = dir.run(&["verify", "all/ok.jsonl", "all/deeper", "--json"]).code(0).json_lines();
    assert_eq!(ok[0]["file"], "all/ok.jsonl");
    assert_eq!(ok[0]["outcome"]["reason"], "connected");
    assert_eq!(ok[0]["turns"], ok[1]["turns"]);
    assert_eq!(ok[0]["outcome"], ok[1]["outcome"]);
}

#[test]
fn verify_reports_missing_files() {
    let dir = TestDir::new();
    dir.run(&["verify", "nothing.jsonl", "--json"]).code(1).stderr_has("no such file");
    dir.run(&["verify", "tmp"]).code(1).stderr_has("no transcripts found in tmp");
    dir.run(&["verify", "latest"]).code(1).stderr_has("referee play");
}

#[test]
fn transcripts_are_compressed_by_file_name() {
    let dir = TestDir::new();
    let words = ["hex", "@random", "@first", "--setup", "size=3", "--out"];
    dir.play(&[&words, &["x.jsonl.gz"][..]].concat());
    let bytes = fs::read(dir.path("x.jsonl.gz")).unwrap();
    assert!(bytes.starts_with(&[0x1f, 0x8b]), "it isn't packed");
    assert_eq!(dir.verify_status("x.jsonl.gz"), "ok");
    dir.run(&["replay", "x.jsonl.gz", "--print"])
        .code(0)
        .stdout_has("wins: it connected its two sides");
    // Any other name is a folder.
    let output = dir.play(&[&words, &["some/folder"][..]].concat());
    let transcript = output["transcript"].as_str().unwrap();
    let wanted = format!("some/folder/hex-{}.jsonl", output["match"].as_str().unwrap());
    assert_eq!(transcript, wanted);
}

#[test]
fn a_transcript_may_go_to_stdout() {
    let dir = TestDir::new();
    let words = ["play", "hex", "@random", "@first", "--setup", "size=3", "--out", "-"];
    let ran = dir.run(&words).code(0);
    dir.write("x.jsonl", &ran.stdout);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
    let words =
        ["play", "hex", "@random", "@first", "--no-transcript", "--json", "--setup", "size=3"];
    let output = dir.run(&words).code(0).json();
    assert_eq!(output["transcript"], Value::Null);
    assert!(!dir.path("matches").exists());
}

#[test]
fn replay_shows_every_turn() {
    let dir = TestDir::new();
    let text = String::from_utf8(played(&dir)).unwrap();
    let all = dir.events_of("x.jsonl", "played");
    let ran = dir.run(&["replay", "x.jsonl", "--print", "--board", "ascii"]).code(0);
    for played in &all {
        let agent = if played["seat"] == 0 { "@random" } else { "@first" };
        let at = &played["action"]["at"];
        let column = char::from(b'a' + u8::try_from(at[1].as_u64().unwrap()).unwrap());
        let row = at[0].as_u64().unwrap() + 1;
        let line = format!("turn {}: {agent} {column}{row} ", played["turn"]);
        assert!(ran.stdout.contains(&line), "no {line:?} in {}", ran.stdout);
    }
    assert!(all.len() >= 5);
    // The same from stdin, as the latest match, and one turn of a torn file.
    let piped = dir.run_with_input(&["replay", "-", "--print", "--board", "ascii"], &text).code(0);
    assert_eq!(piped.stdout, ran.stdout);
    dir.play(&["hex", "@first", "@first", "--setup", "size=3"]);
    dir.run(&["replay", "latest", "--print"]).code(0).stdout_has("@first #2");
    let one =
        dir.run(&["replay", "x.jsonl", "--print", "--turn", "1"]).code(0).stdout_has("turn 1: ");
    assert!(!one.stdout.contains("turn 2: "), "{one:?}");
    dir.run(&["replay", "x.jsonl", "--print", "--turn", "99"]).code(2).stderr_has("--turn 99");
    let cut = &text[..text.len() / 2];
    let words = ["replay", "-", "--print", "--board", "ascii"];
    dir.run_with_input(&words, cut).code(1).stdout_has("turn 0: ").stderr_has("cut off at line");
    dir.run(&["replay", "nothing", "--print"]).code(1).stderr_has("nothing");
}

/// Writes a file with the header of a golden transcript and one event.
fn begun(dir: &TestDir, name: &str, event: &Value) {
    let whole = String::from_utf8(golden(&format!("{name}.jsonl"))).unwrap();
    dir.write("x.jsonl", format!("{}\n{event}\n", whole.lines().next().unwrap()));
}

fn retired(seat: u64, turn: u64) -> Value {
    let fault = json!({"kind": "start", "by": null, "turn": turn, "text": "left"});
    json!({"type": "retired", "at_ns": 1, "turn": turn, "seat": seat, "fault": fault})
}

#[test]
fn inconsistent_transcripts_are_refused_with_the_line() {
    let dir = TestDir::new();
    let whole = String::from_utf8(golden("hex-fault.jsonl")).unwrap();
    let over = whole.lines().find(|line| line.starts_with("{\"type\":\"over\"")).unwrap();
    let over: Value = serde_json::from_str(over).unwrap();
    let said = |seat: u64| json!({"type": "line", "at_ns": 1, "seat": seat, "line": "hello"});
    for (name, game, event, wanted) in [
        ("hex-fault", "hex", retired(0, 3), "line 2: it says turn 3"),
        ("hex-fault", "hex", retired(2, 0), "line 2: there is no seat 2"),
        ("chexers-retired", "chexers", retired(7, 0), "line 2: there is no seat 7"),
        ("chexers-retired", "chexers", said(7), "line 2: there is no seat 7"),
        ("hex-fault", "hex", over, "line 2: seat 0 is out (garbled), but wrote no line at that"),
        ("hex-fault", "hex", retired(0, 0), "line 2: `ready` of seat 0: its line gives null"),
    ] {
        begun(&dir, name, &event);
        for words in [
            &["replay", "x.jsonl", "--print"][..],
            &["position", game, "--transcript", "x.jsonl"],
            &["debug", "x.jsonl", "--print", "--seat", "0"],
            &["debug", "x.jsonl"],
        ] {
            dir.run(words).code(1).stderr_has(wanted);
        }
        for form in ["txt", "svg", "html"] {
            let words = ["replay", "export", "x.jsonl", "--out", "-", "--format", form];
            dir.run(&words).code(0).stderr_has(wanted);
        }
        assert_eq!(dir.verify_status("x.jsonl"), "torn");
    }
}

/// Names of files and games, and words of agents, must not reach a terminal as they are.
#[test]
fn no_escape_of_others_is_printed() {
    let dir = TestDir::new();
    let text = String::from_utf8(golden("hex-fault.jsonl")).unwrap();
    let hostile = "\\u001b]52;c;eA==\\u0007\\u009b2J\\u202e";
    dir.write("game.jsonl", text.replace("\"game\":\"hex\"", &format!("\"game\":\"{hostile}\"")));
    let name = text.split("\"name\":\"").nth(1).unwrap().split('"').next().unwrap();
    let names = text.replace(&format!("\"name\":\"{name}\""), &format!("\"name\":\"{hostile}\""));
    dir.write("names.jsonl", names);
    let file = "a\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}.jsonl";
    dir.write(file, text.replace("\"agent\":", "\"other\":"));
    dir.write("torn\u{1b}[2J.jsonl", "{\"type\":\"header\"\n");
    for words in [
        &["verify", "."][..],
        &["verify", "--json", "."],
        &["verify", file],
        &["debug", "game.jsonl"],
        &["debug", "names.jsonl"],
        &["debug", file],
        &["debug", "absent\u{1b}[2J"],
        &["debug", "names.jsonl", "--agent", "\u{1b}]52;c;eA==\u{7}"],
        &["replay", "names.jsonl", "--print"],
        &["replay", "."],
        &["contest", "status", "absent\u{1b}[2J"],
    ] {
        let ran = dir.run(&[&["--color", "always"], words].concat());
        for output in [&ran.stdout, &ran.stderr] {
            let is_json = words.contains(&"--json");
            let foreign = |c: &str| output.contains(c) && !(is_json && c == "\u{9b}");
            let mut escapes = output.split('\x1b').skip(1);
            let own = |part: &str| {
                let rest =
                    part.trim_start_matches(|c: char| "[;".contains(c) || c.is_ascii_digit());
                part.starts_with('[') && rest.starts_with('m') && !part.starts_with("[2J")
            };
            assert!(escapes.all(own), "{words:?}: {output:?}");
            assert!(!["\u{7}", "\u{9b}"].into_iter().any(foreign), "{words:?}: {output:?}");
        }
    }
}

/// A pipe that nobody writes to would be waited for forever.
#[test]
fn pipes_and_devices_are_no_transcripts() {
    let dir = TestDir::new();
    mkfifo(&dir.path("fifo.jsonl"), Mode::S_IRWXU).unwrap();
    for file in ["fifo.jsonl", "/dev/zero"] {
        for words in [
            &["replay", file][..],
            &["replay", file, "--print"],
            &["replay", "export", file, "--out", "x.svg"],
            &["debug", file],
            &["verify", file],
            &["position", "hex", "--transcript", file],
            &["position", "hex", "--actions", file],
        ] {
            let ran = dir.run(words).code(1);
            let output = ran.stdout + &ran.stderr;
            assert!(output.contains("not a regular file"), "{words:?}: {output}");
        }
    }
    // A shell's pipe has a writer.
    played(&dir);
    dir.shell("bash -c 'referee replay <(cat x.jsonl) --print'").code(0);
}
