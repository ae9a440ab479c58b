//! `/api/follow`: a transcript as it grows, as server-sent events whose ids are its lines.

use super::App;
use super::errors::{Answer, Refused, aside};
use super::tail::Tail;
use crate::{Growth, Stage};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, poll_fn};
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// So many follow at once; each holds a match in memory.
pub(super) const FOLLOWERS_MAX: usize = 64;
/// How often a transcript is looked at.
pub(super) const PERIOD: Duration = Duration::from_millis(120);
/// Something is said at least so often, so that nobody on the way takes the line for dead.
const ALIVE: Duration = Duration::from_secs(15);

/// What is followed.
#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    file: String,
    line: Option<u64>,
}

pub(super) async fn follow(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(wish): Query<Wish>,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let place = app.followers.clone().try_acquire_owned().map_err(|_| {
        let told = format!("{FOLLOWERS_MAX} matches are followed already");
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, told).help("close a page, then try again")
    })?;
    // What a browser says when it connects again comes before what its page said at first.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let line = last.or(wish.line).unwrap_or(0);
    let tail = app.clone();
    let tail = aside(move || Tail::open(&wish.file, &tail.place)).await?;
    let (events, mut received) = mpsc::channel(1);
    tokio::spawn(run(app, tail, line, events, place));
    let alive = KeepAlive::new().interval(ALIVE);
    let received = poll_fn(move |context| received.poll_recv(context).map(|event| event.map(Ok)));
    Ok(Sse::new(received).keep_alive(alive))
}

/// Tells what is new until the match is at its end, or nobody listens.
async fn run(
    app: Arc<App>,
    mut tail: Tail,
    mut line: u64,
    events: mpsc::Sender<Event>,
    _place: OwnedSemaphorePermit,
) {
    let mut told: Option<&'static str> = None;
    loop {
        let (own, from) = (app.hall.plays(tail.path()), line);
        let failure = app.hall.failure(tail.path());
        let looked = aside(move || {
            let error = tail.look().err();
            tail.give_up(failure);
            let stage = match error {
                Some(error) => Stage::Broken(error.text().to_owned()),
                None => tail.stage(own),
            };
            let growth = tail.growth(from, &stage);
            Ok((tail, stage, growth))
        });
        let Ok((looked, stage, growth)) = looked.await else { return };
        tail = looked;
        if tail.is_anew() {
            events.send(Event::default().event("anew").data("anew")).await.ok();
            return;
        }
        let is_new = |growth: &Growth| growth.line > line || told != Some(growth.state);
        if let Some(growth) = growth.filter(is_new) {
            (line, told) = (growth.line, Some(growth.state));
            let event = Event::default().event("plies").id(line.to_string());
            let Ok(event) = event.json_data(growth) else { return };
            if events.send(event).await.is_err() {
                return;
            }
        }
        if stage != Stage::Running {
            let end = Event::default().event("end").data(stage.name());
            events.send(end).await.ok();
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(PERIOD) => {}
            () = events.closed() => return,
        }
    }
}
