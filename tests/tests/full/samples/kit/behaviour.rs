//! A bot on the Rust kit that makes a mistake of students' bots; see `agents/kits.rs`.

mod games;
mod json;
mod referee_kit;
mod rules;

use referee_kit::{Action, Cell, Game, Info, info, run_as};

fn choose(mode: &str, game: &Game) -> Option<Action> {
    let actions = game.actions();
    let is_second_turn = game.turn >= game.seats.len() as u64;
    let cells = vec![(Cell(0, 0), "0.5".to_owned())];
    let text = Some("n\u{e4}her".to_owned());
    info(&Info { score: Some(f64::NEG_INFINITY), depth: Some(3), text, cells });
    if mode == "noisy" {
        println!("a stray print");
    }
    if mode == "fails" && is_second_turn {
        return Some(actions[actions.len()].clone()); // here
    }
    (mode != "resigns" || !is_second_turn).then(|| actions[0].clone())
}

fn main() {
    let mode = std::env::args().nth(1).unwrap();
    run_as("behaviour", &[], |game| choose(&mode, game));
}
