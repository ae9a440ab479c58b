//! Fuzzes game files of other programs, in every notation.

use referee_games::Games;
use referee_games::notations as all;
use referee_match::transcript::{Origin, Recorder, Status, import, verify};

/// Reads the first and second game of the text in every notation. A game is refused with a message, or
/// it survives a round trip and verifies as a transcript.
pub fn notations(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for (kind, notation) in all() {
        for number in 1..=2 {
            let record = match notation.read(&text, number) {
                Ok(read) => read.record,
                Err(error) => {
                    assert!(!error.is_empty());
                    continue;
                }
            };
            let written = notation.write(&record).expect("what was read can be written");
            let again = notation.read(&written, 1).expect("what was written can be read");
            assert_eq!(again.record, record, "{written}");
            let origin = Origin {
                file: "x".to_owned(),
                digest: String::new(),
                number: 0,
                started: "2026-05-01T00:00:00Z".to_owned(),
            };
            let events = import(kind, &record, &origin).expect("what was read is a game");
            let mut recorder = Recorder::new();
            for event in &events {
                recorder.record(event);
            }
            recorder.seal();
            let report = verify(&recorder.take(), &Games::default());
            assert_eq!(report.status, Status::Ok, "{}", report.detail);
        }
    }
}
