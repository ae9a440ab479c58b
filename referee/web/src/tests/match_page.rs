//! A page gets the same match at once and in updates.

use crate::{MatchPage, MatchState, MatchUpdate};
use referee_games::Games;
use referee_match::transcript::TranscriptFollower;

const RETIRED: &[u8] = include_bytes!("../../../../tests/tests/transcripts/chexers-retired.jsonl");
const PLAYED: &[u8] =
    include_bytes!("../../../../tests/tests/transcripts/freckers-all-across.jsonl");

#[test]
fn updates_add_up_to_the_whole_match() {
    for (name, bytes) in [("retired", RETIRED), ("played", PLAYED)] {
        let mut following = TranscriptFollower::new(&Games::default());
        let (mut plies, mut line) = (Vec::new(), 0);
        for piece in bytes.chunks(1000) {
            following.feed(piece);
            let Some(playback) = following.playback() else { continue };
            let update = MatchUpdate::since(line, playback, &MatchState::Running, 7);
            line = update.line;
            for frame in update.plies {
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
        let MatchPage { progress, board, .. } =
            MatchPage::new(name, playback, &MatchState::Over, 0);
        assert_eq!((progress.plies, progress.line), (plies, line), "{name}");
        assert_eq!(board.cells.len(), playback.plies()[0].view.shape.cells().len());
        assert_eq!((progress.state, progress.problem, progress.asked), ("over", None, None));
    }
}

#[test]
fn only_a_running_match_has_an_agent_to_move() {
    let text = str::from_utf8(PLAYED).unwrap();
    let cut = text.find("{\"type\":\"played\"").unwrap();
    let begun = text[..cut].rfind("{\"type\":\"line\"").unwrap();
    let following = TranscriptFollower::of(&text.as_bytes()[..begun], &Games::default());
    let playback = following.playback().unwrap();
    let asked = MatchUpdate::since(0, playback, &MatchState::Running, 7).asked.unwrap();
    assert_eq!((asked.turn, asked.for_ms), (0, 7));
    let torn = MatchUpdate::since(0, playback, &MatchState::Torn, 7);
    assert_eq!((torn.asked, torn.state), (None, "torn"));
    assert!(torn.problem.unwrap().contains("no end"));
    let broken = MatchUpdate::since(0, playback, &MatchState::Broken("line 9: no".to_owned()), 0);
    assert_eq!((broken.state, broken.problem.as_deref()), ("broken", Some("line 9: no")));
}
