//! The bytes sent to an agent can be rebuilt from the transcript.

use crate::support::{TestDir, rebuild_input, script_agent};
use referee_games::Games;
use referee_match::transcript::{read, sent};
use referee_protocol::{Event, Seat};
use std::fs;

#[test]
fn agents_receive_the_lines_in_the_transcript() {
    let Some(quiet) = script_agent("logging.py", "") else { return };
    let Some(curious) = script_agent("logging.py", "position") else { return };
    let dir = TestDir::new();
    // The third seat fails, so the others receive `retired`.
    let words = ["chexers", &quiet, &curious, "python3 -c 1", "--setup", "turns_per_seat=4"];
    dir.play(&[&words[..], &["--out", "x.jsonl", "--limit", "stderr_bytes=1000000"]].concat());
    for seat in [0_u8, 1] {
        let read = dir.said("x.jsonl", u64::from(seat));
        let written = rebuild_input(&dir, "x.jsonl", seat, None);
        assert_eq!(read, written, "seat {seat}");
        assert!(written.contains("\"type\":\"retired\"") && written.contains("\"type\":\"over\""));
        let request = rebuild_input(&dir, "x.jsonl", seat, Some(3 + u64::from(seat)));
        assert!(written.starts_with(&request), "seat {seat}: {request}");
        let last = request.lines().last().unwrap();
        assert!(last.starts_with(&format!("{{\"type\":\"turn\",\"turn\":{}", 3 + seat)), "{last}");
    }
}

#[test]
fn inconsistent_events_are_refused() {
    let dir = TestDir::new();
    dir.short_match(["@first", "@first"]);
    let bytes = fs::read(dir.path("x.jsonl")).unwrap();
    let mut reading = read(&bytes).unwrap();
    let mut events: Vec<Event> = reading.by_ref().collect();
    let mut header = reading.header.clone();
    let error = sent(&header, &Games::default(), Seat(2), &events, None).unwrap_err();
    assert!(error.contains("no seat 2"), "{error}");
    let over = events.iter().position(|event| matches!(event, Event::Over(_))).unwrap();
    events.insert(over, events[over].clone());
    let error = sent(&header, &Games::default(), Seat(0), &events, None).unwrap_err();
    assert!(error.contains("a second `over`"), "{error}");
    header.game = "chess".to_owned();
    let error = sent(&header, &Games::default(), Seat(0), &events, None).unwrap_err();
    assert!(error.contains("unknown game `chess`"), "{error}");
}
