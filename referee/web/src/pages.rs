//! The page's own files, and a contest's report.

use super::App;
use super::assets::asset;
use super::errors::{Answer, Refused, aside};
use super::place::{TRANSCRIPT_BYTES_MAX, open, too_long};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use referee_protocol::plain::hex;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

/// The report's own name in a contest's folder.
pub(super) const REPORT: &str = "report.html";
/// A report has its style in itself, which its own policy names, and nothing else.
const REPORT_POLICY: &str = "script-src 'none'; object-src 'none'; img-src 'none'; \
     connect-src 'none'; font-src 'none'; media-src 'none'; frame-src 'none'; worker-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file by its name.
#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    file: String,
}

/// The page of this name.
pub(super) fn page(name: &'static str) -> MethodRouter<Arc<App>> {
    get(move |headers: HeaderMap| async move { shown(name, &headers) })
}

pub(super) async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    shown(&name, &headers)
}

fn shown(name: &str, headers: &HeaderMap) -> Response {
    match asset(name) {
        Some((content_type, text)) => tagged(content_type, text, headers),
        None => Refused::missing(format!("the page has no file {name:?}")).page(),
    }
}

/// A file that the browser keeps, but asks for each time: another version of this program has
/// another.
fn tagged(kind: &'static str, text: Cow<'static, str>, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", &hex(&Sha256::digest(text.as_bytes()))[..16]);
    let keep = [
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, tag.clone()),
        (header::CONTENT_TYPE, kind.to_owned()),
    ];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, keep).into_response();
    }
    (keep, text).into_response()
}

/// To where a report's own links lead on.
pub(super) async fn file(Query(wish): Query<Wish>) -> Redirect {
    let parts = wish.file.split('/').map(escaped);
    Redirect::to(&format!("/files/{}", parts.collect::<Vec<_>>().join("/")))
}

/// A report, or the page of a transcript that the report names.
pub(super) async fn file_below(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Answer<Response> {
    if referee_play::destination::is_transcript(std::path::Path::new(&name)) {
        app.place.transcript(&name)?;
        return Ok(Redirect::to(&format!("/match?file={}", escaped(&name))).into_response());
    }
    let bytes = aside(move || report(&app, &name)).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
    ];
    Ok((headers, bytes).into_response())
}

fn report(app: &App, name: &str) -> Answer<Vec<u8>> {
    let folder = name.strip_suffix(REPORT).map(|folder| folder.trim_end_matches('/'));
    let found = app.listing.look(&app.place);
    if !folder.is_some_and(|folder| found.contests.iter().any(|contest| contest == folder)) {
        return Err(Refused::missing(format!("{name:?} is no contest's report"))
            .help("transcripts and the report.html of contests are served, and nothing else"));
    }
    let failed = |error: std::io::Error| Refused::unfit(format!("{name}: {error}"));
    let file = open(&app.place.find(name)?).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > TRANSCRIPT_BYTES_MAX { Err(too_long(name)) } else { Ok(bytes) }
}

/// A part of an address, with everything escaped that could mean something in one.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let shown = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(shown).collect()
}

/// A header's value for a download of this name, which may hold anything.
pub(super) fn download(name: &str) -> HeaderValue {
    let value = format!("attachment; filename*=UTF-8''{}", escaped(&name.replace('/', "-")));
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}
