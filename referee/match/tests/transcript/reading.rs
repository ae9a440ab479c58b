//! Writing and reading back, and what can't be read.

use super::samples::{all, hex_played, packed, sealed, sealed_lines, unsealed_lines};
use referee_games::Games;
use referee_match::transcript::{HeaderError, ReadEnd, Recorder, Status, read, unpack, verify};
use referee_protocol::Event;

#[test]
fn what_was_recorded_is_read() {
    for (name, events) in all() {
        let bytes = sealed(&events);
        let mut reading = read(&bytes).expect(name);
        assert_eq!(Event::Header(Box::new(reading.header.clone())), events[0], "{name}");
        let read: Vec<Event> = reading.by_ref().collect();
        assert_eq!(read, events[1..], "{name}");
        let Some(ReadEnd::Seal(seal)) = &reading.end else { panic!("{:?}", reading.end) };
        assert_eq!(seal.lines, reading.line - 1, "{name}");
    }
}

#[test]
fn a_cut_file_reads_up_to_the_cut() {
    let events = hex_played();
    let bytes = sealed(&events);
    let header_bytes = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for length in 0..header_bytes {
        assert_eq!(read(&bytes[..length]).unwrap_err(), HeaderError::Cut, "{length} bytes");
    }
    for length in header_bytes..bytes.len() {
        let kept = &bytes[..length];
        let whole_lines = kept.split(|&byte| byte == b'\n').count() - 1;
        let mut reading = read(kept).unwrap();
        assert!(reading.by_ref().eq(events[1..whole_lines].iter().cloned()), "{length} bytes");
        let line = u64::try_from(whole_lines).unwrap() + 1;
        assert_eq!(reading.end, Some(ReadEnd::Cut { line }), "{length} bytes");
    }
    let packed = packed(&bytes);
    let unpacked = unpack(&packed[..packed.len() - 9], 1 << 20).unwrap();
    assert!(read(&unpacked).unwrap().count() > 5);
}

#[test]
fn unpacking_is_bounded() {
    let bytes = sealed(&hex_played());
    let packed = packed(&bytes);
    assert_eq!(unpack(&packed, bytes.len()).unwrap(), bytes);
    assert_eq!(unpack(&packed, bytes.len() - 1), None);
    assert_eq!(unpack(&bytes, bytes.len()).unwrap(), bytes);
    assert_eq!(unpack(&bytes, bytes.len() - 1), None);
}

#[test]
fn reading_stops_at_a_line_that_is_no_event() {
    let mut lines = unsealed_lines(&sealed(&hex_played()));
    lines[3] = "{\"type\":\"played\"}".to_owned();
    let bytes = sealed_lines(&lines);
    let mut reading = read(&bytes).unwrap();
    assert_eq!(reading.by_ref().count(), 2);
    let Some(ReadEnd::Broken { line: 4, text }) = &reading.end else { panic!("{:?}", reading.end) };
    assert!(text.contains("missing field"), "{text}");
}

#[test]
fn what_later_versions_add_is_passed_over() {
    let mut lines = unsealed_lines(&sealed(&hex_played()));
    let events = read(&sealed_lines(&lines)).unwrap().count();
    lines[0] = lines[0].replacen("{\"type\":\"header\",", "{\"type\":\"header\",\"new\":[{}],", 1);
    for line in &mut lines[1..] {
        line.insert_str(line.len() - 1, ",\"new\":{\"deep\":[null]}");
    }
    lines.insert(2, "{\"type\":\"weather\",\"wind\":{\"from\":[1,2]}}".to_owned());
    lines.push("{\"type\":\"applause\"}".to_owned());
    let bytes = sealed_lines(&lines);
    let report = verify(&bytes, &Games::default());
    assert_eq!(report.status, Status::Ok, "{}", report.detail);
    let mut reading = read(&bytes).unwrap();
    assert_eq!(reading.by_ref().count(), events);
    assert!(matches!(reading.end, Some(ReadEnd::Seal(_))));
}

#[test]
fn what_is_no_transcript_is_unreadable() {
    let lines = unsealed_lines(&sealed(&hex_played()));
    let with_header = |from: &str, to: &str| {
        let mut lines = lines.clone();
        assert!(lines[0].contains(from));
        lines[0] = lines[0].replacen(from, to, 1);
        sealed_lines(&lines)
    };
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    for (bytes, wanted) in [
        (b"hello".to_vec(), "no header"),
        (b"hello\n".to_vec(), "its first line is not a header"),
        (b"\n".to_vec(), "its first line is not a header"),
        (b"{\"type\":\"seat\"".to_vec(), "no header"),
        (b"{\"type\":\"header\"}\n".to_vec(), "its first line is not a header"),
        (b"{\"type\":\"header\",\"transcript\":1}\n".to_vec(), "missing field `match`"),
        (png, "its first line is not a header"),
        (packed(b"hello\n"), "its first line is not a header"),
        (sealed_lines(&lines[1..]), "its first line is not a header"),
        (with_header("\"transcript\":1", "\"transcript\":2"), "use the referee that wrote it"),
        (with_header("\"transcript\":1", "\"transcript\":0"), "version 0"),
        (with_header("\"seed\":7", "\"seed\":\"7\""), "its header can't be read"),
        (with_header("\"game\":\"hex\"", "\"game\":\"hey\""), "unknown game `hey`"),
    ] {
        let report = verify(&bytes, &Games::default());
        let (status, detail) = (report.status, report.detail);
        assert_eq!(status, Status::Unreadable, "{detail}: {}", String::from_utf8_lossy(&bytes));
        assert!(detail.contains(wanted), "{detail:?} lacks {wanted:?}");
    }
}

#[test]
fn the_buffer_can_be_taken_at_any_time() {
    let events = hex_played();
    let wanted = sealed(&events);
    for every in 1..5 {
        let mut recorder = Recorder::new();
        let mut bytes = Vec::new();
        for (index, event) in events.iter().enumerate() {
            recorder.record(event);
            if index % every == 0 {
                recorder.take_into(&mut bytes);
            } else if index % every == 1 {
                bytes.extend(recorder.take());
            }
        }
        assert_eq!(recorder.lines(), u64::try_from(events.len()).unwrap());
        recorder.seal();
        recorder.take_into(&mut bytes);
        assert_eq!(bytes, wanted, "taken every {every} events");
    }
}
