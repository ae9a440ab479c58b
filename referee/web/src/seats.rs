//! What a page does about matches that this server plays: begins one, plays in one, stops one.

use super::errors::{Answer, Refused};
use super::{App, playing};
use referee_games::AnyGame;
use referee_match::frames::Frames;
use referee_play::human::AnswerError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    file: String,
}

/// An answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    file: String,
    turn: u64,
    text: String,
}

/// A legal action.
#[derive(Debug, Serialize)]
struct Legal {
    text: String,
    /// Those that its piece goes through, from first to last.
    cells: Vec<usize>,
}

pub(super) fn begin(app: &App, wish: &playing::Wish) -> Answer<Value> {
    let found = app.listing.look(&app.place);
    let path = app.hall.begin(&app.place, &found.agents, wish)?;
    app.listing.forget();
    let name = path.strip_prefix(app.place.root()).unwrap_or(&path);
    Ok(json!({ "file": name.to_string_lossy() }))
}

pub(super) fn stop(app: &App, wish: &Wish) -> Answer<Value> {
    app.hall.stop(&app.place.transcript(&wish.file)?)?;
    Ok(json!({}))
}

pub(super) fn waiting(app: &App, wish: &Wish) -> Answer<Value> {
    let path = app.place.transcript(&wish.file)?;
    let asked = app.hall.desks(&path).and_then(|desks| desks.asked());
    let Some((seat, game)) = asked else { return Ok(json!({ "waiting": false })) };
    let (actions, colours) = (legal(game.as_ref()), game.current_colours());
    let (colour, turn) = (colours.get(seat.index()), game.turn_number());
    Ok(json!({ "waiting": true, "seat": seat, "colour": colour, "turn": turn, "actions": actions }))
}

/// Every legal action, with the cells that its piece goes through: what the board shows after it.
fn legal(game: &dyn AnyGame) -> Vec<Legal> {
    let frames = Frames::new(&game.view());
    let legal = |action: &Value| {
        let mut after = game.clone_box();
        let cells = match after.play(action) {
            Ok(_) => frames.numbers(&after.view().last),
            Err(_) => Vec::new(),
        };
        Legal { text: game.format_action(action), cells }
    };
    game.actions().iter().map(legal).collect()
}

pub(super) fn answer(app: &App, action: &Action) -> Answer<Value> {
    let desks = app.hall.desks(&app.place.transcript(&action.file)?).ok_or_else(|| {
        Refused::conflict("this server isn't playing that match").help("it may be over")
    })?;
    desks.answer(action.turn, &action.text).map_err(|error| match error {
        AnswerError::NotAsked => {
            let told = format!("nobody is asked for turn {} now", action.turn);
            Refused::conflict(told).help("the match has gone on; look at it again")
        }
        AnswerError::Refused(why) => {
            Refused::unfit(why).help("the legal actions are listed beside the board")
        }
    })?;
    Ok(json!({}))
}

#[cfg(test)]
mod tests {
    use super::legal;
    use referee_games::GAMES;

    #[test]
    fn actions_have_the_cells_that_they_go_through() {
        for kind in GAMES {
            let game = kind.start(&serde_json::json!({})).unwrap();
            let legal = legal(game.as_ref());
            assert_eq!(legal.len(), game.actions().len());
            assert!(legal.iter().any(|legal| !legal.cells.is_empty()), "{}", kind.name);
            for action in &legal {
                let parsed = game.parse_action(&action.text);
                assert!(parsed.is_ok(), "{}: {}", kind.name, action.text);
            }
        }
    }
}
