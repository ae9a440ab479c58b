//! `/api/follow`: sends a growing transcript as server-sent events; their ids are line numbers.

use super::App;
use super::course::Audience;
use super::errors::{ApiResult, run_blocking, run_costly};
use super::freeze::hidden;
use super::places::Place;
use super::tail::Tail;
use super::visitor::Visitor;
use crate::{MatchState, MatchUpdate};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, poll_fn};
use referee_protocol::Seat;
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The most followers at once; each has a match in memory.
pub(super) const FOLLOWERS_MAX: usize = 64;
/// How often a transcript is read.
pub(super) const PERIOD: Duration = Duration::from_millis(120);
/// How often something is sent at least, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The parameters: a transcript, the last line that is known, and when the match was started whose line it is.
#[derive(Debug, Deserialize)]
pub(super) struct FollowQuery {
    file: String,
    line: Option<u64>,
    started: Option<String>,
    seen_by: Option<Seat>,
}

pub(super) async fn follow(
    State(app): State<Arc<App>>,
    from: Visitor,
    headers: HeaderMap,
    Query(query): Query<FollowQuery>,
) -> ApiResult<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let place = app.followers.enter(from);
    // After a lost connection the browser's last event id is newer than the page's parameter.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let line = last.or(query.line).unwrap_or(0);
    let (opened, file) = (app.clone(), query.file.clone());
    // Rules may have to be started.
    let (tail, audience) = run_costly(&app.replaying, &file, move || {
        let mut tail = Tail::open_as(query.seen_by, &query.file, &opened.served)?;
        tail.expect(query.started);
        Ok((tail, Audience::of(&opened, &headers)))
    })
    .await?;
    let (events, mut received) = mpsc::channel(1);
    tokio::spawn(run(app, (file, tail), line, events, place, audience));
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    let received = poll_fn(move |context| received.poll_recv(context).map(|event| event.map(Ok)));
    Ok(Sse::new(received).keep_alive(alive))
}

/// Sends what is new until the match is over or the connection is closed.
async fn run(
    app: Arc<App>,
    (file, mut tail): (String, Tail),
    mut line: u64,
    events: mpsc::Sender<Event>,
    place: Place,
    audience: Audience,
) {
    let mut sent: Option<&'static str> = None;
    loop {
        let (own, from) = (app.matches.plays(tail.path()), line);
        let failure = app.matches.failure(tail.path());
        let (shown, has_run) = (audience.clone(), sent.is_some());
        let update = move || {
            let error = tail.update().err();
            tail.set_problem(failure);
            let state = match error {
                Some(error) => MatchState::Broken(error.text().to_owned()),
                None => tail.state(own),
            };
            // One that was running when it was last looked at wasn't over at a freeze since.
            let is_hidden = (state == MatchState::Running || has_run)
                && tail.playback().is_some_and(|of| shown.is_frozen_out(of.header()));
            if is_hidden {
                return Err(hidden());
            }
            let update = tail.updates_since(from, &state, &shown);
            Ok((tail, state, update))
        };
        // At first all that was written before is read.
        let read = match sent {
            None => run_costly(&app.replaying, &file, update).await,
            Some(_) => run_blocking(update).await,
        };
        let Ok((read, state, update)) = read else { return };
        tail = read;
        if tail.replaced {
            events.send(Event::default().event("replaced").data("replaced")).await.ok();
            return;
        }
        let is_new = |update: &MatchUpdate| update.line > line || sent != Some(update.state);
        if let Some(update) = update.filter(is_new) {
            (line, sent) = (update.line, Some(update.state));
            let event = Event::default().event("plies").id(line.to_string());
            let Ok(event) = event.json_data(update) else { return };
            if events.send(event).await.is_err() {
                return;
            }
        }
        if state != MatchState::Running {
            let end = Event::default().event("end").data(state.name());
            events.send(end).await.ok();
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(PERIOD) => {}
            () = events.closed() => return,
            // The page follows again, a moment later.
            () = place.lost() => return,
        }
    }
}
