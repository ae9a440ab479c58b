//! A bot for Referee: wins if it can, and plays any legal action otherwise. Make it yours by changing
//! `choose`.

mod games;
mod json;
mod referee_kit;
mod rules;

use referee_kit::{Action, Game, choice, run};

/// Returns an action when it is your turn, or `None` to resign.
fn choose(game: &Game) -> Option<Action> {
    // >>> Your idea goes here. Some of what referee_kit.rs offers:
    //
    //   game.actions()            every legal action
    //   game.after(&action)       a copy of the game with the action played
    //   game.is_over()            and game.winner(): the seat that has won, or None
    //   game.seat, game.seats     your seat, and everyone's name and colour
    //   game.turn, game.left_ms   the number of the turn, your milliseconds left
    //   game.owner(cell)          the seat whose piece is there; game.pieces_of(game.seat) are your own
    //   game.neighbours(cell)     the cells beside it
    //   game.rules                what only one game has: if let Rules::Hex(hex) = &game.rules { .. }
    let actions = game.actions();
    let win = actions.iter().find(|action| game.after(action).winner() == Some(game.seat));
    win.or_else(|| choice(&actions)).cloned()
}

fn main() {
    run(choose);
}
