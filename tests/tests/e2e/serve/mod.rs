//! The web viewer's server, as seen by a browser.

mod playing;
mod untrusted;

use crate::support::serving::Serving;
use crate::support::{AMPLE, TestDir, eventually, golden};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn many_transcripts_are_listed_a_page_at_a_time() {
    let dir = TestDir::new();
    let bytes = golden("hex-fault.jsonl");
    for number in 0..400 {
        dir.write(&format!("games/{:02}/{number:04}.jsonl", number / 100), &bytes);
    }
    dir.write("games/notes.txt", "no transcript");
    dir.write("other.jsonl", "no transcript\n");
    let serving = Serving::start(&dir, &[]);
    assert_eq!(serving.json("/api/overview")["transcripts"], 400, "one is another file");
    let mut seen = BTreeSet::new();
    for from in (0..400).step_by(150) {
        let page = serving.json(&format!("/api/transcripts?from={from}&count=150"));
        assert_eq!(page["total"], 400);
        for row in page["rows"].as_array().unwrap() {
            assert!(seen.insert(row["file"].as_str().unwrap().to_owned()), "twice: {row}");
            assert_eq!(row["live"], false);
            assert!(row["game"] == "hex" && row["fault"].is_string(), "{row}");
        }
    }
    assert_eq!(seen.len(), 400);
    let found = serving.json("/api/transcripts?find=/0123&folder=games/01");
    assert_eq!(
        (&found["total"], &found["rows"][0]["file"]),
        (&1.into(), &"games/01/0123.jsonl".into())
    );
    let found = serving.json("/api/transcripts?find=HEX");
    assert_eq!(found["total"], 400, "games are found by what was played");
    serving.end();
}

#[test]
fn unfinished_headers_and_contest_games_are_not_listed() {
    let dir = TestDir::new();
    let bytes = golden("hex-fault.jsonl");
    dir.write("x.jsonl", &bytes);
    dir.write("begun.jsonl", &bytes[..40]);
    dir.write("cup/contest.db", "");
    dir.write("cup/games/0000/0000001.jsonl", &bytes);
    let serving = Serving::start(&dir, &[]);
    assert_eq!(serving.json("/api/overview")["transcripts"], 1);
    assert_eq!(serving.json("/api/transcripts")["rows"][0]["file"], "x.jsonl");
    assert_eq!(serving.json("/api/transcripts?folder=cup")["total"], 1);
    dir.write("begun.jsonl", &bytes);
    assert!(eventually(|| serving.json("/api/transcripts")["total"] == 2));
    serving.end();
}

#[test]
fn a_match_has_json_lines_and_pictures() {
    let dir = TestDir::new();
    dir.write("x.jsonl", golden("hex-fault.jsonl"));
    let serving = Serving::start(&dir, &[]);
    let sheet = serving.json("/api/match?file=x.jsonl");
    assert_eq!((&sheet["state"], &sheet["game"]), (&"over".into(), &"hex".into()), "{sheet}");
    assert_eq!((&sheet["own"], &sheet["notations"][0]), (&false.into(), &"sgf".into()));
    let plies = sheet["plies"].as_array().unwrap();
    assert!(plies.last().unwrap()["fault"].is_string());
    let lines = serving.json("/api/lines?file=x.jsonl&ply=1");
    let lines = lines["lines"].as_array().unwrap();
    let asked = |line: &Value| {
        line["sent"] == true && line["text"].as_str().unwrap().starts_with("{\"type\":\"turn\"")
    };
    assert!(lines.iter().any(asked), "{lines:?}");
    let action = |line: &&Value| line["sent"] == false && line["seat"] == plies[1]["seat"];
    assert!(lines.iter().any(|line| action(&line)), "{lines:?}");
    for (form, begins) in [
        ("svg", &b"<svg"[..]),
        ("png", b"\x89PNG"),
        ("gif", b"GIF8"),
        ("apng", b"\x89PNG"),
        ("html", b"<!doctype"),
        ("txt", b"@first wins"),
        ("sgf", b"(;"),
    ] {
        let reply = serving.get(&format!("/api/picture?file=x.jsonl&ply=1&form={form}"));
        assert_eq!(reply.status, 200, "{form}");
        assert!(reply.headers["content-disposition"].ends_with(form), "{:?}", reply.headers);
        assert!(reply.bytes().starts_with(begins), "{form}");
    }
    assert_eq!(serving.get("/api/match?file=y.jsonl").status, 404);
    assert_eq!(serving.get("/api/lines?file=x.jsonl&ply=9999").status, 404);
    serving.end();
}

#[test]
fn a_contest_is_shown_while_its_games_are_counted() {
    let dir = TestDir::new();
    let words = [
        "-q", "contest", "quick", "--game", "hex", "--setup", "size=3", "@random", "@first",
        "@illegal", "--out", "cup",
    ];
    dir.run(&[&words[..], &AMPLE].concat()).code(0);
    let serving = Serving::start(&dir, &[]);
    let contest = serving.json("/api/contest?folder=cup");
    let played = contest["played"].as_u64().unwrap();
    assert!(played > 0 && contest["running"] == false, "{contest}");
    assert_eq!(contest["rows"].as_array().unwrap().len(), 3);
    let listed = &serving.json("/api/overview")["contests"][0];
    assert_eq!((&listed["folder"], &listed["played"]), (&"cup".into(), &played.into()));
    let all = serving.json("/api/contest/games?folder=cup");
    assert_eq!(all["total"].as_u64(), Some(played));
    let faults = serving.json("/api/contest/games?folder=cup&faults=true");
    let lost = serving.json("/api/contest/games?folder=cup&agent=@illegal&lost=true");
    assert_eq!(faults["total"], lost["total"], "each of its games ends with a fault");
    for row in faults["rows"].as_array().unwrap() {
        assert_eq!(row["fault"], "illegal", "{row}");
        let file = row["file"].as_str().unwrap();
        assert_eq!(serving.json(&format!("/api/match?file={file}"))["state"], "over");
    }
    let report = serving.get("/files/cup/report.html");
    assert!(report.headers["content-security-policy"].contains("script-src 'none'"));
    assert_eq!(report.status, 200);
    let transcript = all["rows"][0]["file"].as_str().unwrap();
    let reply = serving.get(&format!("/files/{transcript}"));
    assert_eq!(reply.headers["location"], format!("/match?file={transcript}"));
    // The report links to replays, for those who read it from disk.
    let page_path = transcript.replace("/games/", "/replays/").replace(".jsonl", ".html");
    let link = format!("href=\"./{}\"", page_path.trim_start_matches("cup/"));
    assert!(report.text().contains(&link), "{link}");
    let page = std::fs::read_to_string(dir.path(&page_path)).unwrap();
    assert!(page.contains("src=\"../assets/viewer.js\"") && page.contains("../../report.html"));
    assert!(dir.path("cup/replays/assets/viewer.js").exists());
    let reply = serving.get(&format!("/files/{page_path}"));
    assert_eq!(reply.headers["location"], format!("/match?file={transcript}"));
    serving.end();
}
