//! Plays the events on stdin with the Rust kit and prints the states; see `agents/kits.rs`.

mod games;
mod json;
mod referee_kit;
mod rules;

use json::Json;
use referee_kit::{Action, Cell, Game, listed};
use rules::Rules;

/// Returns each seat's pieces, as JSON.
fn pieces(game: &Game) -> Vec<String> {
    (0..game.seats.len()).map(|seat| listed(game.pieces_of(seat))).collect()
}

/// Returns the position in the protocol's form, made from the kit's public fields.
fn position(game: &Game) -> String {
    let setup = Json(&game.setup);
    let (turn, pieces) = (game.turn, pieces(game));
    let common = format!(r#""to_move":{},"turn":{turn}"#, game.to_move);
    let retired = format!(r#","retired":{}"#, listed(&game.retired));
    let size = setup.get("size");
    match &game.rules {
        Rules::CheckerPuzzle(_) => {
            let depth = setup.get("depth");
            format!(r#"{{"size":{size},"depth":{depth},"moves":{turn},"pieces":{}}}"#, pieces[0])
        }
        Rules::PegSolitaire(it) => {
            let (shape, open) = (setup.get("shape"), listed(&it.open));
            let pegs = &pieces[0];
            format!(
                r#"{{"shape":{shape},"size":{size},"moves":{turn},"pegs":{pegs},"open":{open}}}"#
            )
        }
        Rules::Hex(it) => {
            let colours = [game.colour(0), game.colour(1)];
            let black = colours.iter().position(|&colour| colour == "black").unwrap();
            let stones = listed([&pieces[black], &pieces[1 - black]]);
            let size = it.size;
            format!(r#"{{{common},"size":{size},"stones":{stones},"colours":{colours:?}}}"#)
        }
        Rules::Chexers(it) => {
            let (pieces, exits) = (listed(pieces), listed(&it.exits));
            format!(r#"{{{common},"pieces":{pieces},"exits":{exits}{retired}}}"#)
        }
        Rules::Freckers(it) => {
            let (frogs, pads) = (listed(pieces), listed(&it.pads));
            format!(r#"{{{common},"frogs":{frogs},"pads":{pads}}}"#)
        }
        Rules::ChineseCheckers(it) => {
            let retired = if game.seats.len() > 2 { &retired } else { "" };
            let (marbles, passes) = (listed(pieces), it.passes);
            format!(r#"{{{common}{retired},"marbles":{marbles},"passes":{passes}}}"#)
        }
    }
}

fn outcome(game: &Game) -> String {
    let Some(ending) = game.ending() else { return "null".to_owned() };
    let alone = game.seats.len() == 1;
    let place = |seat| match ending.winner {
        Some(winner) if winner != seat => 2,
        None if alone => 2,
        _ => 1,
    };
    let places = listed((0..game.seats.len()).map(place));
    let scores = match &game.rules {
        Rules::Chexers(it) => listed(&it.exits),
        Rules::Freckers(it) => listed([0, 1].map(|seat| it.across(game, seat))),
        Rules::CheckerPuzzle(_) => listed([game.turn]),
        Rules::PegSolitaire(_) => listed([game.pieces.len()]),
        _ => String::new(),
    };
    let scores = if scores.is_empty() { scores } else { format!(r#","scores":{scores}"#) };
    format!(r#"{{"places":{places},"reason":"{}"{scores}}}"#, ending.reason)
}

fn print(game: &Game) {
    let (position, actions) = (position(game), listed(game.actions()));
    println!(r#"{{"position":{position},"actions":{actions},"outcome":{}}}"#, outcome(game));
}

fn main() {
    let mut game = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let event = Json(&line);
        let has = |key| event.get(key) != Json("null");
        if has("game") {
            game = Some(Game::start(&event.get("game").text(), event.get("setup")).unwrap());
        }
        let game: &mut Game = game.as_mut().unwrap();
        if has("played") {
            game.play(&Action::read(event.get("played")));
        } else if has("retired") {
            game.retire(event.get("retired").number() as usize);
        } else if has("tried") {
            print(&game.after(&Action::read(event.get("tried"))));
        } else if has("state") {
            print(game);
        }
    }
    // Cells are read as they are written.
    assert_eq!(Cell::read(Json("[-1,2]")), Cell(-1, 2));
}
