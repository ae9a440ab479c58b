//! Files that were cut or changed after they were written.

use super::samples::{
    all, hex_played, hex_short_lines, hex_void, packed, sealed, short, unsealed_lines,
};
use proptest::prelude::*;
use referee_games::Games;
use referee_match::transcript::{
    Report, Status, TRANSCRIPT_LINE_BYTES_MAX, Verifier, unpack, verify, verify_from,
};
use referee_protocol::Event;
use std::io::{self, BufReader};

#[test]
fn whole_transcripts_are_ok() {
    for (name, events) in all() {
        let bytes = sealed(&events);
        let report = verify(&bytes, &Games::default());
        assert_eq!(report.status, Status::Ok, "{name}: {}", report.detail);
        assert_eq!(report, verify(&packed(&bytes), &Games::default()), "{name}");
        let seal = report.seal.expect("a seal");
        assert_eq!(usize::try_from(seal.lines).unwrap(), events.len(), "{name}");
    }
}

#[test]
fn a_cut_at_any_byte_is_torn() {
    for (name, events) in short() {
        let bytes = sealed(&events);
        for length in 0..bytes.len() {
            expect(Status::Torn, &bytes[..length], &format!("{name} cut after {length} bytes"));
        }
        let packed = packed(&bytes);
        for length in 0..packed.len() {
            let what = format!("{name}.gz cut after {length} bytes");
            expect(Status::Torn, &packed[..length], &what);
        }
    }
}

/// Future fields may have values that no present event has.
#[test]
fn a_cut_within_any_value_is_torn() {
    let line = "{\"type\":\"new\",\"a\":[-1.5e+30,-0.25E-7,true,false,null,{},[]],\
                \"b\":\"\u{fc}\u{1f41d}\\u00e9\\ud83d\\udc1d\\n\\\\\\\"\"}";
    assert!(serde_json::from_str::<serde_json::Value>(line).is_ok());
    let mut bytes = sealed(&hex_void());
    let header_bytes = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes.truncate(header_bytes);
    for length in 0..=line.len() {
        let cut = [&bytes, &line.as_bytes()[..length]].concat();
        expect(Status::Torn, &cut, &format!("cut after {length} bytes of {line}"));
    }
}

/// Every byte is changed, and the ways to change it come in turn.
#[test]
fn a_change_of_any_byte_is_tampered() {
    for (name, events) in short() {
        let bytes = sealed(&events);
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let ways = [byte ^ 1, byte ^ 0x20, byte ^ 0x80, b'\n', b' ', b'"', b'\\', b'0', 0];
            let other = ways[at % ways.len()];
            if other != byte {
                let mut changed = bytes.clone();
                changed[at] = other;
                let what = format!("{name}, byte {at} of {} made {other}", bytes.len());
                expect(Status::Tampered, &changed, &what);
            }
        }
    }
}

#[test]
fn a_byte_too_many_or_too_few_is_tampered() {
    for (name, events) in short() {
        let bytes = sealed(&events);
        // Of each kind of extra byte, at places throughout the file: each is verified as a whole.
        for at in (0..=bytes.len()).step_by(4) {
            let extra = [b' ', b'\n', b'}', b'1', bytes[at.min(bytes.len() - 1)]][at % 5];
            let mut changed = bytes.clone();
            changed.insert(at, extra);
            expect(Status::Tampered, &changed, &format!("{name} with {extra} before byte {at}"));
            // Without its last byte a file is a cut one.
            if at + 1 < bytes.len() {
                let mut changed = bytes.clone();
                changed.remove(at);
                expect(Status::Tampered, &changed, &format!("{name} without byte {at}"));
            }
        }
    }
}

#[test]
fn lines_that_moved_or_went_are_tampered() {
    let bytes = sealed(&hex_played());
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for at in 0..lines.len() - 1 {
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        expect(Status::Tampered, &swapped.concat(), &format!("line {at} and the next swapped"));
        let mut without = lines.clone();
        without.remove(at);
        expect(Status::Tampered, &without.concat(), &format!("without line {at}"));
    }
    expect(Status::Tampered, &[&bytes[..], &bytes[..]].concat(), "twice the file");
    expect(Status::Tampered, &[&bytes[..], lines[lines.len() - 1]].concat(), "twice the seal");
}

#[test]
fn packed_files_are_judged_on_what_is_in_them() {
    let bytes = sealed(&hex_played());
    let whole = packed(&bytes);
    for at in 0..whole.len() {
        for change in [[1, 0x10], [0x80, 0xff]][at % 2] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            let report = verify(&changed, &Games::default());
            // Some bits say nothing of what is packed (time and origin of the file, codes that are
            // never used), and damage may look like a cut.
            let fine = match report.status {
                Status::Tampered => true,
                Status::Torn => at >= 3,
                Status::Ok => unpack(&changed, 1 << 20).unwrap() == bytes,
                _ => false,
            };
            assert!(fine, "byte {at} ^ {change}: {report:?}");
        }
    }
    let trailer = whole.len() - 8;
    for at in trailer..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 4;
        expect(Status::Tampered, &changed, "a wrong checksum or length");
    }
    expect(Status::Tampered, &[&whole[..], b"x"].concat(), "a byte after the stream");
    expect(Status::Tampered, &[&whole[..], &whole[..]].concat(), "a second member");
    let mut changed = bytes;
    changed[500] ^= 1;
    expect(Status::Tampered, &packed(&changed), "changed, then packed");
}

#[test]
fn the_detail_names_the_place() {
    let bytes = sealed(&hex_played());
    let text = std::str::from_utf8(&bytes).unwrap();
    let count = text.lines().count();
    let detail_of = |bytes: &[u8]| verify(bytes, &Games::default()).detail;
    let cut = &bytes[..bytes.len() - 1];
    assert!(
        detail_of(cut).contains(&format!("line {count} is cut off after")),
        "{}",
        detail_of(cut)
    );
    let changed = text.replacen("\"seat\":1", "\"seat\":0", 2);
    let detail = detail_of(changed.as_bytes());
    assert!(detail.contains(&format!("line {count}: the seal's sha256 is")), "{detail}");
    let short: String = text
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 3)
        .flat_map(|(_, line)| [line, "\n"])
        .collect();
    let detail = detail_of(short.as_bytes());
    let wanted =
        format!("the seal counts {} lines before it, but there are {}", count - 1, count - 2);
    assert!(detail.contains(&wanted), "{detail}");
    let broken = text.replacen("{\"type\":\"line\"", "{\"type\":\"line", 1);
    assert!(
        detail_of(broken.as_bytes()).contains("line 2 is not an event"),
        "{}",
        detail_of(broken.as_bytes())
    );
}

#[test]
fn pieces_of_any_size_give_the_same_report() {
    let bytes = sealed(&hex_played());
    for size in [1, 2, 7, 100, 1000] {
        let mut verifier = Verifier::new(&Games::default());
        bytes.chunks(size).for_each(|piece| verifier.push(piece));
        assert_eq!(verifier.finish(), verify(&bytes, &Games::default()), "pieces of {size}");
    }
}

proptest! {
    #[test]
    fn changed_files_are_never_ok(
        splices in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0..40_usize, proptest::collection::vec(any::<u8>(), 0..9)),
            1..4,
        ),
    ) {
        let bytes = sealed(&hex_played());
        let mut changed = bytes.clone();
        for (at, removed, added) in splices {
            let at = at.index(changed.len() + 1);
            let end = (at + removed).min(changed.len());
            changed.splice(at..end, added);
        }
        prop_assume!(changed != bytes);
        let Report { status, detail, .. } = verify(&changed, &Games::default());
        let header_bytes = bytes.iter().position(|&byte| byte == b'\n').unwrap();
        let fine = match status {
            Status::Torn | Status::Tampered => true,
            // The seal is gone, and so is the header.
            Status::Unreadable => !changed.starts_with(&bytes[..=header_bytes]),
            _ => false,
        };
        prop_assert!(fine, "{status}: {detail}\n{}", String::from_utf8_lossy(&changed));
    }

    #[test]
    fn any_bytes_get_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_ne!(verify(&bytes, &Games::default()).status, Status::Ok);
    }
}

/// What no match writes is neither kept nor read to its end.
#[test]
fn lines_and_transcripts_are_bounded() {
    let header = unsealed_lines(&sealed(&hex_played())).remove(0) + "\n";
    let line = vec![b'x'; TRANSCRIPT_LINE_BYTES_MAX + 1];
    let text = "longer than 8388608 bytes, the limit of a line";
    for (start, number) in [("", 1), (header.as_str(), 2)] {
        for end in ["", "\n", "\n{}\n"] {
            let bytes = [start.as_bytes(), &line, end.as_bytes()].concat();
            for bytes in [packed(&bytes), bytes] {
                let Report { status, detail, .. } = verify(&bytes, &Games::default());
                assert_eq!(
                    (status, detail),
                    (Status::Unreadable, format!("line {number} is {text}"))
                );
            }
        }
    }
    let endless = verify_from(BufReader::new(io::repeat(b'x')), &Games::default()).unwrap();
    assert_eq!(endless.status, Status::Unreadable);
    assert_eq!(endless.detail, "larger than 268435456 bytes unpacked, the limit of a transcript");
}

/// In other protocols a line need not be a message: what is short in it isn't in the transcript.
#[test]
fn short_lines_count_as_long_as_they_are_recorded() {
    let is_flood = |count| {
        let events = hex_short_lines(count);
        events.iter().any(|it| matches!(it, Event::Over(over) if over.verdict.reason == "flood"))
    };
    assert!(!is_flood(5));
    assert!(is_flood(14));
}

fn expect(status: Status, bytes: &[u8], what: &str) {
    let report = verify(bytes, &Games::default());
    assert_eq!(report.status, status, "{what}: {}", report.detail);
}
