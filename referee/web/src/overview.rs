//! The first page: what there is to see and to play.

use super::App;
use super::contests::summaries;
use super::errors::Answer;
use super::listing::Found;
use super::rows::Row;
use referee_games::GAMES;
use sample_agents::BUILT_INS;
use serde::Deserialize;
use serde_json::{Value, json};

/// So many rows at most are sent at once.
pub(super) const COUNT_MAX: usize = 200;
/// So many are unless somebody says how many.
pub(super) const COUNT: usize = 50;
/// A larger agent.toml isn't one.
const MANIFEST_BYTES_MAX: u64 = 64 << 10;

/// A part of the list of transcripts.
#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    #[serde(default)]
    from: usize,
    count: Option<usize>,
    find: Option<String>,
    folder: Option<String>,
}

/// A question without parameters.
#[derive(Debug, Deserialize)]
pub(super) struct Nothing {}

#[expect(clippy::unnecessary_wraps, reason = "as all answers are")]
pub(super) fn transcripts(app: &App, wish: &Wish) -> Answer<Value> {
    let found = app.listing.look(&app.place);
    let find = wish.find.as_deref().unwrap_or_default().to_lowercase();
    let folder = wish.folder.as_deref().unwrap_or_default();
    let mut fitting = app.listing.rows(&app.place, &found, folder.trim_end_matches('/'));
    fitting.retain(|row| find.is_empty() || row.tells(&find));
    let count = wish.count.unwrap_or(COUNT).min(COUNT_MAX);
    let page = fitting.iter().skip(wish.from).take(count).map(|row| Row::clone(row));
    let rows = app.hall.marked(&app.place, page.collect());
    Ok(json!({ "total": fitting.len(), "rows": rows }))
}

#[expect(clippy::unnecessary_wraps, reason = "as all answers are")]
pub(super) fn overview(app: &App, _: &Nothing) -> Answer<Value> {
    let found = app.listing.look(&app.place);
    let live = app.listing.live(&app.place, &found, "");
    Ok(json!({
        "title": app.place.title(),
        "version": env!("CARGO_PKG_VERSION"),
        "can_play": app.hall.can_play().is_some(),
        "games": games(),
        "agents": agents(app, &found),
        "live": app.hall.marked(&app.place, live),
        "contests": summaries(app, &found.contests),
        "transcripts": app.listing.rows(&app.place, &found, "").len(),
    }))
}

fn games() -> Vec<Value> {
    let game = |kind: &referee_games::GameKind| {
        let about = kind.about();
        let field = |field: &referee_games::SetupField| {
            json!({ "name": field.name, "about": field.meaning, "default": field.default,
                    "range": field.values })
        };
        let setup: Vec<Value> = about.setup.iter().map(field).collect();
        json!({ "name": kind.name, "title": about.title, "about": about.summary,
                "seats": about.seats, "setup": setup })
    };
    GAMES.iter().map(game).collect()
}

fn agents(app: &App, found: &Found) -> Vec<Value> {
    let Some(play) = app.hall.can_play() else { return Vec::new() };
    let choice =
        |agent: &str, about: &str| json!({ "agent": agent, "about": about, "games": null });
    let built_in = BUILT_INS.iter().filter(|agent| !agent.misbehaves);
    let built_in = built_in.map(|agent| choice(&format!("@{}", agent.name), agent.about));
    let given = play.agents.iter().map(|agent| choice(agent, "as it was given to the server"));
    let below = found.agents.iter().map(|folder| of_folder(app, folder));
    built_in.chain(given).chain(below).collect()
}

/// What an agent.toml says of itself; it is read whole, and judged, only when the agent is played.
fn of_folder(app: &App, folder: &str) -> Value {
    let table = || {
        let path = app.place.find(folder).ok()?.join("agent.toml");
        let file = super::place::open(&path).ok()?;
        let text = std::io::read_to_string(std::io::Read::take(file, MANIFEST_BYTES_MAX)).ok()?;
        text.parse::<toml::Table>().ok()
    };
    let table = table().unwrap_or_default();
    let name = table.get("name").and_then(toml::Value::as_str).unwrap_or(folder);
    let games = table.get("games").and_then(toml::Value::as_array);
    let games = games.map(|games| games.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>());
    json!({ "agent": folder, "about": name, "games": games })
}
