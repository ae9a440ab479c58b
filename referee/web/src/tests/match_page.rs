//! What a page gets at once, and what it gets bit by bit, are the same.

use crate::{MatchPage, MatchState, MatchUpdate};
use referee_match::transcript::TranscriptFollower;

const RETIRED: &[u8] = include_bytes!("../../../../tests/tests/transcripts/chexers-retired.jsonl");
const PLAYED: &[u8] =
    include_bytes!("../../../../tests/tests/transcripts/freckers-all-across.jsonl");

#[test]
fn growth_adds_up_to_the_sheet() {
    for (name, bytes) in [("retired", RETIRED), ("played", PLAYED)] {
        let mut following = TranscriptFollower::new();
        let (mut plies, mut line) = (Vec::new(), 0);
        for piece in bytes.chunks(1000) {
            following.feed(piece);
            let Some(playback) = following.playback() else { continue };
            let growth = MatchUpdate::since(line, playback, &MatchState::Running, 7);
            line = growth.line;
            for frame in growth.plies {
                if frame.index < plies.len() {
                    let index = frame.index;
                    plies[index] = frame;
                } else {
                    assert_eq!(frame.index, plies.len(), "{name}: a ply is missing");
                    plies.push(frame);
                }
            }
        }
        let playback = following.playback().unwrap();
        let sheet = MatchPage::new(name, playback, &MatchState::Over, 0);
        assert_eq!((&sheet.plies, sheet.line), (&plies, line), "{name}");
        assert_eq!(sheet.board.cells.len(), playback.plies()[0].view.shape.cells().len());
        assert_eq!((sheet.state, sheet.problem, sheet.asked), ("over", None, None));
    }
}

#[test]
fn who_thinks_is_told_while_it_can_still_answer() {
    let text = str::from_utf8(PLAYED).unwrap();
    let cut = text.find("{\"type\":\"played\"").unwrap();
    let begun = text[..cut].rfind("{\"type\":\"line\"").unwrap();
    let following = TranscriptFollower::of(&text.as_bytes()[..begun]);
    let playback = following.playback().unwrap();
    let asked = MatchPage::new("x", playback, &MatchState::Running, 7).asked.unwrap();
    assert_eq!((asked.turn, asked.for_ms), (0, 7));
    let torn = MatchPage::new("x", playback, &MatchState::Torn, 7);
    assert_eq!((torn.asked, torn.state), (None, "torn"));
    assert!(torn.problem.unwrap().contains("no end"));
    let broken = MatchUpdate::since(0, playback, &MatchState::Broken("line 9: no".to_owned()), 0);
    assert_eq!((broken.state, broken.problem.as_deref()), ("broken", Some("line 9: no")));
}
