//! Serves the page's files and the reports of contests.

use super::App;
use super::assets::asset;
use super::contests::report_page;
use super::errors::{ApiError, ApiResult, run_costly};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use referee_protocol::encode::{percent_encode, to_hex};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;

/// The name of the report in a contest's folder.
const REPORT: &str = "report.html";
/// A report contains its style, which its own policy allows, and loads nothing else.
const REPORT_POLICY: &str = "script-src 'none'; object-src 'none'; img-src 'none'; \
     connect-src 'none'; font-src 'none'; media-src 'none'; frame-src 'none'; worker-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Debug, Deserialize)]
pub(super) struct FileQuery {
    pub(super) file: String,
}

/// Returns the handler of a page.
pub(super) fn page(name: &'static str) -> MethodRouter<Arc<App>> {
    get(move |headers: HeaderMap| async move { shown(name, &headers) })
}

pub(super) async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    shown(&name, &headers)
}

fn shown(name: &str, headers: &HeaderMap) -> Response {
    match asset(name) {
        Some((content_type, text)) => tagged(content_type, text, headers),
        None => ApiError::missing(format!("the page has no file {name:?}")).page(),
    }
}

/// A response that the browser caches and revalidates: each version of this program has its own files.
fn tagged(content_type: &'static str, text: Cow<'static, str>, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", &to_hex(&Sha256::digest(text.as_bytes()))[..16]);
    let cache = [
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, tag.clone()),
        (header::CONTENT_TYPE, content_type.to_owned()),
    ];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, cache).into_response();
    }
    (cache, text).into_response()
}

/// Redirects to the address below which a report's links resolve.
pub(super) async fn file(Query(query): Query<FileQuery>) -> Redirect {
    Redirect::to(&format!("/files/{}", percent_encode(&query.file)))
}

/// Serves a report, or redirects to the page of a transcript that it links to.
pub(super) async fn file_below(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> ApiResult<Response> {
    // A report links to pages for those who read it from disk.
    let name = transcript_of(&name).unwrap_or(name);
    if referee_play::destination::is_transcript(std::path::Path::new(&name)) {
        app.served.transcript(&name)?;
        return Ok(Redirect::to(&format!("/match?file={}", percent_encode(&name))).into_response());
    }
    let (shared, place) = (app.clone(), name.clone());
    let bytes = run_costly(&shared.replaying, &place, move || report(&app, &name)).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
    ];
    Ok((headers, bytes).into_response())
}

/// Returns the transcript of a replay page in a contest's folder.
fn transcript_of(page: &str) -> Option<String> {
    let at = page.rfind("replays/").filter(|at| *at == 0 || page[..*at].ends_with('/'))?;
    let name = page[at..].strip_prefix("replays/")?.strip_suffix(".html")?;
    Some(format!("{}games/{name}.jsonl", &page[..at]))
}

fn report(app: &App, name: &str) -> ApiResult<Vec<u8>> {
    let folder = name.strip_suffix(REPORT).map(|folder| folder.trim_end_matches('/'));
    let found = app.listing.contents(&app.served);
    let contest = folder.filter(|folder| found.contests.iter().any(|contest| contest == folder));
    let contest = contest.ok_or_else(|| {
        ApiError::missing(format!("{name:?} is not a contest's report"))
            .help("only transcripts and the report.html of contests are served")
    })?;
    report_page(app, contest)
}

/// Returns the header value for a download with this name.
pub(super) fn download(name: &str) -> HeaderValue {
    let value = format!("attachment; filename*=UTF-8''{}", percent_encode(&name.replace('/', "-")));
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}
