//! What a page does about matches that this server plays: begins one, plays in one, stops one.

use super::errors::{Answer, Refused, aside};
use super::{App, playing};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use referee_games::AnyGame;
use referee_match::frames::Frames;
use referee_play::human::NotTaken;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// A match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    file: String,
}

/// An answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
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

fn body<T: DeserializeOwned>(bytes: &Bytes) -> Answer<T> {
    serde_json::from_slice(bytes).map_err(|error| Refused::bad(format!("the request: {error}")))
}

pub(super) async fn begin(State(app): State<Arc<App>>, bytes: Bytes) -> Answer<Json<Value>> {
    let wish: playing::Wish = body(&bytes)?;
    let begun = aside(move || {
        let found = app.listing.look(&app.place);
        let path = app.hall.begin(&app.place, &found.agents, &wish)?;
        app.listing.forget();
        let name = path.strip_prefix(app.place.root()).unwrap_or(&path);
        Ok(name.to_string_lossy().into_owned())
    });
    Ok(Json(json!({ "file": begun.await? })))
}

pub(super) async fn stop(State(app): State<Arc<App>>, bytes: Bytes) -> Answer<Json<Value>> {
    let wish: Wish = body(&bytes)?;
    aside(move || app.hall.stop(&app.place.transcript(&wish.file)?)).await?;
    Ok(Json(json!({})))
}

pub(super) async fn waiting(
    State(app): State<Arc<App>>,
    Query(wish): Query<Wish>,
) -> Answer<Json<Value>> {
    let told = aside(move || {
        let path = app.place.transcript(&wish.file)?;
        let asked = app.hall.desks(&path).and_then(|desks| desks.asked());
        Ok(asked.map_or_else(
            || json!({ "waiting": false }),
            |(seat, game)| {
                let actions = legal(game.as_ref());
                let colours = game.colours_now();
                let colour = colours.get(seat.index());
                json!({ "waiting": true, "seat": seat, "colour": colour,
                        "turn": game.turn_number(), "actions": actions })
            },
        ))
    });
    Ok(Json(told.await?))
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
        Legal { text: game.show_action(action), cells }
    };
    game.actions().iter().map(legal).collect()
}

pub(super) async fn answer(State(app): State<Arc<App>>, bytes: Bytes) -> Answer<Json<Value>> {
    let action: Action = body(&bytes)?;
    aside(move || {
        let desks = app.hall.desks(&app.place.transcript(&action.file)?).ok_or_else(|| {
            Refused::conflict("this server isn't playing that match").help("it may be over")
        })?;
        desks.answer(action.turn, &action.text).map_err(|error| match error {
            NotTaken::NotAsked => {
                let told = format!("nobody is asked for turn {} now", action.turn);
                Refused::conflict(told).help("the match has gone on; look at it again")
            }
            NotTaken::Refused(why) => Refused::new(StatusCode::UNPROCESSABLE_ENTITY, why)
                .help("the legal actions are listed beside the board"),
        })
    })
    .await?;
    Ok(Json(json!({})))
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
