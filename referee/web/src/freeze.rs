//! A course that is frozen: from then on, the public sees no newer results, names and boards, and teams only those of
//! their own games.

use super::App;
use super::course::Audience;
use super::errors::{ApiError, ApiResult, run_blocking, run_costly};
use super::tail::Tail;
use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use referee_protocol::Header;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How often a server looks whether the time has come.
const LOOK: Duration = Duration::from_secs(1);

/// The parameter of requests for a match.
#[derive(Debug, Deserialize)]
struct MatchQuery {
    file: Option<String>,
}

impl App {
    /// Returns the folder with the results that the public sees, if they aren't the newest.
    pub(super) fn frozen(&self) -> ApiResult<Option<Folder>> {
        let Some(site) = &self.site else { return Ok(None) };
        Ok(site.course().frozen(Timestamp::now())?)
    }
}

impl Audience {
    /// Whether a match that isn't over is hidden from it.
    pub(super) fn is_frozen_out(&self, header: &Header) -> bool {
        match self {
            Self::All | Self::Instructor => false,
            Self::Public(course, team) => {
                course.is_frozen(Timestamp::now())
                    && Self::own(course, team.as_ref(), header).is_empty()
            }
        }
    }
}

/// Copies the results when the time has come, also if nobody looks.
pub(super) async fn watch(app: Arc<App>) {
    let Some(course) = app.site.as_ref().map(|site| site.course().clone()) else { return };
    let mut frozen_at = None;
    loop {
        // The clock and the time may be set.
        let freezes = course.freezes();
        if freezes != frozen_at && course.is_frozen(Timestamp::now()) {
            let course = course.clone();
            match run_blocking(move || Ok(course.frozen(Timestamp::now())?)).await {
                Ok(_) => frozen_at = freezes,
                Err(error) => tracing::error!("the results can't be frozen: {}", error.text()),
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Refuses requests for matches that are hidden.
pub(super) async fn guard(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Response {
    let is_frozen = app.site.as_ref().is_some_and(|it| it.course().is_frozen(Timestamp::now()));
    if !is_frozen {
        return next.run(request).await;
    }
    let name = match Query::<MatchQuery>::try_from_uri(request.uri()) {
        Ok(Query(MatchQuery { file: Some(name) })) => name,
        Ok(_) => return next.run(request).await,
        Err(refused) => return refused.into_response(),
    };
    let (shared, file) = (app.clone(), name.clone());
    match run_costly(&shared.replaying, &file, move || is_shown(&app, &headers, &name)).await {
        Ok(true) => next.run(request).await,
        Ok(false) => hidden().into_response(),
        Err(error) => error.into_response(),
    }
}

/// The error for what is hidden.
pub(super) fn hidden() -> ApiError {
    ApiError::missing("the course is frozen: newer games are not shown yet")
        .help("teams see their own games")
}

/// Whether a match was over at the freeze and wasn't played again since, or is the visitor's own.
fn is_shown(app: &App, headers: &HeaderMap, name: &str) -> ApiResult<bool> {
    let Some(frozen) = app.frozen()? else { return Ok(true) };
    let path = app.served.transcript(name)?;
    let inside = path.strip_prefix(app.served.root()).unwrap_or(&path).to_string_lossy();
    let seal = |folder: &Folder| -> ApiResult<Option<String>> {
        Ok(Store::open_foreign(folder)?.game_of(&inside)?.map(|game| game.seal))
    };
    let then = seal(&frozen)?;
    if then.is_some() && then == seal(&Folder::open(app.served.root())?)? {
        return Ok(true);
    }
    match Audience::of(app, headers) {
        Audience::Public(_, None) => Ok(false),
        audience => {
            let tail = Tail::read(name, &app.served)?;
            Ok(tail.playback().is_some_and(|it| !audience.is_frozen_out(it.header())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Audience;
    use referee_contest::file::ContestFile;
    use referee_match::transcript::read;
    use referee_runner::course::Course;
    use referee_runner::folder::Folder;
    use std::fs;
    use std::sync::Arc;

    const PLAYED: &[u8] =
        include_bytes!("../../../tests/tests/transcripts/freckers-all-across.jsonl");

    #[test]
    fn a_board_that_is_followed_stops_at_the_freeze() {
        let header = read(PLAYED).unwrap().header;
        for (at, is_out) in [("2001-12-24 18:00", true), ("2999-12-24 18:00", false)] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("contest.db"), "").unwrap();
            let folder = Folder::open(dir.path()).unwrap();
            let text = format!("game = \"hex\"\n[web]\nfreeze_at = \"{at}\"");
            let course = Course::open(&folder, ContestFile::web_of(&text).unwrap(), false).unwrap();
            assert_eq!(Audience::Public(Arc::new(course), None).is_frozen_out(&header), is_out);
        }
        assert!(!Audience::All.is_frozen_out(&header));
    }
}
