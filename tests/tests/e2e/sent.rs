//! What an agent was written can be made again from the transcript, byte for byte.

use crate::support::{Place, scripted};
use referee_match::transcript::{read, sent};
use referee_protocol::{Event, Seat};
use std::fs;

/// The bytes for a seat up to a turn's request, or all.
pub(crate) fn made_again(place: &Place, transcript: &str, seat: u8, turn: Option<u64>) -> String {
    let bytes = fs::read(place.path(transcript)).unwrap();
    let mut reading = read(&bytes).unwrap();
    let events: Vec<Event> = reading.by_ref().collect();
    let bytes = sent(&reading.header, Seat(seat), &events, turn).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn an_agent_reads_what_the_transcript_says_it_was_written() {
    let Some(quiet) = scripted("logging.py", "") else { return };
    let Some(curious) = scripted("logging.py", "position") else { return };
    // Who gets no core for a second after the end is killed and doesn't tell of it; so in one of some
    // matches.
    assert!((0..5).any(|_| both_read_all(&quiet, &curious)));
}

/// Whether both have told of all that they were written, in a match; it is what the transcript says,
/// as far as they have.
fn both_read_all(quiet: &str, curious: &str) -> bool {
    let place = Place::new();
    // The third seat fails, so that the others read `retired`.
    let words = ["chexers", quiet, curious, "python3 -c 1", "--setup", "turns_per_seat=4"];
    place.play(&[&words[..], &["--out", "x.jsonl", "--limit", "stderr_bytes=1000000"]].concat());
    let mut all = true;
    for seat in [0_u8, 1] {
        let read = place.said("x.jsonl", u64::from(seat));
        let written = made_again(&place, "x.jsonl", seat, None);
        assert!(written.starts_with(&read), "seat {seat}: {written}\nread: {read}");
        assert!(written.contains("\"type\":\"retired\"") && written.contains("\"type\":\"over\""));
        let request = made_again(&place, "x.jsonl", seat, Some(3 + u64::from(seat)));
        assert!(written.starts_with(&request), "seat {seat}: {request}");
        let last = request.lines().last().unwrap();
        assert!(last.starts_with(&format!("{{\"type\":\"turn\",\"turn\":{}", 3 + seat)), "{last}");
        all &= read == written;
    }
    all
}

#[test]
fn what_no_referee_wrote_is_refused() {
    let place = Place::new();
    place.short_match(["@first", "@first"]);
    let bytes = fs::read(place.path("x.jsonl")).unwrap();
    let mut reading = read(&bytes).unwrap();
    let mut events: Vec<Event> = reading.by_ref().collect();
    let mut header = reading.header.clone();
    let error = sent(&header, Seat(2), &events, None).unwrap_err();
    assert!(error.contains("no seat 2"), "{error}");
    let twice = events.iter().find(|event| matches!(event, Event::Played(_))).unwrap().clone();
    events.push(twice);
    let error = sent(&header, Seat(0), &events, None).unwrap_err();
    assert!(error.contains("no seat is asked"), "{error}");
    header.game = "chess".to_owned();
    let error = sent(&header, Seat(0), &events, None).unwrap_err();
    assert!(error.contains("`chess` is unknown"), "{error}");
}
