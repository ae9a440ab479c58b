//! The Python kit for game programs and the sample games, driven over the wire by
//! `tests/game_programs.py`.

use crate::samples::builds::is_installed;
use crate::support::{python, root, scratch};
use referee_games::{AnyGame, Refusal, kind};
use referee_play::game_program::load_inside;
use referee_render::{Style, Theme, terminal, thumbnail};
use serde_json::json;
use std::process::Command;

#[test]
fn game_programs_keep_to_the_wire() {
    let Some(python) = python() else { return };
    let ran = Command::new(python).arg(root().join("tests/game_programs.py")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_kit_for_games_passes_the_type_check() {
    if !is_installed("the type check", ["python3", "mypy"]) {
        return;
    }
    let mut mypy = Command::new("mypy");
    // The rest of the package has a check of its own.
    let of = ["fields", "game", "class_game", "agent"].map(|it| format!("referee_kit/{it}.py"));
    mypy.args(["--strict", "--follow-imports", "silent"])
        .args(of)
        .arg("--cache-dir")
        .arg(scratch("mypy-game"));
    mypy.current_dir(root().join("referee/python"));
    let ran = mypy.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// `SplitMix64`: the same games on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

/// All that a game says at one ply, as text.
fn said(game: &dyn AnyGame) -> String {
    let actions = game.actions();
    let texts: Vec<String> = actions.iter().map(|action| game.format_action(action)).collect();
    let style = Style { coordinates: true, legend: true, ..Style::default() };
    format!(
        "{:?}\nturn {}, colours {:?} now {:?}, notes {:?}\n{}\n{}\n{}\n{}{}",
        game.turn(),
        game.turn_number(),
        game.colours(),
        game.current_colours(),
        game.notes(),
        game.position(),
        json!(actions),
        texts.join(" "),
        terminal(&game.view(), &style),
        thumbnail(&game.view(), Theme::Light)
    )
}

/// Nothing is special about built-in games: Hex in Python says, records and refuses the same, byte for byte.
#[test]
fn hex_in_python_is_the_built_in_hex() {
    if python().is_none() {
        return;
    }
    let built_in = kind("hex").unwrap();
    let work = tempfile::tempdir().unwrap();
    let program = load_inside(&root().join("sample-agents/games/hex"), work.path()).unwrap();
    for (seed, setup) in (1..).zip([
        json!({ "size": 3 }),
        json!({ "size": 5, "swap": "pieces", "first": "red" }),
        json!({ "size": 6, "swap": "sides" }),
        json!({ "size": 4, "swap": "sides", "first": "red" }),
        json!({}),
    ]) {
        let mut random = Random(seed);
        let mut games = [built_in, program].map(|kind| kind.start(&setup).unwrap());
        assert_eq!(games[0].setup().to_string(), games[1].setup().to_string());
        loop {
            let [one, other] = games.each_ref().map(|game| said(game.as_ref()));
            assert_eq!(one, other, "{setup}");
            let mut actions = games[0].actions();
            if actions.is_empty() {
                break;
            }
            // A swap is rare.
            let swap = actions.iter().position(|action| action["type"] == "swap");
            let chosen = swap.filter(|_| random.below(2) == 0);
            let action = actions.swap_remove(chosen.unwrap_or_else(|| random.below(actions.len())));
            let text = games[0].format_action(&action);
            let recorded = games.each_mut().map(|game| {
                assert_eq!(game.parse_action(&text).unwrap(), action);
                game.play(&action).unwrap().to_string()
            });
            assert_eq!(recorded[0], recorded[1]);
            // The cell is occupied, off the board, or there is nothing to swap.
            for illegal in
                [action, json!({ "type": "place", "at": [0, 90] }), json!({ "type": "swap" })]
            {
                let refused = games.each_ref().map(|game| match game.clone().play(&illegal) {
                    Err(Refusal::Illegal(rule)) => rule.to_string(),
                    played => format!("{}", played.is_ok()),
                });
                assert_eq!(refused[0], refused[1], "{illegal}");
            }
        }
    }
}
