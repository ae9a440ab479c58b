//! One match: its data for the page, the lines of a ply, the board as text.

use super::App;
use super::course::Audience;
use super::errors::{ApiError, ApiResult, run_costly};
use super::following::PERIOD;
use super::hosted_matches::START_TIME;
use super::tail::Tail;
use super::visitor::Session;
use crate::{MatchPage, MatchState};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use referee_match::transcript::{Playback, exchange, read};
use referee_protocol::Seat;
use referee_render::{Charset, Style, terminal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// The longest part of a line that is shown, in bytes.
const LINE_BYTES_MAX: usize = 64 << 10;
/// The most bytes of a ply's lines together.
const LINES_BYTES_MAX: usize = 4 << 20;
/// The style of boards as text.
pub(super) const PLAIN: Style =
    Style { charset: Charset::Ascii, colour: false, coordinates: true, flip: false, legend: false };

/// The parameters of one of its plies.
#[derive(Debug, Deserialize)]
pub(super) struct PlyQuery {
    file: String,
    ply: usize,
    /// The seat whose view is shown; everything without one.
    seen_by: Option<Seat>,
}

/// The parameters of a match.
#[derive(Debug, Deserialize)]
pub(super) struct MatchQuery {
    file: String,
    seen_by: Option<Seat>,
}

/// A line between the referee and an agent.
#[derive(Debug, Serialize)]
struct Line {
    seat: Seat,
    sent: bool,
    text: String,
    cut: bool,
}

pub(super) async fn match_page(
    State(app): State<Arc<App>>,
    who: Session,
    headers: HeaderMap,
    Query(query): Query<MatchQuery>,
) -> ApiResult<Json<MatchPage>> {
    // Its agents may still be starting.
    let end = Instant::now() + START_TIME;
    loop {
        let (app, name, who) = (app.clone(), query.file.clone(), who.clone());
        let (headers, shared) = (headers.clone(), app.clone());
        let read = run_costly(&shared.replaying, &query.file, move || {
            let audience = Audience::of(&app, &headers);
            let mut tail = Tail::read_as(query.seen_by, &name, &app.served)?;
            tail.set_problem(app.matches.failure(tail.path()));
            let own = app.matches.plays(tail.path());
            let is_starting =
                own && tail.playback().is_none() && tail.state(own) == MatchState::Running;
            let page = tail.match_page(own, &audience).map(|mut page| {
                page.own =
                    page.progress.state == "running" && app.matches.can_stop(tail.path(), &who);
                page
            });
            Ok(if is_starting { Err(page) } else { Ok(page?) })
        });
        match read.await? {
            Ok(page) => return Ok(Json(page)),
            Err(page) if Instant::now() > end => return page.map(Json),
            Err(_) => tokio::time::sleep(PERIOD).await,
        }
    }
}

pub(super) fn text(app: &App, query: &PlyQuery) -> ApiResult<Value> {
    let tail = Tail::read_as(query.seen_by, &query.file, &app.served)?;
    let ply = tail.shown()?.plies().get(query.ply).ok_or_else(|| no_ply(query.ply))?;
    Ok(json!({ "text": terminal(&ply.view, &PLAIN) }))
}

/// Returns the position after a ply, from which a game can begin.
pub(super) fn position(app: &App, query: &PlyQuery) -> ApiResult<Value> {
    Ok(json!({ "position": up_to(app, &query.file, query.ply)?.game().origin() }))
}

/// Returns a match up to a ply.
pub(super) fn up_to(app: &App, file: &str, ply: usize) -> ApiResult<Playback> {
    let tail = Tail::open(file, &app.served)?;
    if tail.games.viewer().is_some() {
        let text = "the rest of the position is hidden from a person who plays";
        return Err(ApiError::conflict(text).help("wait until the match is over"));
    }
    let bytes = tail.bytes()?;
    let mut reading = read(&bytes).map_err(|error| ApiError::unfit(error.to_string()))?;
    let mut playback =
        Playback::begin(reading.header.clone(), &tail.games).map_err(ApiError::unfit)?;
    while playback.plies().len() <= ply {
        let event = reading.next().ok_or_else(|| no_ply(ply))?;
        playback.take(&event).map_err(ApiError::unfit)?;
    }
    Ok(playback)
}

pub(super) fn no_ply(ply: usize) -> ApiError {
    ApiError::missing(format!("the match has no ply {ply}"))
}

pub(super) fn lines(app: &App, query: &PlyQuery) -> ApiResult<Value> {
    let tail = Tail::read_as(query.seen_by, &query.file, &app.served)?;
    if query.ply >= tail.shown()?.plies().len() {
        return Err(no_ply(query.ply));
    }
    let lines = exchange(&tail.bytes()?, &tail.games, |ply| ply == query.ply);
    let mut lines = lines.map_err(|error| {
        ApiError::unfit(format!("{}: can't derive the lines sent: {error}", query.file))
    })?;
    let lines = lines.swap_remove(query.ply).into_iter();
    let lines = lines.map(|line| Line::of(line.seat, line.sent, &line.text, line.cut)).collect();
    Ok(json!({ "lines": bounded(lines) }))
}

impl Line {
    fn of(seat: Seat, to_agent: bool, text: &str, cut: bool) -> Self {
        let mut end = text.len().min(LINE_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { seat, sent: to_agent, text: text[..end].to_owned(), cut: cut || end < text.len() }
    }
}

/// Returns the last lines that fit.
fn bounded(mut lines: Vec<Line>) -> Vec<Line> {
    let mut room = LINES_BYTES_MAX;
    let fits = |line: &&Line| {
        let left = room.checked_sub(line.text.len());
        room = left.unwrap_or(0);
        left.is_some()
    };
    let count = lines.iter().rev().take_while(fits).count();
    lines.drain(..lines.len() - count);
    lines
}
