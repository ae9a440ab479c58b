//! One match: its sheet, the lines of a ply, its board as text.

use super::App;
use super::errors::{Answer, Refused, aside};
use super::following::PERIOD;
use super::tail::Tail;
use crate::{Sheet, Stage};
use axum::Json;
use axum::extract::{Query, State};
use referee_match::transcript::exchange;
use referee_protocol::Seat;
use referee_render::{Charset, Style, terminal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long is waited for the header of a match whose agents are starting.
const START_WAIT: Duration = Duration::from_secs(15);
/// So much of a line is shown, in bytes.
const LINE_BYTES_MAX: usize = 64 << 10;
/// So much of a ply's lines is shown together.
const LINES_BYTES_MAX: usize = 4 << 20;
/// How boards are written as text.
pub(super) const PLAIN: Style =
    Style { charset: Charset::Ascii, colour: false, coordinates: true, flip: false, legend: false };

/// A match.
#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    file: String,
}

/// One of its plies.
#[derive(Debug, Deserialize)]
pub(super) struct PlyWish {
    file: String,
    ply: usize,
}

/// A line between the referee and an agent.
#[derive(Debug, Serialize)]
struct Line {
    seat: Seat,
    sent: bool,
    text: String,
    cut: bool,
}

pub(super) async fn sheet(
    State(app): State<Arc<App>>,
    Query(wish): Query<Wish>,
) -> Answer<Json<Sheet>> {
    let end = Instant::now() + START_WAIT;
    loop {
        let (app, name) = (app.clone(), wish.file.clone());
        let read = aside(move || {
            let mut tail = Tail::read(&name, &app.place)?;
            tail.give_up(app.hall.failure(tail.path()));
            let own = app.hall.plays(tail.path());
            let begins = own && tail.playback().is_none() && tail.stage(own) == Stage::Running;
            let sheet = tail.sheet(own).map(|mut sheet| {
                sheet.own = sheet.state == "running" && app.hall.can_stop(tail.path());
                sheet
            });
            Ok(if begins { Err(sheet) } else { Ok(sheet?) })
        });
        match read.await? {
            Ok(sheet) => return Ok(Json(sheet)),
            Err(sheet) if Instant::now() > end => return sheet.map(Json),
            Err(_) => tokio::time::sleep(PERIOD).await,
        }
    }
}

pub(super) fn text(app: &App, wish: &PlyWish) -> Answer<Value> {
    let tail = Tail::read(&wish.file, &app.place)?;
    let ply = tail.shown()?.plies().get(wish.ply).ok_or_else(|| no_ply(wish.ply))?;
    Ok(json!({ "text": terminal(&ply.view, &PLAIN) }))
}

pub(super) fn no_ply(ply: usize) -> Refused {
    Refused::missing(format!("the match has no ply {ply}"))
}

pub(super) fn lines(app: &App, wish: &PlyWish) -> Answer<Value> {
    let tail = Tail::read(&wish.file, &app.place)?;
    if wish.ply >= tail.shown()?.plies().len() {
        return Err(no_ply(wish.ply));
    }
    let said = exchange(&tail.bytes()?, |ply| ply == wish.ply);
    let mut said = said.map_err(|error| {
        Refused::unfit(format!("{}: what was sent can't be made again: {error}", wish.file))
    })?;
    let said = said.swap_remove(wish.ply).into_iter();
    let lines = said.map(|said| Line::of(said.seat, said.sent, &said.text, said.cut)).collect();
    Ok(json!({ "lines": bounded(lines) }))
}

impl Line {
    fn of(seat: Seat, written: bool, text: &str, cut: bool) -> Self {
        let mut end = text.len().min(LINE_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { seat, sent: written, text: text[..end].to_owned(), cut: cut || end < text.len() }
    }
}

/// The last of them, as many as fit.
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
