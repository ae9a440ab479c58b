//! What is answered instead of what was asked for: a status, what happened, what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use referee_process::Failure;
use serde_json::json;

/// A request that isn't granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    status: StatusCode,
    error: String,
    help: Option<String>,
}

pub(super) type Answer<T> = Result<T, Refused>;

impl Refused {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), help: None }
    }

    /// The request makes no sense.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is nothing of that name.
    pub(super) fn missing(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// It is there, but can't be shown or done.
    pub(super) fn unfit(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    /// It isn't the time for it.
    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// The machine, or the referee itself.
    pub(super) fn machine(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// The same with what to do about it.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What happened.
    pub(super) fn text(&self) -> &str {
        &self.error
    }

    /// As plain text, for who looks at a page and not at an interface.
    pub(super) fn page(&self) -> Response {
        let help = self.help.as_ref().map(|help| format!("\n{help}\n")).unwrap_or_default();
        (self.status, format!("{}\n{help}", self.error)).into_response()
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let status = match failure.code() {
            Failure::USAGE => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let help = failure.help_text().map(str::to_owned);
        Self { status, error: failure.to_string(), help }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let told = json!({ "error": self.error, "help": self.help });
        (self.status, Json(told)).into_response()
    }
}

/// Does what takes time, or waits for the disk, beside the loop that serves everybody.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let failed = |error| Refused::machine(format!("the referee failed: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
