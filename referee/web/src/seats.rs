//! What a page can do with the matches of this server: start one, play in one, stop one.

use super::errors::{ApiError, ApiResult, run_blocking};
use super::frames::Frames;
use super::hosted_matches::MatchRequest;
use super::pages::FileQuery;
use super::visitor::{Session, Visitor};
use super::{App, read_json};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use referee_games::AnyGame;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// A person's answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    file: String,
    turn: u64,
    text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Legal {
    text: String,
    /// The cells that its piece passes, from first to last.
    cells: Vec<usize>,
}

impl Legal {
    /// What is typed, since it has no cells.
    pub(super) fn typed(text: String) -> Self {
        Self { text, cells: Vec::new() }
    }
}

pub(super) async fn start_match(
    State(app): State<Arc<App>>,
    who: Session,
    from: Visitor,
    bytes: Bytes,
) -> ApiResult<Json<Value>> {
    let request: MatchRequest = read_json(&bytes)?;
    let started = move || {
        let path = app.matches.start_match(&app.served, &request, &(who, from))?;
        app.listing.forget();
        let name = path.strip_prefix(app.served.root()).unwrap_or(&path);
        Ok(json!({ "file": name.to_string_lossy() }))
    };
    run_blocking(started).await.map(Json)
}

pub(super) fn stop(app: &App, query: &FileQuery, who: &Session) -> ApiResult<Value> {
    app.matches.stop(&app.served.transcript(&query.file)?, who)?;
    Ok(json!({}))
}

pub(super) fn waiting(app: &App, query: &FileQuery, who: &Session) -> ApiResult<Value> {
    let path = app.served.transcript(&query.file)?;
    let asked = app.matches.people(&path).and_then(|people| people.asked(who));
    let Some((seat, game)) = asked else { return Ok(json!({ "waiting": false })) };
    let (actions, colours) = (legal(game.as_ref()), game.current_colours());
    let (colour, turn) = (colours.get(seat.index()), game.turn_number());
    // Where the rules can't list the actions, an example helps to write one.
    let forms = &game.kind().about().actions;
    let is_unlisted = game.kind().program().is_some_and(|program| !program.lists());
    let example = forms.first().filter(|_| is_unlisted).map(|form| form.text);
    Ok(json!({ "waiting": true, "seat": seat, "colour": colour, "turn": turn, "actions": actions,
               "example": example }))
}

/// Returns every legal action with the cells that its piece passes: those that it names, if the rules are a program
/// which says so, else those that the board marks after it, unless that would show what others hide or have chosen.
pub(super) fn legal(game: &dyn AnyGame) -> Vec<Legal> {
    let frames = Frames::new(&game.view());
    let program = game.kind().program();
    let is_open = !game.is_hidden() && game.together().is_empty();
    let legal = |action: &Value| {
        let named = program.map(|program| frames.numbers(&program.cells(action)));
        if let Some(cells) = named.filter(|cells| !cells.is_empty()) {
            return Legal { text: game.format_action(action), cells };
        }
        if !is_open {
            return Legal::typed(game.format_action(action));
        }
        let mut after = game.clone_box();
        let cells = match after.play(action) {
            Ok(_) => frames.numbers(&after.view().last),
            Err(_) => Vec::new(),
        };
        Legal { text: game.format_action(action), cells }
    };
    game.actions().iter().map(legal).collect()
}

pub(super) fn answer(app: &App, action: &Action, who: &Session) -> ApiResult<Value> {
    let people = app.matches.people(&app.served.transcript(&action.file)?).ok_or_else(|| {
        ApiError::conflict("this server isn't playing that match").help("it may be over")
    })?;
    people.answer(action.turn, &action.text, who)?;
    Ok(json!({}))
}

#[cfg(test)]
mod tests {
    use super::legal;
    use referee_games::GAMES;

    #[test]
    fn actions_have_the_cells_that_they_pass() {
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
