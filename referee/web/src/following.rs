//! `/api/follow`: sends a growing transcript as server-sent events; their ids are line numbers.

use super::App;
use super::course::Audience;
use super::errors::{ApiResult, run_blocking};
use super::tail::Tail;
use super::visitor::Visitor;
use crate::{MatchState, MatchUpdate};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, poll_fn};
use referee_process::lock::lock;
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// The most followers at once; each has a match in memory.
const FOLLOWERS_MAX: usize = 64;
/// How often a transcript is read.
pub(super) const PERIOD: Duration = Duration::from_millis(120);
/// How often something is sent at least, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The parameters: a transcript, and the last line that is known.
#[derive(Debug, Deserialize)]
pub(super) struct FollowQuery {
    file: String,
    line: Option<u64>,
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
    let opened = app.clone();
    let (tail, audience) = run_blocking(move || {
        let tail = Tail::open(&query.file, &opened.served)?;
        Ok((tail, Audience::of(&opened, &headers)))
    })
    .await?;
    let (events, mut received) = mpsc::channel(1);
    tokio::spawn(run(app, tail, line, events, place, audience));
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    let received = poll_fn(move |context| received.poll_recv(context).map(|event| event.map(Ok)));
    Ok(Sse::new(received).keep_alive(alive))
}

/// Sends what is new until the match is over or the connection is closed.
async fn run(
    app: Arc<App>,
    mut tail: Tail,
    mut line: u64,
    events: mpsc::Sender<Event>,
    place: Place,
    audience: Audience,
) {
    let mut sent: Option<&'static str> = None;
    loop {
        let (own, from) = (app.matches.plays(tail.path()), line);
        let failure = app.matches.failure(tail.path());
        let shown = audience.clone();
        let read = run_blocking(move || {
            let error = tail.update().err();
            tail.set_problem(failure);
            let state = match error {
                Some(error) => MatchState::Broken(error.text().to_owned()),
                None => tail.state(own),
            };
            let update = tail.updates_since(from, &state, &shown);
            Ok((tail, state, update))
        });
        let Ok((read, state, update)) = read.await else { return };
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
            () = place.leave.notified() => return,
        }
    }
}

/// The pages that follow matches.
#[derive(Debug, Default)]
pub(super) struct Followers(Mutex<Vec<Following>>);

/// A page that follows a match.
#[derive(Debug)]
struct Following {
    from: Visitor,
    leave: Arc<Notify>,
}

/// The place of a follower, until it is dropped.
#[derive(Debug)]
struct Place {
    followers: Arc<Followers>,
    leave: Arc<Notify>,
}

impl Followers {
    /// Returns a place. If all are taken, the visitor who has the most loses the oldest: nobody can take them all, and
    /// whoever follows one match, such as a projector, keeps it as long as others have more.
    fn enter(self: &Arc<Self>, from: Visitor) -> Place {
        let mut all = lock(&self.0);
        if all.len() >= FOLLOWERS_MAX {
            let count = |of: Visitor| all.iter().filter(|it| it.from == of).count();
            let most = all.iter().map(|it| (count(it.from), it.from == from, it.from)).max();
            let oldest = all.iter().position(|it| Some(it.from) == most.map(|(.., of)| of));
            if let Some(oldest) = oldest {
                all.remove(oldest).leave.notify_one();
            }
        }
        let leave = Arc::<Notify>::default();
        all.push(Following { from, leave: leave.clone() });
        Place { followers: self.clone(), leave }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.followers.0).retain(|it| !Arc::ptr_eq(&it.leave, &self.leave));
    }
}

#[cfg(test)]
mod tests {
    use super::{FOLLOWERS_MAX, Followers, Place};
    use crate::visitor::Visitor;
    use referee_process::lock::lock;
    use std::sync::Arc;

    fn visitor(number: u8) -> Visitor {
        Visitor::of([10, 0, 0, number].into())
    }

    #[test]
    fn whoever_follows_the_most_makes_room() {
        let followers = Arc::<Followers>::default();
        let held =
            |number| lock(&followers.0).iter().filter(|it| it.from == visitor(number)).count();
        let mut places: Vec<Place> = vec![followers.enter(visitor(1))];
        places.extend((0..3 * FOLLOWERS_MAX).map(|_| followers.enter(visitor(2))));
        assert_eq!((held(1), held(2)), (1, FOLLOWERS_MAX - 1));
        places.extend((3..13).map(|number| followers.enter(visitor(number))));
        assert_eq!((held(1), held(2)), (1, FOLLOWERS_MAX - 11));
        assert!((3..13).all(|number| held(number) == 1));
        // Of equals, the newcomer makes room for itself.
        places.clear();
        assert!(lock(&followers.0).is_empty());
        places.extend((0..64).map(|at| followers.enter(visitor(at / 32))));
        places.push(followers.enter(visitor(1)));
        assert_eq!((held(0), held(1)), (32, 32));
    }
}
