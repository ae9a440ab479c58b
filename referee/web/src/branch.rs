//! Branches of a match: what if other actions had been played.

use super::App;
use super::errors::{ApiError, ApiResult};
use super::frames::Frames;
use super::matches::up_to;
use super::seats::{Legal, legal};
use referee_games::Turn;
use referee_match::summary::Summary;
use referee_match::transcript::Playback;
use referee_protocol::{MatchResult, Outcome};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most actions of a branch.
const ACTIONS_MAX: usize = 500;

/// A position that differs from the recorded match.
#[derive(Debug, Deserialize)]
pub(super) struct BranchQuery {
    file: String,
    /// The last recorded ply.
    ply: usize,
    /// The actions after it, as text, separated by `;`.
    #[serde(default)]
    actions: String,
}

impl BranchQuery {
    pub(super) fn new(file: String, ply: usize, actions: String) -> Self {
        Self { file, ply, actions }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the match up to the ply, and the other actions after it.
    pub(super) fn playback(&self, app: &App) -> ApiResult<Playback> {
        let texts: Vec<&str> = self.actions.split(';').filter(|text| !text.is_empty()).collect();
        if texts.len() > ACTIONS_MAX {
            return Err(ApiError::unfit(format!("more than {ACTIONS_MAX} actions")));
        }
        let mut playback = up_to(app, &self.file, self.ply)?;
        for text in texts {
            playback
                .play_unrecorded(text)
                .map_err(|why| ApiError::unfit(format!("{text:?} can't be played: {why}")))?;
        }
        Ok(playback)
    }
}

/// Returns the plies of a branch, and what can be played after it.
pub(super) fn branch(app: &App, query: &BranchQuery) -> ApiResult<Value> {
    let playback = query.playback(app)?;
    let game = playback.game();
    let (actions, over) = match game.turn() {
        Turn::Of(_) => (legal(game), None),
        Turn::Chance(chance) => (chance.names().into_iter().map(Legal::typed).collect(), None),
        Turn::Over(outcome) => (Vec::new(), Some(sentence(&playback, &outcome))),
    };
    let plies = Frames::new(&game.view()).from(&playback, query.ply + 1);
    Ok(json!({ "plies": plies, "actions": actions, "over": over, "position": game.origin() }))
}

/// Says how the rules end a branch.
fn sentence(playback: &Playback, outcome: &Outcome) -> String {
    let header = playback.header();
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let (game, setup, result) = (header.game.as_str(), &header.setup, MatchResult::Played);
    let (reason, places, names) = (outcome.reason.as_str(), &outcome.places[..], &names[..]);
    let program = header.program.as_ref();
    Summary { game, program, setup, names, result, reason, places, faults: &[] }.sentence()
}
