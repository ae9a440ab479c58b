//! Errors as responses: a status, what happened, what to do.

use super::permits::Permits;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use referee_play::game_program::limit_waiting_for_found;
use referee_process::launcher::background_thread;
use referee_process::{Failure, FailureKind};
use serde_json::json;
use std::panic::resume_unwind;
use std::path::{Component, Path};
use std::time::Duration;
use tokio::task::JoinSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiError {
    status: StatusCode,
    error: String,
    help: Option<String>,
    /// When the same may work.
    again: Option<Timestamp>,
}

pub(super) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), help: None, again: None }
    }

    /// The request is invalid.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// Nothing has this name.
    pub(super) fn missing(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// It exists, but can't be shown or done.
    pub(super) fn unfit(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    /// It can't be done now.
    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// The machine or the referee failed.
    pub(super) fn machine(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// Adds what to do.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says when the same may work.
    #[must_use]
    pub(super) fn again(mut self, again: Timestamp) -> Self {
        self.again = Some(again);
        self
    }

    /// Returns what happened.
    pub(super) fn text(&self) -> &str {
        &self.error
    }

    /// Returns the error as plain text, for a browser's window.
    pub(super) fn page(&self) -> Response {
        let help = self.help.as_ref().map(|help| format!("\n{help}\n")).unwrap_or_default();
        (self.status, format!("{}\n{help}", self.error)).into_response()
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let status = match failure.kind() {
            FailureKind::Usage => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let help = failure.help_text().map(str::to_owned);
        Self { status, error: failure.to_string(), help, again: None }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.error, "help": self.help });
        let mut response = if let Some(again) = self.again {
            body["again"] = json!(again.to_string());
            let seconds = again.duration_since(Timestamp::now()).as_secs().max(0) + 1;
            (self.status, [(header::RETRY_AFTER, seconds.to_string())], Json(body)).into_response()
        } else {
            (self.status, Json(body)).into_response()
        };
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns a response without the place of the served folder: an error may name its files, and is shown to anyone.
pub(super) fn without_place(mut response: Response, root: &Path) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    let root = root.to_string_lossy();
    let hidden = |text: &str| text.replace(&*root, ".");
    if !error.error.contains(&*root) && !error.help.as_ref().is_some_and(|it| it.contains(&*root)) {
        return response;
    }
    tracing::warn!("a request failed: {}", error.error);
    let (text, help) = (hidden(&error.error), error.help.as_deref().map(hidden));
    ApiError { error: text, help, ..error }.into_response()
}

/// How long costly work waits for rules that lie in a contest's folder, which may come from anyone; and other work, for
/// which there are few threads.
pub(super) const FOUND_RULES_MAX: Duration = Duration::from_secs(10);
const FOUND_RULES_SOON: Duration = Duration::from_secs(1);

/// Runs work that takes time or waits for the disk on a thread of its own. If the visitor leaves before it has begun, it
/// doesn't begin.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let failed = |error| ApiError::machine(format!("the referee failed: {error}"));
    // A set ends what is in it when it is dropped.
    let mut tasks = JoinSet::new();
    tasks.spawn_blocking(|| {
        limit_waiting_for_found(FOUND_RULES_SOON);
        work()
    });
    tasks.join_next().await.expect("it has a task").map_err(failed)?
}

/// The same for costly work with a file, of which no more runs at once than there are permits of the folder below the
/// served one in which it is, and to which matches don't lose their cores. It keeps its permits until it has ended, also
/// when its visitor has left.
pub(super) async fn run_costly<T: Send + 'static>(
    permits: &Permits,
    file: &str,
    work: impl FnOnce() -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let mut parts = Path::new(file).components();
    let first = parts.find(|part| *part != Component::CurDir);
    let folder = first.map_or_else(Default::default, |it| it.as_os_str().to_string_lossy());
    let permit = permits.take(&folder).await;
    run_blocking(move || {
        let _permit = permit;
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                background_thread();
                limit_waiting_for_found(FOUND_RULES_MAX);
                work()
            });
            work.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::{ApiError, Permits, run_blocking, run_costly, without_place};
    use axum::response::IntoResponse;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::time::Duration;
    use tokio::runtime::Builder;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_millis(20);

    /// Polls a request, and leaves.
    async fn leave<T>(request: impl Future<Output = T>) {
        assert!(timeout(SOON, request).await.is_err());
    }

    #[test]
    fn no_error_shows_where_the_served_folder_is() {
        let error = ApiError::machine("/home/ada/d/contest.db: broken").help("see /home/ada/d");
        let shown = without_place(error.into_response(), Path::new("/home/ada/d"));
        assert_eq!(shown.status(), 500);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let body = runtime.block_on(axum::body::to_bytes(shown.into_body(), 1000)).unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        assert!(body.contains("./contest.db: broken") && !body.contains("ada"), "{body}");
    }

    #[test]
    fn nothing_begins_for_visitors_who_have_left() {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
        runtime.unwrap().block_on(async {
            let (release, held) = mpsc::channel::<()>();
            leave(run_blocking(move || Ok(held.recv().ok()))).await;
            let begun = Arc::<AtomicUsize>::default();
            for _ in 0..60 {
                let begun = begun.clone();
                let work = move || Ok(begun.fetch_add(1, Ordering::Relaxed));
                assert!(timeout(Duration::ZERO, run_blocking(work)).await.is_err());
            }
            release.send(()).unwrap();
            assert_eq!(run_blocking(|| Ok(7)).await, Ok(7));
            assert_eq!(begun.load(Ordering::Relaxed), 0);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn costly_work_gives_way_to_matches() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let nice = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let (_, fields) = stat.rsplit_once(") ").unwrap();
            Ok(fields.split(' ').nth(16).unwrap().parse::<i32>().unwrap())
        };
        let permits = Permits::new(2);
        let costly = runtime.block_on(run_costly(&permits, "", nice)).unwrap();
        assert!(costly >= 10, "{costly}");
        assert_eq!(runtime.block_on(run_blocking(nice)), nice());
    }

    #[test]
    fn costly_work_keeps_its_permit_after_its_visitor_has_left() {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let permits = Permits::new(2);
            let (release, held) = mpsc::channel::<()>();
            leave(run_costly(&permits, "theirs/a", move || Ok(held.recv().ok()))).await;
            leave(run_costly(&permits, "theirs/b/c", || Ok(()))).await;
            // Other work goes on, and that with other folders.
            assert_eq!(run_blocking(|| Ok(7)).await, Ok(7));
            assert_eq!(run_costly(&permits, "own/a", || Ok(6)).await, Ok(6));
            release.send(()).unwrap();
            assert_eq!(run_costly(&permits, "theirs/b/c", || Ok(8)).await, Ok(8));
        });
    }
}
