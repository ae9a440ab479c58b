//! What is drawn.

use super::{Bench, GOLDEN};
use crate::screen::{Model, Pane, Setting};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use referee_games::Games;
use referee_match::transcript::TranscriptFollower;
use referee_render::{Charset, Style};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 15)];

#[test]
fn every_game_at_common_sizes() {
    for (name, _) in GOLDEN {
        for (width, height) in SIZES {
            let mut bench = Bench::new(name);
            let middle = bench.last() / 2;
            bench.press(KeyCode::Home);
            for _ in 0..middle {
                bench.press(KeyCode::Right);
            }
            let text = bench.screen(width, height);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), text);
        }
    }
}

#[test]
fn ends_show_the_reason_and_the_agent() {
    for name in ["fault", "retired", "void"] {
        insta::assert_snapshot!(format!("{name}_end"), Bench::new(name).screen(80, 24));
    }
}

#[test]
fn panes_help_and_prompt() {
    let mut bench = Bench::new("fault");
    bench.press(KeyCode::Left);
    bench.type_in("s");
    insta::assert_snapshot!("info", bench.screen(80, 24));
    bench.type_in("s");
    insta::assert_snapshot!("lines", bench.screen(80, 24));
    bench.type_in("?");
    insta::assert_snapshot!("help", bench.screen(80, 24));
    bench.type_in("?g12");
    let text = bench.screen(80, 24);
    assert!(text.contains("go to ply: 12_"), "{text}");
}

#[test]
fn no_size_breaks_it() {
    for (name, _) in GOLDEN {
        let mut bench = Bench::new(name);
        for board in [true, false] {
            bench.model.board = board;
            for pane in [Pane::Stderr, Pane::Info, Pane::Lines] {
                bench.model.pane = pane;
                for (width, height) in
                    [(1, 1), (29, 9), (30, 10), (31, 40), (200, 10), (60, 20), (300, 100)]
                {
                    let text = bench.screen(width, height);
                    let small = width < 30 || height < 10;
                    assert!(small || text.contains("back"), "{name} {width}x{height}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn what_is_too_small_says_so() {
    let text = Bench::new("swap").screen(28, 9);
    assert!(text.contains("30 columns"), "{text}");
}

#[test]
fn a_large_board_is_seen_around_the_last_action_and_can_be_moved() {
    let mut bench = Bench::new("home");
    bench.press(KeyCode::Left);
    let text = bench.screen(60, 12);
    assert!(text.contains('['), "the last action is seen:\n{text}");
    assert!(text.contains('^') || text.contains('v'), "there is more:\n{text}");
    bench.press_with(KeyCode::Up, KeyModifiers::ALT);
    bench.press_with(KeyCode::Up, KeyModifiers::ALT);
    let up = bench.screen(60, 12);
    for _ in 0..9 {
        bench.press_with(KeyCode::Down, KeyModifiers::ALT);
    }
    let down = bench.screen(60, 12);
    assert!(up != down, "{up}");
}

#[test]
fn an_unfinished_match_shows_who_thinks() {
    let mut bench = Bench::new("swap");
    let text = String::from_utf8(bench.bytes.clone()).unwrap();
    let turn = text.lines().position(|line| line.contains("\"type\":\"turn\"")).unwrap();
    let begun = text.lines().take(turn + 1).fold(String::new(), |text, line| text + line + "\n");
    bench.following = TranscriptFollower::of(begun.as_bytes(), &Games::default());
    bench.model = Model::new(Style::default(), Setting::LiveMany);
    let text = bench.screen(80, 24);
    assert!(text.contains("thinks 3.21s") && text.contains("live"), "{text}");
    assert!(text.contains("Tab: next match") && text.contains("b: close"), "{text}");
}

#[test]
fn hostile_text_is_harmless() {
    let mut bench = Bench::new("fault");
    let text = String::from_utf8(bench.bytes.clone()).unwrap();
    let name = bench.following.playback().unwrap().header().seats[0].name.clone();
    let hostile = "\\u001b[2J\\u202e\\u0301\\u6f22";
    let text =
        text.replacen(&format!("\"name\":\"{name}\""), &format!("\"name\":\"{hostile}\""), 1);
    bench.bytes = text.into_bytes();
    bench.following = TranscriptFollower::of(&bench.bytes, &Games::default());
    for (width, height) in SIZES {
        let text = bench.screen(width, height);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{301}']), "{text:?}");
        assert!(text.contains("\u{FFFD}[2J"), "{text}");
    }
}

#[test]
fn unicode_only_where_it_was_asked_for() {
    let mut bench = Bench::new("swap");
    assert!(bench.screen(80, 24).is_ascii());
    bench.model.style.charset = Charset::Unicode;
    assert!(!bench.screen(80, 24).is_ascii());
}
