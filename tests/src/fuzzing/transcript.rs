//! Fuzzes transcripts of unknown origin.

use super::Draw;
use referee_games::Games;
use referee_match::transcript::{
    HeaderError, ReadEnd, Report, Status, Verifier, Walk, read, unpack, verify,
};
use referee_protocol::encode::to_hex;
use referee_protocol::{Event, unescape_line};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// More bytes than any fuzzed transcript needs.
const UNPACKED_BYTES_MAX: usize = 1 << 20;
/// The start of a seal's line.
const SEAL_START: &[u8] = b"{\"type\":\"seal\"";

/// Verifies the bytes, and their lines with a matching seal. Nothing panics, no transcript with a wrong
/// seal is `ok`, and changing a byte of an `ok` transcript makes it not `ok`.
pub fn transcript(bytes: &[u8]) {
    let report = verify(bytes, &Games::default());
    let Some(text) = unpack(bytes, UNPACKED_BYTES_MAX) else { return };
    assert!(report.status != Status::Ok || seal_holds(&text), "{report:?}");
    follow(&text);
    if let Cow::Borrowed(plain) = text {
        assert_eq!(report, in_pieces(plain), "chunks give another report");
        let sealed = sealed(plain);
        follow(&sealed);
        check_sealed(&sealed);
    }
}

/// With a matching seal the status depends only on the rules, not on the layout of the JSON.
fn check_sealed(sealed: &[u8]) {
    let report = verify(sealed, &Games::default());
    assert_ne!(report.status, Status::Torn, "{report:?}");
    let spaced = verify(&self::sealed(&with_spaces(sealed)), &Games::default());
    let is_ok = report.status == Status::Ok;
    assert_eq!(is_ok, spaced.status == Status::Ok, "{report:?}, with spaces {spaced:?}");
    if !is_ok {
        return;
    }
    assert_eq!((report.turns, report.outcome), (spaced.turns, spaced.outcome));
    let mut draw = Draw::of(sealed);
    let mut damaged = sealed.to_vec();
    let bit = draw.below(8);
    damaged[draw.below(sealed.len())] ^= 1 << bit;
    assert_ne!(verify(&damaged, &Games::default()).status, Status::Ok, "damaged, but `ok`");
    let cut = &sealed[..draw.below(sealed.len())];
    assert_ne!(verify(cut, &Games::default()).status, Status::Ok, "truncated, but `ok`");
}

/// Reads the transcript to its end and rebuilds the input of each seat.
fn follow(bytes: &[u8]) {
    let mut reading = match read(bytes) {
        Ok(reading) => reading,
        Err(error @ (HeaderError::Cut | HeaderError::Foreign(_) | HeaderError::Version(_))) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let header = &reading.header;
    let begin = |keeps| Walk::begin_keeping(header.clone(), &Games::default(), |_| keeps).ok();
    let mut walk = begin(true).or_else(|| begin(false));
    for event in reading.by_ref() {
        if let Event::Line(event) = &event {
            unescape_line(&event.line, event.escaped);
        }
        walk.take_if(|walk| walk.event(&event).is_err());
    }
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    match &reading.end {
        Some(ReadEnd::Seal(_)) => {}
        Some(ReadEnd::Cut { line } | ReadEnd::Broken { line, .. }) => assert!(*line <= lines),
        None => panic!("reading stops without a reason"),
    }
}

fn in_pieces(bytes: &[u8]) -> Report {
    let mut draw = Draw::of(bytes);
    let mut verifier = Verifier::new(&Games::default());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(1 + draw.below(rest.len().min(90)));
        verifier.push(piece);
        rest = after;
    }
    verifier.finish()
}

/// Returns whether the last line is the seal of the lines before it.
fn seal_holds(text: &[u8]) -> bool {
    let whole = text.strip_suffix(b"\n").unwrap_or_default();
    let start = whole.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    whole[start..] == *seal(&text[..start]).as_bytes()
}

/// Returns the lines before the first seal, with a matching seal.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(SEAL_START) {
            break;
        }
        sealed.extend_from_slice(line);
    }
    if sealed.last().is_some_and(|&last| last != b'\n') {
        sealed.push(b'\n');
    }
    let seal = seal(&sealed);
    sealed.extend_from_slice(seal.as_bytes());
    sealed.push(b'\n');
    sealed
}

/// Returns the seal of these lines as the protocol defines it.
fn seal(lines: &[u8]) -> String {
    let count = lines.split_inclusive(|&byte| byte == b'\n').count();
    let digits = to_hex(&Sha256::digest(lines));
    format!("{{\"type\":\"seal\",\"lines\":{count},\"sha256\":\"{digits}\"}}")
}

/// The same JSON with spaces, which the fast path doesn't read.
fn with_spaces(lines: &[u8]) -> Vec<u8> {
    let mut spaced = Vec::new();
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_prefix(b"{") {
            Some(rest) if !line.starts_with(SEAL_START) => {
                spaced.extend_from_slice(b"{ ");
                spaced.extend_from_slice(rest);
            }
            _ => spaced.extend_from_slice(line),
        }
    }
    spaced
}
