//! What keys do.

use super::Bench;
use crate::screen::{KeyRequest, Model, Pane, Setting};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use referee_games::Games;
use referee_match::transcript::TranscriptFollower;

#[test]
fn steps_go_back_and_on_and_stop_at_both_ends() {
    let mut bench = Bench::new("swap");
    let last = bench.last();
    assert_eq!(bench.model.at, last);
    bench.press(KeyCode::Right);
    assert_eq!(bench.model.at, last);
    bench.press(KeyCode::Left);
    bench.type_in("h");
    assert_eq!(bench.model.at, last - 2);
    assert!(!bench.model.follows);
    bench.type_in("l");
    assert_eq!(bench.model.at, last - 1);
    bench.press(KeyCode::Home);
    bench.press(KeyCode::Left);
    assert_eq!(bench.model.at, 0);
    bench.press(KeyCode::PageDown);
    assert_eq!(bench.model.at, 10.min(last));
    bench.press_with(KeyCode::Left, KeyModifiers::SHIFT);
    assert_eq!(bench.model.at, 0);
    bench.press(KeyCode::End);
    assert!(bench.model.at == last && bench.model.follows);
}

#[test]
fn playback_advances_and_stops_at_the_end() {
    let mut bench = Bench::new("swap");
    let last = bench.last();
    // At the end, playback restarts.
    bench.type_in(" ");
    assert!(bench.model.plays && bench.model.at == 0);
    let playback = bench.following.playback().unwrap();
    assert!(!bench.model.advance(999, playback));
    assert!(bench.model.advance(1, playback));
    assert_eq!(bench.model.at, 1);
    bench.type_in("+");
    let playback = bench.following.playback().unwrap();
    assert!(bench.model.advance(1000, playback));
    assert_eq!(bench.model.at, 3);
    bench.model.advance(u64::MAX / 64_000, playback);
    assert!(bench.model.at == last && !bench.model.plays);
    bench.press(KeyCode::Home);
    bench.type_in(" ");
    bench.press(KeyCode::Right);
    assert!(!bench.model.plays, "a step by hand pauses");
}

#[test]
fn a_ply_is_typed() {
    let mut bench = Bench::new("swap");
    bench.type_in("g2");
    bench.press(KeyCode::Enter);
    assert_eq!(bench.model.at, 2);
    bench.type_in("/999");
    bench.press(KeyCode::Backspace);
    bench.press(KeyCode::Enter);
    assert_eq!(bench.model.at, bench.last());
    assert!(bench.model.status_message.as_ref().unwrap().contains("no ply 99: the last ply is "));
    bench.type_in("g1");
    assert_eq!(bench.press(KeyCode::Esc), KeyRequest::Nothing, "it only leaves the line");
    assert_eq!(bench.model.at, bench.last());
    assert_eq!(bench.press(KeyCode::Esc), KeyRequest::Close);
}

#[test]
fn messages_are_found_from_both_sides() {
    let mut bench = Bench::new("fault");
    bench.press(KeyCode::Home);
    bench.type_in("n");
    let at = bench.model.at;
    let plies = bench.following.playback().unwrap().plies();
    let has_message = |ply: &referee_match::transcript::Ply| {
        !ply.output.stderr.is_empty() || ply.fault().is_some()
    };
    // The fault that ended the match is shown with the last ply.
    assert_eq!((at, at + 2), (bench.last(), plies.len()));
    assert!(has_message(&plies[at + 1]));
    assert!(plies[1..=at].iter().all(|ply| !has_message(ply)));
    bench.press(KeyCode::End);
    bench.type_in("n");
    assert!(bench.model.status_message.as_ref().unwrap().contains("after"));
    bench.press(KeyCode::Right);
    assert_eq!(bench.model.status_message, None, "the next key clears it");
}

#[test]
fn a_growing_match_is_followed_until_a_step_back() {
    let whole = Bench::new("swap");
    let mut following = TranscriptFollower::new(&Games::default());
    let mut model = Model::new(whole.model.style, Setting::Live);
    let mut seen = Vec::new();
    for piece in whole.bytes.chunks(200) {
        following.feed(piece);
        if let Some(playback) = following.playback() {
            model.grow(playback);
            assert_eq!(model.at, playback.last());
            seen.push(model.at);
            if playback.plies().len() == 4 {
                break;
            }
        }
    }
    let key = |code| ratatui::crossterm::event::KeyEvent::new(code, KeyModifiers::NONE);
    model.press(key(KeyCode::Left), following.playback());
    let at = model.at;
    following.feed(&whole.bytes[following_len(&whole.bytes, &following)..]);
    model.grow(following.playback().unwrap());
    assert_eq!(model.at, at);
    model.press(key(KeyCode::End), following.playback());
    assert_eq!(model.at, following.playback().unwrap().last());
    assert!(seen.len() > 2);
    assert_eq!(model.press(key(KeyCode::Char('b')), following.playback()), KeyRequest::Close);
    assert_eq!(model.press(key(KeyCode::Tab), following.playback()), KeyRequest::Nothing);
}

/// How many bytes have been fed: whole pieces.
fn following_len(bytes: &[u8], following: &TranscriptFollower) -> usize {
    let lines = usize::try_from(following.playback().unwrap().lines()).unwrap();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let end = ends.map(|(index, _)| index + 1).nth(lines - 1).unwrap();
    end.div_ceil(200) * 200
}

#[test]
fn switches_switch() {
    let mut bench = Bench::new("home");
    assert!(bench.model.pane != Pane::Lines);
    bench.type_in("ss");
    assert!(bench.model.pane == Pane::Lines);
    assert_eq!(bench.model.pane, Pane::Lines);
    bench.type_in("sfcb");
    assert_eq!(bench.model.pane, Pane::Stderr);
    assert!(bench.model.style.flip && bench.model.style.coordinates && !bench.model.board);
    bench.type_in("?");
    assert!(bench.model.help);
    assert_eq!(bench.press(KeyCode::Char('q')), KeyRequest::Nothing, "it only closes the help");
    assert_eq!(bench.press(KeyCode::Char('q')), KeyRequest::Close);
}
