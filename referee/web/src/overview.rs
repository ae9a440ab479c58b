//! The home page: live matches, contests, transcripts, and what can be played.

use super::App;
use super::contests::summaries;
use super::errors::{ApiResult, run_costly};
use super::rows::Row;
use super::visitor::Session;
use axum::Json;
use axum::extract::{Query, State};
use referee_games::Games;
use sample_agents::BUILT_INS;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The most rows of a list in one response.
pub(super) const COUNT_MAX: usize = 200;
/// The rows of a list in one response by default.
pub(super) const COUNT: usize = 50;

/// The parameters of a part of the list of transcripts.
#[derive(Debug, Deserialize)]
pub(super) struct ListQuery {
    #[serde(default)]
    from: usize,
    count: Option<usize>,
    find: Option<String>,
    folder: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NoQuery {}

pub(super) async fn transcripts(
    State(app): State<Arc<App>>,
    who: Session,
    Query(query): Query<ListQuery>,
) -> ApiResult<Json<Value>> {
    let shared = app.clone();
    let folder = query.folder.clone().unwrap_or_default();
    run_costly(&shared.replaying, &folder, move || Ok(Json(listed(&app, &query, &who)))).await
}

fn listed(app: &App, query: &ListQuery, who: &Session) -> Value {
    let found = app.listing.contents(&app.served);
    let find = query.find.as_deref().unwrap_or_default().to_lowercase();
    let folder = query.folder.as_deref().unwrap_or_default();
    let count = query.count.unwrap_or(COUNT).min(COUNT_MAX);
    let entries = found.listed(folder.trim_end_matches('/'));
    let (total, page) = if find.is_empty() {
        // Only the files of the page are read.
        let page = entries.clone().skip(query.from).take(count);
        (entries.count(), page.filter_map(|entry| app.listing.row(&app.served, entry)).collect())
    } else {
        let rows = entries.filter_map(|entry| app.listing.row(&app.served, entry));
        let fitting: Vec<_> = rows.filter(|row| row.matches(&find)).collect();
        (fitting.len(), fitting.into_iter().skip(query.from).take(count).collect::<Vec<_>>())
    };
    let page = page.iter().map(|row| Row::clone(row));
    let rows = app.matches.with_stop_flag(&app.served, page.collect(), who);
    json!({ "total": total, "rows": rows })
}

pub(super) fn overview(app: &App, _: &NoQuery, who: &Session) -> ApiResult<Value> {
    let found = app.listing.contents(&app.served);
    let live = if app.frozen()?.is_some() {
        Vec::new()
    } else {
        app.listing.live(&app.served, &found, "")
    };
    Ok(json!({
        "title": app.served.title(),
        "version": env!("CARGO_PKG_VERSION"),
        "can_play": app.matches.can_play().is_some(),
        "can_start": app.matches.can_play().is_some() && !app.served.is_in_contest(),
        "games": games(app.served.games()),
        "agents": agents(app),
        "live": app.matches.with_stop_flag(&app.served, live, who),
        "contests": summaries(app, &found.contests),
        "transcripts": found.listed("").count(),
    }))
}

fn games(known: &Games) -> Vec<Value> {
    let game = |kind: referee_games::GameKind| {
        let about = kind.about();
        let field = |field: &referee_games::SetupField| {
            json!({ "name": field.name, "about": field.meaning, "default": field.default,
                    "range": field.values })
        };
        let setup: Vec<Value> = about.setup.iter().map(field).collect();
        json!({ "name": kind.name, "title": about.title, "about": about.summary,
                "seats": about.seats, "setup": setup })
    };
    known.iter().map(game).collect()
}

fn agents(app: &App) -> Vec<Value> {
    let Some(play) = app.matches.can_play() else { return Vec::new() };
    let built_in = BUILT_INS.iter().filter(|agent| !agent.misbehaves);
    let built_in = built_in.map(
        |agent| json!({ "agent": format!("@{}", agent.name), "about": agent.about, "games": null }),
    );
    let given = play.agents.iter().map(|offered| {
        let games = (!offered.games.is_empty()).then_some(&offered.games);
        json!({ "agent": offered.agent, "about": offered.name, "games": games })
    });
    built_in.chain(given).collect()
}
