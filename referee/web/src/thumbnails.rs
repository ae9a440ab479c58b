//! Small pictures for lists of matches: the last position of each, and the address of a page as a QR code.

use super::App;
use super::errors::{ApiError, ApiResult, run_costly};
use super::tail::Tail;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use qrcodegen::{QrCode, QrCodeEcc};
use referee_process::lock::lock;
use referee_render::{Theme, thumbnail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// The most cached pictures; each has some 10 kB.
const CACHED_MAX: usize = 1000;
/// The longest text of a QR code, in bytes.
const QR_BYTES_MAX: usize = 500;
/// The empty border of a QR code that readers need, in modules.
const QR_BORDER: i32 = 4;

/// The cached pictures, by name, with the time and size of the transcript.
#[derive(Debug, Default)]
pub(super) struct Thumbnails(Mutex<BTreeMap<String, (Drawn, Bytes)>>);

/// What a picture was drawn from.
type Drawn = (SystemTime, u64, bool);

#[derive(Debug, Deserialize)]
pub(super) struct ThumbnailQuery {
    file: String,
    #[serde(default)]
    dark: bool,
    /// Differs for every version of the picture, so that the browser may keep it.
    #[serde(default)]
    v: String,
}

/// Draws the last position of a match.
pub(super) async fn thumbnail_of(
    State(app): State<Arc<App>>,
    Query(query): Query<ThumbnailQuery>,
) -> ApiResult<Response> {
    // One at a time: running matches may need the cores.
    let (is_versioned, shared, file) = (!query.v.is_empty(), app.clone(), query.file.clone());
    let permit = &shared.thumbnail_permit;
    let bytes = run_costly(permit, &file, move || app.thumbnails.get(&app, &query)).await?;
    let cache = if is_versioned { "private, max-age=600" } else { "no-store" };
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, cache)];
    Ok((headers, bytes).into_response())
}

impl Thumbnails {
    fn get(&self, app: &App, query: &ThumbnailQuery) -> ApiResult<Bytes> {
        let path = app.served.transcript(&query.file)?;
        let about = path.metadata().and_then(|about| Ok((about.modified()?, about.len())));
        let (changed, size) = about.map_err(|error| ApiError::unfit(error.to_string()))?;
        let drawn = (changed, size, query.dark);
        if let Some((_, bytes)) = lock(&self.0).get(&query.file).filter(|it| it.0 == drawn) {
            return Ok(bytes.clone());
        }
        let tail = Tail::read(&query.file, &app.served)?;
        let last = tail.shown()?.plies().last();
        let last = last.ok_or_else(|| ApiError::unfit("the match has no board yet"))?;
        let theme = if query.dark { Theme::Dark } else { Theme::Light };
        let bytes = Bytes::from(thumbnail(&last.view, theme));
        let mut cached = lock(&self.0);
        if cached.len() >= CACHED_MAX {
            cached.clear();
        }
        cached.insert(query.file.clone(), (drawn, bytes.clone()));
        Ok(bytes)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct QrQuery {
    text: String,
}

/// Draws a text as a QR code.
pub(super) async fn qr(Query(query): Query<QrQuery>) -> ApiResult<Response> {
    if query.text.len() > QR_BYTES_MAX {
        return Err(ApiError::unfit(format!("more than {QR_BYTES_MAX} bytes")));
    }
    let code = QrCode::encode_text(&query.text, QrCodeEcc::Medium);
    let code = code.map_err(|error| ApiError::unfit(error.to_string()))?;
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, qr_svg(&code)).into_response())
}

fn qr_svg(code: &QrCode) -> String {
    let side = code.size() + 2 * QR_BORDER;
    let mut modules = String::new();
    for (y, x) in (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (y, x))) {
        if code.get_module(x, y) {
            write!(modules, "M{},{}h1v1h-1z", x + QR_BORDER, y + QR_BORDER).ok();
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><path d=\"{modules}\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::{QrCode, QrCodeEcc, qr_svg};

    #[test]
    fn a_code_has_its_corners_and_border() {
        let code = QrCode::encode_text("http://tv.example:8017/tv", QrCodeEcc::Medium).unwrap();
        let svg = qr_svg(&code);
        let last = code.size() + 3;
        for module in ["M4,4h".to_owned(), format!("M{last},4h"), format!("M4,{last}h")] {
            assert!(svg.contains(&module), "{module}: {svg}");
        }
        assert!(!svg.contains("M3,") && !svg.contains(&format!("M{},", last + 1)));
    }
}
